//! Wavefront `.obj` files: a body for each group or object. The file knows shapes alone, so that everything else is chosen.

use super::draft::{Draft, extent};
use super::placement::Placement;
use super::{ImportOptions, SceneImporter};
use crate::error::ExchangeError;
use lilyan_mesh_io::readers::{groups, read_group};
use serde_json::json;
use std::path::Path;

pub(super) const IMPORTER: SceneImporter = SceneImporter {
    name: "Wavefront OBJ",
    extensions: &["obj"],
    summary: "a body for each group or object; material, gravity and time are chosen",
    read,
};

/// Simulated time where the user says nothing, s.
const END: f64 = 2.0;

fn read(path: &Path, options: &ImportOptions, draft: &mut Draft) -> Result<(), ExchangeError> {
    let ([low, high], _) = extent(path)?;
    let size = [0, 1, 2].map(|k| high[k] - low[k]);
    draft.set("time", json!({ "end": options.end.unwrap_or(END), "step": 0.01 }));
    draft.set("integrator", json!("backward-euler"));
    draft.set("environment", json!({ "gravity": [0.0, -9.81, 0.0] }));
    draft.note(
        "the file knows shapes alone: material, gravity (along y), time and the floor below are chosen",
    );
    draft.note(format!(
        "the file spans {:.4} × {:.4} × {:.4} m; add scale = \"mm\" to each mesh if it is in millimetres",
        size[0], size[1], size[2]
    ));
    let material = json!({ "model": "stable-neo-hookean", "E": 1e5, "nu": 0.4, "rho": 1000.0 });
    let names = groups(path)?;
    let whole = names.is_empty();
    let mut seen = Vec::new();
    for name in names.iter().map(Some).chain(whole.then_some(None)) {
        if let Some(name) = name {
            // A face may be in several groups, as in its object and in one of a program's own.
            let part = read_group(path, None, name)?;
            if seen.contains(&part) {
                draft.note(format!("group {name} has the faces of an earlier one"));
                continue;
            }
            seen.push(part);
        }
        let mut mesh = draft.file_mesh(path, &Placement::default());
        if let Some(name) = name {
            mesh["group"] = json!(name);
        }
        draft.add_body(name.map_or("body", String::as_str), json!({ "mesh": mesh, "material": material }));
    }
    draft.add("contact", json!({ "kind": "plane", "point": low, "normal": [0.0, 1.0, 0.0] }));
    if draft.bodies() > 1 {
        draft.add("contact", json!({ "kind": "bodies" }));
    }
    Ok(())
}
