//! The file of a scene with what it has in common with others.

use super::super::{beside, text_of};
use super::{as_list, wrong};
use crate::error::ExchangeError;
use serde_json::Value;
use std::path::Path;

/// The file with what it has in common with others, its own keys first.
pub(super) fn whole(path: &Path, depth: usize) -> Result<Value, ExchangeError> {
    let own: Value = serde_json::from_str(&text_of(path)?).map_err(|e| wrong(path, &e.to_string()))?;
    let common = own.get("common").or_else(|| own.get("default_params")).and_then(Value::as_str);
    let Some(common) = common.filter(|_| depth < 16) else { return Ok(own) };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut base = whole(&beside(folder, common), depth + 1)?;
    let patches = as_list(own.get("patch")).into_iter().cloned().collect::<Vec<_>>();
    merge(&mut base, own);
    for patch in patches {
        apply(&mut base, &patch);
    }
    // Meshes that the common file names are beside that one, which only absolute names can tell; here they are rare.
    Ok(base)
}

/// Takes over the keys of `own` (RFC 7386).
fn merge(base: &mut Value, own: Value) {
    match (base, own) {
        (Value::Object(base), Value::Object(own)) => {
            for (key, value) in own {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, own) => *base = own,
    }
}

/// A change of one value (RFC 6902): `add`, `replace` and `remove`.
fn apply(base: &mut Value, patch: &Value) {
    let text = |key: &str| patch.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let path = text("path");
    let Some((parent, last)) = path.rsplit_once('/') else { return };
    let Some(parent) = base.pointer_mut(parent) else { return };
    let value = patch.get("value").cloned().unwrap_or(Value::Null);
    match (parent, text("op").as_str()) {
        (Value::Object(table), "remove") => drop(table.remove(last)),
        (Value::Object(table), _) => drop(table.insert(last.into(), value)),
        (Value::Array(list), op) => match (last.parse::<usize>().ok().filter(|k| *k < list.len()), op) {
            (Some(k), "remove") => drop(list.remove(k)),
            (Some(k), "replace") => list[k] = value,
            (Some(k), _) => list.insert(k, value),
            (None, _) => list.push(value),
        },
        _ => {}
    }
}
