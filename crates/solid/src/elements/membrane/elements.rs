//! Membranes as [`Elements`].

use super::{M22, M32, Membrane, contract, mul, narrowed, transpose_mul, widened};
use crate::elements::points::each_stress;
use crate::elements::{CellField, ElementCells, ElementMass, Elements, PointLaw};
use crate::math::Mat3;
use crate::mesh::{CellBlock, CellKind};
use crate::potentials::{Kind, Potential, PotentialRole};
use lilyan_dynamics::StiffPart;
use lilyan_dynamics::corotated::Rotation;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

impl Potential for Membrane {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::smooth(Kind::Elastic)
    }

    fn energy(&self, q: &[f64]) -> f64 {
        self.list.iter().map(|t| t.volume() * self.density(t, &t.gradient_of(q))).sum()
    }

    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for t in &self.list {
            let F = t.gradient_of(q);
            t.add_stress(&mul(&F, &self.second_stress(t, &transpose_mul(&F, &F))), g);
        }
    }

    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        let projected = curvature == Curvature::Projected;
        for t in &self.list {
            t.add_tangent(&self.tangent(t, &t.gradient_of(q), projected), h);
        }
    }

    /// As for tets \[gonzalez2000\]: P = ½(F₀+F₁) S, S = S(C̄) + 2 (ψ₁ − ψ₀ − ½S(C̄):ΔC)/‖ΔC‖² ΔC.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let mut feasible = true;
        for t in &self.list {
            let (F0, F1) = (t.gradient_of(q0), t.gradient_of(q1));
            let (C0, C1) = (transpose_mul(&F0, &F0), transpose_mul(&F1, &F1));
            let mix = |f: &dyn Fn(f64, f64) -> f64| -> M22 {
                std::array::from_fn(|a| std::array::from_fn(|b| f(C0[a][b], C1[a][b])))
            };
            let (mean, change) = (mix(&|x, y| 0.5 * (x + y)), mix(&|x, y| y - x));
            let mut S = self.second_stress(t, &mean);
            let square = contract(&change, &change);
            let (psi0, psi1) = (self.density(t, &F0), self.density(t, &F1));
            feasible &= psi1.is_finite();
            // Below ‖ΔC‖ = 1e-6 the correction (third order in ΔC) is smaller than its own round-off.
            if square > 1e-12 * contract(&C1, &C1) {
                let factor = 2.0 * (psi1 - psi0 - 0.5 * contract(&S, &change)) / square;
                for a in 0..2 {
                    for b in 0..2 {
                        S[a][b] += factor * change[a][b];
                    }
                }
            }
            let middle: M32 = std::array::from_fn(|i| std::array::from_fn(|a| 0.5 * (F0[i][a] + F1[i][a])));
            t.add_stress(&mul(&middle, &S), g);
        }
        feasible
    }

    fn add_stiff_hessian(&self, q: &[f64], part: StiffPart, h: &mut BlockMatrix) {
        match part {
            StiffPart::Elements => self.add_hessian(q, Curvature::Projected, h),
            StiffPart::Material => self.add_material_stiffness(q, h),
        }
    }

    /// Triangles turn by themselves: the gradient is ∇W, and the stiffness that of the material.
    fn add_corotated_stiffness(&self, q: &[f64], _rotation: Rotation, _held: &[bool], k: &mut BlockMatrix) {
        self.add_material_stiffness(q, k);
    }
}

impl Membrane {
    fn add_material_stiffness(&self, q: &[f64], h: &mut BlockMatrix) {
        for t in &self.list {
            t.add_tangent(&self.material_tangent(t, &t.gradient_of(q)), h);
        }
    }
}

impl Elements for Membrane {
    fn len(&self) -> usize {
        self.list.len()
    }
    fn each_clique(&self, f: &mut dyn FnMut(&[u32])) {
        self.list.iter().for_each(|t| f(&t.nodes));
    }
    fn joins(&self) -> bool {
        false
    }
    fn has_constant_stiffness(&self) -> bool {
        false
    }

    fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        for t in &self.list {
            let H = self.tangent(t, &t.gradient_of(q), true);
            let rate = t.gradient_of(v);
            let P = std::array::from_fn(|i| {
                std::array::from_fn(|a| c * (0..6).map(|k| H[2 * i + a][k] * rate[k / 2][k % 2]).sum::<f64>())
            });
            t.add_stress(&P, out);
        }
    }
    fn cells(&self) -> Option<&dyn ElementCells> {
        Some(self)
    }
}

impl ElementCells for Membrane {
    fn cell_kind(&self) -> CellKind {
        CellKind::Triangle
    }
    fn block(&self) -> CellBlock {
        CellBlock { kind: self.cell_kind(), nodes: self.list.iter().flat_map(|t| t.nodes).collect() }
    }
    fn mass(&self) -> Option<&dyn ElementMass> {
        None
    }
    fn append_field(&self, field: CellField, q: &[f64], out: &mut Vec<f64>) {
        for t in &self.list {
            match field {
                CellField::Volume => out.push(t.volume()),
                // μ = E/2(1+ν) and λ̄ = Eν/(1−ν²), so that ν = λ̄/(λ̄+2μ).
                CellField::Young => out.push(2.0 * t.mu * (1.0 + t.lambda / (t.lambda + 2.0 * t.mu))),
                CellField::VolumeRatio => {
                    let F = t.gradient_of(q);
                    out.push(area_ratio(&transpose_mul(&F, &F)));
                }
                CellField::EnergyDensity => out.push(self.density(t, &t.gradient_of(q))),
                CellField::Stress => {
                    let F = t.gradient_of(q);
                    let C = transpose_mul(&F, &F);
                    let S = self.second_stress(t, &C);
                    let area = area_ratio(&C);
                    let part = |i: usize, j: usize, a: usize, b: usize| F[i][a] * S[a][b] * F[j][b] / area;
                    let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
                    let stress = Mat3::from_fn(|i, j| pairs.iter().map(|&(a, b)| part(i, j, a, b)).sum());
                    out.extend(stress.0.as_flattened());
                }
            }
        }
    }

    fn add_point_forces(&self, fields: [&[f64]; 2], law: &dyn PointLaw, out: &mut [f64]) {
        each_stress(
            law,
            2,
            &self.moduli,
            self.list.len(),
            |k| fields.map(|x| widened(&self.list[k].gradient_of(x))),
            |k, F| self.stress(&self.list[k], F),
            |k, P| self.list[k].add_stress(&narrowed(P), out),
        );
    }
    fn add_point_matrix(&self, q: &[f64], law: &dyn PointLaw, out: &mut BlockMatrix) {
        for t in &self.list {
            let H = law.tangent(2, &[t.mu, t.lambda], &widened(&t.gradient_of(q)));
            let row = |x: usize| 3 * (x / 2) + x % 2;
            t.add_tangent(&std::array::from_fn(|x| std::array::from_fn(|y| H[row(x)][row(y)])), out);
        }
    }
}

fn area_ratio(C: &M22) -> f64 {
    (C[0][0] * C[1][1] - C[0][1] * C[1][0]).sqrt()
}
