//! Backtracking line search with Armijo's condition.

use super::Objective;

/// Halvings of the step before the line search fails.
const HALVINGS: usize = 50;
/// Constant of Armijo's condition: the part of the predicted decrease that is required.
const ARMIJO: f64 = 1e-4;

/// A point, a descent direction, and the data of the acceptance test.
pub(super) struct LineSearch<'a> {
    pub x: &'a [f64],
    pub direction: &'a [f64],
    /// Derivative of the value along the direction.
    pub slope: f64,
    /// Value at x and magnitude of its terms.
    pub start: (f64, f64),
    /// Maximum norm of the direction, m.
    pub correction: f64,
    /// The correction is converged up to this size, m.
    pub threshold: f64,
}

impl LineSearch<'_> {
    /// Halves the step, beginning with `step`, until Armijo's condition holds. Returns the step and the value there;
    /// `trial` is the new point. `None` if no step is acceptable.
    pub fn run(
        &self,
        objective: &mut dyn Objective,
        mut step: f64,
        trial: &mut [f64],
    ) -> Option<(f64, (f64, f64))> {
        let (value, magnitude) = self.start;
        let converged = self.correction <= self.threshold;
        // The predicted decrease is below the round-off of the value. Newton's step is then accepted if it is feasible.
        let below_round_off = -self.slope <= 1e-11 * magnitude || converged;
        for _ in 0..HALVINGS {
            for (t, (x, d)) in trial.iter_mut().zip(self.x.iter().zip(self.direction)) {
                *t = x + step * d;
            }
            let value_there = objective.value(trial);
            let enough = value + ARMIJO * step * self.slope;
            // Near a stress-free rest state the value is all round-off, and no condition on its decrease can be relied
            // upon. A converged correction is therefore accepted.
            let negligible = converged && value_there.0.is_finite();
            if value_there.0 <= enough
                || negligible
                || (below_round_off && value_there.0 <= value + 1e-10 * magnitude)
            {
                return Some((step, value_there));
            }
            step *= 0.5;
        }
        None
    }
}
