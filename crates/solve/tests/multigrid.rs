//! Smoothed aggregation: what must hold of it as a preconditioner, and where it pays.

mod common;

use common::{Random, bits, elasticity, kuhn_box, residual};
use lilyan_solve::newton::{
    Curvature, Objective, ReuseKey, SolveError, SolveReport, Stopping, Workspace, minimize,
};
use lilyan_solve::{BlockMatrix, Cholesky, Incomplete, Multigrid, Preconditioner, cg};

/// Positions, and M + s K of a cube with so many cells along each edge.
fn cube(n: usize, stiffness: f64) -> (Vec<f64>, BlockMatrix) {
    let (mut points, tets) = kuhn_box(n, n, n);
    points.iter_mut().flatten().for_each(|x| *x /= n as f64);
    let (mut a, m) = elasticity(&points, &tets, 2.0 * stiffness, stiffness);
    a.add_scaled(1.0, &m);
    (points.into_flattened(), a)
}

/// Cells along the edge of a cube for which levels are tried before a factor.
const LARGE: usize = 22;

/// Holds the nodes at x = 0.
fn clamp(positions: &[f64], a: &mut BlockMatrix) {
    let held: Vec<bool> = positions.chunks(3).flat_map(|x| [x[0] == 0.0; 3]).collect();
    a.hold(&held);
}

fn made(a: &BlockMatrix, positions: &[f64]) -> Multigrid {
    let mut levels = Multigrid::default();
    levels.factor(a, positions).unwrap();
    levels
}

/// Iterations to 1e-8.
fn iterations(a: &BlockMatrix, preconditioner: &mut dyn Preconditioner) -> usize {
    let b = Random(5).vector(a.dofs());
    let mut x = vec![0.0; b.len()];
    let report = cg(&mut &*a, preconditioner, &b, &mut x, 1e-8, 2000);
    assert!(report.converged && residual(a, &x, &b) < 1.1e-8, "{report:?}");
    report.iterations
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// xᵀP⁻¹y = yᵀP⁻¹x, xᵀP⁻¹x > 0: for free and clamped bodies, also for matrices near the one that the levels were made of.
#[test]
fn it_is_symmetric_and_positive_definite() {
    for (stiffness, held) in [(1.0, false), (1e6, false), (1e6, true)] {
        let (positions, mut a) = cube(9, stiffness);
        if held {
            clamp(&positions, &mut a);
        }
        let mut levels = made(&a, &positions);
        let mut near = a.clone();
        near.scale(1.03);
        for a in [&a, &near] {
            let mut random = Random(1);
            for _ in 0..20 {
                let (x, y) = (random.vector(a.dofs()), random.vector(a.dofs()));
                let (mut px, mut py) = (x.clone(), y.clone());
                levels.solve(a, &mut px);
                levels.solve(a, &mut py);
                let [xx, yy, xy, yx] =
                    [product(&x, &px), product(&y, &py), product(&x, &py), product(&y, &px)];
                assert!(xx > 0.0 && yy > 0.0);
                assert!((xy - yx).abs() < 1e-9 * (xx * yy).sqrt(), "{stiffness}: {xy} and {yx}");
            }
        }
    }
}

/// From 375 to 6591 unknowns, h²K ≫ M: nearly the same number, and far fewer than without fill.
#[test]
fn iterations_hardly_grow_with_the_mesh() {
    let counts = [4, 8, 12].map(|n| {
        let (positions, mut a) = cube(n, 1e8);
        clamp(&positions, &mut a);
        let mut levels = made(&a, &positions);
        let mut incomplete = Incomplete::default();
        incomplete.factor(&a);
        [
            iterations(&a, &mut |x: &mut [f64]| levels.solve(&a, x)),
            iterations(&a, &mut |x: &mut [f64]| incomplete.solve(x)),
        ]
    });
    assert!(counts[2][0] <= counts[0][0] + 8, "{counts:?}");
    assert!(2 * counts[2][0] < counts[2][1], "{counts:?}");
}

/// A free body far from the origin, stiff beside its inertia: with translations alone on the coarse levels its rotations take
/// long.
#[test]
fn rigid_motions_are_kept() {
    let (mut positions, a) = cube(9, 1e4);
    positions.iter_mut().for_each(|x| *x += 100.0);
    let mut levels = made(&a, &positions);
    let free = iterations(&a, &mut |x: &mut [f64]| levels.solve(&a, x));
    let mut flat = made(&a, &vec![0.0; positions.len()]);
    let translations = iterations(&a, &mut |x: &mut [f64]| flat.solve(&a, x));
    assert!(free < 40 && free < translations, "{free}, with translations alone {translations}");
}

/// Two boxes and a single tet that know nothing of each other, and a node by itself.
#[test]
fn bodies_may_be_many_and_small() {
    let (mut points, mut tets) = kuhn_box(5, 5, 5);
    let tet = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for ((more, others), away) in [(kuhn_box(3, 2, 4), 9.0), ((tet, vec![[0, 1, 2, 3]]), 20.0)] {
        let first = points.len() as u32;
        points.extend(more.iter().map(|x| [x[0] + away, x[1], x[2]]));
        tets.extend(others.iter().map(|t| t.map(|i| i + first)));
    }
    points.push([30.0, 0.0, 0.0]);
    let (mut a, m) = elasticity(&points, &tets, 1e6, 1e6);
    a.add_scaled(1.0, &m);
    let mut alone = vec![0.0; a.dofs()];
    alone[3 * points.len() - 3..].fill(2.0);
    a.add_diagonal(&alone);
    let positions = points.as_flattened();
    let mut levels = made(&a, positions);
    let count = iterations(&a, &mut |x: &mut [f64]| levels.solve(&a, x));
    assert!(count < 60, "{count}");
}

/// Bits do not depend on the threads.
#[test]
fn threads_do_not_change_a_bit() {
    let (positions, mut a) = cube(14, 1e6);
    clamp(&positions, &mut a);
    let b = Random(3).vector(a.dofs());
    let on = |threads: usize| {
        lilyan_parallel::threads::set_threads(threads);
        let mut x = b.clone();
        made(&a, &positions).solve(&a, &mut x);
        bits(&x)
    };
    let one = on(1);
    assert!([2, 3].iter().all(|&threads| on(threads) == one));
    lilyan_parallel::threads::set_threads(0);
}

/// A matrix that is not positive definite, or not finite, is refused, or met with a negative curvature.
#[test]
fn what_is_not_positive_definite_is_told() {
    let (positions, a) = cube(6, 1.0);
    let mut broken = a.clone();
    broken.add_block(40, 40, &[f64::NAN; 9]);
    let error = Multigrid::default().factor(&broken, &positions).unwrap_err();
    assert!(!error.finite && error.dof / 3 == 40, "{error}");
    let mut negative = a.clone();
    negative.add_block(40, 40, &[-10.0, 0.0, 0.0, 0.0, -10.0, 0.0, 0.0, 0.0, -10.0]);
    let error = Multigrid::default().factor(&negative, &positions).unwrap_err();
    assert!(error.finite && error.dof / 3 == 40, "{error}");
    // All diagonal blocks are positive, but not the whole.
    let mut soft = a.clone();
    soft.add_diagonal(&vec![-0.01; a.dofs()]);
    assert!(Cholesky::new().factor(&soft).is_err());
    let error = Multigrid::default().factor(&soft, &positions).unwrap_err();
    assert!(error.finite && error.dof < a.dofs());
}

/// ½xᵀAx + ¼c Σd⁴ − bᵀd, where d is the distance from rest and x the position.
struct Quartic {
    a: BlockMatrix,
    rest: Vec<f64>,
    c: f64,
    b: Vec<f64>,
}

impl Quartic {
    fn displacement(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.rest).map(|(x, rest)| x - rest).collect()
    }
}

impl Objective for Quartic {
    fn value(&mut self, x: &[f64]) -> (f64, f64) {
        let d = self.displacement(x);
        let square = 0.5 * self.a.quadratic_form(&d);
        let rest: f64 = d.iter().zip(&self.b).map(|(d, b)| 0.25 * self.c * d.powi(4) - b * d).sum();
        let terms: f64 = d.iter().zip(self.a.diagonal()).map(|(d, k)| k * d * d).sum();
        (square + rest, terms + rest.abs())
    }
    fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
        let d = self.displacement(x);
        self.a.mul_vec(&d, g);
        for i in 0..d.len() {
            g[i] += self.c * d[i].powi(3) - self.b[i];
        }
    }
    fn hessian(&mut self, x: &[f64], _: Curvature, h: &mut BlockMatrix) {
        h.clear();
        h.add_scaled(1.0, &self.a);
        let diagonal: Vec<f64> = self.displacement(x).iter().map(|d| 3.0 * self.c * d * d).collect();
        h.add_diagonal(&diagonal);
    }
    fn reuse_key(&self) -> Option<ReuseKey> {
        Some(ReuseKey { time: 0.0, same: [self.c, 0.0, 0.0] })
    }
}

fn minimum(
    a: &BlockMatrix,
    rest: &[f64],
    load: f64,
    tolerance: f64,
    [most, direct]: [usize; 2],
    work: &mut Workspace,
) -> Result<(Vec<f64>, SolveReport), SolveError> {
    let b = Random(9).vector(a.dofs()).iter().map(|b| load * b).collect();
    let mut objective = Quartic { a: a.clone(), rest: rest.to_vec(), c: 0.5, b };
    let mut x = rest.to_vec();
    let stopping = Stopping {
        tolerance,
        max_iterations: most,
        length: 1.0,
        direct: direct > 0,
        conserving: false,
        enough: None,
    };
    minimize(&mut objective, &mut x, rest, &stopping, work).map(|report| (x, report))
}

fn furthest(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// In Newton's method, on a body whose factor would cost more: no factorisation, the minimum that factorisations find, levels
/// that serve the next solve, and neither failures nor a restart change a bit.
#[test]
fn newtons_method_keeps_levels_as_it_keeps_factors() {
    let (rest, a) = cube(LARGE, 1e5);
    let solve = |load: f64, tolerance: f64, most: usize, direct: bool, work: &mut Workspace| {
        let b = Random(9).vector(a.dofs()).iter().map(|b| load * b).collect();
        let mut objective = Quartic { a: a.clone(), rest: rest.clone(), c: 0.5, b };
        let mut x = rest.clone();
        let stopping = Stopping {
            tolerance,
            max_iterations: most,
            length: 1.0,
            direct,
            conserving: false,
            enough: None,
        };
        minimize(&mut objective, &mut x, &rest, &stopping, work).map(|report| (x, report))
    };
    let first = || {
        let mut work = Workspace::new(a.pattern().clone());
        let (x, report) = solve(1.0, 1e-8, 50, false, &mut work).unwrap();
        assert!(report.multigrid > 0 && work.factorizations() == 0);
        (x, work)
    };
    let (x, mut whole) = first();
    let (direct, _) = solve(1.0, 1e-8, 50, true, &mut Workspace::new(a.pattern().clone())).unwrap();
    assert!(furthest(&x, &direct) < 1e-7 * furthest(&direct, &rest));

    let memory = whole.memory();
    assert!(memory.kept.is_some(), "the levels are to serve again");
    let (next, _) = solve(1.1, 1e-8, 50, false, &mut whole).unwrap();

    let (_, mut failed) = first();
    for _ in 0..2 {
        assert!(solve(1e9, 1e-15, 1, false, &mut failed).is_err());
        assert_eq!(failed.memory(), memory);
    }
    assert!(bits(&solve(1.1, 1e-8, 50, false, &mut failed).unwrap().0) == bits(&next));

    let mut restarted = Workspace::new(a.pattern().clone());
    restarted.restore(&memory);
    assert_eq!(restarted.memory(), memory);
    assert!(bits(&solve(1.1, 1e-8, 50, false, &mut restarted).unwrap().0) == bits(&next));
    assert_eq!([whole, restarted].map(|work| work.factorizations()), [0, 0]);
}

/// Tets a hundred times longer than wide: levels take too long, and a factor does it.
#[test]
fn where_levels_fail_a_factor_is_made() {
    let (mut points, tets) = kuhn_box(LARGE, LARGE, LARGE);
    points.iter_mut().for_each(|x| x[0] *= 100.0);
    let (mut a, m) = elasticity(&points, &tets, 2e7, 1e7);
    a.add_scaled(1.0, &m);
    let rest = points.as_flattened();
    let mut work = Workspace::new(a.pattern().clone());
    let (x, report) = minimum(&a, rest, 1.0, 1e-8, [50, 0], &mut work).unwrap();
    assert!(report.multigrid < report.iterations && work.factorizations() > 0, "{report:?}");
    let direct = minimum(&a, rest, 1.0, 1e-8, [50, 1], &mut work).unwrap().0;
    assert!(furthest(&x, &direct) < 1e-7 * furthest(&direct, rest));
}
