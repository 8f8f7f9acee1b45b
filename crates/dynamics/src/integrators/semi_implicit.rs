//! Semi-implicit (linearly implicit) Euler: one Newton step of backward Euler \[baraff1998\],
//! (M + hD + h²K) Δv = h(f_total − hK v_k),  q_{k+1} = q_k + h v_{k+1}.
//!
//! K is the exact stiffness if the matrix is then positive definite, otherwise its projection. Constraints are satisfied
//! by iterations with this one matrix. `mssi` and `dgsi` are the same method with a part of K.

use super::{Claims, Entry, Integrator};
use crate::constraints::ConstraintSolver;
use crate::implicit::PersistentWorkspace;
use crate::prescribed::Prescribed;
use crate::{Memory, MemoryError, State, StepError, StepStats, StiffPart, System};
use lilyan_solve::newton::{Curvature, SolveError};

pub(super) const ENTRY: Entry = Entry {
    name: "semi-implicit",
    summary: "one linear solve per step, first order, damps numerically",
    cite: "baraff1998",
    options: &[],
    variants: &[],
    build: |_| {
        let tries = &[Implicit::All(Curvature::Exact), Implicit::All(Curvature::Projected)];
        SemiImplicit::boxed(tries, CLAIMS, None)
    },
};

/// The claims of semi-implicit methods in general.
pub(super) const CLAIMS: Claims = Claims::of_order(1);

/// The stiffness that is treated implicitly.
#[derive(Clone, Copy)]
pub(super) enum Implicit {
    /// All of it.
    All(Curvature),
    /// A part. The rest is treated explicitly.
    Part(StiffPart),
}

/// One linear solve with the first of these matrices that is positive definite.
pub(super) struct SemiImplicit {
    tries: &'static [Implicit],
    claims: Claims,
    limit: Option<&'static str>,
    persistent: PersistentWorkspace,
    prescribed: Prescribed,
}

impl SemiImplicit {
    pub(super) fn boxed(
        tries: &'static [Implicit],
        claims: Claims,
        limit: Option<&'static str>,
    ) -> Box<dyn Integrator> {
        Box::new(Self {
            tries,
            claims,
            limit,
            persistent: PersistentWorkspace::default(),
            prescribed: Prescribed::default(),
        })
    }
}

impl Integrator for SemiImplicit {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let n = state.q.len();
        let t1 = state.t + h;
        self.prescribed.prepare(system, state, h)?;
        let abilities = system.abilities();
        let pattern = match self.tries[0] {
            Implicit::All(_) => system.pattern(),
            Implicit::Part(part) => {
                abilities.split.map_or(system.pattern(), |split| split.stiff_pattern(part))
            }
        };
        let work = self.persistent.workspace_for(pattern);

        let mut rhs = vec![0.0; n];
        system.gradient(t1, &state.q, &mut rhs);
        for r in rhs.iter_mut() {
            *r = -*r;
        }
        if let Some(dissipation) = abilities.dissipation {
            dissipation.add_forces(t1, &state.q, &state.v, &mut rhs);
        }
        if let Some(dof) = rhs.iter().position(|r| !r.is_finite()) {
            return Err(StepError::NotFinite { t: state.t, h, dof });
        }
        let mut known = vec![0.0; n];
        self.prescribed.mean_velocity(&state.q, h, &mut known);
        for i in 0..n {
            if self.prescribed.mask[i] {
                known[i] -= state.v[i];
            }
        }
        let mut dv = vec![0.0; n];
        let mut product = vec![0.0; n];
        for (k, implicit) in self.tries.iter().enumerate() {
            let a = work.matrix_mut();
            a.clear();
            match *implicit {
                Implicit::All(curvature) => system.hessian(t1, &state.q, curvature, a),
                Implicit::Part(part) => match abilities.split {
                    Some(split) => split.add_stiff_hessian(t1, &state.q, part, a),
                    None => system.hessian(t1, &state.q, Curvature::Projected, a),
                },
            }
            a.mul_vec(&state.v, &mut product);
            if let Some(correction) = abilities.correction {
                correction.add_stiffness(&state.v, &mut product);
            }
            for i in 0..n {
                dv[i] = h * (rhs[i] - h * product[i]);
            }
            a.scale(h * h);
            if let Some(dissipation) = abilities.dissipation {
                let mut d = lilyan_solve::BlockMatrix::zeros(pattern.clone());
                dissipation.add_damping_matrix(t1, &state.q, &state.v, &mut d);
                a.add_scaled(h, &d);
            }
            system.mass().add_to(a);
            a.mul_vec(&known, &mut product);
            for i in 0..n {
                dv[i] = if self.prescribed.mask[i] { 0.0 } else { dv[i] - product[i] };
            }
            a.hold(&self.prescribed.mask);
            match work.factor_matrix() {
                Ok(()) => break,
                Err(e) if k + 1 == self.tries.len() => {
                    let cause = SolveError::Singular { dof: e.dof };
                    return Err(StepError::Solve { cause, t: state.t, h });
                }
                Err(_) => {}
            }
        }
        work.correct(abilities.correction.map(|c| c.deflation(h * h, h)));
        work.solve(&mut dv);
        let mut v: Vec<f64> = (0..n).map(|i| state.v[i] + dv[i]).collect();
        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + h * v[i]).collect();
        let Prescribed { constraint_solver, mask, .. } = &mut self.prescribed;
        constraint_solver.drift(system, state, h, mask, Some(work.matrix_and_factor()), &mut v, &mut q1)?;
        let mut p1 = vec![0.0; n];
        system.mass().mul(&v, &mut p1);
        if !system.energy(t1, &q1).is_finite() {
            return Err(StepError::Infeasible { t: state.t, h });
        }
        self.prescribed.finish(system, state, h, &mut q1, &mut p1)?;
        Ok(StepStats { newton_iterations: 1, linear_iterations: 0, ..Default::default() })
    }

    fn claims(&self) -> Claims {
        self.claims
    }

    fn limit(&self) -> Option<&'static str> {
        self.limit
    }

    fn takes_fits(&self) -> bool {
        matches!(self.tries[0], Implicit::All(_))
    }

    fn constraint_solver(&self) -> Option<&ConstraintSolver> {
        Some(&self.prescribed.constraint_solver)
    }

    fn reset(&mut self) {
        self.persistent.reset();
    }

    fn memory(&self) -> Memory {
        Memory::new(self.persistent.memory())
    }

    fn restore(&mut self, memory: &Memory, _state: &State) -> Result<(), MemoryError> {
        memory.read().map(|memory| self.persistent.restore(memory))
    }
}
