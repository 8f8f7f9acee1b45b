//! Lowest and largest eigenvalues against dense solves.

mod common;
use common::*;
use faer::{Mat, Side};
use lilyan_solve::eigen::Subspace;
use lilyan_solve::{
    BlockMatrix, BlockPattern, Cholesky, EigenError, SecondOrderSystem, SparseRows, constrained_modes,
    largest_eigenvalue, lowest_modes,
};
use std::sync::Arc;

/// All eigenvalues of the free part, by a dense Cholesky reduction.
fn dense_values(k: &BlockMatrix, m: &BlockMatrix, held: &[bool]) -> Vec<f64> {
    let free: Vec<usize> = (0..held.len()).filter(|&d| !held[d]).collect();
    let (k, m) = (k.to_dense(), m.to_dense());
    let part = |a: &Vec<Vec<f64>>| Mat::from_fn(free.len(), free.len(), |i, j| a[free[i]][free[j]]);
    reduced_values(part(&k), &part(&m))
}

fn reduced_values(mut c: Mat<f64>, m: &Mat<f64>) -> Vec<f64> {
    let llt = m.llt(Side::Lower).unwrap();
    let l = llt.L();
    l.solve_lower_triangular_in_place(c.as_mut());
    let mut c = c.transpose().to_owned();
    l.solve_lower_triangular_in_place(c.as_mut());
    let c = (&c + c.transpose()) * faer::Scale(0.5);
    c.self_adjoint_eigenvalues(Side::Lower).unwrap()
}

fn check(k: &BlockMatrix, m: &BlockMatrix, held: &[bool], count: usize) -> Vec<f64> {
    let expected = dense_values(k, m, held);
    let modes = lowest_modes(k, m, held, count, 1e-10).unwrap();
    let (n, largest) = (held.len(), expected[expected.len() - 1].abs());
    assert_eq!((modes.values.len(), modes.vectors.len(), modes.residuals.len()), (count, count, count));
    for i in 0..count {
        // Rounding in K limits any method to 1e-16 of the largest eigenvalue.
        let error = (modes.values[i] - expected[i]).abs();
        assert!(
            error <= 1e-10 * expected[i].abs() + 1e-14 * largest,
            "{i}: {} {}",
            modes.values[i],
            expected[i]
        );
        assert!((0..n).all(|d| !held[d] || modes.vectors[i][d] == 0.0));
    }
    let mut mu = vec![0.0; n];
    for i in 0..count {
        m.mul_vec(&modes.vectors[i], &mut mu);
        for j in 0..count {
            let product: f64 = mu.iter().zip(&modes.vectors[j]).map(|(a, b)| a * b).sum();
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{i} {j}: {product}");
        }
    }
    println!("shift {:e}, residuals {:?}", modes.shift, modes.residuals);
    modes.values
}

/// M ẍ + K x = 0.
struct Undamped<'a>(&'a BlockMatrix, &'a BlockMatrix);

impl SecondOrderSystem for Undamped<'_> {
    fn mass(&self, x: &[f64], y: &mut [f64]) {
        self.0.mul_vec(x, y);
    }
    fn divide_by_mass(&self, _: &[f64], _: &mut [f64]) {
        unreachable!("modes need no inverse mass");
    }
    fn stiffness(&self, x: &[f64], y: &mut [f64]) {
        self.1.mul_vec(x, y);
    }
    fn damping(&self, _: &[f64], y: &mut [f64]) {
        y.fill(0.0);
    }
}

/// Modes serve on while the stiffness has hardly changed, and their values follow; modes of another stiffness do not.
#[test]
fn modes_that_have_hardly_moved() {
    let (points, tets) = kuhn_box(2, 3, 8);
    let (k, m) = elasticity(&points, &tets, 1e5, 5e4);
    let held: Vec<bool> = (0..k.dofs()).map(|d| points[d / 3][2] == 0.0).collect();
    let n = held.len();
    let found = lowest_modes(&k, &m, &held, 4, 1e-10).unwrap();
    let given = Subspace { vectors: found.vectors.concat(), values: found.values.clone() };
    // With springs to the ground under its far half.
    let masses = m.diagonal();
    let supported = |more: f64| {
        let far = |i: usize| if points[i / 3][2] > 4.0 && !held[i] { more } else { 0.0 };
        let springs: Vec<f64> = (0..n).map(|i| far(i) * found.values[3] * masses[i]).collect();
        let mut other = k.clone();
        other.add_diagonal(&springs);
        other
    };
    for (more, most, holds) in
        [(0.0, 1e-8, true), (0.01, 1e-8, false), (0.01, 0.01, true), (1.0, 0.01, false)]
    {
        let changed = supported(more);
        let mut a = changed.clone();
        a.add_scaled(found.values[3], &m);
        a.hold(&held);
        let mut factor = Cholesky::new();
        factor.factor(&a).unwrap();
        let mut subspace = given.clone();
        let mut solve = |x: &mut [f64], columns: usize| {
            assert_eq!(x.len(), n * columns);
            x.chunks_exact_mut(n).for_each(|x| {
                (0..n).filter(|&i| held[i]).for_each(|i| x[i] = 0.0);
                factor.solve(x);
            });
        };
        let system = Undamped(&m, &changed);
        assert_eq!(subspace.still_holds(&system, &mut solve, &|_| {}, n, 4, most), holds, "{more}");
        if !holds {
            assert_eq!(subspace, given);
            continue;
        }
        let expected = lowest_modes(&changed, &m, &held, 4, 1e-10).unwrap().values;
        for (value, expected) in subspace.values.iter().zip(&expected) {
            assert!((value / expected - 1.0).abs() < 0.1 * more + 1e-8, "{value} {expected}");
        }
    }
}

#[test]
fn a_held_beam() {
    let (points, tets) = kuhn_box(2, 3, 8);
    let (k, m) = elasticity(&points, &tets, 1e5, 5e4);
    let held: Vec<bool> = (0..k.dofs()).map(|d| points[d / 3][2] == 0.0).collect();
    check(&k, &m, &held, 12);
    // held dofs of one axis only, and one mode alone
    let held: Vec<bool> = (0..k.dofs()).map(|d| points[d / 3][d % 3] == 0.0).collect();
    check(&k, &m, &held, 1);
}

#[test]
fn a_free_body_has_six_rigid_modes() {
    let (points, tets) = kuhn_box(2, 3, 6);
    let (k, m) = elasticity(&points, &tets, 1e5, 5e4);
    let values = check(&k, &m, &vec![false; k.dofs()], 10);
    assert!(values[..6].iter().all(|v| v.abs() < 1e-8 * values[6]), "{values:?}");
}

#[test]
fn multiple_eigenvalues_are_found_with_all_copies() {
    // Boxes side by side that do not touch: every eigenvalue once per box.
    for (copies, count) in [(2, 9), (3, 25), (5, 40)] {
        let (points, tets) = kuhn_box(2, 2, 3);
        let n = points.len();
        let all_points = points.repeat(copies);
        let all_tets: Vec<[u32; 4]> =
            (0..copies).flat_map(|c| tets.iter().map(move |t| t.map(|i| i + (c * n) as u32))).collect();
        let (k, m) = elasticity(&all_points, &all_tets, 1e5, 5e4);
        let values = check(&k, &m, &vec![false; k.dofs()], count);
        assert!(values[..(6 * copies).min(count)].iter().all(|v| v.abs() < 1.0));
        let held: Vec<bool> = (0..k.dofs()).map(|d| all_points[d / 3][2] == 0.0).collect();
        let values = check(&k, &m, &held, 4 * copies);
        for pair in values.chunks(copies) {
            assert!((pair[0] - pair[copies - 1]).abs() < 1e-9 * pair[0]);
        }
    }
}

#[test]
fn a_slender_body() {
    let (points, tets) = kuhn_box(1, 1, 100);
    let (k, m) = elasticity(&points, &tets, 1e5, 5e4);
    let held: Vec<bool> = (0..k.dofs()).map(|d| points[d / 3][2] == 0.0).collect();
    check(&k, &m, &held, 6);
}

#[test]
fn an_indefinite_stiffness_and_extras() {
    let (points, tets) = kuhn_box(2, 2, 3);
    let (mut k, m) = elasticity(&points, &tets, 1e5, 5e4);
    k.add_scaled(-2e4, &m);
    k.add_block(0, points.len() - 1, &[-50.0, 0.0, 3.0, 0.0, -60.0, 0.0, 1.0, 0.0, -70.0]);
    assert!(!k.extra().is_empty());
    let values = check(&k, &m, &vec![false; k.dofs()], 8);
    assert!(values[0] < -1e4);
}

/// Many negative eigenvalues close together, as a strongly twisted body has: λ = −1000 + k/10, and others up to 1e6.
#[test]
fn close_negative_eigenvalues() {
    let nodes = 1500;
    let pattern = Arc::new(BlockPattern::from_cliques(nodes, std::iter::empty()));
    let value = |k: usize| if k < 2000 { -1000.0 + 0.1 * k as f64 } else { 400.0 * (k - 1999) as f64 };
    // In another order, so that neighbours are not alike.
    let values: Vec<f64> = (0..3 * nodes).map(|i| value(i * 1009 % (3 * nodes))).collect();
    let [mut k, mut m] = [(); 2].map(|()| BlockMatrix::zeros(pattern.clone()));
    k.add_diagonal(&values);
    m.add_diagonal(&vec![1.0; 3 * nodes]);
    let modes = lowest_modes(&k, &m, &vec![false; 3 * nodes], 10, 1e-10).unwrap();
    for (found, expected) in modes.values.iter().zip((0..10).map(value)) {
        assert!((found - expected).abs() < 1e-7, "{found}, not {expected}");
    }
}

#[test]
fn all_modes_of_a_small_body_and_one_too_many() {
    let (points, tets) = kuhn_box(1, 1, 2);
    let (k, m) = elasticity(&points, &tets, 1e5, 5e4);
    let held: Vec<bool> = (0..k.dofs()).map(|d| points[d / 3][2] == 0.0).collect();
    check(&k, &m, &held, 24);
    assert_eq!(
        lowest_modes(&k, &m, &held, 25, 1e-10).unwrap_err(),
        EigenError::TooManyModes { available: 24 }
    );
    assert!(lowest_modes(&k, &m, &held, 0, 1e-10).unwrap().values.is_empty());
}

#[test]
fn nodes_without_mass_have_no_modes() {
    let (points, tets) = kuhn_box(1, 1, 2);
    let (k, mut m) = elasticity(&points, &tets, 1e5, 5e4);
    let lumped: Vec<f64> = (0..m.dofs()).map(|d| if d / 3 == 7 { 0.0 } else { 1.0 }).collect();
    m.clear();
    m.add_diagonal(&lumped);
    let held: Vec<bool> = (0..k.dofs()).map(|d| points[d / 3][2] == 0.0).collect();
    assert_eq!(lowest_modes(&k, &m, &held, 21, 1e-10).unwrap().values.len(), 21);
    assert_eq!(
        lowest_modes(&k, &m, &held, 22, 1e-10).unwrap_err(),
        EigenError::TooManyModes { available: 21 }
    );
    let mut broken = m.clone();
    broken.add_diagonal(&lumped.iter().map(|w| -2.0 * w).collect::<Vec<_>>());
    assert!(matches!(
        lowest_modes(&k, &broken, &held, 3, 1e-10),
        Err(EigenError::NotPositiveDefinite { .. })
    ));
}

#[test]
fn the_largest_eigenvalue_is_bounded_from_above() {
    let (points, tets) = kuhn_box(3, 3, 6);
    let (k, m) = elasticity(&points, &tets, 1e5, 5e4);
    let mut row_sums = vec![0.0; m.dofs()];
    m.mul_vec(&vec![1.0; m.dofs()], &mut row_sums);
    let mut lumped = m.clone();
    lumped.clear();
    lumped.add_diagonal(&row_sums);
    for held in [vec![false; m.dofs()], (0..m.dofs()).map(|d| points[d / 3][2] < 2.0).collect()] {
        let exact = *dense_values(&k, &lumped, &held).last().unwrap();
        let mut apply = |x: &[f64], y: &mut [f64]| k.mul_vec(x, y);
        let estimate = largest_eigenvalue(&mut apply, &row_sums, &held, 1e-3);
        println!("largest {exact}, estimate / exact − 1 = {:e}", estimate / exact - 1.0);
        assert!(estimate >= exact * (1.0 - 1e-12) && estimate <= exact * 1.002);
    }
    let mut massless = row_sums.clone();
    massless[5] = 0.0;
    let apply = &mut |x: &[f64], y: &mut [f64]| k.mul_vec(x, y);
    assert_eq!(largest_eigenvalue(apply, &massless, &vec![false; m.dofs()], 1e-3), f64::INFINITY);
    assert_eq!(largest_eigenvalue(apply, &row_sums, &vec![true; m.dofs()], 1e-3), 0.0);
}

/// Constraints that hold dofs one by one are as good as held dofs; others leave what elimination leaves. Few rows and
/// many, which are solved differently.
#[test]
fn modes_keep_constraints() {
    let (points, tets) = kuhn_box(4, 4, 4);
    let (k, m) = elasticity(&points, &tets, 1e5, 5e4);
    let n = k.dofs();
    let none = vec![false; n];
    for base in [4, 125] {
        // The bottom is held by rows, as far as they go.
        let held: Vec<bool> = (0..n).map(|d| points[d / 3][2] == 0.0 && d < base * 3).collect();
        let mut rows = SparseRows::new();
        for d in (0..n).filter(|&d| held[d]) {
            rows.push(d, 2.0);
            rows.end_row();
        }
        let expected = lowest_modes(&k, &m, &held, 8, 1e-10).unwrap();
        let found = constrained_modes(&k, &m, &none, &rows, 8, 1e-10).unwrap();
        for (a, b) in expected.values.iter().zip(&found.values) {
            assert!((a - b).abs() < 1e-8 * expected.values[7], "{} rows: {a} {b}", rows.len());
        }
    }
    for count in [3, 60] {
        // Node i moves along x as far as the next one along y and a share of itself along z.
        let mut rows = SparseRows::new();
        for i in 0..count {
            let terms = [(3 * i, 1.0), (3 * i + 2, -0.3 - 0.01 * i as f64), (n - 1 - 3 * (i % 5), 0.5)];
            terms.iter().for_each(|&(d, c)| rows.push(d, c));
            rows.end_row();
        }
        let count = rows.len();
        let bound: Vec<usize> = (0..count).map(|i| 3 * i).collect();
        let free: Vec<usize> = (0..n).filter(|d| !bound.contains(d)).collect();
        // u = T v with v the dofs that are left.
        let mut t = Mat::<f64>::zeros(n, free.len());
        for (j, &d) in free.iter().enumerate() {
            t[(d, j)] = 1.0;
            for i in 0..count {
                let c: f64 = rows.row(i).filter(|e| e.0 == d).map(|e| e.1).sum();
                t[(3 * i, j)] = -c;
            }
        }
        let dense = |a: &BlockMatrix| {
            let a = a.to_dense();
            t.transpose() * Mat::from_fn(n, n, |i, j| a[i][j]) * &t
        };
        let expected = reduced_values(dense(&k), &dense(&m));
        let found = constrained_modes(&k, &m, &none, &rows, 10, 1e-10).unwrap();
        let mut kept = vec![0.0; count];
        for (u, (a, b)) in found.vectors.iter().zip(expected.iter().zip(&found.values)) {
            assert!((a - b).abs() < 1e-9 * expected[9], "{count} rows: {a} {b}");
            rows.mul(u, &mut kept);
            assert!(kept.iter().all(|g| g.abs() < 1e-9), "{count} rows: {kept:?}");
        }
        let most = n - count;
        let error = constrained_modes(&k, &m, &none, &rows, most + 1, 1e-10).unwrap_err();
        assert_eq!(error, EigenError::TooManyModes { available: most });
    }
}
