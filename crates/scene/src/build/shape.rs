//! Meshes of bodies: generated or read, then scaled, turned and moved.

use crate::document::SceneError;
use crate::library;
use crate::readers::{self, Loaded};
use crate::schema::{BodySpec, Resolution, Rotation, Scene, Shape};
use lilyan_solid::mesh::{TetMesh, TriMesh};
use lilyan_solid::meshing;

/// The mesh of a body in its rest shape.
pub(super) fn mesh(scene: &Scene, spec: &BodySpec, notes: &mut Vec<String>) -> Result<TetMesh, SceneError> {
    let fail = |e: meshing::MeshingError| spec.mesh.mark.error(e.to_string());
    // Curved shapes without a wish get about eight edges across.
    let edge = |resolution: Resolution, smallest: f64, volume: f64| match resolution {
        Resolution::Automatic => smallest / 4.0,
        Resolution::Edge(edge) => edge,
        // A tet of the lattice with edge a fills about a³/9.
        Resolution::Tets(n) => (9.0 * volume / f64::from(n)).cbrt(),
    };
    let round = 4.0 / 3.0 * std::f64::consts::PI;
    let mut mesh = match &spec.mesh.shape {
        Shape::Box { size, cells } => meshing::box_mesh(*size, cells.map(|c| c as usize)).map_err(fail)?,
        Shape::Sphere { radius, resolution } => {
            let edge = edge(*resolution, *radius, round * radius.powi(3));
            meshing::sphere(*radius, edge).map_err(fail)?
        }
        Shape::Ellipsoid { radii, resolution } => {
            let smallest = radii.iter().copied().fold(f64::INFINITY, f64::min);
            let edge = edge(*resolution, smallest, round * radii.iter().product::<f64>());
            meshing::ellipsoid(*radii, edge).map_err(fail)?
        }
        Shape::Cylinder { radius, length, resolution } => {
            let volume = std::f64::consts::PI * radius * radius * length;
            let edge = edge(*resolution, radius.min(*length), volume);
            meshing::cylinder(*radius, *length, edge).map_err(fail)?
        }
        Shape::File { path, resolution, embed, .. } => {
            if *embed {
                return Err(spec.mesh.mark.error(
                    "embedding a surface is not available in this version; leave out `embed` to \
                     have it filled with tets",
                ));
            }
            file(scene, spec, path, *resolution, notes)?
        }
        Shape::Rope(_) | Shape::Cloth(_) | Shape::Points { .. } => {
            return Err(spec.mesh.mark.error(
                "ropes, cloth and points are not available in this version; use box, sphere, \
                 cylinder, ellipsoid or file",
            ));
        }
    };
    place(spec, &mut mesh.vertices);
    let flipped = mesh.orient();
    if !flipped.is_empty() {
        notes.push(format!(
            "body \"{}\": {} tets were mirrored by the scaling and turned back",
            spec.name,
            flipped.len()
        ));
    }
    Ok(mesh)
}

fn file(
    scene: &Scene,
    spec: &BodySpec,
    path: &str,
    resolution: Resolution,
    notes: &mut Vec<String>,
) -> Result<TetMesh, SceneError> {
    let loaded = match library::asset(&scene.origin.0, path) {
        Some(bytes) => readers::read_bytes(path, bytes),
        None => readers::read(&scene.resolve(path)),
    };
    let loaded = loaded.map_err(|e| spec.mesh.mark.error(e.to_string()))?;
    let about = |note: &String| format!("body \"{}\": {note}", spec.name);
    notes.extend(loaded.notes().iter().map(about));
    match loaded {
        Loaded::Tets(mesh, _) => Ok(mesh),
        Loaded::Surface(surface, _) => {
            let filled = meshing::tetrahedralize(&surface, wanted(&surface, resolution))
                .map_err(|e| spec.mesh.mark.error(e.to_string()))?;
            notes.extend(filled.notes.iter().map(about));
            Ok(filled.mesh)
        }
    }
}

/// The mesher's resolution; automatically, a body of about five thousand tets.
fn wanted(_surface: &TriMesh, resolution: Resolution) -> meshing::Resolution {
    match resolution {
        Resolution::Automatic => meshing::Resolution::Tets(5000),
        Resolution::Edge(edge) => meshing::Resolution::EdgeLength(edge),
        Resolution::Tets(n) => meshing::Resolution::Tets(n as usize),
    }
}

fn place(spec: &BodySpec, vertices: &mut [[f64; 3]]) {
    let transform = &spec.mesh.transform;
    let turn = transform.rotate.as_ref().map(rotation);
    for x in vertices {
        for k in 0..3 {
            x[k] *= transform.scale[k];
        }
        if let Some(turn) = &turn {
            *x = apply(turn, *x);
        }
        for k in 0..3 {
            x[k] += transform.translate[k];
        }
    }
}

/// Rodrigues' rotation matrix.
pub(super) fn rotation(rotation: &Rotation) -> [[f64; 3]; 3] {
    turn(rotation.axis, rotation.degrees.to_radians())
}

/// The rotation by an angle (rad) about a unit vector.
pub(super) fn turn(a: [f64; 3], angle: f64) -> [[f64; 3]; 3] {
    let (s, c) = angle.sin_cos();
    let cross = [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]];
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let diagonal = if i == j { c } else { 0.0 };
            diagonal + s * cross[i][j] + (1.0 - c) * a[i] * a[j]
        })
    })
}

/// A x.
pub(super) fn apply(m: &[[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| m[i][0] * x[0] + m[i][1] * x[1] + m[i][2] * x[2])
}
