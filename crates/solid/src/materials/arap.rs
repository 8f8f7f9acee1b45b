//! As rigid as possible: ψ = ½ k ‖F − R‖², R the polar rotation of F.
//!
//! P = k(F − R). In the invariants of `isotropic`, ψ = ½k(I − 2s + 3): ψ_I = ½k, ψ_s = −k; the only
//! eigenvalues that can be negative are the twists k(1 − 2/(σᵢ+σⱼ)).
//! At small strain ψ → ½k ε:ε, i.e. G = k/2 and λ = 0: the model has one constant and behaves like
//! ν = 0 (Young's modulus k). From (E, ν) it takes k = 2μ = E/(1+ν), so that the shear modulus is
//! the given one. The code of \[chen2019\] writes kΣ(σ−1)²: its 1e6 is k = 2e6 here. \[chao2010\]

use super::invariants::{Derivatives, Invariants, Isotropic};
use super::isotropic::ByInvariants;
use super::{Card, ConstantsError, Density, Given, Parameter, SmallStrain, constants};
use crate::math::{Mat3, Real};

/// The `arap` model; constant k.
pub struct Arap;

impl Density for Arap {
    const CARD: Card = Card {
        name: "arap",
        summary: "as rigid as possible: one constant, shear modulus as given but Poisson's ratio 0",
        formula: "k/2 |F - R|^2, k = 2 mu",
        parameters: &[Parameter {
            name: "k",
            doc: "Pa; 2 mu unless given (Young's modulus of the model is k, shear modulus k/2)",
            default: None,
        }],
        frame_indifferent: true,
        survives_inversion: true,
        analytic: true,
        small_strain: SmallStrain::ShearOnly,
        cite: "chao2010",
    };
    type Tangent = ByInvariants;

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        let k = given.get("k").unwrap_or(2.0 * given.mu);
        if !(k.is_finite() && k > 0.0) {
            let reason = format!("arap: k = {k} Pa must be a positive number; leave it out to use 2 mu");
            return Err(ConstantsError::out_of_range("k", reason));
        }
        Ok(vec![k])
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let [k] = constants(c);
        let D = *F - T::rotation(F);
        (k * D.dot(&D)).scale(0.5)
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let [k] = constants(c);
        (*F - T::rotation(F)).scale(k)
    }
}

impl Isotropic for Arap {
    const ROTATION: bool = true;

    #[inline(always)]
    fn derivatives<T: Real>(c: &[T], _at: &Invariants<T>) -> Derivatives<T> {
        let [k] = constants(c);
        Derivatives { I: k.scale(0.5), s: -k, ..Derivatives::none() }
    }
}
