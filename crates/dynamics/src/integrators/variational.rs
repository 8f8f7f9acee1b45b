//! The variational family with one-point quadrature \[kharevych2006\] §4, \[kharevych2010\] §3.2.
//!
//! Lᵈ = h[½vᵀMv − W(q + αhv)]. A step finds v with
//!
//!   M v + (1−α) h ∇W(q_k + αhv) − ½h f = p_k,
//!
//! and ends at q_{k+1} = q_k + hv, p_{k+1} = Mv − αh∇W + ½h f. Without f the solution minimises an incremental potential,
//! the Lilyan ([`crate::implicit`]). α = ½ (midpoint) is of second order and reversible. α = 0 and 1 are explicit: the two
//! symplectic Euler methods. f is the mean force without potential over the step. Half of it is F^{d−} and half F^{d+};
//! for α = 0 and 1 all of it is F^{d+}.
//!
//! The residual r of the solver enters the next step through p_{k+1} = p_k − h∇W + h f ("reinjection",
//! \[kharevych2010\] §3.2.11). An early stop of the solver then changes the angular momentum by h v×r instead of q×r.
//! The discrete momenta are Σp and Σq×p for any α.

use super::{Claims, Entry, LINEAR, MAX_ITERATIONS, TOLERANCE, Variant};
use crate::StepError;
use crate::driver::{End, History, ImplicitIntegrator, Scheme, Step};
use crate::implicit::{ForceRule, Method, PotentialRule, StepEquation};
use crate::options::{Kind, OptionSpec, Options};

pub(super) const ENTRY: Entry = Entry {
    name: "variational",
    summary: "symplectic step by minimising the Lilyan; alpha = 0.5 is the midpoint rule",
    cite: "kharevych2006",
    stable_deformed: Some(2.0),
    options: &[
        OptionSpec {
            name: "alpha",
            doc: "where in the step forces are taken; 0 and 1 are explicit, 0.5 second order",
            kind: Kind::Number { min: 0.0, max: 1.0, default: 0.5 },
        },
        OptionSpec {
            name: "solve",
            doc: "minimise the Lilyan by Newton's method, find the root of its gradient, or minimise by BFGS",
            kind: Kind::Word { choices: &["minimize", "root", "bfgs"] },
        },
        OptionSpec {
            name: "reinject",
            doc: "carry the solver's residual into the next step",
            kind: Kind::Flag { default: true },
        },
        TOLERANCE,
        MAX_ITERATIONS,
        LINEAR,
    ],
    variants: &[
        &[("alpha", Variant::Number(0.0))],
        &[("alpha", Variant::Number(0.25))],
        &[("alpha", Variant::Number(0.75))],
        &[("alpha", Variant::Number(1.0))],
        &[("solve", Variant::Word("root"))],
        &[("reinject", Variant::Flag(false))],
    ],
    build: |options| Box::new(Variational::driven(options)),
};

/// The variational integrator that evaluates forces at the fraction `alpha` of the step.
pub(super) struct Variational {
    alpha: f64,
    reinject: bool,
}

impl Variational {
    pub(super) fn driven(options: &Options) -> ImplicitIntegrator<Self> {
        let scheme = Self { alpha: options.number("alpha"), reinject: options.flag("reinject") };
        ImplicitIntegrator::new(scheme, options, Method::chosen(options))
    }

    fn explicit_step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (system, state, h) = (step.system, step.state, step.h);
        let n = state.q.len();
        let (mut g, mut v, mut q) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let mut p = state.p.clone();
        step.prescribed.mean_velocity(&state.q, h, &mut v);
        if self.alpha == 0.0 {
            system.gradient(state.t, &state.q, &mut g);
            for i in 0..n {
                p[i] -= h * g[i];
            }
        }
        system.mass().solve(&step.prescribed.mask, &p, &mut v);
        for i in 0..n {
            q[i] = state.q[i] + h * v[i];
        }
        step.constraint_solver.drift(system, state, h, &step.prescribed.mask, None, &mut v, &mut q)?;
        step.constraint_solver.add_start_impulse(&mut p);
        let t1 = state.t + h;
        if self.alpha == 1.0 {
            system.gradient(t1, &q, &mut g);
            for i in 0..n {
                p[i] -= h * g[i];
            }
        }
        if let Some(dissipation) = system.abilities().dissipation {
            g.fill(0.0);
            dissipation.add_forces(t1, &q, &v, &mut g);
            for i in 0..n {
                p[i] += h * g[i];
            }
        }
        Ok(End { q, p, history: History::None })
    }

    fn implicit_step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (system, state, h) = (step.system, step.state, step.h);
        let (alpha, n) = (self.alpha, state.q.len());
        let impulse: Vec<f64> = state.p.iter().map(|p| alpha * h * p).collect();
        let mut x = step.ballistic(alpha);
        let time = state.t + alpha * h;
        step.solve(
            StepEquation {
                impulse: &impulse,
                weight: alpha * (1.0 - alpha) * h * h,
                time,
                reach: alpha,
                force_weight: 0.5 * alpha * h * h,
                forces: ForceRule::Between,
                potential: PotentialRule::Gradient,
            },
            &mut x,
        )?;

        let mut g = vec![0.0; n];
        system.gradient(time, &x, &mut g);
        let q: Vec<f64> = state.q.iter().zip(&x).map(|(q, x)| q + (x - q) / alpha).collect();
        let mut f = vec![0.0; n];
        if let Some(dissipation) = system.abilities().dissipation {
            dissipation.add_mean_forces(state.t, h, &state.q, &q, &mut f);
        }
        let p = if self.reinject {
            let mut p: Vec<f64> = (0..n).map(|i| state.p[i] - h * (g[i] - f[i])).collect();
            step.constraint_solver.add_start_impulse(&mut p);
            p
        } else {
            let v: Vec<f64> = (0..n).map(|i| (x[i] - state.q[i]) / (alpha * h)).collect();
            let mut p = step.momentum(&v);
            for i in 0..n {
                p[i] -= h * (alpha * g[i] - 0.5 * f[i]);
            }
            p
        };
        step.check_end(&q)?;
        Ok(End { q, p, history: History::None })
    }
}

impl Scheme for Variational {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        if self.alpha == 0.0 || self.alpha == 1.0 {
            self.explicit_step(step)
        } else {
            self.implicit_step(step)
        }
    }

    fn keeps_constraints(&self) -> bool {
        true
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        let middle = self.alpha == 0.5;
        Claims {
            explicit: self.alpha == 0.0 || self.alpha == 1.0,
            reversible: middle,
            ..Claims::variational(if middle { 2 } else { 1 })
        }
    }
}
