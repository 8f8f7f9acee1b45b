//! PolyFEM's JSON: geometry, materials, boundary conditions, time, contact.
//!
//! What the keys mean is told by its documentation (polyfem.github.io) and its own scenes. Differences that matter: `rhs` is the
//! negative acceleration; rotations are about x, then y, then z; selections choose faces by their centres, and here vertices are
//! chosen by the same rule.

mod conditions;
mod document;
mod geometry;

use super::draft::{Draft, extent};
use super::placement::Placement;
use super::{ImportOptions, SceneImporter, beside};
use crate::error::ExchangeError;
use conditions::boundary_conditions;
use document::whole;
use geometry::{copies, placement, selection};
use lilyan_scene::expression::Expression;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) const IMPORTER: SceneImporter = SceneImporter {
    name: "PolyFEM",
    extensions: &["json"],
    summary: "geometry and selections, materials, boundary conditions, initial velocities, time, contact with friction, obstacles",
    read,
};

/// Keys that are about PolyFEM itself and no part of a scene.
const OWN: [&str; 8] =
    ["solver", "output", "tests", "root_path", "common", "default_params", "patch", "authors"];

fn read(path: &Path, _: &ImportOptions, draft: &mut Draft) -> Result<(), ExchangeError> {
    let scene = whole(path, 0)?;
    let Value::Object(scene) = &scene else { return Err(wrong(path, "is not a table of keys")) };
    if !scene.contains_key("geometry") {
        return Err(wrong(path, "has no `geometry`: it is no scene of PolyFEM"));
    }
    time(scene, draft);
    let rhs = scene.get("boundary_conditions").and_then(|b| b.get("rhs"));
    right_hand_side(rhs, draft);
    let mut bodies = Vec::new();
    for (k, geometry) in as_list(scene.get("geometry")).into_iter().enumerate() {
        let Value::Object(geometry) = geometry else { continue };
        if geometry.get("enabled") == Some(&json!(false)) {
            draft.note(format!("geometry[{k}] is not enabled"));
            continue;
        }
        add_geometry(k, geometry, scene, draft, &mut bodies)?;
    }
    boundary_conditions(scene, &bodies, draft);
    contact(scene, draft);
    let known =
        ["geometry", "materials", "boundary_conditions", "initial_conditions", "time", "contact", "space"];
    for key in scene.keys().filter(|key| !known.contains(&key.as_str()) && !OWN.contains(&key.as_str())) {
        draft.note(format!("`{key}` is not known"));
    }
    if let Some(Value::Object(space)) = scene.get("space") {
        ignored(draft, "space", space, &["discr_order"]);
    }
    Ok(())
}

fn wrong(path: &Path, what: &str) -> ExchangeError {
    ExchangeError::request(format!("{}: {what}", path.display()))
}

/// A list, or the only item of one.
fn as_list(value: Option<&Value>) -> Vec<&Value> {
    match value {
        Some(Value::Array(items)) => items.iter().collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(one) => vec![one],
    }
}

/// Notes the keys that are not known.
fn ignored(draft: &mut Draft, at: &str, table: &Map<String, Value>, known: &[&str]) {
    for key in table.keys().filter(|key| !known.contains(&key.as_str())) {
        draft.note(format!("{at}: `{key}`"));
    }
}

fn number(table: &Map<String, Value>, key: &str) -> Option<f64> {
    table.get(key).and_then(Value::as_f64)
}

fn vector(value: &Value) -> Option<[f64; 3]> {
    let items: Vec<f64> = value.as_array()?.iter().filter_map(Value::as_f64).collect();
    items.try_into().ok()
}

fn time(scene: &Map<String, Value>, draft: &mut Draft) {
    let Some(Value::Object(time)) = scene.get("time") else {
        draft.note("no `time`, which means a static problem: `lilyan rest` finds its equilibrium; end and step are chosen");
        draft.set("time", json!({ "end": 1.0, "step": 0.01 }));
        draft.set("integrator", json!("backward-euler"));
        return;
    };
    let (end, step, steps) = (number(time, "tend"), number(time, "dt"), number(time, "time_steps"));
    let (end, step) = match (end, step, steps) {
        (Some(end), Some(step), _) => (end, step),
        (Some(end), None, Some(n)) => (end, end / n),
        (None, Some(step), Some(n)) => (step * n, step),
        _ => {
            draft.note("time: two of tend, dt and time_steps are needed; end and step are chosen");
            (1.0, 0.01)
        }
    };
    if number(time, "t0").is_some_and(|t0| t0 != 0.0) {
        draft.note("time: `t0`; the scene begins at 0 s");
    }
    draft.set("time", json!({ "end": end, "step": step }));
    let integrator = time.get("integrator");
    let kind = integrator.and_then(|i| i.as_str().or_else(|| i.get("type").and_then(Value::as_str)));
    let steps = integrator.and_then(|i| i.get("steps")).and_then(Value::as_u64).unwrap_or(1);
    let name = match kind {
        None | Some("ImplicitEuler") => "backward-euler",
        Some("ImplicitNewmark") => "newmark",
        Some("BDF" | "BDF2") if kind == Some("BDF2") || steps == 2 => "bdf2",
        Some("BDF") if steps == 1 => "backward-euler",
        Some(other) => {
            draft.note(format!("time: integrator {other} with {steps} steps; bdf2 is taken"));
            "bdf2"
        }
    };
    draft.set("integrator", json!(name));
    ignored(draft, "time", time, &["tend", "dt", "time_steps", "t0", "integrator"]);
    let output = scene.get("output").and_then(|o| o.get("paraview"));
    if let Some(skip) = output.and_then(|p| p.get("skip_frame")).and_then(Value::as_f64) {
        draft.set("output", json!({ "every": skip.max(1.0) * step }));
    }
}

/// `rhs`, the negative acceleration.
fn right_hand_side(rhs: Option<&Value>, draft: &mut Draft) {
    match rhs {
        None => {}
        Some(rhs) => match vector(rhs) {
            // Adding zero turns −0 into 0.
            Some(rhs) => draft.set("environment", json!({ "gravity": rhs.map(|x| 0.0 - x) })),
            None => draft.note("boundary_conditions.rhs is not three numbers"),
        },
    }
}

/// A body as it was added, for the conditions that name its selections.
struct Body {
    name: String,
    /// The `where` of each selection, by the number that boundary conditions use.
    selections: Vec<(i64, Value)>,
}

fn add_geometry(
    k: usize,
    geometry: &Map<String, Value>,
    scene: &Map<String, Value>,
    draft: &mut Draft,
    bodies: &mut Vec<Body>,
) -> Result<(), ExchangeError> {
    let at = format!("geometry[{k}]");
    let known = [
        "mesh",
        "transformation",
        "volume_selection",
        "surface_selection",
        "point_selection",
        "is_obstacle",
        "enabled",
        "type",
        "array",
        "point",
        "normal",
        "n_refs",
        "advanced",
    ];
    ignored(draft, &at, geometry, &known);
    let obstacle = geometry.get("is_obstacle") == Some(&json!(true));
    if matches!(geometry.get("type").and_then(Value::as_str), Some("plane" | "ground")) {
        let of = |key: &str, or: [f64; 3]| geometry.get(key).and_then(vector).unwrap_or(or);
        let mut plane = json!({ "kind": "plane", "point": of("point", [0.0; 3]), "normal": of("normal", [0.0, 1.0, 0.0]) });
        settings_of_contact(scene, &mut plane);
        draft.add("contact", plane);
        return Ok(());
    }
    if number(geometry, "n_refs").is_some_and(|n| n > 0.0) {
        draft.note(format!("{at}: `n_refs`, the mesh is not refined"));
    }
    let Some(name) = geometry.get("mesh").and_then(Value::as_str) else {
        draft.note(format!("{at} names no mesh file and is left out"));
        return Ok(());
    };
    let file = beside(&draft.folder, name);
    let (bounds, _) = extent(&file)?;
    let base = placement(&at, geometry.get("transformation"), bounds, draft);
    let offsets = copies(geometry.get("array"), base, bounds).ok_or_else(|| {
        ExchangeError::request(format!("{at}: the array has more than 10000 copies; write fewer"))
    })?;
    for offset in offsets {
        let placement = Placement { translation: super::placement::add(base.translation, offset), ..base };
        if obstacle {
            let mut table = json!({ "kind": "mesh", "mesh": draft.file_mesh(&file, &placement) });
            settings_of_contact(scene, &mut table);
            if let Some(motion) = motion_of_obstacle(&at, geometry, scene, draft) {
                table["motion"] = motion;
            }
            draft.add("contact", table);
        } else {
            bodies.push(add_body(&at, geometry, scene, &file, &placement, bounds, draft));
        }
    }
    Ok(())
}

/// The displacement of an obstacle that moves.
fn motion_of_obstacle(
    at: &str,
    geometry: &Map<String, Value>,
    scene: &Map<String, Value>,
    draft: &mut Draft,
) -> Option<Value> {
    let id = geometry.get("surface_selection").and_then(Value::as_i64)?;
    let moved = scene.get("boundary_conditions").and_then(|b| b.get("obstacle_displacements"));
    let is = |condition: &&Value| condition.get("id").and_then(Value::as_i64) == Some(id);
    let value = as_list(moved).into_iter().find(is)?.get("value")?;
    if as_list(Some(value)).iter().all(|x| x.as_f64() == Some(0.0)) {
        return None;
    }
    let motion = formulas(value, &["t"]);
    if motion.is_none() {
        draft.note(format!(
            "{at}: the motion {value} of the obstacle, which is no formula of t; it stands still"
        ));
    }
    motion
}

fn add_body(
    at: &str,
    geometry: &Map<String, Value>,
    scene: &Map<String, Value>,
    file: &Path,
    placement: &Placement,
    bounds: [[f64; 3]; 2],
    draft: &mut Draft,
) -> Body {
    let volume = match geometry.get("volume_selection") {
        None => 0,
        Some(Value::Number(n)) => n.as_i64().unwrap_or(0),
        Some(other) => {
            draft.note(format!("{at}: volume_selection other than one number; the first of it is taken"));
            let first = as_list(Some(other)).first().and_then(|s| s.get("id")).and_then(Value::as_i64);
            first.unwrap_or(0)
        }
    };
    let mut body = json!({ "mesh": draft.file_mesh(file, placement) });
    let order = match scene.get("space").and_then(|s| s.get("discr_order")) {
        Some(Value::Array(orders)) => orders
            .iter()
            .find(|o| o.get("id").and_then(Value::as_i64) == Some(volume))
            .and_then(|o| o.get("order"))
            .and_then(Value::as_i64),
        other => other.and_then(Value::as_i64),
    };
    body["element"] = json!(if order.unwrap_or(1) > 1 { "quadratic" } else { "tets" });
    if order.is_some_and(|order| order > 2) {
        draft.note(format!("{at}: elements of order {}; quadratic ones are taken", order.unwrap_or(0)));
    }
    body["material"] = material(volume, scene, draft);
    let lumped = scene.get("solver").and_then(|s| s.pointer("/advanced/lump_mass_matrix"));
    body["mass"] = json!(if lumped == Some(&json!(true)) { "lumped" } else { "consistent" });
    if let Some(velocity) = initial_velocity(volume, scene, draft) {
        body["initial"] = json!({ "velocity": velocity });
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = draft.add_body(&stem, body);
    let corners = (0..8).map(|c| placement.place([0, 1, 2].map(|k| bounds[(c >> k) & 1][k])));
    let corners: Vec<[f64; 3]> = corners.collect();
    let fold = |start: f64, pick: fn(f64, f64) -> f64| {
        [0, 1, 2].map(|k| corners.iter().fold(start, |m, p| pick(m, p[k])))
    };
    let placed = [fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max)];
    let mut selections = Vec::new();
    for key in ["surface_selection", "point_selection"] {
        for item in as_list(geometry.get(key)) {
            match selection(item, placed) {
                Some(found) => selections.push(found),
                None => {
                    draft.note(format!("{at}: a {key} that is none of a number, an axis, a box and a sphere"))
                }
            }
        }
    }
    Body { name, selections }
}

fn of_id(items: Vec<&Value>, id: i64) -> Option<&Value> {
    let is = |item: &&&Value| match item.get("id") {
        None => true,
        Some(Value::Array(ids)) => ids.iter().any(|n| n.as_i64() == Some(id)),
        Some(n) => n.as_i64() == Some(id),
    };
    items.iter().find(is).copied()
}

fn material(id: i64, scene: &Map<String, Value>, draft: &mut Draft) -> Value {
    let given = of_id(as_list(scene.get("materials")), id);
    let Some(Value::Object(given)) = given else {
        draft.note(format!("no material has the number {id}; E, nu and rho are chosen"));
        return json!({ "model": "neo-hookean-log", "E": 1e5, "nu": 0.3, "rho": 1000 });
    };
    let kind = given.get("type").and_then(Value::as_str).unwrap_or_default();
    let model = match kind {
        "NeoHookean" => "neo-hookean-log",
        "LinearElasticity" | "HookeLinearElasticity" => "linear",
        "SaintVenant" => "stvk",
        "FixedCorotational" => "fixed-corotated",
        other => {
            draft.note(format!("material {id}: type {other}; neo-hookean-log is taken"));
            "neo-hookean-log"
        }
    };
    let mut material = json!({ "model": model });
    let mut known = vec!["id", "type", "rho"];
    for (key, ours) in [("E", "E"), ("nu", "nu"), ("lambda", "lambda"), ("mu", "mu"), ("rho", "rho")] {
        if let Some(value) = given.get(key) {
            known.push(key);
            match value {
                Value::String(text) if Expression::parse(text, &["x", "y", "z"]).is_err() => {
                    draft.note(format!("material {id}: {key} = {text}"));
                }
                value => material[ours] = value.clone(),
            }
        }
    }
    if material.get("E").is_none() && material.get("mu").is_none() {
        draft.note(format!("material {id}: no E and nu; they are chosen"));
        material["E"] = json!(1e5);
        material["nu"] = json!(0.3);
    }
    if material.get("rho").is_none() {
        // PolyFEM's default.
        material["rho"] = json!(1.0);
    }
    ignored(draft, &format!("material {id}"), given, &known);
    material
}

fn initial_velocity(id: i64, scene: &Map<String, Value>, draft: &mut Draft) -> Option<Value> {
    let initial = scene.get("initial_conditions")?.as_object()?;
    ignored(draft, "initial_conditions", initial, &["velocity"]);
    let velocity = of_id(as_list(initial.get("velocity")), id)?.get("value")?;
    match formulas(velocity, &["x", "y", "z"]) {
        Some(value) => Some(value),
        None => {
            draft.note(format!("initial_conditions: velocity of volume {id}: {velocity}"));
            None
        }
    }
}

/// Three numbers or formulas, if they can be read as they are.
fn formulas(value: &Value, variables: &[&str]) -> Option<Value> {
    let items = value.as_array().filter(|items| items.len() == 3)?;
    let readable = items.iter().all(|item| match item {
        Value::Number(_) => true,
        Value::String(text) => Expression::parse(text, variables).is_ok(),
        _ => false,
    });
    readable.then(|| value.clone())
}

/// Contact between bodies, and of each with itself.
fn contact(scene: &Map<String, Value>, draft: &mut Draft) {
    let Some(Value::Object(contact)) = scene.get("contact") else { return };
    if contact.get("enabled") != Some(&json!(true)) {
        return;
    }
    let known = ["enabled", "dhat", "friction_coefficient", "epsv"];
    ignored(draft, "contact", contact, &known);
    if draft.bodies() > 1 {
        let mut bodies = json!({ "kind": "bodies" });
        settings_of_contact(scene, &mut bodies);
        draft.add("contact", bodies);
    }
    let mut own = json!({ "kind": "self" });
    settings_of_contact(scene, &mut own);
    draft.add("contact", own);
    draft.note("contact: the stiffness of the barrier is chosen from the moduli of the bodies, and not adapted as in PolyFEM");
}

fn settings_of_contact(scene: &Map<String, Value>, table: &mut Value) {
    table["model"] = json!("barrier");
    let contact = scene.get("contact").and_then(Value::as_object);
    let of = |key: &str| contact.and_then(|contact| number(contact, key));
    // PolyFEM's defaults.
    table["distance"] = json!(of("dhat").unwrap_or(1e-3));
    if let Some(friction) = of("friction_coefficient").filter(|mu| *mu > 0.0) {
        table["friction"] = json!(friction);
        table["slip"] = json!(of("epsv").unwrap_or(1e-3));
    }
}
