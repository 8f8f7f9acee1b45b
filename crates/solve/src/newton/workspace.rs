//! The work space of Newton's method, which persists from step to step.

use super::{Equations, KeptMemory, Objective, ReuseKey, SolverMemory};
use crate::linear::{AdaptiveSolver, Backoff, LinearMemory, LinearSolver, LinearSystem, Policy};
use crate::{BlockMatrix, BlockPattern, Deflation, DirectSolver, NotPositiveDefinite, SparseRows};
use std::sync::Arc;

/// Matrix, linear solver and vectors of a Newton solve. Keep it from one step to the next, so that memory and
/// preconditioners are reused.
///
/// An integrator that solves linear systems itself fills [`matrix_mut`](Self::matrix_mut), then calls
/// [`factor_matrix`](Self::factor_matrix) and [`solve`](Self::solve).
pub struct Workspace {
    pub(super) matrix: BlockMatrix,
    /// A low-rank correction in addition to `matrix`.
    pub(super) low_rank: Option<Deflation>,
    /// Constraint rows.
    pub(super) rows: SparseRows,
    pub(super) linear: Box<dyn LinearSolver>,
    /// The origin of the preconditioner in `linear`, if later solves may reuse it.
    pub(super) kept: Option<KeptMemory>,
    /// The matrix of the factor in `linear`, if later systems are likely to have the same.
    pub(super) factored: Option<BlockMatrix>,
    /// The origin of a preconditioner that has to be rebuilt after a restart.
    to_rebuild: Option<KeptMemory>,
    /// Backoff of corrections by the symmetric part of a Jacobian, in solves.
    pub(super) symmetric: Backoff,
    pub(super) gradient: Vec<f64>,
    pub(super) direction: Vec<f64>,
    pub(super) trial: Vec<f64>,
    pub(super) trial_gradient: Vec<f64>,
}

/// The state of a [`Workspace`] that depends on earlier solves, besides the elimination order.
#[derive(Clone, Debug)]
pub struct SolverChoice {
    pub(super) linear: LinearMemory,
    /// The origin of the kept preconditioner.
    pub(super) kept: Option<KeptMemory>,
    pub(super) symmetric: Backoff,
}

impl Workspace {
    /// A work space for matrices of this pattern, with the linear solver of this crate.
    pub fn new(pattern: Arc<BlockPattern>) -> Self {
        Self::with_solver(pattern, Box::new(AdaptiveSolver::default()))
    }

    /// A work space for matrices of this pattern, with another linear solver.
    pub fn with_solver(pattern: Arc<BlockPattern>, linear: Box<dyn LinearSolver>) -> Self {
        let n = 3 * pattern.n();
        Self {
            matrix: BlockMatrix::zeros(pattern),
            low_rank: None,
            rows: SparseRows::new(),
            linear,
            kept: None,
            factored: None,
            to_rebuild: None,
            symmetric: Backoff::default(),
            gradient: vec![0.0; n],
            direction: vec![0.0; n],
            trial: vec![0.0; n],
            trial_gradient: vec![0.0; n],
        }
    }

    /// The state that a checkpoint stores, for [`Workspace::restore`].
    pub fn memory(&self) -> SolverMemory {
        let SolverChoice { linear, kept, symmetric } = self.choice();
        let couplings = self.linear.couplings().to_vec();
        SolverMemory { couplings, linear, kept, symmetric, ..SolverMemory::default() }
    }

    /// Restores the state that [`Workspace::memory`] returned.
    pub fn restore(&mut self, memory: &SolverMemory) {
        self.linear.restore_couplings(&memory.couplings);
        let SolverMemory { linear, kept, symmetric, .. } = memory.clone();
        self.restore_choice(SolverChoice { linear, kept, symmetric });
    }

    /// Resets the solver choice and drops the preconditioner. The elimination order stays.
    pub fn reset(&mut self) {
        self.low_rank = None;
        self.linear.restore(LinearMemory::default());
        self.symmetric = Backoff::default();
        self.discard_kept();
    }

    /// The state that solves change and that later solves depend on. A step that fails restores it, so that it does not
    /// influence later ones.
    pub fn choice(&self) -> SolverChoice {
        SolverChoice {
            linear: self.linear.memory(),
            kept: self.kept.as_ref().or(self.to_rebuild.as_ref()).cloned(),
            symmetric: self.symmetric,
        }
    }

    /// Restores what [`Workspace::choice`] returned. The kept preconditioner is rebuilt by the next solve that may reuse it.
    pub fn restore_choice(&mut self, SolverChoice { linear, kept, symmetric }: SolverChoice) {
        self.linear.restore(linear);
        self.symmetric = symmetric;
        (self.kept, self.to_rebuild) = (None, kept);
    }

    /// Begins a minimisation. A preconditioner of an earlier solve stays if it may be reused; after a restart it is
    /// rebuilt.
    pub(super) fn begin(&mut self, objective: &mut dyn Objective, direct: bool) {
        let now = objective.reuse_key().filter(|_| !direct);
        self.factored = None;
        self.low_rank = objective.low_rank();
        self.begin_with(Policy::for_minimizer(direct), now, &mut |origin, matrix| {
            objective.hessian_at_time(origin.key.time, &origin.x, origin.curvature, matrix);
        });
    }

    /// Begins corrections by the symmetric part of a Jacobian, in the same way.
    pub(super) fn begin_root(&mut self, equations: &mut dyn Equations) {
        let now = equations.reuse_key();
        self.factored = None;
        self.low_rank = equations.low_rank();
        self.begin_with(Policy::LeastCost, now, &mut |origin, matrix| {
            let KeptMemory { x, rates, curvature, key, .. } = origin;
            equations.preconditioner_at_time(key.time, x, rates, *curvature, matrix);
        });
    }

    /// Begins a solve whose matrices depend on `now`; `assemble` computes an earlier one.
    pub(super) fn begin_with(
        &mut self,
        policy: Policy,
        now: Option<ReuseKey>,
        assemble: &mut dyn FnMut(&KeptMemory, &mut BlockMatrix),
    ) {
        let reusable = |origin: &KeptMemory| now.is_some_and(|now| now.same == origin.key.same);
        self.kept = self.kept.take().filter(reusable);
        if let Some(origin) = self.to_rebuild.take().filter(reusable) {
            assemble(&origin, &mut self.matrix);
            self.rows.clear();
            let Self { matrix, rows, linear, .. } = self;
            let system = LinearSystem { matrix, low_rank: None, rows, positions: &origin.x };
            self.kept = linear.rebuild(origin.kind, &system).then_some(origin);
        }
        self.linear.begin(policy, self.kept.as_ref().map(|origin| origin.kind));
    }

    /// Ends the reuse of the kept preconditioner.
    pub(super) fn discard_kept(&mut self) {
        (self.kept, self.to_rebuild, self.factored) = (None, None, None);
    }

    /// Sizes the vectors for `n` unknowns and multipliers.
    pub(super) fn resize(&mut self, n: usize) {
        for v in [&mut self.gradient, &mut self.direction, &mut self.trial, &mut self.trial_gradient] {
            v.resize(n, 0.0);
        }
    }

    /// Whether the matrix has this pattern.
    pub fn fits(&self, pattern: &Arc<BlockPattern>) -> bool {
        Arc::ptr_eq(self.matrix.pattern(), pattern)
    }

    /// Number of factorisations so far.
    pub fn factorizations(&self) -> usize {
        self.linear.factorizations()
    }

    /// The matrix, to be filled by a caller that factorises it itself.
    pub fn matrix_mut(&mut self) -> &mut BlockMatrix {
        &mut self.matrix
    }

    /// The matrix, and a direct solver for it.
    pub fn matrix_and_factor(&mut self) -> (&BlockMatrix, &mut dyn DirectSolver) {
        self.discard_kept();
        (&self.matrix, self.linear.direct())
    }

    /// Factorises the matrix.
    pub fn factor_matrix(&mut self) -> Result<(), NotPositiveDefinite> {
        self.low_rank = None;
        self.discard_kept();
        self.linear.direct().factor(&self.matrix)
    }

    /// Sets a low-rank correction of the matrix, for [`Workspace::solve`] and [`Workspace::mul`].
    pub fn correct(&mut self, low_rank: Option<Deflation>) {
        self.low_rank = low_rank;
    }

    /// y ← A x, where A includes the correction.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.mul_vec(x, y);
        if let Some(low_rank) = &self.low_rank {
            low_rank.add_product(x, y);
        }
    }

    /// x ← A⁻¹ x, where A includes the correction.
    pub fn solve(&mut self, x: &mut [f64]) {
        let factor = self.linear.direct();
        match &self.low_rank {
            None => factor.solve(x),
            Some(low_rank) => {
                low_rank.solve(&self.matrix, &mut |z: &mut [f64]| factor.solve(z), x);
            }
        }
    }

    /// X ← A⁻¹ X for `columns` right-hand sides, without the correction.
    pub fn solve_many(&mut self, x: &mut [f64], columns: usize) {
        self.linear.direct().solve_many(x, columns);
    }
}
