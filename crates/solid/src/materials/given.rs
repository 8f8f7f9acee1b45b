use super::Card;
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
    pub fn from_young(E: f64, nu: f64) -> Result<Self, String> {
        if !(E.is_finite() && E > 0.0) {
            return Err(format!(
                "Young's modulus E = {E} Pa must be a positive number; for a body without \
                 stiffness leave its material out"
            ));
        }
        if !(nu > -1.0 && nu < 0.5) {
            return Err(format!(
                "Poisson's ratio nu = {nu} must lie between -1 and 0.5, both excluded; for a nearly \
                 incompressible body use 0.49, for an incompressible one a volume constraint"
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
    pub fn incompressible(E: f64) -> Result<Self, String> {
        let given = Self::from_young(E, 0.0)?;
        Ok(Self { nu: 0.5, lambda: f64::INFINITY, mu: E / 3.0, ..given })
    }

    /// Whether ν = ½.
    pub fn is_incompressible(&self) -> bool {
        self.lambda == f64::INFINITY
    }

    /// From Lamé's lambda and mu (Pa).
    pub fn from_lame(lambda: f64, mu: f64) -> Result<Self, String> {
        if !(mu.is_finite() && mu > 0.0) {
            return Err(format!(
                "shear modulus mu = {mu} Pa must be a positive number; give mu > 0, or E and nu"
            ));
        }
        if !(lambda.is_finite() && lambda > -2.0 / 3.0 * mu) {
            return Err(format!(
                "lambda = {lambda} Pa with mu = {mu} Pa has no positive bulk modulus \
                 lambda + 2/3 mu; raise lambda above {}",
                -2.0 / 3.0 * mu
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

    /// A model-specific constant, if given.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.extra.get(name).copied()
    }

    /// Refuses constants that the model does not take.
    pub(super) fn check_names(&self, card: &Card) -> Result<(), String> {
        let known = |name: &str| card.parameters.iter().any(|p| p.name == name);
        let Some(name) = self.extra.keys().find(|name| !known(name)) else {
            return Ok(());
        };
        let names: Vec<_> = card.parameters.iter().map(|p| p.name).collect();
        let takes =
            if names.is_empty() { "no constants but the moduli".to_owned() } else { names.join(", ") };
        Err(format!(
            "material {} does not know the constant {name}; remove it (the model takes {takes})",
            card.name
        ))
    }
}
