//! The lowest frequencies of a fine body and of the coarse one that stands for it.

use super::fit::ModalFit;
use super::{CoarsenOutcome, EffectiveProperties, FitBy, FitPhaseReport};
use lilyan_dynamics::fit::modes_at_rest;
use lilyan_scene::build::build;
use lilyan_scene::build::fit::alone;
use lilyan_scene::document::SceneError;
use lilyan_scene::schema::Scene;

/// The modes of both bodies at rest, as `fit` in `coarsen.json` tells them. `corrected_hz` is absent where the coarse
/// body is not fitted. There is one phase for each span of time in which the same nodes are held.
pub fn frequencies(
    fine: &Scene,
    outcome: &CoarsenOutcome,
    modes: usize,
) -> Result<Vec<FitPhaseReport>, SceneError> {
    if let Some(known) = &outcome.report.fit {
        return Ok(known.clone());
    }
    let mut phases = ModalFit::new(fine, &outcome.scene, outcome.body, modes, FitBy::Modes)?.report();
    phases.iter_mut().flat_map(|phase| &mut phase.modes).for_each(|mode| mode.corrected_hz = None);
    Ok(phases)
}

/// Number of frequencies that candidates for a coarse body are judged by.
const JUDGED: usize = 3;

/// The candidate whose first frequencies are nearest to those of the fine body, with the pins of the start.
pub(super) fn nearest(
    scene: &Scene,
    number: usize,
    candidates: Vec<EffectiveProperties>,
    coarse_of: &dyn Fn(&EffectiveProperties) -> Result<Scene, SceneError>,
    notes: &mut Vec<String>,
) -> Result<EffectiveProperties, SceneError> {
    let fine = first(scene, number)?;
    let mut judged = Vec::new();
    for mut candidate in candidates {
        let own = first(&coarse_of(&candidate)?, number)?;
        let off: Vec<f64> = own.iter().zip(&fine).map(|(own, fine)| own / fine - 1.0).collect();
        let worst = off.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        if let Some(figures) = &mut candidate.figures {
            figures.frequency_error = Some(worst);
            let off: Vec<String> = off.iter().map(|x| format!("{:+.0} %", 100.0 * x)).collect();
            let name = figures.traction.as_str();
            notes.push(format!("traction \"{name}\": first frequencies off by {}", off.join(", ")));
        }
        judged.push((worst, candidate));
    }
    let best = judged.into_iter().reduce(|best, next| if next.0 < best.0 { next } else { best });
    Ok(best.map(|(_, candidate)| candidate).unwrap_or_default())
}

/// The first frequencies of a body at rest that are not of rigid motion, rad/s.
fn first(scene: &Scene, number: usize) -> Result<Vec<f64>, SceneError> {
    let built = build(&alone(scene, number, None)?)?;
    let system = built.simulation.system();
    let dofs = built.bodies[0].dofs.unknowns();
    let modes = modes_at_rest(system, &dofs, &system.rest_positions(), 0.0, JUDGED);
    let modes =
        modes.map_err(|e| scene.bodies[number].mark.error(format!("has no modes to judge by: {e}")))?;
    Ok(modes.values.iter().take(JUDGED).map(|v| v.max(0.0).sqrt()).collect())
}
