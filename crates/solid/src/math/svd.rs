use super::{Mat3, Vec3};

/// Signed singular value decomposition F = U diag(σ) Vᵀ of a 3×3 matrix: U and V are rotations
/// (det = +1) and σ₀ ≥ σ₁ ≥ |σ₂|, so that σ₂ carries the sign of det F. The nearest rotation to F
/// is then U Vᵀ also where F is inverted or singular.
#[derive(Clone, Copy, Debug)]
pub struct Svd {
    /// Left rotation.
    pub u: Mat3,
    /// Singular values, the last with the sign of det F.
    pub sigma: Vec3,
    /// Right rotation.
    pub v: Mat3,
}

impl Svd {
    /// One-sided Jacobi \[hestenes1958\]: rotate pairs of columns of A = F V until they are
    /// orthogonal. Works on the columns themselves, never on FᵀF, so that small singular values
    /// keep their digits \[demmel1992\]; U comes from the columns by Gram–Schmidt in order of
    /// length, which is defined for any rank. Same input, same bits.
    pub fn new(f: &Mat3) -> Self {
        let largest = f.0.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        let scale = if largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
        let mut a = [0, 1, 2].map(|j| f.column(j).map(|x| x / scale));
        let mut v = [0, 1, 2].map(unit);
        for _sweep in 0..30 {
            let mut rotated = false;
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                rotated |= orthogonalise(&mut a, &mut v, p, q);
            }
            if !rotated {
                break;
            }
        }
        // Exchanging two columns and negating one keeps det V = +1.
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if dot(a[p], a[p]) < dot(a[q], a[q]) {
                (a[p], a[q]) = (a[q], a[p].map(|x| -x));
                (v[p], v[q]) = (v[q], v[p].map(|x| -x));
            }
        }
        let u0 = normalised(a[0]).unwrap_or(unit(0));
        let along = dot(u0, a[1]);
        let rest = [0, 1, 2].map(|i| a[1][i] - along * u0[i]);
        let u1 = normalised(rest).unwrap_or_else(|| any_orthogonal(u0));
        let u2 = cross(u0, u1);
        Self {
            u: Mat3::from_columns(u0, u1, u2),
            sigma: [dot(u0, a[0]), dot(u1, a[1]), dot(u2, a[2])].map(|s| s * scale),
            v: Mat3::from_columns(v[0], v[1], v[2]),
        }
    }

    /// U diag(d) Vᵀ.
    pub fn compose(&self, d: Vec3) -> Mat3 {
        (self.u * Mat3::diagonal(d)).mul_transpose(&self.v)
    }

    /// Rotation nearest to F, U Vᵀ.
    pub fn rotation(&self) -> Mat3 {
        self.u.mul_transpose(&self.v)
    }
}

/// Rotates columns p, q of A (and of V) to make them orthogonal; false if they were.
fn orthogonalise(a: &mut [Vec3; 3], v: &mut [Vec3; 3], p: usize, q: usize) -> bool {
    let (pp, qq, pq) = (dot(a[p], a[p]), dot(a[q], a[q]), dot(a[p], a[q]));
    let negligible = f64::EPSILON * 0.5 * (pp * qq).sqrt();
    if pq.abs() <= negligible || !pq.is_finite() {
        return false;
    }
    let zeta = (qq - pp) / (2.0 * pq);
    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = c * t;
    for m in [a, v] {
        for i in 0..3 {
            let (x, y) = (m[p][i], m[q][i]);
            m[p][i] = c * x - s * y;
            m[q][i] = s * x + c * y;
        }
    }
    s != 0.0
}

fn unit(j: usize) -> Vec3 {
    [0, 1, 2].map(|i| f64::from(u8::from(i == j)))
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a/‖a‖, or nothing where ‖a‖ is too small to have a direction.
fn normalised(a: Vec3) -> Option<Vec3> {
    let length = dot(a, a).sqrt();
    (length > 1e-150).then(|| a.map(|x| x / length))
}

/// A unit vector across `a`: made from the axis that is least along `a`.
fn any_orthogonal(a: Vec3) -> Vec3 {
    let mut least = 0;
    for i in 1..3 {
        if a[i].abs() < a[least].abs() {
            least = i;
        }
    }
    normalised(cross(a, unit(least))).unwrap_or(unit(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation_by(x: f64, y: f64, z: f64) -> Mat3 {
        let turn = |p: usize, q: usize, angle: f64| {
            let mut m = Mat3::identity();
            (m[(p, p)], m[(p, q)]) = (angle.cos(), -angle.sin());
            (m[(q, p)], m[(q, q)]) = (angle.sin(), angle.cos());
            m
        };
        turn(0, 1, x) * turn(1, 2, y) * turn(2, 0, z)
    }

    #[test]
    fn any_singular_values() {
        let cases: [Vec3; 12] = [
            [1.0, 1.0, 1.0],
            [2.0, 1.0, 0.5],
            [2.0, 1.0, -0.5],
            [1.0, 1.0, -1.0],
            [1.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0],
            [3.0, 3.0, 1e-9],
            [1.0, 1e-8, -1e-12],
            [1e200, 1e199, 1.0],
            [1e-200, 1e-201, -1e-202],
            [1.0 + 1e-15, 1.0, 1.0 - 1e-15],
        ];
        for (n, sigma) in cases.into_iter().enumerate() {
            for m in 0..20 {
                let x = f64::from(m);
                let (u, v) = (rotation_by(x, 0.3 * x, -x), rotation_by(0.7 * x, x, 1.0));
                let f = (u * Mat3::diagonal(sigma)).mul_transpose(&v);
                let svd = Svd::new(&f);
                let scale = sigma[0].max(1e-300);
                let back = svd.compose(svd.sigma) - f;
                for r in [svd.u, svd.v] {
                    let e = r.transpose_mul(&r) - Mat3::identity();
                    assert!(e.dot(&e).sqrt() < 2e-15, "case {n}: not orthogonal");
                    assert!((r.det() - 1.0).abs() < 2e-15, "case {n}: not a rotation");
                }
                let error = back.scale(1.0 / scale);
                assert!(error.dot(&error).sqrt() < 3e-15, "case {n}: {error:?}");
                for i in 0..3 {
                    let d = (svd.sigma[i] - sigma[i]).abs();
                    assert!(d <= 2e-15 * scale, "case {n}: σ{i} off by {d}");
                }
            }
        }
    }

    #[test]
    fn broken_input_ends() {
        let svd = Svd::new(&Mat3::diagonal([f64::NAN, f64::INFINITY, 1.0]));
        assert!(svd.sigma.iter().any(|s| !s.is_finite()));
    }
}
