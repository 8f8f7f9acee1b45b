//! Symmetric sparse matrices of 3×3 blocks, sparse rows of constraints, and vectors.

pub(crate) mod block;
pub(crate) mod multiply;
pub(crate) mod pattern;
pub(crate) mod sparse_rows;
pub(crate) mod vector;

pub use block::{BlockMatrix, ScalarLowerCsc};
pub use pattern::BlockPattern;
pub use sparse_rows::SparseRows;
