//! Mooney–Rivlin, isochoric: ψ = a(Ī₁ − 3) + b(Ī₂ − 3) + ½κ(J − 1)², 2(a + b) = G, with
//! Ī₁ = tr C/J^{2/3}, Ī₂ = ½(tr²C − tr C²)/J^{4/3} = ‖cof F‖²/J^{4/3}.
//!
//! (\[kharevych2006\] prints I₂ = tr C² − tr²C and leaves out the powers of J: then the rest state is stressed.)
//! In the invariants of `isotropic`, with i₂ = ½(I² − Q), α = aJ^{−2/3}, β = bJ^{−4/3}:
//!   ψ_I = α + βI, ψ_Q = −½β, ψ_J = −⅔αI/J − (4/3)βi₂/J + κ(J−1), P = 2ψ_I F + 4ψ_Q FC + ψ_J cof F,
//!   ψ_II = β, ψ_IJ = −⅔α/J − (4/3)βI/J, ψ_QJ = ⅔β/J, ψ_JJ = (10/9)αI/J² + (28/9)βi₂/J² + κ.
//! ψ is summed as for `neo-hookean`; with J = c³, y = c − 1 and t of `from_rest`,
//!   ‖cof F‖² − 3c⁴ = 2t + 4 tr cof E − y²(6 + 8y + 3y²).  \[mooney1940, rivlin1948\]

use super::from_rest::{FromRest, infinite_unless_positive, nan_unless_positive};
use super::invariants::{Derivatives, Invariants, Isotropic};
use super::isotropic::ByInvariants;
use super::{Card, ConstantsError, Density, Given, Parameter, SmallStrain, constants};
use crate::math::{Mat3, Real};

/// The `mooney-rivlin` model; constants a, b, κ.
pub struct MooneyRivlin;

impl Density for MooneyRivlin {
    const CARD: Card = Card {
        name: "mooney-rivlin",
        summary: "isochoric Mooney-Rivlin with a quadratic volume term; rejects inversion",
        formula: "a (I1/J^(2/3) - 3) + b (I2/J^(4/3) - 3) + kappa/2 (J - 1)^2, 2(a+b) = G",
        parameters: &[
            Parameter {
                name: "split",
                doc: "b/(a+b), between 0 (neo-hookean) and 1; 0.5 unless a or b is given",
                default: Some(0.5),
            },
            Parameter {
                name: "a",
                doc: "Pa; b then is G/2 - a. With b as well, 2(a+b) must be the G of E and nu",
                default: None,
            },
            Parameter {
                name: "b",
                doc: "Pa; a then is G/2 - b. With a as well, 2(a+b) must be the G of E and nu",
                default: None,
            },
        ],
        frame_indifferent: true,
        survives_inversion: false,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "rivlin1948",
    };
    type Tangent = ByInvariants;

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        let half = 0.5 * given.mu;
        let [split, a, b] = ["split", "a", "b"].map(|name| given.get(name));
        let (a, b) = match (split, a, b) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                return Err(ConstantsError::Contradiction {
                    reason: "mooney-rivlin: give split, or a and b, not both".to_owned(),
                });
            }
            (split, None, None) => {
                let b = half * split.unwrap_or(0.5);
                (half - b, b)
            }
            (None, Some(a), None) => (a, half - a),
            (None, None, Some(b)) => (half - b, b),
            (None, Some(a), Some(b)) => (a, b),
        };
        if !(a >= 0.0 && b >= 0.0) {
            return Err(ConstantsError::out_of_range(
                "a",
                format!(
                    "mooney-rivlin: a = {a} Pa and b = {b} Pa must not be negative; choose split within \
                 0…1, or a and b within 0…{half} (half the shear modulus)"
                ),
            ));
        }
        if ((a + b) / half - 1.0).abs() > 1e-6 {
            return Err(ConstantsError::Contradiction {
                reason: format!(
                    "mooney-rivlin: a and b make a shear modulus of {} Pa but E and nu one of {} Pa; \
                 give E = {}, or leave out a or b",
                    2.0 * (a + b),
                    given.mu,
                    4.0 * (a + b) * (1.0 + given.nu)
                ),
            });
        }
        Ok(vec![a, b, given.bulk()])
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let [a, b, kappa] = constants(c);
        let FromRest { J, x, t, e2 } = FromRest::new(F);
        let c = J.cbrt();
        let y = x / (c * c + c + T::one());
        let first = (t + y * y * (T::new(3.0) + y + y)) / (c * c);
        let cubic = T::new(6.0) + y * (T::new(8.0) + y.scale(3.0));
        let second = (t + t + e2.scale(4.0) - y * y * cubic) / (c * c * c * c);
        infinite_unless_positive(J, a * first + b * second + (kappa * x * x).scale(0.5))
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let [a, b, kappa] = constants(c);
        let (C, J, cof) = (F.transpose_mul(F), nan_unless_positive(F.det()), F.cofactor());
        let (I, i2) = (C.trace(), cof.dot(&cof));
        let square = J.inverse_cbrt().squared();
        let alpha = a * square;
        let beta = b * square.squared();
        let along = kappa * (J - T::one()) - ((alpha * I + (beta + beta) * i2) / J).scale(2.0 / 3.0);
        let by_F = alpha + beta * I;
        F.scale(by_F + by_F) - (*F * C).scale(beta + beta) + cof.scale(along)
    }
}

impl Isotropic for MooneyRivlin {
    const QUARTIC: bool = true;
    const COUPLED: bool = true;

    #[inline(always)]
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
        let [a, b, kappa] = constants(c);
        let (I, J) = (at.I, at.J);
        let i2 = (I * I - at.Q).scale(0.5);
        let square = nan_unless_positive(J).inverse_cbrt().squared();
        let alpha = a * square;
        let beta = b * square.squared();
        Derivatives {
            I: alpha + beta * I,
            Q: beta.scale(-0.5),
            J: kappa * (J - T::one()) - ((alpha * I + (beta + beta) * i2) / J).scale(2.0 / 3.0),
            II: beta,
            IJ: ((alpha + (beta + beta) * I) / J).scale(-2.0 / 3.0),
            QJ: (beta / J).scale(2.0 / 3.0),
            JJ: ((alpha * I).scale(10.0) + (beta * i2).scale(28.0)) / (J * J).scale(9.0) + kappa,
            ..Derivatives::none()
        }
    }
}
