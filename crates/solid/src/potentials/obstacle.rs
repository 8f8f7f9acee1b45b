//! Contact with planes and spheres as an elastic penalty: W = ½ Σ k A (−d)₊², with d the distance of a
//! surface node to the obstacle (negative inside), A its share of the body's surface and k a stiffness
//! per area (Pa/m), so that refining the mesh does not change the contact. A potential: what lands
//! bounces back with the energy it came with.

use super::{Kind, Potential, difference_quotient};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// What is in the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The half-space below a plane.
    Plane {
        /// A point on it, m.
        point: [f64; 3],
        /// Unit normal, away from the obstacle.
        normal: [f64; 3],
    },
    /// A ball, or (inside) everything but a ball.
    Sphere {
        /// m.
        center: [f64; 3],
        /// m.
        radius: f64,
        /// The bodies are inside.
        inside: bool,
    },
}

/// An obstacle and the surface nodes that meet it.
pub struct Obstacle {
    /// What is in the way.
    pub shape: Shape,
    /// k, Pa/m.
    pub stiffness: f64,
    /// Surface nodes and their areas, m².
    pub nodes: Vec<(u32, f64)>,
}

impl Obstacle {
    /// Distance and its gradient.
    fn distance(&self, x: &[f64]) -> (f64, [f64; 3]) {
        match self.shape {
            Shape::Plane { point, normal } => {
                let d = (0..3).map(|i| (x[i] - point[i]) * normal[i]).sum();
                (d, normal)
            }
            Shape::Sphere { center, radius, inside } => {
                let r = [x[0] - center[0], x[1] - center[1], x[2] - center[2]];
                let l = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
                let sign = if inside { -1.0 } else { 1.0 };
                (sign * (l - radius), r.map(|x| sign * x / l.max(f64::MIN_POSITIVE)))
            }
        }
    }

    fn at<'a>(&self, q: &'a [f64], node: u32) -> &'a [f64] {
        &q[3 * node as usize..3 * node as usize + 3]
    }
}

impl Potential for Obstacle {
    fn kind(&self) -> Kind {
        Kind::Other
    }
    fn is_contact(&self) -> bool {
        true
    }

    fn energy(&self, q: &[f64]) -> f64 {
        let one = |&(n, area): &(u32, f64)| {
            let d = self.distance(self.at(q, n)).0.min(0.0);
            0.5 * self.stiffness * area * d * d
        };
        self.nodes.iter().map(one).sum()
    }

    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for &(n, area) in &self.nodes {
            let (d, normal) = self.distance(self.at(q, n));
            if d < 0.0 {
                for i in 0..3 {
                    g[3 * n as usize + i] += self.stiffness * area * d * normal[i];
                }
            }
        }
    }

    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        for &(n, area) in &self.nodes {
            let (d, normal) = self.distance(self.at(q, n));
            if d >= 0.0 {
                continue;
            }
            // k A (n nᵀ + d ∇²d); ∇²d = ±(I − n nᵀ)/l for spheres, negative definite in sum outside.
            let bend = match self.shape {
                Shape::Plane { .. } => 0.0,
                Shape::Sphere { radius, inside, .. } => {
                    if inside {
                        -d / (radius - d)
                    } else {
                        d / (radius + d)
                    }
                }
            };
            let bend = if curvature == Curvature::Projected { bend.max(0.0) } else { bend };
            let block = std::array::from_fn(|x| {
                let (i, j) = (x / 3, x % 3);
                let across = if i == j { bend } else { 0.0 };
                self.stiffness * area * (across + (1.0 - bend) * normal[i] * normal[j])
            });
            h.add_block(n as usize, n as usize, &block);
        }
    }

    /// Along the chord: for a plane (φ(d₁) − φ(d₀))/(d₁ − d₀) n; for a sphere as a function of |r|², which
    /// keeps the angular momentum about its centre.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        for &(n, area) in &self.nodes {
            let (x0, x1) = (self.at(q0, n), self.at(q1, n));
            let (d0, d1) = (self.distance(x0).0, self.distance(x1).0);
            if d0 >= 0.0 && d1 >= 0.0 {
                continue;
            }
            let k = self.stiffness * area;
            let out = &mut g[3 * n as usize..3 * n as usize + 3];
            match self.shape {
                Shape::Plane { normal, .. } => {
                    let slope = difference_quotient(
                        d0,
                        d1,
                        d0.abs() + d1.abs(),
                        |d| 0.5 * k * d.min(0.0).powi(2),
                        |d| k * d.min(0.0),
                    );
                    for i in 0..3 {
                        out[i] += slope * normal[i];
                    }
                }
                Shape::Sphere { center, radius, inside } => {
                    let sign = if inside { -1.0 } else { 1.0 };
                    let depth = |s: f64| (sign * (s.sqrt() - radius)).min(0.0);
                    let square = |x: &[f64]| (0..3).map(|i| (x[i] - center[i]).powi(2)).sum::<f64>();
                    let slope = difference_quotient(
                        square(x0),
                        square(x1),
                        radius * radius,
                        |s| 0.5 * k * depth(s).powi(2),
                        |s| 0.5 * k * sign * depth(s) / s.sqrt(),
                    );
                    for i in 0..3 {
                        out[i] += slope * (x0[i] + x1[i] - 2.0 * center[i]);
                    }
                }
            }
        }
        true
    }
}
