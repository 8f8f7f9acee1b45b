//! The damping of \[kharevych2006\] §5.2: the body's own energy W with the shape at the start of the step
//! as the rest shape, W(q_k → q_{k+1}) = Σ vol J₀ ψ(F₁A₀), which measures how much the step deformed it.
//!
//! Explicit: the impulse −k ∇W(q_k → q_{k+1}) once q_{k+1} is known; exact for both momenta because ∇W has
//! no net torque about q_{k+1}. Implicit: the mean force −(k/h) ∇W inside the step, which is more stable
//! but keeps angular momentum only to first order in h. Both are first order in h.
//!
//! A = F⁻¹ in solids. Elements of lower dimension take the inverse of the upper triangular root R of FᵀF, so that
//! U = FA has orthonormal columns; there J = det R. For springs W = ½(λ/‖s₀‖)(‖s₁‖ − ‖s₀‖)². Bending is not damped.

use super::{DampedBody, Damping, DampingCard, general_tangent};
use crate::elements::{PointLaw, PointSet};
use crate::materials::{Mat9, apply_stiffness};
use crate::math::{Lanes, Mat3, Real, Scalar};
use crate::parameters::{ModelParameter, ParameterKind};
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

pub(super) static CARD: DampingCard = DampingCard {
    name: "kharevych",
    summary: "the energy of the step's own deformation; explicit: momenta exact",
    keeps_momenta: true,
    cite: "kharevych2006",
    parameters: &[TIME, COEFFICIENT, IMPLICIT],
    create: |given| {
        Arc::new(Kharevych { time: given.required(TIME.name), implicit: given.flag(IMPLICIT.name) })
    },
    variants: |time| {
        vec![Arc::new(Kharevych { time, implicit: true }), Arc::new(Kharevych { time, implicit: false })]
    },
};

const TIME: ModelParameter = ModelParameter {
    name: "time",
    unit: "s",
    example: "0.01",
    doc: "Relaxation time k_D.",
    kind: ParameterKind::Required,
};
const COEFFICIENT: ModelParameter = ModelParameter {
    name: "coefficient",
    unit: "units of the step's k_D",
    example: "0.5",
    doc: "k_D as the factor of the potential of the paper.",
    kind: ParameterKind::InsteadOf { name: TIME.name },
};
/// The default is stable for any strength, at the price of angular momentum that is not kept exactly.
const IMPLICIT: ModelParameter = ModelParameter {
    name: "implicit",
    unit: "",
    example: "false",
    doc: "Part of the step's minimisation, stable for any strength, instead of a force of the last step.",
    kind: ParameterKind::Flag { default: true },
};

/// The damping of \[kharevych2006\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kharevych {
    /// k, s.
    pub time: f64,
    /// Inside the step instead of after it.
    pub implicit: bool,
}

fn add(body: &DampedBody, fields: [&[f64]; 2], law: &dyn PointLaw, out: &mut [f64]) {
    for cells in body.cells() {
        cells.add_point_forces(fields, law, out);
    }
}

impl Damping for Kharevych {
    fn card(&self) -> &'static DampingCard {
        &CARD
    }
    /// Explicit integrators take the force at one configuration, where it has no torque.
    fn keeps_angular_momentum(&self, explicit: bool) -> bool {
        explicit || !self.implicit
    }
    fn decay_rate(&self, omega: f64) -> Option<f64> {
        Some(self.time * omega * omega)
    }

    /// The limit of short steps.
    fn add_forces(&self, body: &DampedBody, q: &[f64], v: &[f64], f: &mut [f64]) {
        if self.implicit {
            add(body, [q, v], &RateLaw(self.time), f);
        }
    }

    fn add_forces_between(&self, body: &DampedBody, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        if self.implicit {
            add(body, [q0, q1], &StepLaw(-self.time / h), f);
        }
    }

    fn add_matrix(&self, body: &DampedBody, q: &[f64], d: &mut BlockMatrix) {
        if self.implicit {
            for cells in body.cells() {
                cells.add_point_matrix(q, &RateLaw(self.time), d);
            }
        }
    }

    fn is_impulse(&self) -> bool {
        !self.implicit
    }

    fn add_impulse(&self, body: &DampedBody, q0: &[f64], q1: &[f64], j: &mut [f64]) {
        if !self.implicit {
            add(body, [q0, q1], &StepLaw(-self.time), j);
        }
    }
}

/// A, U = FA and J.
fn unstretched<T: Real>(dimension: usize, F: &Mat3<T>) -> (Mat3<T>, Mat3<T>, T) {
    if dimension == 3 {
        return (F.inverse(), Mat3::identity(), F.det());
    }
    let C = F.transpose_mul(F);
    let one = T::new(1.0);
    let mut A = Mat3::zero();
    // A spring of no length counts as a billionth of its length at rest.
    let least = T::new(1e-9);
    let a = C[(0, 0)].sqrt();
    let a = T::select_positive(a - least, a, least);
    A[(0, 0)] = one / a;
    if dimension == 1 {
        return (A, *F * A, a);
    }
    let b = C[(0, 1)] / a;
    let c = (C[(1, 1)] - b * b).sqrt();
    A[(0, 1)] = -b / (a * c);
    A[(1, 1)] = one / c;
    (A, *F * A, a * c)
}

/// c ∂/∂F₁ of J₀ψ(F₁A₀), from F₀ and F₁.
struct StepLaw(f64);

impl PointLaw for StepLaw {
    fn takes_rates(&self) -> bool {
        false
    }
    fn stresses(&self, points: PointSet<'_>, gradients: &[[Mat3<Lanes>; 2]], P: &mut [Mat3<Lanes>]) {
        for ([F0, F1], P) in gradients.iter().zip(P.chunks_mut(1)) {
            let (A, _, J) = unstretched(points.dimension, F0);
            (points.elastic)(&[*F1 * A], P);
            P[0] = P[0].mul_transpose(&A).scale(J.scale(self.0));
        }
    }

    /// Damping matrices come of the limit of short steps, [`RateLaw`].
    fn tangent(&self, dimension: usize, moduli: &[f64], F: &Mat3) -> Mat9 {
        RateLaw(-self.0).tangent(dimension, moduli, F)
    }
}

/// −k J U(C:d)Aᵀ with d = sym(UᵀḞA), from F and Ḟ; k in s; C:d = 2μd + λ tr d I if isotropic.
struct RateLaw(f64);

impl PointLaw for RateLaw {
    fn stresses(&self, points: PointSet<'_>, gradients: &[[Mat3<Lanes>; 2]], P: &mut [Mat3<Lanes>]) {
        points.moduli.each(gradients.len().min(P.len()), |k, moduli| {
            let [F, rate] = &gradients[k];
            let (A, U, J) = unstretched(points.dimension, F);
            let d = U.transpose_mul(&(*rate * A)).symmetric_part();
            let stress = match moduli {
                [_, _, general @ ..] if !general.is_empty() => apply_stiffness(general, &d),
                _ => d.scale(moduli[0].scale(2.0)) + Mat3::identity().scale(moduli[1] * d.trace()),
            };
            P[k] = (U * stress).mul_transpose(&A).scale(J.scale(-self.0));
        });
    }

    fn tangent(&self, dimension: usize, moduli: &[f64], F: &Mat3) -> Mat9 {
        let (A, U, J) = unstretched(dimension, F);
        let [mu, lambda, general @ ..] = moduli else { return [[0.0; 9]; 9] };
        if !general.is_empty() {
            return general_tangent(general, &U, &A, self.0 * J);
        }
        let (X, Y, Z) = (U.mul_transpose(&U), A.mul_transpose(&A), U.mul_transpose(&A));
        let c = self.0 * J;
        let mut m = [[0.0; 9]; 9];
        for i in 0..3 {
            for j in 0..3 {
                for k in 0..3 {
                    for l in 0..3 {
                        m[3 * i + j][3 * k + l] = c
                            * (mu * (X[(i, k)] * Y[(j, l)] + Z[(i, l)] * Z[(k, j)])
                                + lambda * Z[(i, j)] * Z[(k, l)]);
                    }
                }
            }
        }
        m
    }
}
