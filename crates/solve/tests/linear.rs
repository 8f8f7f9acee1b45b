//! The seam between Newton's method and linear algebra: another linear solver can take its place.

use lilyan_solve::linear::{Kept, LinearMemory, LinearReport, LinearSolver, LinearSystem, Policy};
use lilyan_solve::newton::{Curvature, Equations, Objective, Stopping, Workspace, find_root, minimize};
use lilyan_solve::{
    BlockMatrix, BlockPattern, Deflation, DirectSolver, NotPositiveDefinite, Operator, SparseRows, gmres,
};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Gauss–Jordan elimination of the whole bordered matrix: slow, and nothing of this crate but its types.
#[derive(Default)]
struct Dense {
    inverse: Vec<Vec<f64>>,
    prepared: bool,
    calls: Arc<Calls>,
}

#[derive(Default)]
struct Calls {
    solved: AtomicUsize,
    prepared: AtomicUsize,
    policies: Mutex<Vec<Policy>>,
}

impl Dense {
    fn invert(&mut self, mut a: Vec<Vec<f64>>) -> Result<(), NotPositiveDefinite> {
        let n = a.len();
        let mut out: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
        for k in 0..n {
            let best = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
            if a[best][k] == 0.0 {
                return Err(NotPositiveDefinite { dof: k, finite: true });
            }
            a.swap(k, best);
            out.swap(k, best);
            let pivot = a[k][k];
            a[k].iter_mut().chain(&mut out[k]).for_each(|x| *x /= pivot);
            for i in (0..n).filter(|&i| i != k) {
                let (c, row, image) = (a[i][k], a[k].clone(), out[k].clone());
                a[i].iter_mut().zip(row).for_each(|(x, y)| *x -= c * y);
                out[i].iter_mut().zip(image).for_each(|(x, y)| *x -= c * y);
            }
        }
        self.inverse = out;
        Ok(())
    }

    fn apply(&self, x: &mut [f64]) {
        let y: Vec<f64> =
            self.inverse.iter().map(|row| row.iter().zip(&*x).map(|(a, x)| a * x).sum()).collect();
        x.copy_from_slice(&y);
    }
}

fn bordered(a: &BlockMatrix, rows: &SparseRows) -> Vec<Vec<f64>> {
    let (n, m) = (a.dofs(), rows.len());
    let mut dense = a.to_dense();
    dense.iter_mut().for_each(|row| row.resize(n + m, 0.0));
    dense.resize(n + m, vec![0.0; n + m]);
    for i in 0..m {
        for (c, v) in rows.row(i) {
            (dense[n + i][c], dense[c][n + i]) = (v, v);
        }
    }
    dense
}

impl DirectSolver for Dense {
    fn factor(&mut self, a: &BlockMatrix) -> Result<(), NotPositiveDefinite> {
        self.invert(a.to_dense())
    }

    fn solve_many(&mut self, x: &mut [f64], columns: usize) {
        let n = x.len() / columns;
        x.chunks_exact_mut(n).for_each(|x| self.apply(x));
    }
}

impl LinearSolver for Dense {
    fn begin(&mut self, policy: Policy, _: Option<Kept>) {
        self.calls.policies.lock().unwrap().push(policy);
        self.prepared = false;
    }

    fn prefers_factor(&self, _: usize) -> bool {
        false
    }

    fn solve(
        &mut self,
        system: &LinearSystem<'_>,
        b: &[f64],
        x: &mut [f64],
        _: f64,
    ) -> Result<LinearReport, NotPositiveDefinite> {
        self.calls.solved.fetch_add(1, SeqCst);
        self.factor(system.matrix)?;
        x.copy_from_slice(b);
        self.apply(x);
        Ok(LinearReport { error: 1e-12, ..LinearReport::default() })
    }

    fn is_prepared(&self) -> bool {
        self.prepared
    }

    fn prepare(&mut self, system: &LinearSystem<'_>) -> Result<(), NotPositiveDefinite> {
        self.calls.prepared.fetch_add(1, SeqCst);
        self.invert(bordered(system.matrix, system.rows))?;
        self.prepared = true;
        Ok(())
    }

    fn solve_operator(
        &mut self,
        _: &LinearSystem<'_>,
        jacobian: &mut dyn Operator,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> usize {
        x.fill(0.0);
        gmres(jacobian, &mut |z: &mut [f64]| self.apply(z), b, x, accuracy, 30).iterations
    }

    fn precondition(&mut self, _: Option<&Deflation>, x: &mut [f64]) {
        self.apply(x);
    }

    fn rebuild(&mut self, _: Kept, _: &LinearSystem<'_>) -> bool {
        false
    }

    fn kept(&self) -> Option<Kept> {
        None
    }

    fn direct(&mut self) -> &mut dyn DirectSolver {
        self
    }

    fn factorizations(&self) -> usize {
        self.calls.solved.load(SeqCst) + self.calls.prepared.load(SeqCst)
    }

    fn memory(&self) -> LinearMemory {
        LinearMemory::default()
    }

    fn restore(&mut self, _: LinearMemory) {}

    fn couplings(&self) -> &[(u32, u32)] {
        &[]
    }

    fn restore_couplings(&mut self, _: &[(u32, u32)]) {}
}

/// Two masses at a spring that hardens, Σ ½x² + ¼x⁴ − f x + ½|x₁ − x₀|². As equations the first node is kept at x = 0.2.
struct Springs;

const LOAD: f64 = 0.7;

impl Springs {
    fn forces(&self, x: &[f64], g: &mut [f64]) {
        for i in 0..6 {
            let other = (i + 3) % 6;
            g[i] = x[i] + x[i].powi(3) - LOAD + (x[i] - x[other]);
        }
    }

    fn matrix(&self, x: &[f64], h: &mut BlockMatrix) {
        h.clear();
        let diagonal: Vec<f64> = x.iter().take(6).map(|x| 2.0 + 3.0 * x * x).collect();
        h.add_diagonal(&diagonal);
        h.add_block(1, 0, &[-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0]);
    }
}

impl Objective for Springs {
    fn value(&mut self, x: &[f64]) -> (f64, f64) {
        let own: f64 = x.iter().map(|x| 0.5 * x * x + 0.25 * x.powi(4) - LOAD * x).sum();
        let value = own + (0..3).map(|i| 0.5 * (x[i + 3] - x[i]).powi(2)).sum::<f64>();
        (value, 1.0)
    }
    fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
        self.forces(x, g);
    }
    fn hessian(&mut self, x: &[f64], _: Curvature, h: &mut BlockMatrix) {
        self.matrix(x, h);
    }
}

impl Equations for Springs {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> bool {
        self.forces(x, &mut r[..6]);
        r[0] += x[6];
        r[6] = x[0] - 0.2;
        true
    }
    fn preconditioner(&mut self, x: &[f64], _: Curvature, a: &mut BlockMatrix) {
        self.matrix(x, a);
    }
    fn weight(&self, _: usize) -> f64 {
        1.0
    }
    fn multipliers(&self) -> usize {
        1
    }
    fn rows(&mut self, _: &[f64], b: &mut SparseRows) {
        b.clear();
        b.push(0, 1.0);
        b.end_row();
    }
    fn constraints_satisfied(&self, r: &[f64]) -> bool {
        r[0].abs() < 1e-10
    }
}

#[test]
fn both_newton_methods_take_another_linear_solver() {
    let pattern = Arc::new(BlockPattern::from_cliques(2, [&[0, 1][..]].into_iter()));
    let stopping = Stopping {
        tolerance: 1e-9,
        max_iterations: 50,
        length: 1.0,
        direct: false,
        conserving: false,
        enough: None,
    };
    let calls = Arc::new(Calls::default());
    let solver = || Box::new(Dense { calls: calls.clone(), ..Dense::default() });
    let solve = |mut work: Workspace| {
        let mut springs = Springs;
        let (mut x, mut z) = (vec![0.0; 6], vec![0.0; 7]);
        minimize(&mut springs, &mut x, &[0.0; 6], &stopping, &mut work).unwrap();
        find_root(&mut springs, &mut z, &[0.0; 7], &stopping, &mut work).unwrap();
        [x, z].concat()
    };
    let own = solve(Workspace::new(pattern.clone()));
    assert_eq!(calls.solved.load(SeqCst), 0);
    let other = solve(Workspace::with_solver(pattern, solver()));
    let worst = own.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-8, "{worst:e}");
    assert!((other[6] - 0.2).abs() < 1e-10 && other[12].abs() > 0.1, "the constraint pushes");
    assert!(calls.solved.load(SeqCst) >= 3 && calls.prepared.load(SeqCst) == 1);
    assert_eq!(*calls.policies.lock().unwrap(), [Policy::LeastCost, Policy::FactorPerSolve]);
}
