//! A storage layout for the lower triangle of a block matrix, for repeated products and substitutions with SIMD.
//!
//! Blocks are stored by columns, one after the other. Vectors are stored as x, y, z, 0. One load of four numbers reads a
//! column of a block; the fourth number belongs to the next column and meets the padding zero. Numbers are stored in
//! double or single precision. Single precision halves the memory traffic.

use crate::precondition::incomplete::ordering::{Padded, TwoWayOrdering};
use lilyan_parallel::simd::{self, Kernel, Quads, fused};
use lilyan_parallel::threads;
use std::ops::Range;

/// Blocks in the order of their pattern, stored by columns for four-lane instructions.
#[derive(Default)]
pub(crate) struct SimdBlocks<T> {
    values: Vec<T>,
}

/// The storage precision of a number that is computed with as `f64`.
pub(crate) trait Stored: Copy + Into<f64> + Default {
    fn of(x: f64) -> Self;
}

impl Stored for f64 {
    fn of(x: f64) -> f64 {
        x
    }
}

impl Stored for f32 {
    fn of(x: f64) -> f32 {
        x as f32
    }
}

/// Blocks copied per task.
const COPIED: usize = 1 << 12;

impl<T: Stored + Send + Sync> SimdBlocks<T> {
    /// Copies row-major blocks.
    pub fn set(&mut self, blocks: &[[f64; 9]]) {
        // Three more numbers: the last column is read with four lanes.
        self.values.resize(9 * blocks.len() + 3, T::default());
        let values = &mut self.values[..9 * blocks.len()];
        threads::par_chunks_mut(values, 9 * COPIED, |chunk, values| {
            for (to, b) in values.as_chunks_mut::<9>().0.iter_mut().zip(&blocks[COPIED * chunk..]) {
                *to = [b[0], b[3], b[6], b[1], b[4], b[7], b[2], b[5], b[8]].map(T::of);
            }
        });
    }

    /// y ← A x. `sums` is work space.
    pub fn multiply(
        &self,
        parts: &TwoWayOrdering,
        x: &[Padded],
        y: &mut [Padded],
        sums: &mut Vec<Vec<Padded>>,
    ) {
        let (blocks, border) = (&self.values[..], parts.border());
        in_parts(parts, y, sums, |range, y, sums| {
            y.fill([0.0; 4]);
            simd::run(Multiply { blocks, parts, range, x, y, border: sums });
        });
        let y = &mut y[border.clone()];
        y.fill([0.0; 4]);
        add_all(sums, y);
        simd::run(Multiply { blocks, parts, range: border, x, y, border: &mut [] });
    }

    /// x ← (L D Lᵀ)⁻¹ x. The blocks are those of the unit lower triangular L; `inverse` is D⁻¹.
    pub fn substitute(
        &self,
        parts: &TwoWayOrdering,
        inverse: &[[f64; 9]],
        x: &mut [Padded],
        sums: &mut Vec<Vec<Padded>>,
    ) {
        let (blocks, border) = (&self.values[..], parts.border());
        in_parts(parts, x, sums, |range, x, sums| {
            simd::run(ForwardSubstitution { blocks, parts, range, x, border: sums })
        });
        let (inner, outer) = x.split_at_mut(border.start);
        add_all(sums, outer);
        simd::run(ForwardSubstitution { blocks, parts, range: border.clone(), x: outer, border: &mut [] });
        simd::run(BackwardSubstitution { blocks, parts, range: border, inverse, x: outer, border: &[] });
        in_parts(parts, inner, sums, |range, x, _| {
            simd::run(BackwardSubstitution { blocks, parts, range, inverse, x, border: outer });
        });
    }
}

/// Calls `f` for each part, with its piece of x and one sum per border node, which starts at 0.
fn in_parts(
    parts: &TwoWayOrdering,
    x: &mut [Padded],
    sums: &mut Vec<Vec<Padded>>,
    f: impl Fn(Range<usize>, &mut [Padded], &mut [Padded]) + Sync,
) {
    sums.resize_with(parts.ranges().len(), Vec::new);
    let pieces = parts.split(x, |range| range.len()).0;
    let mut work: Vec<_> = pieces.into_iter().zip(sums).collect();
    threads::par_chunks_mut(&mut work, 1, |k, work| {
        let (x, sums) = &mut work[0];
        sums.clear();
        sums.resize(parts.border().len(), [0.0; 4]);
        f(parts.ranges()[k].clone(), x, sums);
    });
}

/// Adds the sums of all parts to the border.
fn add_all(sums: &[Vec<Padded>], border: &mut [Padded]) {
    for sums in sums {
        for (to, sum) in border.iter_mut().zip(sums) {
            for c in 0..3 {
                to[c] += sum[c];
            }
        }
    }
}

/// The columns of block number `p`, each with the number that follows it.
#[inline(always)]
fn columns<T: Stored>(blocks: &[T], p: usize) -> [Padded; 3] {
    let block: &[T; 12] = blocks[9 * p..].first_chunk().expect("three numbers follow the last block");
    let column = |c: usize| [block[c], block[c + 1], block[c + 2], block[c + 3]].map(Into::into);
    [column(0), column(3), column(6)]
}

/// y + s B x.
#[inline(always)]
fn add_product<M: Quads>(b: &[Padded; 3], s: f64, x: &Padded, mut y: Padded) -> Padded {
    for c in 0..3 {
        let x = s * x[c];
        for k in 0..4 {
            y[k] = fused::<M>(b[c][k], x, y[k]);
        }
    }
    y
}

/// Adds the products of Bᵀx lane by lane. The lanes are summed after the last block.
#[inline(always)]
fn gather<M: Quads>(b: &[Padded; 3], x: &Padded, sums: &mut [Padded; 3]) {
    for c in 0..3 {
        for k in 0..4 {
            sums[c][k] = fused::<M>(b[c][k], x[k], sums[c][k]);
        }
    }
}

/// y ← y + A x for the columns of a part. Rows of the border are added to `border`.
struct Multiply<'a, T> {
    blocks: &'a [T],
    parts: &'a TwoWayOrdering,
    range: Range<usize>,
    x: &'a [Padded],
    y: &'a mut [Padded],
    border: &'a mut [Padded],
}

impl<T: Stored> Kernel for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        let Self { blocks, parts, range, x, y, border } = self;
        let (start, border_start) = (range.start, parts.border().start);
        for j in range {
            let [(first, own), (second, outer)] = parts.column(j);
            let xj = x[j];
            let mut sums = [[0.0; 4]; 3];
            for (k, &i) in own.iter().enumerate() {
                let (i, b) = (i as usize, columns(blocks, first + k));
                y[i - start] = add_product::<M>(&b, 1.0, &xj, y[i - start]);
                gather::<M>(&b, &x[i], &mut sums);
            }
            for (k, &i) in outer.iter().enumerate() {
                let (i, b) = (i as usize, columns(blocks, second + k));
                border[i - border_start] = add_product::<M>(&b, 1.0, &xj, border[i - border_start]);
                gather::<M>(&b, &x[i], &mut sums);
            }
            let mut yj = add_product::<M>(&columns(blocks, first - 1), 1.0, &xj, y[j - start]);
            for c in 0..3 {
                yj[c] += sums[c][0] + sums[c][1] + sums[c][2];
            }
            yj[3] = 0.0;
            y[j - start] = yj;
        }
    }
}

/// x ← L⁻¹ x in a part. Contributions to the border are added to `border`.
struct ForwardSubstitution<'a, T> {
    blocks: &'a [T],
    parts: &'a TwoWayOrdering,
    range: Range<usize>,
    x: &'a mut [Padded],
    border: &'a mut [Padded],
}

impl<T: Stored> Kernel for ForwardSubstitution<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        let Self { blocks, parts, range, x, border } = self;
        let (start, border_start) = (range.start, parts.border().start);
        for j in range {
            let [(first, own), (second, outer)] = parts.column(j);
            let xj = x[j - start];
            for (k, &i) in own.iter().enumerate() {
                let i = i as usize - start;
                x[i] = add_product::<M>(&columns(blocks, first + k), -1.0, &xj, x[i]);
            }
            for (k, &i) in outer.iter().enumerate() {
                let i = i as usize - border_start;
                border[i] = add_product::<M>(&columns(blocks, second + k), -1.0, &xj, border[i]);
            }
        }
    }
}

/// x ← L⁻ᵀ D⁻¹ x in a part, after the border is solved for.
struct BackwardSubstitution<'a, T> {
    blocks: &'a [T],
    parts: &'a TwoWayOrdering,
    range: Range<usize>,
    inverse: &'a [[f64; 9]],
    x: &'a mut [Padded],
    border: &'a [Padded],
}

impl<T: Stored> Kernel for BackwardSubstitution<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        let Self { blocks, parts, range, inverse, x, border } = self;
        let (start, border_start) = (range.start, parts.border().start);
        for j in range.rev() {
            let [(first, own), (second, outer)] = parts.column(j);
            let mut sums = [[0.0; 4]; 3];
            for (k, &i) in own.iter().enumerate() {
                gather::<M>(&columns(blocks, first + k), &x[i as usize - start], &mut sums);
            }
            for (k, &i) in outer.iter().enumerate() {
                gather::<M>(&columns(blocks, second + k), &border[i as usize - border_start], &mut sums);
            }
            let (d, xj) = (&inverse[j], x[j - start]);
            let mut out = [0.0; 4];
            for c in 0..3 {
                let below = sums[c][0] + sums[c][1] + sums[c][2];
                out[c] = d[3 * c] * xj[0] + d[3 * c + 1] * xj[1] + d[3 * c + 2] * xj[2] - below;
            }
            x[j - start] = out;
        }
    }
}
