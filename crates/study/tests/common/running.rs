//! Running scenes from text, for tests.
#![allow(dead_code)] // each test file uses its share

use lilyan_scene::build::{Built, build};
use lilyan_scene::schema::Scene;
use lilyan_study::run::{RunOptions, RunOutcome, RunProgress, Signal, run};
use std::path::{Path, PathBuf};

/// An empty folder of that name.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("study").join(name);
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

/// Runs until `stop` steps are done, if given, and then as if interrupted.
pub fn run_until(scene: &Scene, built: Built, folder: &Path, resume: bool, stop: Option<u64>) -> RunOutcome {
    let options = RunOptions { directory: folder.to_path_buf(), resume, steps: None };
    let mut watch = |now: &RunProgress| match stop {
        Some(step) if now.step >= step => Signal::Stop,
        _ => Signal::Continue,
    };
    run(scene, built, &options, &mut watch).unwrap_or_else(|e| panic!("{e}"))
}

/// A column of a table that was written.
pub fn column(folder: &Path, file: &str, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let mut lines = text.lines();
    let k = lines.next().unwrap().split(',').position(|c| c == name).unwrap();
    lines.map(|line| line.split(',').nth(k).unwrap().parse().unwrap()).collect()
}
