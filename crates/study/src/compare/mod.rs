//! The same scene with many integrators and steps, against a converged reference.

mod advice;
mod energy_history;
mod error_norm;
mod integrator;
mod order;
mod output;
mod page;
mod plan;
mod reference;
mod report;
mod request_error;
mod row;
mod runner;
mod side_by_side;
mod table;

pub use advice::{Advice, Goal, advise};
pub use energy_history::EnergyHistory;
pub use error_norm::{ErrorNorm, ErrorSums, Errors, SampledPositions, weights};
pub use integrator::ConfiguredIntegrator;
pub use order::measured_order;
pub use output::{csv, write};
pub use plan::{ReferenceChoice, parse_step};
pub use reference::{Reference, ReferenceError, RefinementOptions, refine};
pub use report::{AdviceReport, CompareReport, OrderReport, ReferenceReport, RowOption, RowReport};
pub use request_error::RequestError;
pub use row::{ComparisonRow, ReplaySurface, RowRecorder};
pub use runner::{Observer, RunCost, RunEnd, Runner, SampleTimes};
pub use table::{reference_line, terminal};

use crate::run::Signal;
use lilyan_dynamics::System;
use lilyan_scene::build::{Built, Conserved};
use lilyan_scene::schema::Scene;
use std::collections::VecDeque;

/// What to compare.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// Integrators; none: all that make sense in the scene.
    pub methods: Vec<ConfiguredIntegrator>,
    /// Steps of all of them, s; none: some around the scene's, below the limits of explicit methods.
    pub steps: Vec<f64>,
    /// What to compare with.
    pub reference: ReferenceChoice,
    /// Wall time of a run, s; the reference gets three times as much.
    pub budget: f64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { methods: Vec::new(), steps: Vec::new(), reference: ReferenceChoice::Auto, budget: 20.0 }
    }
}

/// The progress of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct CompareProgress<'a> {
    /// Runs done.
    pub run: usize,
    /// Runs to do, without the reference's.
    pub runs: usize,
    /// What is running.
    pub method: &'a ConfiguredIntegrator,
    /// Its step, s.
    pub step: f64,
    /// Whether it is for the reference.
    pub reference: bool,
    /// Share of it that is done.
    pub done: f64,
}

/// Why nothing could be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompareError {
    /// The request makes no sense; what to do.
    #[error("{0}")]
    Input(String),
    /// There is no reference; why.
    #[error(
        "there is nothing to compare with: no reference run finished ({0}); raise --budget, \
         shorten the scene with --set time.end=…, or choose another with --reference"
    )]
    NoReference(String),
    /// Stopped on request before the reference was done.
    #[error("interrupted before the reference was done")]
    Interrupted,
}

/// What came out.
pub struct Comparison {
    /// The runs of one integrator after the other, longest step first.
    pub rows: Vec<ComparisonRow>,
    /// What they were compared with.
    pub reference: Reference,
    /// When, s.
    pub times: SampleTimes,
    /// Advice for every goal.
    pub advice: Vec<Advice>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// What physics keeps in this scene.
    pub conserved: Conserved,
    /// Names of the probes.
    pub probes: Vec<String>,
    /// Energy in play, J.
    pub in_play: f64,
    /// Tets of all bodies.
    pub elements: usize,
    /// What the replay shows.
    pub shown: ReplaySurface,
    /// Whether it was stopped before all runs were done.
    pub interrupted: bool,
    /// Wall time allowed to a run, s.
    pub budget: f64,
}

impl Comparison {
    /// The order that the runs of a method show.
    pub fn order(&self, method: &ConfiguredIntegrator) -> Option<f64> {
        order_of(&self.rows, method, self.reference.error)
    }

    /// Each method once, in the order of the rows.
    pub fn methods(&self) -> Vec<&ConfiguredIntegrator> {
        let mut methods: Vec<&ConfiguredIntegrator> = Vec::new();
        for row in &self.rows {
            if !methods.contains(&&row.method) {
                methods.push(&row.method);
            }
        }
        methods
    }

    /// Index of the run that represents a method where only one can be shown: of the runs that finished, the one
    /// whose step is nearest to that of the scene.
    pub fn typical(&self, method: &ConfiguredIntegrator, step: f64) -> Option<usize> {
        let far = |row: &ComparisonRow| (row.step / step).ln().abs();
        let own = (0..self.rows.len()).filter(|k| self.rows[*k].method == *method);
        own.filter(|k| self.rows[*k].finished())
            .min_by(|a, b| far(&self.rows[*a]).total_cmp(&far(&self.rows[*b])))
    }
}

fn order_of(
    rows: &[ComparisonRow],
    method: &ConfiguredIntegrator,
    reference_error: Option<f64>,
) -> Option<f64> {
    let own = rows.iter().filter(|r| r.method == *method);
    let runs: Vec<(f64, f64)> = own.filter_map(|r| Some((r.mean_step(), r.error()?))).collect();
    measured_order(&runs, reference_error?)
}

/// Largest number of sample times. Large models get fewer, so that the runs of a reference fit into a gigabyte.
fn most_times(dofs: usize) -> usize {
    (1_000_000_000 / (6 * 8 * dofs.max(1))).clamp(20, 100)
}

/// Runs shorter than this are timed again, s.
const SHORT: f64 = 0.2;

/// Largest number of steps of one method if the user gives none.
const MOST_STEPS: usize = 9;

/// Bytes for the frames of all runs.
const FRAME_BYTES: usize = 256_000_000;

/// Runs the reference and then everything else. `seen` gets each row when it is done.
pub fn compare(
    scene: &Scene,
    built: Built,
    options: &CompareOptions,
    progress: &mut dyn FnMut(&CompareProgress<'_>) -> Signal,
    seen: &mut dyn FnMut(&[ComparisonRow]),
) -> Result<Comparison, CompareError> {
    let bounds = crate::diagnose::StiffestMode::of(&built);
    let (methods, notes) = match options.methods.is_empty() {
        true => plan::methods(scene, &built),
        false => (options.methods.clone(), Vec::new()),
    };
    let mut jobs = jobs(scene, &methods, options, bounds)?;
    let longest = jobs.iter().map(|j| j.1).fold(0.0, f64::max);
    let mut shown = side_by_side::surface(&built);
    let elements = built.bodies.iter().map(|b| b.mesh().tets().len()).sum();
    let Built { simulation, conserved, probes, warnings, .. } = built;
    let times = SampleTimes::new(scene.time.end, longest, most_times(simulation.state().q.len()));
    let (system, _, state) = simulation.into_parts();
    let mut runner = Runner::new(system, state);
    let weights = weights(runner.system());

    let reference_candidates =
        plan::reference_candidates(&options.reference, scene, longest, bounds, 3.0 * options.budget);
    let reference =
        first_reference(&mut runner, &reference_candidates, &weights, &times, jobs.len(), progress)?;
    let still = 1e-12 * runner.system().length();
    if reference.size.is_nan() || reference.size <= still {
        return Err(CompareError::Input("nothing moves in this scene: there is no motion to compare".into()));
    }
    let in_play = reference.energies.in_play();
    let frames = FRAME_BYTES / (12 * shown.nodes.len().max(1) * jobs.len());
    shown.every = times.as_slice().len().div_ceil(frames.max(10));
    let norm = ErrorNorm::new(&weights, &probes, &reference.positions);

    let mut rows: Vec<ComparisonRow> = Vec::new();
    let mut interrupted = false;
    while let Some((method, step)) = jobs.pop_front() {
        if let Some(why) = too_slow_before(&rows, &method) {
            // A step that the user asked for gets a row. A step that was chosen here is left out.
            if !options.steps.is_empty() {
                rows.push(ComparisonRow::skipped(&method, step, why));
            }
            continue;
        }
        let (run, runs) = (rows.len(), rows.len() + jobs.len() + 1);
        let mut tell = |done: f64| {
            let now = CompareProgress { run, runs, method: &method, step, reference: false, done };
            progress(&now) == Signal::Continue
        };
        let mut recorder = RowRecorder::new(&norm, in_play, conserved, &shown, &mut tell);
        let before = runner.system().calls();
        let mut done = runner.run(&method, step, &times, options.budget, &mut recorder);
        let after = runner.system().calls();
        // Other processes disturb the time of a short run: the shortest of four runs is its cost.
        if done.0 == RunEnd::Finished && done.1.wall < SHORT {
            let more = (0..3).filter_map(|_| runner.again(&method, step, &times, options.budget));
            done.1.wall = more.fold(done.1.wall, f64::min);
        }
        if done.0 == RunEnd::Interrupted {
            interrupted = true;
            break;
        }
        if let RunEnd::Refused(_) = done.0 {
            jobs.retain(|job| job.0 != method);
        }
        rows.push(recorder.row(&method, step, done, [after[0] - before[0], after[1] - before[1]]));
        seen(&rows);
        if options.steps.is_empty() && jobs.front().is_none_or(|next| next.0 != method) {
            // The stability limit at rest was too long for this motion: shorter steps are tried.
            if let Some(shorter) = shorter(&rows, &method) {
                jobs.push_front((method, shorter));
            }
        }
    }
    let order = |row: &ComparisonRow| order_of(&rows, &row.method, reference.error);
    let advice = Goal::ALL.map(|goal| advise(goal, &rows, reference.error, &order)).to_vec();
    let notes = warnings.into_iter().chain(notes).chain(caveats(&rows, &reference)).collect();
    Ok(Comparison {
        rows,
        times,
        advice,
        notes,
        conserved,
        probes: probes.into_iter().map(|p| p.name).collect(),
        in_play,
        elements,
        shown,
        interrupted,
        budget: options.budget,
        reference,
    })
}

/// Every method with every step, longest first.
fn jobs(
    scene: &Scene,
    methods: &[ConfiguredIntegrator],
    options: &CompareOptions,
    bounds: Option<crate::diagnose::StiffestMode>,
) -> Result<VecDeque<(ConfiguredIntegrator, f64)>, CompareError> {
    let mut given = options.steps.clone();
    given.sort_by(|a, b| b.total_cmp(a));
    given.dedup();
    for step in &given {
        if *step > scene.time.end {
            return Err(CompareError::Input(format!(
                "the step of {step} s is longer than the scene ({} s); give shorter ones with --step-sizes",
                scene.time.end
            )));
        }
        if scene.time.end / step > 1e12 {
            return Err(CompareError::Input(format!(
                "the step of {step} s is too short for a run of {} s; give longer ones with --step-sizes",
                scene.time.end
            )));
        }
    }
    let steps = |m: &ConfiguredIntegrator| {
        if given.is_empty() { plan::steps(m, scene, bounds) } else { given.clone() }
    };
    Ok(methods.iter().flat_map(|m| steps(m).into_iter().map(|h| (m.clone(), h))).collect())
}

fn first_reference<S: System>(
    runner: &mut Runner<S>,
    reference_candidates: &[(ConfiguredIntegrator, RefinementOptions)],
    weights: &[f64],
    times: &SampleTimes,
    runs: usize,
    progress: &mut dyn FnMut(&CompareProgress<'_>) -> Signal,
) -> Result<Reference, CompareError> {
    let mut failures = Vec::new();
    for (method, options) in reference_candidates {
        let mut tell = |step: f64, done: f64| {
            progress(&CompareProgress { run: 0, runs, method, step, reference: true, done })
                == Signal::Continue
        };
        match refine(runner, method, options, weights, times, &mut tell) {
            Ok(reference) => return Ok(reference),
            Err(ReferenceError::Interrupted) => return Err(CompareError::Interrupted),
            Err(ReferenceError::Failed(why)) => failures.push(why),
        }
    }
    Err(CompareError::NoReference(failures.join("; ")))
}

/// The next shorter step of an explicit method that finished with fewer than three steps.
fn shorter(rows: &[ComparisonRow], method: &ConfiguredIntegrator) -> Option<f64> {
    let own: Vec<&ComparisonRow> = rows.iter().filter(|r| r.method == *method).collect();
    let held = own.iter().filter(|r| r.finished()).count();
    let broken = own.iter().any(|r| matches!(r.ended, RunEnd::Exploded(_) | RunEnd::Failed(_)));
    let explicit = method.claims().is_some_and(|c| c.explicit);
    (explicit && broken && held < 3 && own.len() < MOST_STEPS).then(|| 0.5 * own[own.len() - 1].step)
}

/// Shorter steps of a method that was too slow with a longer one are not tried.
fn too_slow_before(rows: &[ComparisonRow], method: &ConfiguredIntegrator) -> Option<String> {
    rows.iter().filter(|r| r.method == *method).find_map(|r| match r.ended {
        RunEnd::TooSlow(_) => {
            Some(format!("too slow with a step of {} s already", lilyan_report::short(r.step)))
        }
        _ => None,
    })
}

/// What weakens the comparison.
fn caveats(rows: &[ComparisonRow], reference: &Reference) -> Vec<String> {
    use lilyan_report::percent;
    let mut caveats = Vec::new();
    match reference.error {
        None => caveats.push(
            "the reference is a single run, so its own error is not known; raise --budget for a better one"
                .to_string(),
        ),
        Some(error) if error > 0.003 => caveats.push(format!(
            "the reference itself is known to {} only: smaller errors in the table mean little; raise \
             --budget, or shorten the scene with --set time.end=…",
            percent(error)
        )),
        _ => {}
    }
    let slow = rows.iter().filter(|r| matches!(r.ended, RunEnd::TooSlow(_))).count();
    if slow > 0 {
        caveats.push(format!(
            "{slow} run{} stopped for being too slow, and shorter steps were not tried; --budget gives {} more time",
            if slow == 1 { " was" } else { "s were" },
            if slow == 1 { "it" } else { "them" }
        ));
    }
    caveats
}
