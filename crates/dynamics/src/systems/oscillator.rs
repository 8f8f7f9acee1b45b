use crate::corotated::{Corotated, Rotation};
use crate::strains::{Strained, Strains};
use crate::{Mass, System};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// A unit mass on a spring: ẍ = −ω²x, along the first axis.
pub struct Oscillator {
    stiffness: f64,
    compliance: [f64; 1],
    mass: Mass,
    pattern: Arc<BlockPattern>,
}

impl Oscillator {
    /// With angular frequency ω, rad/s.
    pub fn new(omega: f64) -> Self {
        let stiffness = omega * omega;
        Self {
            stiffness,
            compliance: [1.0 / stiffness],
            mass: Mass::Lumped(vec![1.0; 3]),
            pattern: super::single(),
        }
    }
}

impl System for Oscillator {
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
        0.5 * self.stiffness * q[0] * q[0]
    }
    fn gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        g.copy_from_slice(&[self.stiffness * q[0], 0.0, 0.0]);
    }
    fn hessian(&self, _t: f64, _q: &[f64], _curvature: Curvature, h: &mut BlockMatrix) {
        h.add_diagonal(&[self.stiffness, 0.0, 0.0]);
    }
    fn strained(&self) -> Result<&dyn Strained, String> {
        Ok(self)
    }
    fn corotated(&self) -> Result<&dyn Corotated, String> {
        Ok(self)
    }
}

impl Corotated for Oscillator {
    fn turned_gradient(&self, t: f64, q: &[f64], _: Rotation, _: &[bool], g: &mut [f64]) {
        self.gradient(t, q, g);
    }
    fn turned_stiffness(&self, t: f64, q: &[f64], _: Rotation, _: &[bool], k: &mut BlockMatrix) {
        self.hessian(t, q, Curvature::Exact, k);
    }
}

impl Strained for Oscillator {
    fn strains(&self) -> Vec<&dyn Strains> {
        vec![self]
    }
    fn other_gradient(&self, _t: f64, _q: &[f64], g: &mut [f64]) {
        g.fill(0.0);
    }
    fn other_hessian(&self, _t: f64, _q: &[f64], _h: &mut BlockMatrix) {}
}

/// The strain is x itself.
impl Strains for Oscillator {
    fn nodes_each(&self) -> usize {
        1
    }
    fn strains_each(&self) -> usize {
        1
    }
    fn nodes(&self) -> &[u32] {
        &[0]
    }
    fn compliances(&self) -> &[f64] {
        &self.compliance
    }
    fn evaluate(&self, q: &[f64], phi: &mut [f64], jacobian: &mut [f64]) {
        phi[0] = q[0];
        jacobian.copy_from_slice(&[1.0, 0.0, 0.0]);
    }
}
