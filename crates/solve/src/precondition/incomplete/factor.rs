//! The numeric phase of the modified incomplete Cholesky factorisation L D Lᵀ, column by column.
//!
//! Fill outside the pattern is dropped, and nine tenths of it are subtracted from the diagonal \[axelsson1986\]. L D Lᵀ
//! then gives rigid translations nearly the same energy as A does, which halves the number of iterations. In stiff
//! bodies this compensation can make a pivot indefinite; the factorisation then starts again without it. A pivot that is
//! lost even so is replaced by the diagonal block of A, or by a multiple of the identity if that block is not positive
//! definite. L D Lᵀ is therefore always positive definite.

use crate::matrix::pattern::BlockPattern;
use crate::precondition::incomplete::ordering::TwoWayOrdering;
use lilyan_parallel::threads;
use std::ops::Range;

/// The part of the dropped fill that is subtracted from the diagonal.
const COMPENSATED: f64 = 0.9;
/// A pivot block is lost if its leading minors are below this part of those of the diagonal of A.
const MIN_PIVOT: f64 = 1e-6;

/// Positions of the blocks (i, j) and (k, j), and of the block (i, k) that their product updates, or [`DROPPED`].
type Update = [u32; 3];
const DROPPED: u32 = u32::MAX;

/// The numeric phase of a modified incomplete Cholesky factorisation.
#[derive(Default)]
pub(crate) struct IncompleteElimination {
    /// The updates by the first column, then by the second, and so on.
    updates: Vec<Update>,
    update_ptr: Vec<usize>,
    /// L, with D⁻¹ on the diagonal.
    values: Vec<[f64; 9]>,
    /// For each part: its contributions to the blocks of the border, and whether no pivot was lost.
    border_updates: Vec<(Vec<[f64; 9]>, bool)>,
}

impl IncompleteElimination {
    /// The symbolic phase for a pattern.
    pub fn new(pattern: &BlockPattern) -> Self {
        let (mut updates, mut update_ptr) = (Vec::new(), vec![0]);
        for j in 0..pattern.n() {
            let first = pattern.diagonal_position(j);
            let below = &pattern.column(j)[1..];
            for (b, &k) in below.iter().enumerate() {
                // Both lists ascend; (k, k) is the first of its column.
                let target = pattern.column(k as usize);
                let start = pattern.diagonal_position(k as usize);
                let mut t = 0;
                for (a, &i) in below.iter().enumerate().skip(b) {
                    while t < target.len() && target[t] < i {
                        t += 1;
                    }
                    let stored = target.get(t) == Some(&i);
                    let to = if stored { (start + t) as u32 } else { DROPPED };
                    updates.push([(first + 1 + a) as u32, (first + 1 + b) as u32, to]);
                }
            }
            update_ptr.push(updates.len());
        }
        Self { updates, update_ptr, ..Self::default() }
    }

    /// Factorises A, given by its permuted blocks.
    pub fn eliminate(&mut self, parts: &TwoWayOrdering, blocks: &[[f64; 9]]) -> &[[f64; 9]] {
        if !self.attempt(parts, blocks, COMPENSATED) {
            self.attempt(parts, blocks, 0.0);
        }
        &self.values
    }

    /// Factorises with a given compensation. Returns whether no pivot was lost.
    fn attempt(&mut self, parts: &TwoWayOrdering, blocks: &[[f64; 9]], compensated: f64) -> bool {
        let Self { updates, update_ptr, values, border_updates } = self;
        values.clear();
        values.extend_from_slice(blocks);
        let pattern = parts.pattern();
        let at = |node: usize| pattern.col_ptr()[node];
        let border = at(parts.border().start);
        let columns = ColumnElimination { pattern, blocks, updates, update_ptr, border, compensated };
        let (inner, last) = parts.split(values, |nodes| at(nodes.end) - at(nodes.start));
        border_updates.resize_with(inner.len(), Default::default);
        let mut work: Vec<_> = inner.into_iter().zip(border_updates.iter_mut()).collect();
        threads::par_chunks_mut(&mut work, 1, |k, work| {
            let (values, (update, good)) = &mut work[0];
            update.clear();
            update.resize(pattern.len() - border, [0.0; 9]);
            *good = columns.eliminate(parts.ranges()[k].clone(), values, update);
        });
        for (update, _) in &*border_updates {
            for (value, update) in last.as_flattened_mut().iter_mut().zip(update.as_flattened()) {
                *value += update;
            }
        }
        border_updates.iter().all(|(_, good)| *good) && columns.eliminate(parts.border(), last, &mut [])
    }
}

/// The data that all parts share during the elimination.
struct ColumnElimination<'a> {
    pattern: &'a BlockPattern,
    blocks: &'a [[f64; 9]],
    updates: &'a [Update],
    update_ptr: &'a [usize],
    /// The first block of the border.
    border: usize,
    compensated: f64,
}

impl ColumnElimination<'_> {
    /// Eliminates a range of nodes. `values` are their columns; updates of the border are added to `border`. Returns whether
    /// no pivot was lost. With compensation it stops at the first lost pivot.
    fn eliminate(&self, nodes: Range<usize>, values: &mut [[f64; 9]], border: &mut [[f64; 9]]) -> bool {
        let start = self.pattern.col_ptr()[nodes.start];
        let compensating = self.compensated > 0.0;
        let mut good = true;
        for j in nodes {
            let first = self.pattern.diagonal_position(j);
            let below = first + 1 - start..first + self.pattern.column(j).len() - start;
            let diagonal = &self.blocks[first];
            let mut pivot = inverse(&values[first - start], diagonal);
            if pivot.is_none() {
                if compensating {
                    return false;
                }
                good = false;
                pivot = inverse(diagonal, diagonal);
            }
            let Some(pivot) = pivot else {
                // The node is decoupled: its contributions to others could grow without bound.
                let size = diagonal[0].abs() + diagonal[4].abs() + diagonal[8].abs();
                let d = if size > 0.0 { 1.0 / size } else { 1.0 };
                values[first - start] = [d, 0.0, 0.0, 0.0, d, 0.0, 0.0, 0.0, d];
                values[below].fill([0.0; 9]);
                continue;
            };
            values[first - start] = pivot;
            // (i, k) −= (i, j) D⁻¹ (k, j)ᵀ, while the column is still L D.
            let mut scaled = (DROPPED, [0.0; 9]);
            for &[ij, kj, ik] in &self.updates[self.update_ptr[j]..self.update_ptr[j + 1]] {
                if ik == DROPPED && !compensating {
                    continue;
                }
                if scaled.0 != kj {
                    scaled = (kj, product(&values[kj as usize - start], &pivot));
                }
                let left = values[ij as usize - start];
                if ik != DROPPED {
                    let to = self.place(ik as usize, start, values, border);
                    subtract_product_transposed(to, &left, &scaled.1);
                    continue;
                }
                let mut dropped = [0.0; 9];
                subtract_product_transposed(&mut dropped, &left, &scaled.1);
                let half = dropped.map(|x| 0.5 * self.compensated * x);
                for row in [ij, kj].map(|p| self.pattern.rows()[p as usize]) {
                    let at = self.pattern.diagonal_position(row as usize);
                    for (e, to) in self.place(at, start, values, border).iter_mut().enumerate() {
                        *to += half[e] + half[3 * (e % 3) + e / 3];
                    }
                }
            }
            for block in &mut values[below] {
                *block = product(block, &pivot);
            }
        }
        good
    }

    /// Block number `at`: in `values`, which begin with number `start`, or else in the border.
    #[inline(always)]
    fn place<'a>(
        &self,
        at: usize,
        start: usize,
        values: &'a mut [[f64; 9]],
        border: &'a mut [[f64; 9]],
    ) -> &'a mut [f64; 9] {
        if at - start < values.len() { &mut values[at - start] } else { &mut border[at - self.border] }
    }
}

/// The inverse of a symmetric positive definite block whose minors are not much smaller than those of `reference`.
fn inverse(a: &[f64; 9], reference: &[f64; 9]) -> Option<[f64; 9]> {
    let [c00, c01, c02] = [a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6]];
    let minor = a[0] * a[4] - a[1] * a[3];
    let det = a[0] * c00 + a[1] * c01 + a[2] * c02;
    let least = MIN_PIVOT * reference[0];
    if !(a[0] > least && minor > least * reference[4] && det > least * reference[4] * reference[8]) {
        return None;
    }
    let s = 1.0 / det;
    let (b01, b02) = (s * (a[2] * a[7] - a[1] * a[8]), s * (a[1] * a[5] - a[2] * a[4]));
    let b12 = s * (a[2] * a[3] - a[0] * a[5]);
    Some([s * c00, b01, b02, b01, s * (a[0] * a[8] - a[2] * a[6]), b12, b02, b12, s * minor])
}

#[inline(always)]
fn product(a: &[f64; 9], b: &[f64; 9]) -> [f64; 9] {
    std::array::from_fn(|e| {
        let (r, c) = (e / 3, e % 3);
        a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c]
    })
}

/// t ← t − a bᵀ.
#[inline(always)]
fn subtract_product_transposed(t: &mut [f64; 9], a: &[f64; 9], b: &[f64; 9]) {
    for r in 0..3 {
        for c in 0..3 {
            t[3 * r + c] -= a[3 * r] * b[3 * c] + a[3 * r + 1] * b[3 * c + 1] + a[3 * r + 2] * b[3 * c + 2];
        }
    }
}
