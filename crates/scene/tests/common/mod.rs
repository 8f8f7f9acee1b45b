//! Scenes from text, for tests.
#![allow(dead_code)] // each test file uses its share

use lilyan_scene::build::{Built, build};
use lilyan_scene::schema::Scene;
use std::path::{Path, PathBuf};

/// An empty folder of that name.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scene").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Reads and builds.
pub fn made(text: &str, overrides: &[&str]) -> (Scene, Built) {
    let scene = Scene::from_str_with(text, "scene.toml", overrides).unwrap_or_else(|e| panic!("{e}"));
    let built = build(&scene).unwrap_or_else(|e| panic!("{e}"));
    (scene, built)
}
