//! The lower triangle of a block matrix, laid out for products and substitutions that are done many times.
//!
//! Blocks are stored by columns, one after the other, and vectors as x, y, z and 0: a column of a
//! block is then one load of four numbers, the last of which belongs to the next column, and a product with it one fused
//! instruction. In the precision that is asked for: single precision halves what has to be read.

use crate::pattern::BlockPattern;
use crate::strips::{Strip, Strips};
use crate::threads;
use pulp::{Arch, NullaryFnOnce};

/// A vector of a node, as x, y, z and 0.
pub(crate) type Padded = [f64; 4];

/// Copies a vector.
pub(crate) fn pad(x: &[f64], out: &mut Vec<Padded>) {
    out.clear();
    out.extend(x.as_chunks::<3>().0.iter().map(|x| [x[0], x[1], x[2], 0.0]));
}

/// Copies it back.
pub(crate) fn unpad(x: &[Padded], out: &mut [f64]) {
    for (x, out) in x.iter().zip(out.as_chunks_mut::<3>().0) {
        out.copy_from_slice(&x[..3]);
    }
}

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
const COPIED: usize = 1 << 15;

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
    pub fn multiply(
        &self,
        pattern: &BlockPattern,
        strips: &Strips,
        x: &[Padded],
        y: &mut [Padded],
        sums: &mut Vec<Vec<Padded>>,
    ) {
        let blocks = &self.values[..];
        if let [strip] = strips.as_slice() {
            return dispatch(Multiply { blocks, pattern, strip, x, y });
        }
        sums.resize_with(strips.as_slice().len(), Vec::new);
        let mut work: Vec<_> = strips.as_slice().iter().zip(sums.iter_mut()).collect();
        threads::par_chunks_mut(&mut work, 1, |_, work| {
            let (strip, sums) = &mut work[0];
            sums.resize(strip.reach - strip.nodes.start, [0.0; 4]);
            dispatch(Multiply { blocks, pattern, strip, x, y: sums });
        });
        let sums = &*sums;
        threads::par_chunks_mut(&mut strips.split(y), 1, |k, part| {
            let (strip, y) = &mut part[0];
            y.copy_from_slice(&sums[k][..y.len()]);
            for (before, sums) in strips.as_slice()[..k].iter().zip(sums) {
                let from = strip.nodes.start - before.nodes.start;
                for (y, sum) in y.iter_mut().zip(sums.get(from..).unwrap_or_default()) {
                    for c in 0..3 {
                        y[c] += sum[c];
                    }
                }
            }
        });
    }

    /// x ← (L D Lᵀ)⁻¹ x, with L below the diagonal, 1 on it, and D⁻¹ by itself.
    pub fn substitute(&self, pattern: &BlockPattern, inverse: &[[f64; 9]], x: &mut [Padded]) {
        dispatch(Substitute { blocks: &self.values, pattern, inverse, x });
    }
}

/// A loop in two versions.
trait Loop {
    fn run<const FUSED: bool>(self);
}

struct Versioned<L, const FUSED: bool>(L);

impl<L: Loop, const FUSED: bool> NullaryFnOnce for Versioned<L, FUSED> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.0.run::<FUSED>();
    }
}

fn dispatch(l: impl Loop) {
    match Arch::new() {
        Arch::Scalar => l.run::<{ cfg!(target_arch = "aarch64") }>(),
        arch => arch.dispatch(Versioned::<_, true>(l)),
    }
}

/// a b + c, rounded once where the processor can.
#[inline(always)]
fn fused<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
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

/// The sums over the columns of a strip, from its first row on.
struct Multiply<'a, T> {
    blocks: &'a [T],
    pattern: &'a BlockPattern,
    strip: &'a Strip,
    x: &'a [Padded],
    y: &'a mut [Padded],
}

impl<T: Stored> Loop for Multiply<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { blocks, pattern, strip, x, y } = self;
        let start = strip.nodes.start;
        y.fill([0.0; 4]);
        for j in strip.nodes.clone() {
            let first = pattern.diagonal_position(j);
            let xj = x[j];
            let mut sums = [[0.0; 4]; 3];
            for (k, &i) in pattern.column(j)[1..].iter().enumerate() {
                let (i, b) = (i as usize, columns(blocks, first + 1 + k));
                y[i - start] = add_product::<FUSED>(&b, 1.0, &xj, y[i - start]);
                gather::<FUSED>(&b, &x[i], &mut sums);
            }
            let mut yj = add_product::<FUSED>(&columns(blocks, first), 1.0, &xj, y[j - start]);
            for c in 0..3 {
                yj[c] += sums[c][0] + sums[c][1] + sums[c][2];
            }
            yj[3] = 0.0;
            y[j - start] = yj;
        }
    }
}

struct Substitute<'a, T> {
    blocks: &'a [T],
    pattern: &'a BlockPattern,
    inverse: &'a [[f64; 9]],
    x: &'a mut [Padded],
}

impl<T: Stored> Loop for Substitute<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { blocks, pattern, inverse, x } = self;
        for j in 0..pattern.n() {
            let first = pattern.diagonal_position(j);
            let xj = x[j];
            for (k, &i) in pattern.column(j)[1..].iter().enumerate() {
                let i = i as usize;
                x[i] = add_product::<FUSED>(&columns(blocks, first + 1 + k), -1.0, &xj, x[i]);
            }
        }
        for j in (0..pattern.n()).rev() {
            let first = pattern.diagonal_position(j);
            let mut sums = [[0.0; 4]; 3];
            for (k, &i) in pattern.column(j)[1..].iter().enumerate() {
                gather::<FUSED>(&columns(blocks, first + 1 + k), &x[i as usize], &mut sums);
            }
            let (d, xj) = (&inverse[j], x[j]);
            let mut out = [0.0; 4];
            for c in 0..3 {
                let below = sums[c][0] + sums[c][1] + sums[c][2];
                out[c] = d[3 * c] * xj[0] + d[3 * c + 1] * xj[1] + d[3 * c + 2] * xj[2] - below;
            }
            x[j] = out;
        }
    }
}
