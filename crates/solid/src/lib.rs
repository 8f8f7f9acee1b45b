//! Deformable solids: meshes, elements, materials, potentials, damping, contact.
//!
//! A solid becomes a [`lilyan_dynamics`] system; nothing here knows of files or of integrators.
#![allow(non_snake_case)] // kernels keep the paper's letters: F, P, C, J

pub mod materials;
pub mod math;
pub mod mesh;
pub mod meshing;
