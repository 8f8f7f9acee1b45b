//! Studies of a scene: run it, compare integrators on it, coarsen it, check it before it runs.
//!
//! ```
//! use lilyan_scene::build::{build, open};
//! use lilyan_study::diagnose::largest_frequency;
//!
//! let scene = open("cantilever", &["time.end=0.1"])?;
//! let built = build(&scene)?;
//! assert!(largest_frequency(&built).is_some_and(|omega| omega > 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![allow(non_snake_case)] // F, J, P as in the papers

pub mod check;
pub mod citations;
pub mod coarsen;
pub mod compare;
pub mod converge;
pub mod diagnose;
pub mod forecast;
pub mod mesh_error;
pub mod rest;
pub mod run;
pub mod scene_files;
pub mod sweep;
