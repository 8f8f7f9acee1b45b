//! The material part of ∂P/∂F: with P = F S, dP = dF S + F (∂S/∂E : dE), dE = sym(FᵀdF), and only the second term, its
//! ∂S/∂E projected positive in the space of strains. It does not see rotations, whatever the stress.

use crate::materials::basis_tangent::product;
use crate::materials::{Mat9, Material};
use crate::math::{Mat3, project_positive};

/// Pairs of the six strains, in Mandel's order.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];

/// The strain of unit norm along Mandel's direction k.
fn unit_strain(k: usize) -> Mat3 {
    let (a, b) = PAIRS[k];
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let size = if a == b { 1.0 } else { half };
    Mat3::from_fn(|i, j| if (i, j) == (a, b) || (i, j) == (b, a) { size } else { 0.0 })
}

/// Of a material at F. One that minds being rotated has no such part, nor has a flat element; they give all of ∂P/∂F,
/// projected.
pub(in crate::elements) fn material_tangent(material: &dyn Material, c: &[f64], F: &Mat3) -> Mat9 {
    // A cube of 1e-4 of its size has lost half of its digits.
    if !material.card().frame_indifferent || F.det().abs() < 1e-12 {
        return material.hessian_projected(c, F);
    }
    let inverse = F.inverse();
    let tangent = material.hessian(c, F);
    let S = (inverse * material.stress(c, F)).symmetric_part();
    // Column k of ∂S/∂E: dF = F⁻ᵀ dE makes FᵀdF = dE, and dS = F⁻¹(dP − dF S).
    let units: [Mat3; 6] = std::array::from_fn(unit_strain);
    let mut elasticity = [[0.0; 6]; 6];
    for (k, unit) in units.iter().enumerate() {
        let dF = inverse.transpose_mul(unit);
        let dP = product(&tangent, &dF);
        let dS = inverse * (dP - dF * S);
        for (row, other) in units.iter().enumerate() {
            elasticity[row][k] = other.dot(&dS);
        }
    }
    let elasticity = project_positive(&elasticity);
    // F times the unit strains, so that E = Σ (F uₖ : dF) uₖ.
    let rows: [Mat3; 6] = std::array::from_fn(|k| *F * units[k]);
    let mut out = [[0.0; 9]; 9];
    for (a, row) in rows.iter().enumerate() {
        // Σ_b (∂S/∂E)_ab F u_b.
        let mut stress = [0.0; 9];
        for (b, e) in elasticity[a].iter().enumerate() {
            for (k, stress) in stress.iter_mut().enumerate() {
                *stress += e * rows[b].0[k / 3][k % 3];
            }
        }
        for (x, entries) in out.iter_mut().enumerate() {
            let left = row.0[x / 3][x % 3];
            for (entry, right) in entries.iter_mut().zip(&stress) {
                *entry += left * right;
            }
        }
    }
    out
}
