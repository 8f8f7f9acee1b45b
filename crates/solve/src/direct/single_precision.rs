//! A Cholesky factor in single precision, for use as a preconditioner.
//!
//! Memory bandwidth limits a substitution: it reads every entry of the factor twice. Half the bytes take half the time.
//! Threads share the subtrees of the elimination tree. The contributions of the subtrees to the unknowns above them are
//! added in a fixed order, so that the bits do not depend on the number of threads.

use crate::direct::subtrees::{Subtrees, Supernode};
use lilyan_parallel::simd::{self, Kernel, Quads, fused};
use lilyan_parallel::threads;
use std::ops::Range;

/// A Cholesky factor rounded to single precision, with its supernodes in an order for several threads.
pub(crate) struct SinglePrecisionFactor {
    trees: Subtrees,
    /// The entries of the supernodes, column by column.
    values: Vec<f32>,
    /// Where the entries of each supernode begin.
    starts: Vec<usize>,
    /// The inverse of the diagonal.
    inverse: Vec<f64>,
    x: Vec<f64>,
    /// The contributions of each subtree to the unknowns above.
    sums: Vec<Vec<f64>>,
}

/// Columns that are processed together.
const WIDTH: usize = 4;

impl SinglePrecisionFactor {
    /// The structure alone; [`set`](Self::set) gives the entries.
    pub fn new(trees: Subtrees) -> Self {
        let mut starts = vec![0];
        let mut next = 0;
        for s in &trees.supernodes {
            next += s.columns.len() * (s.columns.len() + s.below.len());
            starts.push(next);
        }
        let sums = vec![Vec::new(); trees.parts.len()];
        Self { trees, values: Vec::new(), starts, inverse: Vec::new(), x: Vec::new(), sums }
    }

    /// Rounds the entries of a factor. Returns `false` if one exceeds the range of single precision.
    pub fn set(&mut self, factor: &[f64]) -> bool {
        self.values.resize(self.starts[self.trees.supernodes.len()], 0.0);
        self.inverse.resize(self.trees.order.len(), 0.0);
        for (s, &start) in self.trees.supernodes.iter().zip(&self.starts) {
            let (width, height) = (s.columns.len(), s.columns.len() + s.below.len());
            let from = &factor[s.values..s.values + width * height];
            for (to, from) in self.values[start..].iter_mut().zip(from) {
                *to = *from as f32;
            }
            for (k, inverse) in self.inverse[s.columns.clone()].iter_mut().enumerate() {
                *inverse = 1.0 / from[k * height + k];
            }
        }
        let finite = |all: bool, x: &f32| all & x.is_finite();
        self.values.iter().fold(true, finite)
    }

    /// b ← B b with B ≈ A⁻¹.
    pub fn solve(&mut self, b: &mut [f64]) {
        let Self { trees, values, starts, inverse, x, sums } = self;
        x.clear();
        x.extend(trees.order.iter().map(|&i| b[i]));
        let factor = FactorView { trees, values, starts, inverse };
        let (top, border) = (trees.above(), trees.unknowns(&trees.above()));
        let (inner, outer) = x.split_at_mut(border.start);
        let mut work = split_parts(trees, inner, sums);
        threads::par_chunks_mut(&mut work, 1, |_, work| {
            let (supernodes, x, sums) = &mut work[0];
            sums.clear();
            sums.resize(border.len(), 0.0);
            simd::run(SupernodalForward { factor, supernodes: supernodes.clone(), x, above: sums });
        });
        for (_, _, sums) in &work {
            outer.iter_mut().zip(&**sums).for_each(|(x, sum)| *x += sum);
        }
        simd::run(SupernodalForward { factor, supernodes: top.clone(), x: outer, above: &mut [] });
        simd::run(SupernodalBackward { factor, supernodes: top, x: outer, above: &[] });
        threads::par_chunks_mut(&mut work, 1, |_, work| {
            let (supernodes, x, _) = &mut work[0];
            simd::run(SupernodalBackward { factor, supernodes: supernodes.clone(), x, above: outer });
        });
        for (&i, x) in trees.order.iter().zip(&*x) {
            b[i] = *x;
        }
    }
}

/// The supernodes of a part, its unknowns, and the sums for the unknowns above.
type Part<'a> = (Range<usize>, &'a mut [f64], &'a mut Vec<f64>);

fn split_parts<'a>(trees: &Subtrees, mut inner: &'a mut [f64], sums: &'a mut [Vec<f64>]) -> Vec<Part<'a>> {
    let part = |(part, sums): (&Range<usize>, &'a mut Vec<f64>)| {
        let (inside, behind) = std::mem::take(&mut inner).split_at_mut(trees.unknowns(part).len());
        inner = behind;
        (part.clone(), inside, sums)
    };
    trees.parts.iter().zip(sums).map(part).collect()
}

/// The arrays that substitutions read.
#[derive(Clone, Copy)]
struct FactorView<'a> {
    trees: &'a Subtrees,
    values: &'a [f32],
    starts: &'a [usize],
    inverse: &'a [f64],
}

/// A supernode, relative to its subtree.
struct SupernodeView<'a> {
    /// Its unknowns among those of the subtree.
    columns: Range<usize>,
    values: &'a [f32],
    inverse: &'a [f64],
    /// Rows below the diagonal, within the subtree and above it.
    inside: &'a [u32],
    beyond: &'a [u32],
}

impl<'a> FactorView<'a> {
    #[inline(always)]
    fn view(&self, s: usize, part: &Range<usize>) -> SupernodeView<'a> {
        let node: &Supernode = &self.trees.supernodes[s];
        let rows = &self.trees.rows[node.below.clone()];
        let (inside, beyond) = rows.split_at(rows.partition_point(|&r| (r as usize) < part.end));
        SupernodeView {
            columns: node.columns.start - part.start..node.columns.end - part.start,
            values: &self.values[self.starts[s]..self.starts[s + 1]],
            inverse: &self.inverse[node.columns.clone()],
            inside,
            beyond,
        }
    }
}

/// x ← L⁻¹ x for the supernodes of a subtree. Contributions to the unknowns above are added to `above`.
struct SupernodalForward<'a> {
    factor: FactorView<'a>,
    supernodes: Range<usize>,
    x: &'a mut [f64],
    above: &'a mut [f64],
}

impl Kernel for SupernodalForward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        let Self { factor, supernodes, x, above } = self;
        let unknowns = factor.trees.unknowns(&supernodes);
        let border = factor.trees.order.len() - above.len();
        let mut local = Vec::new();
        for s in supernodes {
            let SupernodeView { columns, values, inverse, inside, beyond } = factor.view(s, &unknowns);
            local.clear();
            local.extend_from_slice(&x[columns.clone()]);
            local.resize(columns.len() + inside.len() + beyond.len(), 0.0);
            substitute_forward::<M>(values, inverse, &mut local);
            x[columns.clone()].copy_from_slice(&local[..columns.len()]);
            let (to_inside, to_beyond) = local[columns.len()..].split_at(inside.len());
            for (&row, value) in inside.iter().zip(to_inside) {
                x[row as usize - unknowns.start] += value;
            }
            for (&row, value) in beyond.iter().zip(to_beyond) {
                above[row as usize - border] += value;
            }
        }
    }
}

/// x ← L⁻ᵀ x for the supernodes of a subtree, after the unknowns above are solved for.
struct SupernodalBackward<'a> {
    factor: FactorView<'a>,
    supernodes: Range<usize>,
    x: &'a mut [f64],
    above: &'a [f64],
}

impl Kernel for SupernodalBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        let Self { factor, supernodes, x, above } = self;
        let unknowns = factor.trees.unknowns(&supernodes);
        let border = factor.trees.order.len() - above.len();
        let mut local = Vec::new();
        for s in supernodes.rev() {
            let SupernodeView { columns, values, inverse, inside, beyond } = factor.view(s, &unknowns);
            local.clear();
            local.extend_from_slice(&x[columns.clone()]);
            local.extend(inside.iter().map(|&row| x[row as usize - unknowns.start]));
            local.extend(beyond.iter().map(|&row| above[row as usize - border]));
            substitute_backward::<M>(values, inverse, &mut local);
            x[columns.clone()].copy_from_slice(&local[..columns.len()]);
        }
    }
}

/// Four columns from row `from` on.
#[inline(always)]
fn tails(values: &[f32], height: usize, first: usize, from: usize) -> [&[f32]; WIDTH] {
    std::array::from_fn(|k| &values[(first + k) * height + from..(first + k + 1) * height])
}

/// Forward substitution with the columns of a supernode. It solves for the first entries of x and updates the others.
#[inline(always)]
fn substitute_forward<M: Quads>(values: &[f32], inverse: &[f64], x: &mut [f64]) {
    let (width, height) = (inverse.len(), x.len());
    for first in (0..width).step_by(WIDTH) {
        let end = width.min(first + WIDTH);
        for j in first..end {
            x[j] *= inverse[j];
            for i in j + 1..end {
                x[i] = fused::<M>(-f64::from(values[j * height + i]), x[j], x[i]);
            }
        }
        if end - first < WIDTH {
            for j in first..end {
                let xj = x[j];
                for (x, &l) in x[end..].iter_mut().zip(&values[j * height + end..]) {
                    *x = fused::<M>(-f64::from(l), xj, *x);
                }
            }
            break;
        }
        let [a, b, c, d] = tails(values, height, first, end);
        let [xa, xb, xc, xd] = [x[first], x[first + 1], x[first + 2], x[first + 3]].map(|x| -x);
        for ((((x, a), b), c), d) in x[end..].iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let half = fused::<M>(f64::from(*b), xb, fused::<M>(f64::from(*a), xa, *x));
            *x = fused::<M>(f64::from(*d), xd, fused::<M>(f64::from(*c), xc, half));
        }
    }
}

/// Backward substitution with the columns of a supernode. It solves for the first entries of x; the others are known.
#[inline(always)]
fn substitute_backward<M: Quads>(values: &[f32], inverse: &[f64], x: &mut [f64]) {
    let (width, height) = (inverse.len(), x.len());
    for first in (0..width).step_by(WIDTH).rev() {
        let end = width.min(first + WIDTH);
        // Independent sums, which the processor computes at the same time.
        let mut sums = [0.0; WIDTH];
        for j in first..end {
            sums[j - first] = dot::<M>(&values[j * height + end..(j + 1) * height], &x[end..]);
        }
        for j in (first..end).rev() {
            let mut sum = x[j] - sums[j - first];
            for i in j + 1..end {
                sum = fused::<M>(-f64::from(values[j * height + i]), x[i], sum);
            }
            x[j] = sum * inverse[j];
        }
    }
}

/// A column times x.
#[inline(always)]
fn dot<M: Quads>(column: &[f32], x: &[f64]) -> f64 {
    const LANES: usize = 16;
    let (mut sums, mut last) = ([0.0; LANES], [0.0; 4]);
    let ((columns, column), (rows, x)) = (column.as_chunks::<LANES>(), x.as_chunks::<LANES>());
    for (l, x) in columns.iter().zip(rows) {
        for k in 0..LANES {
            sums[k] = fused::<M>(f64::from(l[k]), x[k], sums[k]);
        }
    }
    let ((columns, column), (rows, x)) = (column.as_chunks::<4>(), x.as_chunks::<4>());
    for (l, x) in columns.iter().zip(rows) {
        for k in 0..4 {
            last[k] = fused::<M>(f64::from(l[k]), x[k], last[k]);
        }
    }
    for k in 0..4 {
        last[k] += (sums[k] + sums[k + 8]) + (sums[k + 4] + sums[k + 12]);
    }
    let rest: f64 = column.iter().zip(x).map(|(&l, x)| f64::from(l) * x).sum();
    // Pairwise, in the order of the vector instructions.
    rest + ((last[0] + last[2]) + (last[1] + last[3]))
}
