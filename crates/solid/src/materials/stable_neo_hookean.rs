//! Stable neo-Hookean: ψ = ½μ̂(I − 3) − ¾μ̂(J − 1) + ½λ̂(J − 1)² − ½μ̂ ln((I + 1)/4), I = tr C.
//!
//! This is the energy of Smith, de Goes and Kim (2018), ½μ̂(I−3) + ½λ̂(J−α)² − ½μ̂ ln(I+1), with their
//! α = 1 + ¾μ̂/λ̂ multiplied out and its value at rest taken off: stress-free and 0 at rest for every
//! λ̂. Linearised at rest its moduli are G = ¾μ̂ and λ = λ̂ − ⅝μ̂, hence
//!   μ̂ = (4/3)μ,  λ̂ = λ + (5/6)μ > 0 for every admissible (E, ν).
//! P = μ̂ I/(I+1) F + (λ̂(J−1) − ¾μ̂) cof F: polynomial but for I + 1 ≥ 1, so it survives any F. In the
//! invariants of `isotropic`, ψ_I = ½μ̂ I/(I+1), ψ_II = ½μ̂/(I+1)², ψ_J = λ̂(J−1) − ¾μ̂, ψ_JJ = λ̂.
//! ψ is summed as ½μ̂[¾t + (z − ln(1+z))] + ½λ̂x², z = (I−3)/4, with x, t of `from_rest`. \[smith2018\]

use super::from_rest::FromRest;
use super::invariants::{Derivatives, Invariants, Isotropic};
use super::isotropic::ByInvariants;
use super::{Card, ConstantsError, Density, Given, SmallStrain, constants};
use crate::math::{Mat3, Real};

/// The `stable-neo-hookean` model; constants λ̂, μ̂.
pub struct StableNeoHookean;

impl Density for StableNeoHookean {
    const CARD: Card = Card {
        name: "stable-neo-hookean",
        summary: "stable neo-Hookean: rubber-like, recovers from inversion",
        formula: "m/2 (I-3) - 3/4 m (J-1) + l/2 (J-1)^2 - m/2 ln((I+1)/4), \
                  m = 4/3 mu, l = lambda + 5/6 mu, I = tr C",
        parameters: &[],
        frame_indifferent: true,
        survives_inversion: true,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "smith2018",
    };
    type Tangent = ByInvariants;

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        Ok(vec![given.lambda + 5.0 / 6.0 * given.mu, 4.0 / 3.0 * given.mu])
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let [lambda, mu] = constants(c);
        let FromRest { x, t, .. } = FromRest::new(F);
        let z = (t + x + x).scale(0.25);
        let excess = T::excess_over_ln(z, (F.dot(F) + T::one()).scale(0.25));
        (mu * (t.scale(0.75) + excess) + lambda * x * x).scale(0.5)
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let [lambda, mu] = constants(c);
        let (I, J) = (F.dot(F), F.det());
        let along = lambda * (J - T::one()) - mu.scale(0.75);
        F.scale(mu * (I / (I + T::one()))) + F.cofactor().scale(along)
    }
}

impl Isotropic for StableNeoHookean {
    const COUPLED: bool = true;

    #[inline(always)]
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
        let [lambda, mu] = constants(c);
        let n = at.I + T::one();
        Derivatives {
            I: (mu * at.I / n).scale(0.5),
            J: lambda * (at.J - T::one()) - mu.scale(0.75),
            II: (mu / (n * n)).scale(0.5),
            JJ: lambda,
            ..Derivatives::none()
        }
    }
}
