//! Contact with planes and spheres by a contact law: W = Σ φ(−d), with d the distance of a surface node to the obstacle
//! (negative inside) and φ the law of the area of the node, its share of the body's surface, so that refining the mesh does
//! not change the contact. A potential: what lands bounces back with the energy it came with.

use super::{ContactLaw, ObstacleShape};
use crate::potentials::{Potential, PotentialRole, difference_quotient};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// An obstacle and the surface nodes that meet it.
pub struct Obstacle<L> {
    /// What is in the way.
    pub shape: ObstacleShape,
    /// φ per area.
    pub law: L,
    /// Surface nodes and their areas, m².
    pub nodes: Vec<(u32, f64)>,
}

fn at(q: &[f64], node: u32) -> &[f64] {
    &q[3 * node as usize..3 * node as usize + 3]
}

impl<L: ContactLaw> Potential for Obstacle<L> {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::penalty()
    }

    fn energy(&self, q: &[f64]) -> f64 {
        let depth = |n: u32| -self.shape.distance(at(q, n)).distance;
        self.nodes.iter().map(|&(n, area)| self.law.of_area(area).obstacle_energy(depth(n))).sum()
    }

    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for &(n, area) in &self.nodes {
            let seen = self.shape.distance(at(q, n));
            if seen.distance < 0.0 {
                let push = -self.law.of_area(area).slope(-seen.distance);
                for i in 0..3 {
                    g[3 * n as usize + i] += push * seen.normal[i];
                }
            }
        }
    }

    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        for &(n, area) in &self.nodes {
            let seen = self.shape.distance(at(q, n));
            if seen.distance >= 0.0 {
                continue;
            }
            // φ″ n nᵀ − φ′ ∇²d = φ″ (n nᵀ + bend (I − n nᵀ)), negative definite in sum outside of spheres.
            let (law, depth, normal) = (self.law.of_area(area), -seen.distance, seen.normal);
            let bend = -law.slope_over_curvature(depth) / seen.radius_of_curvature;
            let bend = if curvature == Curvature::Projected { bend.max(0.0) } else { bend };
            let along = law.curvature(depth);
            let block = std::array::from_fn(|x| {
                let (i, j) = (x / 3, x % 3);
                let across = if i == j { bend } else { 0.0 };
                along * (across + (1.0 - bend) * normal[i] * normal[j])
            });
            h.add_block(n as usize, n as usize, &block);
        }
    }

    /// Along the chord: for a plane (φ(d₁) − φ(d₀))/(d₁ − d₀) n; for a sphere as a function of |r|², which
    /// keeps the angular momentum about its centre.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        for &(n, area) in &self.nodes {
            let (x0, x1) = (at(q0, n), at(q1, n));
            let (d0, d1) = (self.shape.distance(x0).distance, self.shape.distance(x1).distance);
            if d0 >= 0.0 && d1 >= 0.0 {
                continue;
            }
            let law = self.law.of_area(area);
            let out = &mut g[3 * n as usize..3 * n as usize + 3];
            match self.shape {
                ObstacleShape::Plane { normal, .. } => {
                    let slope = difference_quotient(
                        d0,
                        d1,
                        d0.abs() + d1.abs(),
                        |d| law.energy(-d),
                        |d| -law.slope(-d),
                    );
                    for i in 0..3 {
                        out[i] += slope * normal[i];
                    }
                }
                ObstacleShape::Sphere { center, radius, inside } => {
                    let sign = if inside { -1.0 } else { 1.0 };
                    let depth = |s: f64| -sign * (s.sqrt() - radius);
                    let square = |x: &[f64]| (0..3).map(|i| (x[i] - center[i]).powi(2)).sum::<f64>();
                    let slope = difference_quotient(
                        square(x0),
                        square(x1),
                        radius * radius,
                        |s| law.energy(depth(s)),
                        |s| -0.5 * sign * law.slope(depth(s)) / s.sqrt(),
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
