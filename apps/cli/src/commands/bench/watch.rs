//! A system that counts and times what an integrator asks of it.

use lilyan_dynamics::{EnergyParts, Mass, System};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Calls and the time they took.
#[derive(Default)]
pub struct Meter {
    nanoseconds: AtomicU64,
    calls: AtomicU64,
}

impl Meter {
    fn time<T>(&self, f: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let out = f();
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        out
    }

    /// Seconds in all.
    pub fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Calls in all.
    pub fn calls(&self) -> f64 {
        self.calls.load(Ordering::Relaxed) as f64
    }
}

/// Passes everything on to the system it watches.
pub struct Watch<'a> {
    inner: &'a dyn System,
    pub energy: Meter,
    pub gradient: Meter,
    pub hessian: Meter,
}

impl<'a> Watch<'a> {
    pub fn new(inner: &'a dyn System) -> Self {
        Self { inner, energy: Meter::default(), gradient: Meter::default(), hessian: Meter::default() }
    }
}

impl System for Watch<'_> {
    fn dofs(&self) -> usize {
        self.inner.dofs()
    }
    fn pattern(&self) -> &Arc<BlockPattern> {
        self.inner.pattern()
    }
    fn mass(&self) -> &Mass {
        self.inner.mass()
    }
    fn length(&self) -> f64 {
        self.inner.length()
    }
    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        self.energy.time(|| self.inner.energy(t, q))
    }
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.gradient.time(|| self.inner.gradient(t, q, g));
    }
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.hessian.time(|| self.inner.hessian(t, q, curvature, h));
    }
    fn discrete_gradient(&self, t: f64, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.gradient.time(|| self.inner.discrete_gradient(t, q0, q1, g))
    }
    fn load(&self, t: f64, f: &mut [f64]) {
        self.inner.load(t, f);
    }
    fn has_load(&self) -> bool {
        self.inner.has_load()
    }
    fn has_forces(&self) -> bool {
        self.inner.has_forces()
    }
    fn forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.inner.forces(t, q, v, f);
    }
    fn forces_between(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        self.inner.forces_between(t0, h, q0, q1, f);
    }
    fn damping(&self, t: f64, q: &[f64], d: &mut BlockMatrix) {
        self.inner.damping(t, q, d);
    }
    fn has_impulse(&self) -> bool {
        self.inner.has_impulse()
    }
    fn impulse(&self, h: f64, q0: &[f64], q1: &[f64], j: &mut [f64]) {
        self.inner.impulse(h, q0, q1, j);
    }
    fn held(&self, t: f64, mask: &mut [bool]) {
        self.inner.held(t, mask);
    }
    fn place_held(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.inner.place_held(t, q, v);
    }
    fn held_moves(&self) -> bool {
        self.inner.held_moves()
    }
    fn max_step(&self, q: &[f64], d: &[f64]) -> f64 {
        self.inner.max_step(q, d)
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        self.inner.energy_parts(t, q)
    }
}
