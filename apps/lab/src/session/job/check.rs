//! `lilyan check` for the page.

use super::Source;
use super::worker::{Ended, Found, Reporter};
use lilyan_scene::check::check;

/// Modes that are looked at.
const MODES: usize = 6;

/// Diagnoses a pane's scene.
pub fn work(source: &Source, reporter: &mut Reporter) -> Ended {
    reporter.tell_or_leave("reading", 0.0);
    let (scene, built) = match source.build() {
        Ok(built) => built,
        Err(why) => return Ended::Failed(why),
    };
    reporter.tell_or_leave("frequencies", 0.2);
    let mut told = check(&scene, &built, MODES).report;
    told["integrator"] = scene.integrator.name.as_str().into();
    told["step"] = scene.time.step.into();
    Ended::Done(Found { told, scene: None })
}
