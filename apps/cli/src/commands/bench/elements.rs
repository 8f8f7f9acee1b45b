//! What linear and quadratic tets cost: per unknown, and for an error of 2 %.

use super::figures::{Figures, Limit};
use super::{best, integrator};
use crate::failure::{CommandResult, Failure};
use lilyan_dynamics::{State, System, Value, spectrum};
use lilyan_solid::elements::{LINEAR_TETS, QUADRATIC_TETS, SolidKind};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::meshing::{Diagonals, box_mesh_with};
use lilyan_solid::{BodyInput, Model, ModelBuilder, Pin};
use std::sync::Arc;
use std::time::Instant;

/// The first frequency of the steel cantilever in the limit of fine meshes, Hz.
const LIMIT: f64 = 40.789;

pub fn run(figures: &mut Figures) -> CommandResult {
    // As many nodes along each direction.
    let linear = per_unknown(&LINEAR_TETS, [32, 8, 8])?;
    let quadratic = per_unknown(&QUADRATIC_TETS, [16, 4, 4])?;
    for (name, k, limit) in [("explicit force", 0, 1.3), ("implicit step", 1, 2.5)] {
        figures.add(format!("{name}, linear"), linear[k], "ns per unknown");
        figures.add(format!("{name}, quadratic"), quadratic[k], "ns per unknown");
        let ratio = quadratic[k] / linear[k];
        figures.hold(format!("{name}, quadratic over linear"), ratio, "per unknown", Limit::AtMost(limit));
    }
    let [coarse, fine] = [(&LINEAR_TETS, &[2, 4, 8, 12, 16][..]), (&QUADRATIC_TETS, &[1, 2, 3][..])]
        .map(|(kind, across)| first_within(kind, across, figures));
    if let (Some(linear), Some(quadratic)) = (coarse?, fine?) {
        figures.hold("time to 2 %, linear over quadratic", linear / quadratic, "", Limit::AtLeast(20.0));
    }
    figures.remark("forces and midpoint steps of a neo-Hookean bar of 2,673 nodes; steel cantilever, first frequency, its modes timed");
    Ok(())
}

fn clamped(
    kind: &'static SolidKind,
    size: [f64; 3],
    cells: [usize; 3],
    material: &str,
    [young, rho]: [f64; 2],
) -> Result<Model, Failure> {
    let mesh = box_mesh_with(size, cells, Diagonals::Mirrored).map_err(Failure::stopped)?;
    let material = find(material).ok_or_else(|| Failure::stopped(format!("no material {material}")))?;
    let given = Given::from_young(young, 0.3).map_err(Failure::stopped)?;
    let nodes = (kind.nodes)(Arc::new(mesh));
    let held = (0u32..).zip(nodes.points()).filter(|(_, x)| x[0] == 0.0).map(|(n, _)| n).collect();
    let mut builder = ModelBuilder::default();
    builder.body(BodyInput::of(kind, nodes, "bar", material, given, rho)).map_err(Failure::stopped)?;
    builder.pin(Pin { nodes: held, axes: [true; 3], motion: None, until: f64::INFINITY });
    Ok(builder.build())
}

/// Times of a force and of an implicit step, ns per unknown.
fn per_unknown(kind: &'static SolidKind, cells: [usize; 3]) -> Result<[f64; 2], Failure> {
    let model = clamped(kind, [4.0, 1.0, 1.0], cells, "neo-hookean", [1e5, 1000.0])?;
    let rest = model.rest_positions();
    let q: Vec<f64> =
        rest.as_chunks::<3>().0.iter().flat_map(|x| [x[0], x[1] + 0.01 * x[0] * x[0], x[2]]).collect();
    let mut g = vec![0.0; q.len()];
    let force = best(20, 0.5, || model.gradient(0.0, &q, &mut g));
    let midpoint = [("alpha".to_string(), Value::Number(0.5))];
    let mut midpoint = integrator("variational", &midpoint)?;
    let mut state = State::new(&model, q.clone(), vec![0.0; q.len()]);
    // With the analysis, which a run does once.
    midpoint.step(&model, &mut state, 0.01).map_err(Failure::stopped)?;
    let mut failed = None;
    let step = best(5, 1.0, || {
        if let Err(error) = midpoint.step(&model, &mut state, 0.01) {
            failed = Some(error);
        }
    });
    match failed {
        Some(error) => Err(Failure::stopped(error)),
        None => Ok([force, step].map(|seconds| 1e9 * seconds / q.len() as f64)),
    }
}

/// The time of the modes on the first mesh whose first frequency is within 2 %, s.
fn first_within(
    kind: &'static SolidKind,
    across: &[usize],
    figures: &mut Figures,
) -> Result<Option<f64>, Failure> {
    for &n in across {
        eprintln!("  {}, {n} cells across", kind.name);
        let model = clamped(kind, [1.0, 0.05, 0.05], [10 * n, n, n], "linear", [2e11, 7850.0])?;
        let start = Instant::now();
        let modes = spectrum::modes(&model, &model.rest_positions(), 1).map_err(Failure::stopped)?;
        let seconds = start.elapsed().as_secs_f64();
        let hz = modes.values.first().map_or(0.0, |value| value.sqrt() / (2.0 * std::f64::consts::PI));
        let error = 100.0 * (hz / LIMIT - 1.0);
        figures.add(
            format!("{}, {} unknowns: error", kind.name, model.dofs()),
            error,
            "% of the first frequency",
        );
        if error.abs() < 2.0 {
            figures.add(format!("{}: time to 2 %", kind.name), seconds, "s");
            return Ok(Some(seconds));
        }
    }
    Ok(None)
}
