//! The scene language, and the simulation that is built from a scene.
#![allow(non_snake_case)] // F, J, P as in the papers

pub mod build;
pub mod document;
pub mod expression;
pub mod library;
pub mod reference;
pub mod schema;
pub mod suggest;
