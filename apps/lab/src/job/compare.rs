//! `lilyan compare` for the page.

use super::{ProgressReporter, SceneSource};
use crate::channel::{JobOutcome, JobResult};
use crate::error::LabError;
use crate::limits::COMPARE_ELEMENTS;
use crate::protocol::CompareRequest;
use crate::wording;
use lilyan_report::short;
use lilyan_scene::document::Node;
use lilyan_scene::schema::Scene;
use lilyan_study::compare::{
    self, CompareError, CompareOptions, CompareProgress, Comparison, ConfiguredIntegrator, ReferenceChoice,
};
use lilyan_study::run::Signal;
use serde_json::{Value, json};
use std::path::Path;

/// Share of the whole job that the reference takes, approximately.
const REFERENCE: f64 = 0.25;

/// Refuses a request that would take too long or makes no sense.
pub fn validate(request: &CompareRequest, elements: usize) -> Result<(), LabError> {
    let within = |x: f64, low: f64, high: f64| x >= low && x <= high;
    if elements > COMPARE_ELEMENTS {
        return Err(LabError::TooManyToCompare(elements));
    }
    if request.integrators.is_empty() || request.integrators.len() > 12 {
        return Err(LabError::CompareIntegrators);
    }
    for name in &request.integrators {
        method(name)?;
    }
    if request.steps.len() > 8 || !request.steps.iter().all(|h| within(*h, 1e-9, 1e3)) {
        return Err(LabError::CompareSteps);
    }
    if !within(request.end, 1e-6, 100.0) {
        return Err(LabError::CompareEnd);
    }
    if !within(request.budget, 0.1, 60.0) {
        return Err(LabError::CompareBudget);
    }
    Ok(())
}

fn method(name: &str) -> Result<ConfiguredIntegrator, LabError> {
    ConfiguredIntegrator::parse(name).map_err(|error| LabError::Integrator(error.to_string()))
}

/// Options for the library. The integrator of the pane keeps its options.
fn options(request: &CompareRequest, scene: &Scene) -> Result<CompareOptions, LabError> {
    let own = ConfiguredIntegrator::of_scene(scene);
    let mut methods = Vec::new();
    for name in &request.integrators {
        let method = method(name)?;
        let same = own.as_ref().filter(|own| own.name == method.name && method.options.is_empty());
        methods.push(same.cloned().unwrap_or(method));
    }
    let steps = request.steps.clone();
    Ok(CompareOptions { methods, steps, reference: ReferenceChoice::Auto, budget: request.budget })
}

/// Runs all integrators. The report is written into the folder.
pub fn run(
    request: &CompareRequest,
    mut source: SceneSource,
    folder: &Path,
    reporter: &mut ProgressReporter,
) -> Result<JobOutcome, LabError> {
    source.set("time.end", Node::from_json(&json!(request.end), "the lab")?)?;
    let (scene, built) = source.build()?;
    let options = options(request, &scene)?;
    let mut progress = |now: &CompareProgress<'_>| match reporter.report(|| describe(now), share(now)) {
        true => Signal::Continue,
        false => Signal::Stop,
    };
    let comparison = match compare::compare(&scene, built, &options, &mut progress, &mut |_| {}) {
        Ok(comparison) => comparison,
        Err(CompareError::Interrupted) => return Ok(JobOutcome::Cancelled(None)),
        Err(error) => return Err(LabError::Compare(wording::without_options(&error.to_string()))),
    };
    if comparison.rows.is_empty() {
        return Ok(JobOutcome::Cancelled(None));
    }
    compare::write(&scene, &comparison, folder)
        .map_err(|error| LabError::Compare(format!("the report cannot be written: {error}")))?;
    let result = JobResult { told: told(&scene, &comparison), scene: None };
    Ok(if comparison.interrupted { JobOutcome::Cancelled(Some(result)) } else { JobOutcome::Done(result) })
}

/// The current run, for the page.
fn describe(now: &CompareProgress<'_>) -> String {
    let what =
        if now.reference { "reference".into() } else { format!("run {} of {}", now.run + 1, now.runs) };
    format!("{what}: {}, step {} s", now.method, short(now.step))
}

/// The finished share of the whole job.
fn share(now: &CompareProgress<'_>) -> f64 {
    match now.reference {
        true => REFERENCE * now.done,
        false => REFERENCE + (1.0 - REFERENCE) * (now.run as f64 + now.done) / now.runs.max(1) as f64,
    }
}

/// The result for the page.
fn told(scene: &Scene, c: &Comparison) -> Value {
    let advice = c.advice.iter().map(|a| {
        let row = a.row.and_then(|k| c.rows.get(k));
        json!({
            "goal": a.goal.name(),
            "text": wording::without_options(&a.text),
            "integrator": row.map(|r| r.method.name),
            "step": row.map(|r| r.step),
        })
    });
    json!({
        "title": scene.title,
        "end": scene.time.end,
        "motion": c.reference.size,
        "reference": compare::reference_line(c),
        "table": compare::terminal(c),
        "advice": advice.collect::<Vec<_>>(),
        "notes": c.notes.iter().map(|n| wording::without_options(n)).collect::<Vec<_>>(),
        "files": ["report.html", "compare.csv", "compare.json"],
    })
}
