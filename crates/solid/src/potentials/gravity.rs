//! Uniform gravity, W = −Σ m g·x.

use super::{Kind, Potential, PotentialRole};
use lilyan_parallel::threads;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// Uniform gravity on nodal masses.
pub struct Gravity {
    /// g, m/s².
    pub acceleration: [f64; 3],
    /// Mass of each node, kg.
    pub masses: Vec<f64>,
}

impl Potential for Gravity {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::smooth(Kind::Gravity)
    }
    fn energy(&self, q: &[f64]) -> f64 {
        let g = self.acceleration;
        let one = |(x, m): (&[f64], &f64)| m * (g[0] * x[0] + g[1] * x[1] + g[2] * x[2]);
        -q.chunks_exact(3).zip(&self.masses).map(one).sum::<f64>()
    }
    fn add_gradient(&self, _q: &[f64], out: &mut [f64]) {
        /// Nodes per task.
        const NODES: usize = 1 << 11;
        threads::par_chunks_mut(out, 3 * NODES, |chunk, out| {
            for (out, m) in out.as_chunks_mut::<3>().0.iter_mut().zip(&self.masses[NODES * chunk..]) {
                for k in 0..3 {
                    out[k] -= m * self.acceleration[k];
                }
            }
        });
    }
    fn add_hessian(&self, _q: &[f64], _curvature: Curvature, _h: &mut BlockMatrix) {}
    fn add_discrete_gradient(&self, q0: &[f64], _q1: &[f64], g: &mut [f64]) -> bool {
        self.add_gradient(q0, g);
        true
    }
}
