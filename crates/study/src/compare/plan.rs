//! The default plan: methods, their steps, and the reference.

use super::integrator::ConfiguredIntegrator;
use super::reference::RefinementOptions;
use super::request_error::RequestError;
use crate::diagnose::StiffestMode;
use lilyan_dynamics::analysis::{Stability, stability};
use lilyan_dynamics::integrators;
use lilyan_scene::build::Built;
use lilyan_scene::schema::Scene;

/// Steps tried by default, as multiples of the scene's.
const STEP_FACTORS: [f64; 4] = [4.0, 2.0, 1.0, 0.5];
/// The longest step of an explicit method over its stability limit at rest. A deformed body can be stiffer.
const MARGIN: f64 = 0.9;
/// The same for reference runs, which may be closer to the limit: after an explosion the step is halved.
const REFERENCE_MARGIN: f64 = 0.95;
/// Largest number of explicit steps per step of the scene for which explicit reference runs are used. An implicit step of
/// fourth order costs about as much.
const MOST_EXPLICIT_STEPS: f64 = 200.0;

/// The reference that is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ReferenceChoice {
    /// Extrapolation where forces are smooth, else a fine run.
    #[default]
    Auto,
    /// A fine run.
    Fine,
    /// This method, extrapolated if possible. With a step, the reference is that run itself.
    With(ConfiguredIntegrator, Option<f64>),
}

impl ReferenceChoice {
    /// Reads `auto`, `fine`, `METHOD` or `METHOD@STEP`.
    pub fn parse(text: &str) -> Result<Self, RequestError> {
        match text.trim() {
            "auto" => return Ok(Self::Auto),
            "fine" => return Ok(Self::Fine),
            _ => {}
        }
        let Some((method, step)) = text.rsplit_once('@') else {
            let method = ConfiguredIntegrator::parse(text)
                .map_err(|error| RequestError::Reference(Box::new(error)))?;
            return Ok(Self::With(method, None));
        };
        Ok(Self::With(ConfiguredIntegrator::parse(method)?, Some(parse_step(step)?)))
    }
}

/// Reads a step, s.
pub fn parse_step(text: &str) -> Result<f64, RequestError> {
    match text.trim().parse::<f64>() {
        Ok(step) if step > 0.0 && step.is_finite() => Ok(step),
        Ok(step) => Err(RequestError::StepNotPositive(step)),
        Err(_) => Err(RequestError::StepNotANumber(text.trim().into())),
    }
}

/// The methods of the catalogue that make sense in a scene, the scene's own first, and what is left out.
pub fn methods(scene: &Scene, built: &Built) -> (Vec<ConfiguredIntegrator>, Vec<String>) {
    let own = ConfiguredIntegrator::of_scene(scene);
    let mut methods: Vec<ConfiguredIntegrator> = own.iter().cloned().collect();
    let mut left_out = Vec::new();
    for entry in integrators::CATALOGUE {
        let method = ConfiguredIntegrator::plain(entry);
        if own.as_ref().is_some_and(|o| o.name == method.name) {
            continue;
        }
        let refused =
            method.create().ok().and_then(|i| integrators::refusal(i.as_ref(), built.simulation.system()));
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
fn limit(method: &ConfiguredIntegrator) -> Option<Stability> {
    let mut integrator = method.create().ok()?;
    integrator.claims().explicit.then(|| stability(integrator.as_mut()))
}

/// The longest stable step of a method, s; +∞ for methods that are not explicit.
fn longest_stable_step(mode: StiffestMode, method: &ConfiguredIntegrator) -> f64 {
    let explicit = method.create().ok().filter(|i| i.claims().explicit);
    explicit.map_or(f64::INFINITY, |mut i| mode.longest_step(i.as_mut()).unwrap_or(f64::INFINITY))
}

/// Steps of a method, longest first: multiples of the step of the scene. For explicit methods they are halved until the
/// longest one is below the stability limit.
pub fn steps(method: &ConfiguredIntegrator, scene: &Scene, bounds: Option<StiffestMode>) -> Vec<f64> {
    let (h, most) = (scene.time.step, 0.5 * scene.time.end);
    let stable = MARGIN * bounds.map_or(f64::INFINITY, |mode| longest_stable_step(mode, method));
    let mut factor = 1.0;
    while STEP_FACTORS[0] * factor * h > stable && factor > 1e-9 {
        factor *= 0.5;
    }
    STEP_FACTORS.iter().map(|rung| rung * factor * h).filter(|step| *step <= most.max(h)).collect()
}

/// Methods that may give a reference, the most promising first, and how to refine them. `longest` is the longest step of
/// the comparison. Steps that are `longest` halved k times end at the common times.
pub fn reference_candidates(
    choice: &ReferenceChoice,
    scene: &Scene,
    longest: f64,
    bounds: Option<StiffestMode>,
    budget: f64,
) -> Vec<(ConfiguredIntegrator, RefinementOptions)> {
    let smooth = scene.contacts.is_empty();
    let extrapolate = smooth && *choice != ReferenceChoice::Fine;
    let stable = |method: &ConfiguredIntegrator| {
        REFERENCE_MARGIN * bounds.map_or(f64::INFINITY, |mode| longest_stable_step(mode, method))
    };
    let options = |method: ConfiguredIntegrator| {
        let most = stable(&method).min(0.5 * scene.time.step);
        let mut first_step = longest;
        while first_step > most {
            first_step *= 0.5;
        }
        (method, RefinementOptions { first_step, extrapolate, halvings: 12, budget })
    };
    if let ReferenceChoice::With(method, step) = choice {
        let (method, mut options) = options(method.clone());
        if let Some(step) = step {
            // Runs with two longer steps show how accurate this one is.
            options = RefinementOptions { first_step: 4.0 * step, extrapolate: false, halvings: 2, budget };
        }
        return vec![(method, options)];
    }
    let known = |name: &str| integrators::find(name).map(ConfiguredIntegrator::plain);
    // With discontinuous force derivatives no method has more than second order. Conserving methods are then the most accurate.
    let names = match smooth {
        true => ["rk4", "variational-4", "variational", "energy-momentum"],
        false => ["verlet", "energy-momentum", "variational", "backward-euler"],
    };
    let cheap = |m: &ConfiguredIntegrator| scene.time.step / stable(m) <= MOST_EXPLICIT_STEPS;
    let candidates = names.iter().filter_map(|name| known(name)).filter(cheap);
    // The method of the scene can step the scene.
    candidates.chain(ConfiguredIntegrator::of_scene(scene)).map(options).collect()
}
