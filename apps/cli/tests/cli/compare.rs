//! `lilyan compare`.

use super::common::{BAR, command, expect, folder, json, text};
use std::fs;
use std::process::{Command, Stdio};

const TWO: &[&str] = &["compare", "scene.toml", "--integrators", "verlet,variational(alpha=0.5)", "--json"];

#[test]
fn compare_leaves_a_table_a_page_and_one_json_object() {
    let dir = folder("compare", BAR);
    let told = json(&expect(&dir, TWO, 0).stdout);
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.iter().any(|r| r["integrator"] == "verlet" && r["status"] == "finished"));
    assert!(rows.iter().any(|r| r["integrator"] == "variational" && r["options"]["alpha"] == 0.5));
    assert!(told["reference"]["error"].as_f64().unwrap() < 1e-4);
    assert_eq!(told["advice"].as_array().unwrap().len(), 3);
    let results = dir.join("out/scene-compare");
    assert_eq!(
        json(&fs::read(results.join("compare.json")).unwrap())["rows"].as_array().unwrap().len(),
        rows.len()
    );
    assert_eq!(fs::read_to_string(results.join("compare.csv")).unwrap().lines().count(), rows.len() + 1);
    assert!(fs::read_to_string(results.join("report.html")).unwrap().contains("Comparison of integrators"));

    let steps = ["--step-sizes", "0.01,0.005", "--reference", "rk4@0.0005", "-o", "there", "--threads", "1"];
    let out = expect(&dir, &[&TWO[..4], &steps].concat(), 0);
    let table = text(&out.stdout);
    for wanted in
        ["a fine run of rk4 with steps of 5e-4 s", "verlet", "order", "1 % error: ", "real time: ", "there"]
    {
        assert!(table.contains(wanted), "{wanted}: {table}");
    }
}

#[test]
fn compare_refuses_nonsense_with_a_remedy() {
    let dir = folder("compare-nonsense", BAR);
    for (arguments, wanted) in [
        (&["--integrators", "verlett"][..], "did you mean \"verlet\""),
        (&["--integrators", "variational(alpha=7)"], "from 0 to 1"),
        (&["--integrators", ""], "a name is missing"),
        (&["--step-sizes", "0.01,fast"], "\"fast\" is not a step"),
        (&["--step-sizes", "-1"], "positive"),
        (&["--step-sizes", "3"], "longer than the scene"),
        (&["--step-sizes", "nan"], "positive"),
        (&["--budget", "0"], "--budget"),
        (&["--reference", "nothing"], "METHOD@STEP"),
        (&["--set", "time.stp=1"], "did you mean \"step\""),
    ] {
        // `=` keeps values that begin with a dash from being taken for options.
        let given = [arguments[0], arguments[1]].join("=");
        let out = expect(&dir, &["compare", "scene.toml", "--json", &given], 1);
        assert!(text(&out.stderr).contains(wanted), "{given}: {}", text(&out.stderr));
        assert_eq!(json(&out.stdout)["exit_status"], 1);
    }
    expect(&dir, &["compare", "nothere.toml"], 1);
    expect(&dir, &["compare", "scene.toml", "-o", "scene.toml/in"], 1);
    // Nothing can be done in a nanosecond: no reference, and it says what to do.
    let out = expect(&dir, &["compare", "scene.toml", "--budget", "1e-9"], 2);
    assert!(text(&out.stderr).contains("raise --budget"), "{}", text(&out.stderr));
}

#[cfg(unix)]
#[test]
fn an_interrupted_comparison_keeps_the_runs_that_are_done() {
    let dir = folder("compare-interrupted", BAR);
    // A quick run, and one that never ends.
    let steps = ["--step-sizes", "0.005,1e-9", "--budget", "1e6", "--reference", "verlet@0.001"];
    let mut command =
        command(&dir, &[&["compare", "scene.toml", "--integrators", "verlet"][..], &steps].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let csv = dir.join("out/scene-compare/compare.csv");
    let patience = std::time::Instant::now();
    while !csv.exists() && patience.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("interrupted"), "{}", text(&out.stderr));
    assert_eq!(fs::read_to_string(csv).unwrap().lines().count(), 2);
    assert!(dir.join("out/scene-compare/report.html").is_file());
}
