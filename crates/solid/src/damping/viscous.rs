//! Kelvin–Voigt viscosity: S = τ C:Ė, Ė = sym(FᵀḞ), P = F S, with the body's own stiffness at small strain, C:Ė =
//! 2μĖ + λ tr Ė I or 21 constants, and a time τ.
//!
//! Over a step it is taken at the midpoint with the mean velocity. There sym(F̄ᵀΔF) = ½(C₁ − C₀), so that
//! Ė is the exact mean rate of Green's strain: a rigid step is not damped at all, both momenta are kept,
//! the power −∫S:Ė is never positive, and the result is second order in the step.
//!
//! Membranes take the moduli of plane stress. For springs Ė = s·ṡ/l₀² and the force is τk Ė s: at rest length τk times
//! the rate along the spring. Bending is not damped.

use super::{DampedBody, Damping, DampingCard, general_tangent};
use crate::elements::{PointLaw, PointSet};
use crate::materials::basis_tangent::each_lane;
use crate::materials::{BasisTangent, Mat9, Places, apply_stiffness};
use crate::math::{Lanes, Mat3, Scalar};
use crate::parameters::{ModelParameter, ParameterKind};
use lilyan_parallel::simd::{self, Kernel, Quads};
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

pub(super) static CARD: DampingCard = DampingCard {
    name: "viscous",
    summary: "Kelvin–Voigt viscosity at the midpoint; keeps momenta, always dissipates",
    keeps_momenta: true,
    cite: "simo1992",
    parameters: &[TIME],
    create: |given| Arc::new(Viscous { time: given.required(TIME.name) }),
    variants: |time| vec![Arc::new(Viscous { time })],
};

const TIME: ModelParameter = ModelParameter {
    name: "time",
    unit: "s",
    example: "0.01",
    doc: "Relaxation time k_D.",
    kind: ParameterKind::Required,
};

/// Kelvin–Voigt viscosity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viscous {
    /// τ, s.
    pub time: f64,
}

impl Damping for Viscous {
    fn card(&self) -> &'static DampingCard {
        &CARD
    }
    fn keeps_angular_momentum(&self, _explicit: bool) -> bool {
        true
    }
    fn decay_rate(&self, omega: f64) -> Option<f64> {
        Some(self.time * omega * omega)
    }

    fn add_forces(&self, body: &DampedBody, q: &[f64], v: &[f64], f: &mut [f64]) {
        for cells in body.cells() {
            cells.add_point_forces([q, v], &ViscousLaw(self.time), f);
        }
    }
    fn add_matrix(&self, body: &DampedBody, q: &[f64], d: &mut BlockMatrix) {
        for cells in body.cells() {
            cells.add_point_matrix(q, &ViscousLaw(self.time), d);
        }
    }
}

/// −P with the time τ, s.
struct ViscousLaw(f64);

impl PointLaw for ViscousLaw {
    fn stresses(&self, points: PointSet<'_>, gradients: &[[Mat3<Lanes>; 2]], P: &mut [Mat3<Lanes>]) {
        simd::run(ViscousStresses { moduli: points.moduli, time: self.0, gradients, P });
    }

    /// ∂P/∂Ḟ: δP = F τ C:sym(FᵀδḞ), where C:e = 2μ e + λ tr e I if isotropic.
    fn tangent(&self, _dimension: usize, moduli: &[f64], F: &Mat3) -> Mat9 {
        let [mu, lambda, general @ ..] = moduli else { return [[0.0; 9]; 9] };
        if !general.is_empty() {
            return general_tangent(general, F, &Mat3::identity(), self.0);
        }
        let (mu, lambda) = (self.0 * mu, self.0 * lambda);
        let B = F.mul_transpose(F);
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
    }

    fn tangents(
        &self,
        dimension: usize,
        moduli: Places<'_>,
        F: &[Mat3<Lanes>],
        bases: &[&Mat3<Lanes>],
        out: &mut [BasisTangent<Lanes>],
    ) {
        simd::run(ViscousTangents { law: self, dimension, moduli, F, bases, out });
    }
}

/// With f = Fb and f' = Fb', the block between b and b' is τ(μ(b·b' FFᵀ + f' fᵀ) + λ f f'ᵀ).
struct ViscousTangents<'a> {
    law: &'a ViscousLaw,
    dimension: usize,
    moduli: Places<'a>,
    F: &'a [Mat3<Lanes>],
    bases: &'a [&'a Mat3<Lanes>],
    out: &'a mut [BasisTangent<Lanes>],
}

impl Kernel for ViscousTangents<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        let Self { law, dimension, F, bases, out, .. } = self;
        self.moduli.each(
            F.len(),
            #[inline(always)]
            |k, moduli| {
                let (F, b) = (&F[k], bases[k]);
                if moduli.len() > 2 {
                    let tangent = |moduli: &[f64], F: &Mat3| law.tangent(dimension, moduli, F);
                    return each_lane(moduli, F, b, &mut out[k], &tangent);
                }
                let (mu, lambda) = (moduli[0].scale(law.0), moduli[1].scale(law.0));
                let B = F.mul_transpose(F);
                let f = [F.mul_vec(b.0[0]), F.mul_vec(b.0[1]), F.mul_vec(b.0[2])];
                for n in 0..3 {
                    for m in 0..=n {
                        let across =
                            mu * (b[(n, 0)] * b[(m, 0)] + b[(n, 1)] * b[(m, 1)] + b[(n, 2)] * b[(m, 2)]);
                        let block = &mut out[k][n * (n + 1) / 2 + m];
                        for i in 0..3 {
                            for j in 0..3 {
                                block[3 * i + j] = across * B[(i, j)]
                                    + mu * (f[m][i] * f[n][j])
                                    + lambda * (f[n][i] * f[m][j]);
                            }
                        }
                    }
                }
            },
        );
    }
}

struct ViscousStresses<'a> {
    moduli: Places<'a>,
    time: f64,
    /// F and Ḟ.
    gradients: &'a [[Mat3<Lanes>; 2]],
    P: &'a mut [Mat3<Lanes>],
}

impl Kernel for ViscousStresses<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        self.moduli.each(
            self.gradients.len().min(self.P.len()),
            #[inline(always)]
            |k, moduli| {
                let [F, rate] = &self.gradients[k];
                let rate = F.transpose_mul(rate).symmetric_part();
                if let [_, _, general @ ..] = moduli
                    && !general.is_empty()
                {
                    self.P[k] = *F * apply_stiffness(general, &rate).scale(Lanes::new(-self.time));
                    return;
                }
                let (mu, lambda) = (moduli[0].scale(-self.time), moduli[1].scale(-self.time));
                let S = rate.scale(mu.scale(2.0)) + Mat3::<Lanes>::identity().scale(lambda * rate.trace());
                self.P[k] = *F * S;
            },
        );
    }
}
