//! Krylov methods for A x = b, where A is given by its product with a vector.
//!
//! [`cg`] for symmetric positive definite A \[hestenes1952\], [`gmres`] for any other \[saad1986\].
//! Both measure the residual b − A x itself, not a preconditioned one: GMRES is preconditioned from the right, and
//! the residual that is reported is computed anew from x, since the one carried along in a recurrence drifts.

mod cg;
mod gmres;
mod report;

pub use cg::cg;
pub(crate) use cg::{CgOutcome, ConjugateGradients};
pub use gmres::gmres;
pub use report::KrylovReport;
