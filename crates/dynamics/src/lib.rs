//! Dynamics: mechanical systems and time integrators.
//!
//! The crate does not depend on meshes, materials or files. A [`System`] provides masses, energies, forces and their
//! derivatives as flat vectors. An [`Integrator`] advances a [`State`] by one step. A [`Simulation`] runs the steps, halves
//! those that fail, and accounts for the energy that enters and leaves ([`Ledger`]).
//!
//! ```
//! use lilyan_dynamics::systems::Oscillator;
//! use lilyan_dynamics::{Simulation, State, integrators};
//!
//! // ẍ = −ω²x with ω = 2 rad/s, from x = 1 m at rest, by an integrator of the catalogue.
//! let system = Oscillator::new(2.0);
//! let integrator = integrators::find("implicit-midpoint").expect("in the catalogue").create(&[])?;
//! let state = State::new(&system, vec![1.0, 0.0, 0.0], vec![0.0; 3]);
//! let mut simulation = Simulation::new(system, integrator, state, 1e-3);
//! for _ in 0..1000 {
//!     simulation.advance()?;
//! }
//! // x(1 s) = cos 2, up to the second-order error of the method, and the energy is that of the start.
//! assert!((simulation.state().q[0] - 2f64.cos()).abs() < 1e-5);
//! assert!(simulation.ledger().dissipated_numerical(simulation.total_energy()).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analysis;
pub mod constraints;
mod drift;
pub mod driver;
mod effort;
pub mod equilibrium;
mod feasible_path;
pub mod fit;
pub mod implicit;
mod in_step;
mod integrator;
pub mod integrators;
mod ledger;
mod linearised;
mod mass;
mod memory;
mod modes;
pub mod options;
mod prescribed;
mod simulation;
pub mod spectrum;
mod start;
mod state;
mod step;
pub mod system;
pub mod systems;
mod timeline;

pub use constraints::Constraint;
pub use effort::{Effort, LOOSEST_TOLERANCE};
pub use integrator::{Claims, Integrator, StepLength, WorkOfForces};
pub use ledger::Ledger;
pub use lilyan_solve::newton::Curvature;
pub use mass::Mass;
pub use memory::{Memory, MemoryError, MemoryRecord};
pub use options::{OptionError, Options, Value};
pub use prescribed::Prescribed;
pub use simulation::{Checkpoint, Simulation, StepRecord};
pub use state::{CompensatedSum, State};
pub use step::{StepError, StepStats};
pub use system::abilities::StiffPart;
pub use system::{Abilities, ConfigurationSpace, EnergyParts, System, corotated, strains};
pub use timeline::Timeline;
