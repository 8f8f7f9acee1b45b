//! Rayleigh damping f = −(αM + βK(q)) v, with K the stiffness at the current shape, projected so that it
//! cannot feed energy in. β K does not damp rotations of an unstressed body; α M damps every motion,
//! flight included.

use super::{Card, Damping};
use crate::elements::Elements;
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

pub(super) const CARD: Card = Card {
    name: "rayleigh",
    summary: "αM + βK; α also slows rigid motion",
    keeps_momenta: false,
    cite: "rayleigh1877",
};

/// See the module.
pub struct Rayleigh<E> {
    /// The elements of the body that K comes from.
    pub elements: Arc<E>,
    /// Global nodes that α slows.
    pub nodes: std::ops::Range<usize>,
    /// Mass of each global node, kg.
    pub masses: Arc<Vec<f64>>,
    /// α, 1/s.
    pub alpha: f64,
    /// β, s.
    pub beta: f64,
}

impl<E: Elements> Damping for Rayleigh<E> {
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.add_outer_forces(v, f);
        if self.beta != 0.0 && !self.elements.is_empty() {
            self.elements.add_hessian_product(q, v, -self.beta, f);
        }
    }

    fn add_outer_forces(&self, v: &[f64], f: &mut [f64]) {
        for n in self.nodes.clone() {
            for i in 3 * n..3 * n + 3 {
                f[i] -= self.alpha * self.masses[n] * v[i];
            }
        }
    }

    fn add_matrix(&self, q: &[f64], d: &mut BlockMatrix) {
        if self.beta != 0.0 && !self.elements.is_empty() {
            let mut k = BlockMatrix::zeros(d.pattern().clone());
            self.elements.add_hessian(q, true, &mut k);
            d.add_scaled(self.beta, &k);
        }
        if self.nodes.is_empty() {
            return;
        }
        let mut diagonal = vec![0.0; 3 * self.masses.len()];
        for n in self.nodes.clone() {
            diagonal[3 * n..3 * n + 3].fill(self.alpha * self.masses[n]);
        }
        d.add_diagonal(&diagonal);
    }
}
