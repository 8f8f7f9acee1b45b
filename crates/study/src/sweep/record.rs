//! `ended.json`: that a run of a sweep has ended, and how.

use super::SweepError;
use crate::run::{RunOutcome, Status};
use lilyan_files::atomic::WriteError;
use lilyan_files::json;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How a run of a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// All steps are done.
    Finished,
    /// It could not go on.
    Failed,
    /// Its scene cannot be built.
    Refused,
    /// The process ended without a word.
    Crashed,
}

impl RunState {
    /// As in `sweep.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Crashed => "crashed",
        }
    }
}

/// The content of `ended.json`, the last file that a run of a sweep writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedRun {
    /// How it ended.
    pub state: RunState,
    /// Why it did not finish; empty if it did.
    pub reason: String,
}

impl EndedRun {
    pub(super) fn of(outcome: &RunOutcome) -> Self {
        match &outcome.status {
            Status::Failed(why) => Self { state: RunState::Failed, reason: why.clone() },
            _ => Self { state: RunState::Finished, reason: String::new() },
        }
    }

    pub(super) fn refused(reason: String) -> Self {
        Self { state: RunState::Refused, reason }
    }

    /// A run whose process ended without writing a result.
    pub fn crashed(reason: String) -> Self {
        Self { state: RunState::Crashed, reason }
    }

    /// What is in the folder of the run; `None` if it has not ended.
    pub fn read(folder: &Path) -> Result<Option<Self>, SweepError> {
        let path = file(folder);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|e| SweepError::Read {
                path: path.display().to_string(),
                why: format!("{e}; delete it"),
            }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(SweepError::Read { path: path.display().to_string(), why: e.to_string() }),
        }
    }

    /// Whether the run in this folder has ended.
    pub fn is_there(folder: &Path) -> bool {
        file(folder).is_file()
    }

    /// Writes it into the folder of the run.
    pub fn write(&self, folder: &Path) -> Result<(), SweepError> {
        Ok(json::write(file(folder), self)?)
    }

    pub(super) fn remove(folder: &Path) -> Result<(), SweepError> {
        let path = file(folder);
        std::fs::remove_file(&path).map_err(|e| WriteError::new(&path, "removing it", e).into())
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("ended.json")
}

/// While this file exists in the folder of a sweep, runs stop with a checkpoint, on whatever machine they are.
pub fn stop_file(directory: &Path) -> PathBuf {
    directory.join("stop")
}
