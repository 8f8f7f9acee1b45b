//! Runs whose energy grows beyond what physics allows are stopped with every integrator; sound runs are not.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_study::run::{RunOutcome, Status};
use running::{folder, made, run_until};

/// A bar that falls onto its clamp and swings, with this integrator, step (s) and modulus (Pa).
fn bar(integrator: &str, step: f64, young: f64, more: &str) -> String {
    format!(
        r#"
time = {{ end = {end:e}, step = {step:e} }}
integrator = "{integrator}"
[environment]
gravity = [0, -9.81, 0]
[[body]]
mesh = {{ box = {{ size = [1, 0.25, 0.25], cells = [4, 1, 1] }} }}
material = {{ model = "stable-neo-hookean", E = {young:e}, nu = 0.3, rho = 1000 }}

[[pin]]
where = {{ box = {{ min = [-1, -1, -1], max = [0.001, 1, 1] }} }}
{more}
[output]
replay = false
"#,
        end = 400.0 * step,
    )
}

fn run(name: &str, scene: &str) -> RunOutcome {
    let (scene, built) = made(scene, &[]);
    run_until(&scene, built, &folder(&format!("growth-{name}")), false, None)
}

/// Ten times the stable step: every explicit method stops, names itself, and keeps tables without the explosion.
#[test]
fn unstable_runs_are_stopped() {
    let mut tried = 0;
    for entry in CATALOGUE.iter().filter(|e| e.create(&[]).unwrap().claims().explicit) {
        tried += 1;
        let outcome = run(entry.name, &bar(entry.name, 0.02, 1e6, ""));
        let Status::Failed(why) = &outcome.status else { panic!("{}: {:?}", entry.name, outcome.verdict) };
        assert!(why.contains("unstable") || why.contains("finite"), "{}: {why}", entry.name);
        assert!(why.contains("stable step"), "{}: {why}", entry.name);
    }
    assert!(tried > 2);
}

/// Stable steps of every integrator run to the end, from rest, under gravity, with loads and with a clamp that shakes.
#[test]
fn stable_runs_go_on() {
    let load = "[[load]]\nwhere = { nearest = [1, 0.25, 0.25] }\nforce = [0, \"20*sin(9*t)\", 0]\n";
    for entry in CATALOGUE {
        // It has no stable step without damping, and the others are for particular bodies.
        if ["explicit-euler", "dgsi", "corotational-reversible", "regularized"].contains(&entry.name) {
            continue;
        }
        let explicit = entry.create(&[]).unwrap().claims().explicit;
        let step = if explicit { 2e-4 } else { 5e-3 };
        for (k, more) in ["", load].into_iter().enumerate() {
            let outcome = run(&format!("{}-{k}", entry.name), &bar(entry.name, step, 1e6, more));
            assert!(matches!(outcome.status, Status::Finished), "{} {k}: {:?}", entry.name, outcome.verdict);
        }
    }
}
