//! Incomplete Cholesky factorisation A ≈ L D Lᵀ in 3×3 blocks, without fill: the preconditioner for matrices of mild
//! stiffness, M + h²K with steps that resolve the motion.
//!
//! One pass over the blocks, in both [`Parts`] at once; couplings outside the pattern (contact) are left to the iteration.

use crate::block::BlockMatrix;
use crate::elimination::Elimination;
use crate::packed::{Packed, Padded};
use crate::parts::Parts;
use crate::pattern::BlockPattern;
use std::sync::Arc;

/// See the module.
#[derive(Default)]
pub struct Incomplete {
    /// The order of the nodes, and the pattern it is for.
    parts: Parts,
    pattern: Option<Arc<BlockPattern>>,
    /// A in this order.
    blocks: Vec<[f64; 9]>,
    elimination: Elimination,
    matrix: Matrix,
    factor: Factor,
}

/// A matrix for many products, and what these work in.
#[derive(Default)]
pub(crate) struct Matrix {
    packed: Packed<f64>,
    sums: Vec<Vec<Padded>>,
}

impl Matrix {
    /// y ← A x, in the order of the parts.
    pub fn multiply(&mut self, parts: &Parts, x: &[Padded], y: &mut [Padded]) {
        self.packed.multiply(parts, x, y, &mut self.sums);
    }
}

/// L and D⁻¹.
#[derive(Default)]
pub(crate) struct Factor {
    /// In single precision: it need not be exact, and is read twice in every iteration.
    lower: Packed<f32>,
    inverse: Vec<[f64; 9]>,
    sums: Vec<Vec<Padded>>,
}

impl Factor {
    /// x ← (L D Lᵀ)⁻¹ x, in the order of the parts.
    pub fn solve(&mut self, parts: &Parts, x: &mut [Padded]) {
        self.lower.substitute(parts, &self.inverse, x, &mut self.sums);
    }
}

impl Incomplete {
    /// Factorises A.
    pub fn factor(&mut self, a: &BlockMatrix) {
        self.take(a);
        self.refactor();
    }

    /// Takes A for products.
    pub(crate) fn take(&mut self, a: &BlockMatrix) {
        if self.pattern.as_ref().is_none_or(|of| !Arc::ptr_eq(of, a.pattern())) {
            self.parts = Parts::new(a.pattern());
            self.elimination = Elimination::new(self.parts.pattern());
            self.pattern = Some(a.pattern().clone());
        }
        self.parts.arrange_blocks(a, &mut self.blocks);
        self.matrix.packed.set(&self.blocks);
    }

    /// Factorises what was taken.
    pub(crate) fn refactor(&mut self) {
        let pattern = self.parts.pattern();
        let values = self.elimination.eliminate(&self.parts, &self.blocks);
        self.factor.lower.set(values);
        self.factor.inverse.clear();
        self.factor.inverse.extend((0..pattern.n()).map(|j| values[pattern.diagonal_position(j)]));
    }

    /// The order, the matrix that was taken, and the one that was factorised.
    pub(crate) fn sides(&mut self) -> (&Parts, &mut Matrix, &mut Factor) {
        (&self.parts, &mut self.matrix, &mut self.factor)
    }

    /// x ← (L D Lᵀ)⁻¹ x.
    pub fn solve(&mut self, x: &mut [f64]) {
        let mut arranged = Vec::new();
        self.parts.arrange(x, &mut arranged);
        self.factor.solve(&self.parts, &mut arranged);
        self.parts.give_back(&arranged, x);
    }
}
