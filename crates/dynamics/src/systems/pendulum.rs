use crate::{Mass, System};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// The plane pendulum in its angle: mL² θ̈ = −mgL sin θ (\[kharevych2006\] Fig. 1).
pub struct Pendulum {
    /// mgL, J.
    weight: f64,
    mass: Mass,
    pattern: Arc<BlockPattern>,
}

impl Pendulum {
    /// Mass (kg), length (m), gravity (m/s²).
    pub fn new(mass: f64, length: f64, gravity: f64) -> Self {
        Self {
            weight: mass * gravity * length,
            mass: Mass::Lumped(vec![mass * length * length; 3]),
            pattern: super::single(),
        }
    }
}

impl System for Pendulum {
    fn dofs(&self) -> usize {
        3
    }
    fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }
    fn mass(&self) -> &Mass {
        &self.mass
    }
    fn length(&self) -> f64 {
        1.0
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
}
