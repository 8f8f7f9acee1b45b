//! The same scene with many integrators and steps, against a converged reference.

mod advice;
mod energy;
mod measure;
mod method;
mod order;
mod output;
mod page;
mod plan;
mod reference;
mod row;
mod side_by_side;
mod trace;

pub use advice::{Advice, Goal, advise};
pub use energy::Energies;
pub use measure::{Errors, Samples, Sums, Yardstick, weights};
pub use method::Method;
pub use order::measured;
pub use output::{csv, json, reference_line, terminal, write};
pub use plan::{Ask, parse_step};
pub use reference::{NoReference, Recipe, Reference, refine};
pub use row::{Row, Shown, Watch};
pub use trace::{Bench, Ended, Observer, Times, Work};

use crate::build::{Built, Conserved};
use crate::run::Signal;
use crate::schema::Scene;
use lilyan_dynamics::System;
use std::collections::VecDeque;

/// What to compare.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// Integrators; none: all that make sense in the scene.
    pub methods: Vec<Method>,
    /// Steps of all of them, s; none: some around the scene's, below the limits of explicit methods.
    pub steps: Vec<f64>,
    /// What to compare with.
    pub reference: Ask,
    /// Wall time of a run, s; the reference gets three times as much.
    pub budget: f64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { methods: Vec::new(), steps: Vec::new(), reference: Ask::Auto, budget: 20.0 }
    }
}

/// Where a comparison is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Runs done.
    pub run: usize,
    /// Runs to do, without the reference's.
    pub runs: usize,
    /// What is running.
    pub method: &'a Method,
    /// Its step, s.
    pub step: f64,
    /// Whether it is for the reference.
    pub reference: bool,
    /// Share of it that is done.
    pub done: f64,
}

/// Why nothing could be compared.
#[derive(Clone, Debug, PartialEq)]
pub enum CompareError {
    /// The request makes no sense; what to do.
    Input(String),
    /// There is no reference; why.
    NoReference(String),
    /// Stopped on request before there was anything to tell.
    Interrupted,
}

impl std::fmt::Display for CompareError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Input(why) => f.write_str(why),
            Self::NoReference(why) => write!(
                f,
                "there is nothing to compare with: no reference run came to its end ({why}); raise --budget, \
                 shorten the scene with --set time.end=…, or choose another with --reference"
            ),
            Self::Interrupted => f.write_str("interrupted before the reference was done"),
        }
    }
}

impl std::error::Error for CompareError {}

/// What came out.
pub struct Comparison {
    /// Method by method, longest step first.
    pub rows: Vec<Row>,
    /// What they were compared with.
    pub reference: Reference,
    /// When, s.
    pub times: Times,
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
    pub shown: Shown,
    /// Whether it was stopped before all runs were done.
    pub interrupted: bool,
    /// Wall time allowed to a run, s.
    pub budget: f64,
}

impl Comparison {
    /// The order that the runs of a method show.
    pub fn order(&self, method: &Method) -> Option<f64> {
        order_of(&self.rows, method, self.reference.error)
    }

    /// Each method once, in the order of the rows.
    pub fn methods(&self) -> Vec<&Method> {
        let mut methods: Vec<&Method> = Vec::new();
        for row in &self.rows {
            if !methods.contains(&&row.method) {
                methods.push(&row.method);
            }
        }
        methods
    }

    /// Index of the run of a method that stands for it where only one can be shown: with the step nearest
    /// to the scene's that finished.
    pub fn typical(&self, method: &Method, step: f64) -> Option<usize> {
        let far = |row: &Row| (row.step / step).ln().abs();
        let own = (0..self.rows.len()).filter(|k| self.rows[*k].method == *method);
        own.filter(|k| self.rows[*k].finished())
            .min_by(|a, b| far(&self.rows[*a]).total_cmp(&far(&self.rows[*b])))
    }
}

fn order_of(rows: &[Row], method: &Method, reference_error: Option<f64>) -> Option<f64> {
    let own = rows.iter().filter(|r| r.method == *method);
    let runs: Vec<(f64, f64)> = own.filter_map(|r| Some((r.mean_step(), r.error()?))).collect();
    measured(&runs, reference_error?)
}

/// Samples at most; fewer for large models, so that the runs behind a reference fit into a gigabyte.
fn most_times(dofs: usize) -> usize {
    (1_000_000_000 / (6 * 8 * dofs.max(1))).clamp(20, 100)
}

/// Runs shorter than this are timed again, s.
const SHORT: f64 = 0.2;

/// Steps of one method at most, where they are chosen for the user.
const MOST_STEPS: usize = 9;

/// Bytes for the frames of all runs.
const FRAME_BYTES: usize = 256_000_000;

/// Runs the reference and then everything else. `seen` gets each row when it is done.
pub fn compare(
    scene: &Scene,
    built: Built,
    options: &CompareOptions,
    progress: &mut dyn FnMut(&Progress<'_>) -> Signal,
    seen: &mut dyn FnMut(&[Row]),
) -> Result<Comparison, CompareError> {
    let rates = plan::Rates::of(&built);
    let (methods, notes) = match options.methods.is_empty() {
        true => plan::methods(scene, &built),
        false => (options.methods.clone(), Vec::new()),
    };
    let mut jobs = jobs(scene, &methods, options, rates)?;
    let longest = jobs.iter().map(|j| j.1).fold(0.0, f64::max);
    let mut shown = side_by_side::surface(&built);
    let elements = built.bodies.iter().map(|b| b.mesh.tets.len()).sum();
    let Built { simulation, conserved, probes, warnings, .. } = built;
    let times = Times::new(scene.time.end, longest, most_times(simulation.state.q.len()));
    let mut bench = Bench::new(simulation.system, simulation.state);
    let weights = weights(bench.system());

    let recipes = plan::recipes(&options.reference, scene, longest, rates, 3.0 * options.budget);
    let reference = first_reference(&mut bench, &recipes, &weights, &times, jobs.len(), progress)?;
    let still = 1e-12 * bench.system().length();
    if reference.size.is_nan() || reference.size <= still {
        return Err(CompareError::Input("nothing moves in this scene: there is no motion to compare".into()));
    }
    let in_play = reference.energies.in_play();
    let frames = FRAME_BYTES / (12 * shown.nodes.len().max(1) * jobs.len());
    shown.every = times.as_slice().len().div_ceil(frames.max(10));
    let yardstick = Yardstick::new(&weights, &probes, &reference.positions);

    let mut rows: Vec<Row> = Vec::new();
    let mut interrupted = false;
    while let Some((method, step)) = jobs.pop_front() {
        if let Some(why) = too_slow_before(&rows, &method) {
            // Steps that the user asked for are answered, those of our own choice are not missed.
            if !options.steps.is_empty() {
                rows.push(Row::skipped(&method, step, why));
            }
            continue;
        }
        let (run, runs) = (rows.len(), rows.len() + jobs.len() + 1);
        let mut tell = |done: f64| {
            let now = Progress { run, runs, method: &method, step, reference: false, done };
            progress(&now) == Signal::Continue
        };
        let mut watch = Watch::new(&yardstick, in_play, conserved, &shown, &mut tell);
        let before = bench.system().calls();
        let mut done = bench.run(&method, step, &times, options.budget, &mut watch);
        let after = bench.system().calls();
        // A short run is at the mercy of whatever else the machine does: the best of four tells its cost.
        if done.0 == Ended::Finished && done.1.wall < SHORT {
            let more = (0..3).filter_map(|_| bench.again(&method, step, &times, options.budget));
            done.1.wall = more.fold(done.1.wall, f64::min);
        }
        if done.0 == Ended::Interrupted {
            interrupted = true;
            break;
        }
        if let Ended::Refused(_) = done.0 {
            jobs.retain(|job| job.0 != method);
        }
        rows.push(watch.row(&method, step, done, [after[0] - before[0], after[1] - before[1]]));
        seen(&rows);
        if options.steps.is_empty() && jobs.front().is_none_or(|next| next.0 != method) {
            // The limit of an explicit method at rest was too bold for this motion: go on below it.
            if let Some(shorter) = shorter(&rows, &method) {
                jobs.push_front((method, shorter));
            }
        }
    }
    let order = |row: &Row| order_of(&rows, &row.method, reference.error);
    let advice = Goal::ALL.map(|goal| advise(goal, &rows, reference.error, &order)).to_vec();
    let notes = warnings.into_iter().chain(notes).chain(doubts(&rows, &reference)).collect();
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
    methods: &[Method],
    options: &CompareOptions,
    rates: Option<plan::Rates>,
) -> Result<VecDeque<(Method, f64)>, CompareError> {
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
    let steps = |m: &Method| if given.is_empty() { plan::steps(m, scene, rates) } else { given.clone() };
    Ok(methods.iter().flat_map(|m| steps(m).into_iter().map(|h| (m.clone(), h))).collect())
}

fn first_reference<S: System>(
    bench: &mut Bench<S>,
    recipes: &[(Method, Recipe)],
    weights: &[f64],
    times: &Times,
    runs: usize,
    progress: &mut dyn FnMut(&Progress<'_>) -> Signal,
) -> Result<Reference, CompareError> {
    let mut trouble = Vec::new();
    for (method, recipe) in recipes {
        let mut tell = |step: f64, done: f64| {
            progress(&Progress { run: 0, runs, method, step, reference: true, done }) == Signal::Continue
        };
        match refine(bench, method, recipe, weights, times, &mut tell) {
            Ok(reference) => return Ok(reference),
            Err(NoReference::Interrupted) => return Err(CompareError::Interrupted),
            Err(NoReference::Failed(why)) => trouble.push(why),
        }
    }
    Err(CompareError::NoReference(trouble.join("; ")))
}

/// The next shorter step of an explicit method of which fewer than three steps held.
fn shorter(rows: &[Row], method: &Method) -> Option<f64> {
    let own: Vec<&Row> = rows.iter().filter(|r| r.method == *method).collect();
    let held = own.iter().filter(|r| r.finished()).count();
    let broken = own.iter().any(|r| matches!(r.ended, Ended::Exploded(_) | Ended::Failed(_)));
    let explicit = method.claims().is_some_and(|c| c.explicit);
    (explicit && broken && held < 3 && own.len() < MOST_STEPS).then(|| 0.5 * own[own.len() - 1].step)
}

/// Shorter steps of a method that was too slow with a longer one are not tried.
fn too_slow_before(rows: &[Row], method: &Method) -> Option<String> {
    rows.iter().filter(|r| r.method == *method).find_map(|r| match r.ended {
        Ended::TooSlow(_) => {
            Some(format!("too slow with a step of {} s already", crate::report::short(r.step)))
        }
        _ => None,
    })
}

/// What weakens the comparison.
fn doubts(rows: &[Row], reference: &Reference) -> Vec<String> {
    use crate::report::percent;
    let mut doubts = Vec::new();
    match reference.error {
        None => doubts.push(
            "the reference is a single run, so its own error is not known; raise --budget for a better one"
                .to_string(),
        ),
        Some(error) if error > 0.003 => doubts.push(format!(
            "the reference itself is known to {} only: smaller errors in the table mean little; raise \
             --budget, or shorten the scene with --set time.end=…",
            percent(error)
        )),
        _ => {}
    }
    let slow = rows.iter().filter(|r| matches!(r.ended, Ended::TooSlow(_))).count();
    if slow > 0 {
        doubts.push(format!(
            "{slow} run{} stopped for being too slow, and shorter steps were not tried; --budget gives {} more time",
            if slow == 1 { " was" } else { "s were" },
            if slow == 1 { "it" } else { "them" }
        ));
    }
    doubts
}
