//! Deformable solids: meshes, elements, materials, potentials, damping, contact.
//!
//! A solid becomes a [`lilyan_dynamics::System`]; nothing here knows of files or of integrators.
//!
//! ```
//! use lilyan_dynamics::System;
//! use lilyan_solid::materials::{Given, find};
//! use lilyan_solid::{BodyInput, ModelBuilder, meshing};
//!
//! let mesh = meshing::box_mesh([2.0, 1.0, 1.0], [4, 2, 2])?;
//! let rubber = find("neo-hookean").ok_or("no such material")?;
//! let mut builder = ModelBuilder::default();
//! builder.body(BodyInput::new("bar", mesh, rubber, Given::from_young(1e6, 0.45)?, 1100.0))?;
//! let model = builder.build();
//! // A body at rest has no energy, and its mass is density times volume.
//! assert_eq!(model.energy(0.0, model.start()), 0.0);
//! assert!((model.node_masses().iter().sum::<f64>() - 2200.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![allow(non_snake_case)] // kernels keep the paper's letters: F, P, C, J

mod build_error;
mod builder;
pub mod coarsening;
pub mod contact;
pub mod damping;
mod dofs;
pub mod elements;
mod forces;
pub mod materials;
pub mod math;
pub mod mesh;
pub mod meshing;
mod model;
pub mod nets;
pub mod output;
pub mod parameters;
mod pin_target;
pub mod potentials;
pub mod spectra;
mod system;
mod terms;
mod volume;

pub use build_error::BuildError;
pub use builder::{
    BodyInput, LOCKING_RATIO, MEAN_DILATATION_RATIO, ModelBuilder, NetInput, is_nearly_incompressible,
};
pub use dofs::DofMap;
pub use elements::Glued;
pub use forces::{Force, Pressure, PressureFace};
pub use model::{Body, BodyDamping, Load, Model, ModelParts, Motion, Pin};
pub use pin_target::PinTarget;
pub use volume::Volume;
