//! The damping of \[kharevych2006\] §5.2: the body's own energy W with the shape at the start of the step
//! as the rest shape, W(q_k → q_{k+1}) = Σ vol J₀ ψ(F₁F₀⁻¹), which measures how much the step deformed it.
//!
//! Explicit: the impulse −k ∇W(q_k → q_{k+1}) once q_{k+1} is known; exact for both momenta because ∇W has
//! no net torque about q_{k+1}. Implicit: the mean force −(k/h) ∇W inside the step, which is more stable
//! but keeps angular momentum only to first order in h. Both are first order in h.
//!
//! For membranes F₀⁻¹ is that of the 2×2 root of C₀; for springs W = ½(λ/‖s₀‖)(‖s₁‖ − ‖s₀‖)². Bending is not
//! damped.

use super::{Card, Damping};
use crate::elements::membrane::{M22, M32, matrix_of, mul, transpose_mul};
use crate::elements::{Membrane, Springs, Tets, Triangle};
use crate::math::Mat3;
use crate::mesh::vector::{dot, norm, scale};
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

pub(super) const CARD: Card = Card {
    name: "kharevych",
    summary: "the energy of the step's own deformation; explicit: momenta exact",
    keeps_momenta: true,
    cite: "kharevych2006",
};

/// See the module.
pub struct Kharevych<E> {
    /// The elements of the body.
    pub elements: Arc<E>,
    /// k, s.
    pub time: f64,
    /// Inside the step instead of after it.
    pub implicit: bool,
}

impl Kharevych<Tets> {
    /// Adds c ∇_{q₁} W(q₀ → q₁).
    fn add_gradient(&self, c: f64, q0: &[f64], q1: &[f64], out: &mut [f64]) {
        let tets = &self.elements;
        for e in 0..tets.len() {
            let (F0, F1) = (tets.gradient_of(e, q0), tets.gradient_of(e, q1));
            let inverse = F0.inverse();
            let P = tets.material().stress(tets.constants(e), &(F1 * inverse));
            tets.add_stress(e, &P.mul_transpose(&inverse).scale(c * F0.det()), out);
        }
    }
}

impl Damping for Kharevych<Tets> {
    /// The limit of short steps: σ = k(2μ d + λ tr d I), d = sym(ḞF⁻¹), P = J σ F⁻ᵀ.
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        if !self.implicit {
            return;
        }
        let tets = &self.elements;
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
        self.elements.add_element_matrices(d, &|e| {
            let F = self.elements.gradient_of(e, q);
            let inverse = F.inverse();
            let c = self.time * F.det();
            let (mu, lambda) = self.elements.moduli(e);
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

impl Kharevych<Springs> {
    fn add_gradient(&self, c: f64, q0: &[f64], q1: &[f64], out: &mut [f64]) {
        for spring in self.elements.list() {
            let (l0, s1) = (norm(spring.between(q0)), spring.between(q1));
            let l1 = norm(s1);
            // Equal lengths give 0, also if both are 0.
            if l0 != l1 {
                spring.push(scale(s1, c * spring.lambda * (1.0 / l0 - 1.0 / l1)), out);
            }
        }
    }
}

impl Damping for Kharevych<Springs> {
    /// The limit of short steps: k (λ/‖s‖) n nᵀ ṡ.
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        if !self.implicit {
            return;
        }
        for spring in self.elements.list() {
            let s = spring.between(q);
            let length = norm(s).max(1e-9 * spring.length);
            let rate = dot(s, spring.between(v));
            spring.push(scale(s, -self.time * spring.lambda * rate / length.powi(3)), f);
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
        for spring in self.elements.list() {
            let s = spring.between(q);
            let c = self.time * spring.lambda / norm(s).max(1e-9 * spring.length).powi(3);
            spring.add_matrix(&std::array::from_fn(|x| c * s[x / 3] * s[x % 3]), d);
        }
    }

    fn is_impulse(&self) -> bool {
        !self.implicit
    }

    fn add_impulse(&self, q0: &[f64], q1: &[f64], j: &mut [f64]) {
        self.add_gradient(-self.time, q0, q1, j);
    }
}

/// R⁻¹ of the upper triangular R with RᵀR = C, and det R.
fn inverse_root(C: &M22) -> (M22, f64) {
    let a = C[0][0].sqrt();
    let b = C[0][1] / a;
    let c = (C[1][1] - b * b).sqrt();
    ([[1.0 / a, -b / (a * c)], [0.0, 1.0 / c]], a * c)
}

/// P R⁻ᵀ.
fn back(P: &M32, inverse: &M22) -> M32 {
    let [[a, b], [_, c]] = *inverse;
    mul(P, &[[a, 0.0], [b, c]])
}

impl Kharevych<Membrane> {
    fn add_gradient(&self, c: f64, q0: &[f64], q1: &[f64], out: &mut [f64]) {
        for t in self.elements.list() {
            let (F0, F1) = (t.gradient_of(q0), t.gradient_of(q1));
            let (inverse, J) = inverse_root(&transpose_mul(&F0, &F0));
            let F = mul(&F1, &inverse);
            let S = self.elements.second_stress(t, &transpose_mul(&F, &F));
            let P = back(&mul(&F, &S), &inverse);
            t.add_stress(&P.map(|row| row.map(|x| c * J * x)), out);
        }
    }

    /// The limit of short steps: k J F R⁻¹(2μ d + λ̄ tr d I)R⁻ᵀ, d = sym(R⁻ᵀ FᵀḞ R⁻¹).
    fn rate_stress(c: f64, t: &Triangle, F: &M32, rate: &M32) -> M32 {
        let (inverse, J) = inverse_root(&transpose_mul(F, F));
        let (unit, rate) = (mul(F, &inverse), mul(rate, &inverse));
        let d = transpose_mul(&unit, &rate);
        let trace = t.lambda * (d[0][0] + d[1][1]);
        let S: M22 = std::array::from_fn(|a| {
            std::array::from_fn(|b| c * J * (t.mu * (d[a][b] + d[b][a]) + if a == b { trace } else { 0.0 }))
        });
        back(&mul(&unit, &S), &inverse)
    }
}

impl Damping for Kharevych<Membrane> {
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        if self.implicit {
            for t in self.elements.list() {
                t.add_stress(&Self::rate_stress(-self.time, t, &t.gradient_of(q), &t.gradient_of(v)), f);
            }
        }
    }

    fn add_forces_between(&self, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        if self.implicit {
            self.add_gradient(-self.time / h, q0, q1, f);
        }
    }

    fn add_matrix(&self, q: &[f64], d: &mut BlockMatrix) {
        if self.implicit {
            for t in self.elements.list() {
                let F = t.gradient_of(q);
                t.add_tangent(&matrix_of(|rate| Self::rate_stress(self.time, t, &F, rate)), d);
            }
        }
    }

    fn is_impulse(&self) -> bool {
        !self.implicit
    }

    fn add_impulse(&self, q0: &[f64], q1: &[f64], j: &mut [f64]) {
        self.add_gradient(-self.time, q0, q1, j);
    }
}
