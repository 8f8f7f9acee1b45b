//! Coulomb friction of the barrier: implicit, with the normal loads and the tangents of the forces of the same evaluation.
//!
//! With Λ the normal force of a contact, u its slip (m/s) and τ the traction on the first of two features,
//!
//!   τ = −μ Λ f₁(|u|) u/|u|,   f₁(y) = y/ε (2 − y/ε) for y < ε, and 1 beyond.
//!
//! f₁/y is finite at 0, so that there is no kink; below the threshold a fraction r of the limit is carried by a creep of
//! ε (1 − √(1 − r)). ε is a property of the contact, in m/s, and not of the step \[li2020\].
//!
//! **Slip.** The relative velocity of the closest points is ω × d n in a rigid rotation ω of both bodies. It is no slip, and a force
//! that opposed it would have a moment. With ω of the surface that is touched, by least squares over the nodes yⱼ about their mean,
//!
//!   u = P (Σ cᵢvᵢ − ω × d n),   ω = I⁻¹ Σ wⱼ yⱼ × vⱼ,   I = Σ wⱼ (|yⱼ|² − yⱼyⱼᵀ),   P = 1 − n nᵀ,
//!
//! so that u is 0 in rigid motion. The forces are transposed: cᵢτ on the stencil, and wⱼ (I⁻¹m) × yⱼ with m = −d n × τ. They have
//! neither resultant nor moment, and their power is τ·u. The weights of triangles vanish at the end of their reach, and features that
//! inclusion–exclusion subtracts subtract their friction too: both make friction continuous where a contact slides from one triangle
//! to the next. Over a step, with the chords Δ/h and all geometry at the midpoint, this
//! holds for finite rotations as well, as the chord of a rotation is w × x̄.

use super::collision_mesh::is_fixed;
use super::scatter::{add_at, add_block};
use super::stencil::Stencil;
use crate::math::vector::{V3, add, cross, dot, norm, scale, sub};
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

/// μ and ε of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionLaw {
    /// μ.
    pub coefficient: f64,
    /// ε: the slip up to which friction grows, m/s.
    pub slip: f64,
}

impl FrictionLaw {
    /// f₁(y)/y, s/m.
    pub fn over_speed(self, speed: f64) -> f64 {
        if speed < self.slip { (2.0 - speed / self.slip) / self.slip } else { 1.0 / speed }
    }

    /// f₁′(y), s/m.
    pub fn slope(self, speed: f64) -> f64 {
        if speed < self.slip { 2.0 * (1.0 - speed / self.slip) / self.slip } else { 0.0 }
    }

    /// The force (N) that opposes a slip under a normal load (N).
    pub fn traction(self, load: f64, slip: V3) -> V3 {
        scale(slip, -self.coefficient * load * self.over_speed(norm(slip)))
    }

    /// −∂τ/∂u, N s/m, for slips normal to n.
    pub fn tangent(self, load: f64, slip: V3, normal: V3) -> [f64; 9] {
        let speed = norm(slip);
        let (across, along) = (self.over_speed(speed), self.slope(speed));
        let unit = if speed > 0.0 { scale(slip, 1.0 / speed) } else { [0.0; 3] };
        std::array::from_fn(|k| {
            let (i, j) = (k / 3, k % 3);
            let identity = if i == j { 1.0 } else { 0.0 };
            let plane = identity - normal[i] * normal[j];
            self.coefficient * load * (across * plane + (along - across) * unit[i] * unit[j])
        })
    }
}

/// The nodes whose rotation is that of the surface that is touched, with their weights.
#[derive(Clone, Debug)]
pub struct TurningNodes {
    /// Node, yⱼ (m) and weight wⱼ.
    arms: Arc<[(u32, V3, f64)]>,
    /// I⁻¹ by rows, 1/m².
    inverse: [V3; 3],
}

impl TurningNodes {
    /// The corners of a triangle.
    pub fn of_triangle(nodes: [u32; 3], x: [V3; 3]) -> Self {
        Self::of_triangles(std::iter::once((nodes, x, 1.0)))
    }

    /// The corners of triangles with weights, so that a contact that moves from one triangle to the next turns smoothly.
    pub fn of_triangles(triangles: impl Iterator<Item = ([u32; 3], [V3; 3], f64)>) -> Self {
        let mut parts: Vec<(u32, V3, f64)> = Vec::new();
        for (nodes, x, weight) in triangles {
            for (node, x) in nodes.into_iter().zip(x) {
                match parts.iter_mut().find(|part| part.0 == node) {
                    Some(part) => part.2 += weight,
                    None => parts.push((node, x, weight)),
                }
            }
        }
        Self::new(parts)
    }

    /// The ends of two edges.
    pub fn of_edges(nodes: [u32; 4], [[a, b], [c, d]]: [[V3; 2]; 2]) -> Self {
        Self::new(nodes.into_iter().zip([a, b, c, d]).map(|(node, x)| (node, x, 1.0)).collect())
    }

    /// Of nodes, their places (m) and weights.
    fn new(mut parts: Vec<(u32, V3, f64)>) -> Self {
        let most = parts.iter().fold(f64::MIN_POSITIVE, |m, part| m.max(part.2));
        parts.iter_mut().for_each(|part| part.2 /= most);
        let total: f64 = parts.iter().map(|part| part.2).sum();
        let sum = parts.iter().fold([0.0; 3], |sum, (_, x, w)| add(sum, scale(*x, *w)));
        let mean = scale(sum, 1.0 / total.max(f64::MIN_POSITIVE));
        let mut inertia = [[0.0; 3]; 3];
        for (_, x, w) in &mut parts {
            *x = sub(*x, mean);
            let (y, square) = (*x, dot(*x, *x));
            for (i, row) in inertia.iter_mut().enumerate() {
                row[i] += *w * square;
                (0..3).for_each(|j| row[j] -= *w * y[i] * y[j]);
            }
        }
        let [r, s, t] = inertia;
        let columns = [cross(s, t), cross(t, r), cross(r, s)];
        let determinant = dot(r, columns[0]);
        // Nodes on a line do not tell the rotation about it. The inertia is symmetric, and so are its cofactors.
        let over = if determinant > 0.0 { 1.0 / determinant } else { 0.0 };
        Self { arms: parts.into(), inverse: columns.map(|column| scale(column, over)) }
    }

    /// I⁻¹ b.
    fn solve(&self, b: V3) -> V3 {
        self.inverse.map(|row| dot(row, b))
    }

    /// ω, 1/s.
    fn rotation(&self, v: impl Fn(u32) -> V3) -> V3 {
        let moment =
            self.arms.iter().fold([0.0; 3], |sum, (node, y, w)| add(sum, scale(cross(*y, v(*node)), *w)));
        self.solve(moment)
    }
}

/// A contact that may slide.
#[derive(Clone, Debug)]
pub struct SlidingContact {
    /// Nodes of the stencil.
    pub nodes: [u32; 4],
    /// Closest points, where tangents are taken.
    pub stencil: Stencil,
    /// Λ, N; negative where it is subtracted from that of others, as the normal force is.
    pub load: f64,
    /// μ and ε.
    pub law: FrictionLaw,
    /// What turns with the surface.
    pub turning: TurningNodes,
}

/// The velocity of a node; 0 of what does not move.
fn velocity(v: &[f64], node: u32) -> V3 {
    if is_fixed(node) { [0.0; 3] } else { std::array::from_fn(|k| v[3 * node as usize + k]) }
}

impl SlidingContact {
    /// u, m/s.
    pub fn slip(&self, v: &[f64]) -> V3 {
        let normal = self.stencil.normal();
        let parts = self.nodes.iter().zip(self.stencil.coefficients());
        let relative = parts.fold([0.0; 3], |sum, (node, c)| add(sum, scale(velocity(v, *node), *c)));
        let turned = cross(self.turning.rotation(|node| velocity(v, node)), self.arm());
        let u = sub(relative, turned);
        sub(u, scale(normal, dot(u, normal)))
    }

    /// d n, m.
    fn arm(&self) -> V3 {
        scale(self.stencil.normal(), self.stencil.distance())
    }

    /// Adds the forces, N.
    pub fn add_force(&self, v: &[f64], f: &mut [f64]) {
        if self.load == 0.0 {
            return;
        }
        let traction = self.law.traction(self.load, self.slip(v));
        for (&node, c) in self.nodes.iter().zip(self.stencil.coefficients()) {
            add_at(node, scale(traction, *c), f);
        }
        let moment = self.turning.solve(cross(traction, self.arm()));
        for (node, y, w) in self.turning.arms.iter() {
            add_at(*node, scale(cross(moment, *y), *w), f);
        }
    }

    /// Adds −∂f/∂v, without the turning of the surface, which is small, and without loads that are subtracted, N s/m.
    pub fn add_matrix(&self, v: &[f64], d: &mut BlockMatrix) {
        if self.load <= 0.0 {
            return;
        }
        let tangent = self.law.tangent(self.load, self.slip(v), self.stencil.normal());
        let c = self.stencil.coefficients();
        for i in 0..c.len() {
            for j in 0..=i {
                add_block([self.nodes[i], self.nodes[j]], &tangent.map(|x| c[i] * c[j] * x), d);
            }
        }
    }
}
