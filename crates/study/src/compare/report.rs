//! `compare.json`: the comparison as data.

use super::{Advice, Comparison, ComparisonRow, ConfiguredIntegrator};
use crate::check::ConservedReport;
use lilyan_dynamics::Value as OptionValue;
use lilyan_scene::schema::Scene;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A comparison as data. As JSON it is the content of `compare.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareReport {
    /// Title of the scene.
    pub title: String,
    /// What the runs are compared with.
    pub reference: ReferenceReport,
    /// Size of the motion that errors are relative to, m.
    pub motion_size: f64,
    /// Energy that drifts are relative to, J.
    pub energy_in_play: f64,
    /// Number of times at which runs are compared.
    pub times: usize,
    /// The runs.
    pub rows: Vec<RowReport>,
    /// The order of each method.
    pub orders: Vec<OrderReport>,
    /// Advice for each goal.
    pub advice: Vec<AdviceReport>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// What physics keeps constant.
    pub conserved: ConservedReport,
    /// Wall time that a run may take, s.
    pub budget_seconds: f64,
    /// Whether it was stopped before all runs were done.
    pub interrupted: bool,
    /// Threads that were used.
    pub threads: usize,
    /// Version of the program.
    pub version: String,
    /// Hash of the scene.
    pub scene_hash: String,
}

/// What the runs are compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceReport {
    /// `extrapolated` or `fine run`.
    pub kind: String,
    /// Its integrator.
    pub integrator: String,
    /// Its shortest step, s.
    pub finest_step: f64,
    /// The order by which it was extrapolated.
    pub order: Option<u32>,
    /// Its own error, relative; absent where it is not known.
    pub error: Option<f64>,
    /// Number of runs that it took.
    pub runs: usize,
    /// Wall time of these, s.
    pub wall_seconds: f64,
    /// All of it in words.
    pub text: String,
}

/// One run. Errors and drifts are relative, and absent where there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowReport {
    /// Its integrator.
    pub integrator: String,
    /// Options of the integrator.
    pub options: BTreeMap<String, RowOption>,
    /// Step, s.
    pub step: f64,
    /// How it ended, in a word.
    pub status: String,
    /// Why it ended early.
    pub reason: String,
    /// Root mean square of the error over body and time.
    pub error_l2: Option<f64>,
    /// Largest error of a vertex.
    pub error_worst: Option<f64>,
    /// Largest error of a probe.
    pub error_probe: Option<f64>,
    /// Error of each probe.
    pub error_probes: Option<BTreeMap<String, f64>>,
    /// Wall time per simulated second, s/s.
    pub cost: Option<f64>,
    /// Wall time, s.
    pub wall_seconds: f64,
    /// Simulated time, s.
    pub time_simulated: f64,
    /// Steps done.
    pub steps: u64,
    /// Mean length of a step, s.
    pub mean_step: Option<f64>,
    /// Steps that had to be halved.
    pub halved_steps: u64,
    /// Newton iterations.
    pub newton_iterations: u64,
    /// Evaluations of forces.
    pub force_evaluations: u64,
    /// Evaluations of Hessians.
    pub hessian_evaluations: u64,
    /// Largest gain or loss of energy.
    pub energy_drift: Option<f64>,
    /// Gain or loss of energy at the end.
    pub energy_final: Option<f64>,
    /// Largest drift of linear momentum.
    pub linear_drift: Option<f64>,
    /// Largest drift of angular momentum.
    pub angular_drift: Option<f64>,
}

/// The value of an option of an integrator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RowOption {
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

/// The order of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderReport {
    /// The method with its options.
    pub integrator: String,
    /// What its runs show.
    pub measured: Option<f64>,
    /// What its card claims.
    pub claimed: Option<u32>,
    /// What its card claims with damping.
    pub claimed_with_damping: Option<u32>,
}

/// Advice for a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdviceReport {
    /// The goal.
    pub goal: String,
    /// Whether a run meets it.
    pub met: bool,
    /// The method that is advised.
    pub integrator: Option<String>,
    /// Its step, s.
    pub step: Option<f64>,
    /// Its error.
    pub error_l2: Option<f64>,
    /// Its cost, s/s.
    pub cost: Option<f64>,
    /// In words.
    pub text: String,
}

impl CompareReport {
    /// Of a comparison of this scene.
    pub fn new(scene: &Scene, c: &Comparison) -> Self {
        Self {
            title: scene.title.clone(),
            reference: ReferenceReport::new(c),
            motion_size: c.reference.size,
            energy_in_play: c.in_play,
            times: c.times.as_slice().len(),
            rows: c.rows.iter().map(|row| RowReport::new(row, &c.probes)).collect(),
            orders: c.methods().into_iter().map(|method| OrderReport::new(c, method)).collect(),
            advice: c.advice.iter().map(|advice| AdviceReport::new(c, advice)).collect(),
            notes: c.notes.clone(),
            conserved: (&c.conserved).into(),
            budget_seconds: c.budget,
            interrupted: c.interrupted,
            threads: lilyan_parallel::threads::threads(),
            version: env!("CARGO_PKG_VERSION").into(),
            scene_hash: scene.hash(),
        }
    }
}

impl ReferenceReport {
    fn new(c: &Comparison) -> Self {
        let r = &c.reference;
        Self {
            kind: if r.extrapolated.is_some() { "extrapolated" } else { "fine run" }.into(),
            integrator: r.method.name.to_string(),
            finest_step: r.step,
            order: r.extrapolated,
            error: r.error,
            runs: r.runs,
            wall_seconds: r.wall,
            text: r.describe(),
        }
    }
}

impl RowReport {
    fn new(row: &ComparisonRow, probes: &[String]) -> Self {
        let e = row.errors.as_ref();
        let named = |e: &super::Errors| probes.iter().cloned().zip(e.probes.iter().copied()).collect();
        let options = row.method.options.iter();
        Self {
            integrator: row.method.name.to_string(),
            options: options.map(|(key, value)| (key.clone(), RowOption::from(value))).collect(),
            step: row.step,
            status: row.ended.word().to_string(),
            reason: row.ended.reason(),
            error_l2: e.map(|e| e.l2),
            error_worst: e.map(|e| e.worst),
            error_probe: e.and_then(|e| e.probe()),
            error_probes: e.map(named),
            cost: row.cost(),
            wall_seconds: row.work.wall,
            time_simulated: row.work.t,
            steps: row.work.steps,
            mean_step: Some(row.mean_step()).filter(|step| step.is_finite()),
            halved_steps: row.work.halved,
            newton_iterations: row.work.newton,
            force_evaluations: row.calls[0],
            hessian_evaluations: row.calls[1],
            energy_drift: row.energy_drift.map(|d| d[0]),
            energy_final: row.energy_drift.map(|d| d[1]),
            linear_drift: row.linear_drift,
            angular_drift: row.angular_drift,
        }
    }
}

impl From<&OptionValue> for RowOption {
    fn from(value: &OptionValue) -> Self {
        match value {
            OptionValue::Number(x) => Self::Number(*x),
            OptionValue::Flag(flag) => Self::Flag(*flag),
            OptionValue::Word(word) => Self::Word(word.clone()),
            OptionValue::Formula(formula) => Self::Word(formula.0.source().to_owned()),
        }
    }
}

impl OrderReport {
    fn new(c: &Comparison, method: &ConfiguredIntegrator) -> Self {
        let claims = method.claims();
        Self {
            integrator: method.to_string(),
            measured: c.order(method),
            claimed: claims.as_ref().map(|claims| claims.order),
            claimed_with_damping: claims.as_ref().map(|claims| claims.damped_order),
        }
    }
}

impl AdviceReport {
    fn new(c: &Comparison, advice: &Advice) -> Self {
        let row = advice.row.map(|k| &c.rows[k]);
        Self {
            goal: advice.goal.name(),
            met: row.is_some(),
            integrator: row.map(|r| r.method.to_string()),
            step: row.map(|r| r.step),
            error_l2: row.and_then(|r| r.error()),
            cost: row.and_then(|r| r.cost()),
            text: advice.text.clone(),
        }
    }
}
