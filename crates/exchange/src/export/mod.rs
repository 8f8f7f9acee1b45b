//! Results as files of other programs: one file per format, and the catalogue.
//!
//! Positions are in metres. glTF has y up, and USD y or z; scenes with another direction up are turned by the node that
//! holds the bodies. Files without such a node (OBJ, PLY, PC2, MDD, NPZ) keep the axes of the scene.

mod binary;
mod glb;
mod mdd;
mod npz;
mod obj;
mod pc2;
mod ply;
mod sequence;
mod upright;
mod usda;
mod zip;

use crate::animation::{Animation, AnimationOptions};
use crate::error::ExchangeError;
use crate::results::Results;
use lilyan_files::atomic::WriteError;
use lilyan_scene::suggest;
use std::path::{Path, PathBuf};

/// A format that results can be written in.
pub struct ExportFormat {
    /// Its name, which is the extension of its files.
    pub name: &'static str,
    /// What it holds, and who reads it.
    pub summary: &'static str,
    write: Write,
}

/// What a format is written from.
enum Write {
    /// The surfaces in motion, into a file.
    File(fn(&Animation, &Path) -> Result<(), WriteError>),
    /// The surfaces in motion, into a folder with a file per frame or body. Returns the files.
    Folder(fn(&Animation, &Path) -> Result<Vec<PathBuf>, WriteError>),
    /// The frames as they are, into a file.
    Frames(fn(&Results, &AnimationOptions, &Path) -> Result<(), ExchangeError>),
}

/// Every format, in the order they are listed to users.
pub static FORMATS: &[ExportFormat] =
    &[glb::FORMAT, usda::FORMAT, obj::FORMAT, ply::FORMAT, pc2::FORMAT, mdd::FORMAT, npz::FORMAT];

/// What an export has written.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// The format of that name.
pub fn find(name: &str) -> Result<&'static ExportFormat, ExchangeError> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let message = suggest::unknown("format", name, &names);
        let more = match name {
            "vtkhdf" | "vtu" | "pvd" => "; ParaView opens frames.pvd in the folder of the run as it is",
            "csv" | "parquet" => {
                "; energy.csv and probes.csv are in the folder of the run, and npz holds all numbers"
            }
            _ => "",
        };
        ExchangeError::request(format!("{message}{more}"))
    })
}

/// Writes the results of a run in a format. `output` is a file, or the folder of formats with several files; `None`: in the
/// folder `export` of the results, named after them. `progress` gets the share that is done.
pub fn export(
    results: &Results,
    format: &ExportFormat,
    options: &AnimationOptions,
    output: Option<&Path>,
    progress: &mut dyn FnMut(f64),
) -> Result<Exported, ExchangeError> {
    let name = file_stem(&results.directory);
    let path = match (output, &format.write) {
        (Some(path), _) => path.to_path_buf(),
        (None, Write::Folder(_)) => results.directory.join("export").join(format.name),
        (None, _) => results.directory.join("export").join(format!("{name}.{}", format.name)),
    };
    let folder = match format.write {
        Write::Folder(_) => Some(path.as_path()),
        _ => path.parent().filter(|folder| !folder.as_os_str().is_empty()),
    };
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|e| WriteError::new(folder, "creating the folder", e))?;
    }
    if let Write::Frames(write) = format.write {
        write(results, options, &path)?;
        return Ok(Exported { files: vec![path], notes: Vec::new() });
    }
    let animation = Animation::read(results, options, progress)?;
    let mut notes = animation.notes.clone();
    notes.extend(upright::note(format.name, animation.up));
    let files = match format.write {
        Write::File(write) => write(&animation, &path).map(|()| vec![path])?,
        Write::Folder(write) => write(&animation, &path)?,
        Write::Frames(_) => Vec::new(),
    };
    Ok(Exported { files, notes })
}

/// The name of the folder of a run.
fn file_stem(directory: &Path) -> String {
    // A relative path such as `.` has no name of its own.
    let whole = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf());
    whole.file_name().map_or("run".into(), |name| name.to_string_lossy().into_owned())
}
