//! The variational family with one-point quadrature \[kharevych2006\] §4, \[kharevych2010\] §3.2.
//!
//! Lᵈ = h[½vᵀMv − W(q + αhv)]. A step finds v with
//!
//!   M v + (1−α) h ∇W(q_k + αhv) − ½h f = p_k,
//!
//! the minimum of the Lilyan when there is no f, and ends at q_{k+1} = q_k + hv,
//! p_{k+1} = Mv − αh∇W + ½h f. α = ½ (midpoint) is second order and reversible; α = 0 and 1 are the two
//! symplectic Eulers and explicit. f is the mean force without potential over the step, half of it as
//! F^{d−} and half as F^{d+}; the explicit ends take it as F^{d+} alone.
//!
//! The solver's residual r is fed to the next step by p_{k+1} = p_k − h∇W + h f ("reinjection",
//! \[kharevych2010\] §3.2.11): then an early stop of the solver leaks h v×r of angular momentum instead
//! of q×r. The discrete momenta are those of Σp and Σq×p for any α.

use super::{Claims, Entry, Integrator, MAX_ITERATIONS, TOLERANCE, Variant};
use crate::constraints::Holding;
use crate::implicit::{ForceRule, ImplicitStep, Method, Parts, PotentialRule, Solver};
use crate::options::{Kind, OptionSpec, Options};
use crate::step::Ends;
use crate::{Integrating, State, StepError, System};
use lilyan_solve::newton::Workspace;

pub(super) const ENTRY: Entry = Entry {
    name: "variational",
    summary: "symplectic step by minimising the Lilyan; alpha = 0.5 is the midpoint rule",
    cite: "kharevych2006",
    options: &[
        OptionSpec {
            name: "alpha",
            doc: "where in the step forces are taken; 0 and 1 are explicit, 0.5 second order",
            kind: Kind::Number { min: 0.0, max: 1.0, default: 0.5 },
        },
        OptionSpec {
            name: "solve",
            doc: "minimise the Lilyan, or find the root of its gradient",
            kind: Kind::Word { choices: &["minimize", "root"] },
        },
        OptionSpec {
            name: "reinject",
            doc: "carry the solver's residual into the next step",
            kind: Kind::Flag { default: true },
        },
        TOLERANCE,
        MAX_ITERATIONS,
    ],
    variants: &[
        &[("alpha", Variant::Number(0.0))],
        &[("alpha", Variant::Number(0.25))],
        &[("alpha", Variant::Number(0.75))],
        &[("alpha", Variant::Number(1.0))],
        &[("solve", Variant::Word("root"))],
        &[("reinject", Variant::Flag(false))],
    ],
    build: |options| Box::new(Variational::new(options)),
};

/// See the module.
pub(super) struct Variational {
    alpha: f64,
    reinject: bool,
    solver: Solver,
    ends: Ends,
}

impl Variational {
    pub(super) fn new(options: &Options) -> Self {
        let method = match options.word("solve") {
            "root" => Method::Root,
            _ => Method::Minimize,
        };
        Self {
            alpha: options.number("alpha"),
            reinject: options.flag("reinject"),
            solver: Solver::new(options, method),
            ends: Ends::default(),
        }
    }

    /// What it works in, for methods built upon it.
    pub(super) fn workspace(&mut self, system: &dyn System) -> &mut Workspace {
        self.solver.kept.workspace(system)
    }

    fn explicit_step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<(), StepError> {
        let n = state.q.len();
        let (mut g, mut v, mut q1) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let mut p1 = state.p.clone();
        self.ends.mean_velocity(&state.q, h, &mut v);
        if self.alpha == 0.0 {
            system.gradient(state.t, &state.q, &mut g);
            for i in 0..n {
                p1[i] -= h * g[i];
            }
        }
        system.mass().solve(&self.ends.mask, &p1, &mut v);
        for i in 0..n {
            q1[i] = state.q[i] + h * v[i];
        }
        let Ends { holding, mask, .. } = &mut self.ends;
        holding.drift(system, state, h, mask, None, &mut v, &mut q1)?;
        holding.add_kick(&mut p1);
        let t1 = state.t + h;
        if self.alpha == 1.0 {
            system.gradient(t1, &q1, &mut g);
            for i in 0..n {
                p1[i] -= h * g[i];
            }
        }
        if system.has_forces() {
            g.fill(0.0);
            system.forces(t1, &q1, &v, &mut g);
            for i in 0..n {
                p1[i] += h * g[i];
            }
        }
        self.ends.finish(system, state, h, &mut q1, &mut p1)
    }

    fn implicit_step(
        &mut self,
        system: &dyn System,
        state: &mut State,
        h: f64,
    ) -> Result<Integrating, StepError> {
        let (alpha, n) = (self.alpha, state.q.len());
        let impulse: Vec<f64> = state.p.iter().map(|p| alpha * h * p).collect();
        let mut v = state.v.clone();
        self.ends.mean_velocity(&state.q, h, &mut v);
        let mut x: Vec<f64> = state.q.iter().zip(&v).map(|(q, v)| q + alpha * h * v).collect();
        let time = state.t + alpha * h;
        let step = ImplicitStep::new(
            system,
            state.t,
            h,
            &state.q,
            &self.ends.mask,
            Parts {
                impulse: &impulse,
                weight: alpha * (1.0 - alpha) * h * h,
                time,
                reach: alpha,
                force_weight: 0.5 * alpha * h * h,
                forces: ForceRule::Between,
                potential: PotentialRule::Gradient,
            },
        );
        let report = self.solver.solve(step.holding(&mut self.ends.holding), &mut x)?;

        let mut g = vec![0.0; n];
        system.gradient(time, &x, &mut g);
        let mut q1: Vec<f64> = state.q.iter().zip(&x).map(|(q, x)| q + (x - q) / alpha).collect();
        let mut f = vec![0.0; n];
        if system.has_forces() {
            system.forces_between(state.t, h, &state.q, &q1, &mut f);
        }
        let mut p1 = vec![0.0; n];
        if self.reinject {
            for i in 0..n {
                p1[i] = state.p[i] - h * (g[i] - f[i]);
            }
            self.ends.holding.add_kick(&mut p1);
        } else {
            for i in 0..n {
                v[i] = (x[i] - state.q[i]) / (alpha * h);
            }
            system.mass().mul(&v, &mut p1);
            for i in 0..n {
                p1[i] -= h * (alpha * g[i] - 0.5 * f[i]);
            }
        }
        if !system.energy(state.t + h, &q1).is_finite() {
            return Err(StepError::Infeasible { t: state.t, h });
        }
        self.ends.finish(system, state, h, &mut q1, &mut p1)?;
        Ok(report.into())
    }
}

impl Integrator for Variational {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        self.ends.prepare(system, state, h)?;
        if self.alpha == 0.0 || self.alpha == 1.0 {
            self.explicit_step(system, state, h)?;
            Ok(Integrating::default())
        } else {
            self.implicit_step(system, state, h)
        }
    }

    fn claims(&self) -> Claims {
        let middle = self.alpha == 0.5;
        Claims {
            order: if middle { 2 } else { 1 },
            damped_order: if middle { 2 } else { 1 },
            explicit: self.alpha == 0.0 || self.alpha == 1.0,
            symplectic: true,
            reversible: middle,
            linear_momentum: true,
            angular_momentum: true,
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
