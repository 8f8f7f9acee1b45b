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
//!   u = P (Σ cᵢvᵢ − ω × d n),   ω = I⁻¹ Σ yⱼ × vⱼ,   I = Σ |yⱼ|² − yⱼyⱼᵀ,   P = 1 − n nᵀ,
//!
//! so that u is 0 in rigid motion. The forces are transposed: cᵢτ on the stencil, and (I⁻¹m) × yⱼ with m = −d n × τ. They have
//! neither resultant nor moment, and their power is τ·u. Over a step, with the chords Δ/h and all geometry at the midpoint, this
//! holds for finite rotations as well, as the chord of a rotation is w × x̄.

use super::collision_mesh::is_fixed;
use super::scatter::{add_at, add_block};
use super::stencil::Stencil;
use crate::math::vector::{V3, add, cross, dot, norm, scale, sub};
use lilyan_solve::BlockMatrix;

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

/// The nodes whose rotation is that of the surface that is touched, and where they are, m.
#[derive(Clone, Copy, Debug)]
pub struct TurningNodes {
    nodes: [u32; 4],
    count: usize,
    x: [V3; 4],
}

impl TurningNodes {
    /// The corners of a triangle.
    pub fn of_triangle([a, b, c]: [u32; 3], [x, y, z]: [V3; 3]) -> Self {
        Self { nodes: [a, b, c, c], count: 3, x: [x, y, z, z] }
    }

    /// The ends of two edges.
    pub fn of_edges(nodes: [u32; 4], [[a, b], [c, d]]: [[V3; 2]; 2]) -> Self {
        Self { nodes, count: 4, x: [a, b, c, d] }
    }

    /// The nodes and yⱼ, m.
    fn arms(&self) -> impl Iterator<Item = (u32, V3)> + Clone + '_ {
        let x = &self.x[..self.count];
        let mean = scale(x.iter().fold([0.0; 3], |sum, x| add(sum, *x)), 1.0 / self.count as f64);
        self.nodes.iter().copied().zip(x.iter().map(move |x| sub(*x, mean)))
    }

    /// I⁻¹ b.
    fn solve(&self, b: V3) -> V3 {
        let mut inertia = [[0.0; 3]; 3];
        for (_, y) in self.arms() {
            let square = dot(y, y);
            for (i, row) in inertia.iter_mut().enumerate() {
                row[i] += square;
                (0..3).for_each(|j| row[j] -= y[i] * y[j]);
            }
        }
        let [r, s, t] = inertia;
        let columns = [cross(s, t), cross(t, r), cross(r, s)];
        let determinant = dot(r, columns[0]);
        // Nodes on a line do not tell the rotation about it.
        if determinant <= 0.0 {
            return [0.0; 3];
        }
        // The inertia is symmetric, and so are its cofactors.
        columns.map(|column| dot(column, b) / determinant)
    }

    /// ω, 1/s.
    fn rotation(&self, v: impl Fn(u32) -> V3) -> V3 {
        self.solve(self.arms().fold([0.0; 3], |sum, (node, y)| add(sum, cross(y, v(node)))))
    }
}

/// A contact that may slide.
#[derive(Clone, Copy, Debug)]
pub struct SlidingContact {
    /// Nodes of the stencil.
    pub nodes: [u32; 4],
    /// Closest points, where tangents are taken.
    pub stencil: Stencil,
    /// Λ, N; not negative.
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
        if self.load <= 0.0 {
            return;
        }
        let traction = self.law.traction(self.load, self.slip(v));
        for (&node, c) in self.nodes.iter().zip(self.stencil.coefficients()) {
            add_at(node, scale(traction, *c), f);
        }
        let moment = self.turning.solve(cross(traction, self.arm()));
        for (node, y) in self.turning.arms() {
            add_at(node, cross(moment, y), f);
        }
    }

    /// Adds −∂f/∂v, without the turning of the surface, which is small, N s/m.
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
