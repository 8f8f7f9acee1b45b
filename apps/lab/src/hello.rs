//! The event `hello`: the catalogues and limits of the program. The page has no lists of its own.

use crate::gallery::GALLERY;
use crate::limits::{COARSE_TETS, COARSEN_ELEMENTS, COMPARE_ELEMENTS, ELEMENTS, PANES, UPLOAD_BYTES};
use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_dynamics::options::{Kind as OptionKind, OptionSpec};
use lilyan_scene::document::key::{Absent, Case, Key, Kind, TableSchema, When};
use lilyan_scene::schema::SCENE;
use serde_json::{Map, Value, json};

/// The first event that a page of this session gets.
pub fn hello(session: &str) -> String {
    json!({
        "event": "hello",
        "session": session,
        "version": env!("CARGO_PKG_VERSION"),
        "catalogue": catalogue(),
        "limits": {
            "tets": ELEMENTS,
            "panes": PANES,
            "upload_bytes": UPLOAD_BYTES,
            "compare_tets": COMPARE_ELEMENTS,
            "coarsen_tets": COARSEN_ELEMENTS,
            "coarse_tets": COARSE_TETS,
        },
    })
    .to_string()
}

fn catalogue() -> Value {
    let integrators = CATALOGUE.iter().map(|e| {
        let explicit = e.create(&[]).is_ok_and(|i| i.claims().explicit);
        let options: Vec<Value> = e.options.iter().map(option).collect();
        json!({ "name": e.name, "summary": e.summary, "explicit": explicit, "options": options })
    });
    let materials = lilyan_solid::materials::CATALOGUE
        .iter()
        .map(|m| json!({ "name": m.card().name, "summary": m.card().summary }));
    let scenes =
        lilyan_scene::library::SCENES.iter().map(|s| json!({ "name": s.name, "summary": s.summary }));
    let gallery = GALLERY
        .iter()
        .map(|c| json!({ "name": c.name, "title": c.title, "summary": c.summary, "look": c.look }));
    let coarsening =
        lilyan_study::coarsen::CATALOGUE.iter().map(|m| json!({ "name": m.name, "summary": m.summary }));
    let meshes = lilyan_mesh_io::readers::READERS
        .iter()
        .map(|r| json!({ "name": r.name, "summary": r.summary, "extensions": r.extensions }));
    json!({
        "integrators": integrators.collect::<Vec<_>>(),
        "materials": materials.collect::<Vec<_>>(),
        "damping": models(&["body", "damping"], "model"),
        "contacts": models(&["contact"], "kind"),
        "scenes": scenes.collect::<Vec<_>>(),
        "gallery": gallery.collect::<Vec<_>>(),
        "coarsening": coarsening.collect::<Vec<_>>(),
        "meshes": meshes.collect::<Vec<_>>(),
    })
}

/// An option of an integrator.
fn option(o: &OptionSpec) -> Value {
    let (kind, default, choices) = match o.kind {
        OptionKind::Number { default, .. } => ("number", json!(default), json!([])),
        OptionKind::NumberOr { default, word, .. } => ("number", json!(default), json!([word])),
        OptionKind::Formula { .. } => ("formula", Value::Null, json!([])),
        OptionKind::Flag { default } => ("flag", json!(default), json!([])),
        OptionKind::Word { choices } => ("word", json!(choices.first()), json!(choices)),
    };
    let range = match o.kind {
        OptionKind::Number { min, max, .. } | OptionKind::NumberOr { min, max, .. } => json!([min, max]),
        _ => Value::Null,
    };
    json!({ "name": o.name, "summary": o.doc, "kind": kind, "default": default, "choices": choices, "range": range })
}

/// The models of a table of the scene, such as `body.damping`. `selector` is the key that selects the model; its value
/// `none` is no model.
fn models(path: &[&str], selector: &str) -> Vec<Value> {
    let Some(table) = path.iter().try_fold(&SCENE, |table, key| table_in(table, key)) else {
        return Vec::new();
    };
    let cases = (table.cases)();
    let describe = |case: &Case| match case.when {
        When::Is { key, value, .. } if key == selector && value != "none" => {
            let keys = case.keys_within(&cases);
            Some(model(table, selector, value, &Case { keys, ..case.clone() }))
        }
        _ => None,
    };
    cases.iter().filter_map(describe).collect()
}

/// A model: its numbers, and values to start with.
fn model(table: &TableSchema, selector: &str, name: &str, case: &Case) -> Value {
    let mut start = Map::from_iter([(selector.to_owned(), json!(name))]);
    let mut numbers = Vec::new();
    for key in &case.keys {
        let Some((unit, example)) = number(key) else { continue };
        numbers.push(json!({ "name": key.name, "summary": key.doc, "unit": unit, "example": example }));
        let mut excluded =
            table.exclusive_pairs().into_iter().filter(|pair| pair.contains(&key.name)).flatten();
        // What the program derives from the bodies is not given to start with.
        let derived = matches!(key.absent, Absent::Means(_));
        if !derived && !excluded.any(|other| start.contains_key(other)) {
            start.insert(key.name.to_owned(), json!(example));
        }
    }
    json!({ "name": name, "summary": case.doc, "numbers": numbers, "start": start })
}

/// Unit and example of a key that is a number.
fn number(key: &Key) -> Option<(&'static str, f64)> {
    match key.kind {
        Kind::Number { unit, .. } => Some((unit, key.example.parse().ok()?)),
        _ => None,
    }
}

/// The table under this key of another table.
fn table_in(table: &'static TableSchema, key: &str) -> Option<&'static TableSchema> {
    let cases = (table.cases)();
    let mut keys = table.keys.iter().chain(cases.iter().flat_map(|case| &case.keys));
    keys.find(|known| known.name == key).and_then(|key| first_table(&key.kind))
}

fn first_table(kind: &Kind) -> Option<&'static TableSchema> {
    match kind {
        Kind::Table(table) => Some(table),
        Kind::Either(kinds) => kinds.iter().find_map(first_table),
        Kind::List { of, .. } => first_table(of),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every model of the catalogues is sent, and a scene accepts the values that it starts with.
    #[test]
    fn damping_models_and_contacts_are_sent() {
        let catalogue = catalogue();
        let names = |list: &Value| -> Vec<String> {
            list.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap().to_owned()).collect()
        };
        let cards = lilyan_solid::damping::CATALOGUE.iter().map(|card| card.name.to_owned());
        assert_eq!(names(&catalogue["damping"]), cards.collect::<Vec<_>>());
        // With each kind of contact its numbers and those of each model that knows it.
        let kinds = ["plane", "sphere", "mesh", "bodies", "self"];
        assert_eq!(names(&catalogue["contacts"]), kinds);
        for (contact, kind) in catalogue["contacts"].as_array().unwrap().iter().zip(kinds) {
            let cards = lilyan_solid::contact::CATALOGUE.iter();
            let cards = cards.filter(|card| kind != "mesh" || card.takes_meshes);
            let own = if kind == "sphere" { &["radius"][..] } else { &[] };
            let parameters = cards.flat_map(|card| {
                if ["bodies", "self"].contains(&kind) { card.parameters } else { card.obstacle_parameters }
            });
            let expected: Vec<&str> =
                own.iter().copied().chain(parameters.map(|parameter| parameter.name)).collect();
            assert_eq!(names(&contact["numbers"]), expected, "{kind}");
        }
        for model in catalogue["damping"].as_array().unwrap() {
            let start = lilyan_scene::document::Node::from_json(&model["start"], "the test").unwrap();
            let mut document = lilyan_scene::build::open("tumbling-rod", &[]).unwrap().document;
            lilyan_scene::document::set_value(&mut document, "body.0.damping", Some(start)).unwrap();
            lilyan_scene::schema::Scene::from_document(document, "the test").unwrap();
            assert!(!model["numbers"].as_array().unwrap().is_empty(), "{model}");
        }
    }

    /// Every extension that a reader knows is sent, so that the page accepts such a file.
    #[test]
    fn extensions_of_all_readers_are_sent() {
        let sent = catalogue()["meshes"].to_string();
        for extension in lilyan_mesh_io::readers::READERS.iter().flat_map(|reader| reader.extensions) {
            assert!(sent.contains(&format!("\"{extension}\"")), "{extension}");
        }
        assert!(sent.contains("\"inp\""));
    }
}
