//! How the cost of an explicit step grows with the mesh.

use super::figures::{Figures, Limit};
use super::{best, block, deformed, integrator};
use crate::failure::{CommandResult, Failure};
use lilyan_dynamics::{State, System};

/// Cells along the edge of the cube. With six tets per cell there are 1,296 to 4,088,832 tets, and each number is about three
/// times the one before.
const CELLS: [usize; 8] = [6, 9, 13, 18, 26, 38, 56, 88];

pub fn run(figures: &mut Figures) -> CommandResult {
    let mut points = Vec::new();
    for n in CELLS {
        let tets = 6 * n * n * n;
        eprintln!("  {tets} tets");
        let (mesh, builder) = block([1.0; 3], [n; 3], "neo-hookean")?;
        let model = builder.build();
        let mut verlet = integrator("verlet", &[])?;
        let mut state = State::new(&model, deformed(&mesh), vec![0.0; model.dofs()]);
        drop(mesh);
        // A tenth of the stable step keeps the motion small for any number of timed steps.
        let h = 0.1 * 2e-2 / n as f64;
        let mut failed = None;
        let seconds = best(12, 1.0, || {
            if let Err(e) = verlet.step(&model, &mut state, h) {
                failed = Some(e);
            }
        });
        if let Some(e) = failed {
            return Err(Failure::stopped(e));
        }
        points.push(((tets as f64).ln(), seconds.ln()));
        figures.add(format!("{tets} tets"), 1e9 * seconds / tets as f64, "ns per tet and step");
    }
    figures.hold("exponent", slope(&points), "of time per step in tets", Limit::AtMost(1.05));
    figures.remark("Verlet, neo-Hookean cubes");
    Ok(())
}

/// Slope of the least-squares line.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let sum = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>();
    sum(&|p| (p.0 - x) * (p.1 - y)) / sum(&|p| (p.0 - x) * (p.0 - x))
}
