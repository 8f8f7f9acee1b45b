//! How long a step may be. For a new scene the limit is found before the page is told about the scene. After a change of
//! settings it is found a moment later, so that a slider that is dragged does not wait for eigenvalues.

use super::Pane;
use lilyan_study::diagnose;
use std::time::{Duration, Instant};

/// The limit is found again when settings have not changed for this time.
const DELAY: Duration = Duration::from_millis(150);

/// What is known about the longest step.
#[derive(Clone, Default)]
pub struct StepLimit {
    /// The longest stable step of an explicit method, s.
    pub limit: Option<f64>,
    /// Warnings about the step of other methods.
    pub warnings: Vec<String>,
    /// When settings were changed, if this limit is that of the settings before.
    outdated: Option<Instant>,
}

impl Pane {
    /// Finds the limit.
    pub fn find_step_limit(&mut self) {
        let explicit = self.built.simulation.integrator().claims().explicit;
        self.step_limit = match explicit {
            true => {
                let limit = diagnose::longest_explicit_step(&self.scene, &self.built);
                StepLimit { limit, ..StepLimit::default() }
            }
            // The warnings of explicit methods would find the limit again; `describe` tells it.
            false => {
                let warnings = diagnose::step_warnings(&self.scene, &self.built);
                StepLimit { warnings, ..StepLimit::default() }
            }
        };
    }

    /// Takes the limit of the pane with the settings before, if it can be about right; otherwise finds it.
    pub fn inherit_step_limit(&mut self, before: &Pane) {
        let same = self.scene.integrator.name == before.scene.integrator.name
            && self.scene.integrator.options == before.scene.integrator.options
            && self.elements() == before.elements();
        if same {
            self.step_limit = StepLimit { outdated: Some(Instant::now()), ..before.step_limit.clone() };
        } else {
            self.find_step_limit();
        }
    }

    /// Whether the limit has to be found again now.
    pub fn step_limit_is_due(&self) -> bool {
        self.step_limit.outdated.is_some_and(|since| since.elapsed() > DELAY)
    }
}
