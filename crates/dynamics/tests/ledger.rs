//! Changes by hand: the ledger of energy closes, and every integrator goes on as a new one would.

mod common;

use lilyan_dynamics::integrators::{CATALOGUE, StepLength};
use lilyan_dynamics::systems::{Particles, Spring};
use lilyan_dynamics::{
    Abilities, ConfigurationSpace, EnergyParts, Integrator, Simulation, State, System, Value,
};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::atomic::{AtomicUsize, Ordering};

const STEP: f64 = 0.01;

/// Three particles on three springs.
fn triangle(stiffness: f64, damping: f64, mass: f64) -> Particles {
    let spring = |a, b| Spring { ends: [a, b], stiffness, length: 1.0, damping };
    Particles::new(&[mass, 2.0, 1.5], vec![spring(0, 1), spring(1, 2), spring(2, 0)], 1.0)
}

/// The triangle, stretched and turning.
fn turning(stiffness: f64, damping: f64, integrator: Box<dyn Integrator>) -> Simulation<Particles> {
    let system = triangle(stiffness, damping, 1.0);
    let q = vec![0.0, 0.0, 0.0, 1.1, 0.0, 0.1, 0.5, 0.9, 0.0];
    let v = vec![0.0, 0.3, 0.0, 0.2, -0.1, 0.0, -0.4, 0.0, 0.1];
    let state = State::new(&system, q, v);
    Simulation::new(system, integrator, state, STEP)
}

/// Energy that nothing accounts for, J.
fn unaccounted(simulation: &Simulation<Particles>) -> f64 {
    simulation.ledger().dissipated_numerical(simulation.total_energy())
}

/// Every integrator with its defaults and its variants.
fn each(mut check: impl FnMut(&str, &dyn Fn() -> Box<dyn Integrator>)) {
    for entry in CATALOGUE {
        for given in entry.all_variants() {
            let name = format!("{} {given:?}", entry.name);
            check(&name, &|| entry.create(&given).unwrap());
        }
    }
}

fn advance(simulation: &mut Simulation<Particles>, steps: usize) {
    for _ in 0..steps {
        simulation.advance().unwrap();
    }
}

/// After a change by hand the integrator steps to the bit as a new one does.
fn goes_on_as_new(name: &str, changed: Simulation<Particles>, mut new: Box<dyn Integrator>) {
    let (system, mut old, mut state) = changed.into_parts();
    let mut fresh = state.clone();
    for _ in 0..3 {
        old.step(&system, &mut state, STEP).unwrap();
        new.step(&system, &mut fresh, STEP).unwrap();
        assert_eq!(state, fresh, "{name}");
    }
}

/// The work of damping is that of the method's own quadrature, so that the budget closes as fast as the method converges.
#[test]
fn methods_of_high_order_account_for_damping_at_their_order() {
    for (points, order, level) in [("gauss", 4.0, 1e-6), ("gauss", 8.0, 1e-12), ("lobatto", 8.0, 1e-11)] {
        let given = [
            ("order", Value::Number(order)),
            ("points", Value::Word(points.into())),
            ("tolerance", Value::Number(1e-13)),
        ];
        let mut simulation = turning(40.0, 0.6, common::make("galerkin", &given));
        let start = simulation.total_energy();
        advance(&mut simulation, 200);
        let (lost, dissipated) = (unaccounted(&simulation), simulation.ledger().dissipated_physical);
        assert!(dissipated > 0.05 * start, "{dissipated} of {start}");
        assert!(lost.abs() < level * dissipated, "{points} {order}: {:e}", lost / dissipated);
    }
}

#[test]
fn a_state_replaced_by_hand_is_external_work() {
    each(|name, make| {
        let mut simulation = turning(200.0, 0.0, make());
        advance(&mut simulation, 5);
        let (open, work, energy) =
            (unaccounted(&simulation), simulation.ledger().work_external, simulation.total_energy());
        let mut state = simulation.state().clone();
        state.v.iter_mut().for_each(|v| *v *= 2.0);
        state.q[0] -= 0.1;
        state.update_momenta(simulation.system());
        simulation.replace_state(state.clone());
        assert_eq!(*simulation.state(), state, "{name}");
        let added = simulation.ledger().work_external - work;
        assert!(added > 0.1, "{name}: {added} J");
        assert!((added - (simulation.total_energy() - energy)).abs() < 1e-12, "{name}");
        assert!((unaccounted(&simulation) - open).abs() < 1e-12, "{name}");
        goes_on_as_new(name, simulation, make());
    });
}

#[test]
fn a_material_made_stiffer_is_external_work() {
    each(|name, make| {
        let mut simulation = turning(200.0, 0.5, make());
        advance(&mut simulation, 5);
        let open = unaccounted(&simulation);
        let (kinetic, parts) = simulation.energies();
        simulation.change_system(|system| *system = triangle(800.0, 0.5, 1.0));
        let (kinetic_after, stiffer) = simulation.energies();
        assert_eq!(kinetic, kinetic_after, "{name}");
        assert!((stiffer.total() / parts.total() - 4.0).abs() < 1e-12, "{name}: {stiffer:?} after {parts:?}");
        assert!((unaccounted(&simulation) - open).abs() < 1e-12, "{name}");
        goes_on_as_new(name, simulation, make());
    });
}

#[test]
fn another_mass_keeps_the_velocity() {
    let mut simulation = turning(200.0, 0.0, common::make("energy-momentum", &[]));
    advance(&mut simulation, 5);
    let (v, open) = (simulation.state().v.clone(), unaccounted(&simulation));
    simulation.change_system(|system| *system = triangle(200.0, 0.0, 5.0));
    assert_eq!(simulation.state().v, v);
    assert_eq!(simulation.state().p[0], 5.0 * v[0]);
    assert!((unaccounted(&simulation) - open).abs() < 1e-12);
}

/// With the method that keeps energy, all changes together leave nothing unaccounted for, damping included.
#[test]
fn the_ledger_closes_over_all_changes() {
    let mut simulation = turning(200.0, 0.5, common::make("energy-momentum", &[]));
    let initial = simulation.ledger().initial;
    advance(&mut simulation, 20);
    simulation.change_system(|system| *system = triangle(800.0, 0.5, 1.0));
    advance(&mut simulation, 20);
    simulation.set_step(0.25 * STEP);
    advance(&mut simulation, 40);
    let mut state = simulation.state().clone();
    state.q.iter_mut().for_each(|q| *q *= 1.05);
    simulation.replace_state(state);
    advance(&mut simulation, 20);
    simulation.set_integrator(common::make("energy-momentum", &[]));
    advance(&mut simulation, 20);
    assert!(simulation.ledger().dissipated_physical > 0.01 * initial);
    assert!(unaccounted(&simulation).abs() < 1e-8 * initial, "{:e} J", unaccounted(&simulation));
}

/// The count of steps goes on, times are multiples of the new step from where it began.
#[test]
fn another_step_continues_in_time() {
    each(|name, make| {
        let mut simulation = turning(200.0, 0.0, make());
        advance(&mut simulation, 4);
        let open = unaccounted(&simulation);
        simulation.set_step(0.5 * STEP);
        assert_eq!((simulation.step(), simulation.index()), (0.5 * STEP, 4), "{name}");
        assert_eq!(unaccounted(&simulation), open, "{name}");
        advance(&mut simulation, 6);
        assert_eq!(simulation.index(), 10, "{name}");
        let t = 4.0 * STEP + 6.0 * (0.5 * STEP);
        match simulation.integrator().step_length() {
            StepLength::Adaptive => assert!(simulation.state().t > t - 1e-9, "{name}"),
            _ => assert_eq!(simulation.state().t, t, "{name}"),
        }
    });
}

/// A method that steps at its own pace hands over in between two nominal times.
#[test]
fn another_integrator_continues_where_the_last_one_stopped() {
    let mut simulation = turning(200.0, 0.0, common::make("adaptive-reversible", &[]));
    advance(&mut simulation, 4);
    let t = simulation.state().t;
    assert_ne!(t, 4.0 * STEP);
    simulation.set_integrator(common::make("verlet", &[]));
    advance(&mut simulation, 1);
    assert_eq!(simulation.state().t, t + STEP);
}

/// A checkpoint keeps what was changed.
#[test]
fn a_checkpoint_after_another_step_repeats_the_bits() {
    each(|name, make| {
        let mut simulation = turning(200.0, 0.5, make());
        advance(&mut simulation, 3);
        simulation.set_step(0.3 * STEP);
        advance(&mut simulation, 3);
        let saved = simulation.checkpoint();
        let mut other = turning(200.0, 0.5, make());
        other.restore(&saved).unwrap();
        advance(&mut simulation, 3);
        advance(&mut other, 3);
        assert_eq!(simulation.checkpoint(), other.checkpoint(), "{name}");
    });
}

/// A free particle that counts how often its energy is asked for.
struct Counted {
    space: ConfigurationSpace,
    asked: AtomicUsize,
}

impl System for Counted {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
    }
    fn energy(&self, _: f64, _: &[f64]) -> f64 {
        0.0
    }
    fn gradient(&self, _: f64, _: &[f64], g: &mut [f64]) {
        g.fill(0.0);
    }
    fn hessian(&self, _: f64, _: &[f64], _: Curvature, _: &mut BlockMatrix) {}
    fn energy_parts(&self, _: f64, _: &[f64]) -> EnergyParts {
        self.asked.fetch_add(1, Ordering::Relaxed);
        EnergyParts::default()
    }
    fn abilities(&self) -> Abilities<'_> {
        Abilities::NONE
    }
}

#[test]
fn energies_are_evaluated_once_per_state() {
    let system = Counted { space: ConfigurationSpace::single_node(1.0), asked: AtomicUsize::new(0) };
    let state = State::new(&system, vec![0.0; 3], vec![1.0; 3]);
    let mut simulation = Simulation::new(system, common::make("verlet", &[]), state, STEP);
    let ask = |simulation: &Simulation<Counted>| {
        let before = simulation.system().asked.load(Ordering::Relaxed);
        let energies = [0; 4].map(|_| simulation.energies());
        assert!(energies.iter().all(|e| *e == energies[0]));
        simulation.system().asked.load(Ordering::Relaxed) - before
    };
    assert_eq!(ask(&simulation), 0, "the ledger asked already");
    simulation.advance().unwrap();
    assert_eq!(ask(&simulation), 1);
    let saved = simulation.checkpoint();
    simulation.restore(&saved).unwrap();
    assert_eq!(ask(&simulation), 1);
}
