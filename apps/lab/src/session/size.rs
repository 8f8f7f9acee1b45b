//! How large a scene will be, before anything of it is made.

use super::ELEMENTS;
use super::files::meshes;
use lilyan_scene::schema::{MeshSpec, Resolution, Scene, Shape};
use std::f64::consts::PI;

/// Refuses a scene that is certainly too large: a mesh of a billion tets is not to be made in order to be counted.
pub fn check(scene: &Scene) -> Result<(), String> {
    let expected: f64 = meshes(scene).into_iter().map(elements).sum();
    // Of round shapes the number is a guess; what is made is counted again.
    match expected > 2.0 * ELEMENTS as f64 {
        true => Err(too_many(expected as usize)),
        false => Ok(()),
    }
}

/// What to say of so many elements.
pub fn too_many(elements: usize) -> String {
    format!(
        "{elements} elements are more than the lab takes ({ELEMENTS}); use a coarser mesh, or `lilyan run`"
    )
}

/// Elements of a mesh, about; 0 where only its maker knows.
fn elements(mesh: &MeshSpec) -> f64 {
    // A regular tet of edge h has the volume h³/8.49.
    let filled = |volume: f64, resolution: &Resolution| match resolution {
        Resolution::Automatic => 0.0,
        Resolution::Edge(h) => 8.49 * volume / h.powi(3),
        Resolution::Tets(n) => f64::from(*n),
    };
    let cells = |cells: &[u32]| cells.iter().map(|n| f64::from(*n)).product::<f64>();
    match &mesh.shape {
        Shape::Box { cells: n, .. } => 6.0 * cells(n),
        Shape::Cloth { cells: n, .. } => 2.0 * cells(n),
        Shape::Rope { segments, .. } => f64::from(*segments),
        Shape::Points { edges, .. } => edges.len() as f64,
        Shape::Sphere { radius, resolution } => filled(4.0 / 3.0 * PI * radius.powi(3), resolution),
        Shape::Cylinder { radius, length, resolution } => filled(PI * radius * radius * length, resolution),
        Shape::Ellipsoid { radii, resolution } => {
            filled(4.0 / 3.0 * PI * radii.iter().product::<f64>(), resolution)
        }
        Shape::File { resolution: Resolution::Tets(n), .. } => f64::from(*n),
        Shape::File { .. } => 0.0,
    }
}
