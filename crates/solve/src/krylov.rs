//! Krylov methods for A x = b where A is known by its product with a vector alone.
//!
//! [`cg`] for symmetric positive definite A \[hestenes1952\], [`gmres`] for any other \[saad1986\].
//! Both measure the residual b − A x itself, not a preconditioned one: GMRES is preconditioned from the right, and
//! the residual that is reported is computed anew from x, since the one carried along in a recurrence drifts.

use crate::vector::{axpy, dot, norm, scale};

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KrylovReport {
    /// Products with A that built the Krylov space (those that check the residual are not counted).
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖ of the x handed back; 0 if b = 0.
    pub relative_residual: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// Whether a direction p with pᵀ A p ≤ 0, up to rounding, was met ([`cg`] only): A is not positive definite.
    pub negative_curvature: bool,
}

/// GMRES keeps so many vectors before it starts anew from where it is.
const RESTART: usize = 60;

/// r ← b − A x, and its norm. Costs no product if x = 0.
fn residual(apply: &mut dyn FnMut(&[f64], &mut [f64]), b: &[f64], x: &[f64], r: &mut [f64]) -> f64 {
    if x.iter().all(|&v| v == 0.0) {
        r.copy_from_slice(b);
    } else {
        apply(x, r);
        for (r, b) in r.iter_mut().zip(b) {
            *r = b - *r;
        }
    }
    norm(r)
}

/// Solves A x = b for any A, starting from the given x.
///
/// `apply(x, y)` writes y = A x; `precondition(x)` overwrites x by an approximation of A⁻¹ x and must be linear.
/// Restarted after 60 iterations. Orthogonalised by modified Gram–Schmidt twice, which is enough to keep the basis
/// orthogonal to rounding (Giraud, Langou & Rozložník 2005).
pub fn gmres(
    apply: &mut dyn FnMut(&[f64], &mut [f64]),
    precondition: &mut dyn FnMut(&mut [f64]),
    b: &[f64],
    x: &mut [f64],
    relative_tolerance: f64,
    max_iterations: usize,
) -> KrylovReport {
    assert_eq!(b.len(), x.len());
    let size = norm(b);
    let mut report =
        KrylovReport { iterations: 0, relative_residual: 0.0, converged: true, negative_curvature: false };
    if size == 0.0 {
        x.fill(0.0);
        return report;
    }
    let mut basis: Vec<Vec<f64>> = vec![vec![0.0; b.len()]];
    let mut z = vec![0.0; b.len()];
    let mut beta = residual(apply, b, x, &mut basis[0]);
    loop {
        report.relative_residual = beta / size;
        report.converged = report.relative_residual <= relative_tolerance;
        if report.converged || report.iterations >= max_iterations || !report.relative_residual.is_finite() {
            return report;
        }
        scale(1.0 / beta, &mut basis[0]);
        // Column k of the Hessenberg matrix, made triangular by the rotations of the columns before.
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut rotations: Vec<(f64, f64)> = Vec::new();
        let mut right = vec![beta];
        while columns.len() < RESTART && report.iterations < max_iterations {
            let k = columns.len();
            if basis.len() == k + 1 {
                basis.push(vec![0.0; b.len()]);
            }
            let (known, rest) = basis.split_at_mut(k + 1);
            let w = &mut rest[0];
            z.copy_from_slice(&known[k]);
            precondition(&mut z);
            apply(&z, w);
            report.iterations += 1;
            let before = norm(w);
            let mut h = vec![0.0; k + 2];
            for _ in 0..2 {
                for (i, v) in known.iter().enumerate() {
                    let s = dot(v, w);
                    axpy(-s, v, w);
                    h[i] += s;
                }
            }
            let after = norm(w);
            if !after.is_finite() {
                break;
            }
            // Nothing new but rounding: the space is invariant and holds all it can of the solution.
            let invariant = after <= 4.0 * f64::EPSILON * before;
            h[k + 1] = if invariant { 0.0 } else { after };
            for (i, &(c, s)) in rotations.iter().enumerate() {
                (h[i], h[i + 1]) = (c * h[i] + s * h[i + 1], c * h[i + 1] - s * h[i]);
            }
            let r = h[k].hypot(h[k + 1]);
            if r <= 4.0 * f64::EPSILON * before {
                break; // A is singular on this space: the column adds nothing that can be solved for
            }
            let (c, s) = (h[k] / r, h[k + 1] / r);
            h[k] = r;
            h.truncate(k + 1);
            rotations.push((c, s));
            right.push(-s * right[k]);
            right[k] *= c;
            columns.push(h);
            if invariant || right[k + 1].abs() <= relative_tolerance * size {
                break;
            }
            scale(1.0 / after, w);
        }
        if columns.is_empty() {
            return report;
        }
        let m = columns.len();
        let mut y = right[..m].to_vec();
        for k in (0..m).rev() {
            y[k] /= columns[k][k];
            for i in 0..k {
                y[i] -= columns[k][i] * y[k];
            }
        }
        z.fill(0.0);
        for (y, v) in y.iter().zip(&basis) {
            axpy(*y, v, &mut z);
        }
        precondition(&mut z);
        axpy(1.0, &z, x);
        let old = beta;
        beta = residual(apply, b, x, &mut basis[0]);
        // Rounding is all that is left, or the restart has lost what it needs: more of the same will not help.
        if beta > 0.999 * old && beta > relative_tolerance * size {
            report.relative_residual = beta / size;
            return report;
        }
    }
}

/// Solves A x = b for symmetric positive definite A, starting from the given x.
///
/// `apply(x, y)` writes y = A x; `precondition(x)` overwrites x by an approximation of A⁻¹ x and must be linear,
/// symmetric and positive definite. If a direction of non-positive curvature is met, x stays at the iterate before
/// it, or, if it is the first direction, moves along it by one \[nocedal2006, alg. 7.1\]: either way x − x₀
/// is a direction of descent for ½ xᵀAx − bᵀx.
pub fn cg(
    apply: &mut dyn FnMut(&[f64], &mut [f64]),
    precondition: &mut dyn FnMut(&mut [f64]),
    b: &[f64],
    x: &mut [f64],
    relative_tolerance: f64,
    max_iterations: usize,
) -> KrylovReport {
    assert_eq!(b.len(), x.len());
    let size = norm(b);
    let mut report =
        KrylovReport { iterations: 0, relative_residual: 0.0, converged: true, negative_curvature: false };
    if size == 0.0 {
        x.fill(0.0);
        return report;
    }
    let n = b.len();
    let (mut r, mut z, mut p, mut ap) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut true_norm = residual(apply, b, x, &mut r);
    loop {
        report.relative_residual = true_norm / size;
        report.converged = report.relative_residual <= relative_tolerance;
        if report.converged || report.iterations >= max_iterations || !report.relative_residual.is_finite() {
            return report;
        }
        z.copy_from_slice(&r);
        precondition(&mut z);
        p.copy_from_slice(&z);
        let mut rz = dot(&r, &z);
        // rᵀz ≤ 0 would mean a preconditioner that is not positive definite: no step along it can be trusted.
        while report.iterations < max_iterations && rz > 0.0 {
            apply(&p, &mut ap);
            report.iterations += 1;
            let curvature = dot(&p, &ap);
            // For a definite A the cosine of p and A p is at least 2 / √(condition number) (Kantorovich): below 1e-10
            // there is only rounding between p and the null space. With a NaN there is nothing to go on with either.
            let flat = 1e-10 * norm(&p) * norm(&ap);
            if curvature.is_nan() || curvature <= flat {
                report.negative_curvature = curvature <= flat;
                break;
            }
            let alpha = rz / curvature;
            axpy(alpha, &p, x);
            axpy(-alpha, &ap, &mut r);
            if norm(&r) <= relative_tolerance * size {
                break;
            }
            z.copy_from_slice(&r);
            precondition(&mut z);
            let next = dot(&r, &z);
            let beta = next / rz;
            rz = next;
            for (p, z) in p.iter_mut().zip(&z) {
                *p = z + beta * *p;
            }
        }
        if report.negative_curvature && report.iterations == 1 {
            axpy(1.0, &p, x);
        }
        let old = true_norm;
        true_norm = residual(apply, b, x, &mut r);
        if report.negative_curvature || (true_norm > 0.5 * old && true_norm > relative_tolerance * size) {
            report.relative_residual = true_norm / size;
            return report;
        }
    }
}
