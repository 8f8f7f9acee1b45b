//! The symbolic phase of the Cholesky factorisation, which depends on the pattern alone.

use crate::direct::ordering::{Ordering, order_dofs};
use crate::matrix::block::BlockMatrix;
use crate::matrix::pattern::BlockPattern;
use faer::dyn_stack::MemBuffer;
use faer::perm::PermRef;
use faer::sparse::SymbolicSparseColMat;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::{Par, Side};
use std::sync::Arc;

/// Parallelism of faer's dense kernels. `Par::rayon(k)` gives the same bits.
pub(crate) const PARALLELISM: Par = Par::Seq;

/// Elimination order, structure of the factor, and work space.
pub(crate) struct SymbolicFactor {
    /// The pattern of the matrix, by which a known one is recognised.
    pub base: Arc<BlockPattern>,
    /// `base` with the couplings outside it.
    pub union: Arc<BlockPattern>,
    /// The position in `union` of every block of `base`; empty if they are the same.
    place: Vec<u32>,
    /// `order[new] = old`, of dofs.
    pub order: Vec<usize>,
    pub matrix: SymbolicSparseColMat<usize>,
    pub symbolic: SymbolicCholesky<usize>,
    pub factor_memory: MemBuffer,
}

impl SymbolicFactor {
    pub fn new(base: &Arc<BlockPattern>, couplings: &[(u32, u32)], ordering: Ordering) -> SymbolicFactor {
        let (union, place) = if couplings.is_empty() {
            (base.clone(), Vec::new())
        } else {
            let union = base.with_couplings(couplings);
            let place = (0..base.n())
                .flat_map(|j| base.column(j).iter().map(move |&i| (i as usize, j)))
                .map(|(i, j)| union.position(i, j).expect("the union contains the base") as u32)
                .collect();
            (Arc::new(union), place)
        };
        let n = 3 * union.n();
        let (mut col_ptr, mut rows) = (Vec::with_capacity(n + 1), Vec::with_capacity(9 * union.len() - n));
        col_ptr.push(0);
        for j in 0..union.n() {
            for c in 0..3 {
                rows.extend((c..3).map(|r| 3 * j + r));
                rows.extend(
                    union.column(j)[1..].iter().flat_map(|&i| (0..3).map(move |r| 3 * i as usize + r)),
                );
                col_ptr.push(rows.len());
            }
        }
        let matrix = SymbolicSparseColMat::<usize>::new_checked(n, n, col_ptr, None, rows);
        let order = order_dofs(&union, ordering);
        let mut inverse = vec![0; n];
        for (new, &old) in order.iter().enumerate() {
            inverse[old] = new;
        }
        let custom = SymmetricOrdering::Custom(PermRef::new_checked(&order, &inverse, n));
        let symbolic = factorize_symbolic_cholesky(
            matrix.as_ref(),
            Side::Lower,
            custom,
            CholeskySymbolicParams::default(),
        )
        .expect("the symbolic phase fails only if memory is exhausted");
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(PARALLELISM, Default::default());
        let factor_memory = MemBuffer::new(scratch);
        SymbolicFactor { base: base.clone(), union, place, order, matrix, symbolic, factor_memory }
    }

    /// Writes the lower triangle of `a` into the values of the scalar pattern.
    pub fn fill(&self, a: &BlockMatrix, values: &mut [f64]) {
        if !self.place.is_empty() {
            values.fill(0.0);
        }
        let union = &self.union;
        let mut put = |j: usize, p: usize, block: &[f64; 9]| {
            let first = union.diagonal_position(j);
            // Scalars before node j: 9 per block, but 6 per diagonal one.
            let base = 9 * first - 3 * j;
            let below = 3 * (union.diagonal_position(j + 1) - first - 1);
            let column = [base, base + 3 + below, base + 5 + 2 * below];
            if p == first {
                for c in 0..3 {
                    for r in c..3 {
                        values[column[c] + r - c] = block[3 * r + c];
                    }
                }
            } else {
                let k = 3 * (p - first - 1);
                for c in 0..3 {
                    for r in 0..3 {
                        values[column[c] + 3 - c + k + r] = block[3 * r + c];
                    }
                }
            }
        };
        for j in 0..self.base.n() {
            for p in self.base.diagonal_position(j)..self.base.diagonal_position(j + 1) {
                let to = if self.place.is_empty() { p } else { self.place[p] as usize };
                put(j, to, &a.values()[p]);
            }
        }
        for (&(i, j), block) in a.extra() {
            let p = union.position(i as usize, j as usize).expect("extra couplings are part of the analysis");
            put(j as usize, p, block);
        }
    }
}
