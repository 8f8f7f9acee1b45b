//! L D Lᵀ of the regularised saddle matrix [A Bᵀ; B −δ].
//!
//! With A positive definite and δ > 0 the matrix is quasidefinite. It then has such a factorisation, without pivoting, in
//! every elimination order \[vanderbei1995\], so the order can be chosen for sparsity alone. Iterative refinement removes
//! the error due to δ ([`crate::Saddle`]).

use crate::direct::symbolic::PARALLELISM;
use crate::matrix::block::BlockMatrix;
use crate::matrix::sparse_rows::SparseRows;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Side};

/// A sparse L D Lᵀ factorisation of a quasidefinite matrix, with its symbolic phase.
#[derive(Default)]
pub(crate) struct QuasiDefinite {
    analysis: Option<QuasiDefiniteSymbolic>,
    values: Vec<f64>,
    factor: Vec<f64>,
}

/// The symbolic phase of a [`QuasiDefinite`] factorisation.
struct QuasiDefiniteSymbolic {
    matrix: SymbolicSparseColMat<usize>,
    symbolic: SymbolicCholesky<usize>,
    factor_memory: MemBuffer,
    solve_memory: MemBuffer,
}

impl QuasiDefinite {
    /// Factorises in a minimum-degree order. The error is the row at which the factorisation stopped.
    pub fn factor(&mut self, a: &BlockMatrix, b: &SparseRows, delta: &[f64]) -> Result<(), usize> {
        self.factor_in_order(a, b, delta, &|| None)
    }

    /// Factorises in the order `order[new] = old`, which is called for a new pattern. `None`: minimum degree.
    pub fn factor_in_order(
        &mut self,
        a: &BlockMatrix,
        b: &SparseRows,
        delta: &[f64],
        order: &dyn Fn() -> Option<Vec<usize>>,
    ) -> Result<(), usize> {
        let n = a.dofs();
        let lower = a.to_scalar_lower_csc();
        // Append the rows of B below the columns of A: count, then insert in the order of the rows, which keeps them sorted.
        let mut below = vec![0usize; n + 1];
        for i in 0..b.len() {
            for (c, _) in b.row(i) {
                below[c + 1] += 1;
            }
        }
        for c in 0..n {
            below[c + 1] += below[c];
        }
        let mut col_ptr: Vec<usize> = (0..=n).map(|c| lower.col_ptr[c] + below[c]).collect();
        let total = col_ptr[n] + b.len();
        let mut rows = vec![0usize; total];
        self.values.clear();
        self.values.resize(total, 0.0);
        let mut next = vec![0usize; n];
        for c in 0..n {
            let (from, to) = (lower.col_ptr[c]..lower.col_ptr[c + 1], col_ptr[c]);
            rows[to..to + from.len()].copy_from_slice(&lower.rows[from.clone()]);
            self.values[to..to + from.len()].copy_from_slice(&lower.values[from.clone()]);
            next[c] = to + from.len();
        }
        for i in 0..b.len() {
            for (c, v) in b.row(i) {
                rows[next[c]] = n + i;
                self.values[next[c]] = v;
                next[c] += 1;
            }
            let at = col_ptr[n] + i;
            rows[at] = n + i;
            self.values[at] = -delta[i];
        }
        let last = col_ptr[n];
        col_ptr.extend((1..=b.len()).map(|i| last + i));
        self.analyse(col_ptr, rows, order);
        let analysis = self.analysis.as_mut().expect("made by analyse");
        let matrix = SparseColMatRef::new(analysis.matrix.as_ref(), &self.values);
        let stack = MemStack::new(&mut analysis.factor_memory);
        let factored = analysis.symbolic.factorize_numeric_ldlt(
            &mut self.factor,
            matrix,
            Side::Lower,
            Default::default(),
            PARALLELISM,
            stack,
            Default::default(),
        );
        factored.map(|_| ()).map_err(|_| n)
    }

    fn analyse(&mut self, col_ptr: Vec<usize>, rows: Vec<usize>, order: &dyn Fn() -> Option<Vec<usize>>) {
        let known = |a: &QuasiDefiniteSymbolic| a.matrix.col_ptr() == col_ptr && a.matrix.row_idx() == rows;
        if self.analysis.as_ref().is_some_and(known) {
            return;
        }
        let n = col_ptr.len() - 1;
        let matrix = SymbolicSparseColMat::<usize>::new_checked(n, n, col_ptr, None, rows);
        let order = order();
        let inverse = order.as_ref().map(|order| {
            let mut inverse = vec![0; n];
            for (new, &old) in order.iter().enumerate() {
                inverse[old] = new;
            }
            inverse
        });
        let ordering = match (&order, &inverse) {
            (Some(order), Some(inverse)) => {
                SymmetricOrdering::Custom(PermRef::new_checked(order, inverse, n))
            }
            _ => SymmetricOrdering::Amd,
        };
        let symbolic = factorize_symbolic_cholesky(
            matrix.as_ref(),
            Side::Lower,
            ordering,
            CholeskySymbolicParams::default(),
        )
        .expect("the symbolic phase fails only if memory is exhausted");
        self.factor.clear();
        self.factor.resize(symbolic.len_val(), 0.0);
        let scratch = symbolic.factorize_numeric_ldlt_scratch::<f64>(PARALLELISM, Default::default());
        let factor_memory = MemBuffer::new(scratch);
        let solve_memory = MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, PARALLELISM));
        self.analysis = Some(QuasiDefiniteSymbolic { matrix, symbolic, factor_memory, solve_memory });
    }

    /// x ← (regularised matrix)⁻¹ x.
    pub fn solve(&mut self, x: &mut [f64]) {
        let analysis = self.analysis.as_mut().expect("solve needs a factorisation");
        let n = x.len();
        LdltRef::new(&analysis.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            PARALLELISM,
            MemStack::new(&mut analysis.solve_memory),
        );
    }
}
