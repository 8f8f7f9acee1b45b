//! Elastic energy of a body, Σ vol ψ(F).

use super::{Kind, Potential};
use crate::elements::Tets;
use crate::materials::second_piola_of_C;
use crate::math::Mat3;
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, threads};
use std::sync::Arc;

/// The elastic energy of one body.
pub struct Elastic(pub Arc<Tets>);

impl Potential for Elastic {
    fn kind(&self) -> Kind {
        Kind::Elastic
    }
    fn energy(&self, q: &[f64]) -> f64 {
        self.0.energy(q)
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        self.0.add_gradient(q, g);
    }
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.0.add_hessian(q, curvature == Curvature::Projected, h);
    }

    /// P = ½(F₀+F₁) S with Gonzalez' stress
    /// S = S(C̄) + 2 (ψ₁ − ψ₀ − ½S(C̄):ΔC)/‖ΔC‖² ΔC, C̄ = ½(C₀+C₁) \[gonzalez2000\]. For the linear
    /// material, which is no function of C, the midpoint stress does the same.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let tets = &self.0;
        let stresses = threads::par_map(tets.len().div_ceil(256), |chunk| {
            let range = chunk * 256..((chunk + 1) * 256).min(tets.len());
            range.map(|e| discrete_stress(tets, e, q0, q1)).collect::<Option<Vec<Mat3>>>()
        });
        let mut e = 0;
        for chunk in stresses {
            let Some(chunk) = chunk else { return false };
            for P in chunk {
                tets.add_stress(e, &P, g);
                e += 1;
            }
        }
        true
    }
}

/// `None` where the end is inverted.
fn discrete_stress(tets: &Tets, e: usize, q0: &[f64], q1: &[f64]) -> Option<Mat3> {
    let (F0, F1) = (tets.gradient_of(e, q0), tets.gradient_of(e, q1));
    let c = tets.constants(e);
    let material = tets.material();
    let middle = (F0 + F1).scale(0.5);
    if !material.card().frame_indifferent {
        return Some(material.stress(c, &middle));
    }
    // Also for NaN, and for materials that survive inversion: ψ as a function of C does not see it.
    if F1.det().partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return None;
    }
    let (C0, C1) = (F0.transpose_mul(&F0), F1.transpose_mul(&F1));
    let change = C1 - C0;
    let (_, mut S) = second_piola_of_C(material, c, &(C0 + C1).scale(0.5));
    let square = change.dot(&change);
    // Below 1e-6 the correction (third order in ΔC) is smaller than its own round-off.
    if square > 1e-12 * C1.dot(&C1).max(1.0) {
        let (psi0, psi1) = (material.energy(c, &F0), material.energy(c, &F1));
        let missing = psi1 - psi0 - 0.5 * S.dot(&change);
        S = S + change.scale(2.0 * missing / square);
    }
    Some(middle * S)
}
