use crate::corotated::{Corotated, Rotation};
use crate::strains::{StrainLayout, Strained, Strains};
use crate::system::abilities::{Dissipation, add_midpoint_forces};
use crate::{Abilities, ConfigurationSpace, EnergyParts, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// A unit mass on a spring with a dashpot: ẍ = −ω²x − cẋ, along the first axis.
pub struct Oscillator {
    stiffness: f64,
    /// c, 1/s.
    decay: f64,
    compliance: [f64; 1],
    space: ConfigurationSpace,
}

impl Oscillator {
    /// With angular frequency ω, rad/s, undamped.
    pub fn new(omega: f64) -> Self {
        Self::damped(omega, 0.0)
    }

    /// With angular frequency ω, rad/s, and a dashpot of c, 1/s.
    pub fn damped(omega: f64, decay: f64) -> Self {
        let stiffness = omega * omega;
        Self { stiffness, decay, compliance: [1.0 / stiffness], space: ConfigurationSpace::single_node(1.0) }
    }
}

impl System for Oscillator {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
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
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts::other(self.energy(t, q))
    }
    fn abilities(&self) -> Abilities<'_> {
        let dissipation = (self.decay != 0.0).then_some(self as &dyn Dissipation);
        Abilities { corotated: Ok(self), strained: Ok(self), dissipation, ..Abilities::NONE }
    }
}

impl Dissipation for Oscillator {
    fn add_forces(&self, _t: f64, _q: &[f64], v: &[f64], f: &mut [f64]) {
        f[0] -= self.decay * v[0];
    }
    fn add_mean_forces(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        add_midpoint_forces(self, t0, h, q0, q1, f);
    }
    fn add_damping_matrix(&self, _t: f64, _q: &[f64], _v: &[f64], d: &mut BlockMatrix) {
        d.add_diagonal(&[self.decay, 0.0, 0.0]);
    }
    fn add_mean_damping_matrix(&self, t: f64, _h: f64, between: &[f64], v: &[f64], d: &mut BlockMatrix) {
        self.add_damping_matrix(t, between, v, d);
    }
}

impl Corotated for Oscillator {
    fn corotated_gradient(&self, t: f64, q: &[f64], _: Rotation, _: &[bool], g: &mut [f64]) {
        self.gradient(t, q, g);
    }
    fn corotated_stiffness(&self, t: f64, q: &[f64], _: Rotation, _: &[bool], k: &mut BlockMatrix) {
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
    fn layout(&self) -> StrainLayout<'_> {
        StrainLayout { nodes_each: 1, strains_each: 1, nodes: &[0], compliances: &self.compliance }
    }
    fn strains(&self, q: &[f64], phi: &mut [f64]) {
        phi[0] = q[0];
    }
    fn jacobian(&self, _q: &[f64], jacobian: &mut [f64]) {
        jacobian.copy_from_slice(&[1.0, 0.0, 0.0]);
    }
}
