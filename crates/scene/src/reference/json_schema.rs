//! The keys of a scene as JSON Schema, draft 2020-12.
//!
//! All keys of a table stand in its `properties`, so that an editor can offer them and name a misspelt one. What
//! depends on a case (`kind = "plane"`) stands in `if`/`then`. The schema never refuses what the reader accepts;
//! a few rules that need the meshes or the other bodies are the reader's alone.

use super::tables;
use crate::document::key::{Absent, Bound, Case, Choice, Key, KeyValue, Kind, Range, TableSchema, When};
use crate::schema::SCENE;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A JSON Schema of scene files, for TOML and JSON alike.
pub fn json_schema() -> Value {
    let mut schema = object(&SCENE);
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("Scene of lilyan"));
    let inner = tables().into_iter().filter(|table| table.name != SCENE.name);
    let definitions: Map<String, Value> =
        inner.map(|table| (table.name.to_owned(), Value::Object(object(table)))).collect();
    schema.insert("$defs".into(), Value::Object(definitions));
    Value::Object(schema)
}

/// The schema of one table.
pub(crate) fn object(table: &TableSchema) -> Map<String, Value> {
    let cases = (table.cases)();
    let (always, cases): (Vec<Case>, Vec<Case>) =
        cases.into_iter().partition(|case| case.when == When::Always);
    let common: Vec<&Key> = table.keys.iter().chain(always.iter().flat_map(|case| &case.keys)).collect();
    let mut properties: Map<String, Value> =
        common.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    for key in cases.iter().flat_map(|case| &case.keys) {
        let described = property(key);
        // A key that means something else in another case is described in each case.
        match properties.get(key.name) {
            None => drop(properties.insert(key.name.to_owned(), described)),
            Some(known) if *known == described => {}
            Some(_) => drop(properties.insert(key.name.to_owned(), json!({}))),
        }
    }
    let mut rules: Vec<Value> = cases.iter().map(|case| rule(case, &cases, &properties)).collect();
    rules.extend(table.exclusive_pairs().iter().map(|pair| json!({ "not": { "required": pair } })));
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("description".into(), json!(table.doc));
    schema.insert("properties".into(), Value::Object(properties));
    schema.insert("additionalProperties".into(), json!(false));
    insert_list(&mut schema, "required", required(common.into_iter()));
    let present = cases.iter().filter_map(|case| match case.when {
        When::Has(key) => Some(json!({ "required": [key] })),
        _ => None,
    });
    insert_list(&mut schema, "oneOf", present.collect());
    insert_list(&mut schema, "allOf", rules);
    schema
}

fn insert_list(schema: &mut Map<String, Value>, keyword: &str, list: Vec<Value>) {
    if !list.is_empty() {
        schema.insert(keyword.to_owned(), Value::Array(list));
    }
}

fn required<'k>(keys: impl Iterator<Item = &'k Key>) -> Vec<Value> {
    keys.filter(|key| key.absent == Absent::Required).map(|key| json!(key.name)).collect()
}

/// What holds in one case: which keys must be there, which must not, and what its keys are where that differs.
fn rule(case: &Case, all: &[Case], properties: &Map<String, Value>) -> Value {
    let mut condition = json!({});
    for KeyValue { key, value, default } in case.when.values() {
        condition["properties"][key] = json!({ "const": value });
        if !default {
            let mut required = condition["required"].as_array().cloned().unwrap_or_default();
            required.push(json!(key));
            condition["required"] = json!(required);
        }
    }
    if let When::Has(key) = case.when {
        condition["required"] = json!([key]);
    }
    // A case that this one is part of, or that is part of this one, says itself what its keys are.
    let together = all.iter().filter(|other| other.when.can_hold_with(&case.when));
    let own: BTreeSet<&str> = together.flat_map(|case| &case.keys).map(|key| key.name).collect();
    let others = all.iter().flat_map(|case| &case.keys).map(|key| key.name);
    let mut inside: Map<String, Value> =
        others.filter(|name| !own.contains(name)).map(|name| (name.to_owned(), json!(false))).collect();
    for key in &case.keys {
        let described = property(key);
        if properties.get(key.name) != Some(&described) {
            inside.insert(key.name.to_owned(), described);
        }
    }
    let mut then = Map::new();
    if !inside.is_empty() {
        then.insert("properties".into(), Value::Object(inside));
    }
    insert_list(&mut then, "required", required(case.keys.iter()));
    json!({ "if": condition, "then": then })
}

/// The schema of a key: its value, what it means, its default and its unit.
fn property(key: &Key) -> Value {
    let mut schema = value(&key.kind);
    let mut description = key.doc.to_owned();
    if !key.only.is_empty() {
        description += &format!(" For {} alone.", key.only);
    }
    match key.absent {
        Absent::Means(meaning) => description += &format!(" If absent: {meaning}."),
        Absent::Number(number) => schema["default"] = json!(number),
        Absent::Flag(flag) => schema["default"] = json!(flag),
        Absent::Word(word) => schema["default"] = json!(word),
        Absent::Unless(other) => description += &format!(" If absent: `{other}` is given instead."),
        Absent::Required => {}
    }
    schema["description"] = json!(description);
    if let Some(unit) = key.kind.unit() {
        schema["x-unit"] = json!(unit);
    }
    schema
}

/// Lists may hold lists (a `where` of `where`s, without end); this deep the schema says what is in them.
const DEPTH: usize = 3;

fn value(kind: &Kind) -> Value {
    value_to(kind, DEPTH)
}

fn value_to(kind: &Kind, depth: usize) -> Value {
    match kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number { range, .. } => number(range),
        Kind::Whole { least, most } => {
            let mut schema = json!({ "type": "integer" });
            if *least != i64::MIN {
                schema["minimum"] = json!(least);
            }
            if *most != i64::MAX {
                schema["maximum"] = json!(most);
            }
            schema
        }
        Kind::Text | Kind::Path => json!({ "type": "string" }),
        Kind::Name | Kind::Body => json!({ "type": "string", "minLength": 1, "maxLength": 100 }),
        Kind::Formula(variables) => json!({ "type": "string", "x-variables": variables }),
        Kind::Word(choices) => words(&choices()),
        Kind::OneOf(words) => json!({ "enum": words }),
        Kind::NumberOrWord { range, word } => json!({ "anyOf": [number(range), { "const": word }] }),
        Kind::Table(table) => json!({ "$ref": format!("#/$defs/{}", table.name) }),
        Kind::Either(kinds) => {
            json!({ "anyOf": kinds.iter().map(|kind| value_to(kind, depth)).collect::<Vec<_>>() })
        }
        Kind::List { .. } if depth == 0 => json!({ "type": "array" }),
        Kind::List { of, least, most } => {
            let mut schema = json!({ "type": "array", "items": value_to(of, depth - 1) });
            if *least > 0 {
                schema["minItems"] = json!(least);
            }
            if *most != usize::MAX {
                schema["maxItems"] = json!(most);
            }
            schema
        }
    }
}

fn number(range: &Range) -> Value {
    let mut schema = json!({ "type": "number" });
    match range.lower {
        Bound::Included(least) if least.is_finite() => schema["minimum"] = json!(least),
        Bound::Excluded(least) if least.is_finite() => schema["exclusiveMinimum"] = json!(least),
        _ => {}
    }
    match range.upper {
        Bound::Included(most) if most.is_finite() => schema["maximum"] = json!(most),
        Bound::Excluded(most) if most.is_finite() => schema["exclusiveMaximum"] = json!(most),
        _ => {}
    }
    schema
}

/// Words, with a line about each where there is one (`x-taplo` is what editors of TOML look for).
fn words(choices: &[Choice]) -> Value {
    let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
    let mut schema = json!({ "enum": names });
    if choices.iter().any(|choice| !choice.doc.is_empty()) {
        let docs: Vec<&str> = choices.iter().map(|choice| choice.doc).collect();
        schema["x-taplo"] = json!({ "docs": { "enumValues": docs } });
    }
    schema
}
