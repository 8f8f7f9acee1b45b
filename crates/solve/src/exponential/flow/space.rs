//! The interface of the Krylov spaces, and their common functions.

use super::Growth;
use crate::matrix::vector::{axpy, dot, scale};

/// Coordinates of (δq/t, δv) in an orthonormal basis, in one or two lists.
pub type Coordinates = [Vec<f64>; 2];

/// The Euclidean norm.
pub fn size(c: &[Vec<f64>]) -> f64 {
    c.iter().flatten().map(|x| x * x).sum::<f64>().sqrt()
}

/// The distance of two points. Missing coordinates are zero.
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

/// A Krylov space that grows until it contains the motion.
pub trait KrylovSpace {
    fn len(&self) -> usize;
    /// ‖v‖_M at the start.
    fn speed(&self) -> f64;
    /// Whether the inner product was found to be indefinite.
    fn indefinite(&self) -> bool {
        false
    }
    /// Adds vectors. Returns `false` if the space is invariant and so contains the motion exactly.
    fn grow(&mut self, growth: &mut Growth<'_>) -> bool;
    /// The motion over t in the span of the first m vectors; `None` if it is not finite.
    fn motion(&self, m: usize, t: f64) -> Option<Coordinates>;
    /// (δq, δv) of the motion over t.
    fn assemble(&self, t: f64, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>);
}

/// Gram–Schmidt in the inner product whose matrix is `weight`, repeated until w changes little. Twice is enough unless w is
/// nearly in the span (Kahan & Parlett; Giraud et al. 2005). Returns the coordinates of w. The last one belongs to its new
/// part: 0 if w is linearly dependent, negative if the inner product is indefinite.
pub fn orthonormalise(weight: &dyn Fn(&[f64], &mut [f64]), vectors: &[Vec<f64>], w: &mut [f64]) -> Vec<f64> {
    let mut coordinates = vec![0.0; vectors.len() + 1];
    let mut weighted = vec![0.0; w.len()];
    weight(w, &mut weighted);
    let root = |square: f64| square.abs().sqrt().copysign(square);
    let original = root(dot(w, &weighted));
    let (mut before, mut left) = (original, original);
    for _ in 0..6 {
        if vectors.is_empty() {
            break;
        }
        let products: Vec<f64> = vectors.iter().map(|v| dot(v, &weighted)).collect();
        for ((v, s), c) in vectors.iter().zip(&products).zip(&mut coordinates) {
            axpy(-s, v, w);
            *c += s;
        }
        weight(w, &mut weighted);
        left = root(dot(w, &weighted));
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

/// Σ cₖ vₖ, a vector of length n.
pub fn combination(coefficients: &[f64], vectors: &[Vec<f64>], n: usize) -> Vec<f64> {
    let mut u = vec![0.0; n];
    for (c, v) in coefficients.iter().zip(vectors) {
        axpy(*c, v, &mut u);
    }
    u
}
