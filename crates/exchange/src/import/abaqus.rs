//! Decks of Abaqus and CalculiX (`.inp`): sets, materials, sections, boundary conditions, loads and the steps in time.
//!
//! The mesh itself is read by the reader of meshes; here the keywords around it are. Decks have no units: their numbers are taken
//! as SI units.

use super::draft::Draft;
use super::{ImportOptions, SceneImporter, text_of};
use crate::error::ExchangeError;
use lilyan_mesh_io::readers::{Loaded, read as read_mesh};
use lilyan_solid::mesh::Mesh;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) const IMPORTER: SceneImporter = SceneImporter {
    name: "Abaqus and CalculiX",
    extensions: &["inp"],
    summary: "elastic and neo-Hookean materials of sections, density, damping, BOUNDARY, gravity, CLOAD, initial velocities, DYNAMIC and STATIC",
    read,
};

/// Keywords that the reader of meshes takes, or that say nothing about the model.
const QUIET: [&str; 26] = [
    "NODE",
    "ELEMENT",
    "NSET",
    "ELSET",
    "HEADING",
    "PART",
    "END PART",
    "ASSEMBLY",
    "END ASSEMBLY",
    "INSTANCE",
    "END INSTANCE",
    "END STEP",
    "OUTPUT",
    "NODE OUTPUT",
    "ELEMENT OUTPUT",
    "NODE FILE",
    "EL FILE",
    "NODE PRINT",
    "EL PRINT",
    "PREPRINT",
    "RESTART",
    "MONITOR",
    "PRINT",
    "SYSTEM",
    "ENERGY OUTPUT",
    "INCLUDE",
];

/// A keyword with its parameters and data lines.
struct Card {
    keyword: String,
    parameters: BTreeMap<String, String>,
    rows: Vec<Vec<String>>,
}

impl Card {
    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// The numbers of a row; what is no number is left out.
    fn numbers(&self, row: usize) -> Vec<f64> {
        self.rows.get(row).into_iter().flatten().filter_map(|cell| cell.parse().ok()).collect()
    }
}

fn cards(text: &str) -> Vec<Card> {
    let mut cards: Vec<Card> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("**")) {
        let mut cells = line.split(',').map(str::trim);
        match line.strip_prefix('*') {
            Some(_) => {
                let keyword =
                    cells.next().unwrap_or_default().trim_start_matches('*').trim().to_ascii_uppercase();
                let pairs = cells.filter(|cell| !cell.is_empty()).map(|cell| {
                    let (key, value) = cell.split_once('=').unwrap_or((cell, ""));
                    (key.trim().to_ascii_uppercase(), value.trim().to_string())
                });
                cards.push(Card { keyword, parameters: pairs.collect(), rows: Vec::new() });
            }
            None => {
                if let Some(card) = cards.last_mut() {
                    card.rows.push(cells.map(str::to_string).collect());
                }
            }
        }
    }
    cards
}

/// What is known of a deck while its cards are read in order.
struct Deck {
    mesh: Mesh,
    nodes: BTreeMap<u64, [f64; 3]>,
    materials: BTreeMap<String, Value>,
    /// Element sets and materials of sections, in their order.
    sections: Vec<(String, String)>,
    velocity: [f64; 3],
    /// Whether strains may be large.
    large: bool,
    end: Option<f64>,
}

fn read(path: &Path, options: &ImportOptions, draft: &mut Draft) -> Result<(), ExchangeError> {
    let cards = cards(&text_of(path)?);
    let mesh = match read_mesh(path)? {
        Loaded::Tets(mesh, _) => mesh,
        Loaded::Surface(..) => {
            let what = "has no solid elements; shells and beams are not carried over";
            return Err(ExchangeError::request(format!("{}: {what}", path.display())));
        }
    };
    draft.note("a deck has no units: its numbers are taken as m, kg, s, N and Pa");
    let mut deck = Deck {
        mesh,
        nodes: BTreeMap::new(),
        materials: BTreeMap::new(),
        sections: Vec::new(),
        velocity: [0.0; 3],
        large: cards.iter().any(|c| c.keyword == "STEP" && c.parameters.contains_key("NLGEOM")),
        end: options.end,
    };
    let mut material = String::new();
    let mut steps = 0;
    for card in &cards {
        match card.keyword.as_str() {
            "NODE" => deck.nodes.extend(card.rows.iter().filter_map(|row| node(row))),
            "MATERIAL" => material = card.parameter("NAME").unwrap_or_default().to_ascii_uppercase(),
            "ELASTIC" | "DENSITY" | "HYPERELASTIC" | "DAMPING" => deck.material(&material, card, draft),
            "SOLID SECTION" => {
                let of = |key: &str| card.parameter(key).unwrap_or_default().to_string();
                deck.sections.push((of("ELSET"), of("MATERIAL").to_ascii_uppercase()));
            }
            "STEP" => steps += 1,
            "DYNAMIC" | "STATIC" if steps <= 1 => deck.time(card, draft),
            "FREQUENCY" => draft.note("FREQUENCY: `lilyan modes` finds the frequencies"),
            "BOUNDARY" => deck.boundary(card, draft),
            "CLOAD" => deck.forces(card, draft),
            "DLOAD" => deck.distributed(card, draft),
            "INITIAL CONDITIONS" => deck.initial(card, draft),
            quiet if QUIET.contains(&quiet) => {}
            other => draft.note(format!("*{other}")),
        }
    }
    if steps > 1 {
        draft.note(format!(
            "the deck has {steps} steps; time is that of the first, and conditions of all hold from the start"
        ));
    }
    deck.finish(path, draft);
    Ok(())
}

fn node(row: &[String]) -> Option<(u64, [f64; 3])> {
    let [id, x, y, z] = row.get(..4)? else { return None };
    Some((id.parse().ok()?, [x.parse().ok()?, y.parse().ok()?, z.parse().ok()?]))
}

impl Deck {
    fn material(&mut self, name: &str, card: &Card, draft: &mut Draft) {
        let model = if self.large { "stvk" } else { "linear" };
        let material = self.materials.entry(name.to_string()).or_insert_with(|| json!({}));
        let numbers = card.numbers(0);
        match (card.keyword.as_str(), numbers.as_slice()) {
            ("ELASTIC", [young, nu, ..]) if card.parameter("TYPE").is_none_or(|t| t.starts_with("ISO")) => {
                material["model"] = json!(model);
                material["E"] = json!(young);
                material["nu"] = json!(nu);
                if card.rows.len() > 1 {
                    draft.note(format!(
                        "material {name}: moduli that depend on temperature; the first are taken"
                    ));
                }
            }
            ("DENSITY", [rho, ..]) => material["rho"] = json!(rho),
            ("HYPERELASTIC", [c10, rest @ ..]) if card.parameters.contains_key("NEO HOOKE") => {
                // Shear modulus 2 C10 and bulk modulus 2/D1; without D1 nearly incompressible.
                let (mu, bulk) = (2.0 * c10, rest.first().filter(|d| **d > 0.0).map(|d| 2.0 / d));
                material["model"] = json!("neo-hookean");
                material["mu"] = json!(mu);
                material["lambda"] = json!(bulk.unwrap_or(50.0 * mu) - 2.0 / 3.0 * mu);
            }
            ("DAMPING", _) => {
                let of = |key: &str| card.parameter(key).and_then(|x| x.parse::<f64>().ok()).unwrap_or(0.0);
                material["damping"] =
                    json!({ "model": "rayleigh", "alpha": of("ALPHA"), "beta": of("BETA") });
            }
            (keyword, _) => {
                let kind: Vec<&str> = card.parameters.keys().map(String::as_str).collect();
                draft.note(format!("material {name}: *{keyword} {}", kind.join(" ")));
            }
        }
    }

    fn time(&mut self, card: &Card, draft: &mut Draft) {
        let numbers = card.numbers(0);
        let (step, end) = match numbers.as_slice() {
            [step, end, ..] => (*step, *end),
            _ => (0.01, 1.0),
        };
        if card.keyword == "STATIC" {
            draft.note(
                "STATIC: loads act from the start and the body moves; `lilyan rest` finds the equilibrium",
            );
        }
        let end = self.end.unwrap_or(end);
        self.end = Some(end);
        draft.set("time", json!({ "end": end, "step": step }));
        draft.set("integrator", json!({ "name": "generalized-alpha" }));
    }

    /// The `where` of a set or a node.
    fn place(&self, name: &str) -> Option<Value> {
        if let Ok(id) = name.parse::<u64>() {
            return self.nodes.get(&id).map(|x| json!({ "nearest": x }));
        }
        let set = self.mesh.vertex_sets.keys().find(|set| same_set(set, name))?;
        Some(json!({ "set": set }))
    }

    fn boundary(&mut self, card: &Card, draft: &mut Draft) {
        for row in &card.rows {
            let [name, rest @ ..] = row.as_slice() else { continue };
            let Some(place) = self.place(name) else {
                draft.note(format!("BOUNDARY: no node or set {name}"));
                continue;
            };
            let axes: Vec<usize> = match rest.first().map(|x| x.to_ascii_uppercase()).as_deref() {
                Some("ENCASTRE" | "PINNED") => vec![0, 1, 2],
                Some("XSYMM") => vec![0],
                Some("YSYMM") => vec![1],
                Some("ZSYMM") => vec![2],
                Some(first) => {
                    let first = first.parse::<usize>().unwrap_or(1);
                    let last = rest.get(1).and_then(|x| x.parse::<usize>().ok()).unwrap_or(first);
                    (first.max(1)..=last.min(3)).map(|dof| dof - 1).collect()
                }
                None => continue,
            };
            if axes.is_empty() {
                continue; // rotations, which solids do not have
            }
            let mut pin = json!({ "where": place });
            if axes.len() < 3 {
                pin["axes"] = axes.iter().map(|k| json!(["x", "y", "z"][*k])).collect();
            }
            let value = rest.get(2).and_then(|x| x.parse::<f64>().ok()).unwrap_or(0.0);
            if value != 0.0 {
                let ramp = format!("{value}*min(t/{}, 1)", self.end.unwrap_or(1.0));
                pin["motion"] =
                    (0..3).map(|k| if axes.contains(&k) { json!(ramp) } else { json!(0) }).collect();
                draft.note(format!("BOUNDARY: {name} moves by {value} in proportion to time over the step"));
            }
            draft.add("pin", pin);
        }
        if card.parameters.contains_key("AMPLITUDE") {
            draft.note("BOUNDARY: AMPLITUDE");
        }
    }

    fn forces(&mut self, card: &Card, draft: &mut Draft) {
        for row in &card.rows {
            let [name, dof, value, ..] = row.as_slice() else { continue };
            let (Some(place), Ok(dof @ 1..=3), Ok(value)) =
                (self.place(name), dof.parse::<usize>(), value.parse::<f64>())
            else {
                draft.note(format!("CLOAD: {}", row.join(", ")));
                continue;
            };
            // Each node of a set gets the force, and a load is the sum of all.
            let set = self.mesh.vertex_sets.iter().find(|(set, _)| same_set(set, name));
            let count = set.map_or(1, |(_, nodes)| nodes.len());
            if count > 1 {
                draft.note(format!(
                    "CLOAD: {name} of {count} nodes gets {} in all, shared by its nodes",
                    value * count as f64
                ));
            }
            let force: Vec<f64> =
                (1..=3).map(|k| if k == dof { value * count as f64 } else { 0.0 }).collect();
            draft.add("load", json!({ "where": place, "force": force }));
        }
        if card.parameters.contains_key("AMPLITUDE") {
            draft.note("CLOAD: AMPLITUDE; the force acts in full from the start");
        }
    }

    fn distributed(&mut self, card: &Card, draft: &mut Draft) {
        for row in &card.rows {
            let numbers: Vec<f64> = row.iter().skip(2).filter_map(|x| x.parse().ok()).collect();
            match (row.get(1).map(String::as_str), numbers.as_slice()) {
                (Some("GRAV"), [g, x, y, z, ..]) => {
                    let length = (x * x + y * y + z * z).sqrt();
                    let gravity = [x, y, z].map(|d| if length > 0.0 { g * d / length } else { 0.0 });
                    draft.set("environment", json!({ "gravity": gravity }));
                }
                _ => draft
                    .note(format!("DLOAD: {} (a load with pressure and `where` does it)", row.join(", "))),
            }
        }
    }

    fn initial(&mut self, card: &Card, draft: &mut Draft) {
        let all = self.mesh.vertices.len();
        for row in &card.rows {
            let kind = card.parameter("TYPE").unwrap_or_default().to_ascii_uppercase();
            let [name, dof, value, ..] = row.as_slice() else { continue };
            let set = self.mesh.vertex_sets.iter().find(|(set, _)| same_set(set, name));
            match (kind.as_str(), dof.parse::<usize>(), value.parse::<f64>()) {
                ("VELOCITY", Ok(dof @ 1..=3), Ok(value))
                    if set.is_some_and(|(_, nodes)| nodes.len() == all) =>
                {
                    self.velocity[dof - 1] = value;
                }
                _ => draft.note(format!("INITIAL CONDITIONS {kind}: {}", row.join(", "))),
            }
        }
    }

    /// Adds the body with the materials of its sections.
    fn finish(mut self, path: &Path, draft: &mut Draft) {
        if !draft.has("time") {
            let end = self.end.unwrap_or(1.0);
            draft.note(format!("no DYNAMIC or STATIC step tells the time; {end} s in 100 steps are taken"));
            draft.set("time", json!({ "end": end, "step": end / 100.0 }));
        }
        let mut regions = Vec::new();
        let mut whole = Value::Null;
        let mut damping = Value::Null;
        for (set, name) in std::mem::take(&mut self.sections) {
            let Some(mut material) = self.materials.get(&name).cloned() else {
                draft.note(format!("SOLID SECTION: no material {name}"));
                continue;
            };
            if let Some(found) = material.as_object_mut().and_then(|m| m.remove("damping")) {
                damping = found;
            }
            if whole.is_null() {
                whole = material;
                continue;
            }
            if material.get("model") != whole.get("model") {
                draft.note(format!("material {name}: a body has one model, {}", whole["model"]));
            }
            if let Some(table) = material.as_object_mut() {
                table.remove("model");
            }
            match self.mesh.region_names.keys().find(|region| same_set(region, &set)) {
                Some(region) => {
                    material["where"] = json!({ "region": region });
                    regions.push(material);
                }
                None => draft.note(format!("SOLID SECTION: no element set {set}")),
            }
        }
        if whole.is_null() || (whole.get("E").is_none() && whole.get("mu").is_none()) {
            draft.note("no section has an elastic material; E, nu and rho are chosen");
            whole = json!({ "model": "linear", "E": 1e9, "nu": 0.3 });
        }
        if whole.get("rho").is_none() {
            draft.note("the material has no DENSITY; 1000 is chosen");
            whole["rho"] = json!(1000.0);
        }
        if !regions.is_empty() {
            whole["regions"] = json!(regions);
        }
        let mut body = json!({ "mesh": { "file": draft.path(path) }, "material": whole });
        if !damping.is_null() {
            body["damping"] = damping;
        }
        if self.velocity != [0.0; 3] {
            body["initial"] = json!({ "velocity": self.velocity });
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        draft.add_body(&stem, body);
    }
}

/// Names of sets ignore case, and an assembly puts the name of the instance before them.
fn same_set(set: &str, name: &str) -> bool {
    let last =
        |name: &str| name.trim_matches('"').rsplit('.').next().unwrap_or_default().to_ascii_uppercase();
    last(set) == last(name)
}
