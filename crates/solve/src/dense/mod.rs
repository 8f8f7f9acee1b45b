//! Small dense matrices, their eigenvalue problems and exponentials.

mod eigen;
mod exponential;
mod small_matrix;

pub(crate) use eigen::{generalized_eigen, symmetric_eigen, tridiagonal_eigen};
pub(crate) use exponential::exponential;
pub use small_matrix::SmallMatrix;
