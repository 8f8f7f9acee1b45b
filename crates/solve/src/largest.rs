//! The largest eigenvalue of K u = λ M u with a diagonal M: the stability limit of explicit integrators.

use crate::dense::symmetric_eigen;
use crate::vector::{Random, axpy, dot, norm, scale};
use faer::Mat;

/// More steps than this are never needed for a tolerance that a time step deserves.
const MOST_STEPS: usize = 300;

/// An estimate from above of the largest eigenvalue of K u = λ M u, M = diag(`mass`), `held` dofs at zero.
///
/// Lanczos on M^−½ K M^−½ from a random vector; `apply(x, y)` writes y = K x. The Ritz value θ approaches λ_max from
/// below; there is an eigenvalue within the residual of it, so θ plus the residual is handed back once the residual
/// is at most `tolerance` θ: an explicit step of 2/√λ is then on the safe side. Infinite if a free dof has no mass.
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
    for step in 1..=MOST_STEPS.min(free) {
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
        // Orthogonal to all before, twice: without, converged values come back as ghosts.
        for _ in 0..2 {
            for v in &basis {
                let s = dot(v, &w);
                axpy(-s, v, &mut w);
            }
        }
        let b = norm(&w);
        let invariant = b <= 1e-14 * before;
        if step % 4 == 0 || invariant || step == MOST_STEPS.min(free) {
            let tridiagonal = Mat::from_fn(step, step, |i, j| match i.abs_diff(j) {
                0 => alpha[i],
                1 => beta[i.min(j)],
                _ => 0.0,
            });
            let Some((values, vectors)) = symmetric_eigen(tridiagonal.as_ref()) else { return f64::INFINITY };
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
