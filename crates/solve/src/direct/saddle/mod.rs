//! Saddle-point systems [A Bᵀ; B −C].

mod compliant;
mod quasidefinite;
pub(crate) mod schur;

pub use compliant::{Compliant, Elimination};
pub use schur::{Dependence, Saddle, dependent_rows};
