//! What went wrong in a run, where, and what to do about it.

use super::fields;
use crate::build::Built;
use crate::diagnose;
use crate::schema::{Quantity, Scene};
use lilyan_dynamics::StepError;

/// Of a step that failed.
pub fn diagnosis(scene: &Scene, built: &Built, error: &StepError) -> String {
    let mut text = format!("{error}, even after halving {} times", built.simulation.max_halvings);
    if let Some(formula) = formula_at_fault(scene, built) {
        return format!("{text}. {formula}");
    }
    let mut nodes: Vec<usize> = error.culprits().iter().map(|dof| dof / 3).collect();
    nodes.dedup();
    if let Some(&node) = nodes.first() {
        let body = built.bodies.iter().rev().find(|b| b.first_node <= node);
        if let Some(body) = body {
            let vertex = node - body.first_node;
            let tets = body.mesh.tets.iter().enumerate();
            let around: Vec<String> = tets
                .filter(|(_, t)| t.contains(&(vertex as u32)))
                .take(4)
                .map(|(e, _)| e.to_string())
                .collect();
            text += &format!("; worst at vertex {vertex} of body \"{}\"", body.name);
            if !around.is_empty() {
                text += &format!(" (elements {})", around.join(", "));
            }
        }
    }
    text + &remedy(scene, built)
}

/// Of a state whose energy is not finite.
pub fn blown_up(scene: &Scene, built: &Built) -> String {
    let t = built.simulation.state.t;
    let (J, body, element) = fields::smallest_J(built);
    let place = match J > 0.0 {
        true => String::new(),
        false => format!("; element {element} of body \"{}\" is inside out", built.bodies[body].name),
    };
    let text = format!("at t = {t:.6} s: the energy is no longer a finite number{place}");
    match formula_at_fault(scene, built) {
        Some(formula) => format!("{text}. {formula}"),
        None => text + &remedy(scene, built),
    }
}

fn remedy(scene: &Scene, built: &Built) -> String {
    let claims = built.simulation.integrator.claims();
    match (claims.explicit, diagnose::explicit_limit(built)) {
        (true, Some(limit)) => format!(
            ". The stable step of an explicit method is about {:.2e} s here: set time.step below it, or \
             use integrator \"energy-momentum\"",
            limit * diagnose::stability_factor(scene)
        ),
        _ => format!(
            ". Try half the step (--set time.step={:e}), some damping, or a material that survives \
             inversion (stable-neo-hookean)",
            0.5 * scene.time.step
        ),
    }
}

/// A formula of time that gives no number in the step that begins now, and where it stands.
fn formula_at_fault(scene: &Scene, built: &Built) -> Option<String> {
    let (t, h) = (built.simulation.state.t, scene.time.step);
    let times = [t, t + 0.5 * h, t + h];
    let odd = |q: &Quantity, values: &[f64]| !q.eval(values).is_finite();
    let tell = |path: &str, t: f64| {
        format!("`{path}` is not a finite number at t = {t:.6} s: change the formula, or end the run before")
    };
    if let Some(gravity) = &scene.environment.gravity
        && let Some(t) = times.iter().find(|t| gravity.iter().any(|q| odd(q, &[**t])))
    {
        return Some(tell("environment.gravity", *t));
    }
    for pin in &scene.pins {
        let Some(motion) = &pin.motion else { continue };
        let dual = |q: &Quantity, t: f64| q.eval_dual(&[t], 0);
        let bad = |t: f64| motion.iter().map(|q| dual(q, t)).any(|(x, v)| !(x.is_finite() && v.is_finite()));
        if let Some(t) = times.iter().find(|t| bad(**t)) {
            return Some(tell(&format!("{}.motion", pin.mark.path), *t));
        }
    }
    for load in &scene.loads {
        for x in &built.bodies[load.body].mesh.vertices {
            let bad = |t: f64| load.value.iter().any(|q| odd(q, &[x[0], x[1], x[2], t]));
            if let Some(t) = times.iter().find(|t| bad(**t)) {
                return Some(tell(&load.mark.path, *t));
            }
        }
    }
    None
}
