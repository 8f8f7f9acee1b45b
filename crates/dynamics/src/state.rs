use crate::System;
use crate::system::terms::TermHistory;
use serde::{Deserialize, Serialize};

/// The state of a system: time, positions, velocities and momenta.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time, s.
    pub t: f64,
    /// Positions, m.
    pub q: Vec<f64>,
    /// Velocities, m/s; M v = p for the free unknowns.
    pub v: Vec<f64>,
    /// Momenta, kg m/s.
    pub p: Vec<f64>,
    /// The history of stateful terms ([`crate::system::terms`]).
    pub terms: TermHistory,
}

impl Clone for State {
    fn clone(&self) -> Self {
        let Self { t, q, v, p, terms } = self;
        Self { t: *t, q: q.clone(), v: v.clone(), p: p.clone(), terms: terms.clone() }
    }

    /// Reuses memory, unlike the derived implementation.
    fn clone_from(&mut self, other: &Self) {
        self.t = other.t;
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
        self.p.clone_from(&other.p);
        self.terms.clone_from(&other.terms);
    }
}

impl State {
    /// The state at time 0 with the given positions and velocities; Dirichlet dofs get their prescribed values.
    pub fn new(system: &dyn System, mut q: Vec<f64>, mut v: Vec<f64>) -> Self {
        system.abilities().place_prescribed(0.0, &mut q, &mut v);
        let mut state = Self { t: 0.0, q, v, ..Self::default() };
        state.update_momenta(system);
        state
    }

    /// p ← M v.
    pub fn update_momenta(&mut self, system: &dyn System) {
        self.p.resize(self.v.len(), 0.0);
        system.mass().mul(&self.v, &mut self.p);
    }

    /// ½ pᵀv, J.
    pub fn kinetic(&self, system: &dyn System) -> f64 {
        system.mass().kinetic(&self.p, &self.v)
    }

    /// Σ p and Σ x × p about `about`, with compensated sums, so that drifts of 1e-14 are visible.
    pub fn momenta(&self, about: [f64; 3]) -> ([f64; 3], [f64; 3]) {
        let mut linear = [CompensatedSum::default(); 3];
        let mut angular = [CompensatedSum::default(); 3];
        for (x, p) in self.q.chunks_exact(3).zip(self.p.chunks_exact(3)) {
            let r = [x[0] - about[0], x[1] - about[1], x[2] - about[2]];
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                linear[k].add(p[k]);
                angular[k].add_product(r[i], p[j]);
                angular[k].add_product(-r[j], p[i]);
            }
        }
        (linear.map(|s| s.total()), angular.map(|s| s.total()))
    }
}

/// Neumaier's compensated sum \[neumaier1974\].
#[derive(Clone, Copy, Debug, Default)]
pub struct CompensatedSum {
    sum: f64,
    carry: f64,
}

impl CompensatedSum {
    /// Adds x.
    pub fn add(&mut self, x: f64) {
        let t = self.sum + x;
        self.carry += if self.sum.abs() >= x.abs() { (self.sum - t) + x } else { (x - t) + self.sum };
        self.sum = t;
    }

    /// Adds a b without rounding the product.
    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.carry += a.mul_add(b, -product);
    }

    /// The sum.
    pub fn total(&self) -> f64 {
        self.sum + self.carry
    }
}
