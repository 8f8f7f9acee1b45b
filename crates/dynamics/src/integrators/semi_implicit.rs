//! Semi-implicit (linearly implicit) Euler: one Newton step of backward Euler \[baraff1998\],
//! (M + hD + h²K) Δv = h(f_total − hK v_k),  q_{k+1} = q_k + h v_{k+1}.
//!
//! K is the exact stiffness where the matrix is then positive definite, otherwise its projection. Constraints are
//! kept by iterating with that one matrix. `mssi` and `dgsi` are the same with a part of K
//! instead.

use super::{Claims, Entry, Integrator};
use crate::constraints::Holding;
use crate::implicit::Kept;
use crate::step::Ends;
use crate::{Integrating, State, StepError, StiffPart, System};
use lilyan_solve::newton::{Curvature, SolveError};

pub(super) const ENTRY: Entry = Entry {
    name: "semi-implicit",
    summary: "one linear solve per step, first order, damps numerically",
    cite: "baraff1998",
    options: &[],
    variants: &[],
    build: |_| {
        let claims = CLAIMS;
        SemiImplicit::boxed(&[Implicit::All(Curvature::Exact), Implicit::All(Curvature::Projected)], claims)
    },
};

/// What semi-implicit methods keep in general.
pub(super) const CLAIMS: Claims = Claims {
    order: 1,
    damped_order: 1,
    explicit: false,
    symplectic: false,
    reversible: false,
    linear_momentum: true,
    angular_momentum: false,
    energy: false,
};

/// The stiffness that is taken implicitly.
#[derive(Clone, Copy)]
pub(super) enum Implicit {
    /// All of it.
    All(Curvature),
    /// A part; the rest is explicit.
    Part(StiffPart),
}

/// One linear solve with the first of these matrices that is positive definite.
pub(super) struct SemiImplicit {
    tries: &'static [Implicit],
    claims: Claims,
    kept: Kept,
    ends: Ends,
}

impl SemiImplicit {
    pub(super) fn boxed(tries: &'static [Implicit], claims: Claims) -> Box<dyn Integrator> {
        Box::new(Self { tries, claims, kept: Kept::default(), ends: Ends::default() })
    }
}

impl Integrator for SemiImplicit {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let n = state.q.len();
        let t1 = state.t + h;
        self.ends.prepare(system, state, h)?;
        let pattern = match self.tries[0] {
            Implicit::All(_) => system.pattern(),
            Implicit::Part(part) => system.stiff_pattern(part),
        };
        let work = self.kept.workspace_for(pattern);

        let mut rhs = vec![0.0; n];
        system.gradient(t1, &state.q, &mut rhs);
        for r in rhs.iter_mut() {
            *r = -*r;
        }
        if system.has_forces() {
            system.forces(t1, &state.q, &state.v, &mut rhs);
        }
        if let Some(dof) = rhs.iter().position(|r| !r.is_finite()) {
            return Err(StepError::NotFinite { t: state.t, h, dof });
        }
        let mut known = vec![0.0; n];
        self.ends.mean_velocity(&state.q, h, &mut known);
        for i in 0..n {
            if self.ends.mask[i] {
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
                Implicit::Part(part) => system.stiff_hessian(t1, &state.q, part, a),
            }
            a.mul_vec(&state.v, &mut product);
            if let Some(correction) = system.correction() {
                correction.add_stiffness(&state.v, &mut product);
            }
            for i in 0..n {
                dv[i] = h * (rhs[i] - h * product[i]);
            }
            a.scale(h * h);
            if system.has_forces() {
                let mut d = lilyan_solve::BlockMatrix::zeros(pattern.clone());
                system.damping(t1, &state.q, &mut d);
                a.add_scaled(h, &d);
            }
            system.mass().add_to(a);
            a.mul_vec(&known, &mut product);
            for i in 0..n {
                dv[i] = if self.ends.mask[i] { 0.0 } else { dv[i] - product[i] };
            }
            a.hold(&self.ends.mask);
            match work.factor_matrix() {
                Ok(()) => break,
                Err(e) if k + 1 == self.tries.len() => {
                    let cause = SolveError::Singular { dof: e.dof };
                    return Err(StepError::Solve { cause, t: state.t, h });
                }
                Err(_) => {}
            }
        }
        work.correct(system.correction().map(|c| c.deflation(h * h, h)));
        work.solve(&mut dv);
        let mut v: Vec<f64> = (0..n).map(|i| state.v[i] + dv[i]).collect();
        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + h * v[i]).collect();
        let Ends { holding, mask, .. } = &mut self.ends;
        holding.drift(system, state, h, mask, Some(work.matrix_and_factor()), &mut v, &mut q1)?;
        let mut p1 = vec![0.0; n];
        system.mass().mul(&v, &mut p1);
        if !system.energy(t1, &q1).is_finite() {
            return Err(StepError::Infeasible { t: state.t, h });
        }
        self.ends.finish(system, state, h, &mut q1, &mut p1)?;
        Ok(Integrating { newton_iterations: 1, linear_iterations: 0, ..Default::default() })
    }

    fn claims(&self) -> Claims {
        self.claims
    }

    fn takes_fits(&self) -> bool {
        matches!(self.tries[0], Implicit::All(_))
    }

    fn holding(&self) -> Option<&Holding> {
        Some(&self.ends.holding)
    }

    fn reset(&mut self) {
        self.kept.reset();
    }

    fn memory(&self) -> Vec<f64> {
        self.kept.memory()
    }

    fn remember(&mut self, memory: &[f64]) {
        self.kept.remember(memory);
    }
}
