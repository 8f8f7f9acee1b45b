//! The largest eigenvalue of K u = λ M u with a diagonal M: the stability limit of explicit integrators.
//!
//! Two other estimates of largest eigenvalues differ in purpose. The multigrid smoother takes ten Lanczos steps without a
//! stored basis, for an estimate within ten per cent. The Chebyshev sum uses power iteration, since its mass matrix need
//! not be diagonal, and corrects a wrong estimate itself.

use crate::dense::tridiagonal_eigen;
use crate::matrix::vector::{Random, axpy, dot, norm, scale};

/// Most Lanczos steps. The tolerance of a time-step limit never needs more.
const MAX_STEPS: usize = 300;

/// An upper estimate of the largest eigenvalue of K u = λ M u, M = diag(`mass`), `held` dofs at zero.
///
/// Lanczos on M^−½ K M^−½ from a random vector; `apply(x, y)` writes y = K x. The Ritz value θ approaches λ_max from
/// below. An eigenvalue lies within the residual of θ. The result is θ plus the residual, once the residual is at most
/// `tolerance` θ, so that an explicit step of 2/√λ is stable. The result is infinite if a free dof has no mass.
pub fn largest_eigenvalue(
    apply: &mut dyn FnMut(&[f64], &mut [f64]),
    mass: &[f64],
    held: &[bool],
    tolerance: f64,
) -> f64 {
    assert_eq!(mass.len(), held.len());
    let n = mass.len();
    let free = held.iter().filter(|h| !**h).count();
    if free == 0 {
        return 0.0;
    }
    if (0..n).any(|d| !held[d] && (mass[d].is_nan() || mass[d] <= 0.0)) {
        return f64::INFINITY;
    }
    let root: Vec<f64> = (0..n).map(|d| if held[d] { 0.0 } else { 1.0 / mass[d].sqrt() }).collect();
    let mut random = Random(2);
    let mut v: Vec<f64> = (0..n).map(|d| if held[d] { 0.0 } else { random.number() }).collect();
    let size = norm(&v);
    scale(1.0 / size, &mut v);
    let mut basis = vec![v];
    let (mut alpha, mut beta): (Vec<f64>, Vec<f64>) = (vec![], vec![]);
    let (mut scaled, mut bound) = (vec![0.0; n], f64::INFINITY);
    for step in 1..=MAX_STEPS.min(free) {
        let last = &basis[step - 1];
        for d in 0..n {
            scaled[d] = root[d] * last[d];
        }
        let mut w = vec![0.0; n];
        apply(&scaled, &mut w);
        for d in 0..n {
            w[d] *= root[d];
        }
        let before = norm(&w);
        if !before.is_finite() {
            return f64::INFINITY;
        }
        alpha.push(dot(last, &w));
        // Full reorthogonalisation, twice. Without it, converged values appear again (ghost values).
        for _ in 0..2 {
            for v in &basis {
                let s = dot(v, &w);
                axpy(-s, v, &mut w);
            }
        }
        let b = norm(&w);
        let invariant = b <= 1e-14 * before;
        if step % 4 == 0 || invariant || step == MAX_STEPS.min(free) {
            let Some((values, vectors)) = tridiagonal_eigen(&alpha, &beta) else { return f64::INFINITY };
            let (theta, residual) = (values[step - 1], b * vectors[(step - 1, step - 1)].abs());
            bound = theta + residual;
            if residual <= tolerance * theta.abs() || invariant {
                break;
            }
        }
        scale(1.0 / b, &mut w);
        beta.push(b);
        basis.push(w);
    }
    bound
}
