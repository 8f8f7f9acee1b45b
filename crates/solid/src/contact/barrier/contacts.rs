//! Contacts at some positions: stencils with their weights and laws, their energy and its derivatives.

use super::friction::{FrictionLaw, SlidingContact, TurningNodes};
use super::law::BarrierLaw;
use super::mollifier::Mollifier;
use super::scatter::{add_at, add_block};
use super::stencil::Stencil;
use crate::math::vector::scale;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// Two features within reach of each other, with the energy w m φ(g).
#[derive(Clone, Debug)]
pub struct BarrierContact {
    /// Nodes of the stencil.
    pub nodes: [u32; 4],
    /// Closest points.
    pub stencil: Stencil,
    /// w: an area times a count, m².
    pub weight: f64,
    /// φ per area.
    pub law: BarrierLaw,
    /// m, of two edges that are nearly parallel, with the nodes of both edges.
    pub mollifier: Option<(Mollifier, [u32; 4])>,
    /// Friction, and what turns with the surface.
    pub friction: Option<(FrictionLaw, TurningNodes)>,
}

/// The derivative of u by a0, a1, and of v by b0, b1.
const SIGNS: [(usize, f64); 4] = [(0, -1.0), (0, 1.0), (1, -1.0), (1, 1.0)];

impl BarrierContact {
    /// g, m.
    pub fn gap(&self) -> f64 {
        self.stencil.distance()
    }

    fn mollified(&self) -> f64 {
        self.mollifier.map_or(1.0, |(m, _)| m.value())
    }

    /// w m φ, J.
    pub fn energy(&self) -> f64 {
        self.weight * self.mollified() * self.law.energy(self.gap())
    }

    /// The normal force, N; negative where it is subtracted from that of others.
    pub fn force(&self) -> f64 {
        -self.weight * self.mollified() * self.law.slope(self.gap())
    }

    /// Its friction, if it has any.
    pub fn sliding(&self) -> Option<SlidingContact> {
        let (law, turning) = self.friction.clone()?;
        Some(SlidingContact { nodes: self.nodes, stencil: self.stencil, load: self.force(), law, turning })
    }

    /// Adds the gradient, N.
    pub fn add_gradient(&self, g: &mut [f64]) {
        let slope = -self.force();
        let normal = self.stencil.normal();
        for (&node, c) in self.nodes.iter().zip(self.stencil.coefficients()) {
            add_at(node, scale(normal, slope * c), g);
        }
        if let Some((mollifier, nodes)) = &self.mollifier {
            let energy = self.weight * self.law.energy(self.gap());
            let by_edge = mollifier.gradient();
            for (&node, (edge, sign)) in nodes.iter().zip(SIGNS) {
                add_at(node, scale(by_edge[edge], sign * energy), g);
            }
        }
    }

    /// Adds the Hessian, N/m. Projected is the part along the normal, of contacts that push.
    pub fn add_hessian(&self, curvature: Curvature, h: &mut BlockMatrix) {
        let exact = curvature == Curvature::Exact;
        let (slope, mollified) = (-self.force(), self.mollified());
        let along = self.weight * mollified * self.law.curvature(self.gap());
        if !exact && along <= 0.0 {
            return;
        }
        let (normal, c) = (self.stencil.normal(), self.stencil.coefficients());
        for i in 0..c.len() {
            for j in 0..=i {
                let across = if exact { self.stencil.hessian(i, j) } else { [0.0; 9] };
                let block = std::array::from_fn(|k| {
                    along * c[i] * c[j] * normal[k / 3] * normal[k % 3] + slope * across[k]
                });
                add_block([self.nodes[i], self.nodes[j]], &block, h);
            }
        }
        if exact && let Some((mollifier, nodes)) = &self.mollifier {
            self.add_mollified_hessian(mollifier, *nodes, h);
        }
    }

    /// Adds φ ∇²m + φ′ (∇m ∇dᵀ + ∇d ∇mᵀ), times w.
    fn add_mollified_hessian(&self, mollifier: &Mollifier, nodes: [u32; 4], h: &mut BlockMatrix) {
        let energy = self.weight * self.law.energy(self.gap());
        let slope = self.weight * self.law.slope(self.gap());
        let by_edge = mollifier.gradient();
        let along = |node: u32| {
            let place = self.nodes[..self.stencil.count()].iter().position(|n| *n == node);
            place.map_or([0.0; 3], |i| self.stencil.gradient(i))
        };
        for i in 0..4 {
            for j in 0..=i {
                let ((edge, sign), (other, other_sign)) = (SIGNS[i], SIGNS[j]);
                let second = mollifier.hessian(edge, other);
                let [fade, other_fade] = [scale(by_edge[edge], sign), scale(by_edge[other], other_sign)];
                let (d, other_d) = (along(nodes[i]), along(nodes[j]));
                let block = std::array::from_fn(|k| {
                    let (r, s) = (k / 3, k % 3);
                    energy * sign * other_sign * second[k]
                        + slope * (fade[r] * other_d[s] + d[r] * other_fade[s])
                });
                add_block([nodes[i], nodes[j]], &block, h);
            }
        }
    }
}
