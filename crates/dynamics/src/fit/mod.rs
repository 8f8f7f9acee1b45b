//! EigenFit \[chen2019\], chapter 3: a coarse body whose lowest modes have the frequencies of the fine one.
//!
//! Linear elements are too stiff, the more so the larger they are. At rest the fine mesh has λᵢ where the coarse one
//! has more; rᵢ is their ratio. At every step the lowest modes of the coarse body as it is then, K U = M U Λ,
//! UᵀMU = 1, with K projected element by element, are given their share of the stiffness:
//!
//!   f‡ = f + MU(R − 1)Uᵀf,    K‡ = K + MU(R − 1)ΛUᵀM.
//!
//! f and K are those of deformation, viscosity included: a load bends the softer body further, and a mode decays as
//! fast as on the fine mesh. Gravity, contact and loads are what they are.
//!
//! * A system says which bodies are fitted, and how ([`Fit`]); the simulation follows their modes ([`Fitting`]), by
//!   block Davidson from step to step, and shows integrators the system with its correction ([`Fitted`]).
//! * A mode takes the ratios of the modes at rest that it is made of, Σⱼ (uᵢᵀMuⱼ)² rⱼ, and of its number as far as
//!   it is made of others. \[chen2019\] goes by numbers alone, which swap where modes cross.
//! * The fit of a step is accepted if at least half of the modes at rest are found again, |uᵢᵀMuⱼ| > 0.6. The shape
//!   at rest is turned with the body first. Otherwise the step is done without, and counted.
//! * Of a body that nothing holds, the rigid motions of its current shape are not among the modes: the correction
//!   has no resultant and no torque.
//! * For linear materials f‡ has the potential W + ½ Σ (r − 1)/λ (uᵀ∇W)². For others it has none; what is reported
//!   as elastic energy is then this estimate, and the energy budget closes only as far as the modes stay.

mod follow;
mod rotation;

pub use follow::{Fitting, Followed, correct_modes, modes_at_rest};

use crate::constraints::Constraint;
use crate::{EnergyParts, Mass, System};
use lilyan_solve::newton::{Curvature, dot};
use lilyan_solve::{BlockMatrix, BlockPattern, Deflation};
use std::ops::Range;
use std::sync::Arc;

/// Most modes that a fit takes: more are not seen, and cost.
pub const MOST_MODES: usize = 20;

/// How the lowest modes of a body are to be scaled.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// What it is called in messages.
    pub name: String,
    /// Its unknowns.
    pub dofs: Range<usize>,
    /// All unknowns of the system at rest, m.
    pub rest: Arc<Vec<f64>>,
    /// Ratios from time to time, in order: what is held decides them.
    pub phases: Vec<Phase>,
}

/// The ratios while the same nodes are held.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Up to this time, s.
    pub until: f64,
    /// λ(fine)/λ(coarse) of the modes at rest, lowest first, rigid motions not counted.
    pub ratios: Vec<f64>,
}

impl Fit {
    /// The ratios in a step that ends at t.
    pub fn ratios(&self, t: f64) -> &[f64] {
        // Half a nanosecond of slack, as for pins.
        self.phases.iter().find(|p| t <= p.until + 5e-10).map_or(&[], |p| &p.ratios)
    }
}

/// What a fit adds to forces and matrices; see the module.
#[derive(Clone, Debug, Default)]
pub struct Correction {
    /// U and MU, column by column; 0 where held.
    vectors: Vec<f64>,
    weighed: Vec<f64>,
    /// r − 1.
    scales: Vec<f64>,
    /// λ, 1/s².
    values: Vec<f64>,
    /// (r − 1) uᵀDu, 1/s.
    damping: Vec<f64>,
    n: usize,
}

impl Correction {
    fn stiffness(&self) -> impl Iterator<Item = f64> {
        self.scales.iter().zip(&self.values).map(|(s, v)| s * v)
    }

    fn add(&self, weights: impl Iterator<Item = f64>, x: &[f64], y: &mut [f64]) {
        for (s, w) in self.weighed.chunks_exact(self.n).zip(weights) {
            let along = w * dot(s, x);
            y.iter_mut().zip(s).for_each(|(y, s)| *y += along * s);
        }
    }

    /// y ← y + (K‡ − K) x.
    pub fn add_stiffness(&self, x: &[f64], y: &mut [f64]) {
        self.add(self.stiffness(), x, y);
    }

    /// y ← y + (D‡ − D) x.
    pub fn add_damping(&self, x: &[f64], y: &mut [f64]) {
        self.add(self.damping.iter().copied(), x, y);
    }

    /// For a matrix A that has `stiffness`·K and `damping`·D in it.
    pub fn deflation(&self, a: &BlockMatrix, stiffness: f64, damping: f64) -> Deflation {
        let weights = self.stiffness().zip(&self.damping).map(|(k, d)| stiffness * k + damping * d);
        Deflation::new(a, &self.vectors, &self.weighed, weights.collect())
    }

    /// g ← g + MU(R − 1)Uᵀ`force`.
    fn add_force(&self, force: &[f64], g: &mut [f64]) {
        let along = self.vectors.chunks_exact(self.n).map(|u| dot(u, force));
        let along: Vec<f64> = along.zip(&self.scales).map(|(c, s)| c * s).collect();
        for (s, c) in self.weighed.chunks_exact(self.n).zip(along) {
            g.iter_mut().zip(s).for_each(|(g, s)| *g += c * s);
        }
    }

    /// ½ Σ (r − 1)/λ (uᵀ`gradient`)².
    fn energy(&self, gradient: &[f64]) -> f64 {
        let modes = self.vectors.chunks_exact(self.n).zip(self.scales.iter().zip(&self.values));
        let scaled = modes.filter(|(_, (s, _))| **s != 0.0);
        scaled.map(|(u, (s, value))| 0.5 * s / value * dot(u, gradient).powi(2)).sum()
    }
}

/// A system as its fit shows it during a step.
pub struct Fitted<'a> {
    system: &'a dyn System,
    correction: Option<&'a Correction>,
}

impl Fitted<'_> {
    /// ∇W of deformation.
    fn inner_gradient(&self, t: f64, q: &[f64], gradient: &[f64]) -> Vec<f64> {
        let mut inner = vec![0.0; q.len()];
        self.system.outer_gradient(t, q, &mut inner);
        inner.iter_mut().zip(gradient).for_each(|(i, g)| *i = g - *i);
        inner
    }

    fn excess(&self, t: f64, q: &[f64]) -> f64 {
        let Some(correction) = self.correction else { return 0.0 };
        let mut g = vec![0.0; q.len()];
        self.system.gradient(t, q, &mut g);
        correction.energy(&self.inner_gradient(t, q, &g))
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
        let energy = self.system.energy(t, q);
        if energy.is_finite() { energy + self.excess(t, q) } else { energy }
    }
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.system.gradient(t, q, g);
        if let Some(correction) = self.correction {
            let inner = self.inner_gradient(t, q, g);
            correction.add_force(&inner, g);
        }
    }
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        let projected = self.correction.is_some();
        self.system.hessian(t, q, if projected { Curvature::Projected } else { curvature }, h);
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
    fn outer_gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.system.outer_gradient(t, q, g);
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
        if parts.elastic.is_finite() {
            parts.elastic += self.excess(t, q);
        }
        parts
    }
}
