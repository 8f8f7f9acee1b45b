//! Running a scene: frames, tables, checkpoints, summary and report.

mod checkpoint;
mod constraints;
pub mod diagnosis;
pub(crate) mod fields;
pub mod forces;
mod growth;
mod index;
mod outcome;
mod recorder;
mod round_off;
mod shown;
mod summary;
mod verdict;

pub use checkpoint::{CheckpointError, RunCheckpoint};
pub use constraints::{ConstraintSummary, ConstraintsSummary};
pub use fields::at_vertices;
pub use growth::{GrowthLimit, UnphysicalGrowth};
pub use index::{IndexError, IndexedBody, RunIndex};
pub use outcome::RunOutcome;
pub use recorder::{Counters, DrawnGeometry, ENERGY_COLUMNS, Recorder, replay};
pub use round_off::RoundOff;
pub use summary::{
    EnergySummary, FitSummary, MaterialSummary, MomentumDriftSummary, MomentumSummary, Status, Summary,
    SummaryOption,
};
pub use verdict::{EnergyFigures, allowed_energy, allowed_momentum};

use crate::diagnose;
use lilyan_dynamics::StepRecord;
use lilyan_files::atomic::{self, WriteError};
use lilyan_files::csv::Table;
use lilyan_files::folder::{self, FolderLock};
use lilyan_mesh_io::writers::vtu;
use lilyan_scene::build::Built;
use lilyan_scene::schema::Scene;
use std::path::PathBuf;
use std::time::{Duration, Instant};

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

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress {
    /// Steps done.
    pub step: u64,
    /// Steps to do.
    pub steps: u64,
    /// Simulated time, s.
    pub t: f64,
    /// Wall time since the start, s.
    pub wall: f64,
    /// Whether a checkpoint was written after this step.
    pub saved: bool,
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
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The folder of the results cannot be used.
    #[error("{0}; choose another folder with -o")]
    Folder(#[source] WriteError),
    /// Another run writes there.
    #[error("{}: another run writes its results there; wait for its end, or choose another folder with -o", .0.display())]
    InUse(PathBuf),
    /// A result could not be written.
    #[error("{0}; make room or choose another folder with -o")]
    Write(#[from] WriteError),
    /// The checkpoint is missing, damaged or of another scene.
    #[error("cannot resume: {0}")]
    Resume(#[source] CheckpointError),
}

/// Simulates the scene and writes everything into the folder. `progress` is called after every step.
pub fn run(
    scene: &Scene,
    mut built: Built,
    options: &RunOptions,
    progress: &mut dyn FnMut(&RunProgress) -> Signal,
) -> Result<RunOutcome, RunError> {
    let directory = &options.directory;
    let mut recorder = Recorder::new(scene, &built, directory);
    let limit = GrowthLimit::new(&built);
    let schedule = Schedule::new(scene, options.steps);
    let _lock = lock(options)?;
    if options.resume {
        // This comes before any file is written: a run that cannot be resumed changes nothing.
        resume(scene, &mut built, &mut recorder, &schedule, directory).map_err(RunError::Resume)?;
    }
    let shows = built.bodies.iter().any(|b| b.shown.is_some());
    prepare(directory, shows).map_err(RunError::Folder)?;
    if !options.resume {
        clear(directory).map_err(|e| WriteError::new(directory, "removing earlier results", e))?;
        recorder.add_line(&built, &StepRecord::default());
        recorder.write_frame(scene, &built)?;
    }
    RunIndex::new(scene, &built).write(directory)?;
    built.warnings.extend(diagnose::step_warnings(scene, &built));

    let before = recorder.counters.wall;
    let start = Instant::now();
    let mut saved_at = start;
    let mut step_times = StepTimes::default();
    let mut status = Status::Finished;
    let mut limit = limit.after(&recorder.energy, built.simulation.ledger().initial);
    let mut last = built.simulation.checkpoint();
    while built.simulation.index() < schedule.steps {
        if schedule.is_line(built.simulation.index() + 1) {
            recorder.begin_step(&built);
        }
        let began = Instant::now();
        let record = match built.simulation.advance() {
            Ok(record) => record,
            Err(error) => {
                // Before it was given up, the step was halved.
                recorder.counters.halved += 1.0;
                status = Status::Failed(diagnosis::failed_step(scene, &built, &error));
                break;
            }
        };
        let took = began.elapsed();
        step_times.add(took.as_secs_f64());
        recorder.counters.newton += record.stats.newton_iterations as f64;
        recorder.counters.krylov += record.stats.linear_iterations as f64;
        recorder.counters.multigrid += record.stats.multigrid as f64;
        recorder.counters.halved += f64::from(u8::from(record.halved));
        recorder.counters.wall = before + start.elapsed().as_secs_f64();
        let index = built.simulation.index();
        let (line, frame) = (schedule.is_line(index), schedule.is_frame(index));
        let growth = limit.check(&built, line || frame);
        // The tables end with the last sound state.
        let sound = growth.is_none()
            && match line {
                true => recorder.add_line(&built, &record),
                false => !frame || built.simulation.total_energy().is_finite(),
            };
        if !sound {
            // An explicit step does not check the energy of its result. The last sound state is restored.
            status = Status::Failed(match growth {
                Some(growth) => diagnosis::unphysical_growth(scene, &built, growth),
                None => diagnosis::infinite_energy(scene, &built),
            });
            built.simulation.restore(&last).expect("a checkpoint of this simulation");
            break;
        }
        if frame {
            recorder.write_frame(scene, &built)?;
        }
        if line || frame {
            last = built.simulation.checkpoint();
        }
        let saved = took > LONG_STEP || saved_at.elapsed().as_secs_f64() > scene.output.checkpoint_every;
        if saved {
            save(scene, &built, &recorder, directory)?;
            recorder.write_tables()?;
            saved_at = Instant::now();
        }
        let now = RunProgress {
            step: index,
            steps: schedule.steps,
            t: built.simulation.state().t,
            wall: recorder.counters.wall,
            saved,
        };
        if progress(&now) == Signal::Stop && index < schedule.steps {
            status = Status::Interrupted;
            break;
        }
    }
    save(scene, &built, &recorder, directory)?;
    recorder.write_tables()?;
    built.warnings.extend(diagnose::fit_warnings(&built));
    Ok(outcome::write(scene, &built, &recorder, &status, &step_times, directory)?)
}

/// A step that took longer is followed by a checkpoint: a run that is stopped in the next one loses that one alone. Writing it takes a
/// few percent of this.
const LONG_STEP: Duration = Duration::from_secs(2);

/// The steps after which lines and frames are written.
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
        // If the frame interval is shorter than the step, every step has a frame.
        self.every <= self.step || self.step_of_frame(k) == index
    }
}

/// The median of step times, in bounded memory: of many steps only every 2ᵏ-th is kept.
#[derive(Default)]
struct StepTimes {
    times: Vec<f64>,
    stride: u32,
    seen: u64,
}

impl StepTimes {
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
    RunCheckpoint {
        scene: scene.hash(),
        simulation: built.simulation.checkpoint(),
        energy: checkpoint::rows(&recorder.energy),
        probes: checkpoint::rows(&recorder.probes),
        forces: checkpoint::rows(&recorder.forces),
        frames: recorder.frame_times(),
        counters: recorder.counters,
    }
    .write(directory)
}

/// Makes the folder, and keeps other runs out of it until the lock is dropped. A folder that is not there cannot be resumed, and is not made.
fn lock(options: &RunOptions) -> Result<Option<FolderLock>, RunError> {
    let directory = &options.directory;
    if options.resume && !directory.is_dir() {
        return Ok(None);
    }
    let failed = |e| RunError::Folder(WriteError::new(directory, "creating the folder", e));
    std::fs::create_dir_all(directory).map_err(failed)?;
    let lock = FolderLock::take(directory).map_err(failed)?;
    lock.map(Some).ok_or_else(|| RunError::InUse(directory.clone()))
}

/// Makes the folder and removes temporary files of a killed run.
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

/// Restores the simulation and its record from the checkpoint in the folder, if that belongs to this scene.
fn resume(
    scene: &Scene,
    built: &mut Built,
    recorder: &mut Recorder,
    schedule: &Schedule,
    directory: &std::path::Path,
) -> Result<(), CheckpointError> {
    let (saved, passed_over) = RunCheckpoint::read(directory)?;
    if saved.scene != scene.hash() {
        return Err(CheckpointError::OtherScene);
    }
    if saved.simulation.state.q.len() != built.simulation.state().q.len() {
        return Err(CheckpointError::OtherMesh);
    }
    let tables = [
        (&saved.energy, &mut recorder.energy),
        (&saved.probes, &mut recorder.probes),
        (&saved.forces, &mut recorder.forces),
    ];
    let differs = |(rows, table): &(&Vec<Vec<f64>>, &mut Table)| {
        rows.iter().any(|row| row.len() != table.columns().len())
    };
    if tables.iter().any(differs) {
        return Err(CheckpointError::OtherColumns);
    }
    // A run that stops early ends with a line that a longer run does not have.
    let step = ENERGY_COLUMNS.iter().position(|c| *c == "step").unwrap_or(0);
    for (rows, table) in tables {
        let lines = rows.iter().zip(&saved.energy);
        lines
            .filter(|(_, energy)| schedule.is_line(energy[step] as u64))
            .for_each(|(row, _)| table.push(row));
    }
    if let Some(why) = passed_over {
        let t = saved.simulation.state.t;
        built.warnings.push(format!("{why}; continuing from the previous one, at t = {t:.6} s"));
    }
    built.simulation.restore(&saved.simulation)?;
    recorder.adopt_frames(built, &saved.frames);
    recorder.counters = saved.counters;
    Ok(())
}

/// Removes the results of an earlier run, and nothing else. The checkpoints go first, the older one before the newer one: whoever is killed
/// here leaves the earlier run whole, or no checkpoint.
fn clear(directory: &std::path::Path) -> std::io::Result<()> {
    let named = [
        "checkpoint.previous",
        "checkpoint",
        "frames.pvd",
        "display.pvd",
        "energy.csv",
        "probes.csv",
        "forces.csv",
        "summary.json",
        "run.json",
        "report.html",
    ];
    for path in named.map(|n| directory.join(n)).iter().filter(|p| p.is_file()) {
        std::fs::remove_file(path)?;
    }
    for folder in ["frames", "display"].map(|f| directory.join(f)).iter().filter(|f| f.is_dir()) {
        for name in folder::names(folder)?.iter().filter(|name| vtu::is_frame_name(name)) {
            std::fs::remove_file(folder.join(name))?;
        }
    }
    Ok(())
}
