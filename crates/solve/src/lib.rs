//! Linear algebra for elastodynamics: symmetric block matrices, their Cholesky factors, Krylov methods, eigenpairs.
//!
//! Nothing here knows what a body is. All results are identical to the bit for any number of threads ([`threads`]).

mod analysis;
pub mod block;
mod chebyshev;
pub mod cholesky;
mod compliant;
mod crew;
pub mod deflate;
mod dense;
pub mod eigen;
mod elimination;
pub mod flow;
mod incomplete;
mod inner;
pub mod krylov;
mod lanczos;
mod largest;
mod multigrid;
pub mod newton;
mod ordering;
mod packed;
mod parts;
mod pattern;
pub mod phi;
mod product;
mod quasidefinite;
pub mod refine;
mod rough;
mod rows;
mod saddle;
mod small;
mod subtrees;
pub mod threads;
mod vector;
mod versions;
mod work;

pub use block::{BlockMatrix, BlockPattern, ScalarLowerCsc};
pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use compliant::{Compliant, Elimination};
pub use deflate::Deflation;
pub use eigen::{EigenError, Modes, constrained_modes, largest_eigenvalue, lowest_modes};
pub use incomplete::Incomplete;
pub use krylov::{KrylovReport, cg, gmres};
pub use multigrid::Multigrid;
pub use ordering::Ordering;
pub use rows::SparseRows;
pub use saddle::{Dependence, Saddle, dependent_rows};
pub use small::Small;
