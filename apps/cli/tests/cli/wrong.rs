//! Wrong input and runs that fail: status, place, remedy.

use super::common::{BAR, expect, folder, json, text};
use serde_json::Value;
use std::fs;

#[test]
fn wrong_input_is_refused_with_place_and_remedy() {
    let dir = folder("wrong", BAR);
    let tet = "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n\
        Tetrahedra\n1\n1 2 3 9 0\nEnd\n";
    fs::write(dir.join("index.mesh"), tet).unwrap();
    fs::write(dir.join("flat.mesh"), tet.replace(" 9 0", " 4 0").replace("0 0 1 0\n", "1 1 0 0\n")).unwrap();
    fs::write(dir.join("typo.toml"), BAR.replace("step =", "stpe =")).unwrap();
    fs::write(dir.join("nan.toml"), BAR.replace("[1.1, 1, 1]", "[\"0/0\", 1, 1]")).unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&["nothere.toml"], &["nothere.toml", "no such file", "built in are"]),
        (&["tumblingrod"], &["did you mean \"tumbling-rod\"?"]),
        (&["typo.toml"], &["typo.toml:5:", "stpe", "did you mean \"step\"?"]),
        (&["nan.toml"], &["nan.toml:12:", "initial.stretch"]),
        (&["scene.toml", "--set", "time.step=-1"], &["time.step", "must be positive"]),
        (&["scene.toml", "--set", "time.end=0"], &["time.end", "must be positive"]),
        (&["scene.toml", "--set", "integrator.name=verlt"], &["did you mean \"verlet\"? known: "]),
        (&["scene.toml", "--set", "integrator.alpha=0.5"], &["alpha", "known: tolerance"]),
        (&["scene.toml", "--set", "integrator.tolerance=5"], &["tolerance", "from", "to 0.5"]),
        (&["scene.toml", "--set", "body.material.model=jelly"], &["material.model", "\"jelly\"; known: "]),
        (&["scene.toml", "--set", "body.material.nu=0.5"], &["scene.toml:11:", "nu = 0.5"]),
        (&["scene.toml", "--set", "body.mesh={file=\"no.mesh\"}"], &["no.mesh", "check its name"]),
        (&["scene.toml", "--set", "body.mesh={file=\"index.mesh\"}"], &["tetrahedron 1", "vertex 9"]),
        (&["scene.toml", "--set", "body.mesh={file=\"flat.mesh\"}"], &["tetrahedron 1", "no volume"]),
        (
            &["scene.toml", "--set", "body.mesh.box.cells=[1000,1000,1000]"],
            &["scene.toml:10: body.bar.mesh: ", "; use "],
        ),
        (&["scene.toml", "--set", "body.initial.velocity=[\"0/0\",0,0]"], &["velocity[0]", "NaN"]),
        (
            &["scene.toml", "--set", "body.initial.velocity=[\"sqrt(1-x)\",0,0]"],
            &["body.bar", "vertex", "not finite"],
        ),
        (
            &["scene.toml", "--set", "pin=[{body=\"bar\",where={box={min=[8,8,8],max=[9,9,9]}}}]"],
            &["pin[0]", "selects no vertex", "reaches from [0.0, 0.0, 0.0] to [2.0, 1.0, 1.0]"],
        ),
        (&["scene.toml", "--set", "probe.tip.at=[9,9,9]"], &["probe", "outside of body \"bar\""]),
        (
            &["scene.toml", "--set", "body.initial.twist={axis=[1,0,0],degrees=360}"],
            &["inside out", "stable-neo-hookean"],
        ),
        (&["scene.toml", "--resume", "-o", "never"], &["cannot resume", "without --resume"]),
        (&["scene.toml", "-o", "scene.toml"], &["scene.toml", "-o"]),
        (&["scene.toml", "-o", "/proc/lilyan"], &["/proc/lilyan", "-o"]),
        (&["scene.toml", "--steps", "many"], &["--steps"]),
    ];
    for (arguments, parts) in cases {
        let out = expect(&dir, &[&["run"], *arguments].concat(), 1);
        let message = text(&out.stderr);
        for part in *parts {
            assert!(message.contains(part), "{arguments:?}: {part:?} is not in {message}");
        }
        assert!(out.stdout.is_empty(), "{arguments:?}");
    }
    assert!(!dir.join("out").exists(), "a refused scene leaves no folder");
    assert!(!dir.join("never").exists());
}

#[test]
fn an_explosion_ends_with_status_2_and_keeps_what_was_good() {
    let dir = folder("explosion", BAR);
    let set = ["--set", "time.step=0.2", "--set", "time.end=200", "--set", "output.every=0.2"];
    let arguments =
        [&["run", "scene.toml", "-o", "out", "--set", "integrator.name=verlet"], &set[..]].concat();
    let out = expect(&dir, &arguments, 2);
    let message = text(&out.stderr);
    for part in ["at t = ", "The stable step of verlet is about", "energy-momentum", "results so far"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let read = |name: &str| fs::read_to_string(dir.join("out").join(name)).unwrap();
    for bad in ["nan", "inf"] {
        assert!(!read("energy.csv").to_lowercase().contains(bad), "{bad}");
    }
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(summary["converged"], false);
    // Every line has a frame here, and none is of a state beyond the last line.
    let lines = read("energy.csv").lines().count() - 1;
    assert_eq!(read("frames.pvd").matches("<DataSet").count(), lines);
    assert_eq!(fs::read_dir(dir.join("out/frames")).unwrap().count(), lines);
    assert_eq!(summary["steps"].as_u64().unwrap() as usize, lines - 1);

    // The same with JSON: the summary, which says why.
    let out = expect(&dir, &[&arguments[..], &["--json"]].concat(), 2);
    assert!(json(&out.stdout)["status"].as_str().unwrap().contains("stable step"));
}

#[test]
fn a_load_that_stops_being_a_number_is_named() {
    let dir = folder("load", BAR);
    let load = "load=[{body=\"bar\",where=\"all\",force=[\"ln(0.02-t)\",0,0]}]";
    for integrator in ["energy-momentum", "variational", "backward-euler", "verlet", "rk4"] {
        let name = format!("integrator.name={integrator}");
        let out = expect(&dir, &["run", "scene.toml", "-o", "out", "--set", load, "--set", &name], 2);
        let message = text(&out.stderr);
        assert!(message.contains("`load[0]` is not a finite number at t = 0.0"), "{integrator}: {message}");
        assert!(!fs::read_to_string(dir.join("out/energy.csv")).unwrap().contains("nan"));
    }
}
