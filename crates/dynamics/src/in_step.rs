//! A system with its stateful terms during a step.

use crate::system::abilities::{Abilities, DiscreteGradient, FeasibleStep, Lacking};
use crate::system::terms::StepTerms;
use crate::system::{
    ConfigurationSpace, EnergyParts, System, discrete_gradient, discrete_hessian, three_quarters,
};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// A system during one step, with the stateful terms as part of W.
pub(crate) struct InStep<'a> {
    pub system: &'a dyn System,
    pub terms: &'a dyn StepTerms,
}

impl System for InStep<'_> {
    fn space(&self) -> &ConfigurationSpace {
        self.system.space()
    }
    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        self.system.energy(t, q) + self.terms.energy(q)
    }
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.system.gradient(t, q, g);
        self.terms.add_gradient(q, g);
    }
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.system.hessian(t, q, curvature, h);
        self.terms.add_hessian(q, curvature, h);
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        let mut parts = self.system.energy_parts(t, q);
        parts.other += self.terms.energy(q);
        parts
    }
    fn abilities(&self) -> Abilities<'_> {
        let inner = self.system.abilities();
        Abilities {
            prescribed: inner.prescribed,
            loads: inner.loads,
            dissipation: inner.dissipation,
            applied: inner.applied,
            friction: inner.friction,
            end_impulse: inner.end_impulse,
            constraints: inner.constraints,
            feasible_step: Some(self),
            // The terms are part of W already. The field tells that W differs from step to step.
            terms: inner.terms,
            timed: inner.timed,
            discrete_gradient: Some(self),
            // The system defines these for W without the terms.
            split: None,
            corotated: Err(Lacking::Corotation),
            strained: Err(Lacking::Strains),
            incompressible: inner.incompressible,
            deformation: inner.deformation,
            correction: inner.correction,
        }
    }
}

impl DiscreteGradient for InStep<'_> {
    fn discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        discrete_gradient(self.system, t, q0, q1, g) && self.terms.add_discrete_gradient(q0, q1, g)
    }
    fn add_discrete_hessian(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    ) {
        self.terms.add_hessian(&three_quarters(q0, q1), curvature, h);
        h.scale(0.5);
        let mut own = BlockMatrix::zeros(self.system.pattern().clone());
        discrete_hessian(self.system, t, q0, q1, curvature, &mut own);
        h.add_scaled(1.0, &own);
    }
}

impl FeasibleStep for InStep<'_> {
    fn max_step(&self, t: [f64; 2], q: &[f64], d: &[f64]) -> f64 {
        let inner = self.system.abilities().feasible_step;
        inner.map_or(f64::INFINITY, |feasible| feasible.max_step(t, q, d)).min(self.terms.max_step(q, d))
    }
}
