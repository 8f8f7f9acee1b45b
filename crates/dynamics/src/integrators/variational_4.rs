//! Fourth order by symmetric composition: three midpoint steps of γ₁h, γ₀h, γ₁h with
//! γ₁ = 1/(2 − 2^{1/3}), γ₀ = 1 − 2γ₁ ("triple jump") \[yoshida1990\].
//!
//! The middle step runs backwards, which is impossible with viscosity. Damping is therefore split off: half a step of
//! M v̇ = −D(q) v at fixed q (implicit midpoint) before the step and half a step after it. This is of second order, and
//! conserves both momenta because D does. Applied forces f(t, q, v) are split off in the same way.

use super::variational::Variational;
use super::{Claims, Entry, Integrator, LINEAR, MAX_ITERATIONS, TOLERANCE};
use crate::constraints::{Constraint, ConstraintSolver, Constraints};
use crate::driver::ImplicitIntegrator;
use crate::options::{Kind, OptionSpec, Options, Value};
use crate::prescribed::Prescribed;
use crate::system::abilities::{AppliedRemainder, PrescribedMotion};
use crate::{
    Abilities, ConfigurationSpace, EnergyParts, Memory, MemoryError, State, StepError, StepStats, System,
};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::{Curvature, SolveError};

pub(super) const ENTRY: Entry = Entry {
    name: "variational-4",
    summary: "fourth-order symplectic step: three midpoint steps, the middle one backwards",
    cite: "yoshida1990",
    stable_deformed: Some(1.5),
    options: &[TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[],
    build: |options| Box::new(Variational4::new(options)),
};

struct Variational4 {
    midpoint: ImplicitIntegrator<Variational>,
    prescribed: Prescribed,
}

/// Options of the three midpoint steps.
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
        Self { midpoint: Variational::driven(&inner), prescribed: Prescribed::default() }
    }

    /// Half a step of the forces without potential at fixed q: M Δv = ½h f(q, v + ½Δv), with f = −Dv + r, where r ≠ 0 only for
    /// applied forces. Two corrections of r suffice for second order.
    fn damp(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<(), StepError> {
        if system.abilities().dissipation.is_none() {
            return Ok(());
        }
        self.prescribed.prepare(system, state, 0.0)?;
        let remainder =
            AppliedRemainder::at(&system.abilities(), system.pattern(), state.t, &state.q, &state.v);
        let mut dv = vec![0.0; state.v.len()];
        for _ in 0..if remainder.is_some() { 3 } else { 1 } {
            let middle: Vec<f64> = state.v.iter().zip(&dv).map(|(v, d)| v + 0.5 * d).collect();
            let rest = remainder.as_ref().map(|remainder| remainder.force(state.t, &state.q, &middle));
            dv = self.linear_damping(system, state, rest.as_deref(), h)?;
        }
        for (v, d) in state.v.iter_mut().zip(&dv) {
            *v += d;
        }
        system.mass().mul(&state.v, &mut state.p);
        Ok(())
    }

    /// Δv of (M + ¼hD) Δv = ½h (r − D v).
    fn linear_damping(
        &mut self,
        system: &dyn System,
        state: &State,
        remainder: Option<&[f64]>,
        h: f64,
    ) -> Result<Vec<f64>, StepError> {
        let work = self.midpoint.solver.persistent.workspace(system);
        let a = work.matrix_mut();
        a.clear();
        if let Some(dissipation) = system.abilities().dissipation {
            dissipation.add_damping_matrix(state.t, &state.q, &state.v, a);
        }
        let mut dv = vec![0.0; state.v.len()];
        a.mul_vec(&state.v, &mut dv);
        for (i, held) in self.prescribed.mask.iter().enumerate() {
            let force = dv[i] - remainder.map_or(0.0, |r| r[i]);
            dv[i] = if *held { 0.0 } else { -0.5 * h * force };
        }
        a.scale(0.25 * h);
        system.mass().add_to(a);
        a.hold(&self.prescribed.mask);
        if self.prescribed.constraint_solver.count() > 0 {
            let (a, factor) = work.matrix_and_factor();
            if !self.prescribed.constraint_solver.solve_impulse(a, factor, &mut dv) {
                return Err(self.prescribed.constraint_solver.failure(system, state.t, h, &state.q));
            }
        } else {
            work.factor_matrix().map_err(|e| StepError::Solve {
                cause: SolveError::Singular { dof: e.dof },
                t: state.t,
                h,
            })?;
            work.solve(&mut dv);
        }
        Ok(dv)
    }

    /// Damping, three midpoint steps, and damping.
    fn composed_step(
        &mut self,
        system: &dyn System,
        state: &mut State,
        h: f64,
    ) -> Result<StepStats, StepError> {
        let gamma = 1.0 / (2.0 - 2f64.cbrt());
        let conservative = Conservative { system, end: state.t + h };
        let mut next = state.clone();
        let mut report = StepStats::default();
        let mut parts = Vec::new();
        self.damp(system, &mut next, h)?;
        for share in [gamma, 1.0 - 2.0 * gamma, gamma] {
            let part = self.midpoint.step(&conservative, &mut next, share * h)?;
            report.newton_iterations += part.newton_iterations;
            parts.extend(self.midpoint.constraint_solver().map(ConstraintSolver::saved_impulses));
        }
        next.t = state.t + h;
        self.damp(system, &mut next, h)?;
        // The fractions sum to 1 only up to round-off. `finish` sets Dirichlet dofs and time.
        self.prescribed.prepare(system, state, h)?;
        let State { mut q, mut p, .. } = next;
        self.prescribed.finish(system, state, h, &mut q, &mut p)?;
        for part in &parts {
            self.prescribed.constraint_solver.add_saved_impulses(part);
        }
        Ok(report)
    }
}

impl Integrator for Variational4 {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let done = self.composed_step(system, state, h);
        // The state differs from the end of the midpoint step after damping, after Dirichlet dofs were set, and after a failure.
        self.midpoint.reset_unless_at(state);
        done
    }

    fn claims(&self) -> Claims {
        Claims { order: 4, damped_order: 2, ..self.midpoint.claims() }
    }

    fn constraint_solver(&self) -> Option<&ConstraintSolver> {
        Some(&self.prescribed.constraint_solver)
    }

    fn reset(&mut self) {
        self.midpoint.reset();
    }

    fn memory(&self) -> Memory {
        Memory::new(self.midpoint.record())
    }

    fn restore(&mut self, memory: &Memory, state: &State) -> Result<(), MemoryError> {
        memory.read().map(|record| self.midpoint.restore_record(record, state))
    }
}

/// A system without dissipation. Dirichlet dofs and constraints in force are those at the end of the whole step, since the
/// first part goes beyond it.
struct Conservative<'a> {
    system: &'a dyn System,
    end: f64,
}

impl System for Conservative<'_> {
    fn space(&self) -> &ConfigurationSpace {
        self.system.space()
    }
    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        self.system.energy(t, q)
    }
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.system.gradient(t, q, g);
    }
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.system.hessian(t, q, curvature, h);
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        self.system.energy_parts(t, q)
    }
    fn abilities(&self) -> Abilities<'_> {
        let own = self.system.abilities();
        Abilities {
            prescribed: own.prescribed.map(|_| self as &dyn PrescribedMotion),
            loads: own.loads,
            dissipation: None,
            applied: None,
            friction: None,
            end_impulse: None,
            constraints: own.constraints.map(|_| self as &dyn Constraints),
            feasible_step: own.feasible_step,
            terms: own.terms,
            timed: own.timed,
            discrete_gradient: own.discrete_gradient,
            split: own.split,
            corotated: own.corotated,
            strained: own.strained,
            incompressible: own.incompressible,
            deformation: own.deformation,
            correction: own.correction,
        }
    }
}

impl PrescribedMotion for Conservative<'_> {
    fn mark_prescribed(&self, _t: f64, mask: &mut [bool]) {
        self.system.abilities().mark_prescribed(self.end, mask);
    }
    fn place_prescribed(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.system.abilities().place_prescribed(t, q, v);
    }
    fn prescribed_moves(&self) -> bool {
        self.system.abilities().prescribed_moves()
    }
}

impl Constraints for Conservative<'_> {
    fn list(&self) -> &[Box<dyn Constraint>] {
        self.system.abilities().constraints()
    }
    fn time(&self, t: f64) -> f64 {
        self.system.abilities().constraint_time(t)
    }
    fn in_force(&self, _t: f64) -> Vec<usize> {
        self.system.abilities().in_force(self.end)
    }
}
