//! Kelvin–Voigt viscosity: S = τ(2μĖ + λ tr Ė I), Ė = sym(FᵀḞ), P = F S, with the body's own moduli and a
//! time τ.
//!
//! Over a step it is taken at the midpoint with the mean velocity. There sym(F̄ᵀΔF) = ½(C₁ − C₀), so that
//! Ė is the exact mean rate of Green's strain: a rigid step is not damped at all, both momenta are kept,
//! the power −∫S:Ė is never positive, and the result is second order in the step.

use super::{Card, Damping};
use crate::elements::Tets;
use crate::elements::kernel;
use crate::math::{Lanes, Mat3, Real};
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

pub(super) const CARD: Card = Card {
    name: "viscous",
    summary: "Kelvin–Voigt viscosity at the midpoint; keeps momenta, always dissipates",
    keeps_momenta: true,
    cite: "simo1992",
};

/// See the module.
pub struct Viscous {
    /// The body.
    pub tets: Arc<Tets>,
    /// τ, s.
    pub time: f64,
}

impl Damping for Viscous {
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.tets.add_forces([q, v], f, &|first, blocks, [q, v], out| {
            kernel::add_forces(
                first,
                blocks,
                self.tets.all_moduli(),
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
        self.tets.add_element_matrices(d, &|e| {
            let F = self.tets.gradient_of(e, q);
            let (mu, lambda) = self.tets.moduli(e);
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
