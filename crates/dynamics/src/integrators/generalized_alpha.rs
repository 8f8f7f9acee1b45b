//! The generalised-α method \[chung1993\]: Newmark's formulas for q_{k+1}, v_{k+1} from accelerations a, and
//!
//!   M((1−α_m)a_{k+1} + α_m a_k) = F(t_f, q_f, v_f),  q_f = (1−α_f)q_{k+1} + α_f q_k, v_f and t_f likewise,
//!
//! α_m = (2ρ∞−1)/(ρ∞+1), α_f = ρ∞/(ρ∞+1), γ = ½−α_m+α_f, β = ¼(1−α_m+α_f)². The method is of second
//! order. The highest frequencies lose the fraction 1 − ρ∞ of their amplitude in every step, low ones almost nothing. Ma
//! is stored from step to step. The first step is one of `tr-bdf2`: the acceleration of a start that is not smooth (a pin that
//! starts with a velocity, stiff damping) would go on as an oscillation of size h²a. So is every step of another length than
//! the one before: a_k is the acceleration at t_k + (α_m−α_f)h, to which that of `tr-bdf2` is extrapolated. The a_k of the step
//! before could be scaled by the ratio of the steps instead, but where damping is stiff it oscillates by the factor −ρ∞ per step,
//! and steps that grow by more than 1/ρ∞ would make that grow without bound.

use super::backward_difference::StageSolution;
use super::tr_bdf2::TrBdf2;
use super::{Claims, Entry, LINEAR, MAX_ITERATIONS, TOLERANCE, Variant};
use crate::StepError;
use crate::driver::{End, History, ImplicitIntegrator, Scheme, Stage, Step};
use crate::implicit::Method;
use crate::options::{Kind, OptionSpec};

pub(super) const ENTRY: Entry = Entry {
    name: "generalized-alpha",
    summary: "second order; damps high frequencies as much as asked, low ones hardly",
    cite: "chung1993",
    stable_deformed: Some(2.0),
    options: &[
        OptionSpec {
            name: "rho_inf",
            doc: "factor on the amplitude of the highest frequencies in one step",
            kind: Kind::Number { min: 0.0, max: 1.0, default: 0.8 },
        },
        TOLERANCE,
        MAX_ITERATIONS,
        LINEAR,
    ],
    variants: &[&[("rho_inf", Variant::Number(0.0))], &[("rho_inf", Variant::Number(0.5))]],
    build: |options| {
        let scheme = GeneralizedAlpha { rho: options.number("rho_inf") };
        Box::new(ImplicitIntegrator::new(scheme, options, Method::Minimize))
    },
};

/// Steps whose ratio differs from 1 by less than this are of equal length.
const EQUAL: f64 = 1e-6;

struct GeneralizedAlpha {
    rho: f64,
}

impl Scheme for GeneralizedAlpha {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (m, f) = ((2.0 * self.rho - 1.0) / (self.rho + 1.0), self.rho / (self.rho + 1.0));
        let (gamma, beta) = (0.5 - m + f, 0.25 * (1.0 - m + f).powi(2));
        let (state, h) = (step.state, step.h);
        let n = state.q.len();
        let start = match step.history {
            History::Force { h: before, force } if (h / before - 1.0).abs() < EQUAL => force.clone(),
            _ => {
                let (begin, _, StageSolution { q, p, mut force, .. }) = TrBdf2::stages(step)?;
                force.iter_mut().zip(&begin).for_each(|(end, begin)| *end += (m - f) * (*end - begin));
                return Ok(End { q, p, history: History::Force { h, force } });
            }
        };
        let a = step.acceleration(&start);
        // The coefficient of Ma_k in q₁, in addition to its part inside F.
        let past = h * h * ((0.5 - beta) - beta * m / (1.0 - m));
        let (reach, span, time) = (1.0 - f, beta * h / gamma, state.t + (1.0 - f) * h);
        let drift = |i: usize| h * state.v[i] + (0.5 - beta) * h * h * a[i];
        let speed = |i: usize| state.v[i] + (1.0 - gamma) * h * a[i];
        let (x, v) = step.stage(Stage {
            time,
            impulse: (0..n).map(|i| reach * (h * state.p[i] + past * start[i])).collect(),
            weight: reach * beta * h * h / (1.0 - m),
            span,
            offset: (0..n).map(|i| reach * (speed(i) - drift(i) / span) + f * state.v[i]).collect(),
            reach,
        })?;
        let force = step.force(time, &x, &v);
        let end: Vec<f64> = (0..n).map(|i| (force[i] - m * start[i]) / (1.0 - m)).collect();
        let q: Vec<f64> = (0..n).map(|i| state.q[i] + (x[i] - state.q[i]) / reach).collect();
        let p = (0..n).map(|i| state.p[i] + h * ((1.0 - gamma) * start[i] + gamma * end[i])).collect();
        step.check_end(&q)?;
        Ok(End { q, p, history: History::Force { h, force: end } })
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        Claims::of_order(2)
    }
}
