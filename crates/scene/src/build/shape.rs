//! Meshes of bodies: generated or read, then scaled, turned and moved.

use crate::document::SceneError;
use crate::library;
use crate::readers::{self, Loaded};
use crate::schema::{BodySpec, Element, Resolution, Rotation, Scene, Shape};
use lilyan_solid::mesh::{SplitFace, Surface, TetMesh, TriMesh};
use lilyan_solid::meshing;
use lilyan_solid::nets;

/// A body in its rest shape. Ropes, cloth and surfaces have vertices and no tets.
pub(crate) struct Form {
    pub mesh: TetMesh,
    pub surface: Surface,
    /// Whether the surface has an inside.
    pub closed: bool,
    /// Faces between the tets of a split mesh, edges between the triangles of a split surface.
    pub faces: Vec<SplitFace>,
}

/// The rest shape of a body.
pub(crate) fn form(scene: &Scene, spec: &BodySpec, notes: &mut Vec<String>) -> Result<Form, SceneError> {
    let open = |vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>| {
        let mut form = surface(TriMesh { vertices, triangles }, spec.element == Element::Dg);
        place(spec, &mut form.mesh.vertices);
        form
    };
    let thin = |thickness: &Option<f64>| match spec.element {
        Element::Springs | Element::Membrane => true,
        // A surface with a thickness stays one.
        Element::Dg => thickness.is_some(),
        Element::Tets => false,
    };
    match &spec.mesh.shape {
        Shape::Rope { points, segments, .. } => Ok(open(along(points, *segments as usize), Vec::new())),
        Shape::Points { positions, .. } => Ok(open(positions.clone(), Vec::new())),
        Shape::Cloth { size, cells, .. } => {
            let sheet = nets::Sheet { cells: cells.map(|c| c as usize) };
            Ok(open(sheet.vertices(*size), sheet.triangles()))
        }
        Shape::File { path, thickness, .. } if thin(thickness) => match load(scene, spec, path, notes)? {
            Loaded::Surface(mesh, _) => Ok(open(mesh.vertices, mesh.triangles)),
            Loaded::Tets(mesh, _) if spec.element != Element::Membrane => Ok(solid(spec, mesh, notes)),
            Loaded::Tets(..) => {
                Err(spec.mesh.mark.error("a membrane needs a surface (.obj, .stl, .ply); this file has tets"))
            }
        },
        _ => Ok(solid(spec, mesh(scene, spec, notes)?, notes)),
    }
}

/// A surface by itself, or with no triangles single points.
fn surface(mesh: TriMesh, split: bool) -> Form {
    let mut used = mesh.triangles.concat();
    used.sort_unstable();
    used.dedup();
    let mut edges: Vec<[u32; 2]> =
        (mesh.triangles.iter()).flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]).collect();
    edges.sort_unstable();
    // Every edge is there once in each direction.
    let closed = !edges.is_empty()
        && edges.windows(2).all(|e| e[0] != e[1])
        && edges.iter().all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok());
    let (mesh, faces) = if split { mesh.split() } else { (mesh, Vec::new()) };
    if split {
        used = (0..mesh.vertices.len() as u32).collect();
    }
    Form {
        mesh: TetMesh::new(mesh.vertices, Vec::new()),
        surface: Surface { triangles: mesh.triangles, tets: Vec::new(), vertices: used },
        closed,
        faces,
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
fn solid(spec: &BodySpec, mut mesh: TetMesh, notes: &mut Vec<String>) -> Form {
    place(spec, &mut mesh.vertices);
    let flipped = mesh.orient();
    if !flipped.is_empty() {
        notes.push(format!(
            "body \"{}\": {} tets were mirrored by the scaling and turned back",
            spec.name,
            flipped.len()
        ));
    }
    if spec.element == Element::Dg {
        let split = mesh.split();
        return Form { mesh: split.mesh, surface: split.surface, closed: true, faces: split.faces };
    }
    Form { surface: mesh.surface(), mesh, closed: true, faces: Vec::new() }
}

/// The mesh of a solid, not yet in its place.
fn mesh(scene: &Scene, spec: &BodySpec, notes: &mut Vec<String>) -> Result<TetMesh, SceneError> {
    let fail = |e: meshing::MeshingError| spec.mesh.mark.error(e.to_string());
    // Curved shapes without a wish get about eight edges across.
    let edge = |resolution: Resolution, smallest: f64, volume: f64| match resolution {
        Resolution::Automatic => smallest / 4.0,
        Resolution::Edge(edge) => edge,
        // A tet of the lattice with edge a fills about a³/9.
        Resolution::Tets(n) => (9.0 * volume / f64::from(n)).cbrt(),
    };
    let round = 4.0 / 3.0 * std::f64::consts::PI;
    Ok(match &spec.mesh.shape {
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
        Shape::File { path, resolution, .. } => file(scene, spec, path, *resolution, notes)?,
        Shape::Rope { .. } | Shape::Cloth { .. } | Shape::Points { .. } => {
            return Err(spec.mesh.mark.error("ropes, cloth and points have no tets"));
        }
    })
}

/// Reads a mesh file, or the built-in one of that name.
pub(super) fn load(
    scene: &Scene,
    spec: &BodySpec,
    path: &str,
    notes: &mut Vec<String>,
) -> Result<Loaded, SceneError> {
    let loaded = match library::asset(&scene.origin.0, path) {
        Some(bytes) => readers::read_bytes(path, bytes),
        None => readers::read(&scene.resolve(path)),
    };
    let loaded = loaded.map_err(|e| spec.mesh.mark.error(e.to_string()))?;
    notes.extend(loaded.notes().iter().map(|note| format!("body \"{}\": {note}", spec.name)));
    Ok(loaded)
}

fn file(
    scene: &Scene,
    spec: &BodySpec,
    path: &str,
    resolution: Resolution,
    notes: &mut Vec<String>,
) -> Result<TetMesh, SceneError> {
    let about = |note: &String| format!("body \"{}\": {note}", spec.name);
    match load(scene, spec, path, notes)? {
        Loaded::Tets(..) if matches!(spec.mesh.shape, Shape::File { embed: true, .. }) => {
            Err(spec.mesh.mark.error("`embed` is for surfaces; this file has tets, leave it out"))
        }
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

/// Scales, turns and moves vertices as the mesh of a body is.
pub(crate) fn place(spec: &BodySpec, vertices: &mut [[f64; 3]]) {
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
pub(crate) fn rotation(rotation: &Rotation) -> [[f64; 3]; 3] {
    turn(rotation.axis, rotation.degrees.to_radians())
}

/// The rotation by an angle (rad) about a unit vector.
pub(crate) fn turn(a: [f64; 3], angle: f64) -> [[f64; 3]; 3] {
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
pub(crate) fn apply(m: &[[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| m[i][0] * x[0] + m[i][1] * x[1] + m[i][2] * x[2])
}
