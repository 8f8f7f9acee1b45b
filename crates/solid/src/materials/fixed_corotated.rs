//! Fixed co-rotated: ψ = μ‖F − R‖² + ½λ(J − 1)², R the polar rotation of F.
//!
//! P = 2μ(F − R) + λ(J − 1) cof F. In the invariants of `isotropic`, ψ = μ(I − 2s + 3) + ½λ(J − 1)²:
//! ψ_I = μ, ψ_s = −2μ, ψ_J = λ(J − 1), ψ_JJ = λ. Survives inversion and resists it. \[stomakhin2012\]

use super::from_rest::FromRest;
use super::invariants::{Derivatives, Invariants, Isotropic};
use super::isotropic::ByInvariants;
use super::{Card, ConstantsError, Density, Given, SmallStrain, constants};
use crate::math::{Mat3, Real};

/// The `fixed-corotated` model; constants λ, μ.
pub struct FixedCorotated;

impl Density for FixedCorotated {
    const CARD: Card = Card {
        name: "fixed-corotated",
        summary: "co-rotated shear with a volume term in J: recovers from inversion",
        formula: "mu |F - R|^2 + lambda/2 (J - 1)^2",
        parameters: &[],
        frame_indifferent: true,
        survives_inversion: true,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "stomakhin2012",
    };
    type Tangent = ByInvariants;

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        Ok(vec![given.lambda, given.mu])
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let [lambda, mu] = constants(c);
        let D = *F - T::rotation(F);
        let x = FromRest::new(F).x;
        mu * D.dot(&D) + (lambda * x * x).scale(0.5)
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let [lambda, mu] = constants(c);
        let along = lambda * (F.det() - T::one());
        (*F - T::rotation(F)).scale(mu + mu) + F.cofactor().scale(along)
    }
}

impl Isotropic for FixedCorotated {
    const ROTATION: bool = true;

    #[inline(always)]
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
        let [lambda, mu] = constants(c);
        Derivatives {
            I: mu,
            s: mu.scale(-2.0),
            J: lambda * (at.J - T::one()),
            JJ: lambda,
            ..Derivatives::none()
        }
    }
}
