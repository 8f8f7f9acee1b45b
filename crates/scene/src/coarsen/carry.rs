//! The fine scene's document with the coarse body in it: pins, loads, probes and constraints carried over.
//!
//! What is selected on the fine mesh is 1 there and 0 elsewhere; a coarse vertex is selected where this function,
//! interpolated on the fine mesh, is above ½. Where that catches no coarse vertex, each selected fine vertex hands its
//! place to the coarse vertex nearest to it; forces are shared by the corners of the coarse tets that they lie in, so that
//! force and moment stay. A `where` that selects the same on the coarse mesh stays as it was written.

use super::FineBody;
use crate::build::select;
use crate::document::{Node, Place, SceneError, Table, Value};
use crate::library;
use crate::schema::{
    ConstraintKind, EndAt, Field, LoadKind, LoadSpec, Mark, MaterialSpec, MeshSpec, Parameters, Scene,
    Selector, Shape,
};
use crate::writers::atomic;
use lilyan_solid::coarsening::Fitted;
use lilyan_solid::mesh::{Surface, TetMesh};
use std::path::Path;

/// Name of the coarse mesh's file.
pub(super) const MESH: &str = "coarse.vtu";

/// The document of the coarse scene.
pub(super) fn scene(
    scene: &Scene,
    number: usize,
    fine: &FineBody,
    fitted: &Fitted,
    model: Option<&str>,
    directory: &Path,
    notes: &mut Vec<String>,
) -> Result<Node, SceneError> {
    if scene.bodies[number].initial.state.is_some() {
        return Err(scene.bodies[number].mark.error(
            "starts from a saved state, which belongs to the vertices of the fine mesh; leave out initial.state",
        ));
    }
    let carry = Carry { fine, coarse: &fitted.mesh, surface: fitted.mesh.surface() };
    let mut document = scene.document.clone();
    set(&mut document, "title", text(&format!("{} (coarse)", scene.title)));
    if model.is_none() && !portable(&scene.bodies[number].material) {
        return Err(scene.bodies[number].material.mark.error(
            "comes with the elements of the fine mesh (tags, regions, cell data), which the coarse one does not have; use \
             --method homogenize+eigenfit, or give formulas of x, y, z",
        ));
    }
    body(item(&mut document, "body", number), model);
    for (i, spec) in scene.bodies.iter().enumerate() {
        let table = item(&mut document, "body", i);
        if i != number {
            reach(scene, table, "mesh", &spec.mesh, directory)?;
        }
        if let Some(display) = &spec.display {
            reach(scene, table, "display", display, directory)?;
        }
    }
    for (i, pin) in scene.pins.iter().enumerate().filter(|(_, p)| p.body == number) {
        let (list, how) = carry.selected(&pin.selector, &pin.mark)?;
        carry.tell("pin", i, &list, how, notes);
        carry.select(item(&mut document, "pin", i), &pin.selector, &pin.mark, &list);
    }
    for (i, load) in scene.loads.iter().enumerate().filter(|(_, l)| l.body == number) {
        let (list, how) = carry.selected(&load.selector, &load.mark)?;
        if load.kind == LoadKind::Force && how != How::Sampled {
            carry.share_force(&mut document, i, load)?;
            continue;
        }
        carry.tell("load", i, &list, how, notes);
        let table = item(&mut document, "load", i);
        carry.select(table, &load.selector, &load.mark, &list);
        carry.rescale(table, i, load, fitted, &list, notes)?;
    }
    for (i, probe) in scene.probes.iter().enumerate().filter(|(_, p)| p.body == number) {
        if let Some(found) = carry.coarse.locate(probe.at).filter(|l| l.distance > 0.0) {
            let at = carry.coarse.place(&found, &carry.coarse.vertices);
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
        notes.push("contact is felt by the surface of the coarse mesh, not by that of the fine one".into());
    }
    Ok(document)
}

/// The coarse body: mesh, material and mass from the file; the rest as it was.
fn body(table: &mut Node, model: Option<&str>) {
    let named = |key: &str, name: &str| table_of(&[(key, text(name))]);
    set(table, "mesh", table_of(&[("file", text(MESH))]));
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

/// Whether a material means the same on any mesh of the body.
fn portable(material: &MaterialSpec) -> bool {
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
    all(&material.base) && material.regions.iter().all(|r| geometric(&r.selector) && all(&r.parameters))
}

/// Constraints that name parts of the fine mesh cannot be kept.
fn constraints(scene: &Scene, number: usize) -> Result<(), SceneError> {
    for constraint in &scene.constraints {
        let by_number = match &constraint.kind {
            ConstraintKind::Distance { between, .. } => {
                between.iter().any(|end| end.body == number && matches!(end.at, EndAt::Vertex(_)))
            }
            ConstraintKind::Elements { body, selector } | ConstraintKind::Edges { body, selector } => {
                *body == number && !geometric(selector)
            }
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

/// Whether a selection means the same on any mesh of the body.
fn geometric(selector: &Selector) -> bool {
    match selector {
        Selector::Tag(_) | Selector::Region(_) | Selector::Set(_) | Selector::Vertices(_) => false,
        Selector::Formula(formula) => !formula.depends_on(3),
        Selector::Union(parts) | Selector::Intersection(parts) => parts.iter().all(geometric),
        _ => true,
    }
}

/// How coarse vertices were found.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Sampled,
    Nearest(f64),
}

struct Carry<'a> {
    fine: &'a FineBody,
    coarse: &'a TetMesh,
    surface: Surface,
}

impl Carry<'_> {
    /// Coarse vertices that stand for a selection of fine ones.
    fn selected(&self, selector: &Selector, mark: &Mark) -> Result<(Vec<u32>, How), SceneError> {
        let mask = select::vertices(selector, &self.fine.mesh, &self.fine.surface, mark)?;
        let locator = self.fine.mesh.locator();
        let inside = |x: &[f64; 3]| {
            locator.locate(*x).is_some_and(|place| {
                let tet = self.fine.mesh.tets[place.tet];
                let chosen = (0..4).filter(|k| mask[tet[*k] as usize]).map(|k| place.barycentric[k]);
                chosen.sum::<f64>() > 0.5
            })
        };
        let all = self.coarse.vertices.iter().enumerate();
        let sampled: Vec<u32> = all.filter(|(_, x)| inside(x)).map(|(v, _)| v as u32).collect();
        if !sampled.is_empty() {
            return Ok((sampled, How::Sampled));
        }
        let (mut list, mut furthest) = (Vec::new(), 0.0f64);
        for x in self.fine.mesh.vertices.iter().zip(&mask).filter(|(_, m)| **m).map(|(x, _)| x) {
            let square = |y: &[f64; 3]| (0..3).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>();
            let all = self.coarse.vertices.iter().map(square).enumerate();
            if let Some((v, d)) = all.min_by(|a, b| a.1.total_cmp(&b.1)) {
                list.push(v as u32);
                furthest = furthest.max(d.sqrt());
            }
        }
        list.sort_unstable();
        list.dedup();
        Ok((list, How::Nearest(furthest)))
    }

    fn tell(&self, what: &str, i: usize, list: &[u32], how: How, notes: &mut Vec<String>) {
        if let How::Nearest(distance) = how {
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
        if geometric(selector)
            && let Ok(mask) = select::vertices(selector, self.coarse, &self.surface, mark)
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
            LoadKind::BodyForce => ("body_force", Default::default()),
            LoadKind::Acceleration => {
                ("acceleration", [self.fine.masses(), fitted.overlaps.masses(self.coarse, &self.fine.view())])
            }
        };
        let chosen = select::vertices(&load.selector, &self.fine.mesh, &self.fine.surface, &load.mark)?;
        let mut coarse = vec![false; self.coarse.vertices.len()];
        list.iter().for_each(|v| coarse[*v as usize] = true);
        let total = |mesh: &TetMesh, surface: &Surface, mask: &[bool], masses: &[f64]| -> f64 {
            let at = |v: &u32| mask[*v as usize];
            match load.kind {
                LoadKind::Traction => {
                    let faces = surface.triangles.iter().zip(surface.face_areas(&mesh.vertices));
                    faces.filter(|(face, _)| face.iter().all(at)).map(|(_, area)| area).sum()
                }
                LoadKind::Acceleration => masses.iter().zip(mask).filter(|(_, m)| **m).map(|(x, _)| x).sum(),
                _ => {
                    let tets = mesh.tets.iter().zip(mesh.signed_volumes());
                    tets.map(|(t, v)| 0.25 * v * t.iter().filter(|v| at(v)).count() as f64).sum()
                }
            }
        };
        let before = total(&self.fine.mesh, &self.fine.surface, &chosen, &masses[0]);
        let after = total(self.coarse, &self.surface, &coarse, &masses[1]);
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
        times(table, key, ratio);
        Ok(())
    }

    /// One load per corner of the coarse tets that hold the loaded fine vertices, weighted by barycentric coordinates.
    fn share_force(&self, document: &mut Node, i: usize, load: &LoadSpec) -> Result<(), SceneError> {
        let mask = select::vertices(&load.selector, &self.fine.mesh, &self.fine.surface, &load.mark)?;
        let chosen: Vec<usize> = (0..mask.len()).filter(|v| mask[*v]).collect();
        let locator = self.coarse.locator();
        let mut weights = std::collections::BTreeMap::new();
        for place in chosen.iter().filter_map(|v| locator.locate(self.fine.mesh.vertices[*v])) {
            for (v, w) in self.coarse.tets[place.tet].iter().zip(place.barycentric) {
                *weights.entry(*v).or_insert(0.0) += w / chosen.len() as f64;
            }
        }
        weights.retain(|_, w| *w > 1e-9);
        let total: f64 = weights.values().sum();
        let whole = item(document, "load", i).clone();
        for (n, (v, w)) in weights.iter().enumerate() {
            let mut part = whole.clone();
            set(&mut part, "where", table_of(&[("vertices", numbers(&[*v]))]));
            times(&mut part, "force", w / total);
            match n {
                0 => *item(document, "load", i) = part,
                _ => list(document, "load").push(part),
            }
        }
        Ok(())
    }
}

/// Makes a mesh file that the scene names beside itself known to the new scene.
fn reach(
    scene: &Scene,
    body: &mut Node,
    key: &str,
    mesh: &MeshSpec,
    directory: &Path,
) -> Result<(), SceneError> {
    let Shape::File { path, .. } = &mesh.shape else { return Ok(()) };
    let file = reachable(scene, path, directory).map_err(|e| mesh.mark.error(e))?;
    match body.table().and_then(|t| t.get(key)).map(|e| e.node.value.clone()) {
        Some(Value::Table(mut mesh)) => {
            mesh.set("file", Place::Unknown, text(&file));
            set(body, key, Node { value: Value::Table(mesh), place: Place::Unknown });
        }
        _ => set(body, key, text(&file)),
    }
    Ok(())
}

/// Another body's mesh as the new scene can name it: the file where it is, or a built-in one written beside.
fn reachable(scene: &Scene, path: &str, directory: &Path) -> Result<String, String> {
    if let Some(bytes) = library::asset(&scene.origin.0, path) {
        atomic::write(directory.join(path), bytes).map_err(|e| e.to_string())?;
        return Ok(path.to_owned());
    }
    let file = scene.resolve(path);
    let whole = std::fs::canonicalize(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(whole.display().to_string())
}

pub(super) fn text(text: &str) -> Node {
    Node { value: Value::Text(text.to_owned()), place: Place::Unknown }
}

pub(super) fn table_of(entries: &[(&str, Node)]) -> Node {
    let mut table = Table::default();
    for (key, node) in entries {
        table.set(key, Place::Unknown, node.clone());
    }
    Node { value: Value::Table(table), place: Place::Unknown }
}

fn numbers(list: &[u32]) -> Node {
    let numbers = list.iter().map(|v| Node { value: Value::Integer(i64::from(*v)), place: Place::Unknown });
    Node { value: Value::Array(numbers.collect()), place: Place::Unknown }
}

/// Multiplies the three components of a load.
fn times(table: &mut Node, key: &str, factor: f64) {
    let parts = match table.table().and_then(|t| t.get(key)).map(|e| e.node.value.clone()) {
        Some(Value::Array(parts)) => parts,
        _ => return,
    };
    let scaled = parts.into_iter().map(|part| {
        let value = match part.value {
            Value::Number(x) => Value::Number(factor * x),
            Value::Integer(x) => Value::Number(factor * x as f64),
            Value::Text(formula) => Value::Text(format!("{factor:?}*({formula})")),
            other => other,
        };
        Node { value, place: Place::Unknown }
    });
    set(table, key, Node { value: Value::Array(scaled.collect()), place: Place::Unknown });
}

pub(super) fn set(node: &mut Node, key: &str, value: Node) {
    if let Value::Table(table) = &mut node.value {
        table.set(key, Place::Unknown, value);
    }
}

/// Number `i` of a list of the document, which the schema has read.
pub(super) fn item<'d>(document: &'d mut Node, key: &str, i: usize) -> &'d mut Node {
    &mut list(document, key)[i]
}

fn list<'d>(document: &'d mut Node, key: &str) -> &'d mut Vec<Node> {
    let Value::Table(table) = &mut document.value else { unreachable!("a scene is a table") };
    let Some(Value::Array(list)) = table.value_mut(key) else { unreachable!("the schema read a list") };
    list
}
