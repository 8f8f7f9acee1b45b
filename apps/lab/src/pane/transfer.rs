//! Transfers the state of one simulation to another one when settings change.

use super::Pane;
use crate::error::LabError;
use lilyan_dynamics::{State, System};
use lilyan_scene::build::BuiltBody;

/// Gives `new` the state of `old`. The result tells which body could not be transferred, if any. The error tells why the
/// new settings cannot continue from this state.
pub fn transfer_state(old: &Pane, new: &mut Pane) -> Result<Option<String>, LabError> {
    let (from, to) = (&old.built, &mut new.built);
    let mut notice = None;
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for body in &to.bodies {
        let known = from.bodies.iter().find(|b| b.name == body.name);
        let Some((x, u)) = known.and_then(|b| interpolate(b, body, from.simulation.state())) else {
            let text = match known {
                None => format!("body \"{}\" is new: it begins where the scene puts it", body.name),
                Some(_) => {
                    format!("body \"{}\" has another shape now: it begins where the scene puts it", body.name)
                }
            };
            notice = Some(text);
            let range = body.dofs.unknowns();
            let state = to.simulation.state();
            q.extend(state.q.get(range.clone()).unwrap_or_default());
            v.extend(state.v.get(range).unwrap_or_default());
            continue;
        };
        q.extend(x);
        v.extend(u);
    }
    let simulation = &mut to.simulation;
    if q.len() != simulation.state().q.len() {
        return Err(LabError::BodiesDoNotFit);
    }
    // Time is a number of steps, so that it does not drift. With another step it jumps by at most half a step.
    let t = simulation.nearest_time(from.simulation.state().t);
    // A vertex that is pinned while it moves is held at its current position, not at its start.
    simulation.change_loads(|system| system.hold_still_at(&q));
    let mut state = State::new(simulation.system(), q, v);
    state.t = t;
    simulation.system().abilities().place_prescribed(t, &mut state.q, &mut state.v);
    state.update_momenta(simulation.system());
    let energy = simulation.system().energy(t, &state.q);
    if !energy.is_finite() {
        return Err(LabError::TooDeformed);
    }
    simulation.restart(state);
    Ok(notice)
}

/// Positions and velocities of the vertices of `new`, from the state of the body `old` of the same name. Either the
/// vertices are the same, or the values are interpolated in the tets of the old mesh.
fn interpolate(old: &BuiltBody, new: &BuiltBody, state: &State) -> Option<(Vec<f64>, Vec<f64>)> {
    let range = old.dofs.unknowns();
    let (q, v) = (state.q.get(range.clone())?, state.v.get(range)?);
    if old.nodes().points() == new.nodes().points() {
        return Some((q.to_vec(), v.to_vec()));
    }
    if old.mesh().tets().is_empty() || new.mesh().tets().is_empty() {
        return None;
    }
    let size =
        |b: &BuiltBody| b.mesh().bounds().map(|[lo, hi]| (0..3).map(|k| hi[k] - lo[k]).fold(0.0, f64::max));
    let reach = 0.02 * size(old)?.max(size(new)?);
    let locator = old.mesh().locator();
    let (mut x, mut u) = (Vec::new(), Vec::new());
    for place in new.nodes().points() {
        let found = locator.locate(*place).filter(|found| found.distance <= reach)?;
        let weights = old.nodes().weights_at(&found);
        x.extend(weighted(&weights, q));
        u.extend(weighted(&weights, v));
    }
    Some((x, u))
}

/// The sum of the vectors at some nodes of a body, weighted.
fn weighted(weights: &[(u32, f64)], field: &[f64]) -> [f64; 3] {
    let at = |n: u32, k: usize| field.get(3 * n as usize + k).copied().unwrap_or_default();
    std::array::from_fn(|k| weights.iter().map(|&(n, w)| w * at(n, k)).sum())
}
