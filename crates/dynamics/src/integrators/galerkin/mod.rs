//! Galerkin variational integrators of any even order \[marsden2001, 2.6\], \[hairer2006, VI.6\].
//!
//! Within a step the motion is a polynomial, and the action is a quadrature over s points. The stationary action gives stages
//!
//!   M (Q_j − q₀ − c_j h v₀) = h² Σ B_jk F(t_k, Q_k, V_k),   p₁ = p₀ + h Σ b_k F_k,
//!
//! which are Runge–Kutta methods: with Gauss points Gauss collocation (order 2s), with Lobatto points the pair Lobatto
//! IIIA–IIIB (order 2s − 2; `verlet` is that with two points). Both are symplectic and reversible, and conserve both
//! momenta. Forces without potential act at the stages with their velocities, at the same order.
//!
//! With Gauss points a linear oscillation is stable at every step. With Lobatto points it is only up to hω = 2.83, 3.11, 3.14
//! (orders 4, 6, 8), but the force at the start of a step is known: order 4 solves for one force, not two.
//!
//! All stages are solved for together, by Newton–Krylov with one factor of M + γhD + γ²h²K for each stage as the preconditioner.
//! The stages of a stiff body rotate by a quarter turn against it, so that GMRES takes about ten iterations, each with one force for
//! each stage.
//!
//! Constraints are refused: an impulse along J(q₀)ᵀ, as in methods of second order, would leave no more than that order.

mod tableau;

use super::{Claims, Entry, Integrator, LINEAR, MAX_ITERATIONS, TOLERANCE, Variant};
use crate::implicit::{Method, Solver};
use crate::integrator::WorkOfForces;
use crate::options::{Kind, OptionSpec, Options};
use crate::prescribed::Prescribed;
use crate::{Effort, Memory, MemoryError, MemoryRecord, State, StepError, StepStats, System};
use lilyan_solve::newton::{Curvature, Equations, SolverMemory, dot};
use lilyan_solve::{BlockMatrix, BlockPattern};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tableau::{Points, Tableau};

pub(super) const ENTRY: Entry = Entry {
    name: "galerkin",
    summary: "symplectic steps of order 4, 6, 8 or higher, all stages forwards: Gauss or Lobatto points",
    cite: "marsden2001",
    stable_deformed: Some(2.0),
    options: &[
        OptionSpec {
            name: "order",
            doc: "order of accuracy; odd ones are rounded up",
            kind: Kind::Number { min: 2.0, max: 12.0, default: 4.0 },
        },
        OptionSpec {
            name: "points",
            doc: "Gauss points, stable at every step of an oscillation, or Lobatto points, with a stage less to solve for and a \
                  longest stable step",
            kind: Kind::Word { choices: &["gauss", "lobatto"] },
        },
        TOLERANCE,
        MAX_ITERATIONS,
        LINEAR,
    ],
    variants: &[
        &[("order", Variant::Number(6.0))],
        &[("order", Variant::Number(8.0))],
        &[("points", Variant::Word("lobatto"))],
        &[("points", Variant::Word("lobatto")), ("order", Variant::Number(6.0))],
        &[("points", Variant::Word("lobatto")), ("order", Variant::Number(8.0))],
    ],
    build: |options| Box::new(Galerkin::new(options)),
};

struct Galerkin {
    order: u32,
    tableau: Tableau,
    solver: Solver,
    prescribed: Prescribed,
    /// Of the last step.
    work: Option<WorkOfForces>,
    /// The pattern of one system, and of one copy of it for each stage.
    patterns: Option<[Arc<BlockPattern>; 2]>,
}

impl Galerkin {
    fn new(options: &Options) -> Self {
        let half = (0.5 * options.number("order")).ceil() as usize;
        let tableau = match options.word("points") {
            // Two Lobatto points are the trapezoidal rule, whose unknown is the end alone.
            "lobatto" => Tableau::new(Points::Lobatto, half + 1),
            _ => Tableau::new(Points::Gauss, half),
        };
        Self {
            order: 2 * half as u32,
            tableau,
            solver: Solver::new(options, Method::Root, true),
            prescribed: Prescribed::default(),
            work: None,
            patterns: None,
        }
    }

    /// The pattern of all stages.
    fn pattern(&mut self, system: &dyn System) -> Arc<BlockPattern> {
        let own = system.pattern();
        if !self.patterns.as_ref().is_some_and(|[of, _]| Arc::ptr_eq(of, own)) {
            let (n, stages) = (own.n(), self.tableau.times.len());
            let entries = (0..stages).flat_map(|stage| {
                let offset = (stage * n) as u32;
                (0..n).flat_map(move |j| own.column(j).iter().map(move |&i| [i + offset, j as u32 + offset]))
            });
            let entries: Vec<[u32; 2]> = entries.collect();
            let all = BlockPattern::from_cliques(stages * n, entries.iter().map(|pair| &pair[..]));
            self.patterns = Some([own.clone(), Arc::new(all)]);
        }
        self.patterns.as_ref().expect("just made")[1].clone()
    }
}

/// The equations of the stages of one step.
struct Stages<'a> {
    system: &'a dyn System,
    state: &'a State,
    h: f64,
    tableau: &'a Tableau,
    held: &'a [bool],
    /// Forces Fₖ of the last evaluation, N.
    forces: Vec<Vec<f64>>,
}

impl Stages<'_> {
    /// D_j of each stage, m.
    fn deviations(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let State { q, v, .. } = self.state;
        let stages = x.chunks_exact(q.len()).zip(&self.tableau.times);
        stages.map(|(x, c)| (0..q.len()).map(|i| x[i] - q[i] - c * self.h * v[i]).collect()).collect()
    }

    /// v₀ + Σ rowⱼ Dⱼ/h at a time; that of the Dirichlet dofs as prescribed.
    fn velocity(&self, row: &[f64], deviations: &[Vec<f64>], time: f64) -> Vec<f64> {
        let mut v = self.state.v.clone();
        for (weight, deviation) in row.iter().zip(deviations) {
            v.iter_mut().zip(deviation).for_each(|(v, d)| *v += weight / self.h * d);
        }
        self.system.abilities().place_prescribed(time, &mut self.state.q.clone(), &mut v);
        v
    }

    /// −∇W + f, N; `None` where infeasible.
    fn force(&self, time: f64, q: &[f64], v: impl FnOnce() -> Vec<f64>) -> Option<Vec<f64>> {
        let mut force = vec![0.0; q.len()];
        self.system.gradient(time, q, &mut force);
        force.iter_mut().for_each(|f| *f = -*f);
        if let Some(dissipation) = self.system.abilities().dissipation {
            dissipation.add_forces(time, q, &v(), &mut force);
        }
        force.iter().all(|f| f.is_finite()).then_some(force)
    }

    /// Evaluates the forces at the stages x. `false` where they are infeasible.
    fn evaluate(&mut self, x: &[f64]) -> bool {
        let (n, t) = (self.state.q.len(), self.tableau);
        let deviations = self.deviations(x);
        self.forces.clear();
        for (k, stage) in t.stage_of_force.iter().enumerate() {
            let q = stage.map_or(&self.state.q[..], |j| &x[j * n..(j + 1) * n]);
            let time = self.state.t + t.force_times[k] * self.h;
            let force = self.force(time, q, || self.velocity(&t.velocities[k], &deviations, time));
            let Some(force) = force else { return false };
            self.forces.push(force);
        }
        true
    }

    /// (q₁, p₁) from solved stages.
    fn end(&mut self, x: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        if !self.evaluate(x) {
            return None;
        }
        let (h, tableau, State { t, q, v, p, .. }) = (self.h, self.tableau, self.state);
        let deviations = self.deviations(x);
        let mut q1: Vec<f64> = q.iter().zip(v).map(|(q, v)| q + h * v).collect();
        for (weight, deviation) in tableau.end.iter().zip(&deviations) {
            q1.iter_mut().zip(deviation).for_each(|(q, d)| *q += weight * d);
        }
        let mut p1 = p.clone();
        let mut push = |weight: f64, force: &[f64]| {
            p1.iter_mut().zip(force).for_each(|(p, f)| *p += h * weight * f);
        };
        for (weight, force) in tableau.weights.iter().zip(&self.forces) {
            push(*weight, force);
        }
        if let Some((weight, row)) = &tableau.last {
            self.system.abilities().place_prescribed(t + h, &mut q1, &mut v.clone());
            push(*weight, &self.force(t + h, &q1, || self.velocity(row, &deviations, t + h))?);
        }
        self.system.energy(t + h, &q1).is_finite().then_some((q1, p1))
    }

    /// The work of forces at solved stages, by the quadrature of the step to q₁. `None` where Dirichlet dofs move: their reactions
    /// belong to the midpoint rule.
    fn work(&self, x: &[f64], q1: &[f64]) -> Option<WorkOfForces> {
        let abilities = self.system.abilities();
        if abilities.prescribed_moves() {
            return None;
        }
        let (n, tableau, deviations) = (q1.len(), self.tableau, self.deviations(x));
        let mut work = WorkOfForces::default();
        let mut add = |weight: f64, time: f64, q: &[f64], row: &[f64]| {
            let time = self.state.t + time * self.h;
            let v = self.velocity(row, &deviations, time);
            let power = |evaluate: &dyn Fn(&mut [f64])| {
                let mut force = vec![0.0; n];
                evaluate(&mut force);
                weight * self.h * dot(&force, &v)
            };
            if let Some(dissipation) = abilities.dissipation {
                work.without_potential += power(&|f| dissipation.add_forces(time, q, &v, f));
            }
            if let Some(applied) = abilities.applied {
                work.applied += power(&|f| applied.add_applied_forces(time, q, &v, f));
            }
            if let Some(loads) = abilities.loads {
                work.loads += power(&|f| loads.add_load(time, f));
            }
        };
        for (k, stage) in tableau.stage_of_force.iter().enumerate() {
            let q = stage.map_or(&self.state.q[..], |j| &x[j * n..(j + 1) * n]);
            add(tableau.weights[k], tableau.force_times[k], q, &tableau.velocities[k]);
        }
        if let Some((weight, row)) = &tableau.last {
            add(*weight, 1.0, q1, row);
        }
        Some(work)
    }

    /// The stages q₀ + share·c_j h v₀, with Dirichlet dofs where they are then.
    fn guess(&self, share: f64) -> Vec<f64> {
        let State { t, q, v, .. } = self.state;
        let mut all = Vec::with_capacity(q.len() * self.tableau.times.len());
        for c in &self.tableau.times {
            let mut stage: Vec<f64> = q.iter().zip(v).map(|(q, v)| q + share * c * self.h * v).collect();
            self.system.abilities().place_prescribed(t + c * self.h, &mut stage, &mut v.clone());
            all.extend(stage);
        }
        all
    }
}

impl Equations for Stages<'_> {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> bool {
        if !self.evaluate(x) {
            return false;
        }
        let n = self.state.q.len();
        for (j, (deviation, r)) in self.deviations(x).iter().zip(r.chunks_exact_mut(n)).enumerate() {
            self.system.mass().mul(deviation, r);
            for (weight, force) in self.tableau.forces[j].iter().zip(&self.forces) {
                r.iter_mut().zip(force).for_each(|(r, f)| *r -= self.h * self.h * weight * f);
            }
            (0..n).filter(|&i| self.held[i]).for_each(|i| r[i] = 0.0);
        }
        true
    }

    fn preconditioner(&mut self, x: &[f64], curvature: Curvature, a: &mut BlockMatrix) {
        let (n, system, h) = (self.state.q.len(), self.system, self.h);
        a.clear();
        let mut own = BlockMatrix::zeros(system.pattern().clone());
        for (j, (stage, square)) in x.chunks_exact(n).zip(&self.tableau.diagonal).enumerate() {
            let time = self.state.t + self.tableau.times[j] * h;
            own.clear();
            if *square > 0.0 {
                system.hessian(time, stage, curvature, &mut own);
                own.scale(square * h * h);
            }
            if let Some(dissipation) = system.abilities().dissipation {
                // At the stage nothing but its size matters.
                let mut damping = BlockMatrix::zeros(system.pattern().clone());
                dissipation.add_damping_matrix(time, stage, &self.state.v, &mut damping);
                own.add_scaled(square.sqrt() * h, &damping);
            }
            system.mass().add_to(&mut own);
            own.hold(self.held);
            add_copy(&own, j * own.pattern().n(), a);
        }
    }

    fn weight(&self, i: usize) -> f64 {
        let mass = self.system.mass().diagonal();
        1.0 / mass[i % mass.len()]
    }
}

/// Adds a matrix to the diagonal of a larger one, from this node on.
fn add_copy(own: &BlockMatrix, offset: usize, all: &mut BlockMatrix) {
    let pattern = own.pattern();
    for j in 0..pattern.n() {
        for position in pattern.col_ptr()[j]..pattern.col_ptr()[j + 1] {
            let i = pattern.rows()[position] as usize;
            all.add_block(i + offset, j + offset, &own.values()[position]);
        }
    }
    for (&(i, j), block) in own.extra() {
        all.add_block(i as usize + offset, j as usize + offset, block);
    }
}

impl Integrator for Galerkin {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        self.prescribed.prepare(system, state, h)?;
        let pattern = self.pattern(system);
        let Self { tableau, solver, prescribed, .. } = self;
        let held = &prescribed.mask;
        let mut stages = Stages { system, state, h, tableau, held, forces: Vec::new() };
        let origin: Vec<f64> = tableau.times.iter().flat_map(|_| state.q.iter().copied()).collect();
        let mut x = stages.guess(1.0);
        let solved = solver.root_of(&mut stages, system.length(), &pattern, &mut x, &origin).or_else(|_| {
            x = stages.guess(0.0);
            solver.root_of(&mut stages, system.length(), &pattern, &mut x, &origin)
        });
        let report = solved.map_err(|cause| StepError::Solve { cause, t: state.t, h })?;
        let (mut q1, mut p1) = stages.end(&x).ok_or(StepError::Infeasible { t: state.t, h })?;
        let work = stages.work(&x, &q1);
        prescribed.finish(system, state, h, &mut q1, &mut p1)?;
        self.work = work;
        Ok(report.into())
    }

    fn work_of_forces(&self) -> Option<WorkOfForces> {
        self.work
    }

    fn claims(&self) -> Claims {
        Claims { reversible: true, ..Claims::variational(self.order) }
    }

    fn set_effort(&mut self, effort: f64) -> Option<Effort> {
        Some(self.solver.set_effort(effort))
    }

    fn reset(&mut self) {
        self.solver.persistent.reset();
    }

    fn memory(&self) -> Memory {
        Memory::new(GalerkinMemory { solver: self.solver.persistent.memory() })
    }

    fn restore(&mut self, memory: &Memory, _state: &State) -> Result<(), MemoryError> {
        let GalerkinMemory { solver } = memory.read()?;
        self.solver.persistent.restore(solver);
        Ok(())
    }
}

/// The memory of `galerkin`.
#[derive(Clone, Serialize, Deserialize)]
struct GalerkinMemory {
    solver: SolverMemory,
}

impl MemoryRecord for GalerkinMemory {
    const KIND: &'static str = "galerkin";
    const VERSION: u32 = 1;
}
