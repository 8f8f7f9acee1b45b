//! Newmark's family \[newmark1959\], with F = −∇W + f at the ends of the step:
//!
//!   q_{k+1} = q_k + hv_k + h²M⁻¹((½−β)F_k + βF_{k+1}),  v_{k+1} = v_k + hM⁻¹((1−γ)F_k + γF_{k+1}).
//!
//! F_k is evaluated at (q_k, v_k) and not stored as an acceleration. The results are the same if steps are solved exactly,
//! and the method is a one-step method. β = ¼, γ = ½ is the trapezoidal rule: of second order, reversible, and stable for
//! linear systems at any step. It is conjugate to the midpoint rule and hence almost symplectic. γ > ½ damps numerically
//! and is of first order; it is stable for β ≥ ¼(γ + ½)². β = 0 is `verlet`.

use super::{Claims, Entry, LINEAR, MAX_ITERATIONS, TOLERANCE, Variant};
use crate::StepError;
use crate::driver::{End, History, ImplicitIntegrator, Scheme, Stage, Step};
use crate::implicit::Method;
use crate::options::{Kind, OptionSpec};

pub(super) const ENTRY: Entry = Entry {
    name: "newmark",
    summary: "second order; the trapezoidal rule, or with gamma > 0.5 numerical damping",
    cite: "newmark1959",
    stable_deformed: Some(1.5),
    options: &[
        OptionSpec {
            name: "beta",
            doc: "share of the force at the end in the positions; 0.25 is stable at any step",
            kind: Kind::Number { min: 0.05, max: 1.0, default: 0.25 },
        },
        OptionSpec {
            name: "gamma",
            doc: "share of the force at the end in the velocities; above 0.5 damps, and is first order",
            kind: Kind::Number { min: 0.5, max: 1.0, default: 0.5 },
        },
        TOLERANCE,
        MAX_ITERATIONS,
        LINEAR,
    ],
    variants: &[
        &[("beta", Variant::Number(0.3025)), ("gamma", Variant::Number(0.6))],
        &[("beta", Variant::Number(1.0 / 6.0))],
    ],
    build: |options| {
        let scheme = Newmark { beta: options.number("beta"), gamma: options.number("gamma") };
        Box::new(ImplicitIntegrator::new(scheme, options, Method::Minimize))
    },
};

struct Newmark {
    beta: f64,
    gamma: f64,
}

impl Scheme for Newmark {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (&Self { beta, gamma }, state, h) = (self, step.state, step.h);
        let (n, t1, span) = (state.q.len(), state.t + h, beta * h / gamma);
        let start = step.start_force()?;
        let a = step.acceleration(&start);
        // q₁ − q₀ and v₁ without the contribution of F₁.
        let drift = |i: usize| h * state.v[i] + (0.5 - beta) * h * h * a[i];
        let speed = |i: usize| state.v[i] + (1.0 - gamma) * h * a[i];
        let (q, v) = step.stage(Stage {
            time: t1,
            impulse: (0..n).map(|i| h * state.p[i] + (0.5 - beta) * h * h * start[i]).collect(),
            weight: beta * h * h,
            span,
            offset: (0..n).map(|i| speed(i) - drift(i) / span).collect(),
            reach: 1.0,
        })?;
        let end = step.force(t1, &q, &v);
        let p = (0..n).map(|i| state.p[i] + h * ((1.0 - gamma) * start[i] + gamma * end[i])).collect();
        Ok(End { q, p, history: History::None })
    }

    fn solves_for_end(&self) -> bool {
        true
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        let symmetric = self.gamma == 0.5;
        Claims { reversible: symmetric, ..Claims::of_order(if symmetric { 2 } else { 1 }) }
    }
}
