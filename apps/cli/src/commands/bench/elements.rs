//! What linear and quadratic tets cost: per unknown, and for an error of 2 % of a frequency and of a motion.

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
    swing(figures)?;
    figures.remark("forces and midpoint steps of a neo-Hookean bar of 2,673 nodes; steel cantilever, first frequency, its modes timed; neo-Hookean beam, 4 × 1 × 1 m, under gravity for a period, its steps timed");
    Ok(())
}

fn clamped(
    kind: &'static SolidKind,
    size: [f64; 3],
    cells: [usize; 3],
    material: &str,
    [young, rho]: [f64; 2],
    gravity: f64,
) -> Result<Model, Failure> {
    let mesh = box_mesh_with(size, cells, Diagonals::Mirrored).map_err(Failure::stopped)?;
    let material = find(material).ok_or_else(|| Failure::stopped(format!("no material {material}")))?;
    let given = Given::from_young(young, 0.3).map_err(Failure::stopped)?;
    let nodes = (kind.nodes)(Arc::new(mesh));
    let held = (0u32..).zip(nodes.points()).filter(|(_, x)| x[0] == 0.0).map(|(n, _)| n).collect();
    let mut builder = ModelBuilder::default();
    builder.body(BodyInput::of(kind, nodes, "bar", material, given, rho)).map_err(Failure::stopped)?;
    builder.gravity([0.0, -gravity, 0.0]);
    builder.pin(Pin { nodes: held, axes: [true; 3], motion: None, until: f64::INFINITY });
    Ok(builder.build())
}

/// Times of a force and of an implicit step, ns per unknown.
fn per_unknown(kind: &'static SolidKind, cells: [usize; 3]) -> Result<[f64; 2], Failure> {
    let model = clamped(kind, [4.0, 1.0, 1.0], cells, "neo-hookean", [1e5, 1000.0], 0.0)?;
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
        let model = clamped(kind, [1.0, 0.05, 0.05], [10 * n, n, n], "linear", [2e11, 7850.0], 0.0)?;
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

/// Steps of 40 ms in a period of the swinging beam.
const STEPS: usize = 45;

/// Time to 2 % of the path of the tip of a beam that is let go under gravity.
fn swing(figures: &mut Figures) -> CommandResult {
    let (reference, _, _) = path(&QUADRATIC_TETS, [12, 3, 3])?;
    let ends = reference.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], y| [a.min(*y), b.max(*y)]);
    let mut within = |kind: &'static SolidKind, across: &[usize]| -> Result<(f64, bool), Failure> {
        let mut last = 0.0;
        for &n in across {
            eprintln!("  swinging beam, {}, {n} cells across", kind.name);
            let (own, seconds, unknowns) = path(kind, [4 * n, n, n])?;
            let off = own.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let error = 100.0 * off / (ends[1] - ends[0]);
            figures.add(format!("{}, {unknowns} unknowns: error", kind.name), error, "% of the tip's motion");
            last = seconds;
            if error < 2.0 {
                return Ok((seconds, true));
            }
        }
        Ok((last, false))
    };
    let quadratic = within(&QUADRATIC_TETS, &[1, 2])?;
    let linear = within(&LINEAR_TETS, &[2, 4, 8, 12])?;
    if quadratic.1 {
        // Linear tets that do not reach it within the meshes tried would take longer still.
        let ratio = linear.0 / quadratic.0;
        figures.hold("time to 2 % of the tip's path, linear over quadratic", ratio, "", Limit::AtLeast(20.0));
    }
    Ok(())
}

/// Heights of the tip over a period, the time that the steps took, s, and the number of unknowns.
fn path(kind: &'static SolidKind, cells: [usize; 3]) -> Result<(Vec<f64>, f64, usize), Failure> {
    let model = clamped(kind, [4.0, 1.0, 1.0], cells, "neo-hookean", [4e6, 1000.0], 9.81)?;
    let rest = model.rest_positions();
    let far = |x: &[f64; 3]| (x[0] - 4.0).powi(2) + (x[1] - 0.5).powi(2) + (x[2] - 0.5).powi(2);
    let places = rest.as_chunks::<3>().0.iter().enumerate();
    let tip = places.min_by(|a, b| far(a.1).total_cmp(&far(b.1))).map_or(0, |(n, _)| n);
    let mut method = integrator("energy-momentum", &[])?;
    let mut state = State::new(&model, rest.clone(), vec![0.0; rest.len()]);
    let start = Instant::now();
    let mut heights = vec![state.q[3 * tip + 1]];
    for _ in 0..STEPS {
        method.step(&model, &mut state, 0.04).map_err(Failure::stopped)?;
        heights.push(state.q[3 * tip + 1]);
    }
    Ok((heights, start.elapsed().as_secs_f64(), rest.len()))
}
