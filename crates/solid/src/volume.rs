//! Volume that stays what it is, of a body or of a single tet.

use crate::math::Mat3;
use lilyan_dynamics::Constraint;

/// The volume of some tets together, held exactly.
///
/// g = (V − V₀)/V₀^⅔, a length, judged by V₀^⅓: relative to that it is the relative change of volume. Its multiplier
/// is the pressure inside times V₀^⅔.
#[derive(Clone, Debug)]
pub struct Volume {
    name: String,
    /// Corners of each tet, as places in `nodes`.
    tets: Vec<[u32; 4]>,
    /// Global nodes, ascending.
    nodes: Vec<u32>,
    volume: f64,
    until: f64,
}

impl Volume {
    /// Of tets in global nodes, kept at `volume` (m³) until a time (s).
    pub fn new(name: &str, tets: &[[u32; 4]], volume: f64, until: f64) -> Self {
        let mut nodes: Vec<u32> = tets.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |n: u32| nodes.partition_point(|m| *m < n) as u32;
        let tets = tets.iter().map(|t| t.map(place)).collect();
        Self { name: name.to_string(), tets, nodes, volume, until }
    }

    /// The volume that is kept, m³.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Area by which a multiplier (N) is divided for the pressure (Pa), m².
    pub fn area(&self) -> f64 {
        self.volume.cbrt().powi(2)
    }

    /// Edges from the first corner of a tet, as columns.
    fn edges(&self, tet: &[u32; 4], q: &[f64]) -> Mat3 {
        let x = tet.map(|n| {
            let at = 3 * self.nodes[n as usize] as usize;
            [q[at], q[at + 1], q[at + 2]]
        });
        Mat3::from_fn(|i, j| x[j + 1][i] - x[0][i])
    }

    /// Sums `of(tet)`, derivatives in the edges of that tet, over the nodes.
    fn collect(&self, mut of: impl FnMut(&[u32; 4]) -> Mat3, entry: &mut dyn FnMut(usize, [f64; 3])) {
        let mut sums = vec![[0.0; 3]; self.nodes.len()];
        for tet in &self.tets {
            let d = of(tet);
            for i in 0..3 {
                for j in 0..3 {
                    sums[tet[j + 1] as usize][i] += d[(i, j)];
                    sums[tet[0] as usize][i] -= d[(i, j)];
                }
            }
        }
        let area = self.area();
        for (n, sum) in self.nodes.iter().zip(&sums) {
            entry(*n as usize, sum.map(|x| x / area));
        }
    }
}

/// The cofactors: ∂ det D/∂D.
fn cofactor(d: &Mat3) -> Mat3 {
    Mat3::from_fn(|i, j| {
        let ([a, b], [c, e]) = ([(i + 1) % 3, (i + 2) % 3], [(j + 1) % 3, (j + 2) % 3]);
        d[(a, c)] * d[(b, e)] - d[(a, e)] * d[(b, c)]
    })
}

fn determinant(d: &Mat3) -> f64 {
    let c = cofactor(d);
    (0..3).map(|i| d[(i, 0)] * c[(i, 0)]).sum()
}

fn gram(d: &Mat3) -> Mat3 {
    Mat3::from_fn(|i, j| (0..3).map(|k| d[(k, i)] * d[(k, j)]).sum())
}

fn product(a: &Mat3, b: &Mat3) -> f64 {
    (0..9).map(|k| a[(k / 3, k % 3)] * b[(k / 3, k % 3)]).sum()
}

/// A discrete derivative of det D/6 in D between D₀ and D₁ that is ½(D₀+D₁)S with a symmetric S, so that it exerts no
/// torque: that of √det C with C = DᵀD \[gonzalez2000\].
fn discrete_derivative(d0: &Mat3, d1: &Mat3) -> Mat3 {
    let (c0, c1) = (gram(d0), gram(d1));
    let middle = Mat3::from_fn(|i, j| 0.5 * (c0[(i, j)] + c1[(i, j)]));
    let change = Mat3::from_fn(|i, j| c1[(i, j)] - c0[(i, j)]);
    let square = determinant(&middle);
    // ∂√(det C)/∂C = cof C/(2√det C)
    let scale = 0.5 / square.max(f64::MIN_POSITIVE).sqrt() / 6.0;
    let slope = cofactor(&middle);
    let v = (determinant(d1) - determinant(d0)) / 6.0;
    let size = product(&change, &change);
    let rest = v - scale * product(&slope, &change);
    // Below that the correction is round-off, and of third order in the change besides.
    let correct = if size > 1e-16 * product(&middle, &middle) { rest / size } else { 0.0 };
    let s = Mat3::from_fn(|i, j| 2.0 * (scale * slope[(i, j)] + correct * change[(i, j)]));
    let mean = Mat3::from_fn(|i, j| 0.5 * (d0[(i, j)] + d1[(i, j)]));
    Mat3::from_fn(|i, j| (0..3).map(|k| mean[(i, k)] * s[(k, j)]).sum())
}

impl Constraint for Volume {
    fn name(&self) -> &str {
        &self.name
    }
    fn value(&self, _t: f64, q: &[f64]) -> f64 {
        let volume: f64 = self.tets.iter().map(|t| determinant(&self.edges(t, q)) / 6.0).sum();
        (volume - self.volume) / self.area()
    }
    fn rate(&self, _t: f64, _q: &[f64]) -> f64 {
        0.0
    }
    fn moves(&self) -> bool {
        false
    }
    fn scale(&self) -> f64 {
        self.volume.cbrt()
    }
    fn gradient(&self, _t: f64, q: &[f64], entry: &mut dyn FnMut(usize, [f64; 3])) {
        let of = |t: &[u32; 4]| {
            let c = cofactor(&self.edges(t, q));
            Mat3::from_fn(|i, j| c[(i, j)] / 6.0)
        };
        self.collect(of, entry);
    }
    fn discrete_gradient(
        &self,
        _t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        entry: &mut dyn FnMut(usize, [f64; 3]),
    ) {
        self.collect(|t| discrete_derivative(&self.edges(t, q0), &self.edges(t, q1)), entry);
    }
    fn until(&self) -> f64 {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Q0: [f64; 12] = [0.1, 0.0, 0.2, 1.1, 0.1, 0.0, 0.0, 0.9, 0.1, 0.2, 0.1, 1.3];
    const Q1: [f64; 12] = [0.3, 0.1, 0.1, 1.2, 0.4, 0.1, 0.2, 1.1, -0.1, 0.1, 0.4, 1.2];

    fn tet() -> Volume {
        Volume::new("tet", &[[0, 1, 2, 3]], 0.2, f64::INFINITY)
    }

    #[test]
    fn the_gradient_is_that_of_the_value() {
        let volume = tet();
        let h = 1e-5;
        volume.gradient(0.0, &Q0, &mut |n, g| {
            for k in 0..3 {
                let (mut a, mut b) = (Q0, Q0);
                a[3 * n + k] += h;
                b[3 * n + k] -= h;
                let slope = (volume.value(0.0, &a) - volume.value(0.0, &b)) / (2.0 * h);
                assert!((slope - g[k]).abs() < 1e-9, "node {n} axis {k}: {slope} {}", g[k]);
            }
        });
    }

    /// ∇̄g·Δq = Δg, no force, no torque about the mean positions, and the gradient where both ends are one.
    #[test]
    fn the_discrete_gradient_does_the_work_without_force_or_torque() {
        let volume = tet();
        let (mut work, mut force, mut torque, mut sizes) = (0.0, [0.0; 3], [0.0; 3], 0.0);
        volume.discrete_gradient([0.0; 2], &Q0, &Q1, &mut |n, g| {
            let x: [f64; 3] = std::array::from_fn(|k| 0.5 * (Q0[3 * n + k] + Q1[3 * n + k]));
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                work += g[k] * (Q1[3 * n + k] - Q0[3 * n + k]);
                force[k] += g[k];
                torque[k] += x[i] * g[j] - x[j] * g[i];
                sizes += g[k].abs();
            }
        });
        assert!((work - (volume.value(0.0, &Q1) - volume.value(0.0, &Q0))).abs() < 1e-14);
        for k in 0..3 {
            assert!(
                force[k].abs() < 1e-15 * sizes && torque[k].abs() < 1e-15 * sizes,
                "{force:?} {torque:?}"
            );
        }
        let mut at = Vec::new();
        volume.gradient(0.0, &Q0, &mut |_, g| at.extend(g));
        let mut same = Vec::new();
        volume.discrete_gradient([0.0; 2], &Q0, &Q0, &mut |_, g| same.extend(g));
        assert!(at.iter().zip(&same).all(|(a, b)| (a - b).abs() < 1e-14));
    }
}
