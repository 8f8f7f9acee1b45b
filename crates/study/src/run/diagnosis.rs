//! What went wrong in a run, where, and what to do about it.

use super::fields;
use super::growth::UnphysicalGrowth;
use crate::diagnose;
use lilyan_dynamics::{StepError, integrators};
use lilyan_scene::build::{Built, BuiltBody, LoadPoint};
use lilyan_scene::schema::{Quantity, Scene};

/// Why a step failed, where, and what to do.
pub fn failed_step(scene: &Scene, built: &Built, error: &StepError) -> String {
    let mut text = format!("{error}, even after halving {} times", built.simulation.max_halvings());
    if let Some(formula) = faulty_formula(scene, built) {
        return format!("{text}. {formula}");
    }
    let mut nodes: Vec<usize> = error.culprits().iter().map(|dof| dof / 3).collect();
    nodes.dedup();
    let owner = nodes.first().and_then(|node| built.simulation.system().owner(*node as u32));
    if let Some((body, vertex)) = owner {
        let body = &built.bodies[body];
        let tets = 0..body.nodes().tets().len();
        let has_node = |e: &usize| body.nodes().of_tet(*e).contains(&vertex);
        let around: Vec<String> = tets.filter(has_node).take(4).map(|e| e.to_string()).collect();
        text += &format!("; worst at vertex {vertex} of body \"{}\"", body.name);
        if !around.is_empty() {
            text += &format!(" (elements {})", around.join(", "));
        }
    }
    text + &remedy(scene, built)
}

/// Why the energy of the state is not finite, where, and what to do.
pub fn infinite_energy(scene: &Scene, built: &Built) -> String {
    let t = built.simulation.state().t;
    let (J, body, element) = fields::smallest_J(built);
    let place = match J > 0.0 {
        true => String::new(),
        false => format!("; element {element} of body \"{}\" is inside out", built.bodies[body].name),
    };
    let text = format!("at t = {t:.6} s: the energy is no longer a finite number{place}");
    match faulty_formula(scene, built) {
        Some(formula) => format!("{text}. {formula}"),
        None => text + &remedy(scene, built),
    }
}

/// Why a run whose energy grows beyond what physics allows is stopped, and what to do.
pub(super) fn unphysical_growth(scene: &Scene, built: &Built, growth: UnphysicalGrowth) -> String {
    let (t, name) = (built.simulation.state().t, &scene.integrator.name);
    format!("at t = {t:.6} s: {name} is unstable here: {growth}{}", remedy(scene, built))
}

fn remedy(scene: &Scene, built: &Built) -> String {
    let claims = built.simulation.integrator().claims();
    match (claims.explicit, diagnose::longest_explicit_step(scene, built)) {
        (true, Some(limit)) => format!(
            ". The stable step of {} is about {limit:.2e} s here: set time.step below it, or use integrator {}",
            scene.integrator.name,
            robust(scene, built)
        ),
        (true, None) => {
            let (name, other) = (&scene.integrator.name, robust(scene, built));
            format!(". {name} has no stable step here: use integrator {other}")
        }
        _ => {
            let step = match diagnose::explicit_limit(built) {
                Some(limit) if limit < 0.5 * scene.time.step => {
                    format!(" (the stiffest vibration at rest is resolved by steps below {limit:.1e} s)")
                }
                _ => String::new(),
            };
            let material = match built.bodies.iter().all(BuiltBody::is_net) {
                true => "",
                false => ", or a material that survives inversion (stable-neo-hookean)",
            };
            format!(
                ". Try integrator {}, half the step (--set time.step={:.4e}){step}, more damping{material}",
                robust(scene, built),
                0.5 * scene.time.step
            )
        }
    }
}

/// A method that is stable with long steps, is not that of the scene, and supports the scene.
fn robust(scene: &Scene, built: &Built) -> &'static str {
    let takes = |name: &str| {
        let method = integrators::find(name).and_then(|entry| entry.create(&[]).ok());
        method.is_some_and(|m| integrators::refusal(m.as_ref(), built.simulation.system()).is_none())
    };
    let others = [("energy-momentum", "\"energy-momentum\""), ("backward-euler", "\"backward-euler\"")];
    let found = others.iter().find(|(name, _)| *name != scene.integrator.name && takes(name));
    found.map_or("\"regularized\"", |(_, quoted)| quoted)
}

/// A formula of time that is not finite during the next step, and its key in the scene.
fn faulty_formula(scene: &Scene, built: &Built) -> Option<String> {
    let (t, h) = (built.simulation.state().t, scene.time.step);
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
        let places = built.bodies[pin.body].nodes().points();
        let bad = |t: f64| {
            let at = places.iter().map(|x| motion.at(t, *x));
            at.flat_map(|(x, v)| x.into_iter().chain(v)).any(|number| !number.is_finite())
        };
        if let Some(t) = times.iter().find(|t| bad(**t)) {
            return Some(tell(&format!("{}.motion", pin.mark.path), *t));
        }
    }
    for load in &scene.loads {
        let body = &built.bodies[load.body];
        let state = built.simulation.state();
        let present = body.dofs.vectors(&state.q).into_iter().zip(body.dofs.vectors(&state.v));
        for ((x, v), rest) in present.zip(body.nodes().points()) {
            let point = LoadPoint { x, v, rest: *rest };
            let bad = |t: f64| load.value.iter().any(|q| odd(q, &point.values(t)));
            if let Some(t) = times.iter().find(|t| bad(**t)) {
                return Some(tell(&load.mark.path, *t));
            }
        }
    }
    None
}
