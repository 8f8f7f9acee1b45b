//! Kelvin–Voigt viscosity: S = τ(2μĖ + λ tr Ė I), Ė = sym(FᵀḞ), P = F S, with the body's own moduli and a
//! time τ.
//!
//! Over a step it is taken at the midpoint with the mean velocity. There sym(F̄ᵀΔF) = ½(C₁ − C₀), so that
//! Ė is the exact mean rate of Green's strain: a rigid step is not damped at all, both momenta are kept,
//! the power −∫S:Ė is never positive, and the result is second order in the step.
//!
//! The same for membranes with the moduli of plane stress, and for springs, where Ė = s·ṡ/l₀² and the force is
//! τk Ė s: at rest length τk times the rate along the spring. Bending is not damped.

use super::{Card, Damping};
use crate::elements::membrane::{M22, M32, matrix_of, mul, transpose_mul};
use crate::elements::{Membrane, Springs, Tets, Triangle, kernel};
use crate::math::{Lanes, Mat3, Real};
use crate::mesh::vector::{dot, scale};
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

pub(super) const CARD: Card = Card {
    name: "viscous",
    summary: "Kelvin–Voigt viscosity at the midpoint; keeps momenta, always dissipates",
    keeps_momenta: true,
    cite: "simo1992",
};

/// See the module.
pub struct Viscous<E> {
    /// The elements of the body.
    pub elements: Arc<E>,
    /// τ, s.
    pub time: f64,
}

impl Damping for Viscous<Tets> {
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.elements.add_forces([q, v], f, &|first, blocks, [q, v], out| {
            kernel::add_forces(
                first,
                blocks,
                self.elements.all_moduli(),
                [q, v],
                out,
                #[inline(always)]
                |moduli, [F, rate]| {
                    let (mu, lambda) = (moduli[0].scale(-self.time), moduli[1].scale(-self.time));
                    let rate = F.transpose_mul(rate).symmetric_part();
                    let S =
                        rate.scale(mu.scale(2.0)) + Mat3::<Lanes>::identity().scale(lambda * rate.trace());
                    *F * S
                },
            );
        });
    }

    /// ∂P/∂Ḟ: δP = F τ(2μ sym(FᵀδḞ) + λ tr(FᵀδḞ) I).
    fn add_matrix(&self, q: &[f64], d: &mut BlockMatrix) {
        self.elements.add_element_matrices(d, &|e| {
            let F = self.elements.gradient_of(e, q);
            let (mu, lambda) = self.elements.moduli(e);
            let (mu, lambda) = (self.time * mu, self.time * lambda);
            let B = F.mul_transpose(&F);
            let mut m = [[0.0; 9]; 9];
            for i in 0..3 {
                for j in 0..3 {
                    for k in 0..3 {
                        for l in 0..3 {
                            let across = if j == l { B[(i, k)] } else { 0.0 };
                            m[3 * i + j][3 * k + l] =
                                mu * (across + F[(i, l)] * F[(k, j)]) + lambda * F[(i, j)] * F[(k, l)];
                        }
                    }
                }
            }
            m
        });
    }
}

impl Damping for Viscous<Springs> {
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        for spring in self.elements.list() {
            let s = spring.between(q);
            let rate = dot(s, spring.between(v)) / (spring.length * spring.length);
            spring.push(scale(s, -self.time * spring.stiffness() * rate), f);
        }
    }

    fn add_matrix(&self, q: &[f64], d: &mut BlockMatrix) {
        for spring in self.elements.list() {
            let s = spring.between(q);
            let c = self.time * spring.stiffness() / (spring.length * spring.length);
            spring.add_matrix(&std::array::from_fn(|x| c * s[x / 3] * s[x % 3]), d);
        }
    }
}

/// τ F(2μ Ė + λ̄ tr Ė I) with Ė = sym(FᵀḞ).
fn viscous_stress(time: f64, triangle: &Triangle, F: &M32, rate: &M32) -> M32 {
    let half = transpose_mul(F, rate);
    let trace = triangle.lambda * (half[0][0] + half[1][1]);
    let S: M22 = std::array::from_fn(|a| {
        std::array::from_fn(|b| {
            time * (triangle.mu * (half[a][b] + half[b][a]) + if a == b { trace } else { 0.0 })
        })
    });
    mul(F, &S)
}

impl Damping for Viscous<Membrane> {
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        for t in self.elements.list() {
            t.add_stress(&viscous_stress(-self.time, t, &t.gradient_of(q), &t.gradient_of(v)), f);
        }
    }

    fn add_matrix(&self, q: &[f64], d: &mut BlockMatrix) {
        for t in self.elements.list() {
            let F = t.gradient_of(q);
            t.add_tangent(&matrix_of(|rate| viscous_stress(self.time, t, &F, rate)), d);
        }
    }
}
