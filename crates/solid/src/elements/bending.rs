//! Bending of ropes and nets whose nodes are evenly spaced at rest, along straight lines:
//! W = Σ ½k‖x₋ − 2x₀ + x₊‖².
//!
//! With the curvature κ ≈ ‖x₋ − 2x₀ + x₊‖/d² at spacing d and a rigidity B (N m² of a rope; N m times the width of
//! the strip in a cloth), ½Bκ²d needs k = B/d³. Quadratic and free of strain at any rigid motion; an even stretch
//! costs nothing, an uneven one a little.

use super::{ElementCells, Elements};
use crate::potentials::{Kind, Potential, PotentialRole};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// Three nodes in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// The nodes, the middle one second.
    pub nodes: [u32; 3],
    /// k, N/m.
    pub stiffness: f64,
}

const WEIGHTS: [f64; 3] = [1.0, -2.0, 1.0];

/// The bends of one body, in global node numbers.
#[derive(Clone, Debug, Default)]
pub struct Bending {
    list: Vec<Bend>,
}

impl Bending {
    /// Those bends.
    pub fn new(list: Vec<Bend>) -> Self {
        Self { list }
    }

    /// All of them.
    pub fn list(&self) -> &[Bend] {
        &self.list
    }

    /// Adds c K x.
    fn add_product(&self, x: &[f64], c: f64, out: &mut [f64]) {
        for bend in &self.list {
            let at = bend.nodes.map(|n| 3 * n as usize);
            for k in 0..3 {
                let bent: f64 = (0..3).map(|i| WEIGHTS[i] * x[at[i] + k]).sum();
                for i in 0..3 {
                    out[at[i] + k] += c * bend.stiffness * WEIGHTS[i] * bent;
                }
            }
        }
    }
}

impl Potential for Bending {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::smooth(Kind::Elastic)
    }

    fn energy(&self, q: &[f64]) -> f64 {
        let one = |bend: &Bend| {
            let at = bend.nodes.map(|n| 3 * n as usize);
            let bent = |k: usize| (0..3).map(|i| WEIGHTS[i] * q[at[i] + k]).sum::<f64>();
            0.5 * bend.stiffness * (0..3).map(|k| bent(k).powi(2)).sum::<f64>()
        };
        self.list.iter().map(one).sum()
    }

    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        self.add_product(q, 1.0, g);
    }

    fn add_hessian(&self, _q: &[f64], _curvature: Curvature, h: &mut BlockMatrix) {
        for bend in &self.list {
            for i in 0..3 {
                for j in 0..=i {
                    let c = bend.stiffness * WEIGHTS[i] * WEIGHTS[j];
                    let block = [c, 0.0, 0.0, 0.0, c, 0.0, 0.0, 0.0, c];
                    h.add_block(bend.nodes[i] as usize, bend.nodes[j] as usize, &block);
                }
            }
        }
    }

    /// The midpoint gradient, which is exact for a quadratic energy.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.add_product(q0, 0.5, g);
        self.add_product(q1, 0.5, g);
        true
    }
}

impl Elements for Bending {
    fn len(&self) -> usize {
        self.list.len()
    }
    fn each_clique(&self, f: &mut dyn FnMut(&[u32])) {
        self.list.iter().for_each(|b| f(&b.nodes));
    }
    fn joins(&self) -> bool {
        false
    }
    fn has_constant_stiffness(&self) -> bool {
        true
    }

    fn add_hessian_product(&self, _q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        self.add_product(v, c, out);
    }

    /// The springs or triangles between the same nodes are what is seen. There is no F: bending is damped by `rayleigh` only.
    fn cells(&self) -> Option<&dyn ElementCells> {
        None
    }
}
