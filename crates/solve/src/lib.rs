//! Linear algebra for elastodynamics: symmetric block matrices, direct and iterative solvers, eigenpairs, exponential
//! propagators, and Newton's method.
//!
//! The crate does not depend on bodies or meshes: unknowns are the dofs of nodes, three each, and matrices consist of 3×3
//! blocks. *Held* dofs have prescribed values (Dirichlet conditions). All results are identical to the bit for any number
//! of threads ([`lilyan_parallel`]).
//!
//! The main entry points are [`newton::minimize`] and [`newton::find_root`] for nonlinear problems,
//! [`linear::LinearSolver`] for linear systems, [`lowest_modes`] for eigenpairs and [`exponential::flow`] for the exact
//! motion of a linear system.

mod condition;
mod dense;
mod direct;
pub mod eigen;
pub mod exponential;
mod krylov;
pub mod linear;
mod matrix;
pub mod newton;
mod operator;
pub mod precondition;
mod second_order;

pub use condition::scaled_condition;
pub use dense::SmallMatrix;
pub use direct::{
    Cholesky, Compliant, Dependence, DirectSolver, Elimination, NotPositiveDefinite, Ordering, Saddle,
    dependent_rows,
};
pub use eigen::{EigenError, Modes, constrained_modes, largest_eigenvalue, lowest_modes};
pub use krylov::{KrylovReport, cg, gmres};
pub use matrix::{BlockMatrix, BlockPattern, ScalarLowerCsc, SparseRows};
pub use operator::{FnOperator, Identity, Operator, Preconditioner, from_fn};
pub use precondition::{Deflation, Incomplete, Multigrid};
pub use second_order::SecondOrderSystem;
