//! Steps that are called stable for strongly deformed bodies are, with every implicit method.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_study::diagnose::explicit_limit;
use running::made;

fn bar(integrator: &str, step: f64, shape: &str) -> String {
    let model = match integrator {
        "corotational-reversible" => "co-rotational",
        "regularized" => "stvk",
        _ => "stable-neo-hookean",
    };
    format!(
        r#"
time = {{ end = 1000, step = {step:e} }}
integrator = "{integrator}"
[[body]]
mesh = {{ box = {{ size = [1, 0.25, 0.25], cells = [4, 1, 1], diagonals = "same" }} }}
material = {{ model = "{model}", E = 1e5, nu = 0.3, rho = 1000 }}
initial = {{ {shape}, angular_velocity = [0.3, 0.5, 1] }}
"#
    )
}

const STRETCHED: &str = "stretch = [1.5, 0.85, 0.85]";
const TWISTED: &str = "twist = { axis = [1, 0, 0], degrees = 150 }";

/// The largest energy in so many steps, relative to that of the start; infinite where a step fails.
fn growth(integrator: &str, step: f64, shape: &str, steps: u32) -> f64 {
    let mut simulation = made(&bar(integrator, step, shape), &[]).1.simulation;
    let start = simulation.total_energy();
    let mut largest = start;
    for _ in 0..steps {
        if simulation.advance().is_err() {
            return f64::INFINITY;
        }
        largest = largest.max(simulation.total_energy());
    }
    largest / start
}

#[test]
fn strongly_deformed_bars_do_not_gain_energy_up_to_the_limits() {
    let explicit = explicit_limit(&made(&bar("verlet", 1e-3, STRETCHED), &[]).1).unwrap();
    let mut measured = 0;
    for entry in CATALOGUE {
        let Some(limit) = entry.stable_deformed else { continue };
        // Steps far beyond the limit take many iterations.
        let tried: &[(f64, u32)] = match entry.name {
            "energy-momentum" => &[(3.0, 60), (10.0, 10)],
            _ if limit > 100.0 => &[(3.0, 60), (100.0, 30), (limit, 30)],
            _ => &[(0.5, 60), (1.0, 60), (limit, 60)],
        };
        for (multiple, steps) in tried {
            for shape in [STRETCHED, TWISTED] {
                let grown = growth(entry.name, multiple * explicit, shape, *steps);
                println!("{} at {multiple} limits, {shape}: {grown:.4}", entry.name);
                assert!(grown < 1.25, "{} at {multiple} explicit limits, {shape}: {grown}", entry.name);
            }
        }
        measured += 1;
    }
    assert!(measured > 12);
    // The measurement finds a method that does gain energy.
    assert!(growth("variational", 10.0 * explicit, TWISTED, 60) > 2.0);
}
