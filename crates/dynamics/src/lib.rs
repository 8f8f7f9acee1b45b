//! Dynamics: what a mechanical system is, and every way of stepping it through time.
//!
//! Nothing here knows of meshes, materials or files. A [`System`] gives masses, energies, forces and
//! their derivatives as flat vectors; an [`Integrator`] advances a [`State`]; a [`Simulation`] drives
//! it, halves steps that fail, and keeps the ledger of energy.

pub mod analysis;
pub mod constraints;
pub mod corotated;
pub mod driver;
mod effort;
pub mod fit;
pub mod implicit;
pub mod integrators;
mod linearised;
mod mass;
mod modes;
pub mod options;
mod simulation;
mod state;
mod step;
pub mod strains;
mod system;
pub mod systems;

pub use constraints::Constraint;
pub use effort::{Effort, LOOSEST};
pub use integrators::Integrator;
pub use lilyan_solve::newton::Curvature;
pub use mass::Mass;
pub use options::{Options, Value};
pub use simulation::{Checkpoint, Ledger, Simulation, StepRecord};
pub use state::{State, Sum};
pub use step::{Integrating, StepError};
pub use system::{EnergyParts, StiffPart, System};
