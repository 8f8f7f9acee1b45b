//! Backward Euler \[baraff1998\]: M(q_{k+1} − q_k − hv_k) + h²(∇W(q_{k+1}) − f(q_{k+1}, v_{k+1})) = 0,
//! v_{k+1} = (q_{k+1} − q_k)/h.
//!
//! First order and unconditionally stable, at the price of numerical damping: a mode of frequency ω
//! loses the share 1 − 1/(1 + h²ω²) of its energy in every step, and a rotating body spins down.

use super::{Claims, Entry, Integrator, MAX_ITERATIONS, TOLERANCE};
use crate::constraints::Holding;
use crate::implicit::{ForceRule, ImplicitStep, Method, Parts, PotentialRule, Solver};
use crate::options::Options;
use crate::step::Ends;
use crate::{Integrating, State, StepError, System};

pub(super) const ENTRY: Entry = Entry {
    name: "backward-euler",
    summary: "first order, very stable, damps numerically",
    cite: "baraff1998",
    options: &[TOLERANCE, MAX_ITERATIONS],
    variants: &[],
    build: |options| Box::new(BackwardEuler::new(options)),
};

struct BackwardEuler {
    solver: Solver,
    ends: Ends,
}

impl BackwardEuler {
    fn new(options: &Options) -> Self {
        Self { solver: Solver::new(options, Method::Minimize), ends: Ends::default() }
    }
}

impl Integrator for BackwardEuler {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let t1 = state.t + h;
        self.ends.prepare(system, state, h)?;
        let impulse: Vec<f64> = state.p.iter().map(|p| h * p).collect();
        let mut v = state.v.clone();
        self.ends.mean_velocity(&state.q, h, &mut v);
        let mut q1: Vec<f64> = state.q.iter().zip(&v).map(|(q, v)| q + h * v).collect();
        let step = ImplicitStep::new(
            system,
            state.t,
            h,
            &state.q,
            &self.ends.mask,
            Parts {
                impulse: &impulse,
                weight: h * h,
                time: t1,
                reach: 1.0,
                force_weight: h * h,
                forces: ForceRule::AtEnd,
                potential: PotentialRule::Gradient,
            },
        );
        let report = self.solver.solve(step.holding(&mut self.ends.holding), &mut q1)?;
        for i in 0..v.len() {
            v[i] = (q1[i] - state.q[i]) / h;
        }
        let mut p1 = vec![0.0; v.len()];
        system.mass().mul(&v, &mut p1);
        self.ends.finish(system, state, h, &mut q1, &mut p1)?;
        Ok(report.into())
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 1,
            damped_order: 1,
            explicit: false,
            symplectic: false,
            reversible: false,
            linear_momentum: true,
            angular_momentum: false,
            energy: false,
        }
    }

    fn holding(&self) -> Option<&Holding> {
        Some(&self.ends.holding)
    }

    fn reset(&mut self) {
        self.solver.kept.reset();
    }

    fn memory(&self) -> Vec<f64> {
        self.solver.kept.memory()
    }

    fn remember(&mut self, memory: &[f64]) {
        self.solver.kept.remember(memory);
    }
}
