//! Boundary conditions: pins and tractions of selections.

use super::super::draft::Draft;
use super::{Body, as_list, formulas, ignored};
use serde_json::{Map, Value, json};

pub(super) fn boundary_conditions(scene: &Map<String, Value>, bodies: &[Body], draft: &mut Draft) {
    let Some(Value::Object(conditions)) = scene.get("boundary_conditions") else { return };
    let known = ["rhs", "dirichlet_boundary", "neumann_boundary", "obstacle_displacements"];
    ignored(draft, "boundary_conditions", conditions, &known);
    for (kind, list) in [("dirichlet_boundary", "pin"), ("neumann_boundary", "load")] {
        for condition in as_list(conditions.get(kind)) {
            let all = condition.get("id").and_then(Value::as_str) == Some("all");
            let id = condition.get("id").and_then(Value::as_i64);
            let mut used = false;
            for body in bodies {
                for (number, chosen) in &body.selections {
                    if !all && Some(*number) != id {
                        continue;
                    }
                    used = true;
                    let mut table = json!({ "body": body.name, "where": chosen });
                    match list {
                        "pin" => pin(condition, &mut table, draft),
                        _ => match condition.get("value").and_then(|v| formulas(v, &["x", "y", "z", "t"])) {
                            Some(value) => table["traction"] = value,
                            None => {
                                draft.note(format!("neumann_boundary {number}: {condition}"));
                                continue;
                            }
                        },
                    }
                    draft.add(list, table);
                }
            }
            if !used {
                draft.note(format!(
                    "{kind}: no body has a selection with the number {}",
                    condition.get("id").unwrap_or(&Value::Null)
                ));
            }
        }
    }
}

/// The axes and the motion of a pin.
fn pin(condition: &Value, table: &mut Value, draft: &mut Draft) {
    if let Some(held) = condition.get("dimension").and_then(Value::as_array) {
        let axes: Vec<&str> = ["x", "y", "z"]
            .into_iter()
            .zip(held)
            .filter(|(_, held)| **held == json!(true))
            .map(|(a, _)| a)
            .collect();
        if axes.len() < 3 {
            table["axes"] = json!(axes);
        }
    }
    let Some(value) = condition.get("value") else { return };
    if as_list(Some(value)).iter().all(|x| x.as_f64() == Some(0.0)) {
        return;
    }
    match formulas(value, &["x", "y", "z", "t"]) {
        Some(value) => table["motion"] = value,
        None => draft.note(format!("dirichlet_boundary: the motion {value}; the vertices are held still")),
    }
}
