//! `summary.json`: the figures of a run.

use super::StepTimes;
use super::constraints::{self, ConstraintsSummary};
use super::recorder::Recorder;
use super::verdict::{EnergyFigures, momenta};
use crate::diagnose::fits;
use crate::mesh_error::MeshReport;
use lilyan_dynamics::fit::DistanceFromRest;
use lilyan_files::csv::Table;
use lilyan_report::{Check, Verdict};
use lilyan_scene::build::{Built, BuiltBody};
use lilyan_scene::schema::{OptionValue, Scene};
use lilyan_solid::output;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// All steps done.
    Finished,
    /// Stopped on request; a checkpoint is written.
    Interrupted,
    /// It could not go on; why, and what to do.
    Failed(String),
}

/// The figures of a run. As JSON it is the content of `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Title of the scene.
    pub title: String,
    /// Name of the integrator.
    pub integrator: String,
    /// Options that the scene gives the integrator.
    pub options: BTreeMap<String, SummaryOption>,
    /// The material of each body.
    pub material: Vec<MaterialSummary>,
    /// Vertices of all bodies.
    pub vertices: usize,
    /// Elements of all bodies.
    pub elements: usize,
    /// Number of unknowns.
    pub dofs: usize,
    /// Steps done.
    pub steps: u64,
    /// Simulated time, s.
    pub time_simulated: f64,
    /// Wall time of stepping and recording, s.
    pub wall_seconds: f64,
    /// Median wall time of a step, s; absent without steps.
    pub seconds_per_step_median: Option<f64>,
    /// Newton iterations per step.
    pub newton_iterations_mean: f64,
    /// Iterations of linear solvers per step.
    pub linear_iterations_mean: f64,
    /// Systems per step that were solved with multigrid.
    pub multigrid_systems_mean: f64,
    /// Steps that had to be halved.
    pub halved_steps: f64,
    /// Threads that were used.
    pub threads: usize,
    /// Peak resident memory, MB; absent where the system does not tell it.
    pub peak_memory_mb: Option<f64>,
    /// Energies, J.
    pub energy: EnergySummary,
    /// Relative drift of momenta.
    pub momentum: MomentumSummary,
    /// Every momentum that physics conserves in the scene, also those that forces from outside leave.
    #[serde(default)]
    pub conserved_momenta: Vec<MomentumDriftSummary>,
    /// Constraints; absent if the scene has none.
    pub constraints: Option<ConstraintsSummary>,
    /// Fits of bodies to finer meshes.
    pub fits: Vec<FitSummary>,
    /// The error of the mesh, by linear and quadratic tets on it; absent where it would take long to measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshReport>,
    /// Whether all steps were done.
    pub converged: bool,
    /// `finished`, `interrupted`, or why the run stopped.
    pub status: String,
    /// The verdict in one sentence.
    pub verdict: String,
    /// Its level: `pass`, `warn` or `fail`.
    #[serde(default)]
    pub verdict_level: String,
    /// What was checked.
    #[serde(default)]
    pub checks: Vec<CheckSummary>,
    /// Each column of `probes.csv` by its name.
    #[serde(default)]
    pub probes: BTreeMap<String, ColumnSummary>,
    /// Keys that were set for this run (`--set`) and their values, as text.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// What the user should look at.
    pub warnings: Vec<String>,
    /// What was done to the scene on the way in.
    pub notes: Vec<String>,
    /// Version of the program.
    pub version: String,
    /// Hash of the scene.
    pub scene_hash: String,
}

/// The value of an option of the integrator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SummaryOption {
    /// True or false.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
    /// Numbers.
    Numbers(Vec<f64>),
}

/// The material of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaterialSummary {
    /// Name of the body.
    pub body: String,
    /// Material model.
    pub model: String,
    /// Smallest and largest Young's modulus, Pa; absent where springs have λ instead.
    #[serde(rename = "E", default, skip_serializing_if = "Option::is_none")]
    pub young: Option<[f64; 2]>,
    /// λ of springs, N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// Smallest and largest density, kg/m³.
    pub rho: [f64; 2],
}

/// Energies of a run, J.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergySummary {
    /// Total at the start.
    pub initial: f64,
    /// Total at the end.
    #[serde(rename = "final")]
    pub last: f64,
    /// Smallest total.
    pub min: f64,
    /// Largest total.
    pub max: f64,
    /// Energy that the motion can exchange.
    pub in_play: f64,
    /// Largest amount that work and damping do not account for.
    pub unaccounted_max: f64,
}

/// Largest drift of momenta, relative to the sum of their sizes; absent where physics does not conserve them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MomentumSummary {
    /// Of linear momentum.
    pub linear_drift: Option<f64>,
    /// Of angular momentum.
    pub angular_drift: Option<f64>,
}

/// A momentum that physics conserves, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MomentumDriftSummary {
    /// In words: "linear momentum across y".
    pub quantity: String,
    /// Largest change, relative to the sum of the sizes of its parts.
    pub drift: f64,
}

/// A check of the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckSummary {
    /// The quantity: "Energy".
    pub quantity: String,
    /// What was measured, in words.
    pub measured: String,
    /// What is allowed, in words.
    pub allowed: String,
    /// `pass`, `warn` or `fail`.
    pub level: String,
    /// Measured over allowed, if both are finite numbers.
    pub ratio: Option<f64>,
}

/// The numbers of a column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnSummary {
    /// At the end.
    #[serde(rename = "final")]
    pub last: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// What became of the fit of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitSummary {
    /// Name of the body.
    pub body: String,
    /// Factors on the stiffness of its modes at the end.
    pub ratios: Vec<f64>,
    /// Steps done.
    pub steps: u64,
    /// Steps without the fit.
    pub steps_without: u64,
    /// How far from rest the body was while it was fitted.
    #[serde(default)]
    pub furthest: DistanceFromRest,
}

impl From<&OptionValue> for SummaryOption {
    fn from(value: &OptionValue) -> Self {
        match value {
            OptionValue::Number(x) => Self::Number(*x),
            OptionValue::Text(text) => Self::Text(text.clone()),
            OptionValue::Bool(flag) => Self::Bool(*flag),
            OptionValue::Numbers(numbers) => Self::Numbers(numbers.clone()),
        }
    }
}

impl MaterialSummary {
    fn new(body: &BuiltBody) -> Self {
        Self {
            body: body.name.clone(),
            model: body.model.clone(),
            young: body.lambda.is_none().then_some(body.young),
            lambda: body.lambda,
            rho: body.density,
        }
    }
}

impl CheckSummary {
    fn new(check: &Check) -> Self {
        Self {
            quantity: check.quantity.clone(),
            measured: check.measured.clone(),
            allowed: check.allowed.clone(),
            level: check.level.name().into(),
            ratio: check.ratio.filter(|ratio| ratio.is_finite()),
        }
    }
}

/// All columns but that of the time.
fn columns(table: &Table) -> BTreeMap<String, ColumnSummary> {
    let of = |name: &String| {
        let values = table.column(name)?;
        let fold = |start: f64, pick: fn(f64, f64) -> f64| values.iter().copied().fold(start, pick);
        let [min, max] = [fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max)];
        Some((name.clone(), ColumnSummary { last: *values.last()?, min, max }))
    };
    table.columns().iter().skip(1).filter_map(of).collect()
}

impl Summary {
    /// Of a run that has ended.
    pub(super) fn new(
        scene: &Scene,
        built: &Built,
        recorder: &Recorder,
        status: &Status,
        step_times: &StepTimes,
        mesh: Option<MeshReport>,
        (verdict, checks): (&Verdict, &[Check]),
    ) -> Self {
        let simulation = &built.simulation;
        let energy = EnergyFigures::new(recorder);
        let steps = simulation.index();
        let c = &recorder.counters;
        let per_step = |count: f64| count / steps.max(1) as f64;
        let drift = |conserved: bool, [drift, scale]: [f64; 2]| {
            conserved.then(|| if scale > 0.0 { drift / scale } else { 0.0 })
        };
        let options = scene.integrator.options.iter();
        Self {
            title: scene.title.clone(),
            integrator: scene.integrator.name.clone(),
            options: options.map(|o| (o.key.clone(), SummaryOption::from(&o.value))).collect(),
            material: built.bodies.iter().map(MaterialSummary::new).collect(),
            vertices: built.bodies.iter().map(|b| b.nodes().len()).sum(),
            elements: output::cells(simulation.system().bodies()).iter().map(|block| block.len()).sum(),
            dofs: simulation.state().q.len(),
            steps,
            time_simulated: simulation.state().t,
            wall_seconds: c.wall,
            seconds_per_step_median: step_times.median(),
            newton_iterations_mean: per_step(c.newton),
            linear_iterations_mean: per_step(c.krylov),
            multigrid_systems_mean: per_step(c.multigrid),
            halved_steps: c.halved,
            threads: lilyan_parallel::threads::threads(),
            peak_memory_mb: peak_memory_mb(),
            energy: EnergySummary {
                initial: energy.initial,
                last: energy.last,
                min: energy.min,
                max: energy.max,
                in_play: energy.in_play,
                unaccounted_max: energy.unaccounted[0],
            },
            momentum: MomentumSummary {
                linear_drift: drift(built.conserved.linear, c.linear),
                angular_drift: drift(built.conserved.angular, c.angular),
            },
            conserved_momenta: momenta(built, recorder)
                .into_iter()
                .map(|m| MomentumDriftSummary { drift: m.drift(), quantity: m.name })
                .collect(),
            constraints: constraints::summary(built, &recorder.energy),
            fits: fits(built)
                .map(|(fit, followed)| FitSummary {
                    body: fit.name.clone(),
                    ratios: followed.ratios(),
                    steps: followed.steps,
                    steps_without: followed.skipped,
                    furthest: followed.furthest,
                })
                .collect(),
            mesh,
            converged: *status == Status::Finished,
            status: match status {
                Status::Finished => "finished".into(),
                Status::Interrupted => "interrupted".into(),
                Status::Failed(why) => why.clone(),
            },
            verdict: format!("{}: {}", verdict.headline, verdict.sentence),
            verdict_level: verdict.level.name().into(),
            checks: checks.iter().map(CheckSummary::new).collect(),
            probes: columns(&recorder.probes),
            settings: scene.settings.clone(),
            warnings: built.warnings.clone(),
            notes: built.notes.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            scene_hash: scene.hash(),
        }
    }
}

/// Peak resident memory of this process, MB (Linux only).
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
