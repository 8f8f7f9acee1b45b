//! Elastodynamics whose physics does not change with the time step or the mesh.
//!
//! This crate exports the names that a program needs, in the order in which it needs them.
//!
//! | step | module | names |
//! |---|---|---|
//! | 1. choose a material | [`material`] | [`find`](material::find), [`Given`](material::Given) |
//! | 2. put bodies and what acts on them together | [`body`] | [`BodyInput`](body::BodyInput), [`ModelBuilder`](body::ModelBuilder) |
//! | 3. choose an integrator | [`integrator`] | [`find`](integrator::find), [`Entry`](integrator::Entry) |
//! | 4. step through time | [`simulation`] | [`State`](simulation::State), [`Simulation`](simulation::Simulation) |
//!
//! A scene file says all four at once: [`scene`] reads it, [`result`] runs it and writes tables, frames and a report.
//! Units are SI throughout; positions, velocities and forces are flat vectors x₀ y₀ z₀ x₁ y₁ z₁ ….
//!
//! # A body falls
//!
//! ```
//! use lilyan::body::{BodyInput, ModelBuilder, box_mesh};
//! use lilyan::simulation::{Simulation, State};
//! use lilyan::{integrator, material};
//!
//! // 1. Rubber: E = 1e5 Pa, ν = 0.3.
//! let rubber = material::find("neo-hookean").ok_or("no such material")?;
//! let elastic = material::Given::from_young(1e5, 0.3)?;
//! // 2. A cube of 1 m, 1000 kg/m³, under gravity.
//! let mut builder = ModelBuilder::default();
//! let mesh = box_mesh([1.0, 1.0, 1.0], [2, 2, 2])?;
//! builder.body(BodyInput::new("cube", mesh, rubber, elastic, 1000.0))?;
//! builder.gravity([0.0, -9.81, 0.0]);
//! let model = builder.build();
//! // 3. A method that conserves energy and momenta.
//! let method = integrator::find("energy-momentum").ok_or("no such integrator")?.create(&[])?;
//! // 4. From rest, in steps of 0.01 s.
//! let start = model.start().to_vec();
//! let height = start[1];
//! let velocity = vec![0.0; start.len()];
//! let state = State::new(&model, start, velocity);
//! let mut simulation = Simulation::new(model, method, state, 0.01);
//! let before = simulation.total_energy();
//! for _ in 0..10 {
//!     simulation.advance()?;
//! }
//! // It fell by ½ g t², and no energy is lost.
//! let fallen = -0.5 * 9.81 * 0.1f64.powi(2);
//! assert!((simulation.state().q[1] - height - fallen).abs() < 1e-6);
//! assert!((simulation.total_energy() - before).abs() < 1e-6 * before.abs());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Extending it
//!
//! A [material](material#a-material-of-your-own) is one type with ψ, P and their derivatives by invariants. An
//! [integrator](integrator#an-integrator-of-your-own) is one type with a step. Both work with everything else as those of the
//! catalogues do. A [`Force`](body::Force) is one type with f(t, q, v). The folder `examples` holds a program for each;
//! `forty_lines.rs` has a material, a body and a loop on one page.
//!
//! # What to rely on
//!
//! Results are the same to the bit for any number of threads ([`set_threads`]). A step that fails leaves the state untouched and
//! says why ([`StepError`](integrator::StepError)). Functions that read files, scenes, meshes, options and
//! constants return errors and do not panic. Numbers of nodes in pins and loads must be those of the model.

pub mod body;
pub mod integrator;
pub mod material;
pub mod result;
pub mod scene;
pub mod simulation;

pub use lilyan_parallel::threads::{set_threads, threads};
