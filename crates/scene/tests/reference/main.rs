//! The scene language as data: the JSON Schema accepts every built-in scene and refuses slips, the reference page is
//! current, and every key that is declared is read.

mod keys;
mod validate;

use lilyan_scene::document::Node;
use lilyan_scene::library::SCENES;
use lilyan_scene::reference::{json_schema, markdown, tables};
use serde_json::{Value, json};
use validate::refusal;

fn example() -> Value {
    Node::parse(include_str!("../data/interface.toml"), "scene.toml").expect("valid").to_json()
}

#[test]
fn the_schema_accepts_every_built_in_scene() {
    let schema = json_schema();
    for scene in SCENES {
        let document = Node::parse(scene.text, scene.name).expect("valid").to_json();
        assert_eq!(refusal(&schema, &document), None, "{}", scene.name);
    }
    assert_eq!(refusal(&schema, &example()), None);
}

#[test]
fn the_schema_refuses_slips() {
    let schema = json_schema();
    let slips: &[(&str, Value)] = &[
        // Misspelt keys.
        ("/time/stpe", json!(0.1)),
        ("/integrator/alpah", json!(0.5)),
        ("/body/0/material/densty", json!(1000)),
        ("/body/0/mesh/box/sise", json!([1, 1, 1])),
        // Wrong kinds.
        ("/time/step", json!("0.1")),
        ("/title", json!(3)),
        ("/body/0/name", json!(true)),
        ("/probe/0/at", json!([1, 2])),
        ("/pin/0/where", json!(3)),
        // Wrong values.
        ("/time/end", json!(0)),
        ("/body/0/material/nu", json!(0.6)),
        ("/body/0/mass", json!("lumpd")),
        ("/integrator/name", json!("variation")),
        ("/output/fields/0", json!("velocty")),
        // Keys of another case.
        ("/contact/0/radius", json!(1)),
        ("/body/0/mesh/file", json!("a.msh")),
        ("/body/0/material/lambda", json!(1e4)),
        ("/load/0/traction", json!([0, 0, 1])),
        ("/integrator/rho_inf", json!(0.5)),
    ];
    for (path, value) in slips {
        let mut scene = example();
        let (parent, key) = path.rsplit_once('/').expect("a path");
        match scene.pointer_mut(parent).unwrap_or_else(|| panic!("{parent} is in the example")) {
            Value::Object(table) => drop(table.insert(key.to_owned(), value.clone())),
            Value::Array(list) => list[key.parse::<usize>().expect("a number")] = value.clone(),
            other => panic!("{other}"),
        }
        assert!(refusal(&schema, &scene).is_some(), "{path} = {value} is accepted");
    }
    let mut scene = example();
    scene["time"].as_object_mut().expect("a table").remove("step");
    assert!(refusal(&schema, &scene).is_some(), "a key that is required may not be missing");
}

#[test]
fn names_of_tables_are_unique_and_keys_have_a_sentence() {
    let tables = tables();
    for (i, table) in tables.iter().enumerate() {
        assert!(tables[..i].iter().all(|other| other.name != table.name), "{} twice", table.name);
        assert!(!table.name.contains(' ') && table.doc.ends_with('.'), "{}", table.name);
        for key in table.keys {
            assert!(key.doc.ends_with('.') && !key.example.is_empty(), "{}.{}", table.name, key.name);
        }
    }
}

#[test]
fn the_reference_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scene-reference.md");
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == markdown(),
        "docs/scene-reference.md is not current; write it anew with\n    lilyan schema --markdown > docs/scene-reference.md"
    );
}

#[test]
fn catalogues_give_the_words() {
    let schema = json_schema();
    let integrators = &schema["$defs"]["integrator"]["properties"]["name"]["enum"];
    for entry in lilyan_dynamics::integrators::CATALOGUE {
        assert!(integrators.as_array().expect("names").contains(&json!(entry.name)), "{}", entry.name);
    }
    let formats = &schema["$defs"]["mesh"]["properties"]["format"]["enum"];
    assert!(formats.as_array().expect("formats").contains(&json!("inp")));
    let models = lilyan_solid::damping::CATALOGUE.iter().map(|card| card.name);
    for model in models {
        let text = format!(
            "time = {{ end = 1, step = 0.1 }}\n[[body]]\nmesh = {{ box = {{ size = [1, 1, 1], cells = [1, 1, 1] }} }}\n\
             material = {{ E = 1e5, nu = 0.3, rho = 1000 }}\ndamping = {{ model = \"{model}\", time = 0.1, alpha = 1 }}"
        );
        let error = lilyan_scene::schema::Scene::from_str(&text, "scene.toml")
            .expect_err("a key too many")
            .to_string();
        assert!(error.contains("unknown key"), "the reader knows every damping model: {error}");
    }
}
