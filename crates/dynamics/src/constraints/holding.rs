use super::{KEPT, discrete_jacobian, jacobian};
use crate::{Mass, State, StepError, System};
use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky, Saddle, SparseRows};
use std::sync::Arc;

/// The constraints of one step: those in force, the directions of their forces, and the impulses they took.
#[derive(Default)]
pub struct Holding {
    active: Vec<usize>,
    /// The mass that each constraint moves, 1/(J M⁻¹ Jᵀ)ᵢᵢ, kg: it makes residuals of constraints and of motion
    /// comparable, and multipliers lengths.
    masses: Vec<f64>,
    /// |g| at which a solve may stop, m.
    close: Vec<f64>,
    /// J(q₀) without held unknowns, rows times `masses`.
    directions: SparseRows,
    discrete: bool,
    /// Jᵀμ: what is added to p₀, N s; empty if there are no constraints.
    kick: Vec<f64>,
    impulses: Vec<f64>,
    reactions: Vec<f64>,
    saddle: Saddle,
    mass: Option<MassMatrix>,
    rows: SparseRows,
}

struct MassMatrix {
    held: Vec<bool>,
    diagonal: Vec<f64>,
    matrix: BlockMatrix,
    factor: Cholesky,
}

impl MassMatrix {
    fn new(system: &dyn System, held: &[bool]) -> Self {
        let mass = system.mass();
        let pattern = match mass {
            // Not the system's: its factor would be full of zeros.
            Mass::Lumped(m) => Arc::new(BlockPattern::from_cliques(m.len() / 3, std::iter::empty())),
            Mass::Consistent(_) => system.pattern().clone(),
        };
        let mut matrix = BlockMatrix::zeros(pattern);
        mass.add_to(&mut matrix);
        matrix.hold(held);
        Self { held: held.to_vec(), diagonal: mass.diagonal().to_vec(), matrix, factor: Cholesky::new() }
    }
}

impl Holding {
    /// Asks the system about a step of `h` from `state`.
    pub(crate) fn prepare(&mut self, system: &dyn System, state: &State, h: f64, held: &[bool]) {
        self.impulses.clear();
        self.reactions.clear();
        self.kick.clear();
        self.directions.clear();
        self.active = system.in_force(state.t + h);
        self.discrete = false;
        if self.active.is_empty() {
            return;
        }
        self.impulses.resize(system.constraints().len(), 0.0);
        self.reactions.resize(state.q.len(), 0.0);
        self.kick.resize(state.q.len(), 0.0);
        jacobian(system, &self.active, &state.q, &mut self.directions);
        self.directions.hold(held);
        self.masses = scale_rows(&mut self.directions, system.mass().diagonal());
        // Two digits below what is promised, but not below the round-off of positions.
        let far = state.q.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let close = |&i: &usize| 0.01 * KEPT * system.constraints()[i].scale() + 8.0 * f64::EPSILON * far;
        self.close = self.active.iter().map(close).collect();
    }

    /// How many constraints are in force.
    pub fn count(&self) -> usize {
        self.active.len()
    }

    /// Impulse of every constraint of the system over the last step, N s; empty if none was in force.
    pub fn impulses(&self) -> &[f64] {
        &self.impulses
    }

    /// The same on every unknown, held ones included, N s; empty if none was in force.
    pub fn reactions(&self) -> &[f64] {
        &self.reactions
    }

    /// Adds what the constraints add to the momenta at the start of the step.
    pub fn add_kick(&self, p: &mut [f64]) {
        for (p, k) in p.iter_mut().zip(&self.kick) {
            *p += k;
        }
    }

    /// 1/(J M⁻¹ Jᵀ) of the i-th constraint in force, kg.
    pub(crate) fn mass(&self, i: usize) -> f64 {
        self.masses[i]
    }

    /// Directions of the forces, times masses: at the start of the step, or, `discrete`, between its ends.
    pub(crate) fn directions(
        &self,
        system: &dyn System,
        discrete: bool,
        q0: &[f64],
        q1: &[f64],
        held: &[bool],
        rows: &mut SparseRows,
    ) {
        if discrete {
            discrete_jacobian(system, &self.active, q0, q1, rows);
            rows.hold(held);
            for (i, m) in self.masses.iter().enumerate() {
                rows.scale_row(i, *m);
            }
        } else {
            rows.clone_from(&self.directions);
        }
    }

    /// gᵢ(q₁) of those in force, m.
    pub(crate) fn values(&self, system: &dyn System, q1: &[f64], g: &mut [f64]) {
        for (g, &i) in g.iter_mut().zip(&self.active) {
            *g = system.constraints()[i].value(q1);
        }
    }

    /// Whether these values are close enough to zero.
    fn is_close(&self, g: impl Iterator<Item = f64>) -> bool {
        g.zip(&self.close).all(|(g, close)| g.abs() <= *close)
    }

    /// Completes the residual of a step that is solved for x with q₁ = q₀ + (x − q₀)/reach: Bᵀ times the multipliers
    /// in the equations of motion, B the `rows` of [`Holding::directions`], and g(q₁) in those that follow.
    pub(crate) fn complete(
        &self,
        system: &dyn System,
        rows: &SparseRows,
        reach: f64,
        q1: &[f64],
        multipliers: &[f64],
        r: &mut [f64],
    ) {
        let (motion, kept) = r.split_at_mut(q1.len());
        rows.add_transposed(1.0, multipliers, motion);
        self.values(system, q1, kept);
        for (kept, mass) in kept.iter_mut().zip(&self.masses) {
            *kept *= reach * mass;
        }
    }

    /// Whether what [`Holding::complete`] left of the constraints is close enough to zero.
    pub(crate) fn is_kept(&self, reach: f64, r: &[f64]) -> bool {
        self.is_close(r.iter().zip(&self.masses).map(|(r, mass)| r / (reach * mass)))
    }

    /// The impulses, N s, that multipliers stand for in a step whose constraints move x over the time `lever`, s.
    pub(crate) fn impulses_of(&self, multipliers: &[f64], lever: f64) -> Vec<f64> {
        // The residual has + Bᵀμ̂ where the impulse on x has − lever Jᵀμ.
        multipliers.iter().zip(&self.masses).map(|(m, mass)| -mass * m / lever).collect()
    }

    /// Takes impulses (N s) of those in force, along J(q₀) or, with the end of the step, discrete gradients.
    pub(crate) fn take(&mut self, system: &dyn System, q0: &[f64], end: Option<&[f64]>, impulses: &[f64]) {
        self.discrete = end.is_some();
        let mut rows = std::mem::take(&mut self.rows);
        match end {
            Some(q1) => discrete_jacobian(system, &self.active, q0, q1, &mut rows),
            None => jacobian(system, &self.active, q0, &mut rows),
        }
        rows.add_transposed(1.0, impulses, &mut self.kick);
        rows.add_transposed(1.0, impulses, &mut self.reactions);
        for (&i, impulse) in self.active.iter().zip(impulses) {
            self.impulses[i] += impulse;
        }
        self.rows = rows;
    }

    /// Corrects a drift q₁ = q₀ + h v, held unknowns in place, until the constraints are kept: v, q₁, and, as
    /// [`Holding::add_kick`], the momentum it began with. The velocity answers to an impulse by A⁻¹ (absent: M⁻¹).
    pub(crate) fn drift(
        &mut self,
        system: &dyn System,
        state: &State,
        h: f64,
        held: &[bool],
        a: Option<(&BlockMatrix, &mut Cholesky)>,
        v: &mut [f64],
        q1: &mut [f64],
    ) -> Result<(), StepError> {
        let (n, m) = (v.len(), self.count());
        if m == 0 {
            return Ok(());
        }
        let mut mass = self.mass_matrix(system, held);
        let (a, factor) = a.unwrap_or((&mass.matrix, &mut mass.factor));
        let factored = self.saddle.factor(a, factor, &self.directions);
        let mut g = vec![0.0; m];
        let mut impulses = vec![0.0; m];
        let mut kept = false;
        if factored.is_ok() {
            // A chord method: J M⁻¹ J₀ᵀ differs from J₀ M⁻¹ J₀ᵀ by what the step turns.
            for _ in 0..60 {
                self.values(system, q1, &mut g);
                kept = self.is_close(g.iter().copied());
                if kept {
                    break;
                }
                let mut z = vec![0.0; n + m];
                for i in 0..m {
                    z[n + i] = -self.masses[i] * g[i] / h;
                }
                self.saddle.solve(a, factor, &mut z, 2);
                for i in (0..n).filter(|&i| !held[i]) {
                    v[i] += z[i];
                    q1[i] += h * z[i];
                }
                for i in 0..m {
                    impulses[i] -= self.masses[i] * z[n + i];
                }
            }
        }
        self.mass = Some(mass);
        if !kept {
            return Err(self.failure(system, state.t, h, q1));
        }
        self.take(system, &state.q, None, &impulses);
        Ok(())
    }

    /// Makes velocities and momenta at q₁ those of a motion that keeps the constraints, held unknowns as they come.
    pub(crate) fn project(
        &mut self,
        system: &dyn System,
        held: &[bool],
        q1: &[f64],
        v: &mut [f64],
        p: &mut [f64],
    ) -> bool {
        let (n, m) = (v.len(), self.count());
        if m == 0 {
            return true;
        }
        let mut mass = self.mass_matrix(system, held);
        let mut rows = std::mem::take(&mut self.rows);
        jacobian(system, &self.active, q1, &mut rows);
        let mut z = vec![0.0; n + m];
        rows.mul(v, &mut z[n..]);
        let mut free = rows.clone();
        free.hold(held);
        let masses = scale_rows(&mut free, system.mass().diagonal());
        for i in 0..m {
            z[n + i] *= -masses[i];
        }
        let done = self.saddle.factor(&mass.matrix, &mut mass.factor, &free).is_ok();
        if done {
            self.saddle.solve(&mass.matrix, &mut mass.factor, &mut z, 3);
            for i in (0..n).filter(|&i| !held[i]) {
                v[i] += z[i];
            }
            let impulses: Vec<f64> = (0..m).map(|i| -masses[i] * z[n + i]).collect();
            let mut change = vec![0.0; n];
            rows.add_transposed(1.0, &impulses, &mut change);
            for i in 0..n {
                p[i] += if held[i] { 0.0 } else { change[i] };
                self.reactions[i] += change[i];
            }
            for (&i, impulse) in self.active.iter().zip(&impulses) {
                self.impulses[i] += impulse;
            }
        }
        (self.rows, self.mass) = (rows, Some(mass));
        done
    }

    /// Impulses so far, to go back to by [`Holding::recount`].
    pub(crate) fn counted(&self) -> (Vec<f64>, Vec<f64>) {
        (self.impulses.clone(), self.reactions.clone())
    }

    /// Forgets impulses that were only tried.
    pub(crate) fn recount(&mut self, counted: (Vec<f64>, Vec<f64>)) {
        (self.impulses, self.reactions) = counted;
    }

    /// Adds the impulses of a part of the step.
    pub(crate) fn include(&mut self, (impulses, reactions): &(Vec<f64>, Vec<f64>)) {
        let add = |to: &mut Vec<f64>, from: &[f64]| {
            to.resize(to.len().max(from.len()), 0.0);
            for (to, from) in to.iter_mut().zip(from) {
                *to += from;
            }
        };
        add(&mut self.impulses, impulses);
        add(&mut self.reactions, reactions);
    }

    /// (A + constraints at q₀)⁻¹: the velocity that an impulse leaves; `false` if there is none.
    pub(crate) fn answer(&mut self, a: &BlockMatrix, factor: &mut Cholesky, impulse: &mut Vec<f64>) -> bool {
        let n = impulse.len();
        let done = self.saddle.factor(a, factor, &self.directions).is_ok();
        if done {
            impulse.resize(n + self.count(), 0.0);
            self.saddle.solve(a, factor, impulse, 3);
            impulse.truncate(n);
        }
        done
    }

    /// The end of a step: velocities made consistent unless a discrete gradient has, and a last look.
    pub(crate) fn finish(
        &mut self,
        system: &dyn System,
        state: &State,
        h: f64,
        held: &[bool],
        q1: &[f64],
        v: &mut [f64],
        p: &mut [f64],
    ) -> Result<(), StepError> {
        if self.active.is_empty() {
            return Ok(());
        }
        let mut g = vec![0.0; self.count()];
        self.values(system, q1, &mut g);
        let scales = self.active.iter().map(|&i| system.constraints()[i].scale());
        let kept = g.iter().zip(scales).zip(&self.close).all(|((g, s), c)| g.abs() <= KEPT * s + c);
        if !kept || (!self.discrete && !self.project(system, held, q1, v, p)) {
            return Err(self.failure(system, state.t, h, q1));
        }
        Ok(())
    }

    /// Why a step failed: by the constraint that is furthest off.
    pub(crate) fn failure(&self, system: &dyn System, t: f64, h: f64, q1: &[f64]) -> StepError {
        let (i, excess) = super::worst(system, t + h, q1).unwrap_or((0, f64::NAN));
        StepError::Constraint { name: system.constraints()[i].name().to_string(), excess, t, h }
    }

    fn mass_matrix(&mut self, system: &dyn System, held: &[bool]) -> MassMatrix {
        let kept = self.mass.take().filter(|m| m.held == held && m.diagonal == system.mass().diagonal());
        kept.unwrap_or_else(|| MassMatrix::new(system, held))
    }
}

/// Rows times 1/(B D⁻¹ Bᵀ)ᵢᵢ; returns those numbers. A row that is zero stays so.
pub(super) fn scale_rows(rows: &mut SparseRows, d: &[f64]) -> Vec<f64> {
    let masses: Vec<f64> = rows.squares(d).into_iter().map(|s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect();
    for (i, m) in masses.iter().enumerate() {
        rows.scale_row(i, *m);
    }
    masses
}
