//! Linear systems inside Newton's method: incomplete factors, and the choice between them and whole ones.

use lilyan_solve::newton::{
    Curvature, Kept, KeptMemory, Objective, ReuseKey, SolverMemory, Stopping, Workspace, minimize,
};
use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky, Incomplete};
use std::sync::Arc;

/// A matrix on these links: `stiffness` along each, more along x than across, and a mass at every node.
fn network(nodes: usize, links: &[[u32; 2]], stiffness: f64, mass: f64) -> BlockMatrix {
    let pattern = BlockPattern::from_cliques(nodes, links.iter().map(|l| l.as_slice()));
    let mut a = BlockMatrix::zeros(Arc::new(pattern));
    for &[i, j] in links {
        let (i, j) = (i as usize, j as usize);
        let s = stiffness * (1.0 + 0.3 * ((i + 2 * j) % 5) as f64);
        let block = [2.0 * s, 0.3 * s, 0.0, 0.3 * s, s, 0.2 * s, 0.0, 0.2 * s, 1.5 * s];
        a.add_block(i, i, &block);
        a.add_block(j, j, &block);
        a.add_block(j, i, &block.map(|x| -x));
    }
    a.add_diagonal(&vec![mass; 3 * nodes]);
    a
}

fn grid(n: usize) -> (usize, Vec<[u32; 2]>) {
    let at = |i: usize, j: usize, k: usize| ((i * n + j) * n + k) as u32;
    let mut links = Vec::new();
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                for (a, b, c) in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1)] {
                    if i + a < n && j + b < n && k + c < n {
                        links.push([at(i, j, k), at(i + a, j + b, k + c)]);
                    }
                }
            }
        }
    }
    (n * n * n, links)
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.37 * i as f64).sin() + 0.2).collect()
}

/// Criteria with this tolerance and iteration limit.
fn stopping(tolerance: f64, max_iterations: usize) -> Stopping {
    Stopping { tolerance, max_iterations, length: 1.0, direct: false, conserving: false, enough: None }
}

/// Without fill there is nothing to leave out.
#[test]
fn of_a_chain_it_is_the_whole_factor() {
    // In one part, and in two.
    for nodes in [200, 3000] {
        let links: Vec<[u32; 2]> = (1..nodes).map(|i| [i - 1, i]).collect();
        let a = network(nodes as usize, &links, 1e3, 1.0);
        let (mut incomplete, mut whole) = (Incomplete::default(), Cholesky::new());
        incomplete.factor(&a);
        whole.factor(&a).unwrap();
        let (mut x, mut y) = (wave(a.dofs()), wave(a.dofs()));
        incomplete.solve(&mut x);
        whole.solve(&mut y);
        let worst = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        let size = y.iter().fold(0.0f64, |m, y| m.max(y.abs()));
        // It is kept in single precision.
        assert!(worst < 1e-5 * size, "{nodes} nodes: {worst:e} of {size}");
    }
}

/// Even of an indefinite matrix: rᵀP⁻¹r > 0.
#[test]
fn it_is_positive_definite_whatever_the_matrix() {
    let (nodes, links) = grid(6);
    for mass in [1.0, -1.0, -30.0, -1e4] {
        let a = network(nodes, &links, 1.0, mass);
        let mut incomplete = Incomplete::default();
        incomplete.factor(&a);
        for k in 0..20 {
            let r: Vec<f64> = (0..3 * nodes).map(|i| ((i * (k + 1)) as f64 * 0.77).sin()).collect();
            let mut z = r.clone();
            incomplete.solve(&mut z);
            let product: f64 = r.iter().zip(&z).map(|(r, z)| r * z).sum();
            assert!(product > 0.0, "mass {mass}, vector {k}: {product}");
        }
    }
}

/// ½xᵀAx + ¼c Σx⁴ − bᵀx.
struct Quartic {
    a: BlockMatrix,
    c: f64,
    b: Vec<f64>,
}

impl Objective for Quartic {
    fn value(&mut self, x: &[f64]) -> (f64, f64) {
        let square = 0.5 * self.a.quadratic_form(x);
        let rest: f64 = x.iter().zip(&self.b).map(|(x, b)| 0.25 * self.c * x.powi(4) - b * x).sum();
        // Its terms cancel where all nodes move together.
        let terms: f64 = x.iter().zip(self.a.diagonal()).map(|(x, d)| d * x * x).sum();
        (square + rest, terms + rest.abs())
    }
    fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
        self.a.mul_vec(x, g);
        for i in 0..x.len() {
            g[i] += self.c * x[i].powi(3) - self.b[i];
        }
    }
    fn hessian(&mut self, x: &[f64], _: Curvature, h: &mut BlockMatrix) {
        h.clear();
        h.add_scaled(1.0, &self.a);
        let diagonal: Vec<f64> = x.iter().map(|x| 3.0 * self.c * x * x).collect();
        h.add_diagonal(&diagonal);
    }
    fn reuse_key(&self) -> Option<ReuseKey> {
        Some(ReuseKey { time: 0.0, same: [self.c, 0.0, 0.0] })
    }
}

/// A factor serves the next solve; one that fails in between, or a new workspace that is told of it, change no bit.
#[test]
fn failures_and_restarts_repeat_every_bit() {
    let (nodes, links) = grid(5);
    let a = network(nodes, &links, 1e3, 1.0);
    let solve = |load: f64, tolerance: f64, most: usize, work: &mut Workspace| {
        let b = wave(3 * nodes).iter().map(|b| load * b).collect();
        let mut objective = Quartic { a: a.clone(), c: 0.5, b };
        let mut x = vec![0.0; 3 * nodes];
        let stopping = stopping(tolerance, most);
        let origin = x.clone();
        minimize(&mut objective, &mut x, &origin, &stopping, work).map(|_| x)
    };
    let first = || {
        let mut work = Workspace::new(a.pattern().clone());
        solve(1.0, 1e-9, 50, &mut work).unwrap();
        work
    };
    let mut whole = first();
    let memory = whole.memory();
    assert!(memory.kept.is_some(), "the factor is to serve again");
    let next = solve(1.1, 1e-9, 50, &mut whole).unwrap();
    assert_eq!(whole.factorizations(), 1);

    let mut failed = first();
    for _ in 0..2 {
        assert!(solve(30.0, 1e-15, 1, &mut failed).is_err());
        assert_eq!(failed.memory(), memory);
    }
    assert_eq!(solve(1.1, 1e-9, 50, &mut failed).unwrap(), next);

    let mut restarted = Workspace::new(a.pattern().clone());
    restarted.restore(&memory);
    assert_eq!(restarted.memory(), memory);
    assert_eq!(solve(1.1, 1e-9, 50, &mut restarted).unwrap(), next);
}

/// The gradient is not finite at the first point whose value was not evaluated.
struct Trap {
    quartic: Quartic,
    evaluated: Vec<f64>,
    sprung: usize,
}

impl Objective for Trap {
    fn value(&mut self, x: &[f64]) -> (f64, f64) {
        self.evaluated = x.to_vec();
        self.quartic.value(x)
    }
    fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
        self.quartic.gradient(x, g);
        if self.sprung == 0 && x != self.evaluated {
            self.sprung += 1;
            g.fill(f64::NAN);
        }
    }
    fn hessian(&mut self, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.quartic.hessian(x, curvature, h);
    }
    fn reuse_key(&self) -> Option<ReuseKey> {
        self.quartic.reuse_key()
    }
}

/// The second step is limited to half of its direction.
struct Limited {
    quartic: Quartic,
    /// Number of directions so far, and the last point with its direction and limit.
    directions: usize,
    last: Option<(Vec<f64>, Vec<f64>, f64)>,
}

impl Objective for Limited {
    fn value(&mut self, x: &[f64]) -> (f64, f64) {
        self.quartic.value(x)
    }
    fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
        if let Some((from, direction, limit)) = &self.last {
            let went = |i: usize| (x[i] - from[i]).abs() <= limit * direction[i].abs() * (1.0 + 1e-9) + 1e-15;
            assert!((0..x.len()).all(went), "direction {} was followed too far", self.directions);
        }
        self.quartic.gradient(x, g);
    }
    fn hessian(&mut self, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.quartic.hessian(x, curvature, h);
    }
    fn max_step(&mut self, x: &[f64], d: &[f64]) -> f64 {
        self.directions += 1;
        let limit = if self.directions == 2 { 0.5 } else { 1.0 };
        self.last = Some((x.to_vec(), d.to_vec(), limit));
        limit
    }
    fn reuse_key(&self) -> Option<ReuseKey> {
        self.quartic.reuse_key()
    }
}

/// Small systems skip the line search if corrections contract fast, but not beyond a feasible step.
#[test]
fn a_quasi_newton_step_obeys_the_feasible_step() {
    let (nodes, links) = grid(5);
    let a = network(nodes, &links, 1e3, 1.0);
    let mut work = Workspace::new(a.pattern().clone());
    let origin = vec![0.0; 3 * nodes];
    let load = |s: f64| wave(3 * nodes).iter().map(|b| s * b).collect();
    let quartic = |b| Quartic { a: a.clone(), c: 0.5, b };
    let mut x = origin.clone();
    minimize(&mut quartic(load(1.0)), &mut x, &origin, &stopping(1e-9, 50), &mut work).unwrap();
    let mut limited = Limited { quartic: quartic(load(1.1)), directions: 0, last: None };
    minimize(&mut limited, &mut x, &origin, &stopping(1e-9, 50), &mut work).unwrap();
    assert!(limited.directions > 2, "converged before the limit");
}

/// Small systems skip the line search if corrections contract fast. A step to an infeasible point is undone.
#[test]
fn a_quasi_newton_step_to_an_infeasible_point_is_undone() {
    let (nodes, links) = grid(5);
    let a = network(nodes, &links, 1e3, 1.0);
    let mut work = Workspace::new(a.pattern().clone());
    let origin = vec![0.0; 3 * nodes];
    let stopping = stopping(1e-9, 50);
    let load = |s: f64| wave(3 * nodes).iter().map(|b| s * b).collect();
    let quartic = |b| Quartic { a: a.clone(), c: 0.5, b };
    let mut first = origin.clone();
    minimize(&mut quartic(load(1.0)), &mut first, &origin, &stopping, &mut work).unwrap();
    let mut trap = Trap { quartic: quartic(load(1.1)), evaluated: Vec::new(), sprung: 0 };
    let mut x = first.clone();
    minimize(&mut trap, &mut x, &origin, &stopping, &mut work).unwrap();
    assert_eq!(trap.sprung, 1, "no step was taken without a line search");
    let mut g = vec![0.0; 3 * nodes];
    trap.quartic.gradient(&x, &mut g);
    let worst = g.iter().fold(0.0f64, |m, g| m.max(g.abs()));
    assert!(worst < 1e-6, "{worst:e}");
}

/// A moderately stiff system is solved by iterations alone. For a stiff one the first system reaches the iteration limit,
/// and factors are used from then on. Both give the minimum that a factorisation of every system gives.
#[test]
fn the_solver_is_chosen_by_cost() {
    let (nodes, links) = grid(13);
    assert!(3 * nodes > 6000);
    for (stiffness, mild) in [(1.0, true), (1e6, false)] {
        let a = network(nodes, &links, stiffness, 1.0);
        let solve = |direct: bool| {
            let mut objective = Quartic { a: a.clone(), c: 0.5, b: wave(3 * nodes) };
            let mut work = Workspace::new(a.pattern().clone());
            let mut x = vec![0.0; 3 * nodes];
            let stopping = Stopping {
                tolerance: 1e-9,
                max_iterations: 50,
                length: 1.0,
                direct,
                conserving: true,
                enough: None,
            };
            let origin = x.clone();
            let report = minimize(&mut objective, &mut x, &origin, &stopping, &mut work).unwrap();
            (x, report, work.memory(), work.factorizations())
        };
        let (x, report, memory, factorizations) = solve(false);
        let (y, fresh, _, all) = solve(true);
        assert_eq!((fresh.linear_iterations, all), (0, fresh.iterations));
        assert_eq!(
            (memory == SolverMemory::default(), factorizations == 0),
            (mild, mild),
            "{memory:?}, {factorizations}"
        );
        assert!(report.linear_iterations > 0 && factorizations <= 2);
        let size = y.iter().fold(0.0f64, |m, y| m.max(y.abs()));
        let worst = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(worst <= 1e-9 * size, "stiffness {stiffness}: {worst:e} of {size}");
    }
}

/// Products are cut into strips, by the pattern alone. A coupling outside of it (a contact) is not forgotten.
#[test]
fn threads_do_not_change_a_bit() {
    let (nodes, links) = grid(21);
    let mut a = network(nodes, &links, 10.0, 1.0);
    let contact = [50.0, 0.0, 10.0, 0.0, 20.0, 0.0, 10.0, 0.0, 30.0];
    a.add_block(3, 3, &contact);
    a.add_block(nodes - 5, nodes - 5, &contact);
    a.add_block(nodes - 5, 3, &contact.map(|x| -x));
    assert_eq!(a.extra().len(), 1);
    let on = |threads: usize, direct: bool| {
        lilyan_parallel::threads::set_threads(threads);
        let mut objective = Quartic { a: a.clone(), c: 0.5, b: wave(3 * nodes) };
        let mut work = Workspace::new(a.pattern().clone());
        let mut x = vec![0.0; 3 * nodes];
        let stopping = Stopping {
            tolerance: 1e-9,
            max_iterations: 50,
            length: 1.0,
            direct,
            conserving: true,
            enough: None,
        };
        let origin = x.clone();
        let report = minimize(&mut objective, &mut x, &origin, &stopping, &mut work).unwrap();
        assert_eq!((report.linear_iterations > 20, work.factorizations() == 0), (!direct, !direct));
        x
    };
    let one = on(1, false);
    for threads in [2, 3] {
        assert!(on(threads, false) == one, "{threads} threads");
    }
    let whole = on(0, true);
    let worst = one.iter().zip(&whole).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-9, "{worst:e}");
}

/// Every number of a memory survives its way through a file to the bit, and another version is refused.
#[test]
fn memory_is_restored_to_the_bit() {
    let kept = KeptMemory {
        kind: Kept::Multigrid,
        x: vec![0.1 + 0.2, -0.0, f64::MIN_POSITIVE, 1e300],
        rates: vec![-0.1],
        curvature: Curvature::Projected,
        key: ReuseKey { time: 1.0 / 3.0, same: [0.7, 0.0, 12345.0] },
    };
    let mut memory = SolverMemory { couplings: vec![(7, 2)], kept: Some(kept), ..SolverMemory::default() };
    memory.linear.rate = 4.0 / 3.0;
    let text = serde_json::to_string(&memory).unwrap();
    let back: SolverMemory = serde_json::from_str(&text).unwrap();
    assert_eq!(back, memory);
    assert_eq!(back.kept.unwrap().x[1].to_bits(), (-0.0f64).to_bits());
    let newer = text.replacen("\"version\":2", "\"version\":3", 1);
    let refused = serde_json::from_str::<SolverMemory>(&newer).unwrap_err().to_string();
    assert!(refused.contains("version 3") && refused.contains("begin the run anew"), "{refused}");
}
