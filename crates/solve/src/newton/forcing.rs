//! Forcing terms of inexact Newton methods, and a prediction of the next correction.

use super::dot;

/// Gradients and corrections of the last iteration, from which the next accuracy is chosen.
#[derive(Default)]
pub(super) struct Forcing {
    /// Norm of the last gradient.
    gradient: Option<f64>,
    /// The last correction, if the step was full.
    correction: Option<f64>,
}

impl Forcing {
    /// The forcing term of Eisenstat and Walker \[eisenstat1996\]: the relative accuracy of the next linear solve. Newton's
    /// method itself leaves an error of ρ², where ρ is the ratio of two successive gradients. More accuracy than a tenth
    /// of the tolerance `left` is never needed.
    pub fn term(&mut self, gradient: &[f64], left: f64) -> f64 {
        let now = dot(gradient, gradient).sqrt();
        let term = match self.gradient.zip(self.correction) {
            Some((before, correction)) if now < before => {
                let ratio = now / before;
                (0.1 * left / (ratio * correction)).max(ratio * ratio)
            }
            _ => 1e-3,
        };
        self.gradient = Some(now);
        term.clamp(1e-12, 1e-2)
    }

    /// The ratio of this correction to the last one; 1 for the first.
    pub fn contraction(&self, correction: f64) -> f64 {
        self.correction.map_or(1.0, |before| correction / before)
    }

    /// Predicts the next correction. `error` is the relative error of the linear solve. Corrections decrease
    /// quadratically once they decrease fast \[deuflhard2011\]. The safety factor is three.
    pub fn predict(&mut self, correction: f64, error: f64, step: f64) -> f64 {
        let ratio = self.contraction(correction);
        self.correction = (step == 1.0).then_some(correction);
        if ratio < 0.1 { 3.0 * (ratio * ratio + error) * correction } else { f64::INFINITY }
    }
}
