//! What a page has to know of the program: its catalogues and limits.

use super::job::{coarsen, compare};
use super::{ELEMENTS, GALLERY, PANES, UPLOAD_BYTES};
use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_dynamics::options::{Kind, OptionSpec};
use serde_json::{Value, json};

/// The first event of a session of that name.
pub fn hello(session: &str) -> String {
    let integrators: Vec<Value> = CATALOGUE
        .iter()
        .map(|e| {
            let explicit = e.create(&[]).is_ok_and(|i| i.claims().explicit);
            let options: Vec<Value> = e.options.iter().map(option).collect();
            json!({ "name": e.name, "summary": e.summary, "explicit": explicit, "options": options })
        })
        .collect();
    let materials: Vec<Value> = lilyan_solid::materials::CATALOGUE
        .iter()
        .map(|m| json!({ "name": m.card().name, "summary": m.card().summary }))
        .collect();
    let scenes: Vec<Value> = lilyan_scene::library::SCENES
        .iter()
        .map(|s| json!({ "name": s.name, "summary": s.summary }))
        .collect();
    let prepared: Vec<Value> = GALLERY
        .iter()
        .map(|c| json!({ "name": c.name, "title": c.title, "summary": c.summary, "look": c.look }))
        .collect();
    let coarsening: Vec<Value> = lilyan_scene::coarsen::CATALOGUE
        .iter()
        .map(|m| json!({ "name": m.name, "summary": m.summary }))
        .collect();
    let catalogue = json!({
        "integrators": integrators,
        "materials": materials,
        "scenes": scenes,
        "gallery": prepared,
        "coarsening": coarsening,
    });
    let limits = json!({
        "tets": ELEMENTS,
        "panes": PANES,
        "upload_bytes": UPLOAD_BYTES,
        "compare_tets": compare::ELEMENTS,
        "coarsen_tets": coarsen::ELEMENTS,
        "coarse_tets": coarsen::COARSE,
    });
    json!({
        "event": "hello",
        "session": session,
        "version": env!("CARGO_PKG_VERSION"),
        "catalogue": catalogue,
        "limits": limits,
    })
    .to_string()
}

/// An option of an integrator.
fn option(o: &OptionSpec) -> Value {
    let (kind, default, choices) = match o.kind {
        Kind::Number { default, .. } => ("number", json!(default), json!([])),
        Kind::NumberOr { default, word, .. } => ("number", json!(default), json!([word])),
        Kind::Flag { default } => ("flag", json!(default), json!([])),
        Kind::Word { choices } => ("word", json!(choices.first()), json!(choices)),
    };
    let range = match o.kind {
        Kind::Number { min, max, .. } | Kind::NumberOr { min, max, .. } => json!([min, max]),
        _ => Value::Null,
    };
    json!({ "name": o.name, "summary": o.doc, "kind": kind, "default": default, "choices": choices, "range": range })
}
