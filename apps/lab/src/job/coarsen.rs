//! `lilyan coarsen` for the page.

use super::{ProgressReporter, SceneSource};
use crate::channel::{JobOutcome, JobResult};
use crate::error::LabError;
use crate::limits::{COARSE_TETS, COARSEN_ELEMENTS};
use crate::protocol::CoarsenRequest;
use crate::wording;
use lilyan_scene::document::SceneError;
use lilyan_scene::schema::Scene;
use lilyan_study::coarsen::{self, CoarseMesh, CoarsenOptions, CoarsenOutcome};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Modes that prepared comparisons fit.
const GALLERY_MODES: usize = 10;

/// Refuses a request that would take too long or makes no sense.
pub fn validate(request: &CoarsenRequest, elements: usize) -> Result<(), LabError> {
    if elements > COARSEN_ELEMENTS {
        return Err(LabError::TooManyToCoarsen(elements));
    }
    if request.tets == 0 || request.tets > COARSE_TETS {
        return Err(LabError::CoarseTets);
    }
    if request.modes == 0 || request.modes > 20 {
        return Err(LabError::CoarseModes);
    }
    Ok(())
}

/// Makes the coarse scene in the folder, and compares its modes with those of the fine one.
pub fn run(
    request: &CoarsenRequest,
    source: &SceneSource,
    folder: &Path,
    reporter: &mut ProgressReporter,
) -> Result<JobOutcome, LabError> {
    let scene = source.scene()?;
    let mut tell = |what: &str, done: f64| reporter.report_or_unwind(what, 0.8 * done.clamp(0.0, 1.0));
    let library_request = library_request(request.body.clone(), request.tets, &request.method, request.modes);
    let outcome = coarsen::coarsen(&scene, &library_request, &mut tell)?;
    let path = written(&scene, &outcome, folder)?;
    reporter.report_or_unwind("frequencies of both", 0.8);
    let frequencies = coarsen::frequencies(&scene, &outcome, request.modes)?;
    let report = &outcome.report;
    let label = format!("coarse, {} tets, {}", report.coarse.tets, request.method);
    let told = json!({
        "title": scene.title,
        "body": report.body,
        "method": report.method,
        "model": report.model,
        "fine": report.fine,
        "coarse": report.coarse,
        "frequencies": frequencies,
        "notes": outcome.notes.iter().map(|n| wording::without_options(n)).collect::<Vec<_>>(),
        "files": ["scene.toml", "coarse.vtu", "coarsen.json"],
    });
    Ok(JobOutcome::Done(JobResult { told, scene: Some((path, label)) }))
}

/// Makes a coarse scene for a prepared comparison, in the current thread. Returns its path.
pub fn coarsen_for_gallery(
    scene: &Scene,
    method: &str,
    tets: usize,
    folder: &Path,
) -> Result<PathBuf, SceneError> {
    let request = library_request(None, tets, method, GALLERY_MODES);
    written(scene, &coarsen::coarsen(scene, &request, &mut |_, _| {})?, folder)
}

/// Writes the coarse scene; the path of its file.
fn written(scene: &Scene, outcome: &CoarsenOutcome, folder: &Path) -> Result<PathBuf, SceneError> {
    outcome.write(folder).map_err(|e| scene.bodies[outcome.body].mark.error(e.to_string()))
}

fn library_request(body: Option<String>, tets: usize, method: &str, modes: usize) -> CoarsenOptions {
    CoarsenOptions {
        body,
        mesh: CoarseMesh::Tets(tets),
        method: method.to_owned(),
        model: None,
        modes: Some(modes),
        display: false,
        traction: None,
        all_tractions: false,
        quadratic: false,
    }
}
