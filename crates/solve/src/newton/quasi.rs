//! Directions without a new matrix, for small systems, where assembling it costs more than solving: the factor of before,
//! and what the gradients of this solve have told since, by BFGS \[nocedal2006, alg. 7.4\].

use super::dot;

/// Corrections must fall by this factor, or a new matrix is worth its price.
pub(super) const FALL: f64 = 0.3;
/// Where they fall by this one, the value need not be asked for.
pub(super) const SURE: f64 = 0.1;
/// Directions in a solve up to which the factor stays.
const WORN: usize = 7;
/// Pairs that are kept.
const PAIRS: usize = 10;

/// See the module.
#[derive(Default)]
pub(super) struct Shortcut {
    /// Steps s and the changes y of the gradient along them.
    list: Vec<[Vec<f64>; 2]>,
    /// Gradient before the last step, and that step.
    last: Option<[Vec<f64>; 2]>,
    /// Directions that were found.
    found: usize,
    closed: bool,
}

impl Shortcut {
    /// Whether it is to be taken.
    pub fn is_open(&self) -> bool {
        !self.closed
    }

    /// It led nowhere: not again in this solve.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the factor has served for long enough.
    pub fn worn(&self) -> bool {
        self.found > WORN
    }

    /// A step is about to be taken from where the gradient is this.
    pub fn leave(&mut self, gradient: &[f64], step: f64, direction: &[f64]) {
        let step = direction.iter().map(|d| step * d).collect();
        self.last = Some([gradient.to_vec(), step]);
    }

    /// The gradient where it led to.
    pub fn arrive(&mut self, gradient: &[f64]) {
        let Some([before, step]) = self.last.take() else { return };
        let change: Vec<f64> = gradient.iter().zip(&before).map(|(a, b)| a - b).collect();
        // A good step takes the slope to zero; one of rounding, or into another valley, tells nothing.
        let share = -dot(&change, &step) / dot(&before, &step);
        if self.list.len() < PAIRS && (0.5..2.0).contains(&share) {
            self.list.push([step, change]);
        }
    }

    /// −H g into `d`, where `solve` is the inverse of the matrix as far as it is known.
    pub fn direction(&mut self, gradient: &[f64], d: &mut [f64], solve: &mut dyn FnMut(&mut [f64])) {
        self.found += 1;
        d.iter_mut().zip(gradient).for_each(|(d, g)| *d = -g);
        let add = |d: &mut [f64], c: f64, x: &[f64]| d.iter_mut().zip(x).for_each(|(d, x)| *d += c * x);
        let mut weights = [0.0; PAIRS];
        for ([s, y], weight) in self.list.iter().zip(&mut weights).rev() {
            *weight = dot(s, d) / dot(s, y);
            add(d, -*weight, y);
        }
        solve(d);
        for ([s, y], weight) in self.list.iter().zip(weights) {
            add(d, weight - dot(y, d) / dot(s, y), s);
        }
    }
}
