//! Which files a scene from a page may name: files that pages sent, and files of the scene that the lab was opened with.

use crate::error::LabError;
use crate::pane::meshes;
use lilyan_scene::library;
use lilyan_scene::schema::{FileSpec, MeshSpec, Scene, Shape};
use std::path::{Path, PathBuf};

/// The mesh files that scenes of a session may read.
pub struct AllowedFiles {
    /// The folder of files that pages sent.
    folder: PathBuf,
    /// Files outside of it.
    given: Vec<PathBuf>,
}

impl AllowedFiles {
    /// Files in the folder of the session, and files that the scene `first` names.
    pub fn new(folder: &Path, first: Option<&Scene>) -> Self {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let given =
            first.iter().flat_map(|scene| named_files(scene)).filter_map(|(_, path)| real(&path)).collect();
        Self { folder: real(folder).unwrap_or_else(|| folder.to_owned()), given }
    }

    /// Refuses a scene that names other files. Symbolic links are followed first.
    pub fn check(&self, scene: &Scene) -> Result<(), LabError> {
        for (name, path) in named_files(scene) {
            // A file that does not exist is left to the reader, whose message does not reveal what else exists.
            let inside = match std::fs::canonicalize(&path) {
                Ok(real) => real.starts_with(&self.folder) || self.given.contains(&real),
                Err(_) => path.starts_with(&self.folder) && !name.contains(".."),
            };
            if !inside {
                return Err(LabError::FileNotAllowed(name));
            }
        }
        Ok(())
    }
}

/// The mesh files of a scene: name and path. Built-in meshes are no files.
fn named_files(scene: &Scene) -> Vec<(String, PathBuf)> {
    let file = |mesh: &MeshSpec| match &mesh.shape {
        Shape::File(FileSpec { path, .. }) if library::asset(&scene.origin.0, path).is_none() => {
            Some((path.clone(), scene.resolve(path)))
        }
        _ => None,
    };
    meshes(scene).into_iter().filter_map(file).collect()
}
