//! Running a scene: frames, tables, checkpoints, summary and report.

mod checkpoint;
mod fields;
mod outcome;
mod record;
mod verdict;

pub use checkpoint::Saved;
pub use outcome::{Outcome, Status};
pub use record::{Counters, ENERGY_COLUMNS, Recorder};
pub use verdict::EnergyFigures;

use crate::build::Built;
use crate::diagnose;
use crate::schema::Scene;
use crate::writers::atomic::{self, WriteError};
use lilyan_dynamics::{StepError, StepRecord};
use std::path::PathBuf;
use std::time::Instant;

/// How to run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Folder of the results.
    pub directory: PathBuf,
    /// Go on from the checkpoint in that folder.
    pub resume: bool,
    /// Stop after this many steps in all.
    pub steps: Option<u64>,
}

/// Where a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// Steps to do.
    pub steps: u64,
    /// Simulated time, s.
    pub t: f64,
    /// Wall time since the start, s.
    pub wall: f64,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Yes.
    Continue,
    /// No: write a checkpoint and stop.
    Stop,
}

/// Why a run could not be done at all.
#[derive(Debug)]
pub enum RunError {
    /// A result could not be written.
    Write(WriteError),
    /// The checkpoint is missing, damaged or of another scene.
    Resume(String),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Write(e) => write!(f, "{e}"),
            Self::Resume(e) => write!(f, "cannot resume: {e}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<WriteError> for RunError {
    fn from(e: WriteError) -> Self {
        Self::Write(e)
    }
}

/// Simulates the scene and writes everything into the folder. `progress` is called after every step.
pub fn run(
    scene: &Scene,
    mut built: Built,
    options: &RunOptions,
    progress: &mut dyn FnMut(&Progress) -> Signal,
) -> Result<Outcome, RunError> {
    let directory = &options.directory;
    let fail = |stage, e| WriteError::new(directory, stage, e);
    std::fs::create_dir_all(directory.join("frames")).map_err(|e| fail("creating the folder", e))?;
    atomic::remove_leftovers(directory).map_err(|e| fail("clearing the folder", e))?;
    let mut recorder = Recorder::new(scene, &built, directory);
    let schedule = Schedule::new(scene, options.steps);
    if options.resume {
        resume(scene, &mut built, &mut recorder, &schedule, directory)?;
    } else {
        clear(directory).map_err(|e| fail("removing earlier results", e))?;
        recorder.line(&built, &StepRecord::default());
        recorder.frame(scene, &built)?;
    }
    built.warnings.extend(diagnose::step_warnings(scene, &built));

    let before = recorder.counters.wall;
    let start = Instant::now();
    let mut saved_at = start;
    let mut pace = Pace::default();
    let mut status = Status::Finished;
    while built.simulation.index < schedule.steps {
        let began = Instant::now();
        let record = match built.simulation.advance() {
            Ok(record) => record,
            Err(error) => {
                status = Status::Failed(diagnosis(scene, &built, &error));
                break;
            }
        };
        pace.add(began.elapsed().as_secs_f64());
        recorder.counters.newton += record.integrating.newton_iterations as f64;
        recorder.counters.halved += f64::from(u8::from(record.parts > 1));
        recorder.counters.wall = before + start.elapsed().as_secs_f64();
        let index = built.simulation.index;
        if schedule.is_line(index) {
            recorder.line(&built, &record);
        }
        if schedule.is_frame(index) {
            recorder.frame(scene, &built)?;
        }
        let now = Progress {
            step: index,
            steps: schedule.steps,
            t: built.simulation.state.t,
            wall: recorder.counters.wall,
        };
        if progress(&now) == Signal::Stop && index < schedule.steps {
            status = Status::Interrupted;
            break;
        }
        if saved_at.elapsed().as_secs_f64() > scene.output.checkpoint_every {
            save(scene, &built, &recorder, directory)?;
            recorder.write_tables()?;
            saved_at = Instant::now();
        }
    }
    save(scene, &built, &recorder, directory)?;
    recorder.write_tables()?;
    Ok(outcome::write(scene, &built, &recorder, &status, &pace, directory)?)
}

/// At which steps what is written.
struct Schedule {
    steps: u64,
    energy_every: u64,
    step: f64,
    every: f64,
}

impl Schedule {
    fn new(scene: &Scene, limit: Option<u64>) -> Self {
        let all = scene.time.steps();
        // Enough lines for any plot, few enough for any spreadsheet.
        let automatic = all.div_ceil(20_000);
        let energy_every = match u64::from(scene.output.energy_every) {
            0 => automatic,
            n => n,
        };
        Self {
            steps: limit.map_or(all, |n| n.min(all)),
            energy_every,
            step: scene.time.step,
            every: scene.output.every,
        }
    }

    fn is_line(&self, index: u64) -> bool {
        index.is_multiple_of(self.energy_every) || index == self.steps
    }

    /// The step that is nearest to frame k.
    fn step_of_frame(&self, k: u64) -> u64 {
        (k as f64 * self.every / self.step).round() as u64
    }

    fn is_frame(&self, index: u64) -> bool {
        let k = (index as f64 * self.step / self.every).round() as u64;
        // A frame interval shorter than the step cannot be met: one frame per step then.
        self.every <= self.step || self.step_of_frame(k) == index
    }

    fn time_of_frame(&self, k: u64) -> f64 {
        let index = if self.every <= self.step { k } else { self.step_of_frame(k) };
        index as f64 * self.step
    }
}

/// Median of step times with bounded memory: every 2ᵏ-th once there are many.
#[derive(Default)]
struct Pace {
    times: Vec<f64>,
    stride: u32,
    seen: u64,
}

impl Pace {
    fn add(&mut self, seconds: f64) {
        if self.seen.is_multiple_of(1 << self.stride) {
            self.times.push(seconds);
            if self.times.len() >= 1 << 16 {
                self.times = self.times.iter().step_by(2).copied().collect();
                self.stride += 1;
            }
        }
        self.seen += 1;
    }

    fn median(&self) -> Option<f64> {
        let mut sorted = self.times.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }
}

fn save(
    scene: &Scene,
    built: &Built,
    recorder: &Recorder,
    directory: &std::path::Path,
) -> Result<(), WriteError> {
    Saved {
        scene: scene.hash(),
        simulation: built.simulation.checkpoint(),
        energy: checkpoint::rows(&recorder.energy),
        probes: checkpoint::rows(&recorder.probes),
        frames: recorder.frames,
        counters: recorder.counters.to_vec(),
    }
    .write(directory)
}

fn resume(
    scene: &Scene,
    built: &mut Built,
    recorder: &mut Recorder,
    schedule: &Schedule,
    directory: &std::path::Path,
) -> Result<(), RunError> {
    let saved = Saved::read(directory).map_err(RunError::Resume)?;
    if saved.scene != scene.hash() {
        return Err(RunError::Resume(
            "the checkpoint belongs to another scene or other settings; run without --resume, or into \
             another folder with -o"
                .into(),
        ));
    }
    let fits = saved.simulation.state.q.len() == built.simulation.state.q.len();
    let counters = Counters::from_slice(&saved.counters);
    let (true, Some(counters)) = (fits, counters) else {
        return Err(RunError::Resume("the mesh has changed since the checkpoint was written".into()));
    };
    recorder.adopt_frames(built, saved.frames, &|k| schedule.time_of_frame(k));
    built.simulation.restore(&saved.simulation);
    recorder.counters = counters;
    for row in &saved.energy {
        recorder.energy.push(row);
    }
    for row in &saved.probes {
        recorder.probes.push(row);
    }
    Ok(())
}

/// Removes the results of an earlier run, and nothing else.
fn clear(directory: &std::path::Path) -> std::io::Result<()> {
    let named = ["frames.pvd", "energy.csv", "probes.csv", "summary.json", "report.html"];
    let names = named.iter().chain(&["checkpoint", "checkpoint.previous"]);
    for path in names.map(|n| directory.join(n)).filter(|p| p.is_file()) {
        std::fs::remove_file(path)?;
    }
    for entry in std::fs::read_dir(directory.join("frames"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "vtu") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// What went wrong, where, and what to do about it.
fn diagnosis(scene: &Scene, built: &Built, error: &StepError) -> String {
    let mut text = format!("{error}, even after halving {} times", built.simulation.max_halvings);
    let mut nodes: Vec<usize> = error.culprits().iter().map(|dof| dof / 3).collect();
    nodes.dedup();
    if let Some(&node) = nodes.first() {
        let body = built.bodies.iter().rev().find(|b| b.first_node <= node);
        if let Some(body) = body {
            let vertex = node - body.first_node;
            let tets = body.mesh.tets.iter().enumerate();
            let around: Vec<String> = tets
                .filter(|(_, t)| t.contains(&(vertex as u32)))
                .take(4)
                .map(|(e, _)| e.to_string())
                .collect();
            text += &format!(
                "; worst at vertex {vertex} of body \"{}\" (elements {})",
                body.name,
                around.join(", ")
            );
        }
    }
    let claims = built.simulation.integrator.claims();
    let limit = diagnose::explicit_limit(built);
    text += &match (claims.explicit, limit) {
        (true, Some(limit)) => format!(
            ". The stable step of an explicit method is about {:.2e} s here: set time.step below it, or \
             use integrator \"energy-momentum\"",
            limit * diagnose::stability_factor(scene)
        ),
        _ => format!(
            ". Try half the step (--set time.step={:e}), some damping, or a material that survives \
             inversion (stable-neo-hookean)",
            0.5 * scene.time.step
        ),
    };
    text
}
