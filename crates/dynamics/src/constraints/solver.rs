use super::{TOLERANCE, discrete_jacobian, jacobian};
use crate::{Mass, State, StepError, System};
use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky, DirectSolver, Saddle, SparseRows};
use std::sync::Arc;

/// The constraint solver of one step: the constraints in force, the directions of their forces, and their impulses.
#[derive(Default)]
pub struct ConstraintSolver {
    active: Vec<usize>,
    /// Effective mass of each constraint, 1/(J M⁻¹ Jᵀ)ᵢᵢ, kg. Scaling by it makes residuals of constraints and of motion
    /// comparable, and multipliers become lengths.
    masses: Vec<f64>,
    /// |g| at which a solve stops, m.
    tolerances: Vec<f64>,
    /// J(q₀), zero at Dirichlet dofs, rows scaled by `masses`.
    directions: SparseRows,
    discrete: bool,
    /// Times of the start and the end of the step, s.
    times: [f64; 2],
    /// The impulse Jᵀμ that is added to p₀, N s; empty if there are no constraints.
    start_impulse: Vec<f64>,
    impulses: Vec<f64>,
    reactions: Vec<f64>,
    /// The share of the reactions of constraints that change in time; empty if there are none.
    moving: Vec<f64>,
    saddle: Saddle,
    mass: Option<MassMatrix>,
    rows: SparseRows,
}

/// Impulses of all constraints, their reactions, and the share of these that moving constraints have, N s.
type SavedImpulses = [Vec<f64>; 3];

/// The mass matrix for one set of Dirichlet dofs, and its factor.
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
            // Not the pattern of the system, whose factor would contain mostly zeros.
            Mass::Lumped(m) => Arc::new(BlockPattern::from_cliques(m.len() / 3, std::iter::empty())),
            Mass::Consistent(_) => system.pattern().clone(),
        };
        let mut matrix = BlockMatrix::zeros(pattern);
        mass.add_to(&mut matrix);
        matrix.hold(held);
        Self { held: held.to_vec(), diagonal: mass.diagonal().to_vec(), matrix, factor: Cholesky::new() }
    }
}

impl ConstraintSolver {
    /// Prepares a step of `h` from `state`.
    pub(crate) fn prepare(&mut self, system: &dyn System, state: &State, h: f64, held: &[bool]) {
        self.impulses.clear();
        self.reactions.clear();
        self.moving.clear();
        self.start_impulse.clear();
        self.times = [state.t, state.t + h];
        self.directions.clear();
        self.active = system.abilities().in_force(state.t + h);
        self.discrete = false;
        if self.active.is_empty() {
            return;
        }
        let constraints = system.abilities().constraints();
        self.impulses.resize(constraints.len(), 0.0);
        self.reactions.resize(state.q.len(), 0.0);
        self.start_impulse.resize(state.q.len(), 0.0);
        if self.active.iter().any(|&i| constraints[i].moves()) {
            self.moving.resize(state.q.len(), 0.0);
        }
        jacobian(system, &self.active, state.t, &state.q, &mut self.directions);
        self.directions.hold(held);
        self.masses = scale_rows(&mut self.directions, system.mass().diagonal());
        // Two digits below the guaranteed accuracy, but not below the round-off of positions.
        let far = state.q.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let tolerance = |&i: &usize| 0.01 * TOLERANCE * constraints[i].scale() + 8.0 * f64::EPSILON * far;
        self.tolerances = self.active.iter().map(tolerance).collect();
    }

    /// Number of constraints in force.
    pub fn count(&self) -> usize {
        self.active.len()
    }

    /// Impulse of every constraint of the system over the last step, N s; empty if none was in force.
    pub fn impulses(&self) -> &[f64] {
        &self.impulses
    }

    /// Constraint impulse on every dof, Dirichlet dofs included, N s; empty if no constraint was in force.
    pub fn reactions(&self) -> &[f64] {
        &self.reactions
    }

    /// The share of [`ConstraintSolver::reactions`] of constraints that change in time, N s; empty if there are none.
    pub fn moving_reactions(&self) -> &[f64] {
        &self.moving
    }

    /// Adds the constraint impulse at the start of the step to the momenta.
    pub fn add_start_impulse(&self, p: &mut [f64]) {
        for (p, k) in p.iter_mut().zip(&self.start_impulse) {
            *p += k;
        }
    }

    /// Effective mass 1/(J M⁻¹ Jᵀ)ᵢᵢ of the i-th constraint in force, kg.
    pub(crate) fn mass(&self, i: usize) -> f64 {
        self.masses[i]
    }

    /// Directions of the forces, scaled by the masses: J(q₀), or the discrete gradients between q₀ and q₁.
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
            discrete_jacobian(system, &self.active, self.times, q0, q1, rows);
            rows.hold(held);
            for (i, m) in self.masses.iter().enumerate() {
                rows.scale_row(i, *m);
            }
        } else {
            rows.clone_from(&self.directions);
        }
    }

    /// gᵢ(q₁) of the constraints in force, m.
    pub(crate) fn values(&self, system: &dyn System, q1: &[f64], g: &mut [f64]) {
        let constraints = system.abilities().constraints();
        let t1 = system.abilities().constraint_time(self.times[1]);
        for (g, &i) in g.iter_mut().zip(&self.active) {
            *g = constraints[i].value(t1, q1);
        }
    }

    /// Whether these values of g are within the tolerances.
    fn is_close(&self, g: impl Iterator<Item = f64>) -> bool {
        g.zip(&self.tolerances).all(|(g, tolerance)| g.abs() <= *tolerance)
    }

    /// Completes the residual of a step that is solved for x with q₁ = q₀ + (x − q₀)/reach. It adds Bᵀ times the multipliers to
    /// the equations of motion, where B are the `rows` of [`ConstraintSolver::directions`], and writes g(q₁) into the
    /// equations that follow.
    pub(crate) fn complete(
        &self,
        system: &dyn System,
        rows: &SparseRows,
        reach: f64,
        q1: &[f64],
        multipliers: &[f64],
        r: &mut [f64],
    ) {
        let (motion, constraints) = r.split_at_mut(q1.len());
        rows.add_transposed(1.0, multipliers, motion);
        self.values(system, q1, constraints);
        for (constraint, mass) in constraints.iter_mut().zip(&self.masses) {
            *constraint *= reach * mass;
        }
    }

    /// Whether the constraint part of a residual of [`ConstraintSolver::complete`] is within the tolerances.
    pub(crate) fn is_satisfied(&self, reach: f64, r: &[f64]) -> bool {
        self.is_close(r.iter().zip(&self.masses).map(|(r, mass)| r / (reach * mass)))
    }

    /// The impulses, N s, of multipliers in a step whose constraint forces displace x over `time`, s.
    pub(crate) fn impulses_of(&self, multipliers: &[f64], time: f64) -> Vec<f64> {
        // The residual contains + Bᵀμ̂, which is − time Jᵀμ.
        multipliers.iter().zip(&self.masses).map(|(m, mass)| -mass * m / time).collect()
    }

    /// Adds impulses (N s) of the constraints in force, along J(q₀) or, if the end of the step is given, along discrete
    /// gradients.
    pub(crate) fn add_impulses(
        &mut self,
        system: &dyn System,
        q0: &[f64],
        end: Option<&[f64]>,
        impulses: &[f64],
    ) {
        self.discrete = end.is_some();
        let mut rows = std::mem::take(&mut self.rows);
        match end {
            Some(q1) => discrete_jacobian(system, &self.active, self.times, q0, q1, &mut rows),
            None => jacobian(system, &self.active, self.times[0], q0, &mut rows),
        }
        rows.add_transposed(1.0, impulses, &mut self.start_impulse);
        rows.add_transposed(1.0, impulses, &mut self.reactions);
        self.add_moving(system, &rows, impulses);
        for (&i, impulse) in self.active.iter().zip(impulses) {
            self.impulses[i] += impulse;
        }
        self.rows = rows;
    }

    /// Corrects a drift q₁ = q₀ + h v, with Dirichlet dofs in place, until the constraints are satisfied. It changes v, q₁ and
    /// the start impulse ([`ConstraintSolver::add_start_impulse`]). An impulse changes the velocity by A⁻¹ (`None`: M⁻¹).
    pub(crate) fn drift(
        &mut self,
        system: &dyn System,
        state: &State,
        h: f64,
        held: &[bool],
        a: Option<(&BlockMatrix, &mut dyn DirectSolver)>,
        v: &mut [f64],
        q1: &mut [f64],
    ) -> Result<(), StepError> {
        let (n, m) = (v.len(), self.count());
        if m == 0 {
            return Ok(());
        }
        let mut mass = self.mass_matrix(system, held);
        let (a, factor) = a.unwrap_or((&mass.matrix, &mut mass.factor as &mut dyn DirectSolver));
        let factored = self.saddle.factor(a, factor, &self.directions);
        let mut g = vec![0.0; m];
        let mut impulses = vec![0.0; m];
        let mut satisfied = false;
        if factored.is_ok() {
            // A chord method: J M⁻¹ J₀ᵀ differs from J₀ M⁻¹ J₀ᵀ by the rotation during the step.
            for _ in 0..60 {
                self.values(system, q1, &mut g);
                satisfied = self.is_close(g.iter().copied());
                if satisfied {
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
        if !satisfied {
            return Err(self.failure(system, state.t, h, q1));
        }
        self.add_impulses(system, &state.q, None, &impulses);
        Ok(())
    }

    /// Adds the part of an impulse that belongs to constraints that change in time.
    fn add_moving(&mut self, system: &dyn System, rows: &SparseRows, impulses: &[f64]) {
        if self.moving.is_empty() {
            return;
        }
        let constraints = system.abilities().constraints();
        let moves = |i: usize| if constraints[i].moves() { 1.0 } else { 0.0 };
        let own: Vec<f64> =
            self.active.iter().zip(impulses).map(|(&i, impulse)| moves(i) * impulse).collect();
        rows.add_transposed(1.0, &own, &mut self.moving);
    }

    /// Projects velocities and momenta at (t, q) onto J v = −∂g/∂t. Dirichlet dofs are not changed. Returns `false` if J is
    /// singular.
    pub(crate) fn project(
        &mut self,
        system: &dyn System,
        held: &[bool],
        t: f64,
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
        jacobian(system, &self.active, t, q1, &mut rows);
        let mut z = vec![0.0; n + m];
        rows.mul(v, &mut z[n..]);
        if !self.moving.is_empty() {
            let (constraints, t) = (system.abilities().constraints(), system.abilities().constraint_time(t));
            for (z, &i) in z[n..].iter_mut().zip(&self.active) {
                *z += constraints[i].rate(t, q1);
            }
        }
        let mut free = rows.clone();
        free.hold(held);
        let masses = scale_rows(&mut free, system.mass().diagonal());
        for i in 0..m {
            z[n + i] *= -masses[i];
        }
        let solvable = self.saddle.factor(&mass.matrix, &mut mass.factor, &free).is_ok();
        if solvable {
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
            self.add_moving(system, &rows, &impulses);
            for (&i, impulse) in self.active.iter().zip(&impulses) {
                self.impulses[i] += impulse;
            }
        }
        (self.rows, self.mass) = (rows, Some(mass));
        solvable
    }

    /// Replaces u by u + M⁻¹Jᵀμ with J(q)u = 0, for the constraints in force at t. Returns μ by constraint; nothing, and u
    /// as it is, if J is singular or there are no constraints.
    pub(crate) fn tangential(
        system: &dyn System,
        t: f64,
        held: &[bool],
        q: &[f64],
        u: &mut [f64],
    ) -> Vec<(usize, f64)> {
        let active = system.abilities().in_force(t);
        if active.is_empty() {
            return Vec::new();
        }
        let impulses = vec![0.0; system.abilities().constraints().len()];
        let mut solver = Self { active, impulses, reactions: vec![0.0; q.len()], ..Self::default() };
        if !solver.project(system, held, t, q, u, &mut vec![0.0; q.len()]) {
            return Vec::new();
        }
        solver.active.iter().map(|&i| (i, solver.impulses[i])).collect()
    }

    /// Multipliers of impulses, the inverse of [`ConstraintSolver::impulses_of`].
    pub(crate) fn multipliers_of(&self, time: f64) -> Vec<f64> {
        let each = self.active.iter().zip(&self.masses);
        each.map(|(&i, mass)| if *mass > 0.0 { -time * self.impulses[i] / mass } else { 0.0 }).collect()
    }

    /// The impulses so far, for [`ConstraintSolver::restore_impulses`].
    pub(crate) fn saved_impulses(&self) -> SavedImpulses {
        [self.impulses.clone(), self.reactions.clone(), self.moving.clone()]
    }

    /// Restores saved impulses, after a trial.
    pub(crate) fn restore_impulses(&mut self, saved: SavedImpulses) {
        [self.impulses, self.reactions, self.moving] = saved;
    }

    /// Adds the impulses of a part of the step.
    pub(crate) fn add_saved_impulses(&mut self, [impulses, reactions, moving]: &SavedImpulses) {
        let add = |to: &mut Vec<f64>, from: &[f64]| {
            to.resize(to.len().max(from.len()), 0.0);
            for (to, from) in to.iter_mut().zip(from) {
                *to += from;
            }
        };
        add(&mut self.impulses, impulses);
        add(&mut self.reactions, reactions);
        add(&mut self.moving, moving);
    }

    /// Replaces an impulse by the velocity that follows from it: the solution of the saddle-point system of A and J(q₀).
    /// Returns `false` if the system is singular.
    pub(crate) fn solve_impulse(
        &mut self,
        a: &BlockMatrix,
        factor: &mut dyn DirectSolver,
        impulse: &mut Vec<f64>,
    ) -> bool {
        let n = impulse.len();
        let solvable = self.saddle.factor(a, factor, &self.directions).is_ok();
        if solvable {
            impulse.resize(n + self.count(), 0.0);
            self.saddle.solve(a, factor, impulse, 3);
            impulse.truncate(n);
        }
        solvable
    }

    /// The end of a step: a last check of g, and the projection of velocities, which discrete gradients do not need.
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
        let constraints = system.abilities().constraints();
        let scales = self.active.iter().map(|&i| constraints[i].scale());
        let satisfied =
            g.iter().zip(scales).zip(&self.tolerances).all(|((g, s), c)| g.abs() <= TOLERANCE * s + c);
        if !satisfied || (!self.discrete && !self.project(system, held, self.times[1], q1, v, p)) {
            return Err(self.failure(system, state.t, h, q1));
        }
        Ok(())
    }

    /// The error of a step, which names the constraint with the largest violation.
    pub(crate) fn failure(&self, system: &dyn System, t: f64, h: f64, q1: &[f64]) -> StepError {
        let (i, excess) = super::worst(system, t + h, q1).unwrap_or((0, f64::NAN));
        StepError::Constraint { name: system.abilities().constraints()[i].name().to_string(), excess, t, h }
    }

    fn mass_matrix(&mut self, system: &dyn System, held: &[bool]) -> MassMatrix {
        let cached = self.mass.take().filter(|m| m.held == held && m.diagonal == system.mass().diagonal());
        cached.unwrap_or_else(|| MassMatrix::new(system, held))
    }
}

/// Multiplies each row by 1/(B D⁻¹ Bᵀ)ᵢᵢ and returns these factors. A zero row stays zero.
pub(super) fn scale_rows(rows: &mut SparseRows, d: &[f64]) -> Vec<f64> {
    let masses: Vec<f64> = rows.squares(d).into_iter().map(|s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect();
    for (i, m) in masses.iter().enumerate() {
        rows.scale_row(i, *m);
    }
    masses
}
