//! Linear elasticity, ψ = ½ ε : C : ε with ε = ½(F + Fᵀ) − I.
//!
//! P = C : ε, ∂P/∂F = C on symmetric parts: constant and, for a positive definite C, positive
//! semidefinite with the three rotations as null space, so that nothing is ever projected. Not frame
//! indifferent: only for small rotations. Isotropic (λ, μ) by default, or any 21 constants, which
//! numerical coarsening returns. \[gurtin1981\]

use super::{
    Card, Corners, Density, Frame, Given, Mat9, SmallStrain, Tangent, corners, from_differential, stiffness,
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

    fn constants(given: &Given) -> Result<Vec<f64>, String> {
        stiffness::constants(given)
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
    fn stiffness<T: Real>(c: &[T], _F: &Mat3<T>, gradients: &Mat3<T>, out: &mut Corners<T>) {
        corners::from_differential(
            gradients,
            #[inline(always)]
            |dF| stiffness::apply(c, &dF.symmetric_part()),
            out,
        );
    }

    #[inline(always)]
    fn stiffness_projected(c: &[Lanes], F: &Mat3<Lanes>, gradients: &Mat3<Lanes>, out: &mut Corners<Lanes>) {
        Self::stiffness(c, F, gradients, out);
    }
}

#[inline(always)]
fn strain<T: Real>(F: &Mat3<T>) -> Mat3<T> {
    (*F - Mat3::identity()).symmetric_part()
}
