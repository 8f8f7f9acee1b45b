//! A factorised matrix and a symmetric change of low rank along its lowest modes.
//!
//! B = A + S diag(w) Sᵀ, S = MU, where U are nearly modes of A in the metric of M: AU ≈ MU diag(a), UᵀMU = 1. Then
//!
//!   B⁻¹b ≈ A⁻¹b + U (1/(a + w) − 1/a) Uᵀb,
//!
//! exactly so for exact modes: one solve, and none of the m solves of the Sherman–Morrison–Woodbury formula. What
//! the modes lack is made up for by conjugate gradients with this as preconditioner, in an iteration or two.

use crate::krylov::{KrylovReport, cg};
use crate::vector::{axpy, dot};
use crate::{BlockMatrix, Cholesky};

/// The low-rank part; see the module.
#[derive(Clone, Debug)]
pub struct Deflation {
    /// U and S, column by column.
    vectors: Vec<f64>,
    weighed: Vec<f64>,
    /// w.
    weights: Vec<f64>,
    /// 1/(a + w) − 1/a.
    steps: Vec<f64>,
    n: usize,
}

/// How close a solve comes: a digit above what a factorisation leaves.
const TOLERANCE: f64 = 1e-13;

impl Deflation {
    /// For the matrix A. Columns have the length of its dofs; both kinds are 0 where A is held.
    pub fn new(a: &BlockMatrix, vectors: &[f64], weighed: &[f64], weights: Vec<f64>) -> Self {
        let n = a.dofs();
        let along = |u: &[f64]| a.quadratic_form(u);
        let steps = vectors.chunks_exact(n).zip(&weights).map(|(u, w)| {
            let a = along(u);
            // A change that is not positive definite by itself is left to the iteration.
            if a + w > 0.0 { 1.0 / (a + w) - 1.0 / a } else { 0.0 }
        });
        let steps = steps.collect();
        Self { vectors: vectors.to_vec(), weighed: weighed.to_vec(), weights, steps, n }
    }

    /// y ← y + S diag(w) Sᵀ x.
    pub fn add_product(&self, x: &[f64], y: &mut [f64]) {
        for (s, w) in self.weighed.chunks_exact(self.n).zip(&self.weights) {
            axpy(w * dot(s, x), s, y);
        }
    }

    /// x ← about B⁻¹ x.
    pub fn precondition(&self, factor: &mut Cholesky, x: &mut [f64]) {
        let along: Vec<f64> = self.vectors.chunks_exact(self.n).map(|u| dot(u, &x[..self.n])).collect();
        factor.solve(x);
        for ((u, step), c) in self.vectors.chunks_exact(self.n).zip(&self.steps).zip(along) {
            axpy(step * c, u, &mut x[..self.n]);
        }
    }

    /// x ← B⁻¹ x, where `factor` is that of A.
    pub fn solve(&self, a: &BlockMatrix, factor: &mut Cholesky, x: &mut [f64]) -> KrylovReport {
        let b = x.to_vec();
        x.fill(0.0);
        let mut apply = |x: &[f64], y: &mut [f64]| {
            a.mul_vec(x, y);
            self.add_product(x, y);
        };
        cg(&mut apply, &mut |z: &mut [f64]| self.precondition(factor, z), &b, x, TOLERANCE, 50)
    }
}
