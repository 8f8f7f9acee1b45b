//! Which files a scene from a page may name: those that pages sent, and those of the scene that the lab was opened with.

use lilyan_scene::library;
use lilyan_scene::schema::{FitKind, MeshSpec, Scene, Shape};
use std::path::{Path, PathBuf};

/// What may be read.
pub struct Files {
    folder: PathBuf,
    given: Vec<PathBuf>,
}

impl Files {
    /// Those in the session's folder, and those that `first` names.
    pub fn new(folder: &Path, first: Option<&Scene>) -> Self {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let given = first.iter().flat_map(|scene| named(scene)).filter_map(|(_, path)| real(&path)).collect();
        Self { folder: real(folder).unwrap_or_else(|| folder.to_owned()), given }
    }

    /// Refuses a scene that names others, wherever links lead.
    pub fn check(&self, scene: &Scene) -> Result<(), String> {
        for (name, path) in named(scene) {
            // What is not there cannot be read either; the reader says so, without telling what else is there.
            let inside = match std::fs::canonicalize(&path) {
                Ok(real) => real.starts_with(&self.folder) || self.given.contains(&real),
                Err(_) => path.starts_with(&self.folder) && !name.contains(".."),
            };
            if !inside {
                return Err(format!("the lab has no file \"{name}\"; drop it on the page to use it"));
            }
        }
        Ok(())
    }
}

/// Every mesh that a scene speaks of.
pub fn meshes(scene: &Scene) -> Vec<&MeshSpec> {
    let mut all = Vec::new();
    for body in &scene.bodies {
        all.push(&body.mesh);
        all.extend(&body.display);
        if let Some(FitKind::Fine { mesh, .. }) = body.fit.as_ref().map(|fit| &fit.kind) {
            all.push(mesh);
        }
    }
    all
}

/// Names of mesh files in a scene, and where they lead; built-in ones lead nowhere.
fn named(scene: &Scene) -> Vec<(String, PathBuf)> {
    let file = |mesh: &MeshSpec| match &mesh.shape {
        Shape::File { path, .. } if library::asset(&scene.origin.0, path).is_none() => {
            Some((path.clone(), scene.resolve(path)))
        }
        _ => None,
    };
    meshes(scene).into_iter().filter_map(file).collect()
}
