//! Saint-Venant–Kirchhoff, ψ = μ E:E + ½λ tr²E with the Green strain E = ½(FᵀF − I).
//!
//! P = F(2μE + λ tr(E) I). In the invariants of `isotropic`, ψ = ¼μ(Q − 2I + 3) + ⅛λ(I − 3)².
//! Softens in compression and passes through inversion
//! without resistance (ψ is even in each σ): for moderate compression only. \[bonet2008\]

use super::from_rest::green_strain;
use super::invariants::{Derivatives, Invariants, Isotropic};
use super::isotropic::ByInvariants;
use super::{Card, ConstantsError, Density, Given, SmallStrain, constants};
use crate::math::{Mat3, Real};

/// The `stvk` model; constants λ, μ, 1/(3λ+2μ).
pub struct StVenantKirchhoff;

impl Density for StVenantKirchhoff {
    const CARD: Card = Card {
        name: "stvk",
        summary: "Saint-Venant-Kirchhoff: large rotations, moderate strains; weak in compression",
        formula: "mu E:E + lambda/2 tr(E)^2, E = (F^T F - I)/2",
        parameters: &[],
        frame_indifferent: true,
        survives_inversion: true,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "bonet2008",
    };
    type Tangent = ByInvariants;

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        // Of an incompressible body ψ is what shear costs; its volume is the strains' affair.
        let lambda = if given.is_incompressible() { 0.0 } else { given.lambda };
        Ok(vec![lambda, given.mu, 1.0 / (3.0 * given.lambda + 2.0 * given.mu)])
    }

    const INCOMPRESSIBLE: bool = true;

    fn volumetric_compliance(c: &[f64]) -> Option<f64> {
        Some(c[2])
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let [lambda, mu] = constants(c);
        let E = green_strain(F);
        mu * E.dot(&E) + (lambda * E.trace().squared()).scale(0.5)
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let [lambda, mu] = constants(c);
        let E = green_strain(F);
        let p = lambda * E.trace();
        *F * (E.scale(mu + mu) + Mat3::diagonal([p, p, p]))
    }
}

impl Isotropic for StVenantKirchhoff {
    const QUARTIC: bool = true;
    const COUPLED: bool = true;

    #[inline(always)]
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
        let [lambda, mu] = constants(c);
        Derivatives {
            I: (lambda * (at.I - T::new(3.0))).scale(0.25) - mu.scale(0.5),
            Q: mu.scale(0.25),
            II: lambda.scale(0.25),
            ..Derivatives::none()
        }
    }
}
