//! Sparse Cholesky factorisation A = L Lᵀ with an analysis that is made once per pattern.
//!
//! faer's supernodal kernels (measured as fast as PARDISO) behind an order of our own. The numbers are
//! factorised in place: after the first factorisation of a pattern no memory is asked for. faer's kernels give the
//! same bits sequentially and with rayon; the sequential ones are used, since two threads gained little.

use crate::analysis::{Analysis, PARALLELISM};
use crate::block::BlockMatrix;
use crate::ordering::Ordering;
use crate::rough::Rough;
use crate::subtrees::Subtrees;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltError;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::cholesky::{LltRef, SymbolicCholeskyRaw};
use faer::{Conj, MatMut, Side};
use std::fmt;
use std::sync::Arc;

/// Couplings that were seen once are forgotten when there are more than this many times those in use: a body that
/// slides over another would otherwise fill the factor with every contact it ever had.
const FORGET: usize = 4;

/// A matrix that has no Cholesky factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotPositiveDefinite {
    /// The degree of freedom (3 · node + axis) at which it showed.
    pub dof: usize,
    /// Whether the matrix itself was finite; if not, `dof` is one whose column holds an infinity or a NaN.
    pub finite: bool,
}

impl fmt::Display for NotPositiveDefinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, axis) = (self.dof / 3, ["x", "y", "z"][self.dof % 3]);
        if self.finite {
            write!(f, "the matrix is not positive definite: no positive pivot at node {node}, {axis}")
        } else {
            write!(f, "the matrix is not finite: see node {node}, {axis}")
        }
    }
}

impl std::error::Error for NotPositiveDefinite {}

/// A Cholesky factorisation that can be renewed in place.
///
/// Couplings outside the pattern (contact) are made part of the analysis when they first appear and stay part of it,
/// so that a contact that flickers is analysed once; when a new one finds more than four times as many as are in use,
/// the unused ones are forgotten. What has been seen can be asked for and given to a new
/// factorisation ([`couplings`](Self::couplings), [`with_couplings`](Self::with_couplings)): the order of
/// elimination, and with it the last bits of a solution, depend on it, and a restart must repeat them.
#[derive(Default)]
pub struct Cholesky {
    ordering: Ordering,
    seen: Vec<(u32, u32)>,
    analysis: Option<Analysis>,
    values: Vec<f64>,
    factor: Vec<f64>,
    factored: bool,
    solve_memory: Option<(usize, MemBuffer)>,
    rough: Option<Rough>,
    roughly: Roughly,
    analyses: usize,
    factorizations: usize,
}

/// What is known of the factor in single precision.
#[derive(Clone, Copy, Default, PartialEq)]
enum Roughly {
    /// It was not made.
    #[default]
    Unmade,
    /// It is as good as the other, for a preconditioner.
    Good,
    /// It is not.
    Bad,
}

/// By how much, relative to the solution, a factor in single precision may be wrong.
const ROUGH: f64 = 0.01;

impl Cholesky {
    /// Nothing analysed, nothing factorised.
    pub fn new() -> Cholesky {
        Cholesky::default()
    }

    /// As [`new`](Self::new), with a choice of elimination order.
    pub fn with_ordering(ordering: Ordering) -> Cholesky {
        Cholesky { ordering, ..Cholesky::default() }
    }

    /// As [`new`](Self::new), with couplings (i, j) to be part of every analysis from the first.
    pub fn with_couplings(couplings: &[(u32, u32)]) -> Cholesky {
        let mut seen: Vec<_> =
            couplings.iter().map(|&(i, j)| (i.max(j), i.min(j))).filter(|c| c.0 != c.1).collect();
        seen.sort_unstable_by_key(|&(i, j)| (j, i));
        seen.dedup();
        Cholesky { seen, ..Cholesky::default() }
    }

    /// The couplings (i, j), i > j, outside the pattern that have been seen and not forgotten.
    pub fn couplings(&self) -> &[(u32, u32)] {
        &self.seen
    }

    /// Factorises A. On an error the factor of before is lost.
    pub fn factor(&mut self, a: &BlockMatrix) -> Result<(), NotPositiveDefinite> {
        (self.factored, self.roughly) = (false, Roughly::Unmade);
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

    /// What a factorisation of A would cost and take: multiplications and additions, and numbers stored. The factor of
    /// before is lost if A has couplings that are new.
    pub(crate) fn cost(&mut self, a: &BlockMatrix) -> [f64; 2] {
        if a.dofs() > 0 {
            self.analyse(a);
        }
        [self.flops_estimate(), self.nonzeros() as f64]
    }

    /// Makes sure that the analysis covers A.
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
        // Only when something new appears: a restart, whose first analysis finds nothing new, must keep what
        // the run it repeats has kept.
        if self.seen.len() > before && self.seen.len() > FORGET * a.extra().len() {
            self.seen = a.extra().keys().copied().collect();
            self.seen.sort_unstable_by_key(|&(i, j)| (j, i));
        }
        let outside = |c: &(u32, u32)| a.pattern().position(c.0 as usize, c.1 as usize).is_none();
        let couplings: Vec<_> = self.seen.iter().copied().filter(outside).collect();
        // Their memory first. That of numbers is asked for when there are some.
        (self.analysis, self.values, self.factor) = (None, Vec::new(), Vec::new());
        (self.factored, self.roughly, self.rough) = (false, Roughly::Unmade, None);
        let analysis = Analysis::new(a.pattern(), &couplings, self.ordering);
        self.solve_memory = None;
        self.analysis = Some(analysis);
        self.analyses += 1;
    }

    /// x ← A⁻¹ x.
    ///
    /// # Panics
    /// If nothing is factorised, or the length is not that of the matrix.
    pub fn solve(&mut self, x: &mut [f64]) {
        self.solve_many(x, 1);
    }

    /// X ← A⁻¹ X for so many columns, one after the other in `x`. Ten cost about twice one.
    ///
    /// # Panics
    /// If nothing is factorised, or the length is not that of the matrix times `columns`.
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

    /// x ← about A⁻¹ x, for a preconditioner that is used again and again: by a factor in single precision, unless the matrix asks
    /// for more.
    ///
    /// # Panics
    /// As [`solve`](Self::solve).
    pub fn precondition(&mut self, x: &mut [f64]) {
        if self.roughly == Roughly::Unmade {
            self.roughly = if self.make_rough() { Roughly::Good } else { Roughly::Bad };
        }
        match &mut self.rough {
            Some(rough) if self.roughly == Roughly::Good => rough.solve(x),
            _ => self.solve(x),
        }
    }

    /// The factor in single precision; whether it is good enough.
    fn make_rough(&mut self) -> bool {
        let Some(analysis) = self.analysis.as_ref().filter(|_| self.factored) else { return false };
        let SymbolicCholeskyRaw::Supernodal(symbolic) = analysis.symbolic.raw() else { return false };
        let n = analysis.order.len();
        let rough = self.rough.get_or_insert_with(|| Rough::new(Subtrees::new(symbolic, &analysis.order)));
        if !rough.set(&self.factor) {
            return false;
        }
        // Always the same, whatever is solved for first: a run that is taken up again must choose alike.
        let mut x: Vec<f64> = (0..n).map(|i| 1.0 + 0.5 * (i as f64).sin()).collect();
        let mut exact = x.clone();
        rough.solve(&mut x);
        self.solve(&mut exact);
        let square = |sum: f64, x: f64| sum + x * x;
        let wrong = x.iter().zip(&exact).map(|(x, y)| x - y).fold(0.0, square);
        wrong <= ROUGH * ROUGH * exact.iter().copied().fold(0.0, square)
    }

    /// How often a pattern was analysed.
    pub fn analyses(&self) -> usize {
        self.analyses
    }

    /// How often numbers were factorised, failures included.
    pub fn factorizations(&self) -> usize {
        self.factorizations
    }

    /// Numbers stored for the factor.
    pub fn nonzeros(&self) -> usize {
        self.analysis.as_ref().map_or(0, |analysis| analysis.symbolic.len_val())
    }

    /// Multiplications and additions of one factorisation: Σ over columns of (their length)².
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

/// A dof whose column holds a number that is not finite.
pub(crate) fn first_non_finite(a: &BlockMatrix) -> Option<usize> {
    if a.is_finite() {
        return None;
    }
    let lower = a.to_scalar_lower_csc();
    let at = lower.values.iter().position(|v| !v.is_finite())?;
    Some(lower.col_ptr.partition_point(|&p| p <= at) - 1)
}
