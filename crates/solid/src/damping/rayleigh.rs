//! Rayleigh damping f = −(αM + βK(q)) v, with K the stiffness at the current shape, projected so that it
//! cannot feed energy in. β K does not damp rotations of an unstressed body; α M damps every motion,
//! flight included.

use super::{Card, Damping};
use crate::elements::Tets;
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

pub(super) const CARD: Card = Card {
    name: "rayleigh",
    summary: "αM + βK; α also slows rigid motion",
    keeps_momenta: false,
    cite: "rayleigh1877",
};

/// See the module.
pub struct Rayleigh {
    /// The body.
    pub tets: Arc<Tets>,
    /// Mass of each global node, kg.
    pub masses: Arc<Vec<f64>>,
    /// α, 1/s.
    pub alpha: f64,
    /// β, s.
    pub beta: f64,
}

impl Damping for Rayleigh {
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        for n in self.tets.nodes() {
            for i in 3 * n..3 * n + 3 {
                f[i] -= self.alpha * self.masses[n] * v[i];
            }
        }
        if self.beta != 0.0 {
            self.tets.add_hessian_product(q, v, -self.beta, f);
        }
    }

    fn add_matrix(&self, q: &[f64], d: &mut BlockMatrix) {
        if self.beta != 0.0 {
            let mut k = BlockMatrix::zeros(d.pattern().clone());
            self.tets.add_hessian(q, true, &mut k);
            d.add_scaled(self.beta, &k);
        }
        let mut diagonal = vec![0.0; 3 * self.masses.len()];
        for n in self.tets.nodes() {
            diagonal[3 * n..3 * n + 3].fill(self.alpha * self.masses[n]);
        }
        d.add_diagonal(&diagonal);
    }
}
