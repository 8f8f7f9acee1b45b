use crate::constraints::{Constraint, Distance};
use crate::system::abilities::PrescribedMotion;
use crate::{Abilities, ConfigurationSpace, EnergyParts, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// Particles in uniform gravity, joined by rods; the first ones are fixed. Examples are pendulums and chains.
pub struct Rods {
    gravity: [f64; 3],
    held: usize,
    start: Vec<f64>,
    rods: Vec<Box<dyn Constraint>>,
    space: ConfigurationSpace,
}

impl Rods {
    /// Masses (kg) at positions (m), the first `held` of them fixed; gravity in m/s².
    pub fn new(
        masses: &[f64],
        places: &[[f64; 3]],
        held: usize,
        rods: Vec<Distance>,
        gravity: [f64; 3],
    ) -> Self {
        Self {
            gravity,
            held,
            start: places.concat(),
            rods: rods.into_iter().map(|rod| Box::new(rod) as Box<dyn Constraint>).collect(),
            space: ConfigurationSpace::lumped(masses, std::iter::empty(), 1.0),
        }
    }

    /// A chain of unit masses from the origin along a direction, the first one fixed.
    pub fn chain(links: usize, length: f64, direction: [f64; 3], gravity: f64) -> Self {
        let places: Vec<[f64; 3]> = (0..=links).map(|i| direction.map(|d| d * length * i as f64)).collect();
        let rods =
            (0..links as u32).map(|i| Distance::new(&format!("rod {i}"), [i, i + 1], length)).collect();
        Self::new(&vec![1.0; links + 1], &places, 1, rods, [0.0, -gravity, 0.0])
    }

    /// Positions at the start, m.
    pub fn places(&self) -> &[f64] {
        &self.start
    }
}

impl System for Rods {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
    }
    fn energy(&self, _t: f64, q: &[f64]) -> f64 {
        let m = self.mass().diagonal();
        -(0..q.len()).map(|i| m[i] * self.gravity[i % 3] * q[i]).sum::<f64>()
    }
    fn gradient(&self, _t: f64, _q: &[f64], g: &mut [f64]) {
        let m = self.mass().diagonal();
        for i in 0..g.len() {
            g[i] = -m[i] * self.gravity[i % 3];
        }
    }
    fn hessian(&self, _t: f64, _q: &[f64], _curvature: Curvature, _h: &mut BlockMatrix) {}
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts::gravity(self.energy(t, q))
    }
    fn abilities(&self) -> Abilities<'_> {
        Abilities { prescribed: Some(self), constraints: Some(&self.rods), ..Abilities::NONE }
    }
}

impl PrescribedMotion for Rods {
    fn mark_prescribed(&self, _t: f64, mask: &mut [bool]) {
        mask[..3 * self.held].fill(true);
    }
    fn place_prescribed(&self, _t: f64, q: &mut [f64], v: &mut [f64]) {
        let n = 3 * self.held;
        q[..n].copy_from_slice(&self.start[..n]);
        v[..n].fill(0.0);
    }
    fn prescribed_moves(&self) -> bool {
        false
    }
}
