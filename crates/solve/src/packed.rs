//! The lower triangle of a block matrix, laid out for products and substitutions that are done many times.
//!
//! Blocks are stored by columns, one after the other, and vectors as x, y, z and 0: a column of a
//! block is then one load of four numbers, the last of which belongs to the next column, and a product with it one fused
//! instruction. In the precision that is asked for: single precision halves what has to be read.

use crate::parts::Parts;
use crate::threads;
use crate::versions::{Loop, dispatch, fused};
use std::ops::Range;

/// A vector of a node, as x, y, z and 0.
pub(crate) type Padded = [f64; 4];

/// Blocks in the order of their pattern; see the module.
#[derive(Default)]
pub(crate) struct Packed<T> {
    values: Vec<T>,
}

/// A number that is read as `f64`.
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

/// Blocks that are copied by one task.
const COPIED: usize = 1 << 12;

impl<T: Stored + Send + Sync> Packed<T> {
    /// Copies row-major blocks.
    pub fn set(&mut self, blocks: &[[f64; 9]]) {
        // What the last column is read with follows.
        self.values.resize(9 * blocks.len() + 3, T::default());
        let values = &mut self.values[..9 * blocks.len()];
        threads::par_chunks_mut(values, 9 * COPIED, |chunk, values| {
            for (to, b) in values.as_chunks_mut::<9>().0.iter_mut().zip(&blocks[COPIED * chunk..]) {
                *to = [b[0], b[3], b[6], b[1], b[4], b[7], b[2], b[5], b[8]].map(T::of);
            }
        });
    }

    /// y ← A x; `sums` are what it works in.
    pub fn multiply(&self, parts: &Parts, x: &[Padded], y: &mut [Padded], sums: &mut Vec<Vec<Padded>>) {
        let (blocks, border) = (&self.values[..], parts.border());
        in_parts(parts, y, sums, |range, y, sums| {
            y.fill([0.0; 4]);
            dispatch(Multiply { blocks, parts, range, x, y, border: sums });
        });
        let y = &mut y[border.clone()];
        y.fill([0.0; 4]);
        add_all(sums, y);
        dispatch(Multiply { blocks, parts, range: border, x, y, border: &mut [] });
    }

    /// x ← (L D Lᵀ)⁻¹ x, with L below the diagonal, 1 on it, and D⁻¹ by itself.
    pub fn substitute(
        &self,
        parts: &Parts,
        inverse: &[[f64; 9]],
        x: &mut [Padded],
        sums: &mut Vec<Vec<Padded>>,
    ) {
        let (blocks, border) = (&self.values[..], parts.border());
        in_parts(parts, x, sums, |range, x, sums| {
            dispatch(Forward { blocks, parts, range, x, border: sums })
        });
        let (inner, outer) = x.split_at_mut(border.start);
        add_all(sums, outer);
        dispatch(Forward { blocks, parts, range: border.clone(), x: outer, border: &mut [] });
        dispatch(Backward { blocks, parts, range: border, inverse, x: outer, border: &[] });
        in_parts(parts, inner, sums, |range, x, _| {
            dispatch(Backward { blocks, parts, range, inverse, x, border: outer });
        });
    }
}

/// Calls `f` for each part, with what belongs to it and a sum for every node of the border, 0 at first.
fn in_parts(
    parts: &Parts,
    x: &mut [Padded],
    sums: &mut Vec<Vec<Padded>>,
    f: impl Fn(Range<usize>, &mut [Padded], &mut [Padded]) + Sync,
) {
    sums.resize_with(parts.ranges().len(), Vec::new);
    let own = parts.split(x, |range| range.len()).0;
    let mut work: Vec<_> = own.into_iter().zip(sums).collect();
    threads::par_chunks_mut(&mut work, 1, |k, work| {
        let (x, sums) = &mut work[0];
        sums.clear();
        sums.resize(parts.border().len(), [0.0; 4]);
        f(parts.ranges()[k].clone(), x, sums);
    });
}

/// Adds what the parts have summed up for the border.
fn add_all(sums: &[Vec<Padded>], border: &mut [Padded]) {
    for sums in sums {
        for (to, sum) in border.iter_mut().zip(sums) {
            for c in 0..3 {
                to[c] += sum[c];
            }
        }
    }
}

/// The columns of block number `p`, with what follows them.
#[inline(always)]
fn columns<T: Stored>(blocks: &[T], p: usize) -> [Padded; 3] {
    let block: &[T; 12] = blocks[9 * p..].first_chunk().expect("the last is followed by three more");
    let column = |c: usize| [block[c], block[c + 1], block[c + 2], block[c + 3]].map(Into::into);
    [column(0), column(3), column(6)]
}

/// y + s B x.
#[inline(always)]
fn add_product<const FUSED: bool>(b: &[Padded; 3], s: f64, x: &Padded, mut y: Padded) -> Padded {
    for c in 0..3 {
        let x = s * x[c];
        for k in 0..4 {
            y[k] = fused::<FUSED>(b[c][k], x, y[k]);
        }
    }
    y
}

/// Adds the terms of Bᵀx, to be summed up when all blocks are done.
#[inline(always)]
fn gather<const FUSED: bool>(b: &[Padded; 3], x: &Padded, sums: &mut [Padded; 3]) {
    for c in 0..3 {
        for k in 0..4 {
            sums[c][k] = fused::<FUSED>(b[c][k], x[k], sums[c][k]);
        }
    }
}

/// Adds the products of the columns of a part with x to y and, in the rows of the border, to that.
struct Multiply<'a, T> {
    blocks: &'a [T],
    parts: &'a Parts,
    range: Range<usize>,
    x: &'a [Padded],
    y: &'a mut [Padded],
    border: &'a mut [Padded],
}

impl<T: Stored> Loop for Multiply<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { blocks, parts, range, x, y, border } = self;
        let (start, behind) = (range.start, parts.border().start);
        for j in range {
            let [(first, own), (second, outer)] = parts.column(j);
            let xj = x[j];
            let mut sums = [[0.0; 4]; 3];
            for (k, &i) in own.iter().enumerate() {
                let (i, b) = (i as usize, columns(blocks, first + k));
                y[i - start] = add_product::<FUSED>(&b, 1.0, &xj, y[i - start]);
                gather::<FUSED>(&b, &x[i], &mut sums);
            }
            for (k, &i) in outer.iter().enumerate() {
                let (i, b) = (i as usize, columns(blocks, second + k));
                border[i - behind] = add_product::<FUSED>(&b, 1.0, &xj, border[i - behind]);
                gather::<FUSED>(&b, &x[i], &mut sums);
            }
            let mut yj = add_product::<FUSED>(&columns(blocks, first - 1), 1.0, &xj, y[j - start]);
            for c in 0..3 {
                yj[c] += sums[c][0] + sums[c][1] + sums[c][2];
            }
            yj[3] = 0.0;
            y[j - start] = yj;
        }
    }
}

/// x ← L⁻¹ x in a part; what it takes from the border is added up there.
struct Forward<'a, T> {
    blocks: &'a [T],
    parts: &'a Parts,
    range: Range<usize>,
    x: &'a mut [Padded],
    border: &'a mut [Padded],
}

impl<T: Stored> Loop for Forward<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { blocks, parts, range, x, border } = self;
        let (start, behind) = (range.start, parts.border().start);
        for j in range {
            let [(first, own), (second, outer)] = parts.column(j);
            let xj = x[j - start];
            for (k, &i) in own.iter().enumerate() {
                let i = i as usize - start;
                x[i] = add_product::<FUSED>(&columns(blocks, first + k), -1.0, &xj, x[i]);
            }
            for (k, &i) in outer.iter().enumerate() {
                let i = i as usize - behind;
                border[i] = add_product::<FUSED>(&columns(blocks, second + k), -1.0, &xj, border[i]);
            }
        }
    }
}

/// x ← L⁻ᵀ D⁻¹ x in a part, when the border is done.
struct Backward<'a, T> {
    blocks: &'a [T],
    parts: &'a Parts,
    range: Range<usize>,
    inverse: &'a [[f64; 9]],
    x: &'a mut [Padded],
    border: &'a [Padded],
}

impl<T: Stored> Loop for Backward<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { blocks, parts, range, inverse, x, border } = self;
        let (start, behind) = (range.start, parts.border().start);
        for j in range.rev() {
            let [(first, own), (second, outer)] = parts.column(j);
            let mut sums = [[0.0; 4]; 3];
            for (k, &i) in own.iter().enumerate() {
                gather::<FUSED>(&columns(blocks, first + k), &x[i as usize - start], &mut sums);
            }
            for (k, &i) in outer.iter().enumerate() {
                gather::<FUSED>(&columns(blocks, second + k), &border[i as usize - behind], &mut sums);
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
