//! Background jobs: check, compare and coarsen. The whole lab runs at most one job at a time, in its own thread, so that
//! the simulations continue.

mod check;
mod coarsen;
mod compare;
mod worker;

pub use coarsen::coarsen_for_gallery;
pub use worker::{BackgroundJob, JobSlot, ProgressReporter};

use crate::channel::JobOutcome;
use crate::error::LabError;
use crate::limits::PANES;
use crate::pane::{Pane, scene_of};
use crate::protocol::{CoarsenRequest, CompareRequest};
use lilyan_scene::build::{Built, build};
use lilyan_scene::document::{Node, SceneError, set_value};
use lilyan_scene::schema::Scene;
use std::path::{Path, PathBuf};

/// The folder of the files of a job, inside the folder of the session.
pub fn job_folder(session: &Path, number: u64) -> PathBuf {
    session.join(format!("job-{number}"))
}

/// A copy of the scene of a pane, with its settings, for a job.
pub struct SceneSource {
    document: Node,
    origin: String,
}

impl SceneSource {
    /// The scene of this pane.
    pub fn of(pane: &Pane) -> Self {
        Self { document: pane.document.clone(), origin: pane.origin.clone() }
    }

    fn set(&mut self, path: &str, value: Node) -> Result<(), SceneError> {
        set_value(&mut self.document, path, Some(value))
    }

    fn scene(&self) -> Result<Scene, SceneError> {
        scene_of(&self.document, &self.origin)
    }

    fn build(&self) -> Result<(Scene, Built), SceneError> {
        let scene = self.scene()?;
        let built = build(&scene)?;
        Ok((scene, built))
    }
}

/// A job that a page asked for.
pub enum JobTask {
    /// Diagnose the scene of the pane of this number.
    Check(usize),
    /// Compare integrators.
    Compare(CompareRequest),
    /// Make a coarse body.
    Coarsen(CoarsenRequest),
}

impl JobTask {
    /// The name in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Check(_) => "check",
            Self::Compare(_) => "compare",
            Self::Coarsen(_) => "coarsen",
        }
    }

    /// The number of the pane.
    pub fn pane(&self) -> usize {
        match self {
            Self::Check(pane) => *pane,
            Self::Compare(request) => request.pane,
            Self::Coarsen(request) => request.pane,
        }
    }

    /// Refuses a job that would take too long or makes no sense. The pane has `elements` elements; the session has `panes`
    /// panes.
    pub fn validate(&self, elements: usize, panes: usize) -> Result<(), LabError> {
        match self {
            Self::Check(_) => Ok(()),
            Self::Compare(request) => compare::validate(request, elements),
            Self::Coarsen(_) if panes >= PANES => Err(LabError::PanesFull("; close one for the coarse body")),
            Self::Coarsen(request) => coarsen::validate(request, elements),
        }
    }

    /// Does the job in the current thread. Its files are written into `folder`.
    pub fn run(self, source: SceneSource, folder: &Path, reporter: &mut ProgressReporter) -> JobOutcome {
        let outcome = std::fs::create_dir_all(folder)
            .map_err(LabError::system("there is no place for the results"))
            .and_then(|()| match self {
                Self::Check(_) => check::run(&source, reporter),
                Self::Compare(request) => compare::run(&request, source, folder, reporter),
                Self::Coarsen(request) => coarsen::run(&request, &source, folder, reporter),
            });
        outcome.unwrap_or_else(|error| JobOutcome::Failed(error.to_string()))
    }
}
