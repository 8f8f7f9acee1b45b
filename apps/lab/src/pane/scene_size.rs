//! How large a scene will be, estimated before its meshes are made.

use crate::error::LabError;
use crate::limits::ELEMENTS;
use lilyan_scene::schema::{FileSpec, FitKind, MeshSpec, Resolution, Scene, Shape};
use std::f64::consts::PI;

/// Refuses a scene that is certainly too large, so that a mesh of a billion tets is never made.
pub fn check(scene: &Scene) -> Result<(), LabError> {
    let expected: f64 = meshes(scene).into_iter().map(elements).sum();
    // For round shapes the number is an estimate; the elements of the finished mesh are counted again.
    match expected > 2.0 * ELEMENTS as f64 {
        true => Err(LabError::TooManyElements(expected as usize)),
        false => Ok(()),
    }
}

/// Every mesh that a scene names.
pub fn meshes(scene: &Scene) -> Vec<&MeshSpec> {
    let mut all = Vec::new();
    for body in &scene.bodies {
        all.push(&body.mesh);
        all.extend(&body.display);
        if let Some(FitKind::Fine { mesh, .. }) = body.fit.as_ref().map(|fit| &fit.kind) {
            all.push(mesh);
        }
    }
    all
}

/// Approximate number of elements; 0 if it is known only after meshing.
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
        Shape::File(FileSpec { resolution: Resolution::Tets(n), .. }) => f64::from(*n),
        Shape::File(_) => 0.0,
    }
}
