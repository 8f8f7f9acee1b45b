//! Vega's volumes (`.veg`) with their materials, and the configurations (`.config`) of its deformable simulator.
//!
//! A configuration is a list of `*key` lines, each followed by a line with its value; files are named from its folder.

use super::draft::Draft;
use super::{ImportOptions, SceneImporter, beside, text_of};
use crate::error::ExchangeError;
use lilyan_mesh_io::readers::{Loaded, read as read_mesh, read_vertices};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) const IMPORTER: SceneImporter = SceneImporter {
    name: "Vega",
    extensions: &["veg", "config"],
    summary: "volumes with materials of regions; in a configuration time, method, damping, fixed vertices, gravity",
    read,
};

/// Simulated time where nobody says it, s.
const END: f64 = 2.0;

/// Keys that are about the program's window and speed, or that are used below.
const QUIET: [&str; 24] = [
    "volumetricMeshFilename",
    "fixedVerticesFilename",
    "deformableObjectMethod",
    "invertibleMaterial",
    "timestep",
    "solver",
    "dampingMassCoef",
    "dampingStiffnessCoef",
    "addGravity",
    "g",
    "renderingMeshFilename",
    "extraFiles",
    "lightingConfigFilename",
    "backgroundColor",
    "cameraRadius",
    "focusPositionX",
    "focusPositionY",
    "focusPositionZ",
    "cameraLongitude",
    "cameraLattitude",
    "windowWidth",
    "windowHeight",
    "numInternalForceThreads",
    "numSolverThreads",
];

fn read(path: &Path, options: &ImportOptions, draft: &mut Draft) -> Result<(), ExchangeError> {
    let is_volume = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("veg"));
    let keys = if is_volume { BTreeMap::new() } else { configuration(&text_of(path)?) };
    let volume = match keys.get("volumetricMeshFilename") {
        Some(name) => beside(&draft.folder, name),
        None if is_volume => path.to_path_buf(),
        None => {
            let what = "has no *volumetricMeshFilename";
            return Err(ExchangeError::request(format!("{}: {what}", path.display())));
        }
    };
    let number = |key: &str| keys.get(key).and_then(|value| value.parse::<f64>().ok());
    let end = options.end.unwrap_or(END);
    if options.end.is_none() {
        draft.note(format!("Vega tells no end of time; {END} s is taken (--end)"));
    }
    draft.set("time", json!({ "end": end, "step": number("timestep").unwrap_or(0.01) }));
    let integrator = integrator(keys.get("solver"), draft);
    draft.set("integrator", json!(integrator));
    if number("addGravity").is_some_and(|on| on != 0.0) {
        draft.set("environment", json!({ "gravity": [0.0, -number("g").unwrap_or(9.81), 0.0] }));
    }
    let model = method(&keys, draft);
    let mut body =
        json!({ "mesh": { "file": draft.path(&volume) }, "material": materials(&volume, model, draft)? });
    let [alpha, beta] = ["dampingMassCoef", "dampingStiffnessCoef"].map(|key| number(key).unwrap_or(0.0));
    if alpha > 0.0 || beta > 0.0 {
        body["damping"] = json!({ "model": "rayleigh", "alpha": alpha, "beta": beta });
    }
    let stem = volume.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    draft.add_body(&stem, body);
    if let Some(name) = keys.get("fixedVerticesFilename").filter(|name| !name.starts_with("__none")) {
        fixed(&beside(&draft.folder, name), &volume, draft)?;
    }
    for (key, value) in
        keys.iter().filter(|(key, value)| !QUIET.contains(&key.as_str()) && !value.starts_with("__none"))
    {
        draft.note(format!("*{key} {value}"));
    }
    Ok(())
}

fn configuration(text: &str) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let mut open: Option<String> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix('*'), open.take()) {
            (Some(key), _) => open = Some(key.trim().to_string()),
            (None, Some(key)) => drop(keys.insert(key, line.trim_matches('"').to_string())),
            (None, None) => {}
        }
    }
    keys
}

fn integrator(solver: Option<&String>, draft: &mut Draft) -> &'static str {
    match solver.map(String::as_str) {
        None | Some("implicitBackwardEuler") => "backward-euler",
        Some("implicitNewmark") => "newmark",
        Some("centralDifferences" | "symplecticEuler") => "verlet",
        Some("Euler") => "explicit-euler",
        Some(other) => {
            draft.note(format!("solver {other}; backward-euler is taken"));
            "backward-euler"
        }
    }
}

fn method(keys: &BTreeMap<String, String>, draft: &mut Draft) -> &'static str {
    let of = |key: &str| keys.get(key).map(String::as_str);
    match (of("deformableObjectMethod"), of("invertibleMaterial")) {
        (None | Some("StVK"), _) => "stvk",
        (Some("CLFEM"), _) => "co-rotational",
        (Some("LinearFEM"), _) => "linear",
        (Some("InvertibleFEM"), None | Some("StVK")) => "stvk",
        (Some("InvertibleFEM"), Some("neoHookean")) => "stable-neo-hookean",
        (Some("InvertibleFEM"), Some("MooneyRivlin")) => "mooney-rivlin",
        (Some(method), material) => {
            draft.note(format!(
                "deformableObjectMethod {method} {}; stvk is taken",
                material.unwrap_or_default()
            ));
            "stvk"
        }
    }
}

/// The materials of a volume: that of most elements for the body, the others for their regions.
fn materials(volume: &Path, model: &str, draft: &mut Draft) -> Result<Value, ExchangeError> {
    let mut found: Vec<(String, Value)> = Vec::new();
    let text = text_of(volume)?;
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("*MATERIAL").map(str::trim) else { continue };
        let row = lines.by_ref().find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
        let cells: Vec<&str> = row.split([',', ' ', '\t']).filter(|cell| !cell.is_empty()).collect();
        let numbers: Vec<f64> = cells.iter().skip(1).filter_map(|cell| cell.parse().ok()).collect();
        match (cells.first().copied(), numbers.as_slice()) {
            (Some("ENU"), [rho, young, nu, ..]) => {
                found.push((name.into(), json!({ "E": young, "nu": nu, "rho": rho })));
            }
            _ => draft.note(format!("material {name}: {row}")),
        }
    }
    let Some((_, first)) = found.first() else {
        draft.note("the volume has no material with E and nu; E, nu and rho are chosen");
        return Ok(json!({ "model": model, "E": 1e6, "nu": 0.4, "rho": 1000.0 }));
    };
    let mut whole = first.clone();
    whole["model"] = json!(model);
    let Loaded::Tets(mesh, _) = read_mesh(volume)? else { return Ok(whole) };
    let regions = found.iter().skip(1).filter(|(name, _)| mesh.region_names.contains_key(name));
    let regions: Vec<Value> = regions
        .map(|(name, material)| {
            let mut region = material.clone();
            region["where"] = json!({ "region": name });
            region
        })
        .collect();
    if !regions.is_empty() {
        whole["regions"] = json!(regions);
    }
    Ok(whole)
}

/// Pins of the vertices that a file lists, numbered from 1.
fn fixed(file: &Path, volume: &Path, draft: &mut Draft) -> Result<(), ExchangeError> {
    let text = text_of(file)?;
    let ids = text.split([',', '\n', '\r', ' ', '\t']).filter_map(|word| word.parse::<usize>().ok());
    let vertices = read_vertices(volume)?;
    let places = ids.filter_map(|id| vertices.get(id.checked_sub(1)?)).map(|x| json!({ "nearest": x }));
    let places: Vec<Value> = places.collect();
    if !places.is_empty() {
        draft.add("pin", json!({ "where": places }));
    }
    Ok(())
}
