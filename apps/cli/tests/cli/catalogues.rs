//! Help, `--json` and the catalogues.

use super::common::{BAR, expect, folder, json, text};
use std::fs;

#[test]
fn every_command_has_help_with_an_example() {
    let dir = folder("help", BAR);
    for name in [
        "run",
        "check",
        "compare",
        "modes",
        "coarsen",
        "scenes",
        "schema",
        "integrators",
        "materials",
        "licenses",
    ] {
        let out = expect(&dir, &[name, "--help"], 0);
        assert!(text(&out.stdout).contains("lilyan "), "{name}");
        assert!(text(&out.stdout).contains("Example"), "{name}");
        assert!(text(&out.stdout).contains("--json"), "{name}");
    }
    assert!(text(&expect(&dir, &["--help"], 0).stdout).contains("Example"));
    assert!(text(&expect(&dir, &["--version"], 0).stdout).starts_with("lilyan "));
}

#[test]
fn every_command_prints_one_json_object_and_nothing_else() {
    let dir = folder("json", BAR);
    let commands: [&[&str]; 12] = [
        &["run", "scene.toml", "--json"],
        &["check", "scene.toml", "--json"],
        &["check", "steel-cantilever", "--json"],
        &["modes", "scene.toml", "-n", "8", "--json"],
        &["coarsen", "scene.toml", "--tets", "6", "-o", "coarse", "--json"],
        &["coarsen", "--methods", "--json"],
        &["scenes", "--json"],
        &["schema", "--json"],
        &["scenes", "cantilever", "--json"],
        &["integrators", "--json"],
        &["materials", "--json"],
        &["licenses", "--json"],
    ];
    for arguments in commands {
        json(&expect(&dir, arguments, 0).stdout);
    }
    // Failures too, with the message that stands on standard error.
    let failures: [&[&str]; 4] = [
        &["run", "nothere.toml", "--json"],
        &["run", "scene.toml", "--json", "--set", "time.stp=1"],
        &["modes", "scene.toml", "-n", "100000", "--json"],
        &["run", "--json", "--no-such-option"],
    ];
    for arguments in failures {
        let out = expect(&dir, arguments, 1);
        let told = json(&out.stdout);
        assert_eq!(told["exit_status"], 1);
        assert!(text(&out.stderr).contains(told["error"].as_str().unwrap()), "{arguments:?}");
    }
}

#[test]
fn catalogues_say_what_the_contract_promises() {
    let dir = folder("catalogue", BAR);
    let integrators = json(&expect(&dir, &["integrators", "--json"], 0).stdout);
    for entry in integrators["integrators"].as_array().unwrap() {
        assert!(entry["cite"]["text"].is_string(), "{entry}");
        assert!(entry["order"].is_number() && entry["conserves"].is_object());
    }
    let materials = json(&expect(&dir, &["materials", "--json"], 0).stdout);
    for entry in materials["materials"].as_array().unwrap() {
        assert!(entry["cite"]["text"].is_string(), "{entry}");
    }
    let contacts = materials["contact"].as_array().unwrap();
    assert!(!contacts.is_empty());
    for entry in contacts {
        assert!(entry["cite"]["text"].is_string() && entry["parameters"].is_array(), "{entry}");
    }
    let listed = text(&expect(&dir, &["materials"], 0).stdout);
    assert!(listed.contains("contact (contact.model in the scene):"), "{listed}");
    let scene = text(&expect(&dir, &["scenes", "cantilever"], 0).stdout);
    fs::write(dir.join("mine.toml"), scene).unwrap();
    expect(&dir, &["run", "mine.toml", "--steps", "1"], 0);
}
