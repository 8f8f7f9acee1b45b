//! A [`Model`] as a [`System`]: sums over its potentials, damping models, loads and pins.

use crate::materials::CATALOGUE;
use crate::model::{Body, BodyDamping, Model, Motion, discrete_gradient};
use crate::potentials::{ContactFriction, Kind, MovingPotential, Potential, WithoutForm};
use lilyan_dynamics::constraints::Constraints;
use lilyan_dynamics::corotated::{Corotated, Rotation};
use lilyan_dynamics::fit::{Deformation, Fit};
use lilyan_dynamics::strains::{Strained, Strains};
use lilyan_dynamics::system::abilities::{
    AdditiveSplit, AppliedForces, DiscreteGradient, Dissipation, EndImpulse, FeasibleStep, Friction, Lacking,
    Loads, PrescribedMotion, StiffPart, TimedPotential,
};
use lilyan_dynamics::system::three_quarters;
use lilyan_dynamics::{Abilities, ConfigurationSpace, EnergyParts, System};
use lilyan_parallel::threads;
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

impl System for Model {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
    }

    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        let mut energy: f64 = self.potentials_at(t).map(|p| p.energy(q)).sum();
        if self.has_loads() {
            let mut load = vec![0.0; q.len()];
            self.add_load(t, &mut load);
            // Relative to the start: −f·x would add a large constant to what is minimised.
            energy -= (0..q.len()).map(|i| load[i] * (q[i] - self.start[i])).sum::<f64>();
        }
        energy
    }

    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        threads::clear(g);
        for potential in self.potentials_at(t) {
            potential.add_gradient(q, g);
        }
        self.subtract_load(t, g);
    }

    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        for potential in self.potentials_at(t) {
            potential.add_hessian(q, curvature, h);
        }
    }

    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        let mut parts = EnergyParts::default();
        for potential in self.potentials_at(t) {
            let energy = potential.energy(q);
            match potential.role().kind {
                Kind::Elastic => parts.elastic += energy,
                Kind::Gravity => parts.gravity += energy,
                Kind::Other => parts.other += energy,
            }
        }
        parts
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            prescribed: (!self.pins.is_empty()).then_some(self),
            loads: self.has_loads().then_some(self),
            dissipation: self.has_forces().then_some(self),
            applied: (!self.forces.is_empty()).then_some(self),
            friction: self.has_friction().then_some(self),
            end_impulse: self.dampings.iter().any(|d| d.model.is_impulse()).then_some(self),
            constraints: (!self.constraints.is_empty()).then_some(&self.constraints as &dyn Constraints),
            feasible_step: self.potentials.iter().any(|p| p.role().feasible_step.is_some()).then_some(self),
            terms: self.potentials.iter().any(|p| p.role().terms.is_some()).then_some(self),
            timed: self.has_timed_potential.then_some(self),
            discrete_gradient: Some(self),
            split: Some(self),
            corotated: match self.potentials.iter().find_map(|p| p.not_corotated()) {
                None => Ok(self),
                Some(WithoutForm::Material(material)) => {
                    Err(Lacking::CorotationOf { material, known: &COROTATED })
                }
                Some(WithoutForm::Elements(elements)) => Err(Lacking::CorotationOfElements { elements }),
            },
            strained: match self.potentials.iter().find_map(|p| p.not_strained()) {
                None => Ok(self),
                Some(WithoutForm::Material(material)) => Err(Lacking::StrainsOf { material }),
                Some(WithoutForm::Elements(elements)) => Err(Lacking::StrainsOfElements { elements }),
            },
            incompressible: self.incompressible,
            deformation: Some(self),
            correction: None,
        }
    }
}

/// Materials with a co-rotated stiffness.
static COROTATED: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let corotated = CATALOGUE.iter().filter(|m| m.frame().is_some());
    corotated.map(|m| m.card().name).collect()
});

impl Deformation for Model {
    fn deformation_gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        g.fill(0.0);
        for potential in self.potentials.iter().filter(|p| p.role().kind == Kind::Elastic) {
            potential.add_gradient(q, g);
        }
    }
    fn add_deformation_hessian(&self, _t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        for potential in self.potentials.iter().filter(|p| p.role().kind == Kind::Elastic) {
            potential.add_hessian(q, curvature, h);
        }
    }
    fn has_constant_stiffness(&self, dofs: &Range<usize>) -> bool {
        let here = |b: &&Body| {
            let own = b.dofs.unknowns();
            own.start < dofs.end && dofs.start < own.end
        };
        self.bodies.iter().filter(here).flat_map(|b| &b.elements).all(|e| e.has_constant_stiffness())
    }
    fn add_outer_forces(&self, _t: f64, _q: &[f64], v: &[f64], f: &mut [f64]) {
        for BodyDamping { model, body } in &self.dampings {
            model.add_outer_forces(body, v, f);
        }
    }
    fn fits(&self) -> &[Fit] {
        &self.fits
    }
}

impl AdditiveSplit for Model {
    fn stiff_pattern(&self, part: StiffPart) -> &Arc<BlockPattern> {
        match (part, &self.of_elements) {
            (StiffPart::Elements, Some(pattern)) => pattern,
            _ => &self.space.pattern,
        }
    }
    fn add_stiff_hessian(&self, t: f64, q: &[f64], part: StiffPart, h: &mut BlockMatrix) {
        for potential in self.potentials_at(t) {
            potential.add_stiff_hessian(q, part, h);
        }
    }
}

impl DiscreteGradient for Model {
    fn discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        g.fill(0.0);
        let feasible = self.potentials.iter().all(|p| discrete_gradient(p.as_ref(), t, [q0, q1], g));
        self.subtract_load(0.5 * (t[0] + t[1]), g);
        feasible && g.iter().all(|x| x.is_finite())
    }
    fn add_discrete_hessian(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    ) {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        let at = three_quarters(q0, q1);
        let own = |p: &Arc<dyn Potential>| p.moving().is_some() || p.role().discrete_hessian.is_some();
        for potential in self.potentials.iter().filter(|p| !own(p)) {
            potential.add_hessian(&at, curvature, h);
        }
        h.scale(0.5);
        for hessian in self.potentials.iter().filter_map(|p| p.role().discrete_hessian) {
            hessian.add_discrete_hessian(q0, q1, curvature, h);
        }
        for moving in self.moving() {
            moving.add_discrete_hessian(t, q0, q1, curvature, h);
        }
    }
}

impl FeasibleStep for Model {
    fn max_step(&self, t: [f64; 2], q: &[f64], d: &[f64]) -> f64 {
        let limits = self.potentials.iter().filter_map(|p| p.role().feasible_step);
        limits.map(|limit| limit.max_step(t, q, d)).fold(f64::INFINITY, f64::min)
    }
}

impl Loads for Model {
    fn add_load(&self, t: f64, f: &mut [f64]) {
        for load in &self.loads {
            load(t, f);
        }
        if let Some(forces) = &self.nodal_forces {
            f.iter_mut().zip(forces).for_each(|(f, force)| *f += force);
        }
    }
}

impl TimedPotential for Model {
    fn work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64 {
        self.moving().map(|moving| moving.work(t, q0, q1)).sum()
    }
    fn friction_work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64 {
        self.moving().map(|moving| moving.friction_work(t, q0, q1)).sum()
    }
}

impl Dissipation for Model {
    fn add_forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        for BodyDamping { model, body } in &self.dampings {
            model.add_forces(body, q, v, f);
        }
        self.each_friction(t, |friction| friction.add_friction(q, v, f));
        self.add_applied_forces(t, q, v, f);
    }
    fn add_mean_forces(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        for BodyDamping { model, body } in &self.dampings {
            model.add_forces_between(body, h, q0, q1, f);
        }
        self.add_friction([t0, t0 + h], q0, q1, f);
        if !self.forces.is_empty() {
            let q: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
            let v: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| (b - a) / h).collect();
            self.add_applied_forces(t0 + 0.5 * h, &q, &v, f);
        }
    }
    fn add_damping_matrix(&self, t: f64, q: &[f64], v: &[f64], d: &mut BlockMatrix) {
        for BodyDamping { model, body } in &self.dampings {
            model.add_matrix(body, q, d);
        }
        self.each_friction(t, |friction| friction.add_friction_matrix(q, v, d));
        self.add_applied_damping_matrix(t, q, v, d);
    }
    fn add_mean_damping_matrix(&self, t: f64, h: f64, between: &[f64], v: &[f64], d: &mut BlockMatrix) {
        for BodyDamping { model, body } in &self.dampings {
            model.add_matrix(body, between, d);
        }
        if self.has_friction() {
            let end =
                |part: f64| -> Vec<f64> { between.iter().zip(v).map(|(x, v)| x + part * h * v).collect() };
            let (q0, q1) = (end(-0.75), end(0.25));
            self.still_frictions().for_each(|friction| friction.add_mean_friction_matrix(h, &q0, &q1, d));
            let times = [t - 0.5 * h, t + 0.5 * h];
            self.moving().for_each(|moving| moving.add_mean_friction_matrix(times, &q0, &q1, d));
        }
        self.add_applied_damping_matrix(t, between, v, d);
    }
}

impl Friction for Model {
    fn add_friction(&self, t: [f64; 2], q0: &[f64], q1: &[f64], f: &mut [f64]) {
        self.still_frictions().for_each(|friction| friction.add_mean_friction(t[1] - t[0], q0, q1, f));
        self.moving().for_each(|moving| moving.add_mean_friction(t, q0, q1, f));
    }
}

impl AppliedForces for Model {
    fn add_applied_forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        for force in &self.forces {
            force.add(t, q, v, f);
        }
    }
    fn add_applied_damping_matrix(&self, t: f64, q: &[f64], v: &[f64], d: &mut BlockMatrix) {
        for force in &self.forces {
            force.add_damping_matrix(t, q, v, d);
        }
    }
}

impl EndImpulse for Model {
    fn add_end_impulse(&self, _h: f64, q0: &[f64], q1: &[f64], j: &mut [f64]) {
        for BodyDamping { model, body } in &self.dampings {
            model.add_impulse(body, q0, q1, j);
        }
    }
}

impl PrescribedMotion for Model {
    fn mark_prescribed(&self, t: f64, mask: &mut [bool]) {
        self.each_held(t, |i, _, _| mask[i] = true);
    }
    fn place_prescribed(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.each_held(t, |i, offset, rate| {
            q[i] = self.start[i] + offset;
            v[i] = rate;
        });
    }
    fn prescribed_moves(&self) -> bool {
        !self.pin_targets.is_empty() || self.pins.iter().any(|p| p.motion.is_some())
    }
}

impl Strained for Model {
    fn strains(&self) -> Vec<&dyn Strains> {
        self.potentials.iter().filter_map(|p| p.strains()).collect()
    }
    fn other_gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        g.fill(0.0);
        for potential in self.potentials_at(t).filter(|p| p.strains().is_none()) {
            potential.add_gradient(q, g);
        }
        self.subtract_load(t, g);
    }
    fn other_hessian(&self, t: f64, q: &[f64], h: &mut BlockMatrix) {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        for potential in self.potentials_at(t).filter(|p| p.strains().is_none()) {
            potential.add_hessian(q, Curvature::Projected, h);
        }
    }
}

impl Corotated for Model {
    fn corotated_gradient(&self, t: f64, q: &[f64], rotation: Rotation, held: &[bool], g: &mut [f64]) {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        g.fill(0.0);
        for potential in self.potentials_at(t) {
            potential.add_corotated_gradient(q, rotation, held, g);
        }
        self.subtract_load(t, g);
    }
    fn corotated_stiffness(&self, t: f64, q: &[f64], rotation: Rotation, held: &[bool], k: &mut BlockMatrix) {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        for potential in self.potentials_at(t) {
            potential.add_corotated_stiffness(q, rotation, held, k);
        }
    }
}

impl Model {
    fn has_loads(&self) -> bool {
        !self.loads.is_empty() || self.nodal_forces.is_some()
    }

    /// Whether there are forces without potential within a step.
    fn has_forces(&self) -> bool {
        !self.forces.is_empty() || self.has_friction() || self.dampings.iter().any(|d| !d.model.is_impulse())
    }

    fn has_friction(&self) -> bool {
        self.potentials.iter().any(|p| p.role().friction.is_some())
    }

    /// The potentials that move.
    fn moving(&self) -> impl Iterator<Item = &dyn MovingPotential> {
        self.potentials.iter().filter_map(|p| p.moving())
    }

    /// The friction of potentials that do not move.
    fn still_frictions(&self) -> impl Iterator<Item = &dyn ContactFriction> {
        self.potentials.iter().filter(|p| p.moving().is_none()).filter_map(|p| p.role().friction)
    }

    /// Calls `f` with every friction as it is at t.
    fn each_friction(&self, t: f64, mut f: impl FnMut(&dyn ContactFriction)) {
        if self.has_friction() {
            self.potentials_at(t).for_each(|p| {
                if let Some(friction) = p.role().friction {
                    f(friction);
                }
            });
        }
    }

    /// Calls `f(dof, displacement, velocity)` for every unknown held at t.
    fn each_held(&self, t: f64, mut f: impl FnMut(usize, f64, f64)) {
        for pin in &self.pins {
            // Half a nanosecond of slack, so that the step that ends at `until` is still held.
            if t > pin.until + 5e-10 {
                continue;
            }
            let common = match &pin.motion {
                Some(Motion::Translation(motion)) => motion(t),
                _ => ([0.0; 3], [0.0; 3]),
            };
            for &n in &pin.nodes {
                let first = 3 * n as usize;
                let start = || std::array::from_fn(|k| self.start[first + k]);
                let (offset, rate) = match (self.pin_targets.get(&n), &pin.motion) {
                    (Some(target), _) => target.at(t, start()),
                    (None, Some(Motion::Field(motion))) => motion(t, start()),
                    _ => common,
                };
                for k in (0..3).filter(|&k| pin.axes[k]) {
                    f(first + k, offset[k], rate[k]);
                }
            }
        }
    }

    fn subtract_load(&self, t: f64, g: &mut [f64]) {
        if self.has_loads() {
            let mut load = vec![0.0; g.len()];
            self.add_load(t, &mut load);
            for (g, f) in g.iter_mut().zip(&load) {
                *g -= f;
            }
        }
    }
}
