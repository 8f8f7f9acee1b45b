//! Quasi-Newton directions for small systems, for which assembling a matrix costs more than solving with it:
//! limited-memory BFGS \[nocedal2006, alg. 7.4\] with the factor of an earlier Hessian as initial matrix.

use super::dot;
use crate::operator::Preconditioner;

/// A new matrix is assembled if corrections contract by less than this factor.
pub(super) const SUFFICIENT_CONTRACTION: f64 = 0.3;
/// The value is not evaluated if corrections contract at least by this factor.
pub(super) const FAST_CONTRACTION: f64 = 0.1;
/// Directions per solve above which the next solve gets a new factor.
const MAX_DIRECTIONS: usize = 7;
/// Number of stored pairs of step and gradient change.
const MAX_PAIRS: usize = 10;

/// Limited-memory BFGS with the factor of an earlier Hessian as initial matrix.
#[derive(Default)]
pub(super) struct QuasiNewton {
    /// Steps s and the changes y of the gradient along them.
    pairs: Vec<[Vec<f64>; 2]>,
    /// Gradient before the last step, and that step.
    last: Option<[Vec<f64>; 2]>,
    /// Number of computed directions.
    directions: usize,
    disabled: bool,
}

impl QuasiNewton {
    /// Whether quasi-Newton directions may be used in this solve.
    pub fn is_enabled(&self) -> bool {
        !self.disabled
    }

    /// Disables quasi-Newton directions for the rest of this solve, after one failed.
    pub fn disable(&mut self) {
        self.disabled = true;
    }

    /// Whether the factor needed so many directions that the next solve must make a new one.
    pub fn has_outdated_factor(&self) -> bool {
        self.directions > MAX_DIRECTIONS
    }

    /// Records a step before it is taken, and the gradient at its start.
    pub fn begin_step(&mut self, gradient: &[f64], step: f64, direction: &[f64]) {
        let step = direction.iter().map(|d| step * d).collect();
        self.last = Some([gradient.to_vec(), step]);
    }

    /// Records the gradient at the end of the step.
    pub fn end_step(&mut self, gradient: &[f64]) {
        let Some([before, step]) = self.last.take() else { return };
        let change: Vec<f64> = gradient.iter().zip(&before).map(|(a, b)| a - b).collect();
        // A good step reduces the slope to about zero. Pairs dominated by rounding, or across a change of convexity, are
        // not used.
        let ratio = -dot(&change, &step) / dot(&before, &step);
        if self.pairs.len() < MAX_PAIRS && (0.5..2.0).contains(&ratio) {
            self.pairs.push([step, change]);
        }
    }

    /// d ← −H g. `inverse` applies the inverse of the earlier Hessian.
    pub fn direction(&mut self, gradient: &[f64], d: &mut [f64], inverse: &mut dyn Preconditioner) {
        self.directions += 1;
        d.iter_mut().zip(gradient).for_each(|(d, g)| *d = -g);
        let add = |d: &mut [f64], c: f64, x: &[f64]| d.iter_mut().zip(x).for_each(|(d, x)| *d += c * x);
        let mut weights = [0.0; MAX_PAIRS];
        for ([s, y], weight) in self.pairs.iter().zip(&mut weights).rev() {
            *weight = dot(s, d) / dot(s, y);
            add(d, -*weight, y);
        }
        inverse.precondition(d);
        for ([s, y], weight) in self.pairs.iter().zip(weights) {
            add(d, weight - dot(y, d) / dot(s, y), s);
        }
    }
}
