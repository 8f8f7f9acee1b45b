//! The second backward differentiation formula \[hairer1996\], for steps that change by the ratio
//! ω = h_k/h_{k−1}: y = (q, v) with
//!
//!   y_{k+1} = A y_k − B y_{k−1} + C h ẏ_{k+1},  A = (1+ω)²/(1+2ω), B = ω²/(1+2ω), C = (1+ω)/(1+2ω).
//!
//! The method is of second order and L-stable, with one solve per step. It damps numerically, but much less than backward
//! Euler. The first step is one of `tr-bdf2`. The method is stable for ratios below 1 + √2. After a halved step the
//! ratio is at most 2.

use super::backward_difference::{StageSolution, solve_backward_difference};
use super::tr_bdf2::TrBdf2;
use super::{Claims, Entry, LINEAR, LONGEST_TRIED, MAX_ITERATIONS, TOLERANCE};
use crate::StepError;
use crate::driver::{End, History, ImplicitIntegrator, Scheme, Step};
use crate::implicit::Method;

pub(super) const ENTRY: Entry = Entry {
    name: "bdf2",
    summary: "second order, L-stable, one solve per step; damps numerically",
    cite: "hairer1996",
    stable_deformed: Some(LONGEST_TRIED),
    options: &[TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[],
    build: |options| Box::new(ImplicitIntegrator::new(Bdf2, options, Method::Minimize)),
};

struct Bdf2;

impl Scheme for Bdf2 {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (state, h) = (step.state, step.h);
        let n = state.q.len();
        let mut end = match step.history {
            History::Start { h: before, q, p } => {
                let omega = h / before;
                let scale = 1.0 + 2.0 * omega;
                let (a, b) = ((1.0 + omega).powi(2) / scale, omega * omega / scale);
                let moved: Vec<f64> = (0..n).map(|i| b * (state.q[i] - q[i])).collect();
                let momentum: Vec<f64> = (0..n).map(|i| a * state.p[i] - b * p[i]).collect();
                let span = h * (1.0 + omega) / scale;
                let StageSolution { q, p, .. } =
                    solve_backward_difference(step, state.t + h, span, &moved, &momentum)?;
                End { q, p, history: History::None }
            }
            _ => TrBdf2.step(step)?,
        };
        // Impulses between steps make the past non-smooth. With them every step is a first one.
        if step.system.abilities().end_impulse.is_none() {
            end.history = History::Start { h, q: state.q.clone(), p: state.p.clone() };
        }
        Ok(end)
    }

    fn solves_for_end(&self) -> bool {
        true
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        TrBdf2.claims()
    }
}
