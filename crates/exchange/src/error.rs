//! Why something cannot be exchanged.

use lilyan_files::atomic::WriteError;
use lilyan_mesh_io::readers::ReadError;
use lilyan_scene::document::SceneError;
use lilyan_study::run::IndexError;
use std::path::PathBuf;

/// Why results cannot be exported, or a scene not imported.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// A frame cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// A file cannot be written.
    #[error("{0}")]
    Write(#[from] WriteError),
    /// The index of a run cannot be read.
    #[error("{0}")]
    Index(#[from] IndexError),
    /// A scene is wrong.
    #[error("{0}")]
    Scene(#[from] SceneError),
    /// A folder without results.
    #[error("{}: {what}; give the folder of a run, as `lilyan run` prints it", folder.display())]
    NoResults {
        /// The folder.
        folder: PathBuf,
        /// What is missing.
        what: String,
    },
    /// What was asked for is not there.
    #[error("{0}")]
    Request(String),
}

impl ExchangeError {
    /// What was asked for is not there: what, and what to ask for instead.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::Request(message.into())
    }
}
