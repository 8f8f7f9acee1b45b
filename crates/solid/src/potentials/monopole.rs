//! Attraction by a point, W = −k Σ m/|x − c| (k = GM in m³/s²; negative k repels).

use super::{Kind, Potential, difference_quotient};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// Central attraction on nodal masses.
pub struct Monopole {
    /// k, m³/s².
    pub strength: f64,
    /// c, m.
    pub at: [f64; 3],
    /// Mass of each node, kg.
    pub masses: Vec<f64>,
}

impl Monopole {
    fn arms<'a>(&'a self, q: &'a [f64]) -> impl Iterator<Item = ([f64; 3], f64, f64)> + 'a {
        q.chunks_exact(3).zip(&self.masses).map(|(x, m)| {
            let r = [x[0] - self.at[0], x[1] - self.at[1], x[2] - self.at[2]];
            (r, (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt(), self.strength * m)
        })
    }
}

impl Potential for Monopole {
    fn kind(&self) -> Kind {
        Kind::Other
    }
    fn energy(&self, q: &[f64]) -> f64 {
        -self.arms(q).map(|(_, d, k)| k / d).sum::<f64>()
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for ((r, d, k), g) in self.arms(q).zip(g.chunks_exact_mut(3)) {
            for i in 0..3 {
                g[i] += k * r[i] / (d * d * d);
            }
        }
    }
    /// k m (I − 3r̂r̂ᵀ)/d³: of its eigenvalues 1, 1, −2 (times k m/d³) the projection keeps the positive.
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        let projected = curvature == Curvature::Projected;
        for (n, (r, d, k)) in self.arms(q).enumerate() {
            let c = k / (d * d * d);
            let (across, along) = match projected {
                true => (c.max(0.0), (-2.0 * c).max(0.0)),
                false => (c, -2.0 * c),
            };
            let block = std::array::from_fn(|x| {
                let (i, j) = (x / 3, x % 3);
                let diagonal = if i == j { across } else { 0.0 };
                diagonal + (along - across) * r[i] * r[j] / (d * d)
            });
            h.add_block(n, n, &block);
        }
    }
    /// As a function of |r|²: keeps energy and the angular momentum about c.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        for (((r0, d0, k), (r1, d1, _)), g) in self.arms(q0).zip(self.arms(q1)).zip(g.chunks_exact_mut(3)) {
            let (a, b) = (d0 * d0, d1 * d1);
            let slope = difference_quotient(a, b, a, |s| -k / s.sqrt(), |s| 0.5 * k / s.powf(1.5));
            for i in 0..3 {
                g[i] += slope * (r0[i] + r1[i]);
            }
        }
        true
    }
}
