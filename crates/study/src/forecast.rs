//! What the integrator of a scene does to small motions about rest, measured on the assembled bodies
//! ([`lilyan_dynamics::analysis::assembled`]).

use lilyan_dynamics::System;
use lilyan_dynamics::analysis::Response;
use lilyan_dynamics::analysis::assembled::{self, ModeShape, Perturbation};
use lilyan_scene::build::{Built, build};
use lilyan_scene::schema::{Environment, Initial, Scene};
use lilyan_solve::BlockMatrix;

/// Most unknowns for which an arbitrary perturbation is followed. It takes sixty steps.
const MOST_UNKNOWNS: usize = 30_000;

/// What becomes of a mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeForecast {
    /// Per step, damping of the material included.
    pub response: Response,
    /// Factor on the amplitude per step that the damping of the material explains.
    pub material: f64,
}

impl ModeForecast {
    /// Shares of the amplitude that the method and the material take in so many steps.
    pub fn lost(&self, steps: f64) -> [f64; 2] {
        [1.0 - (self.response.growth / self.material).powf(steps), 1.0 - self.material.powf(steps)]
    }
}

/// What becomes of small motions with the step of the scene.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// Of each mode that was asked for.
    pub modes: Vec<Option<ModeForecast>>,
    /// Of an arbitrary motion; `None` for large bodies too.
    pub perturbation: Option<Perturbation>,
}

/// Measures the integrator of the scene. Empty where the scene cannot be built without what acts on its bodies.
pub fn forecast(scene: &Scene, modes: &[ModeShape<'_>]) -> Forecast {
    let Some(mut still) = undisturbed(scene) else {
        return Forecast { modes: vec![None; modes.len()], perturbation: None };
    };
    let rest = still.rest_positions();
    let decays = decays(&still, &rest, modes);
    let h = scene.time.step;
    let responses = assembled::responses(&mut still.simulation, &rest, modes);
    let told = responses.into_iter().zip(modes).zip(decays).map(|((response, mode), c)| {
        response.map(|response| ModeForecast { response, material: (-h * decay(mode.omega, c)).exp() })
    });
    let modes = told.collect();
    let small = rest.len() <= MOST_UNKNOWNS;
    let perturbation = small.then(|| assembled::perturbation(&mut still.simulation, &rest)).flatten();
    Forecast { modes, perturbation }
}

/// The scene at rest: nothing acts, nothing moves, pins hold.
fn undisturbed(scene: &Scene) -> Option<Built> {
    let mut still = scene.clone();
    still.environment = Environment::default();
    still.loads.clear();
    still.contacts.clear();
    for pin in &mut still.pins {
        (pin.motion, pin.until) = (None, None);
    }
    for body in &mut still.bodies {
        body.initial = Initial::default();
    }
    build(&still).ok()
}

/// uᵀDu of each mode, 1/s.
fn decays(built: &Built, rest: &[f64], modes: &[ModeShape<'_>]) -> Vec<f64> {
    let system = built.simulation.system();
    let Some(dissipation) = system.abilities().dissipation else { return vec![0.0; modes.len()] };
    let mut damping = BlockMatrix::zeros(system.pattern().clone());
    dissipation.add_damping_matrix(0.0, rest, &vec![0.0; rest.len()], &mut damping);
    let mut product = vec![0.0; rest.len()];
    let of_mode = |mode: &ModeShape<'_>| {
        damping.mul_vec(mode.shape, &mut product);
        product.iter().zip(mode.shape).map(|(p, u)| p * u).sum()
    };
    modes.iter().map(of_mode).collect()
}

/// Rate of decay of ẍ = −ω²x − cẋ, 1/s: that of the slower motion where damping is more than critical.
fn decay(omega: f64, c: f64) -> f64 {
    let square = 0.25 * c * c - omega * omega;
    if square <= 0.0 { 0.5 * c } else { omega * omega / (0.5 * c + square.sqrt()) }
}
