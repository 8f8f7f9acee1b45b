//! CG and GMRES: the residual reported is the true one, and trouble is reported as such.

mod common;
use common::*;
use lilyan_solve::{BlockMatrix, Cholesky, Identity, Operator, cg, from_fn, gmres};

fn system() -> (BlockMatrix, Vec<f64>) {
    let (points, tets) = kuhn_box(6, 6, 6);
    let (k, mut a) = elasticity(&points, &tets, 10.0, 1.0);
    a.add_scaled(5.0, &k);
    let b = Random(1).vector(a.dofs());
    (a, b)
}

#[test]
fn both_solve_with_and_without_preconditioner_and_guess() {
    let (a, b) = system();
    let mut near = a.clone();
    near.add_diagonal(&(0..a.dofs()).map(|d| 0.02 * (d % 5) as f64).collect::<Vec<_>>());
    let mut cholesky = Cholesky::new();
    cholesky.factor(&near).unwrap();
    for tolerance in [1e-4, 1e-8, 1e-12] {
        for guess in [false, true] {
            for solver in [cg, gmres] {
                let start = if guess { Random(7).vector(b.len()) } else { vec![0.0; b.len()] };
                let mut apply = &a;
                let mut x = start.clone();
                let plain = solver(&mut apply, &mut Identity, &b, &mut x, tolerance, 3000);
                assert!(plain.converged && residual(&a, &x, &b) <= 1.001 * tolerance, "{plain:?}");
                let mut y = start;
                let preconditioned =
                    solver(&mut apply, &mut |z: &mut [f64]| cholesky.solve(z), &b, &mut y, tolerance, 3000);
                let honest = residual(&a, &y, &b);
                assert!(preconditioned.converged && honest <= 1.001 * tolerance, "{preconditioned:?}");
                assert!((preconditioned.relative_residual / honest - 1.0).abs() < 0.1 || honest < 1e-13);
                assert!(preconditioned.iterations < plain.iterations);
            }
        }
    }
}

#[test]
fn an_exact_preconditioner_needs_one_iteration() {
    let (a, b) = system();
    let mut cholesky = Cholesky::new();
    cholesky.factor(&a).unwrap();
    for solver in [cg, gmres] {
        let mut x = vec![0.0; b.len()];
        let report = solver(&mut &a, &mut |z: &mut [f64]| cholesky.solve(z), &b, &mut x, 1e-10, 10);
        assert!(report.converged && report.iterations == 1, "{report:?}");
    }
}

#[test]
fn gmres_solves_what_is_not_symmetric() {
    // upper bidiagonal with a rotation in it
    let n = 40;
    let mut apply = from_fn(n, |x, y| {
        for i in 0..n {
            y[i] = (2.0 + i as f64 / 10.0) * x[i] + 1.5 * x[(i + 1) % n] - 0.5 * x[(i + 7) % n];
        }
    });
    let b = Random(2).vector(n);
    let mut x = vec![0.0; n];
    let report = gmres(&mut apply, &mut Identity, &b, &mut x, 1e-13, 200);
    assert!(report.converged && report.iterations <= n, "{report:?}");
    let mut y = vec![0.0; n];
    apply.apply(&x, &mut y);
    assert!(y.iter().zip(&b).all(|(p, q)| (p - q).abs() < 1e-12));
}

#[test]
fn trouble_is_reported() {
    let n = 10;
    let b = Random(3).vector(n);
    // indefinite
    let mut apply =
        from_fn(n, |x, y| (0..n).for_each(|i| y[i] = if i == 4 { -x[i] } else { x[i] * (1 + i) as f64 }));
    let mut x = vec![0.0; n];
    let report = cg(&mut apply, &mut Identity, &b, &mut x, 1e-12, 100);
    assert!(report.negative_curvature && !report.converged);
    assert!(x.iter().zip(&b).map(|(p, q)| p * q).sum::<f64>() > 0.0, "a direction of descent");
    x.fill(0.0);
    assert!(gmres(&mut apply, &mut Identity, &b, &mut x, 1e-12, 100).converged);
    // singular and inconsistent
    for solver in [cg, gmres] {
        let mut apply = from_fn(n, |x, y| (0..n).for_each(|i| y[i] = if i == 4 { 0.0 } else { x[i] }));
        let mut x = vec![0.0; n];
        let report = solver(&mut apply, &mut Identity, &b, &mut x, 1e-12, 100);
        assert!(!report.converged && x.iter().all(|v| v.is_finite()), "{report:?}");
    }
    // the zero operator, not-a-number, too few iterations
    for solver in [cg, gmres] {
        let mut x = vec![0.0; n];
        assert!(
            !solver(&mut from_fn(n, |_, y| y.fill(0.0)), &mut Identity, &b, &mut x, 1e-12, 100).converged
        );
        let mut x = vec![0.0; n];
        assert!(
            !solver(&mut from_fn(n, |_, y| y.fill(f64::NAN)), &mut Identity, &b, &mut x, 1e-12, 100)
                .converged
        );
        let mut x = vec![0.0; n];
        let mut apply = from_fn(n, |x, y| (0..n).for_each(|i| y[i] = x[i] * (1 + i * i) as f64));
        let report = solver(&mut apply, &mut Identity, &b, &mut x, 1e-12, 3);
        assert!(!report.converged && report.iterations == 3);
    }
    // nothing to do
    for solver in [cg, gmres] {
        let mut x = b.clone();
        let report = solver(
            &mut from_fn(n, |x, y| y.copy_from_slice(x)),
            &mut Identity,
            &vec![0.0; n],
            &mut x,
            1e-12,
            3,
        );
        assert!(report.converged && report.iterations == 0 && x.iter().all(|&v| v == 0.0));
    }
}
