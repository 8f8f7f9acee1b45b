//! The state of one simulation as the start of another: what carries over when settings change.

use super::pane::Pane;
use lilyan_dynamics::{State, System};
use lilyan_scene::build::BuiltBody;

/// Puts `new` where `old` is. `Ok` may tell what had to be left behind; the error, why the new settings cannot go on
/// from here.
pub fn over(old: &Pane, new: &mut Pane) -> Result<Option<String>, String> {
    let (from, to) = (&old.built, &mut new.built);
    let mut notice = None;
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for body in &to.bodies {
        let known = from.bodies.iter().find(|b| b.name == body.name);
        let Some((x, u)) = known.and_then(|b| positions(b, body, &from.simulation.state)) else {
            let text = match known {
                None => format!("body \"{}\" is new: it begins where the scene puts it", body.name),
                Some(_) => {
                    format!("body \"{}\" has another shape now: it begins where the scene puts it", body.name)
                }
            };
            notice = Some(text);
            let range = 3 * body.first_node..3 * (body.first_node + body.mesh.vertices.len());
            let state = &to.simulation.state;
            q.extend(state.q.get(range.clone()).unwrap_or_default());
            v.extend(state.v.get(range).unwrap_or_default());
            continue;
        };
        q.extend(x);
        v.extend(u);
    }
    let simulation = &mut to.simulation;
    if q.len() != simulation.state.q.len() {
        return Err("the bodies do not fit the model".into());
    }
    // Time is counted in steps, so that it does not drift: with another step it jumps by half of one at most.
    let t = from.simulation.state.t;
    simulation.index = (t / simulation.step).round() as u64;
    let t = simulation.index as f64 * simulation.step;
    // A vertex that is pinned while it moves stays there, not where the scene began.
    simulation.system.hold_still_at(&q);
    let mut state = State::new(&simulation.system, q, v);
    state.t = t;
    simulation.system.place_held(t, &mut state.q, &mut state.v);
    let mut p = vec![0.0; state.v.len()];
    simulation.system.mass().mul(&state.v, &mut p);
    state.p = p;
    let energy = simulation.system.energy(t, &state.q);
    if !energy.is_finite() {
        return Err(
            "the body is too deformed for these settings (an element would be inside out): reset, or \
                    choose a material that survives inversion, stable-neo-hookean"
                .into(),
        );
    }
    simulation.state = state;
    simulation.ledger = Default::default();
    simulation.ledger.initial = simulation.total_energy();
    Ok(notice)
}

/// Positions and velocities of a body's vertices in the state of another body of that name: the same vertices, or places
/// inside the same shape.
fn positions(old: &BuiltBody, new: &BuiltBody, state: &State) -> Option<(Vec<f64>, Vec<f64>)> {
    let range = 3 * old.first_node..3 * (old.first_node + old.mesh.vertices.len());
    let (q, v) = (state.q.get(range.clone())?, state.v.get(range)?);
    if old.mesh.vertices == new.mesh.vertices {
        return Some((q.to_vec(), v.to_vec()));
    }
    if old.mesh.tets.is_empty() || new.mesh.tets.is_empty() {
        return None;
    }
    let size =
        |b: &BuiltBody| b.mesh.bounds().map(|[lo, hi]| (0..3).map(|k| hi[k] - lo[k]).fold(0.0, f64::max));
    let reach = 0.02 * size(old)?.max(size(new)?);
    let triples = |x: &[f64]| x.chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect::<Vec<_>>();
    let (q, v) = (triples(q), triples(v));
    let locator = old.mesh.locator();
    let (mut x, mut u) = (Vec::new(), Vec::new());
    for place in &new.mesh.vertices {
        let found = locator.locate(*place).filter(|found| found.distance <= reach)?;
        x.extend(old.mesh.place(&found, &q));
        u.extend(old.mesh.place(&found, &v));
    }
    Some((x, u))
}
