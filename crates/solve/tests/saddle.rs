//! Saddle-point systems: few rows by the Schur complement, many by the sparse factorisation, both to round-off.

use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky, Saddle, SparseRows, dependent_rows};
use std::sync::Arc;

/// A chain of nodes with stiff bonds: condition about 1e6.
fn matrix(nodes: usize) -> BlockMatrix {
    let bonds: Vec<[u32; 2]> = (1..nodes as u32).map(|i| [i - 1, i]).collect();
    let pattern = BlockPattern::from_cliques(nodes, bonds.iter().map(|b| b.as_slice()));
    let mut a = BlockMatrix::zeros(Arc::new(pattern));
    a.add_diagonal(&vec![1e-3; 3 * nodes]);
    for (k, [i, j]) in bonds.iter().map(|b| b.map(|n| n as usize)).enumerate() {
        let s = 200.0 + 100.0 * (k as f64).sin();
        let block = [2.0 * s, 0.3 * s, 0.0, 0.3 * s, s, 0.1 * s, 0.0, 0.1 * s, 1.5 * s];
        a.add_block(i, i, &block);
        a.add_block(j, j, &block);
        a.add_block(j, i, &block.map(|x| -x));
    }
    a
}

/// Rows that each tie a node to the next.
fn rows(count: usize) -> SparseRows {
    let mut rows = SparseRows::new();
    for i in 0..count {
        for k in 0..3 {
            let x = (1.0 + i as f64 * 0.37 + k as f64).sin();
            rows.push(3 * i + k, x);
            rows.push(3 * i + 3 + k, 0.2 - x);
        }
        rows.end_row();
    }
    rows
}

#[test]
fn few_and_many_rows_are_solved_to_round_off() {
    for m in [1, 5, 48, 49, 200] {
        let nodes = m + 10;
        let (a, b) = (matrix(nodes), rows(m));
        let n = 3 * nodes;
        let right: Vec<f64> = (0..n + m).map(|i| (0.7 * i as f64).cos()).collect();
        let (mut saddle, mut factor) = (Saddle::new(), Cholesky::new());
        saddle.factor(&a, &mut factor, &b).unwrap();
        let mut z = right.clone();
        saddle.solve(&a, &mut factor, &mut z, 5);
        let (mut top, mut bottom) = (vec![0.0; n], vec![0.0; m]);
        a.mul_vec(&z[..n], &mut top);
        b.add_transposed(1.0, &z[n..], &mut top);
        b.mul(&z[..n], &mut bottom);
        let off = |image: &[f64], right: &[f64]| {
            image.iter().zip(right).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let size = z.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        assert!(off(&bottom, &right[n..]) < 1e-12, "{m} rows: {:e}", off(&bottom, &right[n..]));
        assert!(off(&top, &right[..n]) < 1e-12 * 600.0 * size, "{m} rows: {:e}", off(&top, &right[..n]));
    }
}

#[test]
fn a_row_twice_is_refused_and_named() {
    let mut b = rows(4);
    let again: Vec<(usize, f64)> = b.row(1).collect();
    for (c, v) in again {
        b.push(c, -2.0 * v);
    }
    b.end_row();
    let a = matrix(10);
    let error = Saddle::new().factor(&a, &mut Cholesky::new(), &b).unwrap_err();
    assert_eq!(error.dof, 30 + 4);
    let masses: Vec<f64> = (0..30).map(|i| 1.0 + (i / 3) as f64).collect();
    let found = dependent_rows(&b, &masses, 1e-12);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0, found[0].1.len(), found[0].1[0].0), (4, 1, 1));
    assert!((found[0].1[0].1 + 1.0).abs() < 1e-9, "{found:?}");
}
