//! Whether a scene is too large for the lab, told before its meshes are made.

use crate::error::LabError;
use crate::limits::ELEMENTS;
use lilyan_scene::build::size::{elements, meshes};
use lilyan_scene::schema::Scene;

/// Refuses a scene that is certainly too large, so that a mesh of a billion tets is never made.
pub fn check(scene: &Scene) -> Result<(), LabError> {
    let expected: f64 = meshes(scene).into_iter().map(elements).sum();
    // For round shapes the number is an estimate; the elements of the finished mesh are counted again.
    match expected > 2.0 * ELEMENTS as f64 {
        true => Err(LabError::TooManyElements(expected as usize)),
        false => Ok(()),
    }
}
