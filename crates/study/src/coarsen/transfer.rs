//! The document of the fine scene with the coarse body: transfer of pins, loads, probes and constraints.
//!
//! A selection of fine vertices is a function that is 1 at these vertices and 0 at the others. A coarse vertex is selected if
//! this function, interpolated on the fine mesh, is above ½ there. If no coarse vertex is, the coarse vertex nearest to each
//! selected fine vertex is selected. A force is then distributed to the corners of the coarse tets that contain the fine
//! vertices, so that total force and moment stay. A `where` that selects the same vertices on the coarse mesh is not changed.

use super::FineBody;
use super::document::{item, list, numbers, set, table_of, text};
use lilyan_scene::build::select;
use lilyan_scene::document::{Node, Place, SceneError, Value};
use lilyan_scene::library;
use lilyan_scene::schema::{
    ConstraintKind, EndAt, Field, FileSpec, LoadKind, LoadSpec, Mark, MaterialSpec, MeshSpec, Parameters,
    Scene, Selector, Shape,
};
use lilyan_solid::coarsening::Fitted;
use lilyan_solid::mesh::{Mesh, Nodes};

/// Name of the coarse mesh's file.
pub(super) const COARSE_MESH_FILE: &str = "coarse.vtu";

/// The document of the coarse scene, and meshes in memory that it takes over from the fine one.
pub(super) struct TransferredScene {
    pub document: Node,
    pub meshes: Vec<(String, Mesh)>,
}

/// The document of the coarse scene.
pub(super) fn coarse_document(
    scene: &Scene,
    number: usize,
    fine: &FineBody,
    fitted: &Fitted,
    model: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<TransferredScene, SceneError> {
    if scene.bodies[number].initial.state.is_some() {
        return Err(scene.bodies[number].mark.error(
            "starts from a saved state, which belongs to the vertices of the fine mesh; leave out initial.state",
        ));
    }
    let transfer =
        SelectionTransfer { fine, coarse: &fitted.mesh, nodes: Nodes::at_vertices(fitted.mesh.clone()) };
    let mut document = scene.document.clone();
    set(&mut document, "title", text(&format!("{} (coarse)", scene.title)));
    if model.is_none() && !is_mesh_independent(&scene.bodies[number].material) {
        return Err(scene.bodies[number].material.mark.error(
            "comes with the elements of the fine mesh (tags, regions, cell data), which the coarse one does not have; use \
             --method homogenize+eigenfit, or give formulas of x, y, z",
        ));
    }
    body(item(&mut document, "body", number), model);
    let mut meshes = Vec::new();
    for (i, spec) in scene.bodies.iter().enumerate() {
        let table = item(&mut document, "body", i);
        if i != number {
            include_mesh(scene, table, "mesh", &spec.mesh, &mut meshes)?;
        }
        if let Some(display) = &spec.display {
            include_mesh(scene, table, "display", display, &mut meshes)?;
        }
    }
    for (i, pin) in scene.pins.iter().enumerate().filter(|(_, p)| p.body == number) {
        let (list, how) = transfer.selected(&pin.selector, &pin.mark)?;
        transfer.note_nearest("pin", i, &list, how, notes);
        transfer.select(item(&mut document, "pin", i), &pin.selector, &pin.mark, &list);
    }
    for (i, load) in scene.loads.iter().enumerate().filter(|(_, l)| l.body == number) {
        let (list, how) = transfer.selected(&load.selector, &load.mark)?;
        if load.kind == LoadKind::Force && how != SelectedBy::Sampled {
            transfer.distribute_force(&mut document, i, load)?;
            continue;
        }
        transfer.note_nearest("load", i, &list, how, notes);
        let table = item(&mut document, "load", i);
        transfer.select(table, &load.selector, &load.mark, &list);
        transfer.rescale(table, i, load, fitted, &list, notes)?;
    }
    for (i, probe) in scene.probes.iter().enumerate().filter(|(_, p)| p.body == number) {
        if let Some(found) = transfer.coarse.locate(probe.at).filter(|l| l.distance > 0.0) {
            let at = transfer.coarse.place(&found, &transfer.coarse.vertices);
            notes.push(format!(
                "probe \"{}\" is {:.2e} m outside of the coarse mesh and follows the nearest point of it",
                probe.name, found.distance
            ));
            let at = at.map(|x| Node { value: Value::Number(x), place: Place::Unknown });
            set(
                item(&mut document, "probe", i),
                "at",
                Node { value: Value::Array(at.to_vec()), place: Place::Unknown },
            );
        }
    }
    constraints(scene, number)?;
    if !scene.contacts.is_empty() {
        notes.push("contact acts on the surface of the coarse mesh, not on that of the fine one".into());
    }
    Ok(TransferredScene { document, meshes })
}

/// The coarse body: mesh, material and mass from the file; the rest as it was.
fn body(table: &mut Node, model: Option<&str>) {
    let named = |key: &str, name: &str| table_of(&[(key, text(name))]);
    set(table, "mesh", table_of(&[("file", text(COARSE_MESH_FILE))]));
    if let Some(model) = model {
        let tensors =
            [("model", text(model)), ("C", named("cell_data", "C")), ("rho", named("cell_data", "rho"))];
        set(table, "material", table_of(&tensors));
    }
    set(table, "mass", named("point_data", "mass"));
    if let Value::Table(table) = &mut table.value {
        table.remove("element");
        table.remove("gluing");
        table.remove("fit");
    }
}

/// Makes the coarse body one of quadratic tets. Masses of vertices say nothing of nodes on edges, densities of tets do.
pub(super) fn make_quadratic(body: &mut Node) {
    set(body, "element", text("quadratic"));
    let Value::Table(table) = &mut body.value else { return };
    table.remove("mass");
    if let Some(Value::Table(material)) = table.value_mut("material") {
        material.set("rho", Place::Unknown, table_of(&[("cell_data", text("rho"))]));
    }
}

/// Whether a material is the same on any mesh of the body.
fn is_mesh_independent(material: &MaterialSpec) -> bool {
    let free = |field: &Field| match field {
        Field::Constant(_) => true,
        Field::Expression(formula) => !formula.depends_on(3),
        Field::CellData(_) => false,
    };
    let all = |p: &Parameters| {
        let named = [&p.young, &p.poisson, &p.lambda, &p.mu, &p.density];
        named.into_iter().flatten().all(free)
            && p.extra.iter().all(|e| free(&e.value))
            && p.stiffness.iter().flat_map(|c| c.iter()).all(free)
    };
    all(&material.base) && material.regions.iter().all(|r| is_geometric(&r.selector) && all(&r.parameters))
}

/// Constraints that name parts of the fine mesh cannot be kept.
fn constraints(scene: &Scene, number: usize) -> Result<(), SceneError> {
    for constraint in &scene.constraints {
        let by_number = match &constraint.kind {
            ConstraintKind::Distance { between, .. } => {
                between.iter().any(|end| end.body == number && matches!(end.at, EndAt::Vertex(_)))
            }
            ConstraintKind::Elements { body, selector }
            | ConstraintKind::Edges { body, selector }
            | ConstraintKind::Surface { body, selector, .. } => *body == number && !is_geometric(selector),
            ConstraintKind::Volume { .. } => false,
        };
        if by_number {
            return Err(constraint.mark.error(
                "names vertices or elements of the fine mesh, which the coarse one does not have; select them by \
                 place before coarsening",
            ));
        }
    }
    Ok(())
}

/// Whether a selection is the same on any mesh of the body.
fn is_geometric(selector: &Selector) -> bool {
    match selector {
        Selector::Tag(_) | Selector::Region(_) | Selector::Set(_) | Selector::Vertices(_) => false,
        Selector::Formula(formula) => !formula.depends_on(3),
        Selector::Union(parts) | Selector::Intersection(parts) => parts.iter().all(is_geometric),
        _ => true,
    }
}

/// How coarse vertices were found.
#[derive(Clone, Copy, PartialEq)]
enum SelectedBy {
    Sampled,
    Nearest(f64),
}

struct SelectionTransfer<'a> {
    fine: &'a FineBody,
    coarse: &'a Mesh,
    /// The nodes of the coarse mesh.
    nodes: Nodes,
}

impl SelectionTransfer<'_> {
    /// Coarse vertices that replace a selection of fine ones.
    fn selected(&self, selector: &Selector, mark: &Mark) -> Result<(Vec<u32>, SelectedBy), SceneError> {
        let mask = select::nodes(selector, &self.fine.nodes, mark)?;
        let locator = self.fine.mesh().locator();
        let inside = |x: &[f64; 3]| {
            locator.locate(*x).is_some_and(|place| {
                let tet = self.fine.mesh().tets()[place.tet];
                let chosen = (0..4).filter(|k| mask[tet[*k] as usize]).map(|k| place.barycentric[k]);
                chosen.sum::<f64>() > 0.5
            })
        };
        let all = self.coarse.vertices.iter().enumerate();
        let sampled: Vec<u32> = all.filter(|(_, x)| inside(x)).map(|(v, _)| v as u32).collect();
        if !sampled.is_empty() {
            return Ok((sampled, SelectedBy::Sampled));
        }
        let (mut list, mut furthest) = (Vec::new(), 0.0f64);
        for x in self.fine.mesh().vertices.iter().zip(&mask).filter(|(_, m)| **m).map(|(x, _)| x) {
            let square = |y: &[f64; 3]| (0..3).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>();
            let all = self.coarse.vertices.iter().map(square).enumerate();
            if let Some((v, d)) = all.min_by(|a, b| a.1.total_cmp(&b.1)) {
                list.push(v as u32);
                furthest = furthest.max(d.sqrt());
            }
        }
        list.sort_unstable();
        list.dedup();
        Ok((list, SelectedBy::Nearest(furthest)))
    }

    fn note_nearest(&self, what: &str, i: usize, list: &[u32], how: SelectedBy, notes: &mut Vec<String>) {
        if let SelectedBy::Nearest(distance) = how {
            notes.push(format!(
                "{what} {}: no coarse vertex lies in its region; the nearest {} to what it selects on the fine mesh \
                 stand for it, up to {distance:.2e} m away; for a closer one give a coarse mesh with vertices there",
                i + 1,
                if list.len() == 1 { "one".into() } else { list.len().to_string() },
            ));
        }
    }

    /// Keeps a `where` that selects these vertices, or writes their numbers.
    fn select(&self, table: &mut Node, selector: &Selector, mark: &Mark, list: &[u32]) {
        if is_geometric(selector)
            && let Ok(mask) = select::nodes(selector, &self.nodes, mark)
            && (0..mask.len() as u32).filter(|v| mask[*v as usize]).eq(list.iter().copied())
        {
            return;
        }
        set(table, "where", table_of(&[("vertices", numbers(list))]));
    }

    /// Makes a load that is per area, volume or mass as large in total as on the fine mesh.
    fn rescale(
        &self,
        table: &mut Node,
        i: usize,
        load: &LoadSpec,
        fitted: &Fitted,
        list: &[u32],
        notes: &mut Vec<String>,
    ) -> Result<(), SceneError> {
        let (key, masses): (_, [Vec<f64>; 2]) = match load.kind {
            LoadKind::Force => return Ok(()),
            LoadKind::Traction => ("traction", Default::default()),
            LoadKind::Pressure => ("pressure", Default::default()),
            LoadKind::BodyForce => ("body_force", Default::default()),
            LoadKind::Acceleration => {
                ("acceleration", [self.fine.masses(), fitted.overlaps.masses(self.coarse, &self.fine.view())])
            }
        };
        let chosen = select::nodes(&load.selector, &self.fine.nodes, &load.mark)?;
        let mut coarse = vec![false; self.coarse.vertices.len()];
        list.iter().for_each(|v| coarse[*v as usize] = true);
        let total = |mesh: &Mesh, mask: &[bool], masses: &[f64]| -> f64 {
            let at = |v: &u32| mask[*v as usize];
            match load.kind {
                LoadKind::Traction | LoadKind::Pressure => {
                    let surface = mesh.surface();
                    let faces = surface.triangles.iter().zip(surface.face_areas(&mesh.vertices));
                    faces.filter(|(face, _)| face.iter().all(at)).map(|(_, area)| area).sum()
                }
                LoadKind::Acceleration => masses.iter().zip(mask).filter(|(_, m)| **m).map(|(x, _)| x).sum(),
                _ => {
                    let tets = mesh.tets().iter().zip(mesh.signed_volumes());
                    tets.map(|(t, v)| 0.25 * v * t.iter().filter(|v| at(v)).count() as f64).sum()
                }
            }
        };
        let before = total(self.fine.mesh(), &chosen, &masses[0]);
        let after = total(self.coarse, &coarse, &masses[1]);
        if after <= 0.0 {
            return Err(load.mark.error(
                "selects no complete face of the coarse mesh's surface; give a finer coarse mesh, or a force in N \
                 instead of a traction",
            ));
        }
        let ratio = before / after;
        if (ratio - 1.0).abs() < 1e-9 {
            return Ok(());
        }
        notes.push(format!(
            "load {}: {key} times {ratio:.6}, so that its total is that on the fine mesh",
            i + 1
        ));
        scale_load(table, key, ratio);
        Ok(())
    }

    /// One load per corner of the coarse tets that hold the loaded fine vertices, weighted by barycentric coordinates.
    fn distribute_force(&self, document: &mut Node, i: usize, load: &LoadSpec) -> Result<(), SceneError> {
        let mask = select::nodes(&load.selector, &self.fine.nodes, &load.mark)?;
        let chosen: Vec<usize> = (0..mask.len()).filter(|v| mask[*v]).collect();
        let locator = self.coarse.locator();
        let mut weights = std::collections::BTreeMap::new();
        for place in chosen.iter().filter_map(|v| locator.locate(self.fine.mesh().vertices[*v])) {
            for (v, w) in self.coarse.tets()[place.tet].iter().zip(place.barycentric) {
                *weights.entry(*v).or_insert(0.0) += w / chosen.len() as f64;
            }
        }
        weights.retain(|_, w| *w > 1e-9);
        let total: f64 = weights.values().sum();
        let whole = item(document, "load", i).clone();
        for (n, (v, w)) in weights.iter().enumerate() {
            let mut part = whole.clone();
            set(&mut part, "where", table_of(&[("vertices", numbers(&[*v]))]));
            scale_load(&mut part, "force", w / total);
            match n {
                0 => *item(document, "load", i) = part,
                _ => list(document, "load").push(part),
            }
        }
        Ok(())
    }
}

/// Makes a mesh that the fine scene names available to the coarse scene.
fn include_mesh(
    scene: &Scene,
    body: &mut Node,
    key: &str,
    mesh: &MeshSpec,
    meshes: &mut Vec<(String, Mesh)>,
) -> Result<(), SceneError> {
    let Shape::File(FileSpec { path, .. }) = &mesh.shape else { return Ok(()) };
    let file = match scene.meshes.get(path) {
        Some(given) => {
            // The mesh is written to this file, and the extension names its format.
            let name = if path.ends_with(".vtu") { path.clone() } else { format!("{path}.vtu") };
            meshes.push((name.clone(), Mesh::clone(given)));
            name
        }
        None => mesh_path(scene, path).map_err(|e| mesh.mark.error(e))?,
    };
    match body.table().and_then(|t| t.get(key)).map(|e| e.node.value.clone()) {
        Some(Value::Table(mut mesh)) => {
            mesh.set("file", Place::Unknown, text(&file));
            set(body, key, Node { value: Value::Table(mesh), place: Place::Unknown });
        }
        _ => set(body, key, text(&file)),
    }
    Ok(())
}

/// The path by which the coarse scene can name the mesh of another body.
fn mesh_path(scene: &Scene, path: &str) -> Result<String, String> {
    if library::asset(&scene.origin.0, path).is_some() {
        return Ok(path.to_owned());
    }
    let file = scene.resolve(path);
    let whole = std::fs::canonicalize(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(whole.display().to_string())
}

/// Multiplies the components of a load.
fn scale_load(table: &mut Node, key: &str, factor: f64) {
    fn scaled(value: Value, factor: f64) -> Value {
        match value {
            Value::Number(x) => Value::Number(factor * x),
            Value::Integer(x) => Value::Number(factor * x as f64),
            Value::Text(formula) => Value::Text(format!("{factor:?}*({formula})")),
            Value::Array(parts) => {
                let part = |part: Node| Node { value: scaled(part.value, factor), place: Place::Unknown };
                Value::Array(parts.into_iter().map(part).collect())
            }
            other => other,
        }
    }
    if let Some(value) = table.table().and_then(|t| t.get(key)).map(|e| e.node.value.clone()) {
        set(table, key, Node { value: scaled(value, factor), place: Place::Unknown });
    }
}
