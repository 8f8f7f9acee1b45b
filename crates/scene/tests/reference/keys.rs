//! Every key that is declared is read: a value that it cannot have is refused by the reader, which names the key, and
//! by the JSON Schema.

use super::validate::refusal;
use lilyan_scene::document::Node;
use lilyan_scene::document::key::{Absent, Case, Key, Kind, TableSchema};
use lilyan_scene::reference::json_schema;
use lilyan_scene::schema::{SCENE, Scene};
use serde_json::{Map, Value, json};

/// Keys that are read only beside another one.
const BESIDE: &[(&str, &str, &str)] = &[
    ("constraint", "where", "each"),
    ("constraint", "length", "between"),
    ("damping", "implicit", "time"),
    ("body", "gluing", "element"),
];

/// What no key may be.
fn nonsense() -> Value {
    json!([[true]])
}

fn example(key: &Key) -> Value {
    let table: toml::Table =
        format!("v = {}", key.example).parse().unwrap_or_else(|e| panic!("{}: {e}", key.name));
    serde_json::to_value(&table["v"]).expect("representable")
}

/// The least that a table must hold in a case.
fn least(table: &TableSchema, case: Option<&Case>) -> Map<String, Value> {
    let cases = (table.cases)();
    let applies = |other: &&Case| case.is_some_and(|case| case.when.implies(&other.when));
    let keys = table.keys.iter().chain(cases.iter().filter(applies).flat_map(|case| &case.keys));
    // Bodies need a material, except points with masses of their own.
    let needed =
        |key: &&Key| key.absent == Absent::Required || (table.name, key.name) == ("body", "material");
    let required = keys.filter(needed);
    let mut value: Map<String, Value> = required.map(|key| (key.name.to_owned(), example(key))).collect();
    for condition in case.iter().flat_map(|case| case.when.values()) {
        value.insert(condition.key.to_owned(), json!(condition.value));
    }
    value
}

/// Whether a list of any length may hold lists in their turn: its tables are tried where they stand alone.
fn nested(kinds: &[Kind], least: usize, most: usize) -> bool {
    least != most && kinds.iter().any(|kind| matches!(kind, Kind::List { .. }))
}

/// A table as the value of a key of this kind; `None` where the kind holds no such table.
fn wrapped(kind: &Kind, table: &TableSchema, inner: &Value) -> Option<Value> {
    match kind {
        Kind::Table(known) => (known.name == table.name).then(|| inner.clone()),
        Kind::Either(kinds) => kinds.iter().find_map(|kind| wrapped(kind, table, inner)),
        Kind::List { of: Kind::Either(kinds), least, most } if nested(kinds, *least, *most) => None,
        Kind::List { of, least, most } => {
            let count = if least == most { *least } else { 1 };
            wrapped(of, table, inner).map(|value| json!(vec![value; count]))
        }
        _ => None,
    }
}

/// Every key of a table, with the case it belongs to.
fn keys(table: &'static TableSchema) -> Vec<(Option<Case>, Key)> {
    let cases = (table.cases)();
    let cased = cases.iter().flat_map(|case| case.keys.iter().map(|key| (Some(case.clone()), *key)));
    // A table that needs a case gets the first one around its common keys.
    let first = cases.first().cloned();
    table.keys.iter().map(|key| (first.clone(), *key)).chain(cased).collect()
}

/// Tries every key of a table; `embed` makes a scene from a value of the table.
fn try_table(
    table: &'static TableSchema,
    embed: &dyn Fn(Value) -> Value,
    seen: &mut Vec<&'static str>,
    failures: &mut Vec<String>,
    schema: &Value,
) {
    if seen.contains(&table.name) {
        return;
    }
    seen.push(table.name);
    for (case, key) in keys(table) {
        let with = |value: Value| {
            let mut inside = least(table, case.as_ref());
            for (_, _, other) in BESIDE.iter().filter(|(t, k, _)| *t == table.name && *k == key.name) {
                let all = case.iter().flat_map(|case| &case.keys).chain(table.keys);
                let Some(other) = all.into_iter().find(|key| key.name == *other) else { continue };
                inside.insert(other.name.to_owned(), example(other));
            }
            inside.insert(key.name.to_owned(), value);
            embed(Value::Object(inside))
        };
        let wrong = with(nonsense());
        let document = Node::from_json(&wrong, "scene.json").expect("data");
        match Scene::from_document(document, "scene.json") {
            Err(error) if error.path.contains(key.name) => {}
            told => {
                failures.push(format!("{}.{}: {:?}", table.name, key.name, told.err().map(|e| e.to_string())))
            }
        }
        if refusal(schema, &wrong).is_none() {
            failures.push(format!("{}.{}: the JSON Schema accepts nonsense", table.name, key.name));
        }
        let mut inner = Vec::new();
        tables_of(&key.kind, &mut inner);
        for deeper in inner {
            let embed = |value: Value| with(wrapped(&key.kind, deeper, &value).expect("it holds this table"));
            try_table(deeper, &embed, seen, failures, schema);
        }
    }
}

fn tables_of(kind: &Kind, found: &mut Vec<&'static TableSchema>) {
    match kind {
        Kind::Table(table) => found.push(table),
        Kind::Either(kinds) => kinds.iter().for_each(|kind| tables_of(kind, found)),
        Kind::List { of: Kind::Either(kinds), least, most } if nested(kinds, *least, *most) => {}
        Kind::List { of, .. } => tables_of(of, found),
        _ => {}
    }
}

#[test]
fn every_declared_key_is_read() {
    let schema = json_schema();
    let (mut seen, mut failures) = (Vec::new(), Vec::new());
    // Contact of bodies needs two of them; elsewhere a body need not be named where there is one.
    let embed = |mut scene: Value| {
        if scene["contact"][0]["kind"] == "bodies" {
            let body = scene["body"][0].clone();
            scene["body"].as_array_mut().expect("bodies").push(body);
        }
        scene
    };
    try_table(&SCENE, &embed, &mut seen, &mut failures, &schema);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    let all: Vec<&str> = lilyan_scene::reference::tables().iter().map(|table| table.name).collect();
    let missed: Vec<_> = all.iter().filter(|name| !seen.contains(name)).collect();
    assert!(missed.is_empty(), "not tried: {missed:?}");
}
