/// Lamé's constants of a point of an isotropic material at small strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// Shear modulus μ, Pa.
    pub mu: f64,
    /// Lamé's first constant λ, Pa; infinite where ν = ½.
    pub lambda: f64,
}

impl Lame {
    /// Young's modulus E, Pa.
    pub fn young(self) -> f64 {
        // μ (3λ + 2μ) / (λ + μ), in a form that is finite where λ is not.
        self.mu * (3.0 - self.mu / (self.lambda + self.mu))
    }
}

#[cfg(test)]
mod tests {
    use super::Lame;
    use crate::materials::Given;

    #[test]
    fn young_is_what_was_given() {
        let incompressible = Given::incompressible(1e4).unwrap();
        for given in [-0.5, 0.0, 0.3, 0.45, 0.4999].map(|nu| Given::from_young(1e4, nu).unwrap()) {
            let young = Lame { mu: given.mu, lambda: given.lambda }.young();
            assert!((young - 1e4).abs() < 1e-8, "{young} for {given:?}");
        }
        let young = Lame { mu: incompressible.mu, lambda: incompressible.lambda }.young();
        assert!((young - 1e4).abs() < 1e-8, "{young} for nu = 0.5");
    }
}
