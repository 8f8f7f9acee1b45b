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
//! which is reversible for any K and g. Gravity, loads and contact enter in the same way, with their gradient and
//! projected Hessian at q_k and at q_{k+1}. Damping and applied forces enter linearised at (q_k, v_k) in the first half and
//! as f(q_{k+1}, v) in the second. The method is of second order. For quadratic energies it is the midpoint rule.
//!
//! The system is solved to 1e-10 of v in the norm of its matrix, to which the reversed step then returns; what is left over
//! has no resultant, so that Σp is conserved to round-off.
//!
//! Energy and angular momentum are not conserved. The source saw them bounded; reversal alone does not bound them for a
//! motion that is not integrable. A free bar of 24 tets that tumbles for 200 s (`long_tumbles_drift` in the tests of
//! `lilyan-solid`, explicit limit 27.5 ms): with `polar` energy × 1.010 and spin off by 2e-3 at half of the limit,
//! × 1.09 and 1.4e-2 at the limit, × 1.25 (1.28 in between) and 1.6e-2 at twice the limit. The force at q_k + ½hv with
//! the rotation of q_k has a torque of the size of the rotation in the step times the strain. With `minimizer` the
//! force is no gradient and has a torque even for h → 0: energy × 0.85 and spin off by 0.20 at half of the limit; it
//! explodes at twice the limit.

use super::{Claims, Entry, Integrator, Variant};
use crate::corotated::{Corotated, Rotation};
use crate::implicit::{PersistentWorkspace, reuse_key};
use crate::options::{Kind, OptionSpec};
use crate::prescribed::Prescribed;
use crate::step::first_not_finite;
use crate::system::abilities::AppliedRemainder;
use crate::{Memory, MemoryError, State, StepError, StepStats, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::{Curvature, Linearisation, RigidMotions, SolveError, Workspace};

pub(super) const ENTRY: Entry = Entry {
    name: "corotational-reversible",
    summary: "co-rotated elasticity, one linear solve per step, reversible; energy and spin drift at long steps",
    cite: "kharevych2010",
    stable_deformed: Some(1.0),
    options: &[OptionSpec {
        name: "rotation",
        doc: "of an element: that of its polar decomposition, or the minimizer of its co-rotated displacement, which drifts more",
        kind: Kind::Word { choices: &["polar", "minimizer"] },
    }],
    variants: &[&[("rotation", Variant::Word("minimizer"))]],
    build: |options| {
        let rotation =
            if options.word("rotation") == "minimizer" { Rotation::Minimizer } else { Rotation::Polar };
        Box::new(CorotationalReversible {
            rotation,
            persistent: PersistentWorkspace::default(),
            prescribed: Prescribed::default(),
        })
    },
};

/// Relative accuracy of the solve.
const ACCURACY: f64 = 1e-10;

struct CorotationalReversible {
    rotation: Rotation,
    persistent: PersistentWorkspace,
    prescribed: Prescribed,
}

/// What M + ½hD + ¼h²K depends on besides t, q and v.
struct Start<'a> {
    system: &'a dyn System,
    turning: &'a dyn Corotated,
    rotation: Rotation,
    held: &'a [bool],
    h: f64,
}

impl Start<'_> {
    fn assemble(&self, t: f64, q: &[f64], v: &[f64], a: &mut BlockMatrix) {
        a.clear();
        if let Some(dissipation) = self.system.abilities().dissipation {
            dissipation.add_damping_matrix(t, q, v, a);
            a.scale(2.0 / self.h);
        }
        self.turning.corotated_stiffness(t, q, self.rotation, self.held, a);
        a.scale(0.25 * self.h * self.h);
        self.system.mass().add_to(a);
    }
}

impl CorotationalReversible {
    fn step_with(
        &mut self,
        work: &mut Workspace,
        system: &dyn System,
        state: &mut State,
        h: f64,
    ) -> Result<StepStats, StepError> {
        let abilities = system.abilities();
        let turning =
            abilities.corotated.map_err(|lacking| StepError::Refused { reason: lacking.to_string() })?;
        let Self { rotation, prescribed, .. } = self;
        prescribed.prepare(system, state, h)?;
        let (n, t, t1) = (state.q.len(), state.t, state.t + h);

        let mut g = vec![0.0; n];
        turning.corotated_gradient(t, &state.q, *rotation, &prescribed.mask, &mut g);
        let at_start = Start { system, turning, rotation: *rotation, held: &prescribed.mask, h };
        let key = reuse_key(system, t, [0.25 * h * h, 0.5 * h], &prescribed.mask);
        work.begin_linear(key, &mut |origin, a| {
            at_start.assemble(origin.key.time, &origin.x, &origin.rates, a);
            a.hold(&prescribed.mask);
        });
        let a = work.matrix_mut();
        at_start.assemble(t, &state.q, &state.v, a);
        let mut v = vec![0.0; n];
        prescribed.mean_velocity(&state.q, h, &mut v);
        let mut product = vec![0.0; n];
        a.mul_vec(&v, &mut product);
        for i in (0..n).filter(|&i| !prescribed.mask[i]) {
            v[i] = state.p[i] - 0.5 * h * g[i] - product[i];
        }
        if let Some(remainder) = AppliedRemainder::at(&abilities, system.pattern(), t, &state.q, &state.v) {
            let force = remainder.force(t, &state.q, &state.v);
            (0..n).filter(|&i| !prescribed.mask[i]).for_each(|i| v[i] += 0.5 * h * force[i]);
        }
        if let Some(dof) = first_not_finite(&[&v]) {
            return Err(StepError::NotFinite { t, h, dof });
        }
        a.hold(&prescribed.mask);
        let right = v.clone();
        let at = Linearisation { x: &state.q, rates: &state.v, curvature: Curvature::Projected, key };
        let solved = work.solve_linear(&at, &mut v, ACCURACY).map_err(|e| {
            let cause = SolveError::Singular { dof: e.dof };
            StepError::Solve { cause, t, h }
        })?;
        if solved.iterations > 0 {
            work.balance(&right, &mut v, &state.q, RigidMotions::Translations, &prescribed.mask);
        }

        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + h * v[i]).collect();
        if let Some(dof) = first_not_finite(&[&q1]) {
            return Err(StepError::NotFinite { t, h, dof });
        }
        if !system.energy(t1, &q1).is_finite() {
            return Err(StepError::Infeasible { t, h });
        }
        turning.corotated_gradient(t1, &q1, *rotation, &prescribed.mask, &mut g);
        let k = work.matrix_mut();
        k.clear();
        turning.corotated_stiffness(t1, &q1, *rotation, &prescribed.mask, k);
        k.mul_vec(&v, &mut product);
        let mut f = vec![0.0; n];
        if let Some(dissipation) = abilities.dissipation {
            dissipation.add_forces(t1, &q1, &v, &mut f);
        }
        let mut p1 = vec![0.0; n];
        system.mass().mul(&v, &mut p1);
        for i in 0..n {
            p1[i] += 0.25 * h * h * product[i] - 0.5 * h * (g[i] - f[i]);
        }
        prescribed.finish(system, state, h, &mut q1, &mut p1)?;
        Ok(solved.into())
    }
}

impl Integrator for CorotationalReversible {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let mut persistent = std::mem::take(&mut self.persistent);
        let done = persistent.attempt(system.pattern(), |work| self.step_with(work, system, state, h));
        self.persistent = persistent;
        done
    }

    fn claims(&self) -> Claims {
        Claims { reversible: true, ..Claims::of_order(2) }
    }

    fn refuses(&self, system: &dyn System) -> Option<String> {
        let lacking = system.abilities().corotated.err();
        lacking.map(|lacking| lacking.to_string()).or_else(|| super::refuses_incompressible(system))
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
