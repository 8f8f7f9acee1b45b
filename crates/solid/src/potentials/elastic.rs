//! Elastic energy of a body's elements, Σ vol ψ(F) for tets.

use super::{Kind, Potential};
use crate::elements::Elements;
use lilyan_dynamics::StiffPart;
use lilyan_dynamics::corotated::Rotation;
use lilyan_dynamics::strains::Strains;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::Arc;

/// The elastic energy of one set of elements.
pub struct Elastic<E>(pub Arc<E>);

impl<E: Elements> Potential for Elastic<E> {
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
    fn add_stiff_hessian(&self, q: &[f64], part: StiffPart, h: &mut BlockMatrix) {
        match part {
            StiffPart::Material => self.0.add_material_stiffness(q, h),
            StiffPart::Elements => self.0.add_element_stiffness(q, h),
        }
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.0.add_discrete_gradient(q0, q1, g)
    }
    fn strains(&self) -> Option<&dyn Strains> {
        self.0.strains()
    }
    fn not_strained(&self) -> Option<&'static str> {
        self.0.not_strained()
    }
    fn incompressible(&self) -> bool {
        self.0.incompressible()
    }
    fn not_corotated(&self) -> Option<&'static str> {
        self.0.not_corotated()
    }
    fn add_turned_gradient(&self, q: &[f64], rotation: Rotation, held: &[bool], g: &mut [f64]) {
        self.0.add_turned_gradient(q, rotation, held, g);
    }
    fn add_turned_stiffness(&self, q: &[f64], rotation: Rotation, held: &[bool], k: &mut BlockMatrix) {
        self.0.add_turned_stiffness(q, rotation, held, k);
    }
}
