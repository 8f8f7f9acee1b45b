//! Attraction by a point, W = −k Σ m/|x − c| (k = GM in m³/s²; negative k repels).
//!
//! The mass m of a node is that of the material around it, not of a point. It counts as a uniform ball of the same volume, of
//! radius R. Outside of the ball the attraction is that of a point. If c is inside, it falls off linearly to 0 at the centre,
//! W = −k m (3R² − d²)/2R³ with d = |x − c| (Newton's shell theorem). Nodes of ropes, sheets and points have no volume.

use super::{Kind, Potential, PotentialRole, difference_quotient};
use lilyan_dynamics::StiffPart;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// Central attraction on nodal masses.
pub struct Monopole {
    /// k, m³/s².
    strength: f64,
    /// c, m.
    at: [f64; 3],
    /// Mass (kg) and radius R (m) of each node.
    balls: Vec<(f64, f64)>,
}

/// The attraction of one node: its arm x − c, and W as a function of s = |x − c|².
struct Arm {
    r: [f64; 3],
    s: f64,
    /// k m.
    k: f64,
    radius: f64,
}

impl Arm {
    fn energy(&self, s: f64) -> f64 {
        let radius = self.radius;
        match s >= radius * radius {
            true => -self.k / s.sqrt(),
            false => -0.5 * self.k * (3.0 * radius * radius - s) / radius.powi(3),
        }
    }

    /// dW/ds.
    fn slope(&self, s: f64) -> f64 {
        0.5 * self.k / s.sqrt().max(self.radius).powi(3)
    }
}

impl Monopole {
    /// Attraction by `at` (m) with `strength` (m³/s²) on nodes with these masses (kg) and volumes (m³).
    pub fn new(
        strength: f64,
        at: [f64; 3],
        masses: Vec<f64>,
        volumes: impl IntoIterator<Item = f64>,
    ) -> Self {
        // Corners of quadratic tets stand for a negative volume.
        let radius = |volume: f64| (0.75 * volume.abs() / std::f64::consts::PI).cbrt();
        Self { strength, at, balls: masses.into_iter().zip(volumes.into_iter().map(radius)).collect() }
    }

    fn arms<'a>(&'a self, q: &'a [f64]) -> impl Iterator<Item = Arm> + 'a {
        q.chunks_exact(3).zip(&self.balls).map(|(x, (m, radius))| {
            let r = [x[0] - self.at[0], x[1] - self.at[1], x[2] - self.at[2]];
            let s = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
            Arm { r, s, k: self.strength * m, radius: *radius }
        })
    }
}

impl Monopole {
    /// Adds ∇²W with what `kept` leaves of its eigenvalues across and along the arm.
    fn add_stiffness(&self, q: &[f64], h: &mut BlockMatrix, kept: impl Fn(f64, f64) -> [f64; 2]) {
        for (n, arm) in self.arms(q).enumerate() {
            let outside = arm.s >= arm.radius * arm.radius;
            let c = 2.0 * arm.slope(arm.s);
            let [across, along] = kept(c, if outside { -2.0 * c } else { c });
            // At c the arm has no direction.
            let square = if arm.s > 0.0 { arm.s } else { 1.0 };
            let block = std::array::from_fn(|x| {
                let (i, j) = (x / 3, x % 3);
                let diagonal = if i == j { across } else { 0.0 };
                diagonal + (along - across) * arm.r[i] * arm.r[j] / square
            });
            h.add_block(n, n, &block);
        }
    }
}

impl Potential for Monopole {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::smooth(Kind::Other)
    }
    fn energy(&self, q: &[f64]) -> f64 {
        self.arms(q).map(|arm| arm.energy(arm.s)).sum::<f64>()
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for (arm, g) in self.arms(q).zip(g.chunks_exact_mut(3)) {
            let slope = arm.slope(arm.s);
            for i in 0..3 {
                g[i] += 2.0 * slope * arm.r[i];
            }
        }
    }
    /// k m (I − 3r̂r̂ᵀ)/d³ outside: of its eigenvalues 1, 1, −2 (times k m/d³) the projection keeps the positive. Inside
    /// k m I/R³.
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        let floor = if curvature == Curvature::Projected { 0.0 } else { f64::NEG_INFINITY };
        self.add_stiffness(q, h, |across, along| [across.max(floor), along.max(floor)]);
    }
    /// The positive part along the arm. A stiffness across it would exert a torque about c.
    fn add_stiff_hessian(&self, q: &[f64], _part: StiffPart, h: &mut BlockMatrix) {
        self.add_stiffness(q, h, |_, along| [0.0, along.max(0.0)]);
    }
    /// As a function of |r|²: keeps energy and the angular momentum about c.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        for ((start, end), g) in self.arms(q0).zip(self.arms(q1)).zip(g.chunks_exact_mut(3)) {
            let scale = start.s.max(start.radius * start.radius);
            let slope = difference_quotient(start.s, end.s, scale, |s| start.energy(s), |s| start.slope(s));
            for i in 0..3 {
                g[i] += slope * (start.r[i] + end.r[i]);
            }
        }
        true
    }
}
