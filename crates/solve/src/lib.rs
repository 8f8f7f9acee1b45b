//! Linear algebra for elastodynamics: symmetric block matrices, their Cholesky factors, Krylov methods, eigenpairs.
//!
//! Nothing here knows what a body is. All results are identical to the bit for any number of threads ([`threads`]).

pub mod block;
pub mod cholesky;
pub mod krylov;
pub mod newton;
mod ordering;
mod pattern;
mod product;
pub mod threads;

pub use block::{BlockMatrix, BlockPattern, ScalarLowerCsc};
pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use ordering::Ordering;
