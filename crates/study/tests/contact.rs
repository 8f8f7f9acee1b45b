//! Contact by the barrier, from the scene to the files.

#[path = "common/running.rs"]
mod running;

use lilyan_report::Level;
use running::{folder, made, run_until};

const TABLE: &str = r#"
[[contact]]
kind = "mesh"
model = "barrier"
mesh = { box = { size = [1, 0.1, 1], cells = [2, 1, 2] }, translate = [-0.41, -0.1, -0.37] }
"#;

/// A box that falls onto what is given, which ends at y = 0.
fn dropped(integrator: &str, step: f64, below: &str) -> String {
    format!(
        r#"
time = {{ end = 0.4, step = {step} }}
integrator = {{ name = "{integrator}" }}
environment = {{ gravity = [0, -9.81, 0] }}
[[body]]
name = "box"
mesh = {{ box = {{ size = [0.2, 0.2, 0.2], cells = [2, 2, 2] }}, translate = [0, 0.1, 0], rotate = {{ axis = [1, 0, 2], degrees = 20 }} }}
material = {{ model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }}
{below}
[output]
every = 0.1
replay = false
"#
    )
}

/// The least height (m) of the first 27 nodes, which are those of the falling box, at the end of a run that passes.
fn run_and_find_lowest(name: &str, text: &str, unaccounted: f64) -> f64 {
    let (scene, built) = made(text, &[]);
    let outcome = run_until(&scene, built, &folder(name), false, None);
    let energy = &outcome.summary.energy;
    assert!(energy.unaccounted_max <= unaccounted * energy.in_play, "{name}: {energy:?}");
    // Backward Euler takes energy from an impact, which is reported.
    assert!(unaccounted == 1.0 || outcome.verdict.level == Level::Pass, "{name}: {:?}", outcome.verdict);
    // The run is the same to the bit: the state at the end is that of another one.
    let (_, mut built) = made(text, &[]);
    let end = scene.time.end;
    let mut lowest = f64::INFINITY;
    while built.simulation.state().t < end - 1e-9 {
        built.simulation.advance().unwrap_or_else(|e| panic!("{name}: {e}"));
        let q = &built.simulation.state().q[..81];
        lowest = lowest.min(q.chunks_exact(3).fold(f64::INFINITY, |m, x| m.min(x[1])));
    }
    lowest
}

/// A table keeps the box above it: it falls by its gap and not further, at any step and with any method.
#[test]
fn a_box_falls_onto_a_mesh() {
    for (integrator, step, unaccounted) in [("backward-euler", 5e-3, 1.0), ("energy-momentum", 4e-3, 1e-8)] {
        let lowest = run_and_find_lowest(
            &format!("on-a-mesh-{integrator}"),
            &dropped(integrator, step, TABLE),
            unaccounted,
        );
        assert!(lowest > 0.0 && lowest < 2e-4, "{integrator}: {lowest}");
    }
}

#[test]
fn a_box_falls_onto_another_box() {
    let other = r#"
[[body]]
name = "lower"
mesh = { box = { size = [0.3, 0.1, 0.3], cells = [3, 1, 3] }, translate = [-0.05, -0.1, -0.05] }
material = { model = "neo-hookean", E = 1e6, nu = 0.3, rho = 1000 }
[[contact]]
kind = "bodies"
model = "barrier"
[[contact]]
kind = "plane"
model = "barrier"
point = [0, -0.101, 0]
normal = [0, 1, 0]
"#;
    for (integrator, step, unaccounted) in [("backward-euler", 5e-3, 1.0), ("energy-momentum", 4e-3, 1e-8)] {
        let lowest = run_and_find_lowest(
            &format!("on-a-box-{integrator}"),
            &dropped(integrator, step, other),
            unaccounted,
        );
        assert!(lowest > -0.03 && lowest < 0.03, "{integrator}: {lowest}");
    }
}
