//! Meshes of bodies: generated or read, then scaled, turned and moved.

use crate::document::SceneError;
use crate::library;
use crate::schema::{BodySpec, Element, FileSpec, Resolution, Rotation, Scene, Shape};
use lilyan_mesh_io::readers::{self, Loaded};
use lilyan_solid::elements::QUADRATIC_TETS;
use lilyan_solid::mesh::{CellBlock, Mesh, Nodes, TriMesh};
use lilyan_solid::meshing;
use lilyan_solid::nets;
use std::sync::Arc;

/// The nodes of a body on the mesh of its rest shape. Ropes have vertices and no cells, cloth and surfaces have
/// triangles. With them comes what the body is made of, which a file may say if the scene does not.
pub fn nodes(
    scene: &Scene,
    spec: &BodySpec,
    notes: &mut Vec<String>,
) -> Result<(Arc<Nodes>, Element), SceneError> {
    let mesh = Arc::new(mesh(scene, spec, notes)?);
    check_size(spec, &mesh)?;
    let by_file = !spec.element_given && spec.element == Element::TETS && !mesh.edge_points.is_empty();
    let element = if by_file { Element::Solid(&QUADRATIC_TETS) } else { spec.element };
    let nodes = match element.solid() {
        Some(kind) => (kind.nodes)(mesh),
        None => Nodes::at_vertices(mesh),
    };
    Ok((Arc::new(nodes), element))
}

/// Refuses bodies of a size that numbers cannot be computed with.
fn check_size(spec: &BodySpec, mesh: &Mesh) -> Result<(), SceneError> {
    let Some([low, high]) = mesh.bounds() else { return Ok(()) };
    let furthest = low.iter().chain(&high).fold(0.0, |most: f64, x| most.max(x.abs()));
    let across = (0..3).fold(0.0, |most: f64, k| most.max(high[k] - low[k]));
    let [least, most] = [meshing::LENGTHS.start(), meshing::LENGTHS.end()];
    // A single point has no extent.
    if furthest > *most || furthest.is_nan() || (across < *least && mesh.vertices.len() > 1) {
        return Err(spec.mesh.mark.error(format!(
            "the body is {across:e} m across and reaches {furthest:e} m from the origin; lengths between {least:e} m and \
             {most:e} m can be computed with: check `scale` and the unit of the mesh"
        )));
    }
    Ok(())
}

/// The mesh of a body in its place.
fn mesh(scene: &Scene, spec: &BodySpec, notes: &mut Vec<String>) -> Result<Mesh, SceneError> {
    let open = |vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>| {
        let mut mesh = Mesh::of_cells(vertices, vec![CellBlock::from(triangles)]);
        place(spec, &mut mesh.vertices);
        mesh
    };
    let thin = |thickness: &Option<f64>| match spec.element {
        Element::Springs | Element::Membrane => true,
        // A surface with a thickness stays one.
        Element::Dg => thickness.is_some(),
        Element::Solid(_) => false,
    };
    match &spec.mesh.shape {
        Shape::Rope { points, segments, .. } => Ok(open(along(points, *segments as usize), Vec::new())),
        Shape::Points { positions, .. } => Ok(open(positions.clone(), Vec::new())),
        Shape::Cloth { size, cells, .. } => {
            let sheet = nets::Sheet { cells: cells.map(|c| c as usize) };
            Ok(open(sheet.vertices(*size), sheet.triangles()))
        }
        Shape::File(file) if thin(&file.thickness) => match load(scene, spec, file, notes)? {
            Loaded::Surface(mesh, _) => Ok(open(mesh.vertices, mesh.triangles)),
            Loaded::Tets(mesh, _) if spec.element != Element::Membrane => Ok(solid(spec, mesh, notes)),
            Loaded::Tets(..) => Err(spec.mesh.mark.error(format!(
                "a membrane needs a surface ({}); this file has tets",
                readers::surface_extensions()
            ))),
        },
        _ => Ok(solid(spec, unplaced(scene, spec, notes)?, notes)),
    }
}

/// Evenly spaced points along the line through these corners.
fn along(corners: &[[f64; 3]], segments: usize) -> Vec<[f64; 3]> {
    if let [from, to] = *corners {
        return nets::rope(from, to, segments);
    }
    let length = |p: &[[f64; 3]]| (0..3).map(|k| (p[1][k] - p[0][k]).powi(2)).sum::<f64>().sqrt();
    let lengths: Vec<f64> = corners.windows(2).map(length).collect();
    let total: f64 = lengths.iter().sum();
    (0..=segments)
        .map(|n| {
            let mut rest = total * n as f64 / segments as f64;
            let mut part = 0;
            while part + 1 < lengths.len() && rest > lengths[part] {
                rest -= lengths[part];
                part += 1;
            }
            let t = (rest / lengths[part]).min(1.0);
            std::array::from_fn(|k| (1.0 - t) * corners[part][k] + t * corners[part + 1][k])
        })
        .collect()
}

/// A solid put in its place.
fn solid(spec: &BodySpec, mut mesh: Mesh, notes: &mut Vec<String>) -> Mesh {
    place(spec, &mut mesh.vertices);
    mesh.edge_points.values_mut().for_each(|x| place(spec, std::slice::from_mut(x)));
    let flipped = mesh.orient();
    let straightened = mesh.straighten_inverted();
    if straightened > 0 {
        notes.push(format!(
            "body \"{}\": {straightened} nodes on edges were moved to the middle of their edge, since the curved tets there would be \
             inverted",
            spec.name
        ));
    }
    if !flipped.is_empty() {
        notes.push(format!(
            "body \"{}\": {} tets were mirrored by the scaling and turned back",
            spec.name,
            flipped.len()
        ));
    }
    mesh
}

/// The mesh of a solid, not yet in its place.
fn unplaced(scene: &Scene, spec: &BodySpec, notes: &mut Vec<String>) -> Result<Mesh, SceneError> {
    let fail = |e: meshing::MeshingError| spec.mesh.mark.error(e.to_string());
    // Curved shapes without a wish get about eight edges across.
    let edge = |resolution: Resolution, smallest: f64, volume: f64| match resolution {
        Resolution::Automatic => smallest / 4.0,
        Resolution::Edge(edge) => edge,
        // A tet of the lattice with edge a fills about a³/9.
        Resolution::Tets(n) => (9.0 * volume / f64::from(n)).cbrt(),
    };
    let round = 4.0 / 3.0 * std::f64::consts::PI;
    let curved = spec.element == Element::Solid(&QUADRATIC_TETS);
    Ok(match &spec.mesh.shape {
        Shape::Box { size, cells, diagonals } => {
            meshing::box_mesh_with(*size, cells.map(|c| c as usize), *diagonals).map_err(fail)?
        }
        Shape::Sphere { radius, resolution } => {
            let edge = edge(*resolution, *radius, round * radius.powi(3));
            let mesh = meshing::sphere(*radius, edge).map_err(fail)?;
            if curved { on_ellipsoid(mesh, [*radius; 3]) } else { mesh }
        }
        Shape::Ellipsoid { radii, resolution } => {
            let smallest = radii.iter().copied().fold(f64::INFINITY, f64::min);
            let edge = edge(*resolution, smallest, round * radii.iter().product::<f64>());
            let mesh = meshing::ellipsoid(*radii, edge).map_err(fail)?;
            if curved { on_ellipsoid(mesh, *radii) } else { mesh }
        }
        Shape::Cylinder { radius, length, resolution } => {
            let volume = std::f64::consts::PI * radius * radius * length;
            let edge = edge(*resolution, radius.min(*length), volume);
            let mut mesh = meshing::cylinder(*radius, *length, edge).map_err(fail)?;
            if curved {
                meshing::curve_cylinder(&mut mesh, *radius);
            }
            mesh
        }
        Shape::File(file) => filled(scene, spec, file, notes)?,
        Shape::Rope { .. } | Shape::Cloth { .. } | Shape::Points { .. } => {
            return Err(spec.mesh.mark.error("ropes, cloth and points have no tets"));
        }
    })
}

/// The mesh with the nodes on the edges of its surface on the ellipsoid.
fn on_ellipsoid(mut mesh: Mesh, radii: [f64; 3]) -> Mesh {
    meshing::curve_ellipsoid(&mut mesh, radii);
    mesh
}

fn in_memory(scene: &Scene, name: &str) -> Option<Loaded> {
    let mesh = scene.meshes.get(name).map(|mesh| Loaded::Tets(Mesh::clone(mesh), Vec::new()));
    mesh.or_else(|| scene.surfaces.get(name).map(|s| Loaded::Surface(TriMesh::clone(s), Vec::new())))
}

/// The mesh in memory of that name, or the built-in one, or that of the file.
pub(super) fn load(
    scene: &Scene,
    spec: &BodySpec,
    file: &FileSpec,
    notes: &mut Vec<String>,
) -> Result<Loaded, SceneError> {
    let loaded = match (in_memory(scene, &file.path), library::asset(&scene.origin.0, &file.path)) {
        (Some(loaded), _) => Ok(loaded),
        (None, Some(bytes)) => readers::read_bytes(&file.path, file.format, bytes),
        (None, None) => match &file.group {
            Some(group) => readers::read_group(&scene.resolve(&file.path), file.format, group),
            None => readers::read_as(&scene.resolve(&file.path), file.format),
        },
    };
    let loaded = loaded.map_err(|e| spec.mesh.mark.error(e.to_string()))?;
    notes.extend(loaded.notes().iter().map(|note| format!("body \"{}\": {note}", spec.name)));
    Ok(loaded)
}

/// The tets of a file, or those that fill the surface in it.
fn filled(
    scene: &Scene,
    spec: &BodySpec,
    file: &FileSpec,
    notes: &mut Vec<String>,
) -> Result<Mesh, SceneError> {
    let about = |note: &String| format!("body \"{}\": {note}", spec.name);
    match load(scene, spec, file, notes)? {
        Loaded::Tets(..) if file.embed => {
            Err(spec.mesh.mark.error("`embed` is for surfaces; this file has tets, leave it out"))
        }
        Loaded::Tets(mesh, _) => Ok(mesh),
        Loaded::Surface(surface, _) => {
            let filled = meshing::tetrahedralize(&surface, wanted(file.resolution))
                .map_err(|e| spec.mesh.mark.error(e.to_string()))?;
            notes.extend(filled.notes.iter().map(about));
            Ok(filled.mesh)
        }
    }
}

/// The mesher's resolution; automatically, a body of about five thousand tets.
fn wanted(resolution: Resolution) -> meshing::Resolution {
    match resolution {
        Resolution::Automatic => meshing::Resolution::Tets(5000),
        Resolution::Edge(edge) => meshing::Resolution::EdgeLength(edge),
        Resolution::Tets(n) => meshing::Resolution::Tets(n as usize),
    }
}

/// Scales, turns and moves vertices as the mesh of a body is.
pub fn place(spec: &BodySpec, vertices: &mut [[f64; 3]]) {
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
pub fn rotation(rotation: &Rotation) -> [[f64; 3]; 3] {
    turn(rotation.axis, rotation.degrees.to_radians())
}

/// The rotation by an angle (rad) about a unit vector.
pub fn turn(a: [f64; 3], angle: f64) -> [[f64; 3]; 3] {
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
pub fn apply(m: &[[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| m[i][0] * x[0] + m[i][1] * x[1] + m[i][2] * x[2])
}
