//! Large steps: what the energy–momentum step keeps at twenty times the explicit limit, and up to
//! where the midpoint rule may be trusted on the same bar.

mod common;

use common::{body, explicit_limit, flat, integrator, long, model, momentum_drift, tumbling};
use lilyan_dynamics::{Simulation, State};
use lilyan_solid::Model;
use lilyan_solid::damping::{Damping, Viscous};
use lilyan_solid::elements::Tets;
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::potentials::Tether;
use std::sync::Arc;

/// 144 tets, stretched by 15 % and tumbling; the step is `multiple` times 2/ω_max of the rest shape.
fn scene(damping: Option<Arc<dyn Damping>>, name: &str, multiple: f64) -> Simulation<Model> {
    let mesh = box_mesh([2.0, 0.5, 0.5], [6, 2, 2]).unwrap();
    let mut body = body(mesh.clone(), "neo-hookean");
    body.damping.extend(damping);
    let model = model(body);
    let limit = explicit_limit(&model, &flat(&mesh.vertices));
    let state = tumbling(&model, &mesh, 1.15);
    Simulation::new(model, integrator(name, &[]), state, multiple * limit)
}

/// Energy and both momenta are kept at 20 times the explicit limit, and no step has to be halved.
#[test]
fn energy_and_momenta_at_twenty_times_the_explicit_limit() {
    let mut simulation = scene(None, "energy-momentum", 20.0);
    let start = simulation.state().clone();
    let steps = if long() { 10_000 } else { 500 };
    let (mut energy, mut linear, mut angular) = (0f64, 0f64, 0f64);
    for step in 0..steps {
        let record = simulation.advance().unwrap();
        assert_eq!(record.substeps, 1, "step {step} was halved");
        let ratio = simulation.total_energy() / simulation.ledger().initial;
        energy = energy.max((ratio - 1.0).abs());
        let drift = momentum_drift(&start, simulation.state());
        (linear, angular) = (linear.max(drift.0), angular.max(drift.1));
    }
    println!("{steps} steps: ΔE {energy:.1e}, ΔP {linear:.1e}, ΔL {angular:.1e}");
    assert!(energy < 1e-9, "energy drifts by {energy:e}");
    assert!(linear < 1e-13, "linear momentum drifts by {linear:e}");
    assert!(angular < 1e-10, "angular momentum drifts by {angular:e}");
}

/// A corner is pulled right through a block until elements turn inside out, and let go: where the material survives that,
/// so does the step, and the energy is kept all along.
#[test]
fn inversion_is_survived_with_the_energy_kept() {
    let mesh = box_mesh([1.0; 3], [3, 3, 3]).unwrap();
    let rest = flat(&mesh.vertices);
    let model = model(body(mesh, "stable-neo-hookean"));
    let state = State::new(&model, rest.clone(), vec![0.0; rest.len()]);
    let mut simulation = Simulation::new(model, integrator("energy-momentum", &[]), state, 0.01);
    simulation.change_loads(|system| system.pull(Some(Tether { ends: vec![(0, 2e5, [0.8, 0.7, 0.9])] })));
    let pulled = simulation.total_energy();
    let mut inverted = None;
    for step in 0..100 {
        let before = simulation.total_energy();
        simulation.advance().unwrap_or_else(|e| panic!("step {step}: {e}"));
        let change = simulation.total_energy() - before;
        assert!(change.abs() < 1e-8 * pulled, "step {step}: energy changes by {:e}", change / pulled);
        let tets = simulation.system().bodies()[0].find::<Tets>().unwrap();
        let volumes = (0..tets.len()).map(|e| tets.gradient_of(e, &simulation.state().q).det());
        if inverted.is_none() && volumes.fold(f64::INFINITY, f64::min) < -0.01 {
            inverted = Some(step);
            simulation.change_loads(|system| system.pull(None));
        }
        if inverted.is_some_and(|first| step > first + 5) {
            return;
        }
    }
    panic!("no element turned inside out");
}

/// With viscosity the budget closes: what is gone is what was dissipated, step by step.
#[test]
fn viscous_budget_closes() {
    for multiple in [2.0, 20.0] {
        let damping = Arc::new(Viscous { time: 2e-3 });
        let mut simulation = scene(Some(damping), "energy-momentum", multiple);
        let initial = simulation.ledger().initial;
        let mut before = 0.0;
        for _ in 0..300 {
            assert_eq!(simulation.advance().unwrap().substeps, 1);
            let dissipated = simulation.ledger().dissipated_physical;
            assert!(dissipated >= before - 1e-12 * initial, "viscosity gives energy");
            before = dissipated;
            let open = simulation.ledger().dissipated_numerical(simulation.total_energy());
            assert!(open.abs() < 1e-9 * initial, "budget open by {:e}", open / initial);
        }
        assert!(before > 0.01 * initial, "nothing was dissipated at {multiple}×");
    }
}

/// Largest |E/E₀ − 1| of the midpoint rule over 1500 steps, +∞ once a step had to be halved or failed.
fn midpoint_band(multiple: f64, enough: f64) -> f64 {
    let mut simulation = scene(None, "variational", multiple);
    let mut band = 0f64;
    for _ in 0..1500 {
        if !simulation.advance().is_ok_and(|record| record.substeps == 1) {
            return f64::INFINITY;
        }
        band = band.max((simulation.total_energy() / simulation.ledger().initial - 1.0).abs());
        if band > enough {
            break;
        }
    }
    band
}

/// The midpoint rule is symplectic but not energy-stable: on this bar its energy stays within 2 % up to
/// 1.2 times the explicit limit, strays by 6 % at 2 times, and runs away soon after. The warning about
/// large steps rests on this number.
#[test]
fn midpoint_keeps_its_energy_band_up_to_the_documented_step() {
    let mut good = 0.0;
    for multiple in [0.5, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0] {
        let band = midpoint_band(multiple, 0.02);
        println!("{multiple:5} × 2/ω_max: band {band:.2e}");
        if band > 0.02 {
            break;
        }
        good = multiple;
    }
    assert!((1.0..=1.5).contains(&good), "good up to {good} × 2/ω_max");
    for multiple in [3.0, 20.0] {
        let band = midpoint_band(multiple, 0.2);
        assert!(band > 0.2, "at {multiple}× the midpoint rule strays by {band:e} only");
    }
}
