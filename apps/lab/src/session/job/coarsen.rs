//! `lilyan coarsen` for the page.

use super::super::words;
use super::Source;
use super::worker::{Ended, Found, Reporter};
use lilyan_scene::coarsen::{self, CoarseMesh, Request};
use lilyan_scene::document::SceneError;
use lilyan_scene::schema::Scene;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Elements of the fine body at most: its displacements are solved for directly.
pub const ELEMENTS: usize = 100_000;
/// Tets of the coarse body at most.
pub const COARSE: usize = 20_000;

/// What is to be made coarser, and how.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    pane: usize,
    /// Of `lilyan coarsen --methods`.
    method: String,
    /// About so many.
    tets: usize,
    /// Modes that are compared, and fitted by methods that do.
    #[serde(default = "ten")]
    modes: usize,
    /// Which, where there are several.
    body: Option<String>,
}

fn ten() -> usize {
    10
}

impl Wanted {
    /// The pane that is meant.
    pub fn pane(&self) -> usize {
        self.pane
    }

    /// Refuses what would not end, and what cannot be meant.
    pub fn check(&self, elements: usize) -> Result<(), String> {
        if elements > ELEMENTS {
            return Err(format!(
                "{elements} elements are more than the lab coarsens ({ELEMENTS}); use `lilyan coarsen`"
            ));
        }
        if self.tets == 0 || self.tets > COARSE {
            return Err(format!("the coarse body may have 1 to {COARSE} tets"));
        }
        if self.modes == 0 || self.modes > 20 {
            return Err("1 to 20 modes can be fitted".into());
        }
        Ok(())
    }

    /// What the library is asked for.
    fn request(&self) -> Request {
        Request {
            body: self.body.clone(),
            mesh: CoarseMesh::Tets(self.tets),
            method: self.method.clone(),
            model: None,
            modes: Some(self.modes),
            display: false,
        }
    }
}

/// Makes the coarse scene in the folder, and tells how well its modes are those of the fine one.
pub fn work(wanted: &Wanted, source: &Source, folder: &Path, reporter: &mut Reporter) -> Ended {
    match coarsened(wanted, source, folder, reporter) {
        Ok(found) => Ended::Done(found),
        Err(why) => Ended::Failed(words::of(&why)),
    }
}

/// The same without a word, for what is prepared and small; where the coarse scene lies.
pub fn for_gallery(scene: &Scene, method: &str, tets: usize, folder: &Path) -> Result<PathBuf, String> {
    let wanted = Wanted { pane: 0, method: method.to_owned(), tets, modes: ten(), body: None };
    let outcome = coarsen::coarsen(scene, &wanted.request(), folder, &mut |_, _| {});
    outcome.map(|outcome| outcome.scene).map_err(|e| words::of(&e))
}

fn coarsened(
    wanted: &Wanted,
    source: &Source,
    folder: &Path,
    reporter: &mut Reporter,
) -> Result<Found, SceneError> {
    let scene = source.scene()?;
    let mut tell = |what: &str, done: f64| reporter.tell_or_leave(what, 0.8 * done.clamp(0.0, 1.0));
    let outcome = coarsen::coarsen(&scene, &wanted.request(), folder, &mut tell)?;
    reporter.tell_or_leave("frequencies of both", 0.8);
    let frequencies = coarsen::frequencies(&scene, &outcome, wanted.modes)?;
    let report = &outcome.report;
    let label = format!("coarse, {} tets, {}", report["coarse"]["tets"], wanted.method);
    let told = json!({
        "title": scene.title,
        "body": report["body"],
        "method": report["method"],
        "model": report["model"],
        "fine": report["fine"],
        "coarse": report["coarse"],
        "frequencies": frequencies,
        "notes": outcome.notes.iter().map(|n| words::without_options(n)).collect::<Vec<_>>(),
        "files": ["scene.toml", "coarse.vtu", "coarsen.json"],
    });
    Ok(Found { told, scene: Some((outcome.scene, label)) })
}
