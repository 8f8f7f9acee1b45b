//! Whether the state that a scene starts from can be started from, and what is at fault if not.

use super::BuiltBody;
use crate::document::{Place, SceneError};
use crate::schema::Scene;
use lilyan_dynamics::{State, System};
use lilyan_solid::Model;
use lilyan_solid::output;
use lilyan_solid::potentials::Intersection;

/// Refuses positions, velocities and energies that are not finite: a run could only fail, and its first frame
/// would be worthless.
pub(super) fn check(
    scene: &Scene,
    bodies: &[BuiltBody],
    model: &Model,
    state: &State,
) -> Result<(), SceneError> {
    let odd = |v: &[f64]| v.iter().position(|x| !x.is_finite());
    if let Some(dof) = odd(&state.q).or_else(|| odd(&state.v)) {
        let node = (dof / 3) as u32;
        let (body, vertex) = model.owner(node).unwrap_or_default();
        let spec = &scene.bodies[body];
        let pin = model.pins().iter().position(|p| p.motion.is_some() && p.nodes.contains(&node));
        return Err(match pin {
            Some(k) => scene.pins[k].mark.error(format!(
                "`motion` is not finite at t = 0 (vertex {vertex}); give a formula that is, from t = 0 on"
            )),
            None => spec.mark.error(format!(
                "initial: the velocity of vertex {vertex} at rest position {:?} is not finite; give a \
                 formula that is finite all over the body",
                bodies[body].nodes().points()[vertex as usize]
            )),
        });
    }
    check_intersections(scene, model, state)?;
    let parts = model.energy_parts(state.t, &state.q);
    if !parts.elastic.is_finite() {
        for (spec, body) in scene.bodies.iter().zip(model.bodies()) {
            let (J, _, e) = output::smallest_volume_ratio(std::slice::from_ref(body), &state.q);
            if J <= 0.0 {
                return Err(spec.mark.error(format!(
                    "initial: the shape at the start turns element {e} inside out, which material \"{}\" \
                     refuses; deform it less or use a material that survives inversion, such as \
                     \"stable-neo-hookean\"",
                    spec.material.model
                )));
            }
        }
    }
    if parts.total().is_finite() {
        return Ok(());
    }
    let (path, message) = match &scene.environment.monopole {
        Some(monopole) => (
            "environment.monopole",
            format!(
                "a vertex without volume lies on the monopole at {:?}, where its energy has no bound; move one",
                monopole.at
            ),
        ),
        None => {
            ("", "the energy at the start is not finite; look for extreme sizes or constants".to_string())
        }
    };
    Err(SceneError::at(&scene.origin.0, Place::Unknown, path, message))
}

/// Refuses surfaces that touch or cut each other where no motion may pass through: none leads out of there.
fn check_intersections(scene: &Scene, model: &Model, state: &State) -> Result<(), SceneError> {
    let limits = model.potentials().iter().filter_map(|p| p.role().intersections);
    let Some(Intersection { nodes, place }) = limits.filter_map(|i| i.first_intersection(&state.q)).next()
    else {
        return Ok(());
    };
    let owners = nodes.map(|node| model.owner(node?).map(|(body, _)| body));
    let name = |body: usize| format!("body \"{}\"", scene.bodies[body].name);
    let first = owners[0].or(owners[1]).unwrap_or_default();
    let other = match owners[1] {
        Some(second) if second == first => "itself".to_string(),
        Some(second) => name(second),
        None => "an obstacle of a contact".to_string(),
    };
    let [x, y, z] = place;
    Err(scene.bodies[first].mark.error(format!(
        "{} touches or cuts {other} at ({x:.6}, {y:.6}, {z:.6}) at the start, and this contact cannot push them apart; \
         move them apart by a gap, however small, or give the contact model = \"penalty\"",
        name(first)
    )))
}
