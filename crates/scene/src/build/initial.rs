//! How bodies start: stretched, twisted and turned about the middle, then set moving.

use super::shape::{apply, rotation, turn};
use crate::document::SceneError;
use crate::schema::{BodySpec, TwistAmount};
use lilyan_solid::mesh::TetMesh;

/// Positions and velocities (flat) at the start; about the centre of mass of a body that gives `masses` (kg), or
/// else of volume.
pub(super) fn state(
    spec: &BodySpec,
    mesh: &TetMesh,
    masses: Option<&[f64]>,
) -> Result<(Vec<[f64; 3]>, Vec<f64>), SceneError> {
    let Some(saved) = &spec.initial.state else { return Ok(derived(spec, mesh, masses)) };
    if saved.positions.len() != 3 * mesh.vertices.len() {
        return Err(spec.mark.error(format!(
            "initial.state is of {} vertices, the mesh has {}; leave it out, or use the mesh that it was saved with",
            saved.positions.len() / 3,
            mesh.vertices.len()
        )));
    }
    let places = saved.positions.chunks_exact(3).map(|x| [x[0], x[1], x[2]]);
    Ok((places.collect(), saved.velocities.clone()))
}

fn derived(spec: &BodySpec, mesh: &TetMesh, masses: Option<&[f64]>) -> (Vec<[f64; 3]>, Vec<f64>) {
    let initial = &spec.initial;
    let mut x = mesh.vertices.clone();
    let centroid = |x: &[[f64; 3]]| match masses {
        None => centroid(mesh, x),
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
    for (p, rest) in x.iter().zip(&mesh.vertices) {
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
fn centroid(mesh: &TetMesh, x: &[[f64; 3]]) -> [f64; 3] {
    let (mut sum, mut total) = ([0.0; 3], 0.0);
    for (tet, volume) in mesh.tets.iter().zip(mesh.signed_volumes()) {
        total += volume;
        for k in 0..3 {
            sum[k] += 0.25 * volume * tet.iter().map(|v| x[*v as usize][k]).sum::<f64>();
        }
    }
    sum.map(|s| s / total)
}

fn centre_of_mass(masses: &[f64], x: &[[f64; 3]]) -> [f64; 3] {
    let total: f64 = masses.iter().sum();
    std::array::from_fn(|k| masses.iter().zip(x).map(|(m, x)| m * x[k]).sum::<f64>() / total)
}
