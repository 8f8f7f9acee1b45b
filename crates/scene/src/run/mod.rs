//! Running a scene: frames, tables, checkpoints, summary and report.

mod checkpoint;
mod constraints;
mod failing;
mod fields;
mod outcome;
mod record;
mod verdict;

pub use checkpoint::Saved;
pub use failing::{blown_up, diagnosis};
pub use fields::at_vertices;
pub use outcome::{Outcome, Status};
pub use record::{Counters, Drawn, ENERGY_COLUMNS, Recorder};
pub use verdict::EnergyFigures;

use crate::build::Built;
use crate::diagnose;
use crate::schema::Scene;
use crate::writers::atomic::{self, WriteError};
use crate::writers::vtu;
use lilyan_dynamics::StepRecord;
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
    /// The folder of the results cannot be used.
    Folder(WriteError),
    /// A result could not be written.
    Write(WriteError),
    /// The checkpoint is missing, damaged or of another scene.
    Resume(String),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder(e) => write!(f, "{e}; choose another folder with -o"),
            Self::Write(e) => write!(f, "{e}; make room or choose another folder with -o"),
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
    // Before anything is touched: a run that cannot go on leaves no trace.
    let saved = options.resume.then(|| checkpoint_of(scene, &mut built, directory)).transpose()?;
    let shows = built.bodies.iter().any(|b| b.shown.is_some());
    prepare(directory, shows).map_err(RunError::Folder)?;
    let mut recorder = Recorder::new(scene, &built, directory);
    let schedule = Schedule::new(scene, options.steps);
    match saved {
        Some((saved, counters)) => resume(&saved, counters, &mut built, &mut recorder, &schedule),
        None => {
            let cleared = clear(directory);
            cleared.map_err(|e| WriteError::new(directory, "removing earlier results", e))?;
            recorder.line(&built, &StepRecord::default());
            recorder.frame(scene, &built)?;
        }
    }
    built.warnings.extend(diagnose::step_warnings(scene, &built));

    let before = recorder.counters.wall;
    let start = Instant::now();
    let mut saved_at = start;
    let mut pace = Pace::default();
    let mut status = Status::Finished;
    let explicit = built.simulation.integrator.claims().explicit;
    let mut last = explicit.then(|| built.simulation.checkpoint());
    while built.simulation.index < schedule.steps {
        let began = Instant::now();
        let record = match built.simulation.advance() {
            Ok(record) => record,
            Err(error) => {
                status = Status::Failed(failing::diagnosis(scene, &built, &error));
                break;
            }
        };
        pace.add(began.elapsed().as_secs_f64());
        recorder.counters.newton += record.integrating.newton_iterations as f64;
        recorder.counters.krylov += record.integrating.linear_iterations as f64;
        recorder.counters.multigrid += record.integrating.multigrid as f64;
        recorder.counters.halved += f64::from(u8::from(record.cut));
        recorder.counters.wall = before + start.elapsed().as_secs_f64();
        let index = built.simulation.index;
        let (line, frame) = (schedule.is_line(index), schedule.is_frame(index));
        let finite = match line {
            true => recorder.line(&built, &record),
            false => !frame || built.simulation.total_energy().is_finite(),
        };
        if !finite {
            // Explicit steps do not look where they go: nothing of such a state is worth keeping.
            status = Status::Failed(failing::blown_up(scene, &built));
            if let Some(last) = &last {
                built.simulation.restore(last);
            }
            break;
        }
        if frame {
            recorder.frame(scene, &built)?;
        }
        if let Some(last) = last.as_mut().filter(|_| line || frame) {
            *last = built.simulation.checkpoint();
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
    built.warnings.extend(diagnose::fit_warnings(&built));
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
        frames: recorder.frame_times(),
        counters: recorder.counters.to_vec(),
    }
    .write(directory)
}

/// Makes the folder and clears away what a killed run left half written.
fn prepare(directory: &std::path::Path, shows: bool) -> Result<(), WriteError> {
    let frames = directory.join("frames");
    std::fs::create_dir_all(&frames).map_err(|e| WriteError::new(directory, "creating the folder", e))?;
    let shown = directory.join("display");
    if shows {
        std::fs::create_dir_all(&shown).map_err(|e| WriteError::new(directory, "creating the folder", e))?;
    }
    for folder in [directory, &frames, &shown].into_iter().filter(|f| f.is_dir()) {
        atomic::remove_leftovers(folder).map_err(|e| WriteError::new(folder, "clearing the folder", e))?;
    }
    Ok(())
}

/// The checkpoint to go on from, if it belongs to this scene.
fn checkpoint_of(
    scene: &Scene,
    built: &mut Built,
    directory: &std::path::Path,
) -> Result<(Saved, Counters), RunError> {
    let (saved, passed_over) = Saved::read(directory).map_err(RunError::Resume)?;
    if saved.scene != scene.hash() {
        return Err(RunError::Resume(
            "the checkpoint belongs to another scene or other settings; run without --resume, or into \
             another folder with -o"
                .into(),
        ));
    }
    let fits = saved.simulation.state.q.len() == built.simulation.state.q.len();
    let (true, Some(counters)) = (fits, Counters::from_slice(&saved.counters)) else {
        return Err(RunError::Resume(
            "the mesh has changed since the checkpoint was written; run without --resume to start afresh"
                .into(),
        ));
    };
    if let Some(why) = passed_over {
        let t = saved.simulation.state.t;
        built.warnings.push(format!("{why}; going on from the one before, at t = {t:.6} s"));
    }
    Ok((saved, counters))
}

fn resume(
    saved: &Saved,
    counters: Counters,
    built: &mut Built,
    recorder: &mut Recorder,
    schedule: &Schedule,
) {
    recorder.adopt_frames(built, &saved.frames);
    built.simulation.restore(&saved.simulation);
    recorder.counters = counters;
    // A run that was told to stop early ends with a line that a longer one does not have.
    let step = ENERGY_COLUMNS.iter().position(|c| *c == "step").unwrap_or(0);
    let wanted = |row: &[f64]| schedule.is_line(row[step] as u64);
    for row in saved.energy.iter().filter(|row| wanted(row)) {
        recorder.energy.push(row);
    }
    for (row, _) in saved.probes.iter().zip(&saved.energy).filter(|(_, energy)| wanted(energy)) {
        recorder.probes.push(row);
    }
}

/// Removes the results of an earlier run, and nothing else.
fn clear(directory: &std::path::Path) -> std::io::Result<()> {
    let named = ["frames.pvd", "display.pvd", "energy.csv", "probes.csv", "summary.json", "report.html"];
    let names = named.iter().chain(&["checkpoint", "checkpoint.previous"]);
    for path in names.map(|n| directory.join(n)).filter(|p| p.is_file()) {
        std::fs::remove_file(path)?;
    }
    for folder in ["frames", "display"].map(|f| directory.join(f)).iter().filter(|f| f.is_dir()) {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(vtu::is_frame_name) {
                std::fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}
