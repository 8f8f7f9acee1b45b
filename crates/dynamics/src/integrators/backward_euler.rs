//! Backward Euler \[baraff1998\]: M(q_{k+1} − q_k − hv_k) + h²(∇W(q_{k+1}) − f(q_{k+1}, v_{k+1})) = 0,
//! v_{k+1} = (q_{k+1} − q_k)/h.
//!
//! The method is of first order and unconditionally stable, but damps numerically. A mode of frequency ω loses the
//! fraction 1 − 1/(1 + h²ω²) of its energy in every step, and the rotation of a body slows down.

use super::{Claims, Entry, LINEAR, LONGEST_TRIED, MAX_ITERATIONS, SOLVE, TOLERANCE};
use crate::StepError;
use crate::driver::{End, History, ImplicitIntegrator, Scheme, Step};
use crate::implicit::{ForceRule, Method, PotentialRule, StepEquation};

pub(super) const ENTRY: Entry = Entry {
    name: "backward-euler",
    summary: "first order, very stable, damps numerically",
    cite: "baraff1998",
    stable_deformed: Some(LONGEST_TRIED),
    options: &[SOLVE, TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[],
    build: |options| Box::new(ImplicitIntegrator::new(BackwardEuler, options, Method::chosen(options))),
};

struct BackwardEuler;

impl Scheme for BackwardEuler {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (state, h) = (step.state, step.h);
        let impulse: Vec<f64> = state.p.iter().map(|p| h * p).collect();
        let mut q = step.ballistic(1.0);
        step.solve(
            StepEquation {
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
        Ok(End { p: step.momentum(&v), q, history: History::None })
    }

    fn keeps_constraints(&self) -> bool {
        true
    }

    fn solves_for_end(&self) -> bool {
        true
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        Claims::of_order(1)
    }
}
