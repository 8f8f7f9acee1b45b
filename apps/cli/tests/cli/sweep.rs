//! `lilyan sweep`: the same table whoever does the runs, nothing done twice, what fails is told.

use super::common::{BAR, command, expect, folder, json, text};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

const VARY: [&str; 6] =
    ["sweep", "scene.toml", "--vary", "body.material.E=1e4..1e6:log3", "--vary", "time.step=0.005,0.0025"];

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    VARY.iter().copied().chain(more.iter().copied()).collect()
}

fn table(folder: &Path, sweep: &str) -> String {
    fs::read_to_string(folder.join(sweep).join("sweep.csv")).unwrap()
}

/// When each run ended.
fn ends(folder: &Path, sweep: &str) -> BTreeMap<String, SystemTime> {
    let Ok(runs) = fs::read_dir(folder.join(sweep).join("runs")) else { return BTreeMap::new() };
    let runs = runs.map(|run| run.unwrap().path());
    let end = |run: std::path::PathBuf| {
        let time = fs::metadata(run.join("ended.json")).ok()?.modified().unwrap();
        Some((run.file_name()?.to_string_lossy().into_owned(), time))
    };
    runs.filter_map(end).collect()
}

#[test]
fn processes_and_single_runs_give_the_same_table_and_nothing_is_done_twice() {
    let dir = folder("sweep-same", BAR);
    expect(&dir, &arguments(&["-o", "jobs", "--jobs", "2"]), 0);
    for number in [3, 0, 5, 1, 4, 2] {
        let number = number.to_string();
        expect(&dir, &arguments(&["-o", "single", "--threads", "2", "--index", &number]), 0);
    }
    assert_eq!(table(&dir, "jobs"), table(&dir, "single"));
    let rows = table(&dir, "jobs");
    assert_eq!(rows.lines().count(), 7, "{rows}");
    assert!(rows.starts_with("index,id,body.material.E,time.step,status,verdict,"), "{rows}");
    assert!(rows.contains("tip_x final"), "{rows}");
    assert_eq!(fs::read(dir.join("jobs/plan.csv")).unwrap(), fs::read(dir.join("single/plan.csv")).unwrap());
    let page = fs::read_to_string(dir.join("single/report.html")).unwrap();
    assert!(page.contains("Parallel coordinates") && page.contains("Small multiples"));

    let before = ends(&dir, "jobs");
    assert_eq!(before.len(), 6);
    // One more value: only its two runs are new.
    let more = [
        "sweep",
        "scene.toml",
        "--vary",
        "body.material.E=1e4,1e5,1e6,2e6",
        "--vary",
        "time.step=0.005,0.0025",
    ];
    let out = expect(&dir, &[&more[..], &["-o", "jobs", "--json"]].concat(), 0);
    assert_eq!(json(&out.stdout)["rows"].as_array().unwrap().len(), 8);
    let after = ends(&dir, "jobs");
    assert_eq!(after.len(), 8);
    assert!(before.iter().all(|(id, time)| after[id] == *time), "a run was done again");
}

/// Long enough to be cut: 20,000 steps each.
fn long(sweep: &str) -> Vec<&str> {
    arguments(&[
        "--set",
        "time.end=60",
        "--set",
        "output.replay=false",
        "--set",
        "output.every=10",
        "-o",
        sweep,
        "--jobs",
        "2",
    ])
}

/// Starts a sweep and waits until a run has ended and another one is on its way.
fn started(dir: &Path, sweep: &str) -> std::process::Child {
    let child = command(dir, &long(sweep)).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while ends(dir, sweep).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(300), "no run ends");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[cfg(unix)]
#[test]
fn a_sweep_goes_on_where_it_was_killed_or_stopped() {
    let dir = folder("sweep-cut", BAR);
    expect(&dir, &long("whole"), 0);
    for signal in ["-KILL", "-TERM"] {
        let name = format!("cut{signal}");
        let mut child = started(&dir, &name);
        let pid = child.id().to_string();
        std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), (signal == "-TERM").then_some(143));
        // After a request to stop, nothing runs any more. After a kill, runs notice that the driver has gone.
        let before = ends(&dir, &name);
        assert!(before.len() < 6, "nothing was left to do");
        expect(&dir, &long(&name), 0);
        assert_eq!(table(&dir, &name), table(&dir, "whole"), "{signal}");
        let after = ends(&dir, &name);
        assert!(before.iter().all(|(id, time)| after[id] == *time), "{signal}: a run was done again");
        assert!(!dir.join(&name).join("stop").exists());
    }
}

#[test]
fn runs_that_do_not_finish_are_told_and_done_again_on_request() {
    let dir = folder("sweep-failed", BAR);
    // Explicit steps of 5 ms: one body is soft enough, the other explodes.
    let sweep = [
        "sweep",
        "scene.toml",
        "--set",
        "integrator.name=verlet",
        "--set",
        "time.end=1",
        "--vary",
        "body.material.E=1e3,1e9",
        "-o",
        "out",
    ];
    let out = expect(&dir, &sweep, 2);
    assert!(text(&out.stdout).contains("✗ run 1 (body.material.E=1e9) failed"), "{}", text(&out.stdout));
    assert!(text(&out.stderr).contains("--retry"));
    assert!(table(&dir, "out").lines().nth(2).unwrap().contains(",failed,fail,"));
    let before = ends(&dir, "out");
    expect(&dir, &sweep, 2);
    assert_eq!(ends(&dir, "out"), before);
    expect(&dir, &[&sweep[..], &["--retry"]].concat(), 2);
    let again = ends(&dir, "out");
    assert_eq!(again.iter().filter(|(id, time)| before[*id] != **time).count(), 1);

    let missing = [
        "sweep",
        "scene.toml",
        "--vary",
        "body.mesh={ file = \"no.msh\" },{ box = { size = [1, 1, 1], cells = [1, 1, 1] } }",
        "-o",
        "refused",
    ];
    let out = expect(&dir, &missing, 2);
    assert!(
        text(&out.stdout).contains("refused") && text(&out.stdout).contains("no.msh"),
        "{}",
        text(&out.stdout)
    );
}

#[test]
fn a_changed_mesh_file_is_another_run() {
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n";
    let scene = BAR.replace("{ box = { size = [2, 1, 1], cells = [2, 1, 1] } }", "{ file = \"tet.msh\" }");
    let dir = folder("sweep-mesh", &scene.replace("at = [2, 0.5, 0.5]", "at = [0.1, 0.1, 0.1]"));
    let sweep = ["sweep", "scene.toml", "--vary", "time.step=0.005,0.0025", "-o", "out"];
    fs::write(dir.join("tet.msh"), mesh).unwrap();
    expect(&dir, &sweep, 0);
    expect(&dir, &sweep, 0);
    assert_eq!(ends(&dir, "out").len(), 2);
    fs::write(dir.join("tet.msh"), mesh.replace("4 0 0 1\n$End", "4 0 0 2\n$End")).unwrap();
    expect(&dir, &sweep, 0);
    assert_eq!(ends(&dir, "out").len(), 4);
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let dir = folder("sweep-wrong", BAR);
    for (more, said) in [
        (vec!["--vary", "time.step"], "--vary time.step: there is no \"=\""),
        (vec!["--vary", "time.stepp=1,2"], "stepp"),
        (vec!["--vary", "time.step=0.01,-1"], "time.step=-1"),
        (
            vec!["--vary", "time.step=0.01,0.010"],
            "runs 0 (time.step=0.01) and 1 (time.step=0.010) are the same",
        ),
        (vec!["--vary", "time.step=0.01,0.02", "--index", "2"], "counted from 0 to 1"),
        (vec!["--vary", "time.step=0.01", "--vary", "time.step=0.02"], "given twice"),
    ] {
        let out = expect(&dir, &[&["sweep", "scene.toml"], &more[..]].concat(), 1);
        assert!(text(&out.stderr).contains(said), "{more:?}: {}", text(&out.stderr));
    }
    assert!(!dir.join("out/scene-sweep/runs").exists());
    // Another sweep's folder is not taken over.
    expect(&dir, &["sweep", "scene.toml", "--vary", "time.step=0.01,0.02", "-o", "x"], 0);
    let out = expect(&dir, &["sweep", "scene.toml", "--vary", "body.material.E=1e5,2e5", "-o", "x"], 1);
    assert!(text(&out.stderr).contains("another sweep"));
}
