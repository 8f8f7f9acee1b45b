//! What all spaces share in which a motion is looked for.

use super::Growth;
use crate::vector::{axpy, dot, scale};

/// Coordinates of (δq/t, δv) in an orthonormal basis, in one or two lists.
pub type Coordinates = [Vec<f64>; 2];

/// The norm.
pub fn size(c: &[Vec<f64>]) -> f64 {
    c.iter().flatten().map(|x| x * x).sum::<f64>().sqrt()
}

/// Distance of two points, of which one may have fewer coordinates.
pub fn distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        for k in 0..a.len().max(b.len()) {
            let x = a.get(k).unwrap_or(&0.0) - b.get(k).unwrap_or(&0.0);
            sum += x * x;
        }
    }
    sum.sqrt()
}

/// A space that grows until it holds a motion.
pub trait Space {
    fn len(&self) -> usize;
    /// ‖v‖_M at the start.
    fn speed(&self) -> f64;
    /// Whether the inner product turned out not to be one.
    fn indefinite(&self) -> bool {
        false
    }
    /// Adds vectors; false if there are none to add, so that the space holds the motion exactly.
    fn grow(&mut self, growth: &mut Growth<'_>) -> bool;
    /// The motion over t in the first m vectors, if finite.
    fn motion(&self, m: usize, t: f64) -> Option<Coordinates>;
    /// (δq, δv) of the motion over t.
    fn assemble(&self, t: f64, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>);
}

/// Gram–Schmidt in the inner product of `weigh`, repeated until it changes little: twice is enough unless w was nearly in the
/// span (Kahan & Parlett; Giraud et al. 2005). Returns the coordinates of w; the last is its own, 0 if nothing was left,
/// negative if the inner product is not definite.
pub fn orthonormalise(weigh: &dyn Fn(&[f64], &mut [f64]), vectors: &[Vec<f64>], w: &mut [f64]) -> Vec<f64> {
    let mut coordinates = vec![0.0; vectors.len() + 1];
    let mut weighed = vec![0.0; w.len()];
    weigh(w, &mut weighed);
    let root = |square: f64| square.abs().sqrt().copysign(square);
    let original = root(dot(w, &weighed));
    let (mut before, mut left) = (original, original);
    for _ in 0..6 {
        if vectors.is_empty() {
            break;
        }
        let products: Vec<f64> = vectors.iter().map(|v| dot(v, &weighed)).collect();
        for ((v, s), c) in vectors.iter().zip(&products).zip(&mut coordinates) {
            axpy(-s, v, w);
            *c += s;
        }
        weigh(w, &mut weighed);
        left = root(dot(w, &weighed));
        if left > 0.7 * before || left <= 1e-13 * original {
            break;
        }
        before = left;
    }
    if left.abs() > 1e-13 * original.abs() && left.is_finite() {
        scale(1.0 / left, w);
        coordinates[vectors.len()] = left;
    }
    coordinates
}

/// Σ cₖ vₖ, of n numbers.
pub fn combination(coefficients: &[f64], vectors: &[Vec<f64>], n: usize) -> Vec<f64> {
    let mut u = vec![0.0; n];
    for (c, v) in coefficients.iter().zip(vectors) {
        axpy(*c, v, &mut u);
    }
    u
}
