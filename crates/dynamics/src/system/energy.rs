/// Potential energy by kind, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyParts {
    /// Stored in deformation.
    pub elastic: f64,
    /// In uniform gravity.
    pub gravity: f64,
    /// Contact, monopole and everything else.
    pub other: f64,
}

impl EnergyParts {
    /// All of it stored in deformation.
    pub fn elastic(energy: f64) -> Self {
        Self { elastic: energy, ..Self::default() }
    }

    /// All of it in uniform gravity.
    pub fn gravity(energy: f64) -> Self {
        Self { gravity: energy, ..Self::default() }
    }

    /// All of it of another kind.
    pub fn other(energy: f64) -> Self {
        Self { other: energy, ..Self::default() }
    }

    /// The sum of all parts.
    pub fn total(&self) -> f64 {
        self.elastic + self.gravity + self.other
    }
}
