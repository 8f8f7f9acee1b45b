//! `lilyan check` and `lilyan modes`.

use super::common::{BAR, expect, folder, json, text};

#[test]
fn check_diagnoses() {
    let dir = folder("check", BAR);
    let told = json(&expect(&dir, &["check", "steel-cantilever", "--json"], 0).stdout);
    assert_eq!(told["spectrum"]["lowest"].as_array().unwrap().len(), 3);
    assert!(told["spectrum"]["stable_steps"]["verlet"].as_f64().unwrap() > 0.0);
    assert!(!told["warnings"].as_array().unwrap().is_empty(), "backward Euler damps");
    assert!(told["memory_mb"]["implicit"].as_f64().unwrap() > 0.0);
    let pinned = "pin=[{body=\"bar\",where=\"all\"}]";
    let out = expect(&dir, &["check", "scene.toml", "--set", pinned], 0);
    assert!(text(&out.stdout).contains("every vertex is pinned or bound"));
    expect(&dir, &["check", "scene.toml", "--set", "time.step=x"], 1);
}

#[test]
fn modes_writes_shapes() {
    let dir = folder("modes", BAR);
    expect(&dir, &["modes", "scene.toml", "-n", "7", "-o", "m", "--matrices"], 0);
    for name in ["m/modes.csv", "m/mode_001.vtu", "m/mode_007.vtu", "m/K.mtx", "m/M.mtx"] {
        assert!(dir.join(name).is_file(), "{name}");
    }
    expect(&dir, &["modes", "scene.toml", "-n", "0"], 1);
    expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
    expect(&dir, &["modes", "scene.toml", "-n", "7", "--at", "out/frames/000003.vtu"], 0);
    let out = expect(&dir, &["modes", "cantilever", "--at", "out/frames/000003.vtu"], 1);
    assert!(text(&out.stderr).contains("does not belong"));
}

#[test]
fn rigid_modes_have_no_frequency() {
    let dir = folder("rigid-modes", BAR);
    let told = json(&expect(&dir, &["modes", "scene.toml", "-n", "7", "--json"], 0).stdout);
    let hz: Vec<f64> =
        told["frequencies_hz"].as_array().unwrap().iter().map(|f| f.as_f64().unwrap()).collect();
    assert_eq!(hz[..6], [0.0; 6]);
    assert!(hz[6] > 1e-3, "{hz:?}");
}

#[test]
fn converge_tells_the_cheapest_setting() {
    let dir = folder("converge", BAR);
    let keys = ["converge", "scene.toml", "--probe", "tip", "--accuracy", "0.3", "--json"];
    let told = json(&expect(&dir, &keys, 0).stdout);
    assert_eq!(told["settled"], true);
    let runs = told["runs"].as_array().unwrap();
    let cheapest = &runs[told["cheapest"].as_u64().unwrap() as usize];
    assert!(cheapest["error"].as_f64().unwrap() <= 0.3);
    assert!(told["advice"].as_str().unwrap().contains("cheapest"));
    assert!(dir.join("out/scene-converge/converge.json").is_file());
    expect(&dir, &["converge", "scene.toml", "--set", "probe=[]"], 1);
    expect(&dir, &["converge", "scene.toml", "--probe", "tap"], 1);
    expect(&dir, &["converge", "scene.toml", "--accuracy", "0"], 1);
}
