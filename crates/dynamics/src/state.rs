use crate::System;

/// Where a system is and how it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Time, s.
    pub t: f64,
    /// Positions, m.
    pub q: Vec<f64>,
    /// Velocities, m/s; M v = p for the free unknowns.
    pub v: Vec<f64>,
    /// Momenta, kg m/s.
    pub p: Vec<f64>,
}

impl State {
    /// At time 0 with the given positions and velocities; held unknowns are put in their place.
    pub fn new(system: &dyn System, mut q: Vec<f64>, mut v: Vec<f64>) -> Self {
        system.place_held(0.0, &mut q, &mut v);
        let mut p = vec![0.0; v.len()];
        system.mass().mul(&v, &mut p);
        Self { t: 0.0, q, v, p }
    }

    /// ½ pᵀv, J.
    pub fn kinetic(&self, system: &dyn System) -> f64 {
        system.mass().kinetic(&self.p, &self.v)
    }

    /// Σ p and Σ x × p about `about`, with compensated sums: drifts of 1e-14 are to be seen.
    pub fn momenta(&self, about: [f64; 3]) -> ([f64; 3], [f64; 3]) {
        let mut linear = [Sum::default(); 3];
        let mut angular = [Sum::default(); 3];
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
pub struct Sum {
    sum: f64,
    carry: f64,
}

impl Sum {
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
