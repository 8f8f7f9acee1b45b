//! Incomplete Cholesky factorisation A ≈ L D Lᵀ in 3×3 blocks, without fill: the preconditioner for moderately stiff
//! matrices, M + h²K with steps that resolve the motion.
//!
//! The factorisation is one pass over the blocks, and both parts of the ordering are factorised at the same time. Couplings
//! outside the pattern (contact) are not part of the factor; only the products of the iteration contain them.

mod factor;
mod layout;
mod ordering;

pub(crate) use ordering::Padded;

use crate::matrix::block::BlockMatrix;
use crate::matrix::pattern::BlockPattern;
use crate::precondition::incomplete::factor::IncompleteElimination;
use crate::precondition::incomplete::layout::SimdBlocks;
use crate::precondition::incomplete::ordering::TwoWayOrdering;
use std::sync::Arc;

/// An incomplete Cholesky factor L D Lᵀ without fill, and the matrix that it preconditions, both permuted.
#[derive(Default)]
pub struct Incomplete {
    /// The order of the nodes.
    ordering: TwoWayOrdering,
    /// The pattern that was ordered.
    pattern: Option<Arc<BlockPattern>>,
    /// The permuted blocks of A.
    blocks: Vec<[f64; 9]>,
    elimination: IncompleteElimination,
    matrix: PermutedMatrix,
    factor: IncompleteFactor,
}

/// A permuted matrix, stored for repeated products, and work space.
#[derive(Default)]
pub(crate) struct PermutedMatrix {
    packed: SimdBlocks<f64>,
    sums: Vec<Vec<Padded>>,
}

impl PermutedMatrix {
    /// y ← A x, both permuted.
    pub fn multiply(&mut self, ordering: &TwoWayOrdering, x: &[Padded], y: &mut [Padded]) {
        self.packed.multiply(ordering, x, y, &mut self.sums);
    }
}

/// The incomplete factor: L and D⁻¹.
#[derive(Default)]
pub(crate) struct IncompleteFactor {
    /// L in single precision: a preconditioner need not be exact, and every iteration reads it twice.
    lower: SimdBlocks<f32>,
    inverse: Vec<[f64; 9]>,
    sums: Vec<Vec<Padded>>,
}

impl IncompleteFactor {
    /// x ← (L D Lᵀ)⁻¹ x, permuted.
    pub fn solve(&mut self, ordering: &TwoWayOrdering, x: &mut [Padded]) {
        self.lower.substitute(ordering, &self.inverse, x, &mut self.sums);
    }
}

impl Incomplete {
    /// Factorises A.
    pub fn factor(&mut self, a: &BlockMatrix) {
        self.set_matrix(a);
        self.refactor();
    }

    /// Permutes and stores A for products; a new pattern is ordered.
    pub(crate) fn set_matrix(&mut self, a: &BlockMatrix) {
        if self.pattern.as_ref().is_none_or(|known| !Arc::ptr_eq(known, a.pattern())) {
            self.ordering = TwoWayOrdering::new(a.pattern());
            self.elimination = IncompleteElimination::new(self.ordering.pattern());
            self.pattern = Some(a.pattern().clone());
        }
        self.ordering.permute_blocks(a, &mut self.blocks);
        self.matrix.packed.set(&self.blocks);
    }

    /// Factorises the stored matrix.
    pub(crate) fn refactor(&mut self) {
        let pattern = self.ordering.pattern();
        let values = self.elimination.eliminate(&self.ordering, &self.blocks);
        self.factor.lower.set(values);
        self.factor.inverse.clear();
        self.factor.inverse.extend((0..pattern.n()).map(|j| values[pattern.diagonal_position(j)]));
    }

    /// The ordering, the stored matrix, and the factor.
    pub(crate) fn split_mut(&mut self) -> (&TwoWayOrdering, &mut PermutedMatrix, &mut IncompleteFactor) {
        (&self.ordering, &mut self.matrix, &mut self.factor)
    }

    /// x ← (L D Lᵀ)⁻¹ x.
    pub fn solve(&mut self, x: &mut [f64]) {
        let mut permuted = Vec::new();
        self.ordering.permute(x, &mut permuted);
        self.factor.solve(&self.ordering, &mut permuted);
        self.ordering.permute_back(&permuted, x);
    }
}
