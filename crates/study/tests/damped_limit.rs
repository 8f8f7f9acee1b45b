//! The forecast of stable explicit steps knows damping: 5 % below it a run is stable, 5 % above it is not.

#[path = "common/running.rs"]
mod running;

use lilyan_study::diagnose::{StiffestMode, stable_steps};
use lilyan_study::run::Status;
use running::{folder, made, run_until};

fn scene(integrator: &str, damping: &str, step: f64, steps: f64) -> String {
    format!(
        r#"
time = {{ end = {end:e}, step = {step:e} }}
integrator = "{integrator}"
[[body]]
mesh = {{ box = {{ size = [1, 0.25, 0.25], cells = [4, 1, 1] }} }}
material = {{ model = "linear", E = 1e6, nu = 0.3, rho = 1000 }}
damping = {damping}
initial = {{ stretch = [1.001, 1, 1] }}
[[pin]]
where = {{ box = {{ min = [-1, -1, -1], max = [0.001, 1, 1] }} }}
[output]
replay = false
"#,
        end = steps * step,
    )
}

#[test]
fn damped_explicit_limits_are_sharp() {
    let models = [
        "\"none\"",
        "{ model = \"rayleigh\", beta = 1e-3 }",
        "{ model = \"rayleigh\", beta = 2e-5 }",
        "{ model = \"viscous\", time = 1e-3 }",
        "{ model = \"rayleigh\", alpha = 5.0, beta = 1e-4 }",
    ];
    for (k, damping) in models.into_iter().enumerate() {
        let (_, built) = made(&scene("verlet", damping, 1e-5, 1.0), &[]);
        let mode = StiffestMode::of(&built).unwrap();
        for (integrator, limit) in stable_steps(mode) {
            let Some(limit) = limit else { continue };
            let ends = [0.95, 1.05].map(|factor| {
                // Beyond its limit, explicit Euler grows by the small difference of two rates.
                let steps = if integrator == "explicit-euler" { 80_000.0 } else { 2000.0 };
                let (scene, built) = made(&scene(integrator, damping, factor * limit, steps), &[]);
                let at = folder(&format!("limit-{integrator}-{k}-{factor}"));
                matches!(run_until(&scene, built, &at, false, None).status, Status::Finished)
            });
            println!("{integrator} {damping}: {limit:.3e} s: {ends:?}");
            assert_eq!(ends, [true, false], "{integrator}, {damping}: {limit:e} s");
        }
    }
}
