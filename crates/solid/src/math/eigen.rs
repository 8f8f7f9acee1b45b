use super::{Mat3, Scalar, Vec3};

/// Symmetric N×N matrix as rows.
pub type Square<const N: usize> = [[f64; N]; N];

/// Eigenvalues λ and eigenvectors of a symmetric matrix, by cyclic Jacobi rotations: A = Σ λₖ eₖeₖᵀ
/// with `vectors[k]` = eₖ. Unsorted; for N up to a dozen. Only the mean of A and Aᵀ matters.
/// Same input, same bits.
pub fn eigen_symmetric<const N: usize>(a: &Square<N>) -> ([f64; N], Square<N>) {
    let mut m = [[0.0; N]; N];
    let mut e = [[0.0; N]; N];
    for i in 0..N {
        e[i][i] = 1.0;
        for j in 0..N {
            m[i][j] = 0.5 * (a[i][j] + a[j][i]);
        }
    }
    let total: f64 = m.iter().flatten().map(|x| x * x).sum();
    for _sweep in 0..40 {
        let mut off = 0.0;
        for i in 0..N {
            for j in 0..i {
                off += m[i][j] * m[i][j];
            }
        }
        // Below the square of the round-off that the rotations themselves leave behind.
        let converged = off <= 1e-36 * total;
        if converged || off.is_nan() {
            break;
        }
        for p in 0..N {
            for q in p + 1..N {
                rotate(&mut m, &mut e, p, q);
            }
        }
    }
    let mut lambda = [0.0; N];
    for k in 0..N {
        lambda[k] = m[k][k];
    }
    (lambda, e)
}

/// The rotation in the plane (p, q) that makes entry (p, q) of m vanish.
fn rotate<const N: usize>(m: &mut Square<N>, e: &mut Square<N>, p: usize, q: usize) {
    if m[p][q] == 0.0 {
        return;
    }
    let theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
    let t = if theta < 0.0 { -1.0 } else { 1.0 } / (theta.abs() + (1.0 + theta * theta).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    let shift = t * m[p][q];
    m[p][p] -= shift;
    m[q][q] += shift;
    (m[p][q], m[q][p]) = (0.0, 0.0);
    for k in (0..N).filter(|&k| k != p && k != q) {
        let (x, y) = (m[k][p], m[k][q]);
        (m[k][p], m[k][q]) = (c * x - s * y, s * x + c * y);
        (m[p][k], m[q][k]) = (m[k][p], m[k][q]);
    }
    for k in 0..N {
        let (x, y) = (e[p][k], e[q][k]);
        (e[p][k], e[q][k]) = (c * x - s * y, s * x + c * y);
    }
}

/// The matrix with its negative eigenvalues set to 0; itself, to the bit, if it has none.
pub fn project_positive<const N: usize>(a: &Square<N>) -> Square<N> {
    if is_positive_definite(a) {
        return *a;
    }
    let (lambda, e) = eigen_symmetric(a);
    let mut out = *a;
    for k in (0..N).filter(|&k| lambda[k] < 0.0) {
        for i in 0..N {
            for j in 0..N {
                out[i][j] -= lambda[k] * e[k][i] * e[k][j];
            }
        }
    }
    out
}

/// Whether the Cholesky factorisation of a symmetric matrix exists, beyond rounding.
fn is_positive_definite<const N: usize>(a: &Square<N>) -> bool {
    let mut l = *a;
    for j in 0..N {
        for k in 0..j {
            for i in j..N {
                l[i][j] -= l[i][k] * l[j][k];
            }
        }
        let pivot = l[j][j];
        if pivot.is_nan() || pivot <= 1e-12 * a[j][j].abs() {
            return false;
        }
        let root = 1.0 / pivot.sqrt();
        (j..N).for_each(|i| l[i][j] *= root);
    }
    true
}

/// Sweeps after which off-diagonal entries of a 3×3 matrix are rounding: convergence is quadratic, and cubic at the end.
const SWEEPS: usize = 5;
/// The square of what counts as rounding beside the eigenvalues.
const ROUNDING: f64 = 1e-34;

impl<T: Scalar> Mat3<T> {
    /// Eigenvalues, and eigenvectors as the columns of an orthogonal matrix, of a symmetric matrix, by
    /// Jacobi sweeps, the same for all lanes.
    #[inline(always)]
    pub fn eigen_symmetric_sweeping(&self) -> (Vec3<T>, Self) {
        let (mut a, mut e) = (*self, Self::identity());
        for _ in 0..SWEEPS {
            a.sweep_plane::<0, 1, 2>(&mut e);
            a.sweep_plane::<0, 2, 1>(&mut e);
            a.sweep_plane::<1, 2, 0>(&mut e);
            let off = a[(0, 1)].squared() + a[(0, 2)].squared() + a[(1, 2)].squared();
            let on = a[(0, 0)].squared() + a[(1, 1)].squared() + a[(2, 2)].squared();
            if (on.scale(ROUNDING) - off).is_positive() {
                break;
            }
        }
        ([a[(0, 0)], a[(1, 1)], a[(2, 2)]], e)
    }

    /// The rotation in the plane (P, Q), with the third axis R, that makes entry (P, Q) vanish. With cot 2θ = d/b it has
    /// cos² θ = x = ½(1 + |d|/√(d² + b²)) and tan θ = ±b/(2x√(d² + b²)); roots and reciprocals do not wait for each other. The axes
    /// are constants, and nothing is divided under a condition, so that the compiler makes vector instructions of it.
    #[inline(always)]
    fn sweep_plane<const P: usize, const Q: usize, const R: usize>(&mut self, e: &mut Self) {
        let a = &mut self.0;
        let (one, half) = (T::one(), T::new(0.5));
        let (d, b) = (a[Q][Q] - a[P][P], a[P][Q] + a[P][Q]);
        let square = d.mul_add(d, b * b);
        // Entries so small that their squares underflow count as 0.
        let least = T::new(1e-290);
        let safe = T::select_positive(square - least, square, one);
        let per_size = safe.sqrt() * (one / safe);
        let (d, signed) = (T::select_positive(d, d, -d), T::select_positive(d, b, -b));
        let x = T::select_positive(square - least, half.mul_add(d * per_size, half), one);
        let t = half * signed * per_size * (one / x);
        let t = T::select_positive(square - least, t, T::zero());
        let c = x.sqrt();
        let s = t * c;
        let half = (t * b).scale(0.5);
        a[P][P] -= half;
        a[Q][Q] += half;
        a[P][Q] = T::zero();
        // The third row is kept in (min, max) order.
        let (at_p, at_q) = ((P.min(R), P.max(R)), (Q.min(R), Q.max(R)));
        let (x, y) = (a[at_p.0][at_p.1], a[at_q.0][at_q.1]);
        a[at_p.0][at_p.1] = c * x - s * y;
        a[at_q.0][at_q.1] = s * x + c * y;
        for row in &mut e.0 {
            let (x, y) = (row[P], row[Q]);
            row[P] = c * x - s * y;
            row[Q] = s * x + c * y;
        }
    }
}

impl Mat3 {
    /// Eigenvalues, and eigenvectors as the columns of an orthogonal matrix, of a symmetric matrix.
    pub fn eigen_symmetric(&self) -> (Vec3, Self) {
        let (lambda, e) = eigen_symmetric(&self.0);
        (lambda, Self(e).transpose())
    }

    /// √C of a symmetric positive semidefinite C, symmetric.
    pub fn sqrt_symmetric(&self) -> Self {
        let (lambda, e) = self.eigen_symmetric();
        let root = (e * Self::diagonal(lambda.map(|l| l.max(0.0).sqrt()))).mul_transpose(&e);
        root.symmetric_part()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const N: usize>(seed: u64) {
        let mut state = seed;
        let mut a = [[0.0; N]; N];
        for i in 0..N {
            for j in 0..=i {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                a[i][j] = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
                a[j][i] = a[i][j];
            }
        }
        let (lambda, e) = eigen_symmetric(&a);
        let positive = project_positive(&a);
        for i in 0..N {
            for j in 0..N {
                let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
                    (0..N).map(|k| f(lambda[k]) * e[k][i] * e[k][j]).sum()
                };
                let identity = f64::from(u8::from(i == j));
                assert!((sum(&|l| l) - a[i][j]).abs() < 1e-14);
                assert!((sum(&|_| 1.0) - identity).abs() < 1e-14);
                assert!((sum(&|l| l.max(0.0)) - positive[i][j]).abs() < 1e-14);
            }
        }
    }

    /// Also of matrices with equal eigenvalues, and of nothing.
    #[test]
    fn sweeps_find_what_iterations_find() {
        let mut state = 5u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut cases = vec![Mat3::zero(), Mat3::identity(), Mat3::diagonal([2.0, 1.0, 2.0])];
        for k in 0..200 {
            let a = Mat3::from_fn(|_, _| random());
            let close = Mat3::identity() + a.symmetric_part().scale(10f64.powi(-(k % 17)));
            cases.extend([a.symmetric_part(), close]);
        }
        for a in cases {
            let (lambda, e) = a.eigen_symmetric_sweeping();
            let back = (e * Mat3::diagonal(lambda)).mul_transpose(&e) - a;
            let turned = e.transpose_mul(&e) - Mat3::identity();
            assert!(back.dot(&back).sqrt() < 1e-14, "{a:?}: {back:?}");
            assert!(turned.dot(&turned).sqrt() < 1e-14, "{a:?}: {turned:?}");
        }
    }

    #[test]
    fn recomposes() {
        for seed in 0..20 {
            check::<3>(seed);
            check::<9>(seed);
            check::<12>(seed);
        }
    }

    #[test]
    fn square_root() {
        let g = Mat3([[1.0, 0.2, -0.3], [0.5, 1.5, 0.1], [0.0, -0.7, 0.4]]);
        let c = g.transpose_mul(&g);
        let u = c.sqrt_symmetric();
        let e = u * u - c;
        assert!(e.dot(&e).sqrt() < 1e-14);
        assert_eq!(Mat3::identity().sqrt_symmetric(), Mat3::identity());
    }
}
