//! TR-BDF2 \[bank1985\]: the trapezoidal rule over γh, then the second backward differentiation formula
//! through both points, on y = (q, v):
//!
//!   y_γ = y_k + ½γh(ẏ_k + ẏ_γ),  y_{k+1} = (y_γ − (1−γ)²y_k)/(γ(2−γ)) + (1−γ)/(2−γ) h ẏ_{k+1},  γ = 2 − √2.
//!
//! A one-step method of second order, L-stable, with two solves that have the same weights of mass and stiffness.

use super::backward_difference::{StageSolution, solve_backward_difference};
use super::{Claims, Entry, LINEAR, LONGEST_TRIED, MAX_ITERATIONS, TOLERANCE};
use crate::StepError;
use crate::driver::{End, History, ImplicitIntegrator, Scheme, Stage, Step};
use crate::implicit::Method;

pub(super) const ENTRY: Entry = Entry {
    name: "tr-bdf2",
    summary: "second order, L-stable, two solves per step; damps high frequencies",
    cite: "bank1985",
    stable_deformed: Some(LONGEST_TRIED),
    options: &[TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[],
    build: |options| Box::new(ImplicitIntegrator::new(TrBdf2, options, Method::Minimize)),
};

pub(super) struct TrBdf2;

impl TrBdf2 {
    /// The force at the start, the solution of the first stage, and that of the second.
    pub(super) fn stages(step: &mut Step<'_>) -> Result<(Vec<f64>, StageSolution, StageSolution), StepError> {
        let (state, h) = (step.state, step.h);
        let gamma = 2.0 - 2f64.sqrt();
        let (n, span, time) = (state.q.len(), 0.5 * gamma * h, state.t + gamma * h);
        let start = step.start_force()?;
        let (q, v) = step.stage(Stage {
            time,
            impulse: (0..n).map(|i| 2.0 * span * state.p[i] + span * span * start[i]).collect(),
            weight: span * span,
            span,
            offset: state.v.iter().map(|v| -v).collect(),
            reach: 1.0,
        })?;
        let force = step.force(time, &q, &v);
        let p: Vec<f64> = (0..n).map(|i| state.p[i] + span * (start[i] + force[i])).collect();
        let scale = 1.0 / (gamma * (2.0 - gamma));
        let (a, b) = (scale, scale * (1.0 - gamma).powi(2));
        let moved: Vec<f64> = (0..n).map(|i| a * (q[i] - state.q[i])).collect();
        let momentum: Vec<f64> = (0..n).map(|i| a * p[i] - b * state.p[i]).collect();
        let end = solve_backward_difference(step, state.t + h, span, &moved, &momentum)?;
        Ok((start, StageSolution { q, v, p, force }, end))
    }
}

impl Scheme for TrBdf2 {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (_, _, StageSolution { q, p, .. }) = Self::stages(step)?;
        Ok(End { q, p, history: History::None })
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        Claims::of_order(2)
    }
}
