//! Deflation: a preconditioner for a matrix with a symmetric low-rank change along its lowest modes.
//!
//! B = A + S W Sᵀ with S = MU. The columns of U nearly span modes of A in the inner product of M: AU ≈ MUÂ, Â = UᵀAU,
//! UᵀMU = 1. Then
//!
//!   B⁻¹b ≈ A⁻¹b + U ((Â + W)⁻¹ − Â⁻¹) Uᵀb,
//!
//! with equality for exact modes. This needs one solve with A; the Sherman–Morrison–Woodbury formula would need m
//! further ones. Conjugate gradients with this preconditioner remove the error of inexact modes in one or two
//! iterations.

use crate::krylov::{KrylovReport, cg};
use crate::matrix::vector::{axpy, dot};
use crate::operator::{Operator, Preconditioner};
use crate::{BlockMatrix, SmallMatrix};
use std::sync::Arc;

/// A symmetric low-rank matrix S W Sᵀ, and the approximate inverse of A + S W Sᵀ that follows from A⁻¹.
#[derive(Clone, Debug)]
pub struct Deflation {
    /// U.
    vectors: Arc<Columns>,
    /// S.
    weighted: Arc<Columns>,
    coefficients: Arc<DeflationCoefficients>,
}

/// The small matrices of a [`Deflation`]. They stay the same when the vectors rotate with the body.
#[derive(Clone, Debug)]
pub struct DeflationCoefficients {
    /// W.
    weights: SmallMatrix,
    /// (Â + W)⁻¹ − Â⁻¹.
    inverse_change: SmallMatrix,
}

impl DeflationCoefficients {
    /// From an approximation of Â, and W.
    pub fn new(projected: &SmallMatrix, weights: SmallMatrix) -> Self {
        // Where Â + W is not positive definite, the preconditioner ignores the change, and the iteration corrects it.
        let inverse_change = match (projected.combined(1.0, &weights, 1.0).inverse(), projected.inverse()) {
            (Some(changed), Some(before)) => changed.combined(1.0, &before, -1.0),
            _ => SmallMatrix::diagonal(&vec![0.0; weights.rows()]),
        };
        Self { weights, inverse_change }
    }
}

/// A dense matrix X by columns, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The entries, column by column.
    pub values: Vec<f64>,
    /// The number of rows.
    pub n: usize,
}

impl Columns {
    /// Xᵀ y.
    pub fn inner_products(&self, y: &[f64]) -> Vec<f64> {
        self.values.chunks_exact(self.n.max(1)).map(|x| dot(x, y)).collect()
    }

    /// y ← y + X c.
    pub fn add_combination(&self, c: &[f64], y: &mut [f64]) {
        for (x, c) in self.values.chunks_exact(self.n.max(1)).zip(c) {
            axpy(*c, x, y);
        }
    }
}

/// Relative residual of a solve: ten times that of a direct factorisation.
const TOLERANCE: f64 = 1e-13;

impl Deflation {
    /// From U and S, which are zero at Dirichlet dofs, and the small matrices.
    pub fn new(
        vectors: Arc<Columns>,
        weighted: Arc<Columns>,
        coefficients: Arc<DeflationCoefficients>,
    ) -> Self {
        Self { vectors, weighted, coefficients }
    }

    /// The same with every column of U and S in another order of the unknowns.
    pub fn mapped(&self, mut map: impl FnMut(&[f64]) -> Vec<f64>) -> Self {
        let mut columns = |of: &Columns| {
            let values: Vec<f64> = of.values.chunks_exact(of.n.max(1)).flat_map(&mut map).collect();
            let n = values.len() / (of.values.len() / of.n.max(1)).max(1);
            Arc::new(Columns { values, n })
        };
        let (vectors, weighted) = (columns(&self.vectors), columns(&self.weighted));
        Self { vectors, weighted, coefficients: self.coefficients.clone() }
    }

    /// y ← y + S W Sᵀ x.
    pub fn add_product(&self, x: &[f64], y: &mut [f64]) {
        self.weighted.add_combination(&self.coefficients.weights.apply(&self.weighted.inner_products(x)), y);
    }

    /// x ← B⁻¹ x by conjugate gradients, where `inverse` applies A⁻¹.
    pub fn solve(
        &self,
        matrix: &BlockMatrix,
        inverse: &mut dyn Preconditioner,
        x: &mut [f64],
    ) -> KrylovReport {
        let b = x.to_vec();
        x.fill(0.0);
        let mut preconditioner = Deflated { low_rank: self, inverse };
        cg(&mut Corrected { matrix, low_rank: self }, &mut preconditioner, &b, x, TOLERANCE, 50)
    }
}

/// B = A + S W Sᵀ as an operator.
pub struct Corrected<'a> {
    /// A.
    pub matrix: &'a BlockMatrix,
    /// S W Sᵀ.
    pub low_rank: &'a Deflation,
}

impl Operator for Corrected<'_> {
    fn size(&self) -> usize {
        self.matrix.dofs()
    }

    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        self.matrix.mul_vec(x, y);
        self.low_rank.add_product(x, y);
    }
}

/// The deflated preconditioner: an approximation of B⁻¹ from one of A⁻¹.
pub struct Deflated<'a> {
    /// S W Sᵀ.
    pub low_rank: &'a Deflation,
    /// An approximation of A⁻¹.
    pub inverse: &'a mut dyn Preconditioner,
}

impl Preconditioner for Deflated<'_> {
    fn precondition(&mut self, x: &mut [f64]) {
        let Deflation { vectors, coefficients, .. } = self.low_rank;
        let correction = coefficients.inverse_change.apply(&vectors.inner_products(&x[..vectors.n]));
        self.inverse.precondition(x);
        vectors.add_combination(&correction, &mut x[..vectors.n]);
    }
}
