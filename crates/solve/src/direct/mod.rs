//! Direct solvers: sparse Cholesky factors and saddle-point systems.

pub(crate) mod cholesky;
pub(crate) mod ordering;
pub(crate) mod saddle;
mod single_precision;
mod solver;
mod subtrees;
pub(crate) mod symbolic;

pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use ordering::Ordering;
pub use saddle::{Compliant, Dependence, Elimination, Saddle, dependent_rows};
pub use solver::DirectSolver;
