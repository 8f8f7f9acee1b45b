//! Contact: the model of the catalogue, with what the scene does not give derived from the bodies.

use super::{BuiltBody, shape};
use crate::document::SceneError;
use crate::schema::{BodySpec, ContactSpec, Element, MeshSpec, Scene};
use lilyan_solid::contact::BodyScale;
use lilyan_solid::mesh::TriMesh;
use lilyan_solid::{BuildError, ModelBuilder};
use std::sync::Arc;

/// Scales of a body, from which contact models derive what the scene does not give.
fn scale_of<'a>(body: &'a BuiltBody, masses: &[f64], surface: &[(u32, f64)]) -> BodyScale<'a> {
    let [low, high] = body.mesh().bounds().unwrap_or([[0.0; 3], [1.0; 3]]);
    let mean_edge = || {
        if !body.mesh().tets().is_empty() {
            return body.mesh().quality().mean_edge;
        }
        let surface = body.nodes().surface();
        let triangles = surface.triangles.len() as f64;
        // The edge of as many equal triangles with as much area.
        let area = surface.face_areas(body.nodes().points()).iter().sum::<f64>();
        (area / triangles * 4.0 / 3f64.sqrt()).sqrt()
    };
    let extents = [0, 1, 2].map(|k| high[k] - low[k]);
    let mass: f64 = masses[body.dofs.range()].iter().sum();
    let area: f64 = surface.iter().filter(|(n, _)| body.dofs.contains(*n)).map(|(_, area)| area).sum();
    BodyScale {
        young: (!body.is_net()).then_some(body.young[1]),
        extent: extents.into_iter().fold(f64::INFINITY, f64::min),
        length: extents.into_iter().fold(0.0, f64::max),
        areal_mass: if area > 0.0 { mass / area } else { 0.0 },
        mean_edge: Box::new(mean_edge),
    }
}

/// The surface of an obstacle that is a mesh, read and placed as that of a body is.
pub fn obstacle_surface(scene: &Scene, mesh: &MeshSpec) -> Result<TriMesh, SceneError> {
    let Some(any) = scene.bodies.first() else {
        return Err(mesh.mark.error("there is no body that could touch it"));
    };
    // A surface stays one, and tets have one.
    let spec =
        BodySpec { name: "obstacle".into(), mesh: mesh.clone(), element: Element::Springs, ..any.clone() };
    let (nodes, _) = shape::nodes(scene, &spec, &mut Vec::new())?;
    let surface = nodes.surface().to_tri_mesh(nodes.points());
    if surface.triangles.is_empty() {
        return Err(mesh.mark.error("has no triangles; give a shape or a file with a surface"));
    }
    Ok(surface)
}

/// Adds a contact to the model.
pub(super) fn add(
    scene: &Scene,
    contact: &ContactSpec,
    bodies: &[BuiltBody],
    builder: &mut ModelBuilder,
) -> Result<(), SceneError> {
    let surface = builder.surface();
    let scale = |body| scale_of(body, builder.node_masses(), &surface);
    let scales: Vec<BodyScale<'_>> = bodies.iter().map(scale).collect();
    let wrong = |e: BuildError| contact.mark.error(e.to_string());
    let model = (contact.card.create)(&contact.parameters, &scales).map_err(wrong)?;
    if let Some(body) = bodies.iter().find(|b| !surface.iter().any(|(n, _)| b.dofs.contains(*n))) {
        return Err(contact.mark.error(format!(
            "body \"{}\" has points without size, which touch nothing; give them a radius (m)",
            body.name
        )));
    }
    let pair = match &contact.mesh {
        Some(mesh) => builder.obstacle(obstacle_surface(scene, mesh)?),
        None => contact.pair,
    };
    let added = match contact.motion.clone() {
        Some(motion) => builder.contact_with_moving(pair, Arc::new(move |t| motion.at(t)), model),
        None => builder.contact(pair, model),
    };
    added.map_err(wrong)
}
