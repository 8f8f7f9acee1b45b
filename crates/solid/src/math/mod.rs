//! Small dense mathematics of the element kernels, generic over the scalar.
//!
//! A material is written once, over [`Real`]. The same source then runs on `f64`, on [`Lanes`]
//! (four elements at a time, for speed) and on [`Complex`] (for complex-step differentiation in
//! the tests, which checks a stress to round-off).

mod complex;
mod eigen;
mod elementary;
mod lanes;
mod mat3;
mod real;
mod rigid;
mod rotation;
mod scalar;
mod svd;
pub(crate) mod vector;

pub use complex::Complex;
pub use eigen::{Square, eigen_symmetric, project_positive};
pub use lanes::{LANES, Lanes};
pub use mat3::{Mat3, Vec3, three};
pub use real::Real;
pub(crate) use rigid::without_rigid;
pub use rotation::{solve_spin, spin_compliance};
pub use scalar::Scalar;
pub use svd::Svd;
