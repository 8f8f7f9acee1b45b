//! Contact: the model of the catalogue, with what the scene does not give derived from the bodies.

use super::BuiltBody;
use crate::document::SceneError;
use crate::schema::ContactSpec;
use lilyan_solid::contact::BodyScale;
use lilyan_solid::{BuildError, ModelBuilder};
use std::sync::Arc;

/// Scales of a body, from which contact models derive what the scene does not give.
fn scale_of(body: &BuiltBody) -> BodyScale<'_> {
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
    BodyScale {
        young: (!body.is_net()).then_some(body.young[1]),
        extent: (0..3).map(|k| high[k] - low[k]).fold(f64::INFINITY, f64::min),
        mean_edge: Box::new(mean_edge),
    }
}

/// Adds a contact to the model.
pub(super) fn add(
    contact: &ContactSpec,
    bodies: &[BuiltBody],
    builder: &mut ModelBuilder,
) -> Result<(), SceneError> {
    let scales: Vec<BodyScale<'_>> = bodies.iter().map(scale_of).collect();
    let wrong = |e: BuildError| contact.mark.error(e.to_string());
    let model = (contact.card.create)(&contact.parameters, &scales).map_err(wrong)?;
    let surface = builder.surface();
    if let Some(body) = bodies.iter().find(|b| !surface.iter().any(|(n, _)| b.dofs.contains(*n))) {
        return Err(contact.mark.error(format!(
            "body \"{}\" has points without size, which touch nothing; give them a radius (m)",
            body.name
        )));
    }
    match (contact.obstacle(), contact.motion.clone()) {
        (Some(shape), Some(motion)) => {
            builder.contact_with_moving(shape, Arc::new(move |t| motion.at(t)), model).map_err(wrong)
        }
        _ => builder.contact(contact.pair, model).map_err(wrong),
    }
}
