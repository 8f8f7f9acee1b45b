//! Sparse Cholesky factorisation A = L Lᵀ, with one symbolic phase per pattern.
//!
//! The numeric phase uses faer's supernodal kernels (measured to be as fast as PARDISO), with the elimination order of
//! `ordering.rs`. It works in place: after the first factorisation of a pattern no memory is allocated. faer's kernels give
//! the same bits sequentially and with rayon. The sequential ones are used, since two threads gained little.

use super::single_precision::SinglePrecisionFactor;
use crate::direct::ordering::Ordering;
use crate::direct::subtrees::Subtrees;
use crate::direct::symbolic::{PARALLELISM, SymbolicFactor};
use crate::matrix::block::BlockMatrix;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltError;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::cholesky::{LltRef, SymbolicCholeskyRaw};
use faer::{Conj, MatMut, Side};
use std::sync::Arc;

/// Unused couplings are dropped when all couplings are this many times as many as those in use. A body that slides over
/// another one would otherwise fill the factor with all its past contacts.
const UNUSED_COUPLINGS: usize = 4;

/// The error of a factorisation: the matrix is not positive definite, or not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.describe())]
pub struct NotPositiveDefinite {
    /// The degree of freedom (3 · node + axis) at which the factorisation stopped.
    pub dof: usize,
    /// Whether all entries were finite; if not, the column of `dof` contains an infinity or a NaN.
    pub finite: bool,
}

impl NotPositiveDefinite {
    fn describe(&self) -> String {
        let (node, axis) = (self.dof / 3, ["x", "y", "z"][self.dof % 3]);
        if self.finite {
            format!("the matrix is not positive definite: no positive pivot at node {node}, {axis}")
        } else {
            format!("the matrix is not finite: see node {node}, {axis}")
        }
    }
}

/// A sparse Cholesky factorisation that is updated in place.
///
/// Couplings outside the pattern (contact) become part of the symbolic phase when they first appear, and stay part of it:
/// a contact that opens and closes is analysed once. When a new coupling appears and there are more than four times as many
/// couplings as are in use, the unused ones are dropped. The elimination order, and with it the last bits of a solution,
/// depend on these couplings. A restarted run must therefore restore them ([`couplings`](Self::couplings),
/// [`with_couplings`](Self::with_couplings)).
///
/// ```
/// use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky};
/// use std::sync::Arc;
///
/// // Two nodes, joined by a spring.
/// let pattern = Arc::new(BlockPattern::from_cliques(2, [&[0, 1][..]].into_iter()));
/// let mut a = BlockMatrix::zeros(pattern);
/// a.add_diagonal(&[2.0; 6]);
/// a.add_block(1, 0, &[-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0]);
/// let mut factor = Cholesky::new();
/// factor.factor(&a)?;
/// let mut x = [1.0; 6];
/// factor.solve(&mut x);
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-14));
/// # Ok::<(), lilyan_solve::NotPositiveDefinite>(())
/// ```
#[derive(Default)]
pub struct Cholesky {
    ordering: Ordering,
    /// Couplings outside the pattern, sorted by column, then row.
    seen: Vec<(u32, u32)>,
    analysis: Option<SymbolicFactor>,
    values: Vec<f64>,
    factor: Vec<f64>,
    factored: bool,
    solve_memory: Option<(usize, MemBuffer)>,
    single: Option<SinglePrecisionFactor>,
    single_precision: SinglePrecision,
    analyses: usize,
    factorizations: usize,
}

/// State of the single-precision factor.
#[derive(Clone, Copy, Default, PartialEq)]
enum SinglePrecision {
    /// Not computed yet.
    #[default]
    NotComputed,
    /// Accurate enough for a preconditioner.
    Accurate,
    /// Not accurate enough.
    Inaccurate,
}

/// Largest relative error of a solve with the single-precision factor.
const SINGLE_PRECISION_ERROR: f64 = 0.01;

impl Cholesky {
    /// An empty factorisation.
    pub fn new() -> Cholesky {
        Cholesky::default()
    }

    /// An empty factorisation with a choice of elimination order.
    pub fn with_ordering(ordering: Ordering) -> Cholesky {
        Cholesky { ordering, ..Cholesky::default() }
    }

    /// An empty factorisation whose symbolic phase includes these couplings (i, j) from the beginning.
    pub fn with_couplings(couplings: &[(u32, u32)]) -> Cholesky {
        let mut seen: Vec<_> =
            couplings.iter().map(|&(i, j)| (i.max(j), i.min(j))).filter(|c| c.0 != c.1).collect();
        seen.sort_unstable_by_key(|&(i, j)| (j, i));
        seen.dedup();
        Cholesky { seen, ..Cholesky::default() }
    }

    /// The couplings (i, j), i > j, outside the pattern that are part of the symbolic phase.
    pub fn couplings(&self) -> &[(u32, u32)] {
        &self.seen
    }

    /// Factorises A. On an error the previous factor is lost.
    pub fn factor(&mut self, a: &BlockMatrix) -> Result<(), NotPositiveDefinite> {
        (self.factored, self.single_precision) = (false, SinglePrecision::NotComputed);
        if let Some(dof) = first_non_finite(a) {
            return Err(NotPositiveDefinite { dof, finite: false });
        }
        if a.dofs() == 0 {
            self.analysis = None;
            return Ok(());
        }
        self.analyse(a);
        let analysis = self.analysis.as_mut().expect("made by analyse");
        self.values.resize(analysis.matrix.row_idx().len(), 0.0);
        self.factor.resize(analysis.symbolic.len_val(), 0.0);
        analysis.fill(a, &mut self.values);
        let matrix = SparseColMatRef::new(analysis.matrix.as_ref(), &self.values);
        let stack = MemStack::new(&mut analysis.factor_memory);
        let (symbolic, params) = (&analysis.symbolic, Default::default());
        self.factorizations += 1;
        symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Lower,
                Default::default(),
                PARALLELISM,
                stack,
                params,
            )
            .map_err(|error| {
                let LltError::NonPositivePivot { index } = error;
                // faer 0.24 counts the pivots of its simplicial method from one, those of the supernodal from zero.
                let one_based = matches!(symbolic.raw(), SymbolicCholeskyRaw::Simplicial(_));
                NotPositiveDefinite { dof: analysis.order[index - usize::from(one_based)], finite: true }
            })?;
        self.factored = true;
        Ok(())
    }

    /// Cost of a factorisation of A: number of multiply–add operations, and number of stored entries. The previous factor
    /// is lost if A has new couplings.
    pub(crate) fn cost(&mut self, a: &BlockMatrix) -> [f64; 2] {
        if a.dofs() > 0 {
            self.analyse(a);
        }
        [self.flops_estimate(), self.nonzeros() as f64]
    }

    /// Runs the symbolic phase unless the present one covers A.
    fn analyse(&mut self, a: &BlockMatrix) {
        let known = self.analysis.as_ref().is_some_and(|analysis| {
            let same = Arc::ptr_eq(&analysis.base, a.pattern()) || analysis.base == *a.pattern();
            same && a.extra().keys().all(|&(i, j)| analysis.union.position(i as usize, j as usize).is_some())
        });
        if known {
            return;
        }
        let n = a.pattern().n() as u32;
        self.seen.retain(|c| c.0 < n);
        let before = self.seen.len();
        self.seen.extend(a.extra().keys());
        self.seen.sort_unstable_by_key(|&(i, j)| (j, i));
        self.seen.dedup();
        // Only if a coupling is new. The first analysis after a restart finds no new ones, and must keep the couplings of
        // the run that it repeats.
        if self.seen.len() > before && self.seen.len() > UNUSED_COUPLINGS * a.extra().len() {
            self.seen = a.extra().keys().copied().collect();
            self.seen.sort_unstable_by_key(|&(i, j)| (j, i));
        }
        let outside = |c: &(u32, u32)| a.pattern().position(c.0 as usize, c.1 as usize).is_none();
        let couplings: Vec<_> = self.seen.iter().copied().filter(outside).collect();
        // Release memory first. The memory of the values is allocated with the numeric phase.
        (self.analysis, self.values, self.factor) = (None, Vec::new(), Vec::new());
        (self.factored, self.single_precision, self.single) = (false, SinglePrecision::NotComputed, None);
        let analysis = SymbolicFactor::new(a.pattern(), &couplings, self.ordering);
        self.solve_memory = None;
        self.analysis = Some(analysis);
        self.analyses += 1;
    }

    /// x ← A⁻¹ x.
    ///
    /// # Panics
    /// If there is no factor, or the length is not that of the matrix.
    pub fn solve(&mut self, x: &mut [f64]) {
        self.solve_many(x, 1);
    }

    /// X ← A⁻¹ X for `columns` right-hand sides, one after the other in `x`. Ten cost about twice as much as one.
    ///
    /// # Panics
    /// If there is no factor, or the length is not that of the matrix times `columns`.
    pub fn solve_many(&mut self, x: &mut [f64], columns: usize) {
        if x.is_empty() {
            return;
        }
        let analysis = self.analysis.as_ref().filter(|_| self.factored).expect("solve needs a factorisation");
        let n = analysis.order.len();
        assert_eq!(x.len(), n * columns, "{columns} columns of {n} numbers are needed");
        if self.solve_memory.as_ref().is_none_or(|(most, _)| *most < columns) {
            let scratch = analysis.symbolic.solve_in_place_scratch::<f64>(columns, PARALLELISM);
            self.solve_memory = Some((columns, MemBuffer::new(scratch)));
        }
        let memory = &mut self.solve_memory.as_mut().expect("just made").1;
        LltRef::new(&analysis.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, columns),
            PARALLELISM,
            MemStack::new(memory),
        );
    }

    /// x ← B x with B ≈ A⁻¹, for a preconditioner that is applied many times. It uses a single-precision factor if that is
    /// accurate enough for this matrix.
    ///
    /// # Panics
    /// As [`solve`](Self::solve).
    pub fn precondition(&mut self, x: &mut [f64]) {
        if self.single_precision == SinglePrecision::NotComputed {
            self.single_precision = if self.compute_single_precision() {
                SinglePrecision::Accurate
            } else {
                SinglePrecision::Inaccurate
            };
        }
        match &mut self.single {
            Some(single) if self.single_precision == SinglePrecision::Accurate => single.solve(x),
            _ => self.solve(x),
        }
    }

    /// Computes the single-precision factor; returns whether it is accurate enough.
    fn compute_single_precision(&mut self) -> bool {
        let Some(analysis) = self.analysis.as_ref().filter(|_| self.factored) else { return false };
        let SymbolicCholeskyRaw::Supernodal(symbolic) = analysis.symbolic.raw() else { return false };
        let n = analysis.order.len();
        let single = self
            .single
            .get_or_insert_with(|| SinglePrecisionFactor::new(Subtrees::new(symbolic, &analysis.order)));
        if !single.set(&self.factor) {
            return false;
        }
        // A fixed right-hand side: a restarted run must make the same choice.
        let mut x: Vec<f64> = (0..n).map(|i| 1.0 + 0.5 * (i as f64).sin()).collect();
        let mut exact = x.clone();
        single.solve(&mut x);
        self.solve(&mut exact);
        let square = |sum: f64, x: f64| sum + x * x;
        let error = x.iter().zip(&exact).map(|(x, y)| x - y).fold(0.0, square);
        error <= SINGLE_PRECISION_ERROR * SINGLE_PRECISION_ERROR * exact.iter().copied().fold(0.0, square)
    }

    /// Number of symbolic phases so far.
    pub fn analyses(&self) -> usize {
        self.analyses
    }

    /// Number of numeric factorisations so far, failures included.
    pub fn factorizations(&self) -> usize {
        self.factorizations
    }

    /// Number of stored entries of the factor.
    pub fn nonzeros(&self) -> usize {
        self.analysis.as_ref().map_or(0, |analysis| analysis.symbolic.len_val())
    }

    /// Multiply–add operations of one factorisation: the sum of the squared column lengths.
    pub fn flops_estimate(&self) -> f64 {
        self.analysis.as_ref().map_or(0.0, |analysis| match analysis.symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(l) => {
                l.col_ptr().windows(2).map(|p| ((p[1] - p[0]) as f64).powi(2)).sum()
            }
            SymbolicCholeskyRaw::Supernodal(l) => (0..l.n_supernodes())
                .map(|s| {
                    let columns = l.supernode_end()[s] - l.supernode_begin()[s];
                    let below = l.col_ptr_for_row_idx()[s + 1] - l.col_ptr_for_row_idx()[s];
                    (1..=columns).map(|c| ((c + below) as f64).powi(2)).sum::<f64>()
                })
                .sum(),
        })
    }
}

/// The first dof whose column contains a number that is not finite.
pub(crate) fn first_non_finite(a: &BlockMatrix) -> Option<usize> {
    if a.is_finite() {
        return None;
    }
    let lower = a.to_scalar_lower_csc();
    let at = lower.values.iter().position(|v| !v.is_finite())?;
    Some(lower.col_ptr.partition_point(|&p| p <= at) - 1)
}
