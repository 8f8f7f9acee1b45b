//! The linear solver of this crate. It chooses the method of least cost, and reuses a preconditioner while that pays.
//!
//! * Moderately stiff matrices (M + h²K with a step that resolves much of the motion): conjugate gradients with an
//!   incomplete factor ([`Incomplete`]).
//! * Stiff matrices, for which these need many iterations: a Cholesky factor. It then preconditions conjugate gradients
//!   for the following matrices, in this Newton solve and in later ones, until a new factor is cheaper.
//! * Stiff matrices whose factor would cost too much: smoothed aggregation multigrid ([`Multigrid`]), reused like a factor.
//!
//! An incomplete factor that needed too many iterations is tried again after 32 systems, then after 64, and so on, since
//! the stiffness of the problem can change (a body gets pinned, released, or comes to rest).

use super::cost::CostModel;
use super::memory::{Kept, LinearMemory};
use super::{LinearReport, LinearSolver, LinearSystem, Policy};
use crate::krylov::{CgOutcome, ConjugateGradients, gmres};
use crate::matrix::multiply::add_extra;
use crate::precondition::incomplete::Padded;
use crate::precondition::{Corrected, Deflated};
use crate::{
    BlockMatrix, Cholesky, Deflation, DirectSolver, Incomplete, Multigrid, NotPositiveDefinite, Operator,
    Preconditioner, Saddle, from_fn,
};

const COST: CostModel = CostModel::MEASURED;

/// Chooses between incomplete factors, Cholesky factors and multigrid by a cost model.
pub struct AdaptiveSolver {
    policy: Policy,
    memory: LinearMemory,
    /// The preconditioner that is good enough for the next system.
    kept: Option<Kept>,
    factor: Cholesky,
    saddle: Saddle,
    multigrid: Multigrid,
    incomplete: Incomplete,
    /// Whether the incomplete factor belongs to this Newton solve.
    incomplete_ready: bool,
    /// Whether the preconditioner of [`LinearSolver::prepare`] is good enough.
    prepared: bool,
    /// Right-hand side and solution in the order of the incomplete factor.
    permuted: [Vec<Padded>; 2],
    iteration: ConjugateGradients,
}

impl Default for AdaptiveSolver {
    fn default() -> Self {
        Self {
            policy: Policy::LeastCost,
            memory: LinearMemory::default(),
            kept: None,
            factor: Cholesky::new(),
            saddle: Saddle::new(),
            multigrid: Multigrid::default(),
            incomplete: Incomplete::default(),
            incomplete_ready: false,
            prepared: false,
            permuted: Default::default(),
            iteration: ConjugateGradients::default(),
        }
    }
}

impl AdaptiveSolver {
    fn solve_at_least_cost(
        &mut self,
        system: &LinearSystem<'_>,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> Result<LinearReport, NotPositiveDefinite> {
        let a = system.matrix;
        let iterative = self.policy == Policy::LeastCost;
        if !COST.is_small(a.dofs()) && self.memory.incomplete.wait == 0 && iterative {
            let LinearMemory { factor_cost, rate, .. } = self.memory;
            let limit = COST.incomplete_limit(a.dofs(), factor_cost, rate, accuracy);
            match self.with_incomplete(system, b, x, accuracy, limit) {
                CgOutcome::Converged { iterations, error } => {
                    // More iterations: the matrix has changed too much since the factorisation.
                    self.incomplete_ready = iterations < limit / 2;
                    return Ok(LinearReport { iterations, error, ..LinearReport::default() });
                }
                // The Cholesky factorisation finds the node, or that it was rounding only.
                CgOutcome::Breakdown => self.incomplete_ready = false,
                CgOutcome::IterationLimit => self.memory.incomplete.fail(),
            }
        }
        self.memory.incomplete.wait = self.memory.incomplete.wait.saturating_sub(1);
        // Multigrid takes no low-rank correction.
        if iterative
            && system.low_rank.is_none()
            && self.multigrid_pays(a)
            && let Some(solved) = self.with_multigrid(system, b, x, accuracy)?
        {
            return Ok(solved);
        }
        if self.kept == Some(Kept::Factor)
            && self.policy != Policy::FactorPerSystem
            && let CgOutcome::Converged { iterations, error } =
                self.with_factor(system, b, x, accuracy, COST.reuse_limit)
        {
            self.kept = self.kept.filter(|_| iterations <= COST.reuse_comfortable);
            return Ok(LinearReport { iterations, error, ..LinearReport::default() });
        }
        self.with_new_factor(system, b, x, accuracy)
    }
}

impl LinearSolver for AdaptiveSolver {
    fn begin(&mut self, policy: Policy, kept: Option<Kept>) {
        (self.policy, self.kept) = (policy, kept);
        (self.incomplete_ready, self.prepared) = (false, false);
    }

    fn prefers_factor(&self, unknowns: usize) -> bool {
        COST.is_small(unknowns)
    }

    fn solve(
        &mut self,
        system: &LinearSystem<'_>,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> Result<LinearReport, NotPositiveDefinite> {
        let solved = self.solve_at_least_cost(system, b, x, accuracy)?;
        tracing::trace!(
            iterations = solved.iterations,
            accuracy,
            error = solved.error,
            multigrid = solved.multigrid,
            "linear solve"
        );
        Ok(solved)
    }

    fn is_prepared(&self) -> bool {
        self.prepared
    }

    fn prepare(&mut self, system: &LinearSystem<'_>) -> Result<(), NotPositiveDefinite> {
        let result = if system.rows.is_empty() {
            self.factor.factor(system.matrix)
        } else {
            self.saddle.factor(system.matrix, &mut self.factor, system.rows)
        };
        self.prepared = result.is_ok();
        result
    }

    fn solve_operator(
        &mut self,
        system: &LinearSystem<'_>,
        jacobian: &mut dyn Operator,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> usize {
        let Self { factor, saddle, .. } = self;
        let limit = COST.gmres_limit;
        x.fill(0.0);
        let report = if system.rows.is_empty() {
            let mut inverse = |z: &mut [f64]| factor.solve(z);
            match system.low_rank {
                None => gmres(jacobian, &mut inverse, b, x, accuracy, limit),
                Some(low_rank) => {
                    let mut deflated = Deflated { low_rank, inverse: &mut inverse };
                    gmres(jacobian, &mut deflated, b, x, accuracy, limit)
                }
            }
        } else {
            let mut inverse = |z: &mut [f64]| saddle.solve(system.matrix, factor, z, 1);
            gmres(jacobian, &mut inverse, b, x, accuracy, limit)
        };
        tracing::trace!(iterations = report.iterations, accuracy, "linear solve by GMRES");
        self.prepared = self.policy != Policy::FactorPerSystem && report.iterations <= COST.root_reuse_limit;
        report.iterations
    }

    fn precondition(&mut self, low_rank: Option<&Deflation>, x: &mut [f64]) {
        let mut inverse = |x: &mut [f64]| self.factor.precondition(x);
        match low_rank {
            None => inverse(x),
            Some(low_rank) => Deflated { low_rank, inverse: &mut inverse }.precondition(x),
        }
    }

    fn precondition_columns(
        &mut self,
        system: &LinearSystem<'_>,
        x: &mut [f64],
        columns: usize,
    ) -> Result<(), NotPositiveDefinite> {
        let a = system.matrix;
        if self.policy == Policy::LeastCost && self.memory.incomplete.wait == 0 {
            if !self.incomplete_ready {
                self.incomplete.factor(a);
                self.incomplete_ready = true;
            }
            let right = x.to_vec();
            x.chunks_exact_mut(a.dofs()).take(columns).for_each(|x| self.incomplete.solve(x));
            if x.iter().all(|x| x.is_finite()) {
                return Ok(());
            }
            // Of a very stiff matrix, a factor without fill can overflow.
            x.copy_from_slice(&right);
            self.incomplete_ready = false;
            self.memory.incomplete.fail();
        }
        let each = x.chunks_exact_mut(a.dofs()).take(columns);
        if self.kept.is_none() {
            if self.policy == Policy::LeastCost && system.low_rank.is_none() && self.multigrid_pays(a) {
                self.multigrid.factor(a, system.positions)?;
                self.kept = Some(Kept::Multigrid);
            } else {
                self.factor.factor(a)?;
                self.kept = Some(Kept::Factor);
            }
        }
        match self.kept {
            Some(Kept::Multigrid) => each.for_each(|x| self.multigrid.solve(a, x)),
            _ => each.for_each(|x| self.factor.precondition(x)),
        }
        Ok(())
    }

    fn rebuild(&mut self, kept: Kept, system: &LinearSystem<'_>) -> bool {
        match kept {
            Kept::Factor => self.factor.factor(system.matrix).is_ok(),
            Kept::Multigrid => self.multigrid.factor(system.matrix, system.positions).is_ok(),
        }
    }

    fn kept(&self) -> Option<Kept> {
        self.kept
    }

    fn direct(&mut self) -> &mut dyn DirectSolver {
        &mut self.factor
    }

    fn factorizations(&self) -> usize {
        self.factor.factorizations()
    }

    fn memory(&self) -> LinearMemory {
        self.memory
    }

    fn restore(&mut self, memory: LinearMemory) {
        self.memory = memory;
    }

    fn couplings(&self) -> &[(u32, u32)] {
        self.factor.couplings()
    }

    fn restore_couplings(&mut self, couplings: &[(u32, u32)]) {
        self.factor = Cholesky::with_couplings(couplings);
    }
}

impl AdaptiveSolver {
    /// Solves with a new Cholesky factor: directly, or as a preconditioner if there is a low-rank correction.
    fn with_new_factor(
        &mut self,
        system: &LinearSystem<'_>,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> Result<LinearReport, NotPositiveDefinite> {
        self.kept = None;
        self.factor.factor(system.matrix)?;
        self.kept = Some(Kept::Factor);
        if system.low_rank.is_none() {
            x.copy_from_slice(b);
            self.factor.solve(x);
            return Ok(LinearReport { iterations: 0, error: 1e-12, new: self.kept, multigrid: false });
        }
        let accuracy = if self.policy == Policy::FactorPerSystem { 1e-12 } else { accuracy };
        match self.with_factor(system, b, x, accuracy, COST.low_rank_limit) {
            CgOutcome::Converged { iterations, error } => {
                Ok(LinearReport { iterations, error, new: self.kept, multigrid: false })
            }
            _ => Err(NotPositiveDefinite { dof: 0, finite: true }),
        }
    }

    /// Conjugate gradients with an incomplete factor.
    fn with_incomplete(
        &mut self,
        system: &LinearSystem<'_>,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
        limit: usize,
    ) -> CgOutcome {
        let a = system.matrix;
        let Self { incomplete, incomplete_ready, permuted: [right, solution], iteration, .. } = self;
        incomplete.set_matrix(a);
        if !*incomplete_ready {
            incomplete.refactor();
            *incomplete_ready = true;
        }
        let (order, matrix, factor) = incomplete.split_mut();
        order.permute(b, right);
        solution.resize(right.len(), [0.0; 4]);
        let low_rank = system.low_rank.map(|low_rank| {
            let mut padded = Vec::new();
            low_rank.mapped(|column| {
                order.permute(column, &mut padded);
                padded.as_flattened().to_vec()
            })
        });
        let mut product = from_fn(4 * right.len(), |x, y| {
            let (from, to) = (x.as_chunks().0, y.as_chunks_mut().0);
            matrix.multiply(order, from, to);
            add_extra(a, |node| order.place(node), from, to);
            if let Some(low_rank) = &low_rank {
                low_rank.add_product(x, y);
            }
        });
        let mut inverse = |x: &mut [f64]| factor.solve(order, x.as_chunks_mut().0);
        let (from, to) = (right.as_flattened(), solution.as_flattened_mut());
        let outcome = match &low_rank {
            None => iteration.solve_to_error(&mut product, &mut inverse, from, to, accuracy, 2, limit),
            Some(low_rank) => {
                let mut deflated = Deflated { low_rank, inverse: &mut inverse };
                iteration.solve_to_error(&mut product, &mut deflated, from, to, accuracy, 2, limit)
            }
        };
        order.permute_back(solution, x);
        outcome
    }

    /// Whether multigrid is cheaper than a Cholesky factor. An existing factor costs nothing.
    fn multigrid_pays(&mut self, a: &BlockMatrix) -> bool {
        if self.memory.multigrid.wait > 0 {
            self.memory.multigrid.wait -= 1;
            return false;
        }
        let unknown = self.memory.factor_cost.is_none();
        if COST.is_small(a.dofs()) || (unknown && self.kept == Some(Kept::Factor)) {
            return false;
        }
        let factor = &mut self.factor;
        let estimate = || COST.factor_cost(a.dofs(), factor.cost(a));
        *self.memory.factor_cost.get_or_insert_with(estimate) >= COST.ordinary_multigrid
    }

    /// Conjugate gradients with multigrid. A kept hierarchy is tried first. `None` if the iteration limit is reached.
    fn with_multigrid(
        &mut self,
        system: &LinearSystem<'_>,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> Result<Option<LinearReport>, NotPositiveDefinite> {
        let mut a = system.matrix;
        let reusable = self.kept == Some(Kept::Multigrid);
        let limit = COST.multigrid_limit(self.memory.factor_cost, accuracy);
        for &new in if reusable { &[false, true][..] } else { &[true] } {
            if new {
                self.kept = None;
                self.multigrid.factor(a, system.positions)?;
                self.kept = Some(Kept::Multigrid);
            }
            let Self { multigrid, iteration, .. } = self;
            let mut cycle = |x: &mut [f64]| multigrid.solve(system.matrix, x);
            let outcome = iteration.solve_to_error(&mut a, &mut cycle, b, x, accuracy, 2, limit);
            if let CgOutcome::Converged { iterations, error } = outcome {
                self.observe_multigrid(iterations, error, new);
                let new = self.kept.filter(|_| new);
                return Ok(Some(LinearReport { iterations, error, new, multigrid: true }));
            }
            if let (CgOutcome::Breakdown, Some(dof)) = (outcome, self.iteration.negative_direction()) {
                return Err(NotPositiveDefinite { dof, finite: true });
            }
        }
        self.kept = None;
        self.memory.multigrid.fail();
        Ok(None)
    }

    /// Drops the hierarchy once its convergence has become too slow beside that of a new one.
    fn observe_multigrid(&mut self, iterations: usize, error: f64, new: bool) {
        let memory = &mut self.memory;
        let (iterations, digits) = (iterations as f64, -error.clamp(1e-16, 0.1).log10());
        if new {
            (memory.rate, memory.excess) = (iterations / digits, 0.0);
        }
        memory.excess += (iterations - COST.multigrid_slack * memory.rate * digits).max(0.0);
        let effective = memory.excess < COST.multigrid_excess;
        self.kept = self.kept.filter(|_| effective);
    }

    /// Conjugate gradients with the existing Cholesky factor.
    fn with_factor(
        &mut self,
        system: &LinearSystem<'_>,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
        limit: usize,
    ) -> CgOutcome {
        let Self { iteration, factor, .. } = self;
        let mut inverse = |x: &mut [f64]| factor.precondition(x);
        let mut a = system.matrix;
        match system.low_rank {
            None => iteration.solve_to_error(&mut a, &mut inverse, b, x, accuracy, 1, limit),
            Some(low_rank) => iteration.solve_to_error(
                &mut Corrected { matrix: a, low_rank },
                &mut Deflated { low_rank, inverse: &mut inverse },
                b,
                x,
                accuracy,
                1,
                limit,
            ),
        }
    }
}
