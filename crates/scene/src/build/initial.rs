//! How bodies start: stretched, twisted and turned about the middle, then set moving.

use super::BuiltBody;
use super::shape::{apply, rotation, turn};
use crate::document::SceneError;
use crate::schema::{BodySpec, Scene, TwistAmount};
use lilyan_dynamics::State;
use lilyan_dynamics::equilibrium::equilibrium;
use lilyan_solid::Model;
use lilyan_solid::mesh::Nodes;

/// Positions and velocities (flat) at the start; about the centre of mass of a body that gives `masses` (kg), or
/// else of volume.
pub(super) fn state(
    spec: &BodySpec,
    nodes: &Nodes,
    masses: Option<&[f64]>,
) -> Result<(Vec<[f64; 3]>, Vec<f64>), SceneError> {
    let Some(saved) = &spec.initial.state else { return Ok(derived(spec, nodes, masses)) };
    if saved.positions.len() != 3 * nodes.len() {
        return Err(spec.mark.error(format!(
            "initial.state is of {} vertices, the mesh has {}; leave it out, or use the mesh that it was saved with",
            saved.positions.len() / 3,
            nodes.len()
        )));
    }
    let places = saved.positions.chunks_exact(3).map(|x| [x[0], x[1], x[2]]);
    Ok((places.collect(), saved.velocities.clone()))
}

/// Moves the bodies that start in static equilibrium there; the others stay in place. Velocities stay as they are.
pub(super) fn relax(
    scene: &Scene,
    bodies: &[BuiltBody],
    model: &Model,
    state: &mut State,
) -> Result<(), SceneError> {
    let Some(first) = scene.bodies.iter().find(|spec| spec.initial.rest) else { return Ok(()) };
    let mut held = vec![false; state.q.len()];
    for (_, body) in scene.bodies.iter().zip(bodies).filter(|(spec, _)| !spec.initial.rest) {
        held[body.dofs.unknowns()].fill(true);
    }
    let found = equilibrium(model, state, scene.time.step, &held);
    state.q = found.map_err(|e| first.mark.error(format!("initial.rest: {e}")))?.state.q;
    Ok(())
}

fn derived(spec: &BodySpec, nodes: &Nodes, masses: Option<&[f64]>) -> (Vec<[f64; 3]>, Vec<f64>) {
    let initial = &spec.initial;
    let mut x = nodes.points().to_vec();
    let centroid = |x: &[[f64; 3]]| match masses {
        None => centroid(nodes, x),
        Some(masses) => centre_of_mass(masses, x),
    };
    let middle = centroid(&x);
    let relative = |p: &[f64; 3]| -> [f64; 3] { std::array::from_fn(|k| p[k] - middle[k]) };
    if let Some(stretch) = initial.stretch {
        for p in &mut x {
            let r = relative(p);
            *p = std::array::from_fn(|k| middle[k] + stretch[k] * r[k]);
        }
    }
    if let Some(twist) = &initial.twist {
        let along = |p: &[f64; 3]| -> f64 {
            let r = relative(p);
            (0..3).map(|k| r[k] * twist.axis[k]).sum()
        };
        let (low, high) =
            x.iter().map(along).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), s| (a.min(s), b.max(s)));
        let rate = match twist.amount {
            TwistAmount::Degrees(d) => d.to_radians() / (high - low).max(f64::MIN_POSITIVE),
            TwistAmount::Rate(rate) => rate,
        };
        for p in &mut x {
            // From the low end on: what is pinned there stays where it is.
            let turned = apply(&turn(twist.axis, rate * (along(p) - low)), relative(p));
            *p = std::array::from_fn(|k| middle[k] + turned[k]);
        }
    }
    if let Some(turn) = &initial.rotate {
        let turn = rotation(turn);
        for p in &mut x {
            let turned = apply(&turn, relative(p));
            *p = std::array::from_fn(|k| middle[k] + turned[k]);
        }
    }
    let middle = centroid(&x);
    let omega = initial.angular_velocity.unwrap_or_default();
    let mut v = Vec::with_capacity(3 * x.len());
    for (p, rest) in x.iter().zip(nodes.points()) {
        let r: [f64; 3] = std::array::from_fn(|k| p[k] - middle[k]);
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let given = initial.velocity.as_ref().map_or(0.0, |v| v[k].eval(rest));
            v.push(given + omega[i] * r[j] - omega[j] * r[i]);
        }
    }
    (x, v)
}

/// Centre of volume of the tets at positions x.
fn centroid(nodes: &Nodes, x: &[[f64; 3]]) -> [f64; 3] {
    if let Some(curved) = nodes.curved() {
        return centre_of_mass(&curved.volumes, x);
    }
    let (mut sum, mut total) = ([0.0; 3], 0.0);
    for (tet, volume) in nodes.mesh().signed_volumes().into_iter().enumerate() {
        total += volume;
        let own = || nodes.of_tet(tet).iter().zip(nodes.shares());
        for k in 0..3 {
            sum[k] += volume * own().map(|(v, share)| share * x[*v as usize][k]).sum::<f64>();
        }
    }
    sum.map(|s| s / total)
}

fn centre_of_mass(masses: &[f64], x: &[[f64; 3]]) -> [f64; 3] {
    let total: f64 = masses.iter().sum();
    std::array::from_fn(|k| masses.iter().zip(x).map(|(m, x)| m * x[k]).sum::<f64>() / total)
}
