//! Preconditioners: incomplete factors, multigrid, deflation.

pub(crate) mod deflation;
pub(crate) mod incomplete;
pub(crate) mod multigrid;

pub use deflation::{Columns, Corrected, Deflated, Deflation, DeflationCoefficients};
pub use incomplete::Incomplete;
pub use multigrid::Multigrid;
