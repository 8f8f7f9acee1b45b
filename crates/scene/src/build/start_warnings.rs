//! What is probably not meant about where and how large bodies are at the start.

use super::BuiltBody;
use crate::schema::Scene;
use lilyan_dynamics::State;
use lilyan_solid::Model;
use lilyan_solid::contact::ObstacleShape;

/// Bodies longer than this are rather given in millimetres, m.
const LONG: f64 = 100.0;
/// A body that is pressed by less than this many times its weight may rest there.
const RESTING: f64 = 3.0;

/// Warnings about the state that a scene starts from.
pub(super) fn warnings(scene: &Scene, bodies: &[BuiltBody], model: &Model, state: &State) -> Vec<String> {
    let mut out = Vec::new();
    let mut force = vec![0.0; state.q.len()];
    model.add_contact_forces(state.t, &state.q, &mut force);
    for body in bodies {
        let size = size_of(body);
        if size > LONG {
            out.push(format!(
                "body \"{}\" is {size:.0} m long; if its mesh is in millimetres, give mesh.scale = 0.001",
                body.name
            ));
        }
        out.extend(pressed(scene, body, model, state, &force));
    }
    out
}

/// Tells if contact pushes a body harder before the first step than a body at rest is pushed, so that it will jump.
fn pressed(scene: &Scene, body: &BuiltBody, model: &Model, state: &State, force: &[f64]) -> Option<String> {
    let own = body.dofs.part(force);
    let norm = |x: &[f64]| x.iter().map(|c| c * c).sum::<f64>().sqrt();
    let push: f64 = own.chunks_exact(3).map(norm).sum();
    let mass: f64 = model.node_masses()[body.dofs.range()].iter().sum();
    let gravity = scene.environment.gravity.as_ref();
    let g = gravity.map_or(0.0, |g| norm(&g.each_ref().map(|q| q.constant().unwrap_or(0.0))));
    let size = size_of(body);
    // What moves it by less than a hundredth of its size in the whole run is not worth a word.
    let moves = 0.5 * push / mass * scene.time.end.powi(2) > 0.01 * size;
    if push <= RESTING * mass * g || !moves {
        return None;
    }
    let touched = own.chunks_exact(3).filter(|f| f.iter().any(|c| *c != 0.0)).count();
    let (depth, what) = deepest(scene, body.dofs.part(&state.q));
    let why = match depth > 1e-3 * size {
        true => format!("it is up to {depth:.3} m inside of {what}; move it out of there"),
        false => "it overlaps another body, or is nearer to it than the `thickness` of the contact; move them apart, or \
                  give the contact a smaller thickness"
            .to_string(),
    };
    Some(format!(
        "body \"{}\" is pushed by contact before the first step, at {touched} vertices with {push:.1e} N (its weight is \
         {:.1e} N): {why}",
        body.name,
        mass * g
    ))
}

/// How deep nodes (flat, m) are inside of an obstacle, and which.
fn deepest(scene: &Scene, q: &[f64]) -> (f64, String) {
    let mut found = (0.0, String::new());
    for (k, contact) in scene.contacts.iter().enumerate() {
        let depth = |x: &[f64]| match contact.obstacle_at(0.0) {
            None => 0.0,
            Some(ObstacleShape::Plane { point, normal }) => {
                (0..3).map(|i| (point[i] - x[i]) * normal[i]).sum::<f64>()
            }
            Some(ObstacleShape::Sphere { center, radius, inside }) => {
                let r = (0..3).map(|i| (x[i] - center[i]).powi(2)).sum::<f64>().sqrt();
                if inside { r - radius } else { radius - r }
            }
        };
        let most = q.chunks_exact(3).map(depth).fold(0.0, f64::max);
        if most > found.0 {
            found = (most, format!("contact[{k}]"));
        }
    }
    found
}

/// Longest side of its bounding box at rest, m.
fn size_of(body: &BuiltBody) -> f64 {
    body.mesh().bounds().map_or(0.0, |[a, b]| (0..3).map(|k| b[k] - a[k]).fold(0.0, f64::max))
}
