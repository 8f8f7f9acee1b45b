//! Reversible co-rotational step \[kharevych2010\] (3.33): one linear solve.
//!
//!   (M + ¼h²Kᴿ_k) v = p_k − ½h (Kᴿ_k q_k − bᴿ_k),   q_{k+1} = q_k + hv,
//!   p_{k+1} = Mv − ½h (Kᴿ_{k+1}(q_k + ½hv) − bᴿ_{k+1}),
//!
//! with Kᴿ = Σ R Kᵉ Rᵀ, bᴿ = Σ R Kᵉ X, R the rotations at q_k and q_{k+1}. Written with g = Kᴿq − bᴿ this is
//! a linearised half step and its mirror image,
//!
//!   (M + ¼h²K_k) v = p_k − ½h g_k,   p_{k+1} = (M + ¼h²K_{k+1}) v − ½h g_{k+1},
//!
//! which runs backwards along its own path whatever K and g are. So gravity, loads and contact enter in the
//! same way, with their gradient and projected Hessian at q_k and at q_{k+1}, and reversal is kept. Damping
//! enters as −D(q_k)v in the first half and f(q_{k+1}, v) in the second. Second order; energy and angular momentum are not
//! kept exactly but, the step being reversible, do not drift. For quadratic energies it is the midpoint rule.

use super::{Claims, Entry, Integrator, Variant};
use crate::corotated::Rotation;
use crate::implicit::Kept;
use crate::options::{Kind, OptionSpec};
use crate::step::{Ends, first_not_finite};
use crate::{Integrating, State, StepError, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::SolveError;

pub(super) const ENTRY: Entry = Entry {
    name: "corotational-reversible",
    summary: "co-rotated elasticity with one linear solve per step, second order, reversible",
    cite: "kharevych2010",
    options: &[OptionSpec {
        name: "rotation",
        doc: "of an element: that of its polar decomposition, or the minimizer of its co-rotated displacement",
        kind: Kind::Word { choices: &["polar", "minimizer"] },
    }],
    variants: &[&[("rotation", Variant::Word("minimizer"))]],
    build: |options| {
        let rotation =
            if options.word("rotation") == "minimizer" { Rotation::Minimizer } else { Rotation::Polar };
        Box::new(CorotationalReversible { rotation, kept: Kept::default(), ends: Ends::default() })
    },
};

struct CorotationalReversible {
    rotation: Rotation,
    kept: Kept,
    ends: Ends,
}

impl Integrator for CorotationalReversible {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let turning = system.corotated().map_err(|reason| StepError::Refused { reason })?;
        let Self { rotation, kept, ends } = self;
        ends.prepare(system, state, h)?;
        let (n, t, t1) = (state.q.len(), state.t, state.t + h);
        let work = kept.workspace(system);

        let mut g = vec![0.0; n];
        turning.turned_gradient(t, &state.q, *rotation, &ends.mask, &mut g);
        let a = work.matrix_mut();
        a.clear();
        turning.turned_stiffness(t, &state.q, *rotation, &ends.mask, a);
        a.scale(0.25 * h * h);
        if system.has_forces() {
            let mut d = BlockMatrix::zeros(system.pattern().clone());
            system.damping(t, &state.q, &mut d);
            a.add_scaled(0.5 * h, &d);
        }
        system.mass().add_to(a);
        let mut v = vec![0.0; n];
        ends.mean_velocity(&state.q, h, &mut v);
        let mut product = vec![0.0; n];
        a.mul_vec(&v, &mut product);
        for i in (0..n).filter(|&i| !ends.mask[i]) {
            v[i] = state.p[i] - 0.5 * h * g[i] - product[i];
        }
        if let Some(dof) = first_not_finite(&[&v]) {
            return Err(StepError::NotFinite { t, h, dof });
        }
        a.hold(&ends.mask);
        work.factor_matrix().map_err(|e| {
            let cause = SolveError::Singular { dof: e.dof };
            StepError::Solve { cause, t, h }
        })?;
        work.factor.solve(&mut v);

        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + h * v[i]).collect();
        if let Some(dof) = first_not_finite(&[&q1]) {
            return Err(StepError::NotFinite { t, h, dof });
        }
        if !system.energy(t1, &q1).is_finite() {
            return Err(StepError::Infeasible { t, h });
        }
        turning.turned_gradient(t1, &q1, *rotation, &ends.mask, &mut g);
        let k = work.matrix_mut();
        k.clear();
        turning.turned_stiffness(t1, &q1, *rotation, &ends.mask, k);
        k.mul_vec(&v, &mut product);
        let mut f = vec![0.0; n];
        if system.has_forces() {
            system.forces(t1, &q1, &v, &mut f);
        }
        let mut p1 = vec![0.0; n];
        system.mass().mul(&v, &mut p1);
        for i in 0..n {
            p1[i] += 0.25 * h * h * product[i] - 0.5 * h * (g[i] - f[i]);
        }
        ends.finish(system, state, h, &mut q1, &mut p1)?;
        Ok(Integrating { newton_iterations: 1, linear_iterations: 0, ..Default::default() })
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 2,
            damped_order: 2,
            explicit: false,
            symplectic: false,
            reversible: true,
            linear_momentum: true,
            angular_momentum: false,
            energy: false,
        }
    }

    fn refuses(&self, system: &dyn System) -> Option<String> {
        system.corotated().err().or_else(|| super::refuses_incompressible(system))
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
