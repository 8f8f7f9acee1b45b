//! Neo-Hookean, logarithmic: ψ = ½μ(tr C − 3 − 2 ln J) + ½λ ln²J.
//!
//! P = μ(F − F⁻ᵀ) + λ ln J F⁻ᵀ. In the invariants of `isotropic`, ψ_I = ½μ, ψ_J = (λ ln J − μ)/J,
//! ψ_JJ = (λ(1 − ln J) + μ)/J². What FEniCS, PolyFEM and Bonet–Wood call neo-Hookean. ψ is summed as
//! ½μ[t + 2(x − ln J)] + ½λ ln²J with x, t of `from_rest`. \[bonet2008\]

use super::from_rest::{FromRest, infinite_unless_positive};
use super::invariants::{Derivatives, Invariants, Isotropic};
use super::isotropic::ByInvariants;
use super::{Card, ConstantsError, Density, Given, SmallStrain, constants};
use crate::math::{Mat3, Real};

/// The `neo-hookean-log` model; constants λ, μ.
pub struct NeoHookeanLog;

impl Density for NeoHookeanLog {
    const CARD: Card = Card {
        name: "neo-hookean-log",
        summary: "compressible neo-Hookean with ln J: rubber-like, never inverts",
        formula: "mu/2 (tr C - 3 - 2 ln J) + lambda/2 ln(J)^2",
        parameters: &[],
        frame_indifferent: true,
        survives_inversion: false,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "bonet2008",
    };
    type Tangent = ByInvariants;

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        Ok(vec![given.lambda, given.mu])
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let [lambda, mu] = constants(c);
        let FromRest { J, x, t, .. } = FromRest::new(F);
        let excess = T::excess_over_ln(x, J);
        let ln_J = x - excess;
        let psi = mu * (t.scale(0.5) + excess) + (lambda * ln_J.squared()).scale(0.5);
        infinite_unless_positive(J, psi)
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let [lambda, mu] = constants(c);
        let J = F.det();
        let along = (lambda * J.ln() - mu) / J;
        Mat3::combine(mu, F, along, &F.cofactor())
    }
}

impl Isotropic for NeoHookeanLog {
    #[inline(always)]
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
        let [lambda, mu] = constants(c);
        let (J, ln_J) = (at.J, at.J.ln());
        Derivatives {
            I: mu.scale(0.5),
            J: (lambda * ln_J - mu) / J,
            JJ: (lambda * (T::one() - ln_J) + mu) / (J * J),
            ..Derivatives::none()
        }
    }
}
