//! A scene in memory as files: the scene, and beside it the meshes that it names.

use lilyan_files::atomic::{self, WriteError};
use lilyan_mesh_io::writers::vtu;
use lilyan_scene::library;
use lilyan_scene::schema::{FileSpec, Scene, Shape};
use lilyan_solid::mesh::{Mesh, TriMesh};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Writes a scene into a file whose folder must exist, and its meshes in memory and those of built-in scenes beside it.
pub fn write(scene: &Scene, path: &Path) -> Result<(), WriteError> {
    let directory = path.parent().unwrap_or(Path::new(""));
    for (name, mesh) in &scene.meshes {
        write_mesh(mesh, &directory.join(name))?;
    }
    for (name, surface) in &scene.surfaces {
        atomic::write(directory.join(name), obj(surface).as_bytes())?;
    }
    let specs = scene.bodies.iter().flat_map(|body| body.display.iter().chain([&body.mesh]));
    for spec in specs {
        // Meshes of built-in scenes have no file yet.
        if let Shape::File(FileSpec { path, .. }) = &spec.shape
            && let Some(bytes) = library::asset(&scene.origin.0, path)
        {
            atomic::write(directory.join(path), bytes)?;
        }
    }
    atomic::write(path, scene.to_toml().as_bytes())
}

/// A mesh with its data; regions are the cell data `material`.
fn write_mesh(mesh: &Mesh, path: &Path) -> Result<(), WriteError> {
    fn fields(data: &BTreeMap<String, Vec<f64>>) -> Vec<vtu::Field<'_>> {
        data.iter().map(|(name, values)| vtu::Field { name, components: 1, values }).collect()
    }
    let tags: Vec<f64> = mesh.tags.iter().map(|tag| *tag as f64).collect();
    let mut cell_fields = fields(&mesh.cell_data);
    if tags.iter().any(|tag| *tag != 0.0) {
        cell_fields.push(vtu::Field { name: "material", components: 1, values: &tags });
    }
    vtu::Frame {
        time: None,
        positions: mesh.vertices.as_flattened(),
        blocks: mesh.cells(),
        point_fields: fields(&mesh.point_data),
        cell_fields,
    }
    .write(path)
}

/// A surface as the text of a .obj file.
fn obj(surface: &TriMesh) -> String {
    let mut text = String::new();
    for [x, y, z] in &surface.vertices {
        let _ = writeln!(text, "v {x} {y} {z}");
    }
    for [a, b, c] in surface.triangles.iter().map(|t| t.map(|n| n + 1)) {
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    text
}
