//! Nominal times of steps.

use serde::{Deserialize, Serialize};

/// The nominal time of every step. It is the product of a count and a step, not a sum, so that rounding errors do not
/// accumulate in output times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Nominal step, s.
    pub step: f64,
    /// Number of nominal steps done.
    pub index: u64,
    /// Time at which the current step became valid, s; 0 unless the step was changed during the run.
    pub origin: f64,
    /// Number of nominal steps done at `origin`.
    pub origin_index: u64,
}

impl Timeline {
    /// A timeline that starts at time 0.
    pub fn new(step: f64) -> Self {
        Self { step, index: 0, origin: 0.0, origin_index: 0 }
    }

    /// Nominal time after `index` steps, s.
    pub fn time_of(&self, index: u64) -> f64 {
        self.origin + (index - self.origin_index) as f64 * self.step
    }

    /// Continues from time `t` with another step, s. The count of steps continues.
    pub(crate) fn continue_from(&mut self, t: f64, step: f64) {
        (self.origin, self.origin_index, self.step) = (t, self.index, step);
    }
}
