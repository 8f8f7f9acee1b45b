//! Semi-implicit (linearly implicit) Euler: one Newton step of backward Euler \[baraff1998\],
//! (M + hD + h²K) Δv = h(f_total − hK v_k),  q_{k+1} = q_k + h v_{k+1}.
//!
//! K is the exact stiffness if the matrix is then positive definite, otherwise its projection. Constraints are satisfied
//! by iterations with this one matrix. `mssi` and `dgsi` are the same method with a part of K.
//!
//! The system is solved to 1e-6 of Δv in the norm of its matrix ([`ACCURACY`]), far below the error of a step of first
//! order. What is left over is orthogonal to rigid motions, so that the method conserves what it conserves with an exact
//! solution: the linear momentum, and with the material stiffness (`mssi`) the angular momentum.

use super::{Claims, Entry, Integrator};
use crate::constraints::ConstraintSolver;
use crate::implicit::{PersistentWorkspace, reuse_key};
use crate::prescribed::Prescribed;
use crate::{Memory, MemoryError, State, StepError, StepStats, StiffPart, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::linear::LinearReport;
use lilyan_solve::newton::{Curvature, Linearisation, RigidMotions, SolveError, Workspace};

pub(super) const ENTRY: Entry = Entry {
    name: "semi-implicit",
    summary: "one linear solve per step, first order, damps numerically",
    cite: "baraff1998",
    stable_deformed: Some(300.0),
    options: &[],
    variants: &[],
    build: |_| {
        let tries = &[Implicit::All(Curvature::Exact), Implicit::All(Curvature::Projected)];
        SemiImplicit::boxed(tries, CLAIMS, None)
    },
};

/// Relative accuracy of the solve.
const ACCURACY: f64 = 1e-6;

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

impl Implicit {
    /// The second derivative that it contains.
    fn curvature(self) -> Curvature {
        match self {
            Self::All(curvature) => curvature,
            Self::Part(_) => Curvature::Projected,
        }
    }

    /// The same stiffness with this second derivative.
    fn with(self, curvature: Curvature) -> Self {
        match self {
            Self::All(_) => Self::All(curvature),
            part @ Self::Part(_) => part,
        }
    }
}

/// D/h, overwriting `a`.
fn assemble_damping(system: &dyn System, t: f64, q: &[f64], v: &[f64], h: f64, a: &mut BlockMatrix) {
    a.clear();
    if let Some(dissipation) = system.abilities().dissipation {
        dissipation.add_damping_matrix(t, q, v, a);
        a.scale(1.0 / h);
    }
}

/// Adds the part of K that is implicit.
fn add_stiffness(system: &dyn System, implicit: Implicit, t: f64, q: &[f64], a: &mut BlockMatrix) {
    match implicit {
        Implicit::All(curvature) => system.hessian(t, q, curvature, a),
        Implicit::Part(part) => match system.abilities().split {
            Some(split) => split.add_stiff_hessian(t, q, part, a),
            None => system.hessian(t, q, Curvature::Projected, a),
        },
    }
}

/// M + hD + h²K from D/h + K.
fn complete(system: &dyn System, h: f64, a: &mut BlockMatrix) {
    a.scale(h * h);
    system.mass().add_to(a);
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

/// A step, and what its matrix depends on besides t, q and v.
struct LinearStep<'a> {
    system: &'a dyn System,
    state: &'a State,
    prescribed: &'a Prescribed,
    h: f64,
}

impl LinearStep<'_> {
    fn t1(&self) -> f64 {
        self.state.t + self.h
    }

    /// The forces at q_k, N.
    fn forces(&self) -> Result<Vec<f64>, StepError> {
        let Self { system, state, h, .. } = *self;
        let mut f = vec![0.0; state.q.len()];
        system.gradient(self.t1(), &state.q, &mut f);
        f.iter_mut().for_each(|f| *f = -*f);
        if let Some(dissipation) = system.abilities().dissipation {
            dissipation.add_forces(self.t1(), &state.q, &state.v, &mut f);
        }
        match f.iter().position(|f| !f.is_finite()) {
            Some(dof) => Err(StepError::NotFinite { t: state.t, h, dof }),
            None => Ok(f),
        }
    }

    /// Assembles M + hD + h²K, and returns h(f − hKv) without the share of `known`, the Δv of Dirichlet dofs.
    fn assemble(&self, implicit: Implicit, forces: &[f64], known: &[f64], a: &mut BlockMatrix) -> Vec<f64> {
        let Self { system, state, h, .. } = *self;
        let n = known.len();
        let (mut product, mut damped) = (vec![0.0; n], vec![0.0; n]);
        let abilities = system.abilities();
        assemble_damping(system, self.t1(), &state.q, &state.v, h, a);
        if abilities.dissipation.is_some() {
            a.mul_vec(&state.v, &mut damped);
        }
        add_stiffness(system, implicit, self.t1(), &state.q, a);
        a.mul_vec(&state.v, &mut product);
        product.iter_mut().zip(&damped).for_each(|(all, damped)| *all -= damped);
        if let Some(correction) = abilities.correction {
            correction.add_stiffness(&state.v, &mut product);
        }
        let mut right: Vec<f64> = (0..n).map(|i| h * (forces[i] - h * product[i])).collect();
        complete(system, h, a);
        a.mul_vec(known, &mut product);
        if let Some(correction) = abilities.correction {
            // What is held is no unknown of the low-rank matrix, but moves the modes.
            let mut pulled = vec![0.0; n];
            correction.add_stiffness(known, &mut pulled);
            product.iter_mut().zip(&pulled).for_each(|(p, k)| *p += h * h * k);
        }
        let mask = &self.prescribed.mask;
        (0..n).for_each(|i| right[i] = if mask[i] { 0.0 } else { right[i] - product[i] });
        a.hold(mask);
        right
    }

    /// Δv, with the first matrix that is positive definite. It is zero at Dirichlet dofs.
    fn solve(
        &self,
        method: &SemiImplicit,
        work: &mut Workspace,
    ) -> Result<(Vec<f64>, LinearReport), StepError> {
        let Self { system, state, h, prescribed } = *self;
        let (correction, mask) = (system.abilities().correction, &prescribed.mask);
        let forces = self.forces()?;
        let mut known = vec![0.0; forces.len()];
        prescribed.mean_velocity(&state.q, h, &mut known);
        (0..known.len()).filter(|&i| mask[i]).for_each(|i| known[i] -= state.v[i]);
        let key = reuse_key(system, self.t1(), [h * h, h], mask);
        let first = method.tries[0];
        work.begin_linear(key, &mut |origin, a| {
            assemble_damping(system, origin.key.time, &origin.x, &origin.rates, h, a);
            add_stiffness(system, first.with(origin.curvature), origin.key.time, &origin.x, a);
            complete(system, h, a);
            a.hold(mask);
        });
        let mut failed = None;
        for implicit in method.tries {
            let right = self.assemble(*implicit, &forces, &known, work.matrix_mut());
            work.correct(correction.map(|c| c.deflation(h * h, h)));
            // A fitted system has the projected second derivative at the start of the step.
            let curvature = if correction.is_some() { Curvature::Projected } else { implicit.curvature() };
            let at = Linearisation { x: &state.q, rates: &state.v, curvature, key };
            let mut dv = right.clone();
            match work.solve_linear(&at, &mut dv, ACCURACY) {
                Ok(solved) => {
                    if solved.iterations > 0 {
                        work.balance(&right, &mut dv, &state.q, method.exact_motions(), mask);
                    }
                    return Ok((dv, solved));
                }
                Err(e) => failed = Some(SolveError::Singular { dof: e.dof }),
            }
        }
        let cause = failed.expect("there is a matrix");
        Err(StepError::Solve { cause, t: state.t, h })
    }
}

impl SemiImplicit {
    fn exact_motions(&self) -> RigidMotions {
        if self.claims.angular_momentum { RigidMotions::All } else { RigidMotions::Translations }
    }

    fn step_with(
        &mut self,
        work: &mut Workspace,
        system: &dyn System,
        state: &mut State,
        h: f64,
    ) -> Result<StepStats, StepError> {
        let (n, t1) = (state.q.len(), state.t + h);
        self.prescribed.prepare(system, state, h)?;
        let step = LinearStep { system, state, prescribed: &self.prescribed, h };
        let (dv, solved) = step.solve(self, work)?;
        let mut v: Vec<f64> = (0..n).map(|i| state.v[i] + dv[i]).collect();
        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + h * v[i]).collect();
        let Prescribed { constraint_solver, mask, .. } = &mut self.prescribed;
        if constraint_solver.count() > 0 {
            let factor = Some(work.matrix_and_factor());
            constraint_solver.drift(system, state, h, mask, factor, &mut v, &mut q1)?;
        }
        let mut p1 = vec![0.0; n];
        system.mass().mul(&v, &mut p1);
        if !system.energy(t1, &q1).is_finite() {
            return Err(StepError::Infeasible { t: state.t, h });
        }
        self.prescribed.finish(system, state, h, &mut q1, &mut p1)?;
        Ok(solved.into())
    }
}

impl Integrator for SemiImplicit {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let abilities = system.abilities();
        let pattern = match self.tries[0] {
            Implicit::All(_) => system.pattern(),
            Implicit::Part(part) => {
                abilities.split.map_or(system.pattern(), |split| split.stiff_pattern(part))
            }
        };
        let mut persistent = std::mem::take(&mut self.persistent);
        let done = persistent.attempt(pattern, |work| self.step_with(work, system, state, h));
        self.persistent = persistent;
        done
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
