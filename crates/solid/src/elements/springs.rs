//! Springs between nodes: W = Σ ½k(‖s‖ − l₀)² with k = λ/l₀ \[kharevych2010, §1\].
//!
//! λ (N) is a constant of the material, force per strain: cutting a spring into n of a length l₀/n each leaves
//! the stiffness of the whole as it was.
//!
//! With n = s/‖s‖ the force on the ends is ∓k(‖s‖ − l₀) n, and
//!   ∂²W/∂s² = k n nᵀ + k(1 − l₀/‖s‖)(I − n nᵀ):
//! the material stiffness, which is never negative, and the geometric one, which is negative where the spring is
//! pressed and which the projection drops there.

use super::points::each_stress;
use super::{CellField, ElementCells, ElementMass, Elements, PointLaw};
use crate::materials::Constants;
use crate::math::Mat3;
use crate::math::vector::{V3, dot, norm, scale};
use crate::mesh::{CellBlock, CellKind};
use crate::potentials::{Kind, Potential, PotentialRole};
use lilyan_dynamics::StiffPart;
use lilyan_dynamics::corotated::Rotation;
use lilyan_dynamics::strains::{StrainLayout, Strains};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// A spring between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// The nodes.
    pub ends: [u32; 2],
    /// λ, force per strain, N.
    pub lambda: f64,
    /// l₀, m; positive.
    pub length: f64,
    /// Area of the section that it stands for, m²; 0: none is known, and then there is no stress.
    pub section: f64,
}

impl Spring {
    /// k = λ/l₀, N/m.
    pub fn stiffness(&self) -> f64 {
        self.lambda / self.length
    }

    /// s, from the first end to the second, for positions; its rate for velocities.
    pub fn between(&self, x: &[f64]) -> V3 {
        let [a, b] = self.ends.map(|n| 3 * n as usize);
        [x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]]
    }

    /// Strain ‖s‖/l₀ − 1.
    pub fn strain(&self, q: &[f64]) -> f64 {
        norm(self.between(q)) / self.length - 1.0
    }

    /// l₀/‖s‖, as if a spring of no length at all had a billionth of it: its force, which has no direction, is
    /// then 0.
    fn slack(&self, length: f64) -> f64 {
        self.length / length.max(1e-9 * self.length)
    }

    /// s/l₀ in the first column: F for positions, Ḟ for velocities.
    fn gradient_of(&self, x: &[f64]) -> Mat3 {
        let s = self.between(x);
        Mat3::from_fn(|i, j| if j == 0 { s[i] / self.length } else { 0.0 })
    }

    /// λ(1 − 1/‖F‖) F, N: the tension at F as from [`Spring::gradient_of`].
    fn elastic_stress(&self, F: &Mat3) -> Mat3 {
        let stretch = norm(F.column(0));
        // Of a spring without length the force has no direction, and is 0 at any rate.
        F.scale(self.lambda * (1.0 - 1.0 / stretch.max(1e-9)))
    }

    /// Force per section at rest, Pa; 0 where the section is not known.
    fn stress(&self, q: &[f64]) -> Mat3 {
        let s = self.between(q);
        let l = norm(s);
        if self.section == 0.0 || l == 0.0 {
            return Mat3::zero();
        }
        let tension = self.lambda / self.section * (l / self.length - 1.0);
        Mat3::from_fn(|i, j| tension * s[i] * s[j] / (l * l))
    }

    /// Adds ∓`force` to the ends.
    fn push(&self, force: V3, out: &mut [f64]) {
        let [a, b] = self.ends.map(|n| 3 * n as usize);
        for k in 0..3 {
            out[a + k] -= force[k];
            out[b + k] += force[k];
        }
    }

    /// Adds the matrix of a quadratic form of the difference of the ends.
    fn add_matrix(&self, block: &[f64; 9], out: &mut BlockMatrix) {
        let [a, b] = self.ends.map(|n| n as usize);
        out.add_block(a, a, block);
        out.add_block(b, b, block);
        out.add_block(b, a, &block.map(|x| -x));
    }

    /// ∂²W/∂s² as (along, across): along n nᵀ + across (I − n nᵀ), and n.
    fn curvature(&self, q: &[f64], projected: bool) -> (f64, f64, V3) {
        let s = self.between(q);
        let length = norm(s);
        let k = self.stiffness();
        let across = k * (1.0 - self.slack(length));
        let n = scale(s, 1.0 / length.max(1e-9 * self.length));
        (k, if projected { across.max(0.0) } else { across }, n)
    }
}

fn block(along: f64, across: f64, n: V3) -> [f64; 9] {
    std::array::from_fn(|x| {
        let (i, j) = (x / 3, x % 3);
        (along - across) * n[i] * n[j] + if i == j { across } else { 0.0 }
    })
}

/// The springs of one body, in global node numbers.
#[derive(Clone, Debug)]
pub struct Springs {
    list: Vec<Spring>,
    /// The ends of all, one after the other.
    ends: Vec<u32>,
    /// 1/(λ l₀), 1/J.
    compliances: Vec<f64>,
    /// μ = λ/2 and 0, N: the modulus of an element of length l₀ and unit section.
    moduli: Constants,
}

impl Springs {
    /// Those springs.
    pub fn new(list: Vec<Spring>) -> Self {
        let ends = list.iter().flat_map(|s| s.ends).collect();
        let compliances = list.iter().map(|s| 1.0 / (s.lambda * s.length)).collect();
        let moduli: Vec<Vec<f64>> = list.iter().map(|s| vec![0.5 * s.lambda, 0.0]).collect();
        Self { list, ends, compliances, moduli: Constants::each(&moduli).padded() }
    }

    /// All of them.
    pub fn list(&self) -> &[Spring] {
        &self.list
    }

    /// Adds Σ k n nᵀ.
    fn add_material_stiffness(&self, q: &[f64], h: &mut BlockMatrix) {
        for spring in &self.list {
            let (along, _, n) = spring.curvature(q, true);
            spring.add_matrix(&block(along, 0.0, n), h);
        }
    }
}

/// The strain ‖s‖/l₀ − 1 has the energy ½λl₀ times its square.
impl Strains for Springs {
    fn layout(&self) -> StrainLayout<'_> {
        StrainLayout { nodes_each: 2, strains_each: 1, nodes: &self.ends, compliances: &self.compliances }
    }
    fn strains(&self, q: &[f64], phi: &mut [f64]) {
        for (phi, spring) in phi.iter_mut().zip(&self.list) {
            *phi = spring.strain(q);
        }
    }
    fn jacobian(&self, q: &[f64], jacobian: &mut [f64]) {
        for (k, spring) in self.list.iter().enumerate() {
            let s = spring.between(q);
            let length = norm(s);
            let slope = scale(s, 1.0 / (length.max(1e-9 * spring.length) * spring.length));
            for i in 0..3 {
                jacobian[6 * k + i] = -slope[i];
                jacobian[6 * k + 3 + i] = slope[i];
            }
        }
    }
}

impl Potential for Springs {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::smooth(Kind::Elastic)
    }

    fn strains(&self) -> Option<&dyn Strains> {
        Some(self)
    }

    fn energy(&self, q: &[f64]) -> f64 {
        let one = |s: &Spring| 0.5 * s.stiffness() * (norm(s.between(q)) - s.length).powi(2);
        self.list.iter().map(one).sum()
    }

    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for spring in &self.list {
            let s = spring.between(q);
            let tension = spring.stiffness() * (1.0 - spring.slack(norm(s)));
            spring.push(scale(s, tension), g);
        }
    }

    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        for spring in &self.list {
            let (along, across, n) = spring.curvature(q, curvature == Curvature::Projected);
            spring.add_matrix(&block(along, across, n), h);
        }
    }

    /// ½(s₀ + s₁)(ψ₁ − ψ₀)/(½‖s₁‖² − ½‖s₀‖²), with ‖s₁‖ − ‖s₀‖ divided out: a function of ‖s‖² alone, hence
    /// equivariant \[gonzalez2000\].
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        for spring in &self.list {
            let (s0, s1) = (spring.between(q0), spring.between(q1));
            let tension = spring.stiffness() * (1.0 - spring.slack(0.5 * (norm(s0) + norm(s1))));
            spring.push([0, 1, 2].map(|k| 0.5 * tension * (s0[k] + s1[k])), g);
        }
        true
    }

    /// The material part is Σ k n nᵀ.
    fn add_stiff_hessian(&self, q: &[f64], part: StiffPart, h: &mut BlockMatrix) {
        match part {
            StiffPart::Elements => self.add_hessian(q, Curvature::Projected, h),
            StiffPart::Material => self.add_material_stiffness(q, h),
        }
    }

    fn add_corotated_stiffness(&self, q: &[f64], _rotation: Rotation, _held: &[bool], k: &mut BlockMatrix) {
        self.add_material_stiffness(q, k);
    }
}

impl Elements for Springs {
    fn len(&self) -> usize {
        self.list.len()
    }
    fn each_clique(&self, f: &mut dyn FnMut(&[u32])) {
        self.list.iter().for_each(|s| f(&s.ends));
    }
    fn joins(&self) -> bool {
        false
    }
    fn has_constant_stiffness(&self) -> bool {
        false
    }

    fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        for spring in &self.list {
            let (along, across, n) = spring.curvature(q, true);
            let rate = spring.between(v);
            let part = (along - across) * dot(n, rate);
            spring.push([0, 1, 2].map(|k| c * (part * n[k] + across * rate[k])), out);
        }
    }
    fn cells(&self) -> Option<&dyn ElementCells> {
        Some(self)
    }
}

impl ElementCells for Springs {
    fn cell_kind(&self) -> CellKind {
        CellKind::Line
    }
    fn block(&self) -> CellBlock {
        CellBlock { kind: self.cell_kind(), nodes: self.ends.clone() }
    }
    fn mass(&self) -> Option<&dyn ElementMass> {
        None
    }
    fn append_field(&self, field: CellField, q: &[f64], out: &mut Vec<f64>) {
        for spring in &self.list {
            let known = spring.section > 0.0;
            let per_section = if known { spring.lambda / spring.section } else { 0.0 };
            match field {
                CellField::Volume => out.push(spring.section * spring.length),
                CellField::Young => out.push(per_section),
                CellField::VolumeRatio => out.push(norm(spring.between(q)) / spring.length),
                CellField::EnergyDensity if known => {
                    out.push(0.5 * spring.lambda / spring.section * spring.strain(q).powi(2));
                }
                CellField::EnergyDensity => out.push(0.0),
                CellField::Stress => out.extend(spring.stress(q).0.as_flattened()),
            }
        }
    }

    fn add_point_forces(&self, fields: [&[f64]; 2], law: &dyn PointLaw, out: &mut [f64]) {
        each_stress(
            law,
            1,
            &self.moduli,
            self.list.len(),
            |k| fields.map(|x| self.list[k].gradient_of(x)),
            |k, F| self.list[k].elastic_stress(F),
            // The volume l₀ times ∇N = ±1/l₀.
            |k, P| self.list[k].push(P.column(0), out),
        );
    }
    fn add_point_matrix(&self, q: &[f64], law: &dyn PointLaw, out: &mut BlockMatrix) {
        for spring in &self.list {
            let H = law.tangent(1, &[0.5 * spring.lambda, 0.0], &spring.gradient_of(q));
            let block = std::array::from_fn(|x| H[3 * (x / 3)][3 * (x % 3)] / spring.length);
            spring.add_matrix(&block, out);
        }
    }
}
