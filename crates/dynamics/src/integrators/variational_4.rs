//! Fourth order by symmetric composition: three midpoint steps of γ₁h, γ₀h, γ₁h with
//! γ₁ = 1/(2 − 2^{1/3}), γ₀ = 1 − 2γ₁ ("triple jump") \[yoshida1990\].
//!
//! The middle step runs backwards, and viscosity cannot: damping is split off, half a step of
//! M v̇ = −D(q) v at fixed q before and after (implicit midpoint), which keeps both momenta because D
//! does, and is of second order.

use super::variational::Variational;
use super::{Claims, Entry, Integrator, LINEAR, MAX_ITERATIONS, TOLERANCE};
use crate::constraints::{Constraint, Holding};
use crate::driver::Driven;
use crate::options::{Kind, OptionSpec, Options, Value};
use crate::step::Ends;
use crate::{EnergyParts, Integrating, Mass, State, StepError, System};
use lilyan_solve::newton::{Curvature, SolveError};
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "variational-4",
    summary: "fourth-order symplectic step: three midpoint steps, the middle one backwards",
    cite: "yoshida1990",
    options: &[TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[],
    build: |options| Box::new(Variational4::new(options)),
};

struct Variational4 {
    midpoint: Driven<Variational>,
    ends: Ends,
}

/// Options of the midpoint steps inside.
const INNER: &[OptionSpec] = &[
    OptionSpec { name: "alpha", doc: "", kind: Kind::Number { min: 0.0, max: 1.0, default: 0.5 } },
    OptionSpec { name: "solve", doc: "", kind: Kind::Word { choices: &["minimize"] } },
    OptionSpec { name: "reinject", doc: "", kind: Kind::Flag { default: true } },
    TOLERANCE,
    MAX_ITERATIONS,
    LINEAR,
];

impl Variational4 {
    fn new(options: &Options) -> Self {
        let given: Vec<(String, Value)> = options.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
        let inner = Options::resolve(INNER, &given).expect("the options of this method are a subset");
        Self { midpoint: Variational::driven(&inner), ends: Ends::default() }
    }

    /// Half a step of damping at fixed q: (M + ¼hD) Δv = −½h D v.
    fn damp(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<(), StepError> {
        if !system.has_forces() {
            return Ok(());
        }
        self.ends.prepare(system, state, 0.0)?;
        let work = self.midpoint.solver.kept.workspace(system);
        let a = work.matrix_mut();
        a.clear();
        system.damping(state.t, &state.q, a);
        let mut dv = vec![0.0; state.v.len()];
        a.mul_vec(&state.v, &mut dv);
        for (d, held) in dv.iter_mut().zip(&self.ends.mask) {
            *d = if *held { 0.0 } else { -0.5 * h * *d };
        }
        a.scale(0.25 * h);
        system.mass().add_to(a);
        a.hold(&self.ends.mask);
        if self.ends.holding.count() > 0 {
            let (a, factor) = work.matrix_and_factor();
            if !self.ends.holding.answer(a, factor, &mut dv) {
                return Err(self.ends.holding.failure(system, state.t, h, &state.q));
            }
        } else {
            work.factor_matrix().map_err(|e| StepError::Solve {
                cause: SolveError::Singular { dof: e.dof },
                t: state.t,
                h,
            })?;
            work.factor.solve(&mut dv);
        }
        for (v, d) in state.v.iter_mut().zip(&dv) {
            *v += d;
        }
        system.mass().mul(&state.v, &mut state.p);
        Ok(())
    }
}

impl Integrator for Variational4 {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let gamma = 1.0 / (2.0 - 2f64.cbrt());
        let conservative = Conservative(system, state.t + h);
        let mut next = state.clone();
        let mut report = Integrating::default();
        let mut parts = Vec::new();
        self.damp(system, &mut next, h)?;
        for share in [gamma, 1.0 - 2.0 * gamma, gamma] {
            let part = self.midpoint.step(&conservative, &mut next, share * h)?;
            report.newton_iterations += part.newton_iterations;
            parts.extend(self.midpoint.holding().map(Holding::counted));
        }
        next.t = state.t + h;
        self.damp(system, &mut next, h)?;
        // The shares sum to 1 only up to round-off; finish puts held unknowns and time in place.
        self.ends.prepare(system, state, h)?;
        let State { mut q, mut p, .. } = next;
        self.ends.finish(system, state, h, &mut q, &mut p)?;
        for part in &parts {
            self.ends.holding.include(part);
        }
        Ok(report)
    }

    fn claims(&self) -> Claims {
        Claims { order: 4, damped_order: 2, ..self.midpoint.claims() }
    }

    fn holding(&self) -> Option<&Holding> {
        Some(&self.ends.holding)
    }

    fn reset(&mut self) {
        self.midpoint.reset();
    }

    fn memory(&self) -> Vec<f64> {
        self.midpoint.memory()
    }

    fn remember(&mut self, memory: &[f64]) {
        self.midpoint.remember(memory);
    }
}

/// A system without its forces that have no potential, held by what holds it at a time: that of the end of the
/// whole step, beyond which the first part reaches.
struct Conservative<'a>(&'a dyn System, f64);

impl System for Conservative<'_> {
    fn dofs(&self) -> usize {
        self.0.dofs()
    }
    fn pattern(&self) -> &Arc<BlockPattern> {
        self.0.pattern()
    }
    fn mass(&self) -> &Mass {
        self.0.mass()
    }
    fn length(&self) -> f64 {
        self.0.length()
    }
    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        self.0.energy(t, q)
    }
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.0.gradient(t, q, g);
    }
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.0.hessian(t, q, curvature, h);
    }
    fn held(&self, _t: f64, mask: &mut [bool]) {
        self.0.held(self.1, mask);
    }
    fn place_held(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.0.place_held(t, q, v);
    }
    fn constraints(&self) -> &[Box<dyn Constraint>] {
        self.0.constraints()
    }
    fn in_force(&self, _t: f64) -> Vec<usize> {
        self.0.in_force(self.1)
    }
    fn max_step(&self, q: &[f64], d: &[f64]) -> f64 {
        self.0.max_step(q, d)
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        self.0.energy_parts(t, q)
    }
}
