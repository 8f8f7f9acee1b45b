//! Elastic energy of a body, Σ vol ψ(F).

use super::{Kind, Potential};
use crate::elements::Tets;
use lilyan_dynamics::corotated::Rotation;
use lilyan_dynamics::strains::Strains;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
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
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.0.add_discrete_gradient(q0, q1, g)
    }
    fn strains(&self) -> Option<&dyn Strains> {
        self.0.has_strains().then_some(self.0.as_ref() as &dyn Strains)
    }
    fn not_strained(&self) -> Option<&'static str> {
        (!self.0.has_strains()).then(|| self.0.material().card().name)
    }
    fn incompressible(&self) -> bool {
        self.0.incompressible()
    }
    fn not_corotated(&self) -> Option<&'static str> {
        let material = self.0.material();
        material.frame().is_none().then(|| material.card().name)
    }
    fn add_turned_gradient(&self, q: &[f64], rotation: Rotation, held: &[bool], g: &mut [f64]) {
        self.0.add_turned_gradient(q, rotation, held, g);
    }
    fn add_turned_stiffness(&self, q: &[f64], rotation: Rotation, held: &[bool], k: &mut BlockMatrix) {
        self.0.add_turned_stiffness(q, rotation, held, k);
    }
}
