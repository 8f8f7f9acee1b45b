//! How far a body may move before its modes are turned and its modal forces are computed again.
//!
//! A correction is linear in the displacement since the configuration that it was computed for. Its error, that of the
//! modal forces Uᵀ∇W, is seen whenever it is computed again. It is of second order, so that the next distance follows from
//! the root of the error.

use serde::{Deserialize, Serialize};

/// Largest relative change of the vectors between neighbours, as a root mean square.
const LARGEST: f64 = 0.02;
/// The distance at the start, and the least one: below it a new correction is cheaper than its judgement.
const LEAST: f64 = 0.002;
/// Error of modal forces that is allowed, in the norm of the energy of the modes, relative to the forces.
const TOLERANCE: f64 = 0.01;
/// Share that the largest force so far keeps from one correction to the next. Where a body swings through its rest shape,
/// errors are compared with the forces of the swing.
const MEMORY: f64 = 0.98;

/// The distance within which a correction serves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Reach {
    /// Largest relative change of the vectors between neighbours, as a root mean square.
    pub limit: f64,
    /// Square of the largest modal force of late, in the norm of the energy, J.
    scale: f64,
}

impl Default for Reach {
    fn default() -> Self {
        Self { limit: LEAST, scale: 0.0 }
    }
}

impl Reach {
    /// Takes in the error of a correction at the end of its use, and the forces there: their energies, J.
    pub fn observe(&mut self, (error, force): (f64, f64)) {
        if !(error.is_finite() && force.is_finite()) {
            return;
        }
        self.scale = (MEMORY * self.scale).max(force);
        let relative = (error / self.scale.max(f64::MIN_POSITIVE)).sqrt();
        let factor = (0.8 * TOLERANCE / relative.max(f64::MIN_POSITIVE)).sqrt().clamp(0.3, 1.5);
        self.limit = (self.limit * factor).clamp(LEAST, LARGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_follows_the_error_and_stays_in_its_bounds() {
        let mut reach = Reach::default();
        for _ in 0..20 {
            reach.observe((0.0, 1.0));
        }
        assert_eq!(reach.limit, LARGEST);
        // An error of second order: (d/0.01)² of TOLERANCE, in energy to the power of two.
        for _ in 0..20 {
            let relative = TOLERANCE * (reach.limit / 0.01f64).powi(2);
            reach.observe((relative * relative, 1.0));
        }
        assert!((reach.limit / 0.01 - 0.8f64.sqrt()).abs() < 1e-3, "{}", reach.limit);
        for _ in 0..20 {
            reach.observe((1.0, 1.0));
        }
        assert_eq!(reach.limit, LEAST);
    }
}
