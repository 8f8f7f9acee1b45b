//! `lilyan run -v`: a failing solve can be watched.

use super::common::{BAR, expect, folder, json, text};

#[test]
fn a_failing_solve_can_be_watched() {
    let dir = folder("verbose", BAR);
    // From t = 0.02 s on the load is not a number.
    let load = "load=[{body=\"bar\",where=\"all\",force=[\"ln(0.02-t)\",0,0]}]";
    let failing = ["run", "scene.toml", "--set", load];
    let silent = text(&expect(&dir, &failing, 2).stderr);
    assert!(!silent.contains("correction="), "{silent}");

    let told = text(&expect(&dir, &[&failing[..], &["-v"]].concat(), 2).stderr);
    let first = told.lines().find(|line| line.contains("Newton, root iteration=1 ")).unwrap();
    assert!(first.contains("step{t=0.0 h=0.005}") && first.contains("correction="), "{first}");
    // The nominal step fails, and at least one step of every length down to the tenth halving.
    let failures: Vec<&str> = told.lines().filter(|line| line.contains("failed error=")).collect();
    for halvings in 0..=10 {
        let h = format!("h={:?}}}", 0.005 / f64::from(1 << halvings));
        assert!(failures.iter().any(|line| line.contains(&h)), "{h}: {told}");
    }
}

#[test]
fn what_is_told_does_not_disturb_the_output() {
    let dir = folder("verbose-json", BAR);
    for (integrator, newton) in [("variational", "minimum"), ("energy-momentum", "root")] {
        let name = format!("integrator.name={integrator}");
        let out = expect(&dir, &["run", "scene.toml", "--steps", "2", "--set", &name, "-vv", "--json"], 0);
        assert_eq!(json(&out.stdout)["steps"], 2);
        let told = text(&out.stderr);
        let iteration = format!("Newton, {newton} iteration=1");
        for what in [&iteration, "linear solve iterations=", "done newton_iterations="] {
            assert!(told.contains(what), "{integrator}, {what}: {told}");
        }
    }
}
