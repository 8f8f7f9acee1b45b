//! EigenFit \[chen2019, chapter 3\] and an extension of it: a coarse body whose lowest modes are those of the fine one.
//!
//! Linear elements are too stiff, and the more so the larger they are. At every step, the lowest modes of the coarse body in
//! its present configuration, K U = M U Λ, UᵀMU = 1, with K projected element by element, get another stiffness:
//!
//!   K‡ = K + MU Λ^½(S − 1)Λ^½ UᵀM,    f‡ = f + MU Λ^½(S − 1)Λ^−½ Uᵀf.
//!
//! With S = diag(λᵢ(fine)/λᵢ(coarse)) this is EigenFit: the frequencies are those of the fine mesh. The mode shapes are not,
//! so static deflections and the distribution of the motion stay wrong. Here S may be any symmetric matrix. If the modes of
//! the fine body are known ([`Target::Modes`]), S is chosen such that the coarse body has these modes at rest: A are the
//! fine modes in the basis of the coarse ones, orthonormalised, and Λ^½SΛ^½ = AΛ(fine)Aᵀ + (1 − AAᵀ)Λ(1 − AAᵀ).
//!
//! f and K contain deformation alone, viscosity included. Hence a load bends the softer body further, and a mode decays as
//! fast as on the fine mesh. Gravity, contact and loads are not changed.
//!
//! * The system states which bodies are fitted, and how ([`Fit`]). The simulation tracks their modes ([`Fitting`]), and gives
//!   integrators the system with its correction ([`Fitted`]). The modes of linear materials never change. Those of other
//!   materials rotate with the body, node by node, and are updated by block Davidson when lengths have changed by 2 %.
//! * U, Λ and S are those of a configuration q₀ at the start of this step or of an earlier one. In the correction, Uᵀ∇W(q) is
//!   replaced by its linearisation Uᵀ∇W(q₀) + ΛUᵀM(q − q₀). The correction then costs little and has a potential, so a fitted
//!   step is still a minimum. Once the vectors between neighbours have changed by more than 0.2 to 2 % (root mean square),
//!   q₀ is the present configuration. How much they may change follows from the error of the linearisation, which is then
//!   seen (`reach`).
//! * S is transformed with the modes to Q S Qᵀ, where Q = UᵀMU(rest), orthonormalised as far as the modes correspond, contains
//!   the modes at rest in the basis of the modes of the deformed body. \[chen2019\] matches modes by number, which fails where
//!   frequencies cross. Before the comparison the modes at rest are rotated with the body, node by node, so that a bar that
//!   bends far keeps them.
//! * The fit of a step is accepted if at least half of the modes at rest have a counterpart, |uᵢᵀMuⱼ| > 0.6, and if the root
//!   mean square of the relative changes of length is at most a quarter. Otherwise the step is taken without the fit, and
//!   counted. (\[chen2019\] tests the shapes only. A bar that is drawn to a quarter of its length still bends like a bar, but
//!   the error of its stiffness at rest says nothing about its present stiffness.)
//! * For a body without Dirichlet dofs the rigid modes of the present shape are excluded. The correction then has no resultant
//!   force and no torque.
//! * For linear materials f‡ has the potential W + ½ gᵀU Λ^−½(S − 1)Λ^−½ Uᵀg, g = ∇W, at all times. For other materials it
//!   has one between changes of q₀ only. The reported elastic energy is then an estimate, and the energy budget closes only as far
//!   as the modes stay the same.

mod corrected;
mod distance;
mod memory;
mod pencil;
mod reach;
mod refine;
mod rest;
mod rotation;
mod tracking;

pub use corrected::correct_modes;
pub use distance::DistanceFromRest;
pub use rest::modes_at_rest;
pub use tracking::{FittedBody, Fitting};

pub use crate::system::fit::{Deformation, Fit, MOST_MODES, ModalCorrection, Phase, Target};

use crate::system::abilities::{Abilities, Dissipation, Lacking};
use crate::{ConfigurationSpace, EnergyParts, System};
use lilyan_solve::newton::{Curvature, dot};
use lilyan_solve::precondition::{Columns, Deflation, DeflationCoefficients};
use lilyan_solve::{BlockMatrix, SmallMatrix};
use std::sync::{Arc, Mutex};

/// The low-rank terms that a fit adds to forces and matrices during a step.
#[derive(Debug, Default)]
pub struct Correction {
    /// U by columns; 0 at held dofs.
    vectors: Arc<Columns>,
    /// MU by columns; 0 at held dofs.
    weighted: Arc<Columns>,
    /// MU, extended by KUΛ⁻¹ at held dofs; only if prescribed dofs move.
    extended: Option<Columns>,
    /// Λ^½(S − 1)Λ^½, 1/s².
    stiffness: SmallMatrix,
    /// Λ^½(S − 1)Λ^−½.
    force: SmallMatrix,
    /// Λ^−½(S − 1)Λ^−½, s².
    compliance: SmallMatrix,
    /// λ, 1/s².
    values: Vec<f64>,
    /// UᵀDU, 1/s.
    modal_damping: SmallMatrix,
    /// The change of UᵀDU, 1/s.
    damping_change: SmallMatrix,
    /// The configuration q₀, m.
    origin: Vec<f64>,
    /// Uᵀ∇W there.
    modal_forces: Vec<f64>,
    /// Λ^½(S − 1)Λ^−½Uᵀ∇W there.
    initial_force: Vec<f64>,
    /// The correction of the energy there, J.
    energy: f64,
    /// The coefficients of the last deflation, and the factors of K and D that they belong to.
    deflation: Mutex<Option<([f64; 2], Arc<DeflationCoefficients>)>>,
}

impl Correction {
    /// The correction for S − 1 = `change` and λ^½ = `roots`. The roots of modes without stiffness are 0.
    fn new(change: &SmallMatrix, roots: &[f64]) -> Self {
        let inverse: Vec<f64> = roots.iter().map(|r| if *r > 0.0 { 1.0 / r } else { 0.0 }).collect();
        let zero = SmallMatrix::diagonal(&vec![0.0; roots.len()]);
        Self {
            stiffness: change.scaled(roots, roots),
            force: change.scaled(roots, &inverse),
            compliance: change.scaled(&inverse, &inverse),
            values: roots.iter().map(|r| r * r).collect(),
            modal_damping: zero.clone(),
            damping_change: zero,
            ..Self::default()
        }
    }

    /// Uᵀ∇W in a configuration.
    fn modal_forces(&self, deformation: &dyn Deformation, t: f64, q: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; q.len()];
        deformation.deformation_gradient(t, q, &mut gradient);
        self.vectors.inner_products(&gradient)
    }

    /// Sets q₀ = q.
    fn begin(&mut self, deformation: &dyn Deformation, t: f64, q: &[f64]) {
        self.modal_forces = self.modal_forces(deformation, t, q);
        self.origin.clear();
        self.origin.extend_from_slice(q);
        self.initial_force = self.force.apply(&self.modal_forces);
        self.energy = 0.5 * dot(&self.modal_forces, &self.compliance.apply(&self.modal_forces));
    }

    /// The error of the linearised modal forces in a configuration, and the forces: Σ f²/2λ, J.
    fn error(&self, deformation: &dyn Deformation, t: f64, q: &[f64]) -> (f64, f64) {
        let forces = self.modal_forces(deformation, t, q);
        let displacement = self.modal_displacement(q);
        let (mut error, mut size) = (0.0, 0.0);
        for (i, value) in self.values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let linear = self.modal_forces[i] + value * displacement[i];
            error += 0.5 * (forces[i] - linear).powi(2) / value;
            size += 0.5 * forces[i].powi(2) / value;
        }
        (error, size)
    }

    /// Modal coordinates UᵀM(q − q₀) of the displacement since q₀.
    fn modal_displacement(&self, q: &[f64]) -> Vec<f64> {
        let displacement: Vec<f64> = q.iter().zip(&self.origin).map(|(q, origin)| q - origin).collect();
        self.extended.as_ref().unwrap_or(&self.weighted).inner_products(&displacement)
    }

    /// g ← g + MU(`initial_force` + Λ^½(S − 1)Λ^½UᵀM(q − origin)).
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        let mut weights = self.stiffness.apply(&self.modal_displacement(q));
        weights.iter_mut().zip(&self.initial_force).for_each(|(w, p)| *w += p);
        self.extended.as_ref().unwrap_or(&self.weighted).add_combination(&weights, g);
    }

    /// The energy whose gradient [`add_gradient`](Self::add_gradient) adds.
    fn energy(&self, q: &[f64]) -> f64 {
        let x = self.modal_displacement(q);
        self.energy + dot(&self.initial_force, &x) + 0.5 * dot(&x, &self.stiffness.apply(&x))
    }

    /// Adds how much the modes are damped by deformation.
    fn damp(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        let Abilities { dissipation: Some(dissipation), deformation: Some(deformation), applied, .. } =
            system.abilities()
        else {
            return;
        };
        let mut d = BlockMatrix::zeros(system.pattern().clone());
        let at_rest = vec![0.0; q.len()];
        dissipation.add_damping_matrix(t, q, &at_rest, &mut d);
        if let Some(applied) = applied {
            let mut outer = BlockMatrix::zeros(system.pattern().clone());
            applied.add_applied_damping_matrix(t, q, &at_rest, &mut outer);
            d.add_scaled(-1.0, &outer);
        }
        let mut product = vec![0.0; q.len()];
        let mut columns = [Vec::new(), Vec::new()];
        for u in self.vectors.values.chunks_exact(q.len()) {
            d.mul_vec(u, &mut product);
            columns[0].push(self.vectors.inner_products(&product));
            deformation.add_outer_forces(t, q, u, &mut product);
            columns[1].push(self.vectors.inner_products(&product));
        }
        let m = self.values.len();
        let [all, inner] =
            columns.map(|columns| SmallMatrix::from_fn(m, m, |i, j| columns[j][i]).symmetric());
        self.damping_change = self.force.times(&inner).symmetric();
        self.modal_damping = all;
        self.deflation = Mutex::default();
    }

    /// Replaces the vectors of the modes by rotated ones; the small matrices stay.
    fn set_vectors(&mut self, vectors: Columns, weighted: Columns, extended: Option<Columns>) {
        (self.vectors, self.weighted, self.extended) = (Arc::new(vectors), Arc::new(weighted), extended);
    }

    /// g ← g + MU Λ^½(S − 1)Λ^−½ Uᵀ`force`.
    fn add_force(&self, force: &[f64], g: &mut [f64]) {
        self.weighted.add_combination(&self.force.apply(&self.vectors.inner_products(force)), g);
    }
}

impl ModalCorrection for Correction {
    fn add_stiffness(&self, x: &[f64], y: &mut [f64]) {
        let measured = self.extended.as_ref().unwrap_or(&self.weighted).inner_products(x);
        self.weighted.add_combination(&self.stiffness.apply(&measured), y);
    }
    fn add_damping(&self, x: &[f64], y: &mut [f64]) {
        self.weighted.add_combination(&self.damping_change.apply(&self.weighted.inner_products(x)), y);
    }
    fn deflation(&self, stiffness: f64, damping: f64) -> Deflation {
        let mut cached = self.deflation.lock().unwrap_or_else(|e| e.into_inner());
        let coefficients = match &*cached {
            Some((factors, coefficients)) if *factors == [stiffness, damping] => coefficients.clone(),
            _ => {
                let projected: Vec<f64> = self.values.iter().map(|v| 1.0 + stiffness * v).collect();
                let projected = SmallMatrix::diagonal(&projected).combined(1.0, &self.modal_damping, damping);
                let weights = self.stiffness.combined(stiffness, &self.damping_change, damping);
                let coefficients = Arc::new(DeflationCoefficients::new(&projected, weights));
                *cached = Some(([stiffness, damping], coefficients.clone()));
                coefficients
            }
        };
        Deflation::new(self.vectors.clone(), self.weighted.clone(), coefficients)
    }
}

/// A system with the correction of its fits during a step.
pub struct Fitted<'a> {
    system: &'a dyn System,
    correction: Option<&'a Correction>,
}

impl Fitted<'_> {
    /// The correction of the energy, J.
    fn energy_correction(&self, q: &[f64]) -> f64 {
        self.correction.map_or(0.0, |correction| correction.energy(q))
    }

    /// Adds forces, and the correction of those that are not external.
    fn fit_forces(&self, forces: &[f64], outer: &[f64], f: &mut [f64]) {
        f.iter_mut().zip(forces).for_each(|(f, x)| *f += x);
        if let Some(correction) = self.correction {
            let inner: Vec<f64> = forces.iter().zip(outer).map(|(all, outer)| all - outer).collect();
            correction.add_force(&inner, f);
        }
    }
}

impl System for Fitted<'_> {
    fn space(&self) -> &ConfigurationSpace {
        self.system.space()
    }
    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        self.system.energy(t, q) + self.energy_correction(q)
    }
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.system.gradient(t, q, g);
        if let Some(correction) = self.correction {
            correction.add_gradient(q, g);
        }
    }
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.system.hessian(t, q, curvature, h);
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        let mut parts = self.system.energy_parts(t, q);
        parts.elastic += self.energy_correction(q);
        parts
    }
    fn abilities(&self) -> Abilities<'_> {
        let inner_abilities = self.system.abilities();
        Abilities {
            prescribed: inner_abilities.prescribed,
            loads: inner_abilities.loads,
            dissipation: inner_abilities.dissipation.map(|_| self as &dyn Dissipation),
            applied: inner_abilities.applied,
            friction: inner_abilities.friction,
            end_impulse: inner_abilities.end_impulse,
            constraints: inner_abilities.constraints,
            feasible_step: inner_abilities.feasible_step,
            terms: inner_abilities.terms,
            timed: inner_abilities.timed,
            // The system defines these for its energy without the correction.
            discrete_gradient: None,
            split: None,
            corotated: Err(Lacking::Corotation),
            strained: Err(Lacking::Strains),
            incompressible: inner_abilities.incompressible,
            deformation: inner_abilities.deformation,
            correction: self.correction.map(|correction| correction as &dyn ModalCorrection),
        }
    }
}

impl Dissipation for Fitted<'_> {
    fn add_forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        let Abilities { dissipation, deformation, applied, .. } = self.system.abilities();
        let (mut all, mut outer) = (vec![0.0; q.len()], vec![0.0; q.len()]);
        if let Some(dissipation) = dissipation {
            dissipation.add_forces(t, q, v, &mut all);
        }
        if let Some(deformation) = deformation {
            deformation.add_outer_forces(t, q, v, &mut outer);
        }
        if let Some(applied) = applied {
            applied.add_applied_forces(t, q, v, &mut outer);
        }
        self.fit_forces(&all, &outer, f);
    }
    fn add_mean_forces(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let Abilities { dissipation, deformation, applied, .. } = self.system.abilities();
        let (mut all, mut outer) = (vec![0.0; q0.len()], vec![0.0; q0.len()]);
        if let Some(dissipation) = dissipation {
            dissipation.add_mean_forces(t0, h, q0, q1, &mut all);
        }
        let q: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let v: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| (b - a) / h).collect();
        if let Some(deformation) = deformation {
            deformation.add_outer_forces(t0 + 0.5 * h, &q, &v, &mut outer);
        }
        if let Some(applied) = applied {
            applied.add_applied_forces(t0 + 0.5 * h, &q, &v, &mut outer);
        }
        self.fit_forces(&all, &outer, f);
    }
    fn add_damping_matrix(&self, t: f64, q: &[f64], v: &[f64], d: &mut BlockMatrix) {
        if let Some(dissipation) = self.system.abilities().dissipation {
            dissipation.add_damping_matrix(t, q, v, d);
        }
    }
    fn add_mean_damping_matrix(&self, t: f64, h: f64, between: &[f64], v: &[f64], d: &mut BlockMatrix) {
        if let Some(dissipation) = self.system.abilities().dissipation {
            dissipation.add_mean_damping_matrix(t, h, between, v, d);
        }
    }
}
