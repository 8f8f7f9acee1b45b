//! Products with a symmetric block matrix of which only the lower triangle is stored.

use crate::matrix::block::BlockMatrix;
use lilyan_parallel::simd::{self, Kernel, Quads};
use lilyan_parallel::threads;

/// a ← a + B x.
#[inline(always)]
fn add_product(a: &mut [f64; 3], b: &[f64; 9], x: &[f64; 3]) {
    for r in 0..3 {
        a[r] += b[3 * r] * x[0] + b[3 * r + 1] * x[1] + b[3 * r + 2] * x[2];
    }
}

/// a ← a + Bᵀ x.
#[inline(always)]
fn add_transposed_product(a: &mut [f64; 3], b: &[f64; 9], x: &[f64; 3]) {
    for c in 0..3 {
        a[c] += b[c] * x[0] + b[3 + c] * x[1] + b[6 + c] * x[2];
    }
}

/// Nodes per task of a parallel product: about 20 µs of work.
const CHUNK: usize = 1 << 10;

/// Columns that are multiplied at a time.
const WIDTH: usize = 8;
/// Fewer columns are multiplied one by one.
const FEW_COLUMNS: usize = 3;

impl BlockMatrix {
    /// y ← A x.
    pub fn mul_vec(&self, x: &[f64], y: &mut [f64]) {
        assert!(x.len() == self.dofs() && y.len() == self.dofs(), "vectors must have one number per dof");
        let x = x.as_chunks::<3>().0;
        let y = y.as_chunks_mut::<3>().0;
        // By rows, every block is read twice, and memory bandwidth is the limit. This pays from three threads on.
        if threads::threads() > 2 && y.len() > CHUNK {
            by_rows(self, x, y);
        } else {
            by_columns(self, x, y);
        }
        add_extra(self, |node| node, x, y);
    }

    /// Y ← A X for several columns, one after the other, with the bits of [`BlockMatrix::mul_vec`]. Every block is read once for
    /// `WIDTH` columns.
    pub fn mul_columns(&self, x: &[f64], y: &mut [f64]) {
        let n = self.dofs();
        assert!(
            x.len() == y.len() && x.len().is_multiple_of(n.max(1)),
            "vectors must have one number per dof"
        );
        for (x, y) in x.chunks(WIDTH * n).zip(y.chunks_mut(WIDTH * n)) {
            if x.len() < FEW_COLUMNS * n {
                x.chunks(n).zip(y.chunks_mut(n)).for_each(|(x, y)| self.mul_vec(x, y));
                continue;
            }
            let mut wide = vec![[[0.0; WIDTH]; 3]; n / 3];
            for (c, x) in x.chunks(n).enumerate() {
                for (wide, x) in wide.as_flattened_mut().iter_mut().zip(x) {
                    wide[c] = *x;
                }
            }
            let product = columns_at_once(self, &wide);
            for (c, (x, y)) in x.chunks(n).zip(y.chunks_mut(n)).enumerate() {
                for (y, wide) in y.iter_mut().zip(product.as_flattened()) {
                    *y = wide[c];
                }
                add_extra(self, |node| node, x.as_chunks::<3>().0, y.as_chunks_mut::<3>().0);
            }
        }
    }

    /// xᵀ A x, without storing A x.
    pub fn quadratic_form(&self, x: &[f64]) -> f64 {
        quadratic_form(self, x)
    }
}

/// y ← y + E x, where E is the part of A outside the pattern. `place` gives the place of a node in x and y.
///
/// Entries of a node beyond the third are not changed.
pub(crate) fn add_extra<const N: usize>(
    a: &BlockMatrix,
    place: impl Fn(u32) -> u32,
    x: &[[f64; N]],
    y: &mut [[f64; N]],
) {
    for (&(i, j), block) in a.extra() {
        let (i, j) = (place(i), place(j));
        for (to, from, transposed) in [(i, j, false), (j, i, true)] {
            let (to, from) = (y[to as usize].first_chunk_mut(), x[from as usize].first_chunk());
            if let (Some(to), Some(from)) = (to, from) {
                match transposed {
                    true => add_transposed_product(to, block, from),
                    false => add_product(to, block, from),
                }
            }
        }
    }
}

/// The product by columns, which reads every block once for both triangles.
///
/// When column j is reached, node j has received the contributions of all earlier columns. Every node thus sums its row from
/// left to right, as in [`by_rows`], and both give the same bits.
fn by_columns(a: &BlockMatrix, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
    y.fill([0.0; 3]);
    let (pattern, values) = (a.pattern(), a.values());
    for j in 0..pattern.n() {
        let first = pattern.diagonal_position(j);
        let xj = x[j];
        let mut yj = y[j];
        add_product(&mut yj, &values[first], &xj);
        let column = pattern.column(j);
        for (&i, block) in column[1..].iter().zip(&values[first + 1..first + column.len()]) {
            let i = i as usize;
            add_product(&mut y[i], block, &xj);
            add_transposed_product(&mut yj, block, &x[i]);
        }
        y[j] = yj;
    }
}

/// The entries of `WIDTH` vectors at a node, next to each other.
type Wide = [[f64; WIDTH]; 3];

/// [`by_columns`] for `WIDTH` vectors.
fn columns_at_once(a: &BlockMatrix, x: &[Wide]) -> Vec<Wide> {
    let mut y = vec![[[0.0; WIDTH]; 3]; x.len()];
    simd::run(ColumnsAtOnce { a, x, y: &mut y });
    y
}

struct ColumnsAtOnce<'a> {
    a: &'a BlockMatrix,
    x: &'a [Wide],
    y: &'a mut [Wide],
}

impl Kernel for ColumnsAtOnce<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        let Self { a, x, y } = self;
        let (pattern, values) = (a.pattern(), a.values());
        for j in 0..pattern.n() {
            let first = pattern.diagonal_position(j);
            let (xj, mut yj) = (&x[j], y[j]);
            add_wide(m, &mut yj, &values[first], xj, false);
            let column = pattern.column(j);
            for (&i, block) in column[1..].iter().zip(&values[first + 1..first + column.len()]) {
                add_wide(m, &mut y[i as usize], block, xj, false);
                add_wide(m, &mut yj, block, &x[i as usize], true);
            }
            y[j] = yj;
        }
    }
}

/// a ← a + B x or, transposed, a + Bᵀ x, with sums in the order of [`add_product`].
#[inline(always)]
fn add_wide<M: Quads>(m: M, a: &mut Wide, b: &[f64; 9], x: &Wide, transposed: bool) {
    let x = [x[0].as_chunks::<4>().0, x[1].as_chunks::<4>().0, x[2].as_chunks::<4>().0];
    for r in 0..3 {
        let [p, q, s] =
            if transposed { [b[r], b[3 + r], b[6 + r]] } else { [b[3 * r], b[3 * r + 1], b[3 * r + 2]] };
        let [p, q, s] = [m.load(&[p; 4]), m.load(&[q; 4]), m.load(&[s; 4])];
        for (k, to) in a[r].as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let two = m.add(m.mul(p, m.load(&x[0][k])), m.mul(q, m.load(&x[1][k])));
            m.store(m.add(m.load(to), m.add(two, m.mul(s, m.load(&x[2][k])))), to);
        }
    }
}

/// The product by rows. No two threads write to the same node.
fn by_rows(a: &BlockMatrix, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
    let (pattern, values) = (a.pattern(), a.values());
    let rows = pattern.by_rows();
    threads::par_chunks_mut(y, CHUNK, |chunk, part| {
        for (k, to) in part.iter_mut().enumerate() {
            let i = chunk * CHUNK + k;
            let mut yi = [0.0; 3];
            for &(j, p) in rows.row(i) {
                add_product(&mut yi, &values[p as usize], &x[j as usize]);
            }
            let first = pattern.diagonal_position(i);
            add_product(&mut yi, &values[first], &x[i]);
            for (k, &below) in pattern.column(i).iter().enumerate().skip(1) {
                add_transposed_product(&mut yi, &values[first + k], &x[below as usize]);
            }
            *to = yi;
        }
    });
}

fn quadratic_form(a: &BlockMatrix, x: &[f64]) -> f64 {
    assert_eq!(x.len(), a.dofs(), "the vector must have one number per dof");
    let x = x.as_chunks::<3>().0;
    let dot = |u: &[f64; 3], v: &[f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    let (pattern, values) = (a.pattern(), a.values());
    let mut sum = 0.0;
    for j in 0..pattern.n() {
        let first = pattern.diagonal_position(j);
        let mut diagonal = [0.0; 3];
        add_product(&mut diagonal, &values[first], &x[j]);
        let mut below = [0.0; 3];
        for (k, &i) in pattern.column(j).iter().enumerate().skip(1) {
            add_transposed_product(&mut below, &values[first + k], &x[i as usize]);
        }
        sum += dot(&diagonal, &x[j]) + 2.0 * dot(&below, &x[j]);
    }
    for (&(i, j), block) in a.extra() {
        let mut below = [0.0; 3];
        add_transposed_product(&mut below, block, &x[i as usize]);
        sum += 2.0 * dot(&below, &x[j as usize]);
    }
    sum
}
