//! A system that counts and times the calls of an integrator.

use lilyan_dynamics::system::abilities::DiscreteGradient;
use lilyan_dynamics::system::{discrete_gradient, discrete_hessian};
use lilyan_dynamics::{Abilities, ConfigurationSpace, EnergyParts, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Number and total time of calls.
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

    /// Total time, s.
    pub fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Total number of calls.
    pub fn calls(&self) -> f64 {
        self.calls.load(Ordering::Relaxed) as f64
    }
}

/// Forwards every call to another system and measures its time.
pub struct TimedSystem<'a> {
    inner: &'a dyn System,
    pub energy: Meter,
    pub gradient: Meter,
    pub hessian: Meter,
}

impl<'a> TimedSystem<'a> {
    pub fn new(inner: &'a dyn System) -> Self {
        Self { inner, energy: Meter::default(), gradient: Meter::default(), hessian: Meter::default() }
    }
}

impl System for TimedSystem<'_> {
    fn space(&self) -> &ConfigurationSpace {
        self.inner.space()
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
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        self.inner.energy_parts(t, q)
    }
    fn abilities(&self) -> Abilities<'_> {
        let inner = self.inner.abilities();
        let discrete_gradient = inner.discrete_gradient.map(|_| self as &dyn DiscreteGradient);
        Abilities { discrete_gradient, ..inner }
    }
}

impl DiscreteGradient for TimedSystem<'_> {
    fn discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.gradient.time(|| discrete_gradient(self.inner, t, q0, q1, g))
    }
    fn add_discrete_hessian(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    ) {
        self.hessian.time(|| discrete_hessian(self.inner, t, q0, q1, curvature, h));
    }
}
