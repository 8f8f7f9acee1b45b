//! The barrier between surface nodes and a plane or a sphere: W = Σ A φ(g) with the distance g of a node to the obstacle, the
//! area A of the node and the law of its body. A plane cannot cut an edge between nodes that are above it. A sphere can, by
//! up to L²/8R for an edge of length L: give a triangle mesh where that matters.

use super::friction::FrictionLaw;
use super::law::BarrierLaw;
use super::potential::mean_velocity;
use super::scatter::{add_at, add_block};
use crate::contact::ObstacleShape;
use crate::potentials::{ContactFriction, DiscreteHessian, Kind, Potential, PotentialRole};
use lilyan_dynamics::system::abilities::FeasibleStep;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// The part of a gap that a motion may take.
const PART: f64 = 0.9;

/// A node that an obstacle keeps away.
#[derive(Clone, Copy, Debug)]
pub struct ObstacleNode {
    /// The node.
    pub node: u32,
    /// Its area, m².
    pub area: f64,
    /// Its law per area.
    pub law: BarrierLaw,
}

/// A plane or a sphere, and the nodes that it keeps away.
pub struct ObstacleBarrier {
    /// What is in the way.
    pub shape: ObstacleShape,
    /// Surface nodes.
    pub nodes: Vec<ObstacleNode>,
    /// Friction, if there is any.
    pub friction: Option<FrictionLaw>,
}

fn at(q: &[f64], node: u32) -> &[f64] {
    &q[3 * node as usize..3 * node as usize + 3]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl ObstacleBarrier {
    /// Nodes within reach, their gaps and normals, and the radius of curvature.
    fn near<'a>(
        &'a self,
        q: &'a [f64],
    ) -> impl Iterator<Item = (&'a ObstacleNode, crate::contact::ObstacleDistance)> {
        let seen = |node: &'a ObstacleNode| (node, self.shape.distance(at(q, node.node)));
        self.nodes.iter().map(seen).filter(|(node, seen)| seen.distance < node.law.distance)
    }

    /// The largest multiple of p that a node at x may move.
    fn max_multiple(&self, x: &[f64], p: &[f64]) -> f64 {
        let gap = self.shape.distance(x).distance;
        match self.shape {
            ObstacleShape::Plane { normal, .. } => {
                let approach = -dot(&normal, p);
                if approach > 0.0 { PART * gap.max(0.0) / approach } else { f64::INFINITY }
            }
            ObstacleShape::Sphere { center, radius, inside } => {
                let r: Vec<f64> = x.iter().zip(center).map(|(x, c)| x - c).collect();
                // |r + t p|² = (R ± 0.1 g)²: a t² + 2 b t + c = 0.
                let left = (1.0 - PART) * gap;
                let limit = if inside { radius - left } else { radius + left };
                let (a, b, c) = (dot(p, p), dot(&r, p), dot(&r, &r) - limit * limit);
                let root = (b * b - a * c).max(0.0).sqrt();
                match inside {
                    true if b > 0.0 => (-c / (b + root)).max(0.0),
                    true if a > 0.0 => ((root - b) / a).max(0.0),
                    false if b < 0.0 && b * b >= a * c => (c / (root - b)).max(0.0),
                    _ => f64::INFINITY,
                }
            }
        }
    }
}

impl FeasibleStep for ObstacleBarrier {
    fn max_step(&self, _t: [f64; 2], q: &[f64], d: &[f64]) -> f64 {
        let multiple = |node: &ObstacleNode| self.max_multiple(at(q, node.node), at(d, node.node));
        self.nodes.iter().map(multiple).fold(f64::INFINITY, f64::min)
    }
}

impl Potential for ObstacleBarrier {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole {
            kind: Kind::Other,
            is_contact: true,
            feasible_step: Some(self),
            terms: None,
            discrete_hessian: Some(self),
            friction: self.friction.is_some().then_some(self),
            intersections: Some(self),
        }
    }

    fn energy(&self, q: &[f64]) -> f64 {
        self.near(q).map(|(node, seen)| node.area * node.law.energy(seen.distance)).sum()
    }

    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for (node, seen) in self.near(q) {
            let slope = node.area * node.law.slope(seen.distance);
            let first = 3 * node.node as usize;
            g[first..first + 3].iter_mut().zip(seen.normal).for_each(|(g, n)| *g += slope * n);
        }
    }

    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        for (node, seen) in self.near(q) {
            // φ″ n nᵀ + φ′ (I − n nᵀ)/R.
            let along = node.area * node.law.curvature(seen.distance);
            let across = node.area * node.law.slope(seen.distance) / seen.radius_of_curvature;
            let across = if curvature == Curvature::Projected { across.max(0.0) } else { across };
            add_normal_block(node.node, seen.normal, along, across, h);
        }
    }

    /// Along the chord: for a plane the quotient of φ times n; for a sphere as a function of |r|², which keeps the angular
    /// momentum about its centre.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        for node in &self.nodes {
            let (x0, x1) = (at(q0, node.node), at(q1, node.node));
            let gaps = [x0, x1].map(|x| self.shape.distance(x).distance);
            if gaps.iter().any(|gap| *gap <= 0.0) {
                return false;
            }
            if gaps.iter().all(|gap| *gap >= node.law.distance) {
                continue;
            }
            let slope = node.area * node.law.quotient(gaps[0], gaps[1]);
            let direction = chord_normal(self.shape, x0, x1);
            let first = 3 * node.node as usize;
            g[first..first + 3].iter_mut().zip(direction).for_each(|(g, n)| *g += slope * n);
        }
        true
    }
}

impl DiscreteHessian for ObstacleBarrier {
    fn add_discrete_hessian(&self, q0: &[f64], q1: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        for node in &self.nodes {
            let (x0, x1) = (at(q0, node.node), at(q1, node.node));
            let gaps = [x0, x1].map(|x| self.shape.distance(x).distance);
            if gaps.iter().all(|gap| *gap >= node.law.distance) {
                continue;
            }
            let chord = chord_normal(self.shape, x0, x1);
            let length = dot(&chord, &chord).sqrt().max(f64::MIN_POSITIVE);
            let radius = self.shape.distance(x1).radius_of_curvature;
            let along = node.area * node.law.quotient_slope(gaps[0], gaps[1]) * length * length;
            let across = 0.5 * node.area * node.law.quotient(gaps[0], gaps[1]) / radius;
            let across = if curvature == Curvature::Projected { across.max(0.0) } else { across };
            add_normal_block(node.node, chord.map(|n| n / length), along, across, h);
        }
    }
}

impl ObstacleBarrier {
    /// Calls `f` with each node in contact at q, its normal and its load, N.
    fn each_load(&self, q: &[f64], mut f: impl FnMut(u32, [f64; 3], f64)) {
        for (node, seen) in self.near(q) {
            f(node.node, seen.normal, -node.area * node.law.slope(seen.distance));
        }
    }

    /// The same over a step.
    fn each_mean_load(&self, q0: &[f64], q1: &[f64], mut f: impl FnMut(u32, [f64; 3], f64)) {
        for node in &self.nodes {
            let (x0, x1) = (at(q0, node.node), at(q1, node.node));
            let gaps = [x0, x1].map(|x| self.shape.distance(x).distance);
            if gaps.iter().all(|gap| *gap >= node.law.distance) {
                continue;
            }
            let chord = chord_normal(self.shape, x0, x1);
            let length = dot(&chord, &chord).sqrt().max(f64::MIN_POSITIVE);
            let load = -node.area * node.law.quotient(gaps[0], gaps[1]) * length;
            f(node.node, chord.map(|n| n / length), load);
        }
    }
}

/// The slip of a node along an obstacle that does not move, m/s.
fn slip(v: &[f64], node: u32, normal: [f64; 3]) -> [f64; 3] {
    let v = at(v, node);
    let along = dot(v, &normal);
    std::array::from_fn(|k| v[k] - along * normal[k])
}

impl ContactFriction for ObstacleBarrier {
    fn add_friction(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        let Some(law) = self.friction else { return };
        self.each_load(q, |node, normal, load| add_at(node, law.traction(load, slip(v, node, normal)), f));
    }
    fn add_mean_friction(&self, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let Some(law) = self.friction else { return };
        let v = mean_velocity(h, q0, q1);
        self.each_mean_load(q0, q1, |node, normal, load| {
            add_at(node, law.traction(load, slip(&v, node, normal)), f);
        });
    }
    fn add_friction_matrix(&self, q: &[f64], v: &[f64], d: &mut BlockMatrix) {
        let Some(law) = self.friction else { return };
        self.each_load(q, |node, normal, load| {
            add_block([node; 2], &law.tangent(load, slip(v, node, normal), normal), d);
        });
    }
    fn add_mean_friction_matrix(&self, h: f64, q0: &[f64], q1: &[f64], d: &mut BlockMatrix) {
        let Some(law) = self.friction else { return };
        let v = mean_velocity(h, q0, q1);
        self.each_mean_load(q0, q1, |node, normal, load| {
            add_block([node; 2], &law.tangent(load, slip(&v, node, normal), normal), d);
        });
    }
}

/// The discrete gradient of the distance to an obstacle between two places.
fn chord_normal(shape: ObstacleShape, x0: &[f64], x1: &[f64]) -> [f64; 3] {
    match shape {
        ObstacleShape::Plane { normal, .. } => normal,
        ObstacleShape::Sphere { center, inside, .. } => {
            let arm = |x: &[f64]| [0, 1, 2].map(|i| x[i] - center[i]);
            let (r0, r1) = (arm(x0), arm(x1));
            // |r₁| − |r₀| = (r₀ + r₁)·(r₁ − r₀)/(|r₀| + |r₁|).
            let sum = dot(&r0, &r0).sqrt() + dot(&r1, &r1).sqrt();
            let sign = if inside { -1.0 } else { 1.0 };
            [0, 1, 2].map(|i| sign * (r0[i] + r1[i]) / sum)
        }
    }
}

/// Adds along·n nᵀ + across (I − n nᵀ) to the diagonal block of a node.
fn add_normal_block(node: u32, normal: [f64; 3], along: f64, across: f64, h: &mut BlockMatrix) {
    let block = std::array::from_fn(|k| {
        let (i, j) = (k / 3, k % 3);
        let identity = if i == j { across } else { 0.0 };
        identity + (along - across) * normal[i] * normal[j]
    });
    h.add_block(node as usize, node as usize, &block);
}
