//! Time integrators, and the systems that they step.
//!
//! [`CATALOGUE`] lists the integrators; [`find`] looks one up, [`Entry::create`] makes it with its options. What a method promises is in its
//! [`Claims`], and the tests of the library hold it to them.
//!
//! ```
//! use lilyan::integrator::{CATALOGUE, Value, find};
//!
//! // Second-order methods that keep the energy from drifting.
//! for entry in CATALOGUE {
//!     let claims = entry.create(&[])?.claims();
//!     if claims.order >= 2 && claims.bounds_energy() {
//!         println!("{:24} {}", entry.name, entry.summary);
//!     }
//! }
//! let options = [("alpha".to_owned(), Value::Number(0.5))];
//! let midpoint = find("variational").ok_or("no such integrator")?.create(&options)?;
//! assert!(midpoint.claims().symplectic);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | a good first choice | where |
//! |---|---|
//! | `energy-momentum` | stiff or strongly deformed bodies, contact, long runs: conserves energy and momenta at any step |
//! | `variational` | the same without contact, where a symplectic method is wanted |
//! | `verlet` | soft or small bodies: no equations to solve, stable below a limit that `lilyan check` tells |
//! | `backward-euler` | a rest state is looked for; it damps numerically |
//!
//! # An integrator of your own
//!
//! An integrator is a type with [`Integrator::step`] and [`Integrator::claims`]. A step sees a [`System`] of flat vectors and moves a [`State`].
//! [`Prescribed`] does what all steps share: held nodes, constraints, end impulses, and the check that everything is finite. This is
//! symplectic Euler, p₁ = p₀ − h∇W(q₀), q₁ = q₀ + hM⁻¹p₁:
//!
//! ```
//! use lilyan::integrator::{Claims, Prescribed, StepStats, Integrator, State, StepError, System};
//!
//! #[derive(Default)]
//! struct SymplecticEuler {
//!     prescribed: Prescribed,
//! }
//!
//! impl Integrator for SymplecticEuler {
//!     fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
//!         self.prescribed.prepare(system, state, h)?;
//!         let n = state.q.len();
//!         let (mut gradient, mut v) = (vec![0.0; n], state.v.clone());
//!         system.gradient(state.t, &state.q, &mut gradient);
//!         let mut p: Vec<f64> = state.p.iter().zip(&gradient).map(|(p, g)| p - h * g).collect();
//!         system.mass().solve(&self.prescribed.mask, &p, &mut v);
//!         let mut q: Vec<f64> = state.q.iter().zip(&v).map(|(q, v)| q + h * v).collect();
//!         // The state is moved only if all went well.
//!         self.prescribed.finish(system, state, h, &mut q, &mut p)?;
//!         Ok(StepStats::default())
//!     }
//!
//!     fn claims(&self) -> Claims {
//!         Claims {
//!             order: 1,
//!             damped_order: 1,
//!             explicit: true,
//!             symplectic: true,
//!             reversible: false,
//!             linear_momentum: true,
//!             angular_momentum: true,
//!             energy: false,
//!         }
//!     }
//! }
//! ```
//!
//! `examples/own_integrator.rs` measures its order and what it conserves.

pub use lilyan_dynamics::integrators::{CATALOGUE, Claims, Entry, Integrator, find};
pub use lilyan_dynamics::options::{OptionSpec, Options, Value};
pub use lilyan_dynamics::{
    Abilities, ConfigurationSpace, Curvature, EnergyParts, Mass, Memory, MemoryError, MemoryRecord,
    Prescribed, State, StepError, StepStats, System,
};
pub use lilyan_solve::{BlockMatrix, BlockPattern};
