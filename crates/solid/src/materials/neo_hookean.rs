//! Neo-Hookean of Kharevych (2010, eq. 2.4): ψ = a(tr C/J^{2/3} − 3) + ½κ(J − 1)², a = G/2.
//!
//! P = 2a J^{−2/3}(F − ⅓ tr C F⁻ᵀ) + κ(J − 1) cof F. In the invariants of `isotropic`:
//! ψ_I = aJ^{−2/3}, ψ_J = −⅔aI J^{−5/3} + κ(J−1), ψ_IJ = −⅔aJ^{−5/3}, ψ_JJ = (10/9)aI J^{−8/3} + κ.
//! With J = c³, y = c − 1 and x, t of `from_rest`, tr C − 3c² = t + y²(3 + 2y), which is how ψ is summed.
//! \[kharevych2010\]

use super::from_rest::{FromRest, infinite_unless_positive, nan_unless_positive};
use super::invariants::{Derivatives, Invariants, Isotropic};
use super::isotropic::ByInvariants;
use super::{Card, ConstantsError, Density, Given, SmallStrain, constants};
use crate::math::{Mat3, Real};

/// The `neo-hookean` model; constants a, κ.
pub struct NeoHookean;

impl Density for NeoHookean {
    const CARD: Card = Card {
        name: "neo-hookean",
        summary: "isochoric neo-Hookean with a quadratic volume term; rejects inversion",
        formula: "a (tr C / J^(2/3) - 3) + kappa/2 (J - 1)^2, a = G/2",
        parameters: &[],
        frame_indifferent: true,
        survives_inversion: false,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "kharevych2010",
    };
    type Tangent = ByInvariants;

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        Ok(vec![0.5 * given.mu, given.bulk()])
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let [a, kappa] = constants(c);
        let FromRest { J, x, t, .. } = FromRest::new(F);
        let c = J.cbrt();
        let y = x / (c * c + c + T::one());
        let shape = (t + y * y * (T::new(3.0) + y + y)) / (c * c);
        infinite_unless_positive(J, a * shape + (kappa * x * x).scale(0.5))
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let [a, kappa] = constants(c);
        let (I, J) = (F.dot(F), nan_unless_positive(F.det()));
        let shear = (a + a) * J.inverse_cbrt().squared();
        let along = kappa * (J - T::one()) - (shear * I / J).scale(1.0 / 3.0);
        Mat3::combine(shear, F, along, &F.cofactor())
    }
}

impl Isotropic for NeoHookean {
    const COUPLED: bool = true;

    #[inline(always)]
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
        let [a, kappa] = constants(c);
        let J = at.J;
        let g = a * nan_unless_positive(J).inverse_cbrt().squared();
        Derivatives {
            I: g,
            J: kappa * (J - T::one()) - (g * at.I / J).scale(2.0 / 3.0),
            IJ: (g / J).scale(-2.0 / 3.0),
            JJ: (g * at.I / (J * J)).scale(10.0 / 9.0) + kappa,
            ..Derivatives::none()
        }
    }
}
