//! What a free, tumbling, strongly deformed bar keeps: momenta over millions of steps, the energy
//! band, the way back, and what an early stop of the solver costs.

mod common;

use common::{
    body, each_integrator, energy, explicit_limit, flat, integrator, long, max_difference, model,
    momentum_drift, stiffness, tumbling,
};
use lilyan_dynamics::integrators::{Claims, find};
use lilyan_dynamics::{Integrator, State, System, Value};
use lilyan_solid::Model;
use lilyan_solid::materials::CATALOGUE;
use lilyan_solid::mesh::Mesh;
use lilyan_solid::meshing::box_mesh;
use lilyan_solve::newton::dot;

/// Not 2 × 0.5 × 0.5 m: there ∇N are powers of two, so that many products round alike, and the torque
/// of the rounding errors has a mean (4 % of its spread) that moves L by 1e-13 in a million steps.
fn mesh() -> Mesh {
    box_mesh([1.9, 0.47, 0.53], [4, 1, 1]).unwrap()
}

/// 24 tets, stretched by 15 %, tumbling about a centre of mass at rest; and 2/ω_max.
fn scene(material: &str) -> (Model, State, f64) {
    let model = model(body(mesh(), material));
    let state = tumbling(&model, &mesh(), 1.15);
    let limit = explicit_limit(&model, &flat(&mesh().vertices));
    (model, state, limit)
}

fn with(name: &str, given: &[(&str, Value)]) -> Box<dyn Integrator> {
    let given: Vec<_> = given.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    find(name).unwrap().create(&given).unwrap()
}

/// Momenta over two million explicit steps: ΔP/Σ|p| and ΔL/L at most 2e-13, compensated 5e-14. The short
/// form is held to the same level scaled by √N, the growth of rounding errors.
#[test]
fn momenta_survive_millions_of_explicit_steps() {
    let steps = if long() { 2_000_000 } else { 500_000 };
    for (compensated, full) in [(false, 2e-13), (true, 5e-14)] {
        let level = full * (steps as f64 / 2e6).sqrt();
        let (model, start, limit) = scene("stable-neo-hookean");
        let mut state = start.clone();
        let mut method = with("verlet", &[("compensated", Value::Flag(compensated))]);
        let (mut linear, mut angular) = (0f64, 0f64);
        for step in 1..=steps {
            method.step(&model, &mut state, 0.5 * limit).unwrap();
            if step % 500 == 0 {
                let drift = momentum_drift(&start, &state);
                (linear, angular) = (linear.max(drift.0), angular.max(drift.1));
            }
        }
        println!("{steps} steps, compensated {compensated}: ΔP {linear:.1e}, ΔL {angular:.1e}");
        assert!(linear <= level, "compensated {compensated}: linear momentum drifts by {linear:e}");
        assert!(angular <= level, "compensated {compensated}: angular momentum drifts by {angular:e}");
    }
}

/// H + h²(vᵀV″v/12 − ∇VᵀM⁻¹∇V/24): what Verlet keeps to fourth order.
fn shadow_energy(model: &Model, state: &State, h: f64) -> f64 {
    let n = state.q.len();
    let mut gradient = vec![0.0; n];
    model.gradient(state.t, &state.q, &mut gradient);
    let mut acceleration = vec![0.0; n];
    model.mass().solve(&vec![false; n], &gradient, &mut acceleration);
    let curvature = stiffness(model, &state.q).quadratic_form(&state.v);
    energy(model, state) + h * h * (curvature / 12.0 - dot(&gradient, &acceleration) / 24.0)
}

/// Energies over time, the first quarter (thermalisation) left out.
fn energies(material: &str, name: &str, h: f64, duration: f64, shadow: bool) -> Vec<f64> {
    let (model, mut state, _) = scene(material);
    let mut method = integrator(name, &[]);
    let steps = (duration / h).round() as usize;
    let mut series = Vec::new();
    for step in 0..steps {
        method.step(&model, &mut state, h).unwrap();
        if step >= steps / 4 && step % 2 == 0 {
            series.push(if shadow { shadow_energy(&model, &state, h) } else { energy(&model, &state) });
        }
    }
    series
}

fn mean(series: &[f64]) -> f64 {
    series.iter().sum::<f64>() / series.len() as f64
}

/// Root mean square deviation from the mean: a band that does not hang on its two extremes.
fn spread(series: &[f64]) -> f64 {
    let mean = mean(series);
    (series.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / series.len() as f64).sqrt()
}

/// Largest minus smallest.
fn band(series: &[f64]) -> f64 {
    series.iter().fold(f64::MIN, |m, e| m.max(*e)) - series.iter().fold(f64::MAX, |m, e| m.min(*e))
}

/// Change of the mean from the first to the second half, over the band.
fn drift_over_band(series: &[f64]) -> f64 {
    let (first, second) = series.split_at(series.len() / 2);
    (mean(second) - mean(first)).abs() / band(series)
}

/// Verlet's energy band shrinks as h² and that of its shadow energy as h⁴, over a time in which the
/// trajectories are still the same.
#[test]
fn energy_band_shrinks_with_the_order() {
    let (_, _, limit) = scene("stable-neo-hookean");
    for (shadow, expected, slack) in [(false, 4.0, 0.6), (true, 16.0, 3.0)] {
        let band = |share: f64| {
            spread(&energies("stable-neo-hookean", "verlet", share * limit, 300.0 * limit, shadow))
        };
        let bands = [band(0.2), band(0.1), band(0.05)];
        for pair in bands.windows(2) {
            let ratio = pair[0] / pair[1];
            println!("shadow {shadow}: ratio {ratio:.2}");
            assert!((ratio - expected).abs() <= slack, "shadow {shadow}: {ratio}");
        }
    }
}

/// After thermalisation the mean energy moves by at most 8 % of the band (0 to 4 % seen for nine
/// materials and two bars: energy still wanders between modes); the same rule convicts RK4 at 50 %.
#[test]
fn energy_does_not_drift() {
    for material in CATALOGUE {
        let name = material.card().name;
        let (_, _, limit) = scene(name);
        let drift =
            |method: &str| drift_over_band(&energies(name, method, 0.2 * limit, 10_000.0 * limit, false));
        let (verlet, control) = (drift("verlet"), drift("rk4"));
        println!("{name}: drift/band verlet {verlet:.4}, rk4 {control:.2}");
        assert!(verlet <= 0.08, "{name}: drifts by {verlet} of its band");
        assert!(control > 0.25, "{name}: RK4 passes with {control}");
    }
}

/// Running backwards retraces 10,000 steps of large deformation to 1e-10 of the length. Rounding errors
/// grow as e^{0.16 t/s} here: the motion is chaotic, and 65 s instead of 26 s come back to 1e-7 only.
#[test]
fn reversal_retraces_large_deformation() {
    let (model, start, limit) = scene("stable-neo-hookean");
    for compensated in [false, true] {
        let mut state = start.clone();
        for direction in 0..2 {
            let mut method = with("verlet", &[("compensated", Value::Flag(compensated))]);
            for _ in 0..10_000 {
                method.step(&model, &mut state, 0.1 * limit).unwrap();
            }
            if direction == 0 {
                for x in state.v.iter_mut().chain(&mut state.p) {
                    *x = -*x;
                }
            }
        }
        let error = max_difference(&state.q, &start.q) / model.length();
        println!("reversal: {error:.1e} L");
        assert!(error <= 1e-10, "reversal misses by {error:e} L");
    }
}

/// Stopping the solver early leaks at most 10 tol of angular momentum. The last Newton correction is
/// applied, so what is left is its square and of the form ∇W(x') − ∇W(x) − Kδ, which has hardly any torque:
/// the gain of 9–13 from carrying the residual on that is known for conjugate gradients stopped early is
/// not there to be had. It is at convergence, where only rounding is left.
#[test]
fn early_stop_leaks_little() {
    let (model, start, limit) = scene("stable-neo-hookean");
    let leak = |multiple: f64, tolerance: f64, reinject: bool| {
        let given = [("tolerance", Value::Number(tolerance)), ("reinject", Value::Flag(reinject))];
        let mut method = with("variational", &given);
        let (mut state, mut work, mut angular) = (start.clone(), 0, 0f64);
        for _ in 0..500 {
            work += method.step(&model, &mut state, multiple * limit).unwrap().newton_iterations;
            angular = angular.max(momentum_drift(&start, &state).1);
        }
        (angular, work)
    };
    for multiple in [0.5, 1.0] {
        for tolerance in [1e-1, 1e-2, 1e-3, 1e-4, 1e-6] {
            let (with, work) = leak(multiple, tolerance, true);
            let (without, _) = leak(multiple, tolerance, false);
            println!(
                "{multiple}×, tol {tolerance:.0e}: ΔL {with:.1e}, not carried on {without:.1e}, {work} iterations"
            );
            assert!(with <= 10.0 * tolerance && without <= 10.0 * tolerance);
            assert!(with <= 5.0 * without, "carrying the residual on costs {with:e}/{without:e}");
        }
    }
    let (with, without) = (leak(0.5, 1e-12, true).0, leak(0.5, 1e-12, false).0);
    println!("converged: ΔL {with:.1e}, not carried on {without:.1e}");
    assert!(5.0 * with <= without, "{with:e} with and {without:e} without the residual carried on");
}

/// Every integrator keeps the momenta it claims on a tumbling finite-element bar.
#[test]
fn momenta_are_kept_as_claimed() {
    let (model, start, limit) = scene("stable-neo-hookean");
    let keeps = |name: &str, make: &dyn Fn() -> Box<dyn Integrator>, claims: Claims| {
        let mut method = make();
        if method.refuses(&model).is_some() {
            return;
        }
        let mut state = start.clone();
        for _ in 0..200 {
            method.step(&model, &mut state, 0.1 * limit).unwrap();
        }
        let (linear, angular) = momentum_drift(&start, &state);
        println!("{name}: {linear:.1e} {angular:.1e}");
        if claims.linear_momentum {
            assert!(linear < 1e-13, "{name}: linear momentum drifts by {linear:e}");
        }
        if claims.angular_momentum {
            assert!(angular < 1e-12, "{name}: angular momentum drifts by {angular:e}");
        } else {
            assert!(angular > 1e-9, "{name} keeps angular momentum but does not claim it");
        }
    };
    // The default tolerance as well: what it leaves must not show.
    for tolerance in [1e-13, 1e-8] {
        each_integrator(tolerance, keeps);
    }
}
