//! Springs without length from nodes to places in space, W = ½ Σ k |x − a|²: a hand that pulls.

use super::{Kind, Potential, PotentialRole};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// What pulls some nodes towards places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tether {
    /// Node, stiffness k (N/m), place a (m).
    pub ends: Vec<(u32, f64, [f64; 3])>,
}

impl Tether {
    /// x − a and k of each end.
    fn arms<'a>(&'a self, q: &'a [f64]) -> impl Iterator<Item = (usize, f64, [f64; 3])> + 'a {
        self.ends.iter().map(|&(node, k, a)| {
            let n = node as usize;
            (n, k, [0, 1, 2].map(|i| q[3 * n + i] - a[i]))
        })
    }

    /// The force that it has on everything together, N.
    pub fn force(&self, q: &[f64]) -> [f64; 3] {
        self.arms(q).fold([0.0; 3], |f, (_, k, r)| [0, 1, 2].map(|i| f[i] - k * r[i]))
    }
}

impl Potential for Tether {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::smooth(Kind::Other)
    }
    fn energy(&self, q: &[f64]) -> f64 {
        self.arms(q).map(|(_, k, r)| 0.5 * k * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])).sum()
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for (n, k, r) in self.arms(q) {
            for i in 0..3 {
                g[3 * n + i] += k * r[i];
            }
        }
    }
    fn add_hessian(&self, _q: &[f64], _curvature: Curvature, h: &mut BlockMatrix) {
        for &(n, k, _) in &self.ends {
            h.add_block(n as usize, n as usize, &[k, 0.0, 0.0, 0.0, k, 0.0, 0.0, 0.0, k]);
        }
    }
    /// The gradient in the middle, which is exact for what is quadratic.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        for ((n, k, a), (_, _, b)) in self.arms(q0).zip(self.arms(q1)) {
            for i in 0..3 {
                g[3 * n + i] += 0.5 * k * (a[i] + b[i]);
            }
        }
        true
    }
}
