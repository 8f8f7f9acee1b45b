//! A factorised matrix and a symmetric change of low rank along its lowest modes.
//!
//! B = A + S W Sᵀ, S = MU, where U nearly span modes of A in the metric of M: AU ≈ MUÂ, Â = UᵀAU, UᵀMU = 1. Then
//!
//!   B⁻¹b ≈ A⁻¹b + U ((Â + W)⁻¹ − Â⁻¹) Uᵀb,
//!
//! exactly so for exact modes: one solve, and none of the m solves of the Sherman–Morrison–Woodbury formula. What
//! the modes lack is made up for by conjugate gradients with this as preconditioner, in an iteration or two.

use crate::krylov::{KrylovReport, cg};
use crate::vector::{axpy, dot};
use crate::{BlockMatrix, Cholesky, Small};

/// The low-rank part; see the module.
#[derive(Clone, Debug)]
pub struct Deflation {
    /// U and S, column by column.
    vectors: Vec<f64>,
    weighed: Vec<f64>,
    /// W.
    weights: Small,
    /// (Â + W)⁻¹ − Â⁻¹.
    steps: Small,
    n: usize,
}

/// How close a solve comes: a digit above what a factorisation leaves.
const TOLERANCE: f64 = 1e-13;

impl Deflation {
    /// For the matrix A. Columns have the length of its dofs; both kinds are 0 where A is held.
    pub fn new(a: &BlockMatrix, vectors: &[f64], weighed: &[f64], weights: Small) -> Self {
        let (n, m) = (a.dofs(), weights.rows());
        let mut product = vec![0.0; n];
        let mut along = Vec::with_capacity(m * m);
        for u in vectors.chunks_exact(n) {
            a.mul_vec(u, &mut product);
            along.extend(vectors.chunks_exact(n).map(|v| dot(v, &product)));
        }
        let along = Small::from_fn(m, m, |i, j| along[i * m + j]).symmetric();
        // A change that is not positive definite by itself is left to the iteration.
        let inverse = |a: &Small| a.function(|v| if v > 0.0 { 1.0 / v } else { 0.0 });
        let changed = inverse(&along.combined(1.0, &weights, 1.0));
        let steps = match (changed, inverse(&along)) {
            (Some(changed), Some(before)) => changed.combined(1.0, &before, -1.0),
            _ => Small::diagonal(&vec![0.0; m]),
        };
        Self { vectors: vectors.to_vec(), weighed: weighed.to_vec(), weights, steps, n }
    }

    /// y ← y + S W Sᵀ x.
    pub fn add_product(&self, x: &[f64], y: &mut [f64]) {
        let along: Vec<f64> = self.weighed.chunks_exact(self.n).map(|s| dot(s, x)).collect();
        for (s, c) in self.weighed.chunks_exact(self.n).zip(self.weights.apply(&along)) {
            axpy(c, s, y);
        }
    }

    /// x ← about B⁻¹ x.
    pub fn precondition(&self, factor: &mut Cholesky, x: &mut [f64]) {
        let along: Vec<f64> = self.vectors.chunks_exact(self.n).map(|u| dot(u, &x[..self.n])).collect();
        factor.solve(x);
        for (u, c) in self.vectors.chunks_exact(self.n).zip(self.steps.apply(&along)) {
            axpy(c, u, &mut x[..self.n]);
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
