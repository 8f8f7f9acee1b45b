//! Backward Euler \[baraff1998\]: M(q_{k+1} − q_k − hv_k) + h²(∇W(q_{k+1}) − f(q_{k+1}, v_{k+1})) = 0,
//! v_{k+1} = (q_{k+1} − q_k)/h.
//!
//! First order and unconditionally stable, at the price of numerical damping: a mode of frequency ω
//! loses the share 1 − 1/(1 + h²ω²) of its energy in every step, and a rotating body spins down.

use super::{Claims, Entry, LINEAR, MAX_ITERATIONS, TOLERANCE};
use crate::StepError;
use crate::driver::{Driven, End, Scheme, Step};
use crate::implicit::{ForceRule, Method, Parts, PotentialRule};

pub(super) const ENTRY: Entry = Entry {
    name: "backward-euler",
    summary: "first order, very stable, damps numerically",
    cite: "baraff1998",
    options: &[TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[],
    build: |options| Box::new(Driven::new(BackwardEuler, options, Method::Minimize)),
};

struct BackwardEuler;

impl Scheme for BackwardEuler {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (state, h) = (step.state, step.h);
        let impulse: Vec<f64> = state.p.iter().map(|p| h * p).collect();
        let mut q = step.ballistic(1.0);
        step.solve(
            Parts {
                impulse: &impulse,
                weight: h * h,
                time: state.t + h,
                reach: 1.0,
                force_weight: h * h,
                forces: ForceRule::At { span: h, offset: &vec![0.0; q.len()] },
                potential: PotentialRule::Gradient,
            },
            &mut q,
        )?;
        let v: Vec<f64> = q.iter().zip(&state.q).map(|(q1, q0)| (q1 - q0) / h).collect();
        Ok(End { p: step.momentum(&v), q, history: Vec::new() })
    }

    fn keeps_constraints(&self) -> bool {
        true
    }

    fn takes_fits(&self) -> bool {
        true
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
}
