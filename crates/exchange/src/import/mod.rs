//! Scenes of other programs as scenes of lilyan: one file or folder per format, and the catalogue.
//!
//! An importer turns what it knows into keys of a scene and lists, line by line, what it could not carry over. The scene names
//! the mesh files where they are.

mod abaqus;
mod draft;
mod mjcf;
mod obj;
mod placement;
mod polyfem;
mod vega;
mod xml;

use crate::error::ExchangeError;
use draft::Draft;
use lilyan_scene::document::Node;
use lilyan_scene::schema::Scene;
use std::path::{Path, PathBuf};

/// A format of scenes that can be imported.
pub struct SceneImporter {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files, lower case.
    pub extensions: &'static [&'static str],
    /// What of it is carried over.
    pub summary: &'static str,
    read: fn(&Path, &ImportOptions, &mut Draft) -> Result<(), ExchangeError>,
}

/// Every format, in the order they are listed to users.
pub static IMPORTERS: &[SceneImporter] =
    &[polyfem::IMPORTER, mjcf::IMPORTER, abaqus::IMPORTER, vega::IMPORTER, obj::IMPORTER];

/// What the file does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// Simulated time, s, of formats that have none.
    pub end: Option<f64>,
}

/// A scene from another program.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedScene {
    /// The scene in TOML.
    pub toml: String,
    /// The format that it was in.
    pub format: &'static str,
    /// What could not be carried over, and what was chosen instead.
    pub notes: Vec<String>,
}

/// Imports a scene. `output` is where it will be written: files are named from there.
pub fn import(path: &Path, output: &Path, options: &ImportOptions) -> Result<ImportedScene, ExchangeError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let importer = IMPORTERS.iter().find(|importer| importer.extensions.contains(&extension.as_str()));
    let importer = importer.ok_or_else(|| {
        let known = IMPORTERS.iter().map(|i| format!(".{} ({})", i.extensions.join(" ."), i.name));
        let known: Vec<String> = known.collect();
        ExchangeError::request(format!(
            "{}: scenes that can be imported are {}; a mesh alone is named in a scene of yours",
            path.display(),
            known.join(", ")
        ))
    })?;
    let mut draft = Draft::new(path, output)?;
    (importer.read)(path, options, &mut draft)?;
    let (scene, notes) = draft.finish();
    let origin = output.display().to_string();
    let toml = Node::from_json(&scene, &origin)?.to_toml();
    let head = format!("# Imported from {} ({}).\n", path.display(), importer.name);
    let comments: String = notes.iter().map(|note| format!("# - {note}\n")).collect();
    let comments =
        if notes.is_empty() { comments } else { format!("# Not carried over as it was:\n{comments}") };
    let toml = format!("{head}{comments}\n{toml}");
    // A scene that cannot be read is told now, and not when it is run.
    Scene::from_str(&toml, &origin)?;
    Ok(ImportedScene { toml, format: importer.name, notes })
}

/// The text of a file.
fn text_of(path: &Path) -> Result<String, ExchangeError> {
    let unreadable = |e: std::io::Error| {
        ExchangeError::request(format!("{}: {e}; check the name of the file", path.display()))
    };
    let bytes = std::fs::read(path).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The file that `name` means in a file of the folder.
fn beside(folder: &Path, name: &str) -> PathBuf {
    folder.join(name.trim())
}
