//! How long a step may be: judged before anything else of a new scene is told, and a moment after a setting of a running one was
//! changed, so that a slider that is dragged does not wait for eigenvalues.

use super::actor::Actor;
use super::pane::Pane;
use lilyan_scene::diagnose;
use std::time::{Duration, Instant};

/// Settings that rest so long are judged anew.
const REST: Duration = Duration::from_millis(150);

/// What is known of the longest step.
#[derive(Clone, Default)]
pub struct Judgement {
    /// The longest stable step, s, for methods that have one.
    pub limit: Option<f64>,
    /// What to say of the step of other methods.
    pub remarks: Vec<String>,
    /// Since when it has been that of settings before.
    old: Option<Instant>,
}

impl Pane {
    /// Judges the step.
    pub fn judge(&mut self) {
        let explicit = self.built.simulation.integrator.claims().explicit;
        self.judgement = match explicit {
            true => {
                let limit = diagnose::explicit_limit(&self.built);
                let limit = limit.map(|limit| limit * diagnose::stability_factor(&self.scene));
                Judgement { limit, ..Judgement::default() }
            }
            // Of explicit methods `describe` tells the limit; finding it again would double the time.
            false => {
                let remarks = diagnose::step_warnings(&self.scene, &self.built);
                Judgement { remarks, ..Judgement::default() }
            }
        };
    }

    /// Takes the judgement of a pane with other settings for the moment, if it may be about right; judges otherwise.
    pub fn judge_later(&mut self, before: &Pane) {
        let same = self.scene.integrator.name == before.scene.integrator.name
            && self.scene.integrator.options == before.scene.integrator.options
            && self.elements() == before.elements();
        if same {
            self.judgement = Judgement { old: Some(Instant::now()), ..before.judgement.clone() };
        } else {
            self.judge();
        }
    }

    fn due(&self) -> bool {
        self.judgement.old.is_some_and(|since| since.elapsed() > REST)
    }
}

impl Actor {
    /// Judges panes whose settings have come to rest, and tells what is new.
    pub(super) fn judge(&mut self) {
        let due = self.panes.iter_mut().filter(|pane| pane.due());
        if due.map(|pane| pane.judge()).count() > 0 {
            self.tell_described();
        }
    }
}
