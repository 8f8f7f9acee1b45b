//! `lilyan converge`: step and mesh are refined together until the probes settle, and the cheapest setting that reaches a wanted
//! accuracy is told.
//!
//! Runs (mesh refined k times, step halved k times) for k = 0, 1, … give a sequence whose differences tell the error of the last:
//! with d the last difference and r the ratio of the last two, d/(r − 1). When that is a third of the wanted accuracy, the last run is
//! the reference. Against it every run has an error, with linear tets too, and from the cheapest run that is good enough longer steps
//! and coarser meshes are tried.

mod report;
mod subdivide;

pub use report::{ConvergeReport, SettingReport, table};
pub use subdivide::{halved, refined};

use crate::compare::{ConfiguredIntegrator, Observer, RunEnd, Runner, SampleTimes};
use crate::run::Signal;
use lilyan_dynamics::{Simulation, System};
use lilyan_scene::build::{Built, Probe, build};
use lilyan_scene::schema::{Element, Mass, Scene};
use lilyan_solid::Model;
use lilyan_solid::elements::{LINEAR_TETS, QUADRATIC_TETS};

/// What is wanted.
#[derive(Clone, Debug)]
pub struct ConvergeOptions {
    /// Largest error of a probe at any time, relative to the largest way that a probe goes.
    pub accuracy: f64,
    /// Names of the probes that must settle; none: all.
    pub probes: Vec<String>,
    /// Wall time of all runs together, s.
    pub budget: f64,
}

impl Default for ConvergeOptions {
    fn default() -> Self {
        Self { accuracy: 0.02, probes: Vec::new(), budget: 120.0 }
    }
}

/// The elements, the mesh and the step of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// `None`: as the scene has them.
    pub element: Option<Element>,
    /// How often the mesh of the scene is refined.
    pub refinement: u32,
    /// s.
    pub step: f64,
}

/// A run that was made.
#[derive(Clone, Debug)]
pub struct ConvergeRun {
    /// Its setting.
    pub setting: Setting,
    /// Unknowns.
    pub unknowns: usize,
    /// How it ended.
    pub ended: RunEnd,
    /// Wall time in steps, s.
    pub wall: f64,
    /// The error, relative to the motion; `None` if it did not finish.
    pub error: Option<f64>,
    /// Places of the probes at the common times, m.
    path: Vec<[f64; 3]>,
}

/// The progress of a study.
#[derive(Clone, Copy, Debug)]
pub struct ConvergeProgress {
    /// Runs done.
    pub run: usize,
    /// What is running.
    pub setting: Setting,
    /// Share of it that is done.
    pub done: f64,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvergeError {
    /// The request makes no sense; what to do.
    #[error("{0}")]
    Input(String),
    /// The first two runs did not finish; why.
    #[error("there is nothing to compare: {0}; allow more time, or shorten the scene")]
    NoReference(String),
    /// Stopped on request.
    #[error("interrupted before the probes had settled")]
    Interrupted,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Converged {
    /// All runs in the order in which they were made.
    pub runs: Vec<ConvergeRun>,
    /// The run that the others are compared with.
    pub reference: usize,
    /// Its error, estimated.
    pub reference_error: f64,
    /// Whether that is small enough to judge the others.
    pub settled: bool,
    /// The cheapest run that is good enough.
    pub cheapest: Option<usize>,
    /// The largest way that a probe goes, m.
    pub motion: f64,
    /// Names of the probes.
    pub probes: Vec<String>,
    /// The wanted accuracy.
    pub accuracy: f64,
}

/// A reference must be this many times as accurate as what is wanted.
const REFERENCE: f64 = 3.0;
/// A mesh refined once more with half of the step takes about this many times as long.
const COST_OF_A_LEVEL: f64 = 16.0;
/// Most unknowns of a run.
const MOST_UNKNOWNS: f64 = 3e6;

struct Study<'a> {
    scene: &'a Scene,
    built: Built,
    method: ConfiguredIntegrator,
    times: SampleTimes,
    options: &'a ConvergeOptions,
    runs: Vec<ConvergeRun>,
    spent: f64,
    progress: &'a mut dyn FnMut(&ConvergeProgress) -> Signal,
}

/// Refines until the probes of the scene settle.
pub fn converge(
    scene: &Scene,
    built: Built,
    options: &ConvergeOptions,
    progress: &mut dyn FnMut(&ConvergeProgress) -> Signal,
) -> Result<Converged, ConvergeError> {
    let input = |what: &str| Err(ConvergeError::Input(what.into()));
    if built.probes.is_empty() {
        return input(
            "the scene has no probe to follow; add one, as probe = [{ name = \"tip\", at = [x, y, z] }]",
        );
    }
    if let Some(unknown) = options.probes.iter().find(|name| built.probes.iter().all(|p| p.name != **name)) {
        return Err(ConvergeError::Input(format!("the scene has no probe \"{unknown}\"")));
    }
    if scene.bodies.iter().any(|body| body.fit.is_some()) {
        return input("a body with a fit belongs to its mesh; leave the fit out");
    }
    let Some(method) = ConfiguredIntegrator::of_scene(scene) else {
        return input("the integrator has options that cannot be given again");
    };
    let times = SampleTimes::new(scene.time.end, scene.time.step, 100);
    let solids = built.bodies.iter().all(|body| body.element.is_continuous_solid());
    let kinds: Vec<Option<Element>> = match solids {
        true => vec![Some(Element::Solid(&QUADRATIC_TETS)), Some(Element::Solid(&LINEAR_TETS))],
        false => vec![None],
    };
    let mut study = Study { scene, built, method, times, options, runs: Vec::new(), spent: 0.0, progress };
    let reference_error = study.refine(kinds[0])?;
    let Some(reference) = study.last_finished() else {
        let why = study.runs.iter().map(|run| run.ended.reason()).find(|why| !why.is_empty());
        return Err(ConvergeError::NoReference(why.unwrap_or_else(|| "no run was made".into())));
    };
    let motion = study.motion(reference);
    let reference_error = reference_error.unwrap_or(1.0);
    study.judge(reference, motion);
    for kind in kinds.iter().skip(1) {
        study.others(*kind, study.runs[reference].setting.refinement, reference, motion)?;
    }
    study.cheaper(reference, motion)?;
    let settled = reference_error <= options.accuracy / REFERENCE;
    let cheapest = study.cheapest(reference, settled);
    let names = |p: &Probe| p.name.clone();
    let probes = study.built.probes.iter().filter(|p| study.follows(&p.name)).map(names).collect();
    Ok(Converged {
        runs: study.runs,
        reference,
        reference_error,
        settled,
        cheapest,
        motion,
        probes,
        accuracy: options.accuracy,
    })
}

impl Study<'_> {
    fn follows(&self, name: &String) -> bool {
        self.options.probes.is_empty() || self.options.probes.contains(name)
    }

    fn length(&self) -> f64 {
        self.built.simulation.system().length()
    }

    fn last_finished(&self) -> Option<usize> {
        self.runs.iter().rposition(|run| run.ended == RunEnd::Finished)
    }

    /// Runs a setting, if that was not done before; the number of the run.
    fn run(&mut self, setting: Setting) -> Result<usize, ConvergeError> {
        if let Some(known) = self.runs.iter().position(|run| run.setting == setting) {
            return Ok(known);
        }
        let mut scene = refined(self.scene, &self.built, setting.refinement);
        scene.time.step = setting.step;
        if let Some(element) = setting.element {
            for body in &mut scene.bodies {
                if body.element != element {
                    body.mass = Mass::OfElements;
                }
                (body.element, body.element_given) = (element, true);
            }
        }
        let mut run = ConvergeRun {
            setting,
            unknowns: 0,
            ended: RunEnd::Interrupted,
            wall: 0.0,
            error: None,
            path: Vec::new(),
        };
        match build(&scene) {
            Err(error) => run.ended = RunEnd::Refused(error.to_string()),
            Ok(built) => {
                let Built { simulation, probes, .. } = built;
                let probes: Vec<Probe> = probes.into_iter().filter(|p| self.follows(&p.name)).collect();
                run.unknowns = simulation.state().q.len();
                let (system, _, state) = simulation.into_parts();
                let mut tell = |done: f64| {
                    let now = ConvergeProgress { run: self.runs.len(), setting, done };
                    (self.progress)(&now) == Signal::Continue
                };
                let mut recorder = PathRecorder { probes: &probes, path: Vec::new(), tell: &mut tell };
                let left = (self.options.budget - self.spent).max(0.0);
                let (ended, cost) = Runner::new(system, state).run(
                    &self.method,
                    setting.step,
                    &self.times,
                    left,
                    &mut recorder,
                );
                (run.path, run.ended, run.wall) = (recorder.path, ended, cost.wall);
                self.spent += cost.wall;
                if run.ended == RunEnd::Interrupted {
                    return Err(ConvergeError::Interrupted);
                }
            }
        }
        self.runs.push(run);
        Ok(self.runs.len() - 1)
    }

    /// The largest distance between the probes of two runs, m; `None` if one did not finish.
    fn distance(&self, a: usize, b: usize) -> Option<f64> {
        let [a, b] = [a, b].map(|k| &self.runs[k]);
        let both = a.ended == RunEnd::Finished && b.ended == RunEnd::Finished;
        both.then(|| a.path.iter().zip(&b.path).map(|(x, y)| far(x, y)).fold(0.0, f64::max))
    }

    /// The largest way that a probe goes in a run, m.
    fn motion(&self, run: usize) -> f64 {
        let path = &self.runs[run].path;
        let probes = path.len() / self.times.as_slice().len().max(1);
        let ways = path.iter().enumerate().map(|(k, x)| far(x, &path[k % probes.max(1)]));
        ways.fold(0.0, f64::max)
    }

    /// Runs of ever finer step and mesh; the error of the last, relative to the motion.
    fn refine(&mut self, element: Option<Element>) -> Result<Option<f64>, ConvergeError> {
        let (mut differences, mut error): (Vec<f64>, Option<f64>) = (Vec::new(), None);
        let mut before: Option<usize> = None;
        for level in 0..8 {
            let step = self.scene.time.step / f64::from(1u32 << level);
            let this = self.run(Setting { element, refinement: level, step })?;
            if self.runs[this].ended != RunEnd::Finished {
                // A step that is too long for the method is no reason to stop.
                if level == 0 && !matches!(self.runs[this].ended, RunEnd::TooSlow(_) | RunEnd::Refused(_)) {
                    continue;
                }
                break;
            }
            let motion = self.motion(this);
            if motion <= 1e-12 * self.length() {
                return Err(ConvergeError::Input("no probe moves in this scene".into()));
            }
            if let Some(before) = before
                && let Some(distance) = self.distance(before, this)
            {
                let difference = distance / motion.max(f64::MIN_POSITIVE);
                let ratio = differences.last().map_or(2.0, |last: &f64| last / difference);
                // Without a ratio, first order is assumed; a sequence that does not settle has an error of its last difference.
                error =
                    Some(if ratio > 1.5 { difference / (ratio.min(4.0) - 1.0) } else { 2.0 * difference });
                differences.push(difference);
            }
            before = Some(this);
            let enough = error.is_some_and(|e| e <= self.options.accuracy / REFERENCE);
            let next = COST_OF_A_LEVEL * self.runs[this].wall;
            let large = 8.0 * self.runs[this].unknowns as f64 > MOST_UNKNOWNS;
            if enough || large || (level > 0 && self.spent + next > self.options.budget) {
                break;
            }
        }
        Ok(error)
    }

    fn judge(&mut self, reference: usize, motion: f64) {
        for k in 0..self.runs.len() {
            self.runs[k].error = self.distance(k, reference).map(|d| d / motion);
        }
    }

    /// The same with other elements, as far as they are not good enough and the time allows.
    fn others(
        &mut self,
        element: Option<Element>,
        finest: u32,
        reference: usize,
        motion: f64,
    ) -> Result<(), ConvergeError> {
        let mut last = 0.0;
        for level in 0..=finest + 1 {
            if self.spent + COST_OF_A_LEVEL * last > self.options.budget {
                break;
            }
            let step = self.scene.time.step / f64::from(1u32 << level);
            let this = self.run(Setting { element, refinement: level, step })?;
            self.judge(reference, motion);
            last = self.runs[this].wall;
            if self.good(this, reference) {
                break;
            }
        }
        Ok(())
    }

    /// Whether a run is as accurate as wanted. The reference itself counts, since its error is known to be smaller.
    fn good(&self, run: usize, _reference: usize) -> bool {
        self.runs[run].error.is_some_and(|e| e <= self.options.accuracy)
    }

    /// From the cheapest run that is good enough: longer steps, then coarser meshes, while they are good enough.
    fn cheaper(&mut self, reference: usize, motion: f64) -> Result<(), ConvergeError> {
        let Some(mut best) = self.cheapest(reference, true) else { return Ok(()) };
        loop {
            let Setting { element, refinement, step } = self.runs[best].setting;
            let longer = Setting { element, refinement, step: 2.0 * step };
            let coarser = refinement.checked_sub(1).map(|refinement| Setting { element, refinement, step });
            let mut improved = false;
            for setting in [Some(longer), coarser].into_iter().flatten() {
                // A run has 20 steps at least.
                let done = self.runs.iter().any(|run| run.setting == setting);
                if done || setting.step > self.scene.time.end / 20.0 || self.spent > self.options.budget {
                    continue;
                }
                let this = self.run(setting)?;
                self.judge(reference, motion);
                if self.good(this, reference) && self.runs[this].wall < self.runs[best].wall {
                    best = this;
                    improved = true;
                    break;
                }
            }
            if !improved {
                return Ok(());
            }
        }
    }

    fn cheapest(&self, reference: usize, settled: bool) -> Option<usize> {
        let good = (0..self.runs.len()).filter(|k| settled && self.good(*k, reference));
        good.min_by(|a, b| self.runs[*a].wall.total_cmp(&self.runs[*b].wall))
    }
}

fn far(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// Follows the probes.
struct PathRecorder<'a> {
    probes: &'a [Probe],
    path: Vec<[f64; 3]>,
    tell: &'a mut dyn FnMut(f64) -> bool,
}

impl Observer<Model> for PathRecorder<'_> {
    fn positions(&mut self, _: usize, q: &[f64]) {
        self.path.extend(self.probes.iter().map(|p| p.place(q)));
    }
    fn state(&mut self, _: usize, simulation: &Simulation<Model>) -> bool {
        simulation.state().q.iter().all(|x| x.is_finite())
    }
    fn go_on(&mut self, done: f64) -> bool {
        (self.tell)(done)
    }
}
