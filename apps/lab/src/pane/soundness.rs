//! Whether the state of a pane can be shown and continued.

use super::{Pane, PaneEnergy};
use crate::error::StepFailure;
use lilyan_study::run;

/// A vertex that is so many body sizes away from the mean position has flown away.
const FLOWN_APART: f64 = 1e3;
/// A state with more gained energy than this share is not kept as a state to go back to: the first steps of an explosion look
/// sound, but nothing can continue from there.
const KEPT_GAIN: f64 = 0.1;

impl Pane {
    /// Keeps the state if it is sound, and returns its energy. Otherwise restores the last sound state and returns the
    /// reason.
    pub fn approve(&mut self) -> Result<PaneEnergy, StepFailure> {
        let energy = self.energy();
        self.round_off.refresh(&self.built);
        if let Some(failure) = self.failure(&energy) {
            return Err(self.restore_after(failure));
        }
        let gained = -energy.numerical;
        if gained <= KEPT_GAIN * energy.lively() || self.growth.is_round_off(&self.built, gained) {
            self.sound = self.built.simulation.checkpoint();
        }
        Ok(energy)
    }

    /// What is wrong with the state, if anything.
    fn failure(&mut self, energy: &PaneEnergy) -> Option<StepFailure> {
        if !energy.total.is_finite() {
            return Some(StepFailure::NotFinite(run::diagnosis::infinite_energy(&self.scene, &self.built)));
        }
        let simulation = &self.built.simulation;
        let t = simulation.state().t;
        if let Some(growth) = self.growth.judge(&self.built) {
            let (integrator, remedy) = (self.scene.integrator.name.clone(), self.step_advice());
            return Some(StepFailure::EnergyGained { t, integrator, growth, remedy });
        }
        let (far, mean) = (FLOWN_APART * self.size(), self.mean_position());
        let near = |x: &[f64]| x.iter().zip(mean).all(|(x, m)| (x - m).abs() < far);
        let whole = simulation.state().q.chunks_exact(3).all(near);
        (!whole).then(|| StepFailure::FlownApart { t, remedy: self.step_advice() })
    }

    fn step_advice(&self) -> String {
        let (step, name) = (self.built.simulation.step(), &self.scene.integrator.name);
        match self.step_limit.limit.filter(|limit| step > *limit) {
            Some(limit) => {
                format!("the step of {step:.2e} s is longer than {limit:.2e} s, up to which {name} is stable")
            }
            None => "try a shorter step of time, or an implicit integrator".into(),
        }
    }

    /// Mean of the vertices, m.
    fn mean_position(&self) -> [f64; 3] {
        let q = &self.built.simulation.state().q;
        let count = (q.len() / 3).max(1) as f64;
        q.chunks_exact(3).fold([0.0; 3], |mut mean, x| {
            mean.iter_mut().zip(x).for_each(|(m, x)| *m += x / count);
            mean
        })
    }
}
