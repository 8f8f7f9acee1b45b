//! Block matrices against dense ones.

mod common;
use common::*;
use lilyan_solve::{BlockMatrix, BlockPattern};

fn dense_product(dense: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    dense.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    let scale = b.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for (p, q) in a.iter().zip(b) {
        assert!((p - q).abs() <= tolerance * scale, "{p} and {q}");
    }
}

#[test]
fn the_pattern_holds_exactly_the_pairs_of_the_cliques() {
    let mut random = Random(1);
    let n = 40;
    let tets = random_tets(&mut random, n, 60);
    let pattern = BlockPattern::from_cliques(n, tets.iter().map(|t| &t[..]));
    let mut count = 0;
    for j in 0..n {
        assert!(pattern.column(j).is_sorted_by(|a, b| a < b), "rows sorted, none twice");
        for i in j..n {
            let coupled = i == j || tets.iter().any(|t| t.contains(&(i as u32)) && t.contains(&(j as u32)));
            assert_eq!(pattern.position(i, j).is_some(), coupled, "({i}, {j})");
            if let Some(p) = pattern.position(i, j) {
                assert_eq!(pattern.rows()[p], i as u32);
                assert!((pattern.col_ptr()[j]..pattern.col_ptr()[j + 1]).contains(&p));
                count += 1;
            }
        }
    }
    assert_eq!((pattern.n(), pattern.len()), (n, count));
}

#[test]
fn a_node_without_elements_has_its_diagonal() {
    let pattern = BlockPattern::from_cliques(3, std::iter::empty());
    assert_eq!(pattern.rows(), &[0, 1, 2]);
    assert!(BlockPattern::from_cliques(0, std::iter::empty()).is_empty());
}

fn example(seed: u64, extras: bool) -> BlockMatrix {
    let mut random = Random(seed);
    let tets = random_tets(&mut random, 30, 25);
    let mut a = random_spd(&mut random, 30, &tets, 1.0);
    if extras {
        for _ in 0..12 {
            let (i, j) = (random.below(30), random.below(30));
            if i != j {
                a.add_block(i, j, &std::array::from_fn(|_| 0.1 * random.number()));
            }
        }
        assert!(!a.extra().is_empty());
    }
    a
}

#[test]
fn upper_blocks_are_transposed_into_the_lower_triangle() {
    let pattern = pattern_of(3, &[[0, 1, 1, 0]]);
    let block = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    for (i, j) in [(0, 1), (1, 0), (0, 2), (2, 0)] {
        let mut a = BlockMatrix::zeros(pattern.clone());
        a.add_block(i, j, &block);
        let dense = a.to_dense();
        for r in 0..3 {
            for c in 0..3 {
                assert_eq!(dense[3 * i + r][3 * j + c], block[3 * r + c]);
                assert_eq!(dense[3 * j + c][3 * i + r], block[3 * r + c]);
            }
        }
        assert_eq!(a.extra().len(), usize::from(i + j == 2));
    }
}

#[test]
fn product_and_quadratic_form_agree_with_dense_ones() {
    for extras in [false, true] {
        let a = example(2, extras);
        let x = Random(3).vector(90);
        let expected = dense_product(&a.to_dense(), &x);
        let mut y = vec![f64::NAN; 90];
        a.mul_vec(&x, &mut y);
        close(&y, &expected, 1e-14);
        let q: f64 = expected.iter().zip(&x).map(|(p, q)| p * q).sum();
        close(&[a.quadratic_form(&x)], &[q], 1e-13);
        let dense = a.to_dense();
        assert_eq!(a.diagonal(), (0..90).map(|i| dense[i][i]).collect::<Vec<_>>());
    }
}

#[test]
fn products_with_several_columns_have_the_bits_of_single_ones() {
    for extras in [false, true] {
        let a = example(2, extras);
        for columns in [1, 2, 3, 8, 11] {
            let x = Random(3).vector(90 * columns);
            let mut y = vec![f64::NAN; x.len()];
            a.mul_columns(&x, &mut y);
            let mut single = vec![f64::NAN; 90];
            for (x, y) in x.chunks(90).zip(y.chunks(90)) {
                a.mul_vec(x, &mut single);
                assert_eq!(y, single, "{columns} columns");
            }
        }
    }
}

#[test]
fn sums_of_matrices_with_equal_and_different_patterns() {
    let a = example(4, true);
    let mut same = a.clone();
    same.scale(2.0);
    for other in [example(5, true), same] {
        let mut sum = a.clone();
        sum.add_scaled(-0.5, &other);
        let (s, p, q) = (sum.to_dense(), a.to_dense(), other.to_dense());
        for i in 0..90 {
            let expected: Vec<f64> = (0..90).map(|j| p[i][j] - 0.5 * q[i][j]).collect();
            close(&s[i], &expected, 1e-14);
        }
    }
}

#[test]
fn held_dofs_lose_row_and_column() {
    let mut a = example(6, true);
    let before = a.to_dense();
    let held: Vec<bool> = (0..90).map(|i| i % 7 == 0 || i % 11 == 3).collect();
    a.hold(&held);
    let after = a.to_dense();
    for i in 0..90 {
        for j in 0..90 {
            let expected = if held[i] || held[j] { f64::from(u8::from(i == j)) } else { before[i][j] };
            assert_eq!(after[i][j], expected);
        }
    }
}

#[test]
fn clearing_forgets_extras_and_finiteness_sees_them() {
    let mut a = example(7, true);
    assert!(a.is_finite());
    let (&(i, j), _) = a.extra().first_key_value().unwrap();
    a.add_block(i as usize, j as usize, &[f64::NAN; 9]);
    assert!(!a.is_finite());
    a.clear();
    assert!(a.is_finite() && a.extra().is_empty() && a.values().iter().flatten().all(|&v| v == 0.0));
}
