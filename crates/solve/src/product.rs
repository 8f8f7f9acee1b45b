//! Products with a symmetric block matrix of which only the lower triangle is stored.

use crate::block::BlockMatrix;
use crate::threads;

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

/// Nodes per task when a product is shared out: some 20 µs of work.
const CHUNK: usize = 1 << 10;

/// y ← A x.
pub(crate) fn mul_vec(a: &BlockMatrix, x: &[f64], y: &mut [f64]) {
    assert!(x.len() == a.dofs() && y.len() == a.dofs(), "vectors must have one number per dof");
    let x = x.as_chunks::<3>().0;
    let y = y.as_chunks_mut::<3>().0;
    // By rows, every block is read twice, and memory is the limit: that pays from three threads on.
    if threads::threads() > 2 && y.len() > CHUNK {
        by_rows(a, x, y);
    } else {
        by_columns(a, x, y);
    }
    add_extra(a, |node| node, x, y);
}

/// y ← y + the part of A outside of the pattern times x, whose nodes are at these places.
///
/// A node may have further numbers, which are left alone.
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

/// The product, reading every block once for both triangles.
///
/// By the time column j is reached, node j has received all of the columns before it. So every node adds up its row
/// from left to right, as [`by_rows`] does, and both give the same bits.
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

/// The product, each node gathering its own row: no two threads write to the same place.
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

/// xᵀ A x without a vector for A x.
pub(crate) fn quadratic_form(a: &BlockMatrix, x: &[f64]) -> f64 {
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
