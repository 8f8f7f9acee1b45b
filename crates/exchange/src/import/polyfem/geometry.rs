//! Where a geometry is put, its copies, and which of its vertices are selected.

use super::super::draft::Draft;
use super::super::placement::{IDENTITY, Matrix, Placement, multiply, of_quaternion, rotation};
use super::{ignored, vector};
use serde_json::{Value, json};

/// The number and the `where` of a selection.
pub(super) fn selection(item: &Value, [low, high]: [[f64; 3]; 2]) -> Option<(i64, Value)> {
    if let Some(id) = item.as_i64() {
        return Some((id, json!("surface")));
    }
    let id = item.get("id")?.as_i64()?;
    let relative = item.get("relative") == Some(&json!(true));
    let size = [0, 1, 2].map(|k| high[k] - low[k]);
    let at = |k: usize, x: f64| if relative { low[k] + x * size[k] } else { x };
    // Faces lie on the bound up to rounding.
    let slack = 1e-6 * size.iter().fold(0.0, |m: f64, x| m.max(*x));
    if let Some(axis) = item.get("axis") {
        let (sign, k) = match axis {
            Value::String(text) => {
                let sign = if text.starts_with('-') { -1 } else { 1 };
                (sign, ["x", "y", "z"].iter().position(|name| text.trim_start_matches(['+', '-']) == *name)?)
            }
            number => {
                let n = number.as_i64().filter(|n| (1..=3).contains(&n.abs()))?;
                (n.signum(), n.unsigned_abs() as usize - 1)
            }
        };
        let position = at(k, item.get("position")?.as_f64()?);
        let name = ["x", "y", "z"][k];
        let rule = if sign < 0 {
            format!("{name} <= {}", position + slack)
        } else {
            format!("{name} >= {}", position - slack)
        };
        return Some((id, json!({ "expression": rule, "surface": true })));
    }
    if let Some(corners) = item.get("box").and_then(Value::as_array) {
        let [a, b] = [vector(corners.first()?)?, vector(corners.get(1)?)?];
        let bound = |k: usize, x: f64, pad: f64| at(k, x) + pad;
        let min: [f64; 3] = [0, 1, 2].map(|k| bound(k, a[k].min(b[k]), -slack));
        let max: [f64; 3] = [0, 1, 2].map(|k| bound(k, a[k].max(b[k]), slack));
        return Some((id, json!({ "box": { "min": min, "max": max } })));
    }
    let (center, radius) = (item.get("center").and_then(vector)?, item.get("radius")?.as_f64()?);
    (!relative).then(|| (id, json!({ "sphere": { "center": center, "radius": radius } })))
}

pub(super) fn placement(
    at: &str,
    given: Option<&Value>,
    [low, high]: [[f64; 3]; 2],
    draft: &mut Draft,
) -> Placement {
    let mut placement = Placement::default();
    let Some(Value::Object(given)) = given else { return placement };
    ignored(draft, at, given, &["translation", "rotation", "rotation_mode", "scale", "dimensions"]);
    if let Some(translation) = given.get("translation").and_then(vector) {
        placement.translation = translation;
    }
    match given.get("scale") {
        Some(Value::Number(n)) => placement.scale = [n.as_f64().unwrap_or(1.0); 3],
        Some(list) => placement.scale = vector(list).unwrap_or([1.0; 3]),
        None => {}
    }
    if let Some(dimensions) = given.get("dimensions").and_then(vector) {
        // What is flat stays as it is.
        placement.scale = [0, 1, 2].map(|k| {
            let size = high[k] - low[k];
            if size > 0.0 && dimensions[k] > 0.0 { dimensions[k] / size } else { 1.0 }
        });
    }
    let mode = given.get("rotation_mode").and_then(Value::as_str).unwrap_or("xyz").to_lowercase();
    if let Some(angles) = given.get("rotation") {
        match turned(angles, &mode) {
            Some(rotation) => placement.rotation = rotation,
            None => draft.note(format!("{at}: a rotation in the mode {mode}")),
        }
    }
    placement
}

fn turned(given: &Value, mode: &str) -> Option<Matrix> {
    let items: Vec<f64> = match given {
        Value::Number(n) => vec![n.as_f64()?],
        list => list.as_array()?.iter().filter_map(Value::as_f64).collect(),
    };
    match (mode, items.as_slice()) {
        (_, []) => Some(IDENTITY),
        ("axis_angle", [angle, x, y, z]) => Some(rotation([*x, *y, *z], angle.to_radians())),
        ("quaternion", [x, y, z, w]) => Some(of_quaternion([*w, *x, *y, *z])),
        ("rotation_vector", [x, y, z]) => {
            let angle = (x * x + y * y + z * z).sqrt();
            Some(rotation([*x, *y, *z], angle.to_radians()))
        }
        (mode, angles) if mode.bytes().all(|b| (b'x'..=b'z').contains(&b)) => {
            let mut all = IDENTITY;
            for axis in mode.bytes().map(|b| usize::from(b - b'x')) {
                let angle = if angles.len() == 1 { angles[0] } else { *angles.get(axis)? };
                let unit: [f64; 3] = std::array::from_fn(|k| f64::from(u8::from(k == axis)));
                all = multiply(&rotation(unit, angle.to_radians()), &all);
            }
            Some(all)
        }
        _ => None,
    }
}

/// More bodies than this are no scene.
const MOST_COPIES: f64 = 10_000.0;

/// Displacements of the copies of an `array`; `None` if there are too many.
pub(super) fn copies(
    array: Option<&Value>,
    base: Placement,
    [low, high]: [[f64; 3]; 2],
) -> Option<Vec<[f64; 3]>> {
    let Some(array) = array else { return Some(vec![[0.0; 3]]) };
    let size = array.get("size").and_then(vector).unwrap_or([1.0; 3]).map(|n| n.max(1.0));
    if size.iter().product::<f64>() > MOST_COPIES {
        return None;
    }
    let size = size.map(|n| n as usize);
    let relative = array.get("relative") == Some(&json!(true));
    let extent = [0, 1, 2].map(|k| base.scale[k] * (high[k] - low[k]));
    let offset: [f64; 3] = match array.get("offset") {
        Some(Value::Number(n)) => [n.as_f64().unwrap_or(0.0); 3],
        Some(list) => vector(list).unwrap_or_default(),
        None => [0.0; 3],
    };
    let step: [f64; 3] = [0, 1, 2].map(|k| if relative { offset[k] * extent[k] } else { offset[k] });
    let mut all = Vec::new();
    for i in 0..size[0] {
        for j in 0..size[1] {
            for k in 0..size[2] {
                all.push([i as f64 * step[0], j as f64 * step[1], k as f64 * step[2]]);
            }
        }
    }
    Some(all)
}
