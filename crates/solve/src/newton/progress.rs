//! How Newton's method is getting on: what the next linear system is worth, and when the next correction need not be
//! computed to be known.

use super::dot;

/// See the module.
#[derive(Default)]
pub(super) struct Progress {
    /// Norm of the last gradient.
    gradient: Option<f64>,
    /// The last correction, if the step was full.
    correction: Option<f64>,
}

impl Progress {
    /// How closely the next system should be solved. Newton's method by itself will be off by the square of the part ρ that
    /// was left of the gradient \[eisenstat1996\]; less than a tenth of what may be left is never needed.
    pub fn accuracy(&mut self, gradient: &[f64], left: f64) -> f64 {
        let now = dot(gradient, gradient).sqrt();
        let accuracy = match self.gradient.zip(self.correction) {
            Some((before, correction)) if now < before => {
                let part = now / before;
                (0.1 * left / (part * correction)).max(part * part)
            }
            _ => 1e-3,
        };
        self.gradient = Some(now);
        accuracy.clamp(1e-12, 1e-2)
    }

    /// The share of the last correction that this one has; 1 if there was none.
    pub fn fall(&self, correction: f64) -> f64 {
        self.correction.map_or(1.0, |before| correction / before)
    }

    /// The correction to be expected after this one, of which the linear solve missed the share `error`: corrections
    /// fall off quadratically, if they fell fast enough already \[deuflhard2011\]; with a margin of three.
    pub fn ahead(&mut self, correction: f64, error: f64, step: f64) -> f64 {
        let ratio = self.fall(correction);
        self.correction = (step == 1.0).then_some(correction);
        if ratio < 0.1 { 3.0 * (ratio * ratio + error) * correction } else { f64::INFINITY }
    }
}
