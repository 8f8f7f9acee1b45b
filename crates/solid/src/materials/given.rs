use super::{Card, ConstantsError};
use std::collections::BTreeMap;

/// Elastic constants as the user gave them, completed: lambda and mu always follow from E and nu.
#[derive(Clone, Debug)]
pub struct Given {
    /// Young's modulus, Pa.
    pub E: f64,
    /// Poisson's ratio.
    pub nu: f64,
    /// Lamé's first, Pa.
    pub lambda: f64,
    /// Shear modulus G, Pa.
    pub mu: f64,
    /// Model-specific constants by name ([`Card::parameters`]); 21-constant stiffness as `C11`… .
    pub extra: BTreeMap<String, f64>,
}

impl Given {
    /// From Young's modulus E (Pa) and Poisson's ratio nu.
    pub fn from_young(E: f64, nu: f64) -> Result<Self, ConstantsError> {
        if !(E.is_finite() && E > 0.0) {
            return Err(ConstantsError::out_of_range(
                "E",
                format!(
                    "Young's modulus E = {E} Pa must be a positive number; for a body without \
                 stiffness leave its material out"
                ),
            ));
        }
        if !(nu > -1.0 && nu < 0.5) {
            return Err(ConstantsError::out_of_range(
                "nu",
                format!(
                    "Poisson's ratio nu = {nu} must lie between -1 and 0.5, both excluded; for a nearly \
                 incompressible body use 0.49, for an incompressible one a volume constraint"
                ),
            ));
        }
        Ok(Self {
            E,
            nu,
            lambda: E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
            mu: E / (2.0 * (1.0 + nu)),
            extra: BTreeMap::new(),
        })
    }

    /// From Young's modulus E (Pa) at ν = ½, where λ is infinite: for the model `stvk` under the integrator
    /// `regularized`; all others refuse it.
    pub fn incompressible(E: f64) -> Result<Self, ConstantsError> {
        let given = Self::from_young(E, 0.0)?;
        Ok(Self { nu: 0.5, lambda: f64::INFINITY, mu: E / 3.0, ..given })
    }

    /// Whether ν = ½.
    pub fn is_incompressible(&self) -> bool {
        self.lambda == f64::INFINITY
    }

    /// From Lamé's lambda and mu (Pa).
    pub fn from_lame(lambda: f64, mu: f64) -> Result<Self, ConstantsError> {
        if !(mu.is_finite() && mu > 0.0) {
            return Err(ConstantsError::out_of_range(
                "mu",
                format!("shear modulus mu = {mu} Pa must be a positive number; give mu > 0, or E and nu"),
            ));
        }
        if !(lambda.is_finite() && lambda > -2.0 / 3.0 * mu) {
            return Err(ConstantsError::out_of_range(
                "lambda",
                format!(
                    "lambda = {lambda} Pa with mu = {mu} Pa has no positive bulk modulus \
                 lambda + 2/3 mu; raise lambda above {}",
                    -2.0 / 3.0 * mu
                ),
            ));
        }
        Ok(Self {
            E: mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu),
            nu: lambda / (2.0 * (lambda + mu)),
            lambda,
            mu,
            extra: BTreeMap::new(),
        })
    }

    /// The same with the model-specific constant `name`.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.extra.insert(name.to_owned(), value);
        self
    }

    /// All stiffnesses times a factor; `card` tells them from constants without unit.
    #[must_use]
    pub fn scaled(mut self, factor: f64, card: &Card) -> Self {
        for modulus in [&mut self.E, &mut self.lambda, &mut self.mu] {
            *modulus *= factor;
        }
        for parameter in card.parameters.iter().filter(|p| p.doc.starts_with("Pa")) {
            self.extra.entry(parameter.name.to_owned()).and_modify(|x| *x *= factor);
        }
        self
    }

    /// Bulk modulus κ, Pa.
    pub fn bulk(&self) -> f64 {
        self.lambda + 2.0 / 3.0 * self.mu
    }

    /// Whether the 21 constants of a general stiffness are given.
    pub fn has_general_stiffness(&self) -> bool {
        self.extra.contains_key("C11")
    }

    /// A model-specific constant, if given.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.extra.get(name).copied()
    }

    /// Refuses constants that the model does not take.
    pub(super) fn check_names(&self, card: &Card) -> Result<(), ConstantsError> {
        let known = |name: &str| card.parameters.iter().any(|p| p.name == name);
        let Some(name) = self.extra.keys().find(|name| !known(name)) else {
            return Ok(());
        };
        let names: Vec<_> = card.parameters.iter().map(|p| p.name).collect();
        let takes =
            if names.is_empty() { "no constants but the moduli".to_owned() } else { names.join(", ") };
        Err(ConstantsError::Unknown { material: card.name, constant: name.clone(), takes })
    }
}
