//! Stepping, for tests.
#![allow(dead_code, unused_macros)] // each test file uses its share

use lilyan_dynamics::integrators::{StepLength, find};
use lilyan_dynamics::{Integrator, State, System, Value};

/// An integrator with those options.
pub fn make(name: &str, options: &[(&str, Value)]) -> Box<dyn Integrator> {
    let given: Vec<(String, Value)> = options.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    find(name).unwrap().create(&given).unwrap()
}

/// n steps; adaptive methods take theirs.
pub fn run(system: &dyn System, integrator: &mut dyn Integrator, state: &State, h: f64, n: usize) -> State {
    let mut state = state.clone();
    for _ in 0..n {
        integrator.step(system, &mut state, h).unwrap();
    }
    state
}

/// To the time `end` in steps of h; methods with their own pace get there by a last midpoint step.
pub fn arrive(
    system: &dyn System,
    integrator: &mut dyn Integrator,
    state: &State,
    h: f64,
    end: f64,
) -> State {
    if integrator.step_length() == StepLength::Fixed {
        return run(system, integrator, state, h, (end / h).round() as usize);
    }
    let mut state = state.clone();
    while end - state.t > 1e-12 {
        let mut next = state.clone();
        let whole = (state.t / h + 1e-9).floor() * h + h;
        let step = if integrator.step_length() == StepLength::AtMost { whole - state.t } else { h };
        integrator.step(system, &mut next, step).unwrap();
        if next.t > end + 1e-12 {
            let rest = end - state.t;
            let mut last = make("variational", &[("tolerance", Value::Number(1e-13))]);
            last.step(system, &mut state, rest).unwrap();
        } else {
            state = next;
        }
    }
    state
}

/// The methods of a decorator of a system that changes only abilities: all others are those of the system in a field.
#[macro_export]
macro_rules! forward_system {
    ($field:tt) => {
        fn space(&self) -> &lilyan_dynamics::ConfigurationSpace {
            self.$field.space()
        }
        fn energy(&self, t: f64, q: &[f64]) -> f64 {
            self.$field.energy(t, q)
        }
        fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
            self.$field.gradient(t, q, g);
        }
        fn hessian(
            &self,
            t: f64,
            q: &[f64],
            curvature: lilyan_dynamics::Curvature,
            h: &mut lilyan_solve::BlockMatrix,
        ) {
            self.$field.hessian(t, q, curvature, h);
        }
        fn energy_parts(&self, t: f64, q: &[f64]) -> lilyan_dynamics::EnergyParts {
            self.$field.energy_parts(t, q)
        }
    };
}
