//! A Cholesky factor in single precision, to be applied many times as a preconditioner.
//!
//! A substitution reads every number of the factor twice, and does little with it: half the bytes take half the time. Subtrees
//! of the elimination tree are shared among threads; what they add to the unknowns above is summed up in their order, so
//! that the bits do not depend on the number of threads.

use crate::subtrees::{Subtrees, Supernode};
use crate::threads;
use crate::versions::{Loop, dispatch, fused};
use std::ops::Range;

/// See the module.
pub(crate) struct Rough {
    trees: Subtrees,
    /// The numbers of the supernodes, column by column.
    values: Vec<f32>,
    /// Where those of each begin.
    starts: Vec<usize>,
    /// 1 over the diagonal.
    inverse: Vec<f64>,
    x: Vec<f64>,
    /// What each part adds to the unknowns above.
    sums: Vec<Vec<f64>>,
}

/// Columns that are done at once.
const WIDTH: usize = 4;

impl Rough {
    /// Nothing yet but the order.
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

    /// Takes the numbers of a factor; `false` if they do not fit.
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

    /// x ← about A⁻¹ x.
    pub fn solve(&mut self, b: &mut [f64]) {
        let Self { trees, values, starts, inverse, x, sums } = self;
        x.clear();
        x.extend(trees.order.iter().map(|&i| b[i]));
        let factor = Factor { trees, values, starts, inverse };
        let (rest, border) = (trees.rest(), trees.unknowns(&trees.rest()));
        let (inner, outer) = x.split_at_mut(border.start);
        let mut work = cut(trees, inner, sums);
        threads::par_chunks_mut(&mut work, 1, |_, work| {
            let (supernodes, x, sums) = &mut work[0];
            sums.clear();
            sums.resize(border.len(), 0.0);
            dispatch(Forward { factor, supernodes: supernodes.clone(), x, above: sums });
        });
        for (_, _, sums) in &work {
            outer.iter_mut().zip(&**sums).for_each(|(x, sum)| *x += sum);
        }
        dispatch(Forward { factor, supernodes: rest.clone(), x: outer, above: &mut [] });
        dispatch(Backward { factor, supernodes: rest, x: outer, above: &[] });
        threads::par_chunks_mut(&mut work, 1, |_, work| {
            let (supernodes, x, _) = &mut work[0];
            dispatch(Backward { factor, supernodes: supernodes.clone(), x, above: outer });
        });
        for (&i, x) in trees.order.iter().zip(&*x) {
            b[i] = *x;
        }
    }
}

/// Supernodes of a part, its unknowns, and sums for those above.
type Part<'a> = (Range<usize>, &'a mut [f64], &'a mut Vec<f64>);

fn cut<'a>(trees: &Subtrees, mut inner: &'a mut [f64], sums: &'a mut [Vec<f64>]) -> Vec<Part<'a>> {
    let part = |(part, sums): (&Range<usize>, &'a mut Vec<f64>)| {
        let (own, behind) = std::mem::take(&mut inner).split_at_mut(trees.unknowns(part).len());
        inner = behind;
        (part.clone(), own, sums)
    };
    trees.parts.iter().zip(sums).map(part).collect()
}

/// What substitutions read.
#[derive(Clone, Copy)]
struct Factor<'a> {
    trees: &'a Subtrees,
    values: &'a [f32],
    starts: &'a [usize],
    inverse: &'a [f64],
}

/// A supernode, as its part sees it.
struct Seen<'a> {
    /// Its unknowns among those of the part.
    columns: Range<usize>,
    values: &'a [f32],
    inverse: &'a [f64],
    /// Rows below, in the part and above it.
    own: &'a [u32],
    beyond: &'a [u32],
}

impl<'a> Factor<'a> {
    #[inline(always)]
    fn seen(&self, s: usize, part: &Range<usize>) -> Seen<'a> {
        let node: &Supernode = &self.trees.supernodes[s];
        let rows = &self.trees.rows[node.below.clone()];
        let (own, beyond) = rows.split_at(rows.partition_point(|&r| (r as usize) < part.end));
        Seen {
            columns: node.columns.start - part.start..node.columns.end - part.start,
            values: &self.values[self.starts[s]..self.starts[s + 1]],
            inverse: &self.inverse[node.columns.clone()],
            own,
            beyond,
        }
    }
}

/// x ← L⁻¹ x for the supernodes of a part; what that takes from unknowns above is added up there.
struct Forward<'a> {
    factor: Factor<'a>,
    supernodes: Range<usize>,
    x: &'a mut [f64],
    above: &'a mut [f64],
}

impl Loop for Forward<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { factor, supernodes, x, above } = self;
        let unknowns = factor.trees.unknowns(&supernodes);
        let border = factor.trees.order.len() - above.len();
        let mut local = Vec::new();
        for s in supernodes {
            let Seen { columns, values, inverse, own, beyond } = factor.seen(s, &unknowns);
            local.clear();
            local.extend_from_slice(&x[columns.clone()]);
            local.resize(columns.len() + own.len() + beyond.len(), 0.0);
            eliminate::<FUSED>(values, inverse, &mut local);
            x[columns.clone()].copy_from_slice(&local[..columns.len()]);
            let (to_own, to_beyond) = local[columns.len()..].split_at(own.len());
            for (&row, value) in own.iter().zip(to_own) {
                x[row as usize - unknowns.start] += value;
            }
            for (&row, value) in beyond.iter().zip(to_beyond) {
                above[row as usize - border] += value;
            }
        }
    }
}

/// x ← L⁻ᵀ x for the supernodes of a part, when the unknowns above are done.
struct Backward<'a> {
    factor: Factor<'a>,
    supernodes: Range<usize>,
    x: &'a mut [f64],
    above: &'a [f64],
}

impl Loop for Backward<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { factor, supernodes, x, above } = self;
        let unknowns = factor.trees.unknowns(&supernodes);
        let border = factor.trees.order.len() - above.len();
        let mut local = Vec::new();
        for s in supernodes.rev() {
            let Seen { columns, values, inverse, own, beyond } = factor.seen(s, &unknowns);
            local.clear();
            local.extend_from_slice(&x[columns.clone()]);
            local.extend(own.iter().map(|&row| x[row as usize - unknowns.start]));
            local.extend(beyond.iter().map(|&row| above[row as usize - border]));
            substitute::<FUSED>(values, inverse, &mut local);
            x[columns.clone()].copy_from_slice(&local[..columns.len()]);
        }
    }
}

/// The parts of some columns from row `from` on.
#[inline(always)]
fn tails(values: &[f32], height: usize, first: usize, from: usize) -> [&[f32]; WIDTH] {
    std::array::from_fn(|k| &values[(first + k) * height + from..(first + k + 1) * height])
}

/// The beginning of x is solved for, by columns of as many numbers as x has; the rest is what that takes from other unknowns.
#[inline(always)]
fn eliminate<const FUSED: bool>(values: &[f32], inverse: &[f64], x: &mut [f64]) {
    let (width, height) = (inverse.len(), x.len());
    for first in (0..width).step_by(WIDTH) {
        let end = width.min(first + WIDTH);
        for j in first..end {
            x[j] *= inverse[j];
            for i in j + 1..end {
                x[i] = fused::<FUSED>(-f64::from(values[j * height + i]), x[j], x[i]);
            }
        }
        if end - first < WIDTH {
            for j in first..end {
                let xj = x[j];
                for (x, &l) in x[end..].iter_mut().zip(&values[j * height + end..]) {
                    *x = fused::<FUSED>(-f64::from(l), xj, *x);
                }
            }
            break;
        }
        let [a, b, c, d] = tails(values, height, first, end);
        let [xa, xb, xc, xd] = [x[first], x[first + 1], x[first + 2], x[first + 3]].map(|x| -x);
        for ((((x, a), b), c), d) in x[end..].iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let half = fused::<FUSED>(f64::from(*b), xb, fused::<FUSED>(f64::from(*a), xa, *x));
            *x = fused::<FUSED>(f64::from(*d), xd, fused::<FUSED>(f64::from(*c), xc, half));
        }
    }
}

/// The beginning of x is solved for by the transposed columns; the rest of x is known.
#[inline(always)]
fn substitute<const FUSED: bool>(values: &[f32], inverse: &[f64], x: &mut [f64]) {
    let (width, height) = (inverse.len(), x.len());
    for first in (0..width).step_by(WIDTH).rev() {
        let end = width.min(first + WIDTH);
        // They do not wait for each other.
        let mut sums = [0.0; WIDTH];
        for j in first..end {
            sums[j - first] = dot::<FUSED>(&values[j * height + end..(j + 1) * height], &x[end..]);
        }
        for j in (first..end).rev() {
            let mut sum = x[j] - sums[j - first];
            for i in j + 1..end {
                sum = fused::<FUSED>(-f64::from(values[j * height + i]), x[i], sum);
            }
            x[j] = sum * inverse[j];
        }
    }
}

/// A column times x.
#[inline(always)]
fn dot<const FUSED: bool>(column: &[f32], x: &[f64]) -> f64 {
    const LANES: usize = 16;
    let (mut sums, mut last) = ([0.0; LANES], [0.0; 4]);
    let ((columns, column), (rows, x)) = (column.as_chunks::<LANES>(), x.as_chunks::<LANES>());
    for (l, x) in columns.iter().zip(rows) {
        for k in 0..LANES {
            sums[k] = fused::<FUSED>(f64::from(l[k]), x[k], sums[k]);
        }
    }
    let ((columns, column), (rows, x)) = (column.as_chunks::<4>(), x.as_chunks::<4>());
    for (l, x) in columns.iter().zip(rows) {
        for k in 0..4 {
            last[k] = fused::<FUSED>(f64::from(l[k]), x[k], last[k]);
        }
    }
    for k in 0..4 {
        last[k] += (sums[k] + sums[k + 8]) + (sums[k + 4] + sums[k + 12]);
    }
    let rest: f64 = column.iter().zip(x).map(|(&l, x)| f64::from(l) * x).sum();
    // By halves, as vector instructions do it.
    rest + ((last[0] + last[2]) + (last[1] + last[3]))
}
