//! Tets as [`Elements`].

use super::{Tets, material_tangents};
use crate::elements::{CellField, ElementCells, ElementMass, Elements, PointLaw, PointSet};
use crate::materials::{Frame, Places};
use crate::math::{Lanes, Mat3};
use crate::mesh::{CellBlock, CellKind};
use crate::potentials::{Kind, Potential, PotentialRole, WithoutForm};
use lilyan_dynamics::StiffPart;
use lilyan_dynamics::corotated::Rotation;
use lilyan_dynamics::strains::Strains;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

impl Potential for Tets {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::smooth(Kind::Elastic)
    }
    fn energy(&self, q: &[f64]) -> f64 {
        Tets::energy(self, q)
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        Tets::add_gradient(self, q, g);
    }
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        Tets::add_hessian(self, q, curvature == Curvature::Projected, h);
    }
    fn add_stiff_hessian(&self, q: &[f64], part: StiffPart, h: &mut BlockMatrix) {
        match part {
            StiffPart::Elements => Tets::add_hessian(self, q, true, h),
            StiffPart::Material => self.add_tangents(q, h, &|first, F, bases, out| {
                material_tangents(self.material, self.places(first), F, bases, out);
            }),
        }
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        Tets::add_discrete_gradient(self, q0, q1, g)
    }

    fn strains(&self) -> Option<&dyn Strains> {
        self.has_strains().then_some(self as &dyn Strains)
    }
    fn not_strained(&self) -> Option<WithoutForm> {
        (!self.has_strains()).then(|| WithoutForm::Material(self.material.card().name))
    }
    fn incompressible(&self) -> bool {
        Tets::incompressible(self)
    }

    fn not_corotated(&self) -> Option<WithoutForm> {
        self.material.frame().is_none().then(|| WithoutForm::Material(self.material.card().name))
    }
    fn add_corotated_gradient(&self, q: &[f64], rotation: Rotation, held: &[bool], g: &mut [f64]) {
        Tets::add_corotated_gradient(self, q, rotation, held, g);
    }
    fn add_corotated_stiffness(&self, q: &[f64], rotation: Rotation, held: &[bool], k: &mut BlockMatrix) {
        Tets::add_corotated_stiffness(self, q, rotation, held, k);
    }
}

impl Elements for Tets {
    fn len(&self) -> usize {
        Tets::len(self)
    }
    fn each_clique(&self, f: &mut dyn FnMut(&[u32])) {
        self.cliques().for_each(|tet| f(&tet));
    }
    fn joins(&self) -> bool {
        false
    }
    fn has_constant_stiffness(&self) -> bool {
        self.material.frame() == Some(Frame::Fixed)
    }
    fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        Tets::add_hessian_product(self, q, v, c, out);
    }
    fn cells(&self) -> Option<&dyn ElementCells> {
        Some(self)
    }
}

impl ElementCells for Tets {
    fn cell_kind(&self) -> CellKind {
        CellKind::Tet
    }
    fn block(&self) -> CellBlock {
        CellBlock { kind: self.cell_kind(), nodes: self.cliques().flatten().collect() }
    }
    fn mass(&self) -> Option<&dyn ElementMass> {
        Some(self)
    }
    fn append_field(&self, field: CellField, q: &[f64], out: &mut Vec<f64>) {
        for e in 0..Tets::len(self) {
            match field {
                CellField::Volume => out.push(self.volume(e)),
                CellField::Young => out.push(self.moduli(e).young()),
                CellField::VolumeRatio => out.push(self.gradient_of(e, q).det()),
                CellField::EnergyDensity => {
                    out.push(self.material.energy(self.constants(e), &self.gradient_of(e, q)));
                }
                CellField::Stress => {
                    let F = self.gradient_of(e, q);
                    let P = self.material.stress(self.constants(e), &F);
                    out.extend(P.mul_transpose(&F).scale(1.0 / F.det()).0.as_flattened());
                }
            }
        }
    }

    fn add_point_forces(&self, fields: [&[f64]; 2], law: &dyn PointLaw, out: &mut [f64]) {
        self.add_forces(fields, out, &|first, gradients, P| {
            let elastic = |F: &[Mat3<Lanes>], P: &mut [Mat3<Lanes>]| {
                self.material.stresses(self.places(first), F, P);
            };
            let moduli = Places { constants: &self.moduli, first };
            law.stresses(PointSet { dimension: 3, moduli, elastic: &elastic }, gradients, P);
        });
    }
    fn add_point_matrix(&self, q: &[f64], law: &dyn PointLaw, out: &mut BlockMatrix) {
        self.add_tangents(q, out, &|first, F, bases, out| {
            law.tangents(3, Places { constants: &self.moduli, first }, F, bases, out);
        });
    }
}

impl ElementMass for Tets {
    /// A quarter of the mass of a tet at each vertex.
    fn add_lumped(&self, masses: &mut [f64]) {
        for e in 0..Tets::len(self) {
            let share = 0.25 * self.density(e) * self.volume(e);
            for n in self.tet(e) {
                masses[n as usize] += share;
            }
        }
    }

    /// ρ vol/20 (1 + δ) between the vertices of a tet.
    fn add_consistent(&self, mass: &mut BlockMatrix) {
        for e in 0..Tets::len(self) {
            let unit = self.density(e) * self.volume(e) / 20.0;
            let nodes = self.tet(e);
            for a in 0..4 {
                for b in 0..=a {
                    let c = if a == b { 2.0 * unit } else { unit };
                    let block = [c, 0.0, 0.0, 0.0, c, 0.0, 0.0, 0.0, c];
                    mass.add_block(nodes[a] as usize, nodes[b] as usize, &block);
                }
            }
        }
    }

    /// As lumped.
    fn add_weights(&self, weights: &mut [f64]) {
        self.add_lumped(weights);
    }

    fn add_product(&self, v: &[f64], c: f64, out: &mut [f64]) {
        for e in 0..Tets::len(self) {
            let unit = c * self.density(e) * self.volume(e) / 20.0;
            let nodes = self.tet(e).map(|n| 3 * n as usize);
            for k in 0..3 {
                let sum: f64 = nodes.iter().map(|n| v[n + k]).sum();
                nodes.iter().for_each(|n| out[n + k] += unit * (sum + v[n + k]));
            }
        }
    }
}
