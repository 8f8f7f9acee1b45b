//! Co-rotational linear elasticity: ψ = ½ ε̂ : C : ε̂, ε̂ = S − I, S = sym(RᵀF), R the polar rotation.
//!
//! Exact, with the derivative of R. Let dR = R\[ω\]×, ω = G⁻¹ axial(RᵀdF), G = tr(S) I − S, and
//! Σ = C : ε̂. From dS = RᵀdF − \[ω\]×S,
//!   P = R(Σ − \[b\]×),  b = G⁻¹ axial(ΣS)                     (b = 0 if C is isotropic: Σ and S commute)
//!   dP = dR(Σ − \[b\]×) + R(dΣ − \[db\]×),  dΣ = C : dS,  db = G⁻¹(axial(dΣ S + Σ dS) − (tr(dS) I − dS) b).
//! Isotropic C: ψ = μ(I − 2s + 3) + ½λ(s − 3)² in the invariants of `isotropic` (ψ_I = μ,
//! ψ_s = λ(s−3) − 2μ, ψ_ss = λ), hence its Hessian and eigensystem. With 21 constants the
//! eigenvectors have no closed form; the projection is by Jacobi rotations on the 9×9 matrix.
//! (The forces of the classic co-rotated element, R K RᵀΔx, leave out \[b\]× and dR.) \[muller2004\]

use super::from_differential;
use super::invariants::{Derivatives, Invariants, Isotropic};
use super::isotropic;
use super::{
    BasisTangent, Card, ConstantsError, Density, Frame, Given, Mat9, SmallStrain, Tangent, basis_tangent,
    constants, stiffness,
};
use crate::math::{Lanes, Mat3, Real, project_positive, solve_spin};

/// The `co-rotational` model; constants as in `stiffness`.
pub struct CoRotational;

impl Density for CoRotational {
    const CARD: Card = Card {
        name: "co-rotational",
        summary: "linear elasticity in the rotated frame: large rotations, small strains; \
                  anisotropic if asked",
        formula: "1/2 e:C:e, e = sym(R^T F) - I",
        parameters: stiffness::PARAMETERS,
        frame_indifferent: true,
        survives_inversion: true,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "muller2004",
    };
    type Tangent = Self;
    const FRAME: Option<Frame> = Some(Frame::Turning);

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        stiffness::constants(given)
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let R = T::rotation(F);
        let e = strain(F, &R);
        e.dot(&stiffness::apply(c, &e)).scale(0.5)
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let R = T::rotation(F);
        let e = strain(F, &R);
        let mut sigma = stiffness::apply(c, &e);
        if !is_isotropic(c) {
            let S = e + Mat3::identity();
            sigma = sigma - Mat3::skew(solve_spin(&S, (sigma * S).axial()));
        }
        R * sigma
    }
}

impl Tangent<Self> for CoRotational {
    fn hessian(c: &[f64], F: &Mat3) -> Mat9 {
        if is_isotropic(c) {
            return isotropic::hessian::<Self>(c, F);
        }
        from_differential(differential(c, F))
    }

    fn hessian_projected(c: &[f64], F: &Mat3) -> Mat9 {
        if is_isotropic(c) {
            isotropic::hessian_projected::<Self>(c, F)
        } else {
            project_positive(&Self::hessian(c, F))
        }
    }

    #[inline(always)]
    fn in_basis<T: Real>(c: &[T], F: &Mat3<T>, basis: &Mat3<T>, out: &mut BasisTangent<T>) {
        if is_isotropic(c) {
            basis_tangent::isotropic::<Self, T>(c, F, basis, out);
        } else {
            basis_tangent::from_differential(basis, differential(c, F), out);
        }
    }

    #[inline(always)]
    fn in_basis_projected(c: &[Lanes], F: &Mat3<Lanes>, basis: &Mat3<Lanes>, out: &mut BasisTangent<Lanes>) {
        if is_isotropic(c) {
            basis_tangent::isotropic_projected::<Self, Lanes>(c, F, basis, out);
        } else {
            basis_tangent::each_lane(c, F, basis, out, &Self::hessian_projected);
        }
    }

    #[inline(always)]
    fn product_projected(c: &[Lanes], F: &Mat3<Lanes>, dF: &Mat3<Lanes>) -> Mat3<Lanes> {
        if is_isotropic(c) {
            basis_tangent::isotropic_projected_product::<Self>(c, F, dF)
        } else {
            basis_tangent::product_of_each_lane(c, F, dF, &Self::hessian_projected)
        }
    }
}

impl Isotropic for CoRotational {
    const ROTATION: bool = true;

    #[inline(always)]
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
        let [lambda, mu] = constants(c);
        Derivatives { I: mu, s: lambda * (at.s - T::new(3.0)) - (mu + mu), ss: lambda, ..Derivatives::none() }
    }
}

/// dP of dF, for any stiffness.
#[inline(always)]
fn differential<T: Real>(c: &[T], F: &Mat3<T>) -> impl Fn(&Mat3<T>) -> Mat3<T> {
    let R = T::rotation(F);
    let e = strain(F, &R);
    let S = e + Mat3::identity();
    let sigma = stiffness::apply(c, &e);
    let b = solve_spin(&S, (sigma * S).axial());
    let rotated = sigma - Mat3::skew(b);
    #[inline(always)]
    move |dF| {
        let A = R.transpose_mul(dF);
        let spin = Mat3::skew(solve_spin(&S, A.axial()));
        let dS = (A - spin * S).symmetric_part();
        let d_sigma = stiffness::apply(c, &dS);
        let turn = dS.mul_vec(b);
        let axial = (d_sigma * S + sigma * dS).axial();
        let rhs = [0, 1, 2].map(|i| axial[i] - dS.trace() * b[i] + turn[i]);
        let db = solve_spin(&S, rhs);
        R * (spin * rotated + d_sigma - Mat3::skew(db))
    }
}

#[inline(always)]
fn is_isotropic<T>(c: &[T]) -> bool {
    c.len() == 2
}

/// ε̂, as sym(Rᵀ(F − R)): F − R first, so that a small strain keeps its digits.
#[inline(always)]
fn strain<T: Real>(F: &Mat3<T>, R: &Mat3<T>) -> Mat3<T> {
    R.transpose_mul(&(*F - *R)).symmetric_part()
}
