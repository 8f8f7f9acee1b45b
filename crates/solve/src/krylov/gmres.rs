//! GMRES with restarts, preconditioned from the right.

use super::report::{KrylovReport, residual};
use crate::matrix::vector::{axpy, dot, norm, scale};
use crate::operator::{Operator, Preconditioner};

/// Basis vectors before the method restarts.
const RESTART: usize = 60;

/// The least-squares problem of GMRES: the Hessenberg matrix, made triangular column by column by Givens rotations.
struct LeastSquares {
    columns: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
}

impl LeastSquares {
    fn new(beta: f64) -> Self {
        Self { columns: Vec::new(), rotations: Vec::new(), right: vec![beta] }
    }

    /// Adds a column of the Hessenberg matrix. `false` if A is singular on this space: the column is not larger than
    /// `rounding` and adds nothing that can be solved for.
    fn add(&mut self, mut h: Vec<f64>, rounding: f64) -> bool {
        let k = self.columns.len();
        for (i, &(c, s)) in self.rotations.iter().enumerate() {
            (h[i], h[i + 1]) = (c * h[i] + s * h[i + 1], c * h[i + 1] - s * h[i]);
        }
        let r = h[k].hypot(h[k + 1]);
        if r <= rounding {
            return false;
        }
        let (c, s) = (h[k] / r, h[k + 1] / r);
        h[k] = r;
        h.truncate(k + 1);
        self.rotations.push((c, s));
        self.right.push(-s * self.right[k]);
        self.right[k] *= c;
        self.columns.push(h);
        true
    }

    /// The norm of the residual of the solution in this space.
    fn residual(&self) -> f64 {
        self.right[self.columns.len()].abs()
    }

    /// Coefficients of the solution in the basis.
    fn solution(&self) -> Vec<f64> {
        let m = self.columns.len();
        let mut y = self.right[..m].to_vec();
        for k in (0..m).rev() {
            y[k] /= self.columns[k][k];
            for i in 0..k {
                y[i] -= self.columns[k][i] * y[k];
            }
        }
        y
    }
}

/// Basis of the Krylov space, and a vector to work in.
struct Arnoldi {
    basis: Vec<Vec<f64>>,
    z: Vec<f64>,
}

impl Arnoldi {
    /// One more vector: w = A M⁻¹ v, orthogonalised by modified Gram–Schmidt twice, which is enough to keep the basis
    /// orthogonal to rounding (Giraud, Langou & Rozložník 2005). Returns the column of the Hessenberg matrix without its
    /// last entry, and the norm of w before and after. w is not normalised.
    fn extend(
        &mut self,
        a: &mut dyn Operator,
        preconditioner: &mut dyn Preconditioner,
        k: usize,
    ) -> (Vec<f64>, f64, f64) {
        let n = self.z.len();
        if self.basis.len() == k + 1 {
            self.basis.push(vec![0.0; n]);
        }
        let (previous, rest) = self.basis.split_at_mut(k + 1);
        let w = &mut rest[0];
        self.z.copy_from_slice(&previous[k]);
        preconditioner.precondition(&mut self.z);
        a.apply(&self.z, w);
        let before = norm(w);
        let mut h = vec![0.0; k + 2];
        for _ in 0..2 {
            for (i, v) in previous.iter().enumerate() {
                let s = dot(v, w);
                axpy(-s, v, w);
                h[i] += s;
            }
        }
        (h, before, norm(w))
    }

    /// x ← x + M⁻¹ V y.
    fn add_solution(&mut self, preconditioner: &mut dyn Preconditioner, y: &[f64], x: &mut [f64]) {
        self.z.fill(0.0);
        for (y, v) in y.iter().zip(&self.basis) {
            axpy(*y, v, &mut self.z);
        }
        preconditioner.precondition(&mut self.z);
        axpy(1.0, &self.z, x);
    }
}

/// Solves A x = b for any A from the given x until ‖b − A x‖ ≤ `relative_tolerance` ‖b‖. Restarts after 60 iterations.
pub fn gmres(
    a: &mut dyn Operator,
    preconditioner: &mut dyn Preconditioner,
    b: &[f64],
    x: &mut [f64],
    relative_tolerance: f64,
    max_iterations: usize,
) -> KrylovReport {
    let (mut report, size) = KrylovReport::start(a, b, x);
    if size == 0.0 {
        return report;
    }
    let mut space = Arnoldi { basis: vec![vec![0.0; b.len()]], z: vec![0.0; b.len()] };
    let mut beta = residual(a, b, x, &mut space.basis[0]);
    while !report.is_over(beta / size, relative_tolerance, max_iterations) {
        scale(1.0 / beta, &mut space.basis[0]);
        let mut problem = LeastSquares::new(beta);
        while problem.columns.len() < RESTART && report.iterations < max_iterations {
            let k = problem.columns.len();
            let (mut h, before, after) = space.extend(a, preconditioner, k);
            report.iterations += 1;
            if !after.is_finite() {
                break;
            }
            // Nothing new but rounding: the space is invariant and holds all it can of the solution.
            let rounding = 4.0 * f64::EPSILON * before;
            let invariant = after <= rounding;
            h[k + 1] = if invariant { 0.0 } else { after };
            if !problem.add(h, rounding) || invariant || problem.residual() <= relative_tolerance * size {
                break;
            }
            scale(1.0 / after, &mut space.basis[k + 1]);
        }
        if problem.columns.is_empty() {
            break;
        }
        space.add_solution(preconditioner, &problem.solution(), x);
        let old = beta;
        beta = residual(a, b, x, &mut space.basis[0]);
        // Only rounding is left, or the restart has lost what it needs: more of the same will not help.
        if beta > 0.999 * old && beta > relative_tolerance * size {
            report.relative_residual = beta / size;
            break;
        }
    }
    report
}
