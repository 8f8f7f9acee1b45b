//! EigenFit \[chen2019\], chapter 3, and beyond: a coarse body whose lowest modes are those of the fine one.
//!
//! Linear elements are too stiff, the more so the larger they are. At every step the lowest modes of the coarse body as
//! it is then, K U = M U Λ, UᵀMU = 1, with K projected element by element, are given another stiffness:
//!
//!   K‡ = K + MU Λ^½(S − 1)Λ^½ UᵀM,    f‡ = f + MU Λ^½(S − 1)Λ^−½ Uᵀf.
//!
//! With S = diag(λᵢ(fine)/λᵢ(coarse)) this is EigenFit: frequencies are those of the fine mesh. Shapes are not, and with
//! them how far a load bends the body and which part of it swings how fast. Here S may be any symmetric matrix, and
//! where the modes of the fine body are known ([`Target::Modes`]) it is the one that has them at rest: A are the fine modes in
//! terms of the coarse ones, made orthonormal, and Λ^½SΛ^½ = AΛ(fine)Aᵀ + (1 − AAᵀ)Λ(1 − AAᵀ).
//!
//! f and K are those of deformation, viscosity included: a load bends the softer body further, and a mode decays as
//! fast as on the fine mesh. Gravity, contact and loads are what they are.
//!
//! * A system says which bodies are fitted, and how ([`Fit`]); the simulation follows their modes ([`Fitting`]) and shows
//!   integrators the system with its correction ([`Fitted`]). Of linear materials the modes never change. Of others they
//!   turn with the body, node by node, and are improved by block Davidson where lengths have changed by a fiftieth.
//! * During a step U, Λ and S are those of its beginning q₀, and so is what they see of the force: in the correction Uᵀ∇W(q) is
//!   Uᵀ∇W(q₀) + ΛUᵀM(q − q₀). So it costs next to nothing and has a potential: a fitted step is a minimum as any other.
//! * S goes with the modes: Q S Qᵀ, where Q are the modes at rest in terms of those of the deformed body, UᵀMU(rest), made
//!   orthonormal as far as they are found again. \[chen2019\] goes by numbers, which swap where modes cross.
//!   Before that the modes at rest are turned, at each node as the body has turned there: a bar that bends far keeps them.
//! * The fit of a step is accepted if at least half of the modes at rest are found again, |uᵢᵀMuⱼ| > 0.6, and if lengths
//!   have not changed by more than a quarter on average. Otherwise the step is done without, and counted. (\[chen2019\] asks
//!   for shapes alone. A bar drawn to a quarter of its length still bends like a bar, but how much too stiff its
//!   mesh was at rest says nothing any more.)
//! * Of a body that nothing holds, the rigid motions of its current shape are not among the modes: the correction
//!   has no resultant and no torque.
//! * For linear materials f‡ has the potential W + ½ gᵀU Λ^−½(S − 1)Λ^−½ Uᵀg, g = ∇W, at all times. For others it has
//!   one within each step alone; what is reported as elastic energy is then an estimate, and the energy budget closes only
//!   as far as the modes stay.

mod corrected;
mod follow;
mod improve;
mod pencil;
mod rest;
mod rotation;

pub use corrected::correct_modes;
pub use follow::{Fitting, Followed};
pub use rest::modes_at_rest;

use crate::constraints::Constraint;
use crate::{EnergyParts, Mass, System};
use lilyan_solve::deflate::{Columns, Deflation, Steps};
use lilyan_solve::newton::{Curvature, dot};
use lilyan_solve::{BlockMatrix, BlockPattern, Small};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Most modes that a fit takes: more are not seen, and cost.
pub const MOST_MODES: usize = 20;

/// What the lowest modes of a body are to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// What it is called in messages.
    pub name: String,
    /// Its unknowns.
    pub dofs: Range<usize>,
    /// All unknowns of the system at rest, m.
    pub rest: Arc<Vec<f64>>,
    /// What they are to be from time to time, in order: what is held decides it.
    pub phases: Vec<Phase>,
}

/// A target while the same nodes are held.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Up to this time, s.
    pub until: f64,
    /// What the modes are to be.
    pub target: Target,
}

/// What modes at rest are to be, lowest first, rigid motions not counted.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// As they are, with λ times this.
    Ratios(Vec<f64>),
    /// Those of the fine body.
    Modes {
        /// λ, 1/s².
        values: Vec<f64>,
        /// Displacements of the unknowns of the coarse body, mode by mode, of any length.
        shapes: Arc<Vec<f64>>,
        /// How many modes of the coarse body they are made from.
        from: usize,
    },
}

impl Target {
    /// How many modes of the coarse body change.
    pub fn count(&self) -> usize {
        match self {
            Self::Ratios(ratios) => ratios.len(),
            Self::Modes { from, .. } => *from,
        }
    }
}

impl Fit {
    /// Number of the phase that a step which ends at t is in.
    pub fn phase(&self, t: f64) -> Option<usize> {
        // Half a nanosecond of slack, as for pins.
        self.phases.iter().position(|p| t <= p.until + 5e-10)
    }
}

/// What a fit adds to forces and matrices during a step; see the module.
#[derive(Debug, Default)]
pub struct Correction {
    /// U and MU, column by column; 0 where held.
    vectors: Arc<Columns>,
    weighed: Arc<Columns>,
    /// MU, and KUΛ⁻¹ where held, if what is held moves.
    reaching: Option<Columns>,
    /// Λ^½(S − 1)Λ^½, 1/s².
    stiffness: Small,
    /// Λ^½(S − 1)Λ^−½.
    force: Small,
    /// Λ^−½(S − 1)Λ^−½, s².
    compliance: Small,
    /// λ, 1/s².
    values: Vec<f64>,
    /// UᵀDU and what is added to it, 1/s.
    damped: Small,
    damping: Small,
    /// Where the step begins, m.
    origin: Vec<f64>,
    /// Λ^½(S − 1)Λ^−½Uᵀ∇W there.
    pull: Vec<f64>,
    /// Energy there, J.
    energy: f64,
    /// For which K and D the last deflation was, and it, as far as it does not depend on U.
    deflated: Mutex<Option<([f64; 2], Arc<Steps>)>>,
}

impl Correction {
    /// For modes, of which S − 1 is the change and λ^½ the roots; 0 for modes without stiffness, which have none to change.
    fn new(change: &Small, roots: &[f64]) -> Self {
        let inverse: Vec<f64> = roots.iter().map(|r| if *r > 0.0 { 1.0 / r } else { 0.0 }).collect();
        let nothing = Small::diagonal(&vec![0.0; roots.len()]);
        Self {
            stiffness: change.scaled(roots, roots),
            force: change.scaled(roots, &inverse),
            compliance: change.scaled(&inverse, &inverse),
            values: roots.iter().map(|r| r * r).collect(),
            damped: nothing.clone(),
            damping: nothing,
            ..Self::default()
        }
    }

    /// Begins a step at q.
    fn begin(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        let mut gradient = vec![0.0; q.len()];
        system.inner_gradient(t, q, &mut gradient);
        let along = self.vectors.along(&gradient);
        self.origin.clear();
        self.origin.extend_from_slice(q);
        self.pull = self.force.apply(&along);
        self.energy = 0.5 * dot(&along, &self.compliance.apply(&along));
    }

    /// What was moved since the step began, along MU.
    fn moved(&self, q: &[f64]) -> Vec<f64> {
        let moved: Vec<f64> = q.iter().zip(&self.origin).map(|(q, origin)| q - origin).collect();
        self.reaching.as_ref().unwrap_or(&self.weighed).along(&moved)
    }

    /// g ← g + MU(pull + Λ^½(S − 1)Λ^½UᵀM(q − origin)).
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        let mut weights = self.stiffness.apply(&self.moved(q));
        weights.iter_mut().zip(&self.pull).for_each(|(w, p)| *w += p);
        self.reaching.as_ref().unwrap_or(&self.weighed).add(&weights, g);
    }

    /// The energy whose gradient that is.
    fn energy(&self, q: &[f64]) -> f64 {
        let moved = self.moved(q);
        self.energy + dot(&self.pull, &moved) + 0.5 * dot(&moved, &self.stiffness.apply(&moved))
    }

    /// y ← y + (K‡ − K) x.
    pub fn add_stiffness(&self, x: &[f64], y: &mut [f64]) {
        self.weighed.add(&self.stiffness.apply(&self.weighed.along(x)), y);
    }

    /// y ← y + (D‡ − D) x.
    pub fn add_damping(&self, x: &[f64], y: &mut [f64]) {
        self.weighed.add(&self.damping.apply(&self.weighed.along(x)), y);
    }

    /// For a matrix M + `stiffness`·K + `damping`·D.
    pub fn deflation(&self, stiffness: f64, damping: f64) -> Deflation {
        let mut known = self.deflated.lock().unwrap_or_else(|e| e.into_inner());
        let steps = match &*known {
            Some((of, steps)) if *of == [stiffness, damping] => steps.clone(),
            _ => {
                let along: Vec<f64> = self.values.iter().map(|v| 1.0 + stiffness * v).collect();
                let along = Small::diagonal(&along).combined(1.0, &self.damped, damping);
                let weights = self.stiffness.combined(stiffness, &self.damping, damping);
                let steps = Arc::new(Steps::new(&along, weights));
                *known = Some(([stiffness, damping], steps.clone()));
                steps
            }
        };
        Deflation::new(self.vectors.clone(), self.weighed.clone(), steps)
    }

    /// Turns the modes: they have other vectors and nothing else.
    fn turn(&mut self, vectors: Columns, weighed: Columns, reaching: Option<Columns>) {
        (self.vectors, self.weighed, self.reaching) = (Arc::new(vectors), Arc::new(weighed), reaching);
    }

    /// g ← g + MU Λ^½(S − 1)Λ^−½ Uᵀ`force`.
    fn add_force(&self, force: &[f64], g: &mut [f64]) {
        self.weighed.add(&self.force.apply(&self.vectors.along(force)), g);
    }
}

/// A system as its fit shows it during a step.
pub struct Fitted<'a> {
    system: &'a dyn System,
    correction: Option<&'a Correction>,
}

impl Fitted<'_> {
    fn excess(&self, q: &[f64]) -> f64 {
        self.correction.map_or(0.0, |correction| correction.energy(q))
    }

    /// Adds forces and, of those that do not come from outside, the share of the fit.
    fn fit_forces(&self, forces: &[f64], outer: &[f64], f: &mut [f64]) {
        f.iter_mut().zip(forces).for_each(|(f, x)| *f += x);
        if let Some(correction) = self.correction {
            let inner: Vec<f64> = forces.iter().zip(outer).map(|(all, outer)| all - outer).collect();
            correction.add_force(&inner, f);
        }
    }
}

impl System for Fitted<'_> {
    fn dofs(&self) -> usize {
        self.system.dofs()
    }
    fn pattern(&self) -> &Arc<BlockPattern> {
        self.system.pattern()
    }
    fn mass(&self) -> &Mass {
        self.system.mass()
    }
    fn length(&self) -> f64 {
        self.system.length()
    }
    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        self.system.energy(t, q) + self.excess(q)
    }
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.system.gradient(t, q, g);
        if let Some(correction) = self.correction {
            correction.add_gradient(q, g);
        }
    }
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        // Modes are those of the projected K: with it K‡ is positive where the step begins.
        let begins = self.correction.is_some_and(|correction| correction.origin == q);
        self.system.hessian(t, q, if begins { Curvature::Projected } else { curvature }, h);
    }
    fn load(&self, t: f64, f: &mut [f64]) {
        self.system.load(t, f);
    }
    fn has_load(&self) -> bool {
        self.system.has_load()
    }
    fn has_forces(&self) -> bool {
        self.system.has_forces()
    }
    fn forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        let (mut all, mut outer) = (vec![0.0; q.len()], vec![0.0; q.len()]);
        self.system.forces(t, q, v, &mut all);
        self.system.outer_forces(t, q, v, &mut outer);
        self.fit_forces(&all, &outer, f);
    }
    fn forces_between(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let (mut all, mut outer) = (vec![0.0; q0.len()], vec![0.0; q0.len()]);
        self.system.forces_between(t0, h, q0, q1, &mut all);
        let q: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let v: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| (b - a) / h).collect();
        self.system.outer_forces(t0 + 0.5 * h, &q, &v, &mut outer);
        self.fit_forces(&all, &outer, f);
    }
    fn damping(&self, t: f64, q: &[f64], d: &mut BlockMatrix) {
        self.system.damping(t, q, d);
    }
    fn has_impulse(&self) -> bool {
        self.system.has_impulse()
    }
    fn impulse(&self, h: f64, q0: &[f64], q1: &[f64], j: &mut [f64]) {
        self.system.impulse(h, q0, q1, j);
    }
    fn held(&self, t: f64, mask: &mut [bool]) {
        self.system.held(t, mask);
    }
    fn place_held(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.system.place_held(t, q, v);
    }
    fn held_moves(&self) -> bool {
        self.system.held_moves()
    }
    fn constraints(&self) -> &[Box<dyn Constraint>] {
        self.system.constraints()
    }
    fn in_force(&self, t: f64) -> Vec<usize> {
        self.system.in_force(t)
    }
    fn max_step(&self, q: &[f64], d: &[f64]) -> f64 {
        self.system.max_step(q, d)
    }
    fn inner_gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.system.inner_gradient(t, q, g);
    }
    fn inner_hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.system.inner_hessian(t, q, curvature, h);
    }
    fn has_constant_stiffness(&self, dofs: &Range<usize>) -> bool {
        self.system.has_constant_stiffness(dofs)
    }
    fn outer_forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.system.outer_forces(t, q, v, f);
    }
    fn fits(&self) -> &[Fit] {
        self.system.fits()
    }
    fn correction(&self) -> Option<&Correction> {
        self.correction
    }
    fn incompressible(&self) -> bool {
        self.system.incompressible()
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        let mut parts = self.system.energy_parts(t, q);
        parts.elastic += self.excess(q);
        parts
    }
}
