//! How long the last steps took.

use std::collections::VecDeque;

/// Steps that are remembered.
const REMEMBERED: usize = 32;

/// Wall times of the last steps.
#[derive(Clone, Debug, Default)]
pub struct StepTimes {
    last: VecDeque<f64>,
}

impl StepTimes {
    /// Adds the wall time of a step, s.
    pub fn add(&mut self, seconds: f64) {
        if self.last.len() == REMEMBERED {
            self.last.pop_front();
        }
        self.last.push_back(seconds);
    }

    /// Median, s; 0 before the first step.
    pub fn median(&self) -> f64 {
        let mut sorted: Vec<f64> = self.last.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }
}
