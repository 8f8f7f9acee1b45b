//! How the cost of a step grows with the number of constraints: a chain of rods, and a net of distances.

use super::beam::least_time;
use super::figures::{Figures, Limit};
use super::integrator;
use crate::failure::{CommandResult, Failure};
use lilyan_dynamics::constraints::Distance;
use lilyan_dynamics::{Simulation, State};
use lilyan_parallel::threads;
use lilyan_solid::mesh::{Mesh, Nodes};
use lilyan_solid::nets::{Sheet, rope};
use lilyan_solid::{Model, ModelBuilder, NetInput, Pin};
use std::sync::Arc;

/// Rods of the chains, each 25 mm long.
const CHAINS: [usize; 3] = [500, 1000, 2000];
/// Nodes along a side of the nets; a net of k² nodes has 2k² − 3k + 1 distances.
const NETS: [usize; 3] = [26, 51, 102];
const STEP: f64 = 0.002;
const STEPS: usize = 4;
/// Largest exponent of the cost of a step, from the second of the sizes to the last.
const EXPONENT: f64 = 1.2;

pub fn run(figures: &mut Figures) -> CommandResult {
    let all = threads::threads();
    threads::set_threads(1);
    for method in ["variational", "energy-momentum", "semi-implicit"] {
        measure(figures, method, "chain", &CHAINS, &chain)?;
    }
    for method in ["variational", "energy-momentum"] {
        measure(figures, method, "net", &NETS, &net)?;
    }
    threads::set_threads(all);
    figures.remark(format!(
        "one thread, h = {STEP} s; a chain let go from the horizontal, and a net held at one side"
    ));
    Ok(())
}

/// A model, and the number of its constraints.
type Constrained = (Model, usize);

fn measure(
    figures: &mut Figures,
    method: &str,
    what: &str,
    sizes: &[usize],
    model: &dyn Fn(usize) -> Constrained,
) -> CommandResult {
    let mut costs = Vec::new();
    for &size in sizes {
        let (model, rows) = model(size);
        eprintln!("  {method}, {what} of {rows} rows");
        let q = model.start().to_vec();
        let start = State::new(&model, q.clone(), vec![0.0; q.len()]);
        let mut simulation = Simulation::new(model, integrator(method, &[])?, start, STEP);
        let mut steps = || -> CommandResult {
            for _ in 0..STEPS {
                simulation.advance().map_err(Failure::stopped)?;
            }
            Ok(())
        };
        steps()?;
        let seconds = least_time(2, &mut steps)? / STEPS as f64;
        figures.add(format!("{method}, {what} of {rows} rows"), 1e3 * seconds, "ms per step");
        costs.push((rows as f64, seconds));
    }
    let [.., (least, before), (most, after)] = costs[..] else { return Ok(()) };
    let exponent = (after / before).ln() / (most / least).ln();
    figures.hold(format!("{method}, {what}: exponent of the cost"), exponent, "", Limit::AtMost(EXPONENT));
    Ok(())
}

/// Rods in a row, held at one end.
fn chain(rods: usize) -> Constrained {
    let vertices = rope([0.0; 3], [0.025 * rods as f64, 0.0, 0.0], rods);
    let edges = (0..rods as u32).map(|i| [i, i + 1]).collect();
    constrained(vertices, vec![0], edges)
}

/// Rods along the lines of a square grid of 1 m, held at one side. They resist neither shear nor bending.
fn net(side: usize) -> Constrained {
    let vertices = Sheet { cells: [side - 1, side - 1] }.vertices([1.0, 1.0]);
    let held: Vec<u32> = (0..vertices.len() as u32).filter(|&i| vertices[i as usize][0] < 1e-9).collect();
    let spacing = 1.0 / (side - 1) as f64;
    let mut edges = Vec::new();
    let place = |x: f64| (x / spacing).round() as usize;
    let mut at = vec![0; side * side];
    for (i, x) in vertices.iter().enumerate() {
        at[side * place(x[0]) + place(x[1])] = i as u32;
    }
    for i in 0..side {
        for j in 0..side {
            let here = at[side * i + j];
            if i + 1 < side {
                edges.push([here, at[side * (i + 1) + j]]);
            }
            // What is held keeps its distances anyway.
            if i > 0 && j + 1 < side {
                edges.push([here, at[side * i + j + 1]]);
            }
        }
    }
    constrained(vertices, held, edges)
}

/// Nodes of 1 g whose distances are kept.
fn constrained(vertices: Vec<[f64; 3]>, held: Vec<u32>, edges: Vec<[u32; 2]>) -> Constrained {
    let mut builder = ModelBuilder::default();
    let masses = vec![1e-3; vertices.len()];
    let distance = |[a, b]: [u32; 2]| {
        let [x, y] = [a, b].map(|i| vertices[i as usize]);
        let length = (0..3).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>().sqrt();
        Distance::new("rod", [a, b], length)
    };
    let rods: Vec<Distance> = edges.iter().map(|edge| distance(*edge)).collect();
    let nodes = Arc::new(Nodes::at_vertices(Mesh::of_cells(vertices, vec![Vec::<[u32; 3]>::new().into()])));
    builder.net(NetInput { name: "net".into(), nodes, masses, ..NetInput::default() });
    builder.gravity([0.0, 0.0, -9.81]);
    builder.pin(Pin { nodes: held, axes: [true; 3], motion: None, until: f64::INFINITY });
    let count = rods.len();
    for rod in rods {
        builder.constraint(Box::new(rod));
    }
    (builder.build(), count)
}
