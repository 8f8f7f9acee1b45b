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
use std::sync::Arc;

/// The low-rank part; see the module.
#[derive(Clone, Debug)]
pub struct Deflation {
    /// U and S.
    vectors: Arc<Columns>,
    weighed: Arc<Columns>,
    steps: Arc<Steps>,
}

/// What does not change as the vectors turn.
#[derive(Clone, Debug)]
pub struct Steps {
    /// W.
    weights: Small,
    /// (Â + W)⁻¹ − Â⁻¹.
    steps: Small,
}

impl Steps {
    /// With about Â, and W.
    pub fn new(along: &Small, weights: Small) -> Self {
        // A change that is not positive definite by itself is left to the iteration.
        let steps = match (along.combined(1.0, &weights, 1.0).inverse(), along.inverse()) {
            (Some(changed), Some(before)) => changed.combined(1.0, &before, -1.0),
            _ => Small::diagonal(&vec![0.0; weights.rows()]),
        };
        Self { weights, steps }
    }
}

/// Vectors of a length, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Their numbers.
    pub values: Vec<f64>,
    /// How many numbers each has.
    pub n: usize,
}

impl Columns {
    /// Xᵀ y.
    pub fn along(&self, y: &[f64]) -> Vec<f64> {
        self.values.chunks_exact(self.n.max(1)).map(|x| dot(x, y)).collect()
    }

    /// y ← y + X c.
    pub fn add(&self, c: &[f64], y: &mut [f64]) {
        for (x, c) in self.values.chunks_exact(self.n.max(1)).zip(c) {
            axpy(*c, x, y);
        }
    }
}

/// How close a solve comes: a digit above what a factorisation leaves.
const TOLERANCE: f64 = 1e-13;

impl Deflation {
    /// With U and S, which are 0 where A is held.
    pub fn new(vectors: Arc<Columns>, weighed: Arc<Columns>, steps: Arc<Steps>) -> Self {
        Self { vectors, weighed, steps }
    }

    /// y ← y + S W Sᵀ x.
    pub fn add_product(&self, x: &[f64], y: &mut [f64]) {
        self.weighed.add(&self.steps.weights.apply(&self.weighed.along(x)), y);
    }

    /// x ← about B⁻¹ x, where `solve` is about x ← A⁻¹ x.
    pub fn precondition(&self, solve: &mut dyn FnMut(&mut [f64]), x: &mut [f64]) {
        let steps = self.steps.steps.apply(&self.vectors.along(&x[..self.vectors.n]));
        solve(x);
        self.vectors.add(&steps, &mut x[..self.vectors.n]);
    }

    /// x ← B⁻¹ x, where `factor` is that of A.
    pub fn solve(&self, a: &BlockMatrix, factor: &mut Cholesky, x: &mut [f64]) -> KrylovReport {
        let b = x.to_vec();
        x.fill(0.0);
        let mut apply = |x: &[f64], y: &mut [f64]| {
            a.mul_vec(x, y);
            self.add_product(x, y);
        };
        let mut precondition = |z: &mut [f64]| self.precondition(&mut |z| factor.solve(z), z);
        cg(&mut apply, &mut precondition, &b, x, TOLERANCE, 50)
    }
}
