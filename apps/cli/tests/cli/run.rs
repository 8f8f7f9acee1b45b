//! `lilyan run`: what it writes, and where.

use super::common::{BAR, expect, folder, json, text};
use serde_json::Value;
use std::fs;

const COLUMNS: &str = "t,kinetic,elastic,gravity,other,total,work_external,dissipated_physical,\
    dissipated_numerical,px,py,pz,lx,ly,lz,step,newton_iterations";

#[test]
fn a_run_writes_what_the_contract_lists() {
    let dir = folder("results", BAR);
    let out = expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
    assert!(text(&out.stdout).contains("report: out/report.html"));
    let file = |name: &str| fs::read_to_string(dir.join("out").join(name)).unwrap();

    let energy = file("energy.csv");
    assert!(energy.starts_with(COLUMNS), "{}", energy.lines().next().unwrap());
    assert_eq!(energy.lines().count(), 1 + 11, "a line at t = 0 and after each of ten steps");
    assert!(file("probes.csv").starts_with("t,tip_x,tip_y,tip_z\n"));
    assert_eq!(file("probes.csv").lines().count(), 1 + 11);

    let summary: Value = serde_json::from_str(&file("summary.json")).unwrap();
    let keys = "title integrator options material vertices elements dofs steps time_simulated wall_seconds \
        seconds_per_step_median newton_iterations_mean threads peak_memory_mb energy momentum converged warnings \
        version scene_hash";
    for key in keys.split_whitespace() {
        assert!(!summary[key].is_null(), "{key} is missing");
    }
    for key in ["initial", "final", "min", "max"] {
        assert!(summary["energy"][key].is_f64(), "energy.{key}");
    }
    for key in ["linear_drift", "angular_drift"] {
        assert!(summary["momentum"][key].as_f64().unwrap() < 1e-12, "momentum.{key}");
    }
    assert_eq!((&summary["steps"], &summary["elements"]), (&Value::from(10), &Value::from(12)));
    assert_eq!(summary["converged"], true);

    let frames = file("frames.pvd");
    for (k, t) in ["0", "0.01", "0.02", "0.03", "0.04", "0.05"].iter().enumerate() {
        assert!(frames.contains(&format!("timestep=\"{t}\"")), "t = {t}: {frames}");
        assert!(frames.contains(&format!("frames/{k:06}.vtu")));
    }
    assert_eq!(fs::read_dir(dir.join("out/frames")).unwrap().count(), 6);
    assert!(fs::read(dir.join("out/frames/000000.vtu")).unwrap().starts_with(b"<?xml"));

    let report = file("report.html");
    for outside in ["src=\"http", "url(http", "<link", "@import", "fetch("] {
        assert!(!report.contains(outside), "the report refers to the outside: {outside}");
    }
    assert!(dir.join("out/checkpoint").is_file());
}

#[test]
fn without_arguments_the_default_scene_runs() {
    let dir = folder("default", BAR);
    expect(&dir, &["run", "--steps", "5"], 0);
    assert!(dir.join("out/tumbling-rod/report.html").is_file());
    expect(&dir, &[], 0);
    assert!(
        fs::read_to_string(dir.join("out/tumbling-rod/summary.json")).unwrap().contains("\"steps\": 2000")
    );
}

#[test]
fn set_reaches_every_key() {
    let dir = folder("set", BAR);
    let set = |assignments: &[&str]| {
        let mut arguments = vec!["run", "scene.toml", "--json", "--steps", "2"];
        for a in assignments {
            arguments.extend(["--set", a]);
        }
        json(&expect(&dir, &arguments, 0).stdout)
    };
    let plain = set(&[]);
    let summary = set(&["time.step=0.001", "integrator.name=verlet", "body.material.E=2e5"]);
    assert_eq!(summary["integrator"], "verlet");
    assert_eq!(summary["material"][0]["E"][0], 2e5);
    assert_eq!(summary["time_simulated"], 0.002);
    assert_ne!(summary["scene_hash"], plain["scene_hash"]);
    // Keys that the file does not have, with and without the name of the only body.
    for key in ["body.damping", "body.bar.damping", "body.0.damping"] {
        let damped = set(&[&format!("{key}={{ model = \"viscous\", time = 0.01 }}")]);
        assert!(damped["energy"]["final"].as_f64() < plain["energy"]["final"].as_f64(), "{key}");
    }
    assert_eq!(set(&["body.mass=consistent"])["status"], "finished");
}

#[test]
fn files_of_others_in_the_folder_stay() {
    let dir = folder("foreign", BAR);
    let theirs = ["out/notes.txt", "out/frames/mine.vtu", "out/frames/000001.txt", "out/energy.csv.bak"];
    fs::create_dir_all(dir.join("out/frames")).unwrap();
    for name in theirs {
        fs::write(dir.join(name), "theirs").unwrap();
    }
    fs::write(dir.join("out/frames/000099.vtu"), "of an earlier, longer run").unwrap();
    fs::write(dir.join("out/.lilyan-1-0.tmp"), "of a killed run").unwrap();
    fs::write(dir.join("out/frames/.lilyan-1-1.tmp"), "of a killed run").unwrap();
    expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
    for name in theirs {
        assert_eq!(fs::read_to_string(dir.join(name)).unwrap(), "theirs", "{name}");
    }
    for name in ["out/frames/000099.vtu", "out/.lilyan-1-0.tmp", "out/frames/.lilyan-1-1.tmp"] {
        assert!(!dir.join(name).exists(), "{name}");
    }
}

/// A folder with the name of a built-in scene, as `-o NAME` leaves it, does not hide the scene.
#[test]
fn a_folder_does_not_hide_a_built_in_scene() {
    let dir = folder("hidden", BAR);
    for _ in 0..2 {
        expect(&dir, &["run", "swinging-cube", "-o", "swinging-cube", "--steps", "2"], 0);
    }
}
