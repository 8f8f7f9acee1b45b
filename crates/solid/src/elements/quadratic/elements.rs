//! Quadratic tets as [`Elements`].

use super::QuadraticTets;
use super::kernel::POINTS;
use super::shape::{A, D, EDGES};
use crate::elements::tets::material_tangent;
use crate::elements::{CellField, ElementCells, ElementMass, Elements, PointLaw, PointSet};
use crate::materials::Frame;
use crate::math::{Lanes, Mat3};
use crate::mesh::{CellBlock, CellKind};
use crate::potentials::{Kind, Potential, PotentialRole, WithoutForm};
use lilyan_dynamics::StiffPart;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

impl Potential for QuadraticTets {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::smooth(Kind::Elastic)
    }
    fn energy(&self, q: &[f64]) -> f64 {
        QuadraticTets::energy(self, q)
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        QuadraticTets::add_gradient(self, q, g);
    }
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        QuadraticTets::add_hessian(self, q, curvature == Curvature::Projected, h);
    }
    fn add_stiff_hessian(&self, q: &[f64], part: StiffPart, h: &mut BlockMatrix) {
        match part {
            StiffPart::Elements => QuadraticTets::add_hessian(self, q, true, h),
            StiffPart::Material => {
                self.add_point_matrices(q, h, &|e, F| material_tangent(self.material, self.constants(e), F))
            }
        }
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        QuadraticTets::add_discrete_gradient(self, q0, q1, g)
    }
    fn not_strained(&self) -> Option<WithoutForm> {
        Some(WithoutForm::Elements("quadratic tets"))
    }
    fn not_corotated(&self) -> Option<WithoutForm> {
        Some(WithoutForm::Elements("quadratic tets"))
    }
}

impl Elements for QuadraticTets {
    fn len(&self) -> usize {
        QuadraticTets::len(self)
    }
    fn each_clique(&self, f: &mut dyn FnMut(&[u32])) {
        (0..QuadraticTets::len(self)).for_each(|e| f(&self.tet(e)));
    }
    fn joins(&self) -> bool {
        false
    }
    fn has_constant_stiffness(&self) -> bool {
        self.material.frame() == Some(Frame::Fixed)
    }
    fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        QuadraticTets::add_hessian_product(self, q, v, c, out);
    }
    fn cells(&self) -> Option<&dyn ElementCells> {
        Some(self)
    }
}

impl ElementCells for QuadraticTets {
    fn cell_kind(&self) -> CellKind {
        CellKind::QuadraticTet
    }
    fn block(&self) -> CellBlock {
        let nodes = (0..QuadraticTets::len(self)).flat_map(|e| self.tet(e)).collect();
        CellBlock { kind: self.cell_kind(), nodes }
    }
    fn mass(&self) -> Option<&dyn ElementMass> {
        Some(self)
    }
    /// Means over the points, by volume; of the ratio of volumes the smallest, which says how near the tet is to inversion.
    fn append_field(&self, field: CellField, q: &[f64], out: &mut Vec<f64>) {
        for e in 0..QuadraticTets::len(self) {
            match field {
                CellField::Volume => out.push(self.volume(e)),
                CellField::Young => out.push(self.moduli(e).young()),
                CellField::VolumeRatio => {
                    let ratios = (0..POINTS).map(|point| self.gradient_of(e, point, q).det());
                    out.push(ratios.fold(f64::INFINITY, f64::min));
                }
                CellField::EnergyDensity => {
                    let states = self.states(e, q);
                    out.extend(self.mean(e, |k| [self.material.energy(self.constants(e), &states[k].even)]));
                }
                CellField::Stress => {
                    let states = self.states(e, q);
                    out.extend(self.mean(e, |k| states[k].cauchy()));
                }
            }
        }
    }

    /// The field that is linear over the tet and has the values of the four points.
    fn append_nodal_stress(&self, q: &[f64], out: &mut Vec<f64>) {
        for e in 0..QuadraticTets::len(self) {
            let at_points = self.states(e, q).map(|state| state.cauchy());
            let nodes = self.tet(e);
            let corners: [[f64; 9]; 4] = std::array::from_fn(|c| {
                // Points belong to corners in ascending order.
                let own = &at_points[(0..4).filter(|k| nodes[*k] < nodes[c]).count()];
                std::array::from_fn(|k| {
                    // λ of a point is A + D at its own corner and A at the others, and 4 A + D = 1.
                    let sum: f64 = at_points.iter().map(|stress| stress[k]).sum();
                    (own[k] - A * sum) / D
                })
            });
            out.extend(corners.as_flattened());
            for [i, j] in EDGES {
                out.extend((0..9).map(|k| 0.5 * (corners[i][k] + corners[j][k])));
            }
        }
    }

    fn add_point_forces(&self, fields: [&[f64]; 2], law: &dyn PointLaw, out: &mut [f64]) {
        let stresses = |first: usize, gradients: &[[Mat3<Lanes>; 2]], P: &mut [Mat3<Lanes>]| {
            let elastic = |F: &[Mat3<Lanes>], P: &mut [Mat3<Lanes>]| {
                self.material.stresses(self.entries(first), F, P);
            };
            let moduli = self.moduli_of_entries(first);
            law.stresses(PointSet { dimension: 3, moduli, elastic: &elastic }, gradients, P);
        };
        // What locks an elastic body would lock its damping as well.
        self.add_forces(fields, out, &|first, gradients, P| match self.mean_dilatation {
            true => self.even_pairs(first, gradients, law.takes_rates(), P, |block, pair, P| {
                stresses(block, pair, P);
            }),
            false => stresses(first, gradients, P),
        });
    }
    fn add_point_matrix(&self, q: &[f64], law: &dyn PointLaw, out: &mut BlockMatrix) {
        self.add_point_matrices(q, out, &|e, F| law.tangent(3, self.moduli_at(e), F));
    }
}

/// A point of a tet: F, the F that its material sees, and the stress.
struct PointState {
    F: Mat3,
    even: Mat3,
    stress: Mat3,
}

impl PointState {
    /// P Fᵀ/J, Pa, row by row.
    fn cauchy(&self) -> [f64; 9] {
        let stress = self.stress.mul_transpose(&self.F).scale(1.0 / self.F.det());
        std::array::from_fn(|k| stress[(k / 3, k % 3)])
    }
}

impl QuadraticTets {
    /// The points of tet e.
    fn states(&self, e: usize, q: &[f64]) -> [PointState; POINTS] {
        let stress = |F: &Mat3| self.material.stress(self.constants(e), F);
        let F: [Mat3; POINTS] = std::array::from_fn(|point| self.gradient_of(e, point, q));
        if !self.mean_dilatation {
            return F.map(|F| PointState { F, even: F, stress: stress(&F) });
        }
        let own = self.even_of(e, q);
        let P = own.stress(&own.even.map(|F| stress(&F)));
        std::array::from_fn(|k| PointState { F: F[k], even: own.even[k], stress: P[k] })
    }
}
