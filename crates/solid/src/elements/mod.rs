//! Elements: from nodal positions to energies, forces and stiffness, eight tets at a time.

mod assembly;
mod kernel;
mod tets;

pub use kernel::{Block, Constants, Kernel, kernel_of};
pub use tets::Tets;
