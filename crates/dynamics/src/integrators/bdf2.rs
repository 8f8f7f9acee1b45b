//! The second backward differentiation formula \[hairer1996\], for steps that change by the ratio
//! ω = h_k/h_{k−1}: y = (q, v) with
//!
//!   y_{k+1} = A y_k − B y_{k−1} + C h ẏ_{k+1},  A = (1+ω)²/(1+2ω), B = ω²/(1+2ω), C = (1+ω)/(1+2ω).
//!
//! Second order, L-stable, one solve per step; damps numerically, but much less than backward Euler. The
//! first step is one of `tr-bdf2`. Stable at ratios below 1 + √2; where a step was halved and goes on
//! at full length, the ratio is at most 2.

use super::tr_bdf2::TrBdf2;
use super::{Claims, Entry, LINEAR, MAX_ITERATIONS, TOLERANCE};
use crate::StepError;
use crate::driver::{Driven, End, Scheme, Stage, Step};
use crate::implicit::Method;

pub(super) const ENTRY: Entry = Entry {
    name: "bdf2",
    summary: "second order, L-stable, one solve per step; damps numerically",
    cite: "hairer1996",
    options: &[TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[],
    build: |options| Box::new(Driven::new(Bdf2, options, Method::Minimize)),
};

struct Bdf2;

/// Solves y = past + `span`·ẏ at `time` for y = (q, v), where past is (q₀ + `moved`, M⁻¹`momentum`).
pub(super) fn difference(
    step: &mut Step<'_>,
    time: f64,
    span: f64,
    moved: &[f64],
    momentum: &[f64],
) -> Result<Found, StepError> {
    let inertia = step.momentum(moved);
    let (q, v) = step.stage(Stage {
        time,
        impulse: inertia.iter().zip(momentum).map(|(m, p)| m + span * p).collect(),
        weight: span * span,
        span,
        offset: moved.iter().map(|d| -d / span).collect(),
        reach: 1.0,
    })?;
    let force = step.force(time, &q, &v);
    // Not from v: then Σp is kept to round-off.
    let p = momentum.iter().zip(&force).map(|(p, f)| p + span * f).collect();
    Ok(Found { q, v, p, force })
}

/// A point that was solved for.
pub(super) struct Found {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub p: Vec<f64>,
    pub force: Vec<f64>,
}

impl Scheme for Bdf2 {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (state, h) = (step.state, step.h);
        let n = state.q.len();
        let mut end = match step.history {
            [before, past @ ..] => {
                let (omega, (q, p)) = (h / before, past.split_at(n));
                let scale = 1.0 + 2.0 * omega;
                let (a, b) = ((1.0 + omega).powi(2) / scale, omega * omega / scale);
                let moved: Vec<f64> = (0..n).map(|i| b * (state.q[i] - q[i])).collect();
                let momentum: Vec<f64> = (0..n).map(|i| a * state.p[i] - b * p[i]).collect();
                let span = h * (1.0 + omega) / scale;
                let Found { q, p, .. } = difference(step, state.t + h, span, &moved, &momentum)?;
                End { q, p, history: Vec::new() }
            }
            [] => TrBdf2.step(step)?,
        };
        // Kicks between steps are no part of a smooth past: with them every step is a first one.
        if !step.system.has_impulse() {
            end.history = [&[h], &state.q[..], &state.p[..]].concat();
        }
        Ok(end)
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        TrBdf2.claims()
    }
}
