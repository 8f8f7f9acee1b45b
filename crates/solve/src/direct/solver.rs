//! The interface of sparse direct solvers.

use super::cholesky::{Cholesky, NotPositiveDefinite};
use crate::matrix::BlockMatrix;

/// A direct solver for symmetric positive definite matrices, whose factorisation is updated in place.
pub trait DirectSolver: Send {
    /// Factorises A. On an error the previous factor is lost.
    fn factor(&mut self, a: &BlockMatrix) -> Result<(), NotPositiveDefinite>;

    /// X ← A⁻¹ X for `columns` right-hand sides, one after the other in `x`.
    fn solve_many(&mut self, x: &mut [f64], columns: usize);

    /// x ← A⁻¹ x.
    fn solve(&mut self, x: &mut [f64]) {
        self.solve_many(x, 1);
    }
}

impl DirectSolver for Cholesky {
    fn factor(&mut self, a: &BlockMatrix) -> Result<(), NotPositiveDefinite> {
        Cholesky::factor(self, a)
    }

    fn solve_many(&mut self, x: &mut [f64], columns: usize) {
        Cholesky::solve_many(self, x, columns);
    }
}
