//! The rotation of the polar decomposition F = R S.
//!
//! s = tr S = R : F, the sum of the signed singular values, is the largest root of a quartic in the
//! invariants I = ‖F‖², Q = ‖FᵀF‖², J = det F: from (s² − I)²/4 = (I² − Q)/2 + 2Js,
//!   p(s) = s⁴ − 2I s² − 8J s + 2Q − I² = 0,
//! whose four roots σ₀+σ₁+σ₂, σ₀−σ₁−σ₂, … are real; Newton's iteration from s = √(3I) ≥ s descends
//! to it monotonically. R = ∂s/∂F by implicit differentiation:
//!   R = [(s²+I) F + 2s cof F − 2 F FᵀF] / (s³ − Is − 2J)        \[cf. lin2022\]
//! with the denominator 2(σ₀+σ₁)(σ₁+σ₂)(σ₂+σ₀). One step of orthogonalisation and one of Newton on
//! the rotation group, ω = G⁻¹ axial(RᵀF) with G = tr(S) I − S, take out the round-off. All of it is
//! straight-line arithmetic, for lanes, and analytic, for complex steps; it holds for det F ≤ 0 too.
//! Where σ₁+σ₂ ≈ 0, R is hardly defined and the decomposition [`Svd`] gives one.

use super::{Mat3, Scalar, Svd};

/// Enough for singular values within about a factor 10 of each other; what has not converged by
/// then is seen by `trust` and given to the SVD.
pub(super) const ITERATIONS: usize = 6;

/// (R, trust): R is right where trust > 0.
#[inline(always)]
pub(super) fn polar<T: Scalar>(F: &Mat3<T>, iterations: usize) -> (Mat3<T>, T) {
    let C = F.transpose_mul(F);
    let (I, Q, J) = (C.trace(), C.dot(&C), F.det());
    let two_I = I + I;
    let eight_J = J.scale(8.0);
    let last = Q + Q - I * I;
    let mut s = I.scale(3.0).sqrt();
    for _ in 0..iterations {
        let s2 = s * s;
        let value = ((s2 - two_I) * s - eight_J) * s + last;
        let slope = ((s2 - I) * s).scale(4.0) - eight_J;
        s -= value / slope;
    }
    let denominator = (s * s - I) * s - J - J;
    let inv = T::one() / denominator;
    let R = (F.scale((s * s + I) * inv) + F.cofactor().scale((s + s) * inv)) - (*F * C).scale(inv + inv);

    let defect = Mat3::identity() - R.transpose_mul(&R);
    let R = R + (R * defect).scale(T::new(0.5));
    let S = R.transpose_mul(F);
    let w = solve_spin(&S, S.axial());
    let error = defect.dot(&defect) + w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    let R = R + R * Mat3::skew(w);
    let trust = T::select_positive(
        denominator - (s * s * s).scale(1e-6),
        T::new(1e-16) - error, // both errors are squared by the two steps
        T::new(-1.0),
    );
    (R, trust)
}

/// The spin ω of the polar rotation, dR = R \[ω\]×, that goes with axial(RᵀdF) = a:
/// (tr(S) I − S) ω = a. The matrix has the eigenvalues σᵢ+σⱼ; where their product vanishes so
/// does the derivative's meaning, and it is held at 1e-24 to keep ω finite.
#[inline(always)]
pub fn solve_spin<T: Scalar>(S: &Mat3<T>, a: [T; 3]) -> [T; 3] {
    spin_compliance(S).mul_vec(a)
}

/// (tr(S) I − S)⁻¹, symmetric, held finite.
#[inline(always)]
pub fn spin_compliance<T: Scalar>(S: &Mat3<T>) -> Mat3<T> {
    let tr = S.trace();
    let G = Mat3::diagonal([tr, tr, tr]) - S.symmetric_part();
    let det = G.det();
    let floor = T::new(1e-24);
    G.cofactor().scale(T::one() / T::select_positive(det - floor, det, floor))
}

/// The rotation nearest to F by singular values, for the F that `polar` does not trust.
#[cold]
#[inline(never)]
pub(super) fn by_svd(F: &Mat3) -> Mat3 {
    Svd::new(F).rotation()
}

#[cfg(test)]
mod tests {
    use super::super::Real;
    use super::*;
    use crate::math::{LANES, Lanes};

    fn random(state: &mut u64) -> Mat3 {
        Mat3::from_fn(|_, _| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
    }

    #[test]
    fn equals_the_svd_rotation() {
        let mut state = 7;
        let (mut worst, mut trusted) = (0.0f64, [0; 2]);
        for n in 0..20_000 {
            let near = n % 2;
            let mut F = random(&mut state);
            if near == 1 {
                F = F.scale(0.4) + Mat3::identity();
            }
            let svd = Svd::new(&F);
            let gap = (svd.sigma[1] + svd.sigma[2]) / svd.sigma[0];
            let R = f64::rotation(&F);
            let e = R - svd.rotation();
            worst = worst.max(e.dot(&e).sqrt() * gap);
            trusted[near] += usize::from(polar(&F, ITERATIONS).1 > 0.0);
        }
        assert!(worst < 1e-14, "off by {worst}");
        assert!(trusted[1] > 9900 && trusted[0] > 6000, "{trusted:?} of 10000");
    }

    #[test]
    fn degenerate_and_exact() {
        for F in [
            Mat3::zero(),
            Mat3::diagonal([1.0, 0.0, 0.0]),
            Mat3::diagonal([1.0, 1.0, -1.0]),
            Mat3::diagonal([-1.0, -1.0, -1.0]),
            Mat3::diagonal([1e-9, 1.0, 1e9]),
        ] {
            let R = f64::rotation(&F);
            let e = R.transpose_mul(&R) - Mat3::identity();
            assert!(e.dot(&e).sqrt() < 1e-14 && (R.det() - 1.0).abs() < 1e-14);
        }
        assert_eq!(f64::rotation(&Mat3::identity()), Mat3::identity());
    }

    #[test]
    fn lanes_give_the_same_numbers() {
        let mut state = 3;
        for n in 0..200 {
            let F: [Mat3; LANES] = std::array::from_fn(|l| {
                let f = random(&mut state);
                if (n + l) % 3 == 0 { Mat3::diagonal([f[(0, 0)], 1.0, 0.0]) } else { f }
            });
            let packed = Mat3::from_fn(|i, j| Lanes(std::array::from_fn(|l| F[l][(i, j)])));
            let R = Lanes::rotation(&packed);
            for l in 0..LANES {
                let e = R.lane(l) - f64::rotation(&F[l]);
                assert!(e.dot(&e).sqrt() < 1e-13, "{:?}", F[l]);
            }
        }
    }
}
