//! The interface between Newton's method and linear algebra.
//!
//! Newton's method solves all its linear systems through [`LinearSolver`], including constrained and low-rank corrected
//! ones. [`AdaptiveSolver`] is the implementation of this crate. Another backend implements the same trait and is given
//! to [`Workspace::with_solver`](crate::newton::Workspace::with_solver).
//!
//! ```
//! use lilyan_solve::linear::{AdaptiveSolver, LinearSolver, LinearSystem, Policy};
//! use lilyan_solve::{BlockMatrix, BlockPattern, SparseRows};
//! use std::sync::Arc;
//!
//! // Two unit masses, joined by a spring of stiffness 1: M + K.
//! let pattern = BlockPattern::from_cliques(2, [&[0, 1][..]].into_iter());
//! let mut matrix = BlockMatrix::zeros(Arc::new(pattern));
//! matrix.add_diagonal(&[2.0; 6]);
//! matrix.add_block(1, 0, &[-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0]);
//!
//! let mut solver = AdaptiveSolver::default();
//! solver.begin(Policy::LeastCost, None);
//! let (rows, positions) = (SparseRows::new(), [0.0; 6]);
//! let system = LinearSystem { matrix: &matrix, low_rank: None, rows: &rows, positions: &positions };
//! let mut x = [0.0; 6];
//! let report = solver.solve(&system, &[3.0, 0.0, 0.0, 0.0, 0.0, 0.0], &mut x, 1e-9)?;
//! // A system this small is solved directly.
//! assert!(report.iterations == 0 && (x[0] - 2.0).abs() < 1e-12 && (x[3] - 1.0).abs() < 1e-12);
//! # Ok::<(), lilyan_solve::NotPositiveDefinite>(())
//! ```

mod adaptive;
mod cost;
mod memory;

pub use adaptive::AdaptiveSolver;
pub use memory::{Backoff, Kept, LinearMemory};

use crate::{BlockMatrix, Deflation, DirectSolver, NotPositiveDefinite, Operator, SparseRows};

/// A symmetric linear system [A + S W Sᵀ, Bᵀ; B, 0]: a sparse matrix A, a low-rank correction, and constraint rows B.
#[derive(Clone, Copy)]
pub struct LinearSystem<'a> {
    /// A.
    pub matrix: &'a BlockMatrix,
    /// S W Sᵀ; `None` without a correction.
    pub low_rank: Option<&'a Deflation>,
    /// B; empty without constraints.
    pub rows: &'a SparseRows,
    /// Positions of the nodes, for preconditioners that need the rigid modes.
    pub positions: &'a [f64],
}

/// Which linear solvers the implementation may choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The solver of least cost. Preconditioners are reused within a Newton solve and by later ones.
    LeastCost,
    /// A direct factor, reused within a Newton solve while it preconditions well.
    FactorPerSolve,
    /// A direct factor of every matrix.
    FactorPerSystem,
}

impl Policy {
    /// The policy of the minimiser. `direct` asks for a factor of every matrix.
    pub fn for_minimizer(direct: bool) -> Self {
        if direct { Self::FactorPerSystem } else { Self::LeastCost }
    }

    /// The policy of the Newton–Krylov method. Its factor is never kept for the next solve.
    pub fn for_root_finder(direct: bool) -> Self {
        if direct { Self::FactorPerSystem } else { Self::FactorPerSolve }
    }
}

/// Statistics of a solved system.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinearReport {
    /// Krylov iterations; 0 for a direct solve.
    pub iterations: usize,
    /// Estimated relative error of the solution, in the norm of the matrix.
    pub error: f64,
    /// A new preconditioner, made from this matrix, that can be reused for others.
    pub new: Option<Kept>,
    /// Whether multigrid was the preconditioner.
    pub multigrid: bool,
}

/// Solves the linear systems inside Newton's method.
pub trait LinearSolver: Send {
    /// Begins a Newton solve. `kept` is the preconditioner of an earlier solve that may be reused.
    fn begin(&mut self, policy: Policy, kept: Option<Kept>);

    /// Whether systems with this number of unknowns are always solved with a direct factor.
    fn prefers_factor(&self, unknowns: usize) -> bool;

    /// Solves a system without constraints, A x = b, to the relative `accuracy` in the norm of A. It fails if A is not
    /// positive definite.
    fn solve(
        &mut self,
        system: &LinearSystem<'_>,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> Result<LinearReport, NotPositiveDefinite>;

    /// Whether this Newton solve has a good preconditioner. If not, the caller must call [`prepare`](Self::prepare).
    fn is_prepared(&self) -> bool;

    /// Builds a preconditioner of a system. The error names an unknown, or n + i for a linearly dependent row i.
    fn prepare(&mut self, system: &LinearSystem<'_>) -> Result<(), NotPositiveDefinite>;

    /// Solves J x = b from x = 0 to a relative residual of `accuracy`, for any operator J close to the prepared system.
    /// Returns the number of iterations.
    fn solve_operator(
        &mut self,
        system: &LinearSystem<'_>,
        jacobian: &mut dyn Operator,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> usize;

    /// Preconditions x with the present factor, which may belong to an earlier matrix.
    fn precondition(&mut self, low_rank: Option<&Deflation>, x: &mut [f64]);

    /// Preconditions the columns of x with what preconditions a system, its low-rank correction left out. A preconditioner is
    /// built if there is none.
    fn precondition_columns(
        &mut self,
        system: &LinearSystem<'_>,
        x: &mut [f64],
        columns: usize,
    ) -> Result<(), NotPositiveDefinite> {
        self.direct().factor(system.matrix)?;
        self.direct().solve_many(x, columns);
        Ok(())
    }

    /// Rebuilds, after a restart, the preconditioner that was kept. Returns `false` if that is impossible.
    fn rebuild(&mut self, kept: Kept, system: &LinearSystem<'_>) -> bool;

    /// The preconditioner that is good enough for the next system.
    fn kept(&self) -> Option<Kept>;

    /// A direct solver, for callers that solve with a matrix of their own.
    fn direct(&mut self) -> &mut dyn DirectSolver;

    /// Number of factorisations so far.
    fn factorizations(&self) -> usize;

    /// The state that a restarted run needs to make the same choices.
    fn memory(&self) -> LinearMemory;

    /// Restores the state that [`memory`](Self::memory) returned.
    fn restore(&mut self, memory: LinearMemory);

    /// Couplings outside the pattern. They determine the elimination order, so a restart must know them.
    fn couplings(&self) -> &[(u32, u32)];

    /// Restores the couplings after a restart. All factors are lost.
    fn restore_couplings(&mut self, couplings: &[(u32, u32)]);
}
