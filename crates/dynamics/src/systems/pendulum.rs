use crate::{Abilities, ConfigurationSpace, EnergyParts, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// The plane pendulum with its angle as unknown: mL² θ̈ = −mgL sin θ (\[kharevych2006\] Fig. 1).
pub struct Pendulum {
    /// mgL, J.
    weight: f64,
    /// The inertia is mL² instead of a mass, kg m².
    space: ConfigurationSpace,
}

impl Pendulum {
    /// Mass (kg), length (m), gravity (m/s²).
    pub fn new(mass: f64, length: f64, gravity: f64) -> Self {
        Self {
            weight: mass * gravity * length,
            space: ConfigurationSpace::single_node(mass * length * length),
        }
    }
}

impl System for Pendulum {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
    }
    fn energy(&self, _t: f64, q: &[f64]) -> f64 {
        self.weight * (1.0 - q[0].cos())
    }
    fn gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        g.copy_from_slice(&[self.weight * q[0].sin(), 0.0, 0.0]);
    }
    fn hessian(&self, _t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        let k = self.weight * q[0].cos();
        let k = if curvature == Curvature::Projected { k.max(0.0) } else { k };
        h.add_diagonal(&[k, 0.0, 0.0]);
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts::other(self.energy(t, q))
    }
    fn abilities(&self) -> Abilities<'_> {
        Abilities::NONE
    }
}
