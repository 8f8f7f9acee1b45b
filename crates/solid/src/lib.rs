//! Deformable solids: meshes, elements, materials, potentials, damping, contact.
//!
//! A solid becomes a [`lilyan_dynamics::System`]; nothing here knows of files or of integrators.
#![allow(non_snake_case)] // kernels keep the paper's letters: F, P, C, J

mod builder;
pub mod coarsening;
pub mod damping;
pub mod elements;
pub mod materials;
pub mod math;
pub mod mesh;
pub mod meshing;
mod model;
pub mod nets;
pub mod potentials;
pub mod spectra;
mod volume;

pub use builder::{BodyInput, DampingSpec, Glued, ModelBuilder, NetInput};
pub use model::{Body, Load, Model, ModelParts, Motion, Pin};
pub use volume::Volume;
