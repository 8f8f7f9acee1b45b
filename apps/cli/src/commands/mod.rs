//! One file per command.

pub mod bench;
pub mod catalogue;
pub mod check;
pub mod coarsen;
pub mod compare;
pub mod lab;
pub mod modes;
pub mod run;
pub mod scenes;
mod stopping;

use crate::failure::Failure;
use lilyan_scene::build::{Built, build, open};
use lilyan_scene::schema::Scene;
use std::path::{Path, PathBuf};

/// Reads and builds a scene.
fn load(name: &str, overrides: &[String]) -> Result<(Scene, Built), Failure> {
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    let scene = open(name, &overrides).map_err(Failure::input)?;
    let built = build(&scene).map_err(Failure::input)?;
    Ok((scene, built))
}

/// Where the results of a scene go unless told otherwise: `out/NAME`.
fn results_of(scene: &str) -> PathBuf {
    let stem = Path::new(scene).file_stem().map(|s| s.to_string_lossy().into_owned());
    PathBuf::from("out").join(stem.unwrap_or_else(|| "run".into()))
}
