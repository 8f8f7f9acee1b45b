//! The lowest frequencies of a fine body and of the coarse one that stands for it.

use super::fit::Found;
use super::{FitBy, Outcome};
use crate::document::SceneError;
use crate::schema::Scene;
use serde_json::Value;

/// Mode by mode at rest, as `fit` in `coarsen.json` tells them: `fine_hz`, `coarse_hz` and, where the coarse body is
/// fitted, `corrected_hz`. For each span of time between which something is held or let go.
pub fn frequencies(fine: &Scene, outcome: &Outcome, modes: usize) -> Result<Value, SceneError> {
    if let Some(known) = outcome.report.get("fit") {
        return Ok(known.clone());
    }
    let coarse = Scene::from_path(&outcome.scene)?;
    let mut phases = Found::new(fine, &coarse, outcome.body, modes, FitBy::Modes)?.report();
    for phase in phases.as_array_mut().into_iter().flatten() {
        for mode in phase["modes"].as_array_mut().into_iter().flatten() {
            // Nothing was corrected.
            mode.as_object_mut().map(|mode| mode.shift_remove("corrected_hz"));
        }
    }
    Ok(phases)
}
