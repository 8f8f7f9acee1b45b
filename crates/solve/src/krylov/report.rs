//! The result of a Krylov solve, and the residual it is judged by.

use crate::matrix::vector::norm;
use crate::operator::Operator;

/// How a Krylov solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KrylovReport {
    /// Products with A that extended the Krylov space. Products that check the residual are not counted.
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖ of the x that is returned; 0 if b = 0.
    pub relative_residual: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// Whether a direction p with pᵀ A p ≤ 0, up to rounding, was met ([`cg`](super::cg) only): A is not positive
    /// definite.
    pub negative_curvature: bool,
}

impl KrylovReport {
    /// The report before the first iteration, and ‖b‖. If b = 0, the solution is x = 0.
    pub(super) fn start(a: &dyn Operator, b: &[f64], x: &mut [f64]) -> (Self, f64) {
        assert!(b.len() == x.len() && b.len() == a.size(), "vectors must have one number per row");
        let size = norm(b);
        if size == 0.0 {
            x.fill(0.0);
        }
        (Self { iterations: 0, relative_residual: 0.0, converged: true, negative_curvature: false }, size)
    }

    /// Records the relative residual; returns whether the solve is over.
    pub(super) fn is_over(&mut self, relative_residual: f64, tolerance: f64, max_iterations: usize) -> bool {
        self.relative_residual = relative_residual;
        self.converged = relative_residual <= tolerance;
        self.converged || self.iterations >= max_iterations || !relative_residual.is_finite()
    }
}

/// r ← b − A x, and its norm. Costs no product if x = 0.
pub(super) fn residual(a: &mut dyn Operator, b: &[f64], x: &[f64], r: &mut [f64]) -> f64 {
    if x.iter().all(|&v| v == 0.0) {
        r.copy_from_slice(b);
    } else {
        a.apply(x, r);
        for (r, b) in r.iter_mut().zip(b) {
            *r = b - *r;
        }
    }
    norm(r)
}
