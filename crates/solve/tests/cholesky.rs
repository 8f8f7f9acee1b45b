//! The Cholesky factorisation: right answers, errors that name the right dof, and bits that repeat.

mod common;
use common::*;
use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky, Ordering, scaled_condition};
use std::sync::Arc;

#[test]
fn random_matrices_are_solved() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let n = 1 + random.below(150);
        let count = random.below(3 * n);
        let tets = random_tets(&mut random, n, count);
        let a = random_spd(&mut random, n, &tets, 0.1);
        for ordering in [Ordering::Automatic, Ordering::MinimumDegree, Ordering::NestedDissection] {
            let mut cholesky = Cholesky::with_ordering(ordering);
            cholesky.factor(&a).unwrap();
            let b = random.vector(3 * n);
            let mut x = b.clone();
            cholesky.solve(&mut x);
            assert!(residual(&a, &x, &b) < 1e-12);
            let many: Vec<f64> = random.vector(3 * n * 5);
            let mut y = many.clone();
            cholesky.solve_many(&mut y, 5);
            for c in 0..5 {
                let part = c * 3 * n..(c + 1) * 3 * n;
                assert!(residual(&a, &y[part.clone()], &many[part]) < 1e-12);
            }
        }
    }
}

#[test]
fn a_mesh_beyond_the_switch_to_nested_dissection_is_solved() {
    let (points, tets) = kuhn_box(12, 12, 12);
    let (k, m) = elasticity(&points, &tets, 10.0, 1.0);
    let mut a = m.clone();
    a.add_scaled(1.0, &k);
    let mut cholesky = Cholesky::new();
    cholesky.factor(&a).unwrap();
    let b = Random(1).vector(a.dofs());
    let mut x = b.clone();
    cholesky.solve(&mut x);
    assert!(residual(&a, &x, &b) < 1e-12);
}

/// Of x and y, the largest difference relative to the largest number.
fn apart(x: &[f64], y: &[f64]) -> f64 {
    let size = y.iter().fold(0.0f64, |m, y| m.max(y.abs()));
    x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / size
}

#[test]
fn a_preconditioner_is_nearly_the_inverse() {
    let mut random = Random(11);
    let mut cases: Vec<BlockMatrix> = (0..20)
        .map(|_| {
            let n = 1 + random.below(150);
            let count = random.below(3 * n);
            let tets = random_tets(&mut random, n, count);
            random_spd(&mut random, n, &tets, 0.1)
        })
        .collect();
    // Large enough to be shared out, one deep and one flat.
    for (nx, ny, nz) in [(12, 12, 12), (2, 20, 40)] {
        let (points, tets) = kuhn_box(nx, ny, nz);
        let (k, mut a) = elasticity(&points, &tets, 10.0, 1.0);
        a.add_scaled(0.1, &k);
        cases.push(a);
    }
    for a in &cases {
        for ordering in [Ordering::MinimumDegree, Ordering::NestedDissection] {
            let mut cholesky = Cholesky::with_ordering(ordering);
            // Twice, since a renewed factor needs a renewed copy.
            for scale in [1.0, 0.5] {
                let mut scaled = a.clone();
                scaled.add_scaled(scale - 1.0, a);
                cholesky.factor(&scaled).unwrap();
                let mut x = random.vector(a.dofs());
                let mut y = x.clone();
                cholesky.precondition(&mut x);
                cholesky.solve(&mut y);
                assert!(apart(&x, &y) < 1e-4, "{} unknowns: {:e}", a.dofs(), apart(&x, &y));
                // A copy that is wrong is not used: then the results would be the same.
                assert!(a.dofs() < 1000 || bits(&x) != bits(&y), "{} unknowns: not rounded", a.dofs());
            }
        }
    }
}

/// What does not fit single precision stays in double.
#[test]
fn huge_and_tiny_numbers_are_preconditioned_too() {
    let (points, tets) = kuhn_box(8, 8, 8);
    let (k, mut a) = elasticity(&points, &tets, 10.0, 1.0);
    a.add_scaled(0.1, &k);
    for scale in [1e90, 1e-90] {
        let mut scaled = BlockMatrix::zeros(a.pattern().clone());
        scaled.add_scaled(scale, &a);
        let mut cholesky = Cholesky::new();
        cholesky.factor(&scaled).unwrap();
        let mut x = Random(12).vector(a.dofs());
        let mut y = x.clone();
        cholesky.precondition(&mut x);
        cholesky.solve(&mut y);
        assert!(bits(&x) == bits(&y), "{scale:e}: {:e}", apart(&x, &y));
    }
}

#[test]
fn nested_dissection_needs_no_more_work_than_minimum_degree() {
    let (points, tets) = kuhn_box(12, 12, 12);
    let (_, mass) = elasticity(&points, &tets, 1.0, 1.0);
    let work = |ordering| {
        let mut cholesky = Cholesky::with_ordering(ordering);
        cholesky.factor(&mass).unwrap();
        (cholesky.flops_estimate(), cholesky.nonzeros())
    };
    let (dissection, degree) = (work(Ordering::NestedDissection), work(Ordering::MinimumDegree));
    println!("12³ cells: (flops, nonzeros) dissection {dissection:?}, minimum degree {degree:?}");
    assert!(dissection.0 <= degree.0);
    assert_eq!(work(Ordering::Automatic), dissection);
}

#[test]
fn extra_couplings_extend_the_analysis_and_stay() {
    let mut random = Random(5);
    let n = 200;
    let tets = random_tets(&mut random, n, 150);
    let plain = random_spd(&mut random, n, &tets, 5.0);
    let mut cholesky = Cholesky::new();
    cholesky.factor(&plain).unwrap();
    cholesky.factor(&plain).unwrap();
    assert_eq!((cholesky.analyses(), cholesky.factorizations()), (1, 2));
    let solve = |cholesky: &mut Cholesky, a: &BlockMatrix| {
        cholesky.factor(a).unwrap();
        let b = Random(9).vector(3 * n);
        let mut x = b.clone();
        cholesky.solve(&mut x);
        assert!(residual(a, &x, &b) < 1e-12);
        x
    };
    let mut contact = plain.clone();
    for _ in 0..30 {
        let (i, j) = (random.below(n), random.below(n));
        if i != j {
            contact.add_block(i, j, &std::array::from_fn(|_| 0.3 * random.number()));
        }
    }
    assert!(contact.extra().len() > 10);
    let in_contact = solve(&mut cholesky, &contact);
    assert_eq!(cholesky.analyses(), 2);
    // gone, and back: known
    solve(&mut cholesky, &plain);
    assert_eq!(bits(&solve(&mut cholesky, &contact)), bits(&in_contact));
    assert_eq!(cholesky.analyses(), 2);
    // one more
    let mut more = contact.clone();
    let far = (0..n).find(|&i| {
        i > 0 && contact.pattern().position(i, 0).is_none() && !contact.extra().contains_key(&(i as u32, 0))
    });
    more.add_block(far.unwrap(), 0, &[0.1; 9]);
    solve(&mut cholesky, &more);
    assert_eq!(cholesky.analyses(), 3);
    // a restart that is told what was seen repeats the bits
    let last = solve(&mut cholesky, &plain);
    let mut again = Cholesky::with_couplings(cholesky.couplings());
    assert_eq!(bits(&solve(&mut again, &plain)), bits(&last));
}

#[test]
fn couplings_of_long_ago_are_forgotten_the_same_way_after_a_restart() {
    let mut random = Random(8);
    let n = 120;
    let tets = random_tets(&mut random, n, 90);
    let plain = random_spd(&mut random, n, &tets, 5.0);
    // a contact of ten couplings that wanders
    let contact = |k: usize| {
        let mut a = plain.clone();
        for i in 0..10 {
            a.add_block((7 * k + i) % n, (7 * k + i + n / 2) % n, &[0.01; 9]);
        }
        a
    };
    let b = Random(9).vector(3 * n);
    let step = |cholesky: &mut Cholesky, k: usize| {
        cholesky.factor(&contact(k)).unwrap();
        let mut x = b.clone();
        cholesky.solve(&mut x);
        bits(&x)
    };
    let mut whole = Cholesky::new();
    for k in 0..40 {
        // Asked for in between, as a checkpoint does.
        let mut resumed = Cholesky::with_couplings(whole.couplings());
        assert_eq!(step(&mut resumed, k), step(&mut whole, k), "step {k}");
        assert_eq!(resumed.couplings(), whole.couplings(), "step {k}");
        assert!(whole.couplings().len() <= 4 * contact(k).extra().len(), "step {k}");
    }
    // In use or not: what is not new forgets nothing.
    let kept = whole.couplings().to_vec();
    whole.factor(&plain).unwrap();
    assert_eq!(whole.couplings(), kept);
}

#[test]
fn equal_patterns_are_recognised_by_content() {
    let mut random = Random(6);
    let tets = random_tets(&mut random, 50, 40);
    let a = random_spd(&mut random, 50, &tets, 1.0);
    let b = random_spd(&mut random, 50, &tets, 1.0);
    assert!(!Arc::ptr_eq(a.pattern(), b.pattern()));
    let mut cholesky = Cholesky::new();
    cholesky.factor(&a).unwrap();
    cholesky.factor(&b).unwrap();
    assert_eq!(cholesky.analyses(), 1);
    let other = random_spd(&mut random, 60, &tets, 1.0);
    cholesky.factor(&other).unwrap();
    assert_eq!(cholesky.analyses(), 2);
}

#[test]
fn renewed_and_fresh_factors_have_the_same_bits() {
    let (points, tets) = kuhn_box(8, 8, 16);
    let (k, m) = elasticity(&points, &tets, 5.0, 1.0);
    let matrix = |h: f64| {
        let mut a = m.clone();
        a.add_scaled(h * h, &k);
        a
    };
    let b = Random(2).vector(m.dofs());
    let solve = |cholesky: &mut Cholesky, h| {
        cholesky.factor(&matrix(h)).unwrap();
        let mut x = b.clone();
        cholesky.solve(&mut x);
        bits(&x)
    };
    let mut renewed = Cholesky::new();
    solve(&mut renewed, 0.5);
    let mut indefinite = matrix(1.0);
    indefinite.add_diagonal(&vec![-1.0; m.dofs()]);
    assert!(renewed.factor(&indefinite).is_err());
    assert_eq!(solve(&mut renewed, 2.0), solve(&mut Cholesky::new(), 2.0));
}

#[test]
fn the_error_names_the_dof() {
    // A diagonal matrix leaves no doubt which dof it is.
    for (n, bad) in [(1, 2), (7, 4), (700, 1234)] {
        let mut a = BlockMatrix::zeros(Arc::new(BlockPattern::from_cliques(n, std::iter::empty())));
        let mut diagonal = vec![1.0; 3 * n];
        for value in [0.0, -1.0] {
            diagonal[bad] = value;
            a.clear();
            a.add_diagonal(&diagonal);
            let error = Cholesky::new().factor(&a).unwrap_err();
            assert_eq!((error.dof, error.finite), (bad, true));
        }
    }
    // In a coupled one, only the bad dof has a negative diagonal, large enough that it fails at its own pivot.
    let (points, tets) = kuhn_box(12, 12, 12);
    let (k, mut a) = elasticity(&points, &tets, 5.0, 1.0);
    a.add_scaled(1.0, &k);
    for bad in [0, 17, 3000, a.dofs() - 1] {
        let mut diagonal = vec![0.0; a.dofs()];
        diagonal[bad] = -1e6;
        let mut broken = a.clone();
        broken.add_diagonal(&diagonal);
        for ordering in [Ordering::MinimumDegree, Ordering::NestedDissection] {
            let error = Cholesky::with_ordering(ordering).factor(&broken).unwrap_err();
            assert_eq!(error.dof, bad, "{error}");
        }
    }
}

#[test]
fn what_is_not_finite_is_an_error() {
    let (points, tets) = kuhn_box(3, 3, 3);
    let (_, m) = elasticity(&points, &tets, 5.0, 1.0);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut a = m.clone();
        let mut diagonal = vec![0.0; a.dofs()];
        diagonal[13] = value;
        a.add_diagonal(&diagonal);
        let error = Cholesky::new().factor(&a).unwrap_err();
        assert_eq!((error.dof, error.finite), (13, false));
    }
    // finite, but beyond what squares can hold
    let mut a = m.clone();
    a.scale(1e308);
    let mut cholesky = Cholesky::new();
    if cholesky.factor(&a).is_ok() {
        let mut x = vec![1.0; a.dofs()];
        cholesky.solve(&mut x);
        assert!(x.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn one_node_and_no_node() {
    let mut a = BlockMatrix::zeros(Arc::new(BlockPattern::from_cliques(1, std::iter::empty())));
    a.add_block(0, 0, &[4.0, 1.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 2.0]);
    let mut cholesky = Cholesky::new();
    cholesky.factor(&a).unwrap();
    let mut x = [5.0, 4.0, 2.0];
    cholesky.solve(&mut x);
    for v in x {
        assert!((v - 1.0).abs() < 1e-15);
    }
    let nothing = BlockMatrix::zeros(Arc::new(BlockPattern::from_cliques(0, std::iter::empty())));
    cholesky.factor(&nothing).unwrap();
    cholesky.solve(&mut []);
}

#[test]
fn held_dofs_keep_their_right_hand_side() {
    let (points, tets) = kuhn_box(4, 4, 4);
    let (mut k, _) = elasticity(&points, &tets, 5.0, 1.0);
    let held: Vec<bool> = (0..k.dofs()).map(|d| points[d / 3][2] == 0.0).collect();
    k.hold(&held);
    let mut cholesky = Cholesky::new();
    cholesky.factor(&k).unwrap();
    let b = Random(3).vector(k.dofs());
    let mut x = b.clone();
    cholesky.solve(&mut x);
    assert!(residual(&k, &x, &b) < 1e-12);
    for d in 0..k.dofs() {
        assert!(!held[d] || x[d] == b[d]);
    }
}

/// The estimate is a lower bound, and within a factor of 3, of the condition number that all columns of the inverse give.
#[test]
fn condition_numbers_are_estimated() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let n = 5 + random.below(20);
        let tets = random_tets(&mut random, n, 3 * n);
        let a = random_spd(&mut random, n, &tets, 0.1);
        let d: Vec<f64> = (0..3 * n).map(|_| 1.0 + random.number().abs()).collect();
        let mut factor = Cholesky::new();
        factor.factor(&a).unwrap();
        let norm = |column: &mut dyn FnMut(usize) -> Vec<f64>| {
            (0..3 * n).map(|j| column(j).iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
        };
        let dense = a.to_dense();
        let of_a: f64 = norm(&mut |j| (0..3 * n).map(|i| dense[i][j] / d[i]).collect());
        let of_inverse: f64 = norm(&mut |j| {
            let mut x = vec![0.0; 3 * n];
            x[j] = d[j];
            factor.solve(&mut x);
            x
        });
        let (estimate, exact) = (scaled_condition(&a, &d).unwrap(), of_a * of_inverse);
        assert!((0.3 * exact..=1.000_001 * exact).contains(&estimate), "{estimate} instead of {exact}");
    }
}
