//! Elements: from nodal positions to energies, forces and stiffness, four tets at a time.

mod assembly;
pub mod kernel;
mod quad;
mod strains;
mod tets;
mod turned;

pub use kernel::{Block, Constants};
pub use tets::Tets;
