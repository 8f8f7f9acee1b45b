//! `lilyan check` for the page.

use super::{ProgressReporter, SceneSource};
use crate::channel::{JobOutcome, JobResult};
use crate::error::LabError;
use lilyan_study::check::check;
use serde_json::json;

/// Number of modes that are computed.
const MODES: usize = 6;

/// Diagnoses the scene.
pub fn run(source: &SceneSource, reporter: &mut ProgressReporter) -> Result<JobOutcome, LabError> {
    reporter.report_or_unwind("reading", 0.0);
    let (scene, built) = source.build()?;
    reporter.report_or_unwind("frequencies", 0.2);
    let mut told = json!(check(&scene, &built, MODES).report);
    told["integrator"] = scene.integrator.name.as_str().into();
    told["step"] = scene.time.step.into();
    Ok(JobOutcome::Done(JobResult { told, scene: None }))
}
