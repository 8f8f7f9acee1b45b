//! Green's strain of a tet as six numbers that the Saint-Venant–Kirchhoff energy does not couple: with the unit
//! symmetric matrices T₀ = I/√3 and T₁…T₅ without trace,
//!
//!   φᵢ = √V₀ Tᵢ : E,   V₀ψ = ½ Σ φᵢ²/αᵢ,   α₀ = 1/(3λ+2μ) = (1−2ν)/E_Young,   α₁…α₅ = 1/2μ,
//!   ∂φᵢ/∂xₙ = √V₀ F Tᵢ ∇Nₙ,
//!
//! which is \[servin2006\] (15) in the principal axes of its matrix D (with unit instead of engineering shear, and
//! gradients of the rest shape). A body of ν = ½ has α₀ = 0. Isotropic `linear` bodies have the same with the small strain
//! ½(F + Fᵀ) − I for E and I for F: their ∂φ/∂x is constant.

use super::Tets;
use crate::materials::Frame;
use crate::materials::from_rest::green_strain;
use crate::math::Mat3;
use lilyan_dynamics::strains::{StrainLayout, Strains};

/// What [`Strains`] hands out as slices.
pub(super) struct Lists {
    nodes: Vec<u32>,
    compliances: Vec<f64>,
}

impl Tets {
    /// Whether the energy is that of strains: Saint-Venant–Kirchhoff, and isotropic linear elasticity.
    pub fn has_strains(&self) -> bool {
        self.material().volumetric_compliance(self.constants(0)).is_some()
    }

    /// Whether some tet is incompressible.
    pub fn incompressible(&self) -> bool {
        (0..self.len()).any(|e| self.material().volumetric_compliance(self.constants(e)) == Some(0.0))
    }

    fn lists(&self) -> &Lists {
        self.lists.get_or_init(|| {
            let volumetric = |e| {
                let compliance = self.material().volumetric_compliance(self.constants(e));
                compliance.expect("asked only of bodies that have strains")
            };
            let six = |e| {
                let shear = 0.5 / self.moduli(e).mu;
                [volumetric(e), shear, shear, shear, shear, shear]
            };
            Lists {
                nodes: self.cliques().flatten().collect(),
                compliances: (0..self.len()).flat_map(six).collect(),
            }
        })
    }
}

impl Strains for Tets {
    fn layout(&self) -> StrainLayout<'_> {
        StrainLayout {
            nodes_each: 4,
            strains_each: 6,
            nodes: &self.lists().nodes,
            compliances: &self.lists().compliances,
        }
    }
    fn strains(&self, q: &[f64], phi: &mut [f64]) {
        let unit = unit_strains();
        let small = self.material().frame() == Some(Frame::Fixed);
        for (e, phi) in phi.chunks_exact_mut(6).enumerate() {
            let F = self.gradient_of(e, q);
            let E = if small { (F - Mat3::identity()).symmetric_part() } else { green_strain(&F) };
            let root = self.volume(e).sqrt();
            for (phi, T) in phi.iter_mut().zip(&unit) {
                *phi = root * T.dot(&E);
            }
        }
    }
    fn jacobian(&self, q: &[f64], jacobian: &mut [f64]) {
        let unit = unit_strains();
        let small = self.material().frame() == Some(Frame::Fixed);
        for (e, rows) in jacobian.chunks_exact_mut(72).enumerate() {
            let F = if small { Mat3::identity() } else { self.gradient_of(e, q) };
            let gradients = self.inverse(e);
            let root = self.volume(e).sqrt();
            for (row, T) in rows.chunks_exact_mut(12).zip(&unit) {
                // Columns: the derivative by the nodes 1, 2, 3; node 0 takes the rest.
                let by_node = (F * *T).mul_transpose(&gradients).scale(root);
                for k in 0..3 {
                    row[k] = -(by_node[(k, 0)] + by_node[(k, 1)] + by_node[(k, 2)]);
                    for n in 0..3 {
                        row[3 * (n + 1) + k] = by_node[(k, n)];
                    }
                }
            }
        }
    }
}

/// T₀ … T₅.
fn unit_strains() -> [Mat3; 6] {
    let shear = |i: usize, j: usize| {
        let mut T = Mat3::zero();
        T[(i, j)] = 0.5f64.sqrt();
        T[(j, i)] = 0.5f64.sqrt();
        T
    };
    [
        Mat3::identity().scale((1.0f64 / 3.0).sqrt()),
        Mat3::diagonal([1.0, -1.0, 0.0]).scale(0.5f64.sqrt()),
        Mat3::diagonal([1.0, 1.0, -2.0]).scale((1.0f64 / 6.0).sqrt()),
        shear(1, 2),
        shear(0, 2),
        shear(0, 1),
    ]
}
