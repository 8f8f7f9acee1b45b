//! `lilyan sweep`: one scene with many settings.
//!
//! A [`Plan`] lists the runs, every combination of the values of all keys. It is written as `plan.csv` before anything runs. A run is
//! known by a hash of all that determines it, and has the folder `runs/ID` of its own. When it has ended, `ended.json` is written there
//! last. So whoever does the runs, one process or many, on one machine or a cluster: what is done is not done again, what was cut goes
//! on from its checkpoint, and [`SweepReport::collect`] gives the same table to the byte.

mod page;
mod picture;
mod plan;
mod record;
mod table;
mod variation;

pub use page::write_page;
pub use plan::{Plan, PlannedRun};
pub use record::{EndedRun, RunState, stop_file};
pub use table::{SweepReport, SweepRow, write_table};
pub use variation::Variation;

use crate::run::{self, RunError, RunOptions, RunProgress, Signal, Status};
use lilyan_files::atomic::WriteError;
use lilyan_scene::build::build;
use lilyan_scene::document::SceneError;
use std::path::Path;

/// Why a sweep could not be planned or a run of it not be done.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A variation makes no sense.
    #[error("{text}: {why}")]
    Variation {
        /// What was given.
        text: String,
        /// What is wrong, and what to write.
        why: String,
    },
    /// The plan makes no sense.
    #[error("{0}")]
    Plan(String),
    /// A scene of the plan is wrong.
    #[error("run {number} ({settings}): {source}")]
    Scene {
        /// Number of the run, from 0.
        number: usize,
        /// What it sets.
        settings: String,
        /// What is wrong.
        source: SceneError,
    },
    /// The folder holds another sweep.
    #[error(
        "{0} holds the plan of another sweep; choose another folder with -o, or add to that sweep by its own keys"
    )]
    OtherPlan(String),
    /// A result could not be written.
    #[error("{0}; make room or choose another folder with -o")]
    Write(#[from] WriteError),
    /// A result could not be read.
    #[error("{path}: {why}")]
    Read {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// The folder of a run cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What became of a call of [`run_planned`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The run had ended before.
    Found,
    /// The run has ended now.
    Ended,
    /// The run was stopped on request. It goes on from its checkpoint.
    Interrupted,
}

/// Does a run of the plan in `directory/runs/ID`, unless it has ended. A run that was cut goes on from its checkpoint. With `retry`, a run
/// that did not finish is done again from its start.
pub fn run_planned(
    plan: &Plan,
    number: usize,
    directory: &Path,
    retry: bool,
    progress: &mut dyn FnMut(&RunProgress) -> Signal,
) -> Result<Attempt, SweepError> {
    let planned = plan.run(number)?;
    let folder = planned.folder(directory);
    match EndedRun::read(&folder)? {
        Some(ended) if ended.state == RunState::Finished || !retry => return Ok(Attempt::Found),
        Some(_) => EndedRun::remove(&folder)?,
        None => {}
    }
    std::fs::create_dir_all(&folder).map_err(|e| WriteError::new(&folder, "creating the folder", e))?;
    let scene = plan.scene(number)?;
    let built = match build(&scene) {
        Ok(built) => built,
        Err(error) => {
            EndedRun::refused(error.to_string()).write(&folder)?;
            return Ok(Attempt::Ended);
        }
    };
    let mut options = RunOptions { directory: folder.clone(), resume: !retry, steps: None };
    let outcome = match options.resume && folder.join("checkpoint").is_file() {
        true => run::run(&scene, built, &options, progress),
        false => {
            options.resume = false;
            run::run(&scene, built, &options, progress)
        }
    };
    let outcome = match outcome {
        // A checkpoint that cannot be used is worth no more than none.
        Err(RunError::Resume(_)) => {
            options.resume = false;
            let built = build(&scene).map_err(|source| plan.wrong(number, source))?;
            run::run(&scene, built, &options, progress)?
        }
        other => other?,
    };
    if outcome.status == Status::Interrupted {
        return Ok(Attempt::Interrupted);
    }
    EndedRun::of(&outcome).write(&folder)?;
    Ok(Attempt::Ended)
}
