//! The damping of \[kharevych2006\] §5.2: the body's own energy W with the shape at the start of the step
//! as the rest shape, W(q_k → q_{k+1}) = Σ vol J₀ ψ(F₁F₀⁻¹), which measures how much the step deformed it.
//!
//! Explicit: the impulse −k ∇W(q_k → q_{k+1}) once q_{k+1} is known; exact for both momenta because ∇W has
//! no net torque about q_{k+1}. Implicit: the mean force −(k/h) ∇W inside the step, which is more stable
//! but keeps angular momentum only to first order in h. Both are first order in h.

use super::{Card, Damping};
use crate::elements::Tets;
use crate::math::Mat3;
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

pub(super) const CARD: Card = Card {
    name: "kharevych",
    summary: "the energy of the step's own deformation; explicit: momenta exact",
    keeps_momenta: true,
    cite: "kharevych2006",
};

/// See the module.
pub struct Kharevych {
    /// The body.
    pub tets: Arc<Tets>,
    /// k, s.
    pub time: f64,
    /// Inside the step instead of after it.
    pub implicit: bool,
}

impl Kharevych {
    /// Adds c ∇_{q₁} W(q₀ → q₁).
    fn add_gradient(&self, c: f64, q0: &[f64], q1: &[f64], out: &mut [f64]) {
        let tets = &self.tets;
        for e in 0..tets.len() {
            let (F0, F1) = (tets.gradient_of(e, q0), tets.gradient_of(e, q1));
            let inverse = F0.inverse();
            let P = tets.material().stress(tets.constants(e), &(F1 * inverse));
            tets.add_stress(e, &P.mul_transpose(&inverse).scale(c * F0.det()), out);
        }
    }
}

impl Damping for Kharevych {
    /// The limit of short steps: σ = k(2μ d + λ tr d I), d = sym(ḞF⁻¹), P = J σ F⁻ᵀ.
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        if !self.implicit {
            return;
        }
        let tets = &self.tets;
        for e in 0..tets.len() {
            let F = tets.gradient_of(e, q);
            let inverse = F.inverse();
            let (mu, lambda) = tets.moduli(e);
            let d = (tets.gradient_of(e, v) * inverse).symmetric_part();
            let stress = d.scale(2.0 * mu) + Mat3::identity().scale(lambda * d.trace());
            let P = stress.mul_transpose(&inverse).scale(-self.time * F.det());
            tets.add_stress(e, &P, f);
        }
    }

    fn add_forces_between(&self, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        if self.implicit {
            self.add_gradient(-self.time / h, q0, q1, f);
        }
    }

    fn add_matrix(&self, q: &[f64], d: &mut BlockMatrix) {
        if !self.implicit {
            return;
        }
        self.tets.add_element_matrices(d, &|e| {
            let F = self.tets.gradient_of(e, q);
            let inverse = F.inverse();
            let c = self.time * F.det();
            let (mu, lambda) = self.tets.moduli(e);
            let mut m = [[0.0; 9]; 9];
            // δP = J σ(δF F⁻¹) F⁻ᵀ with A = F⁻¹: P_ij = σ_ia A_ja, d = ½(δF A + (δF A)ᵀ).
            let metric = inverse.mul_transpose(&inverse);
            for i in 0..3 {
                for j in 0..3 {
                    for k in 0..3 {
                        for l in 0..3 {
                            let across = if i == k { metric[(j, l)] } else { 0.0 };
                            m[3 * i + j][3 * k + l] = c
                                * (mu * (across + inverse[(l, i)] * inverse[(j, k)])
                                    + lambda * inverse[(j, i)] * inverse[(l, k)]);
                        }
                    }
                }
            }
            m
        });
    }

    fn is_impulse(&self) -> bool {
        !self.implicit
    }

    fn add_impulse(&self, q0: &[f64], q1: &[f64], j: &mut [f64]) {
        self.add_gradient(-self.time, q0, q1, j);
    }
}
