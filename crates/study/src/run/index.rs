//! `run.json`: what the frames of a run show, for programs that read them later.

use lilyan_files::atomic::{self, WriteError};
use lilyan_scene::build::Built;
use lilyan_scene::schema::Scene;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What the frames of a run show. As JSON it is the content of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunIndex {
    /// Title of the scene.
    pub title: String,
    /// The scene file, or the name of the built-in scene. The files that the scene names are beside it.
    pub origin: String,
    /// The scene as it was run, in TOML.
    pub scene: String,
    /// The bodies in the order of their nodes in the frames.
    pub bodies: Vec<IndexedBody>,
}

/// A body in the frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedBody {
    /// Its name.
    pub name: String,
    /// Number of its nodes in each frame.
    pub nodes: usize,
    /// Number of its points in each frame of `display/`; 0 if it shows no mesh but its own.
    #[serde(default)]
    pub shown: usize,
    /// Whether its elements have nodes of their own, so that neighbours have nodes at the same place.
    #[serde(default)]
    pub discontinuous: bool,
}

impl RunIndex {
    /// Of a built scene.
    pub fn new(scene: &Scene, built: &Built) -> Self {
        let bodies = built.bodies.iter().map(|body| IndexedBody {
            name: body.name.clone(),
            nodes: body.nodes().len(),
            shown: body.shown.as_ref().map_or(0, |shown| shown.map.embedding().len()),
            discontinuous: body.element == lilyan_scene::schema::Element::Dg,
        });
        Self {
            title: scene.title.clone(),
            origin: scene.origin.0.clone(),
            scene: scene.to_toml(),
            bodies: bodies.collect(),
        }
    }

    /// Where it is in the results of a run.
    pub fn path(directory: &Path) -> PathBuf {
        directory.join("run.json")
    }

    /// Writes it into the results of a run. Like a frame it is not synced, since a run can make it again.
    pub(super) fn write(&self, directory: &Path) -> Result<(), WriteError> {
        let text = serde_json::to_string_pretty(self);
        let path = Self::path(directory);
        let text = text.map_err(|e| WriteError::data(&path, e.to_string()))?;
        atomic::replace_with(path, |out| out.write_all(text.as_bytes()))
    }

    /// Reads that of the results of a run; `None` if the run left none.
    pub fn read(directory: &Path) -> Result<Option<Self>, IndexError> {
        let path = Self::path(directory);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(IndexError { path, cause: e.to_string() }),
        };
        match serde_json::from_str(&text) {
            Ok(index) => Ok(Some(index)),
            Err(e) => Err(IndexError { path, cause: e.to_string() }),
        }
    }
}

/// Why `run.json` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}; run the scene again", path.display())]
pub struct IndexError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub cause: String,
}
