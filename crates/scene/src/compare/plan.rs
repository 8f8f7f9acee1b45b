//! What to run: methods, their steps, and the reference, where nothing else is asked for.

use super::method::Method;
use super::reference::Recipe;
use crate::build::Built;
use crate::diagnose;
use crate::schema::Scene;
use lilyan_dynamics::analysis::{Stability, stability};
use lilyan_dynamics::integrators;

/// Steps tried by default, as multiples of the scene's.
const LADDER: [f64; 4] = [4.0, 2.0, 1.0, 0.5];
/// Explicit methods start below their limit at rest by this factor: a deformed body can be stiffer.
const MARGIN: f64 = 0.9;
/// Reference runs may start closer to it: one that explodes is noticed, and the next has half its step.
const BOLD: f64 = 0.95;
/// Up to this many explicit steps per step of the scene, explicit reference runs are the cheaper ones: an
/// implicit step of fourth order costs about as much.
const EXPLICIT_PAYS: f64 = 200.0;

/// What is asked for as reference.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ask {
    /// Extrapolation where forces are smooth, else a fine run.
    #[default]
    Auto,
    /// A fine run.
    Fine,
    /// That method, extrapolated where possible; with a step, that run itself.
    With(Method, Option<f64>),
}

impl Ask {
    /// Reads `auto`, `fine`, `METHOD` or `METHOD@STEP`.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "auto" => return Ok(Self::Auto),
            "fine" => return Ok(Self::Fine),
            _ => {}
        }
        let Some((method, step)) = text.rsplit_once('@') else {
            let method = Method::parse(text)
                .map_err(|e| format!("{e}; write auto, fine, METHOD or METHOD@STEP as in rk4@0.0005"))?;
            return Ok(Self::With(method, None));
        };
        Ok(Self::With(Method::parse(method)?, Some(parse_step(step)?)))
    }
}

/// Reads a step, s.
pub fn parse_step(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(step) if step > 0.0 && step.is_finite() => Ok(step),
        Ok(step) => Err(format!("{step} is not a step; steps are positive numbers of seconds")),
        Err(_) => Err(format!(
            "{} is not a step; write seconds, for example 0.01",
            crate::suggest::quoted(text.trim())
        )),
    }
}

/// The methods of the catalogue that make sense in a scene, the scene's own first, and what is left out.
pub fn methods(scene: &Scene, built: &Built) -> (Vec<Method>, Vec<String>) {
    let own = Method::of_scene(scene);
    let mut methods: Vec<Method> = own.iter().cloned().collect();
    let mut left_out = Vec::new();
    for entry in integrators::CATALOGUE {
        let method = Method::plain(entry);
        if own.as_ref().is_some_and(|o| o.name == method.name) {
            continue;
        }
        let refused =
            method.create().ok().and_then(|i| integrators::refusal(i.as_ref(), &built.simulation.system));
        match limit(&method) {
            _ if refused.is_some() => {
                left_out.push(format!("{method} is left out: {}", refused.unwrap_or_default()));
            }
            Some(Stability::Never) if built.conserved.energy => left_out.push(format!(
                "{method} is left out: no step is stable without damping (name it with --integrators to \
                 see it)"
            )),
            _ => methods.push(method),
        }
    }
    (methods, left_out)
}

/// How far an explicit method is stable; `None` for the others.
fn limit(method: &Method) -> Option<Stability> {
    let mut integrator = method.create().ok()?;
    integrator.claims().explicit.then(|| stability(integrator.as_mut()))
}

/// What bounds explicit steps in a scene.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Largest frequency of the mesh at rest, rad/s.
    omega: f64,
    /// Largest rate of decay by damping, 1/s.
    decay: f64,
}

impl Rates {
    /// Of that scene; `None` if the frequency cannot be found.
    pub fn of(built: &Built) -> Option<Self> {
        Some(Self { omega: diagnose::largest_frequency(built)?, decay: diagnose::largest_decay(built) })
    }

    /// The longest stable step of a method, s. On the axis of decay explicit methods end about where they
    /// do on that of frequency, at 2 to 2.8.
    fn longest(self, method: &Method) -> f64 {
        match limit(method) {
            Some(Stability::Below(angle)) => angle / self.omega.max(self.decay),
            Some(Stability::Never) if self.decay > 0.0 => 2.0 / self.omega.max(self.decay),
            _ => f64::INFINITY,
        }
    }
}

/// Steps for a method, longest first: the scene's ladder; for explicit methods from the longest rung below
/// their limit downwards.
pub fn steps(method: &Method, scene: &Scene, rates: Option<Rates>) -> Vec<f64> {
    let (h, most) = (scene.time.step, 0.5 * scene.time.end);
    let stable = MARGIN * rates.map_or(f64::INFINITY, |r| r.longest(method));
    let mut factor = 1.0;
    while LADDER[0] * factor * h > stable && factor > 1e-9 {
        factor *= 0.5;
    }
    LADDER.iter().map(|rung| rung * factor * h).filter(|step| *step <= most.max(h)).collect()
}

/// Ways to a reference, the most promising first. `longest` is the longest step of the comparison: halves of
/// it meet the common times.
pub fn recipes(
    ask: &Ask,
    scene: &Scene,
    longest: f64,
    rates: Option<Rates>,
    budget: f64,
) -> Vec<(Method, Recipe)> {
    let smooth = scene.contacts.is_empty();
    let extrapolate = smooth && *ask != Ask::Fine;
    let stable = |method: &Method| BOLD * rates.map_or(f64::INFINITY, |r| r.longest(method));
    let recipe = |method: Method| {
        let most = stable(&method).min(0.5 * scene.time.step);
        let mut first_step = longest;
        while first_step > most {
            first_step *= 0.5;
        }
        (method, Recipe { first_step, extrapolate, halvings: 12, budget })
    };
    if let Ask::With(method, step) = ask {
        let (method, mut recipe) = recipe(method.clone());
        if let Some(step) = step {
            // Two longer steps tell how good the wanted one is.
            recipe = Recipe { first_step: 4.0 * step, extrapolate: false, halvings: 2, budget };
        }
        return vec![(method, recipe)];
    }
    let known = |name: &str| integrators::find(name).map(Method::plain);
    // Kinks in the force leave no more than second order; conserving methods then err least.
    let names = match smooth {
        true => ["rk4", "variational-4", "variational", "energy-momentum"],
        false => ["verlet", "energy-momentum", "variational", "backward-euler"],
    };
    let cheap = |m: &Method| scene.time.step / stable(m) <= EXPLICIT_PAYS;
    let ways = names.iter().filter_map(|name| known(name)).filter(cheap);
    // The scene's own method takes whatever the scene has.
    ways.chain(Method::of_scene(scene)).map(recipe).collect()
}
