//! The loop through time.
//!
//! A [`Simulation`] owns a system, an integrator and a [`State`]. [`Simulation::advance`] takes one step of the nominal length; a step that fails
//! is halved, up to ten times. The [`Ledger`] counts the energy that loads and moving pins brought in and that damping took, so that what
//! is missing is the integrator's own doing.
//!
//! ```
//! use lilyan::body::{BodyInput, ModelBuilder, Viscous, box_mesh};
//! use lilyan::material::{self, Given};
//! use lilyan::simulation::{Simulation, State};
//! use std::sync::Arc;
//!
//! let soft = material::find("stable-neo-hookean").ok_or("no such material")?;
//! let mesh = box_mesh([1.0, 1.0, 1.0], [2, 2, 2])?;
//! // Stretched by a tenth, and let go.
//! let stretched = mesh.vertices.iter().map(|x| [1.1 * x[0], x[1], x[2]]).collect();
//! let mut builder = ModelBuilder::default();
//! builder.body(BodyInput {
//!     start: Some(stretched),
//!     damping: vec![Arc::new(Viscous { time: 0.01 })],
//!     ..BodyInput::new("cube", mesh, soft, Given::from_young(1e4, 0.3)?, 1000.0)
//! })?;
//! let model = builder.build();
//! let start = model.start().to_vec();
//! let rest = vec![0.0; start.len()];
//! let state = State::new(&model, start, rest);
//! let method = lilyan::integrator::find("energy-momentum").ok_or("no such integrator")?.create(&[])?;
//! let mut simulation = Simulation::new(model, method, state, 0.005);
//! let before = simulation.checkpoint();
//! for _ in 0..20 {
//!     let record = simulation.advance()?;
//!     assert_eq!(record.substeps, 1); // no step was halved
//! }
//! // The viscosity took energy; the method took none.
//! let (ledger, total) = (*simulation.ledger(), simulation.total_energy());
//! assert!(ledger.dissipated_physical > 0.0);
//! assert!(ledger.dissipated_numerical(total).abs() < 1e-6 * ledger.initial);
//! // Back to the start; the same steps again would give the same bits.
//! simulation.restore(&before)?;
//! assert_eq!(simulation.state().t, 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use lilyan_dynamics::{Checkpoint, EnergyParts, Ledger, Simulation, State, StepRecord};
