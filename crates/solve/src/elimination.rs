//! The elimination that makes an incomplete factor L D Lᵀ, column by column.
//!
//! What would fill places outside the pattern is dropped, and nine tenths of it are taken from the diagonal instead
//! \[axelsson1986\]: then moving all nodes together costs L D Lᵀ nearly what it costs A, and half of the iterations are
//! saved. Should that lose a pivot, as it does in stiff bodies, elimination begins anew and only drops.
//! A pivot that is lost even so is replaced by the block of A itself, or, if that will not do either,
//! by a number: L D Lᵀ is positive definite whatever happens.

use crate::parts::Parts;
use crate::pattern::BlockPattern;
use crate::threads;
use std::ops::Range;

/// What is taken from the diagonal of that which is dropped.
const COMPENSATED: f64 = 0.9;
/// A pivot is lost if its size, as a determinant, is less than this part of that of A's own block.
const LOST: f64 = 1e-6;

/// Blocks (i, j) and (k, j), and the place of (i, k) that their product changes, or [`DROPPED`].
type Update = [u32; 3];
const DROPPED: u32 = u32::MAX;

/// See the module.
#[derive(Default)]
pub(crate) struct Elimination {
    /// Those of each column, one after the other.
    updates: Vec<Update>,
    update_ptr: Vec<usize>,
    /// L, with D⁻¹ on the diagonal.
    values: Vec<[f64; 9]>,
    /// What the parts take from the blocks of the border, and whether no pivot was lost.
    taken: Vec<(Vec<[f64; 9]>, bool)>,
}

impl Elimination {
    /// For matrices of a pattern.
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
                    let kept = target.get(t) == Some(&i);
                    let to = if kept { (start + t) as u32 } else { DROPPED };
                    updates.push([(first + 1 + a) as u32, (first + 1 + b) as u32, to]);
                }
            }
            update_ptr.push(updates.len());
        }
        Self { updates, update_ptr, ..Self::default() }
    }

    /// Eliminates, given the blocks of A in the order of the parts.
    pub fn eliminate(&mut self, parts: &Parts, blocks: &[[f64; 9]]) -> &[[f64; 9]] {
        if !self.attempt(parts, blocks, COMPENSATED) {
            self.attempt(parts, blocks, 0.0);
        }
        &self.values
    }

    /// Eliminates; whether no pivot was lost.
    fn attempt(&mut self, parts: &Parts, blocks: &[[f64; 9]], compensated: f64) -> bool {
        let Self { updates, update_ptr, values, taken } = self;
        values.clear();
        values.extend_from_slice(blocks);
        let pattern = parts.pattern();
        let at = |node: usize| pattern.col_ptr()[node];
        let border = at(parts.border().start);
        let columns = Columns { pattern, blocks, updates, update_ptr, border, compensated };
        let (own, last) = parts.split(values, |nodes| at(nodes.end) - at(nodes.start));
        taken.resize_with(own.len(), Default::default);
        let mut work: Vec<_> = own.into_iter().zip(taken.iter_mut()).collect();
        threads::par_chunks_mut(&mut work, 1, |k, work| {
            let (values, (taken, good)) = &mut work[0];
            taken.clear();
            taken.resize(pattern.len() - border, [0.0; 9]);
            *good = columns.eliminate(parts.ranges()[k].clone(), values, taken);
        });
        for (taken, _) in &*taken {
            for (value, taken) in last.as_flattened_mut().iter_mut().zip(taken.as_flattened()) {
                *value += taken;
            }
        }
        taken.iter().all(|(_, good)| *good) && columns.eliminate(parts.border(), last, &mut [])
    }
}

/// What all parts share while they are eliminated.
struct Columns<'a> {
    pattern: &'a BlockPattern,
    blocks: &'a [[f64; 9]],
    updates: &'a [Update],
    update_ptr: &'a [usize],
    /// The first block of the border.
    border: usize,
    compensated: f64,
}

impl Columns<'_> {
    /// Eliminates some nodes, whose columns these are; what they take from the border is added up there. Whether no pivot was
    /// lost: if one is, and something may be compensated, the rest is not done.
    fn eliminate(&self, nodes: Range<usize>, values: &mut [[f64; 9]], taken: &mut [[f64; 9]]) -> bool {
        let start = self.pattern.col_ptr()[nodes.start];
        let compensating = self.compensated > 0.0;
        let mut good = true;
        for j in nodes {
            let first = self.pattern.diagonal_position(j);
            let below = first + 1 - start..first + self.pattern.column(j).len() - start;
            let own = &self.blocks[first];
            let mut pivot = inverse(&values[first - start], own);
            if pivot.is_none() {
                if compensating {
                    return false;
                }
                good = false;
                pivot = inverse(own, own);
            }
            let Some(pivot) = pivot else {
                // Left to itself: what it would take from others may grow without bounds.
                let size = own[0].abs() + own[4].abs() + own[8].abs();
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
                    let to = self.place(ik as usize, start, values, taken);
                    subtract_product_transposed(to, &left, &scaled.1);
                    continue;
                }
                let mut dropped = [0.0; 9];
                subtract_product_transposed(&mut dropped, &left, &scaled.1);
                let half = dropped.map(|x| 0.5 * self.compensated * x);
                for row in [ij, kj].map(|p| self.pattern.rows()[p as usize]) {
                    let at = self.pattern.diagonal_position(row as usize);
                    for (e, to) in self.place(at, start, values, taken).iter_mut().enumerate() {
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

    /// Block number `at`, which is in the border if it is not among the values that begin with number `start`.
    #[inline(always)]
    fn place<'a>(
        &self,
        at: usize,
        start: usize,
        values: &'a mut [[f64; 9]],
        taken: &'a mut [[f64; 9]],
    ) -> &'a mut [f64; 9] {
        if at - start < values.len() { &mut values[at - start] } else { &mut taken[at - self.border] }
    }
}

/// The inverse of a symmetric positive definite block that is not much smaller than another one.
fn inverse(a: &[f64; 9], than: &[f64; 9]) -> Option<[f64; 9]> {
    let [c00, c01, c02] = [a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6]];
    let minor = a[0] * a[4] - a[1] * a[3];
    let det = a[0] * c00 + a[1] * c01 + a[2] * c02;
    let least = LOST * than[0];
    if !(a[0] > least && minor > least * than[4] && det > least * than[4] * than[8]) {
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
