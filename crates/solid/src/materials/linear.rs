//! Linear elasticity, ψ = ½ ε : C : ε with ε = ½(F + Fᵀ) − I.
//!
//! P = C : ε, ∂P/∂F = C on symmetric parts: constant and, for a positive definite C, positive
//! semidefinite with the three rotations as null space, so that nothing is ever projected. Not frame
//! indifferent: only for small rotations. Isotropic (λ, μ) by default, or any 21 constants, which
//! numerical coarsening returns. \[gurtin1981\]

use super::{
    BasisTangent, Card, ConstantsError, Density, Frame, Given, Mat9, SmallStrain, Tangent, basis_tangent,
    from_differential, stiffness,
};
use crate::math::{Lanes, Mat3, Real};

/// The `linear` model; constants as in `stiffness`.
pub struct Linear;

impl Density for Linear {
    const CARD: Card = Card {
        name: "linear",
        summary: "linear elasticity: small strains and small rotations; anisotropic if asked",
        formula: "1/2 e:C:e, e = sym(F) - I",
        parameters: stiffness::PARAMETERS,
        frame_indifferent: false,
        survives_inversion: true,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "gurtin1981",
    };
    type Tangent = Self;
    const FRAME: Option<Frame> = Some(Frame::Fixed);

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        stiffness::constants(given)
    }

    /// Of isotropic bodies only.
    fn volumetric_compliance(c: &[f64]) -> Option<f64> {
        (c.len() == 2).then(|| 1.0 / (3.0 * c[0] + 2.0 * c[1]))
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let e = strain(F);
        e.dot(&stiffness::apply(c, &e)).scale(0.5)
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        stiffness::apply(c, &strain(F))
    }
}

impl Tangent<Self> for Linear {
    fn hessian(c: &[f64], _F: &Mat3) -> Mat9 {
        from_differential(|dF| stiffness::apply(c, &dF.symmetric_part()))
    }

    fn hessian_projected(c: &[f64], F: &Mat3) -> Mat9 {
        Self::hessian(c, F)
    }

    #[inline(always)]
    fn in_basis<T: Real>(c: &[T], _F: &Mat3<T>, basis: &Mat3<T>, out: &mut BasisTangent<T>) {
        basis_tangent::from_differential(
            basis,
            #[inline(always)]
            |dF| stiffness::apply(c, &dF.symmetric_part()),
            out,
        );
    }

    #[inline(always)]
    fn in_basis_projected(c: &[Lanes], F: &Mat3<Lanes>, basis: &Mat3<Lanes>, out: &mut BasisTangent<Lanes>) {
        Self::in_basis(c, F, basis, out);
    }

    #[inline(always)]
    fn product_projected(c: &[Lanes], _F: &Mat3<Lanes>, dF: &Mat3<Lanes>) -> Mat3<Lanes> {
        stiffness::apply(c, &dF.symmetric_part())
    }
}

#[inline(always)]
fn strain<T: Real>(F: &Mat3<T>) -> Mat3<T> {
    (*F - Mat3::identity()).symmetric_part()
}
