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
mod rotation;
mod svd;

pub use complex::Complex;
pub use eigen::{Square, eigen_symmetric, project_positive};
pub use lanes::{LANES, Lanes};
pub use mat3::{Mat3, Vec3};
pub use real::Real;
pub use rotation::{solve_spin, spin_compliance};
pub use svd::Svd;
