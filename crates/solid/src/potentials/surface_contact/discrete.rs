//! The discrete gradient of contact: exact in energy, in linear and in angular momentum.
//!
//! For each vertex with φ(s) = ½ k A (thickness − s)₊² at q₀ or q₁, with N = ∇s at the midpoint of the
//! chord, s̄ the distance there, Δ the motion from q₀ to q₁ of all nodes that take part (the vertex, and
//! the corners of the triangles nearest at q₀, at the midpoint and at q₁):
//!
//!   ḡ = Q N + μ d,   Q = [φ(s̄ + ½N·Δ) − φ(s̄ − ½N·Δ)]/(N·Δ),
//!   d = c + β (N·Δ) N,   μ = (φ(s₁) − φ(s₀) − Q N·Δ)/(d·Δ),
//!
//! c being Δ without its rigid part at the midpoint. Then ḡ·Δ = φ(s₁) − φ(s₀) by choice of μ, whatever
//! triangles s₀ and s₁ belong to. N and c, hence ḡ, have no resultant and no moment about the midpoint
//! positions, which is what q_{k+1} − q_k ∝ p_k + p_{k+1} asks for. As d·Δ = |c|² + β (N·Δ)², it
//! vanishes only in a motion that is rigid for all these nodes, and then the energy does not change.
//!
//! Q N alone is exact for a plane that does not turn; μ is of second order in the motion while the nearest
//! points move smoothly. β makes what is left to correct act along the normal: c alone would look like
//! friction. This is Gonzalez' idea [gonzalez1996] with the rigid part projected out instead of
//! invariants, as the distance is no smooth function of squared lengths where it is 0.

use super::pair::Contact;
use super::{Key, SurfaceContact, refit};
use crate::mesh::vector::{V3, add, cross, dot, norm, scale, sub};
use lilyan_solve::threads;

/// β: at 45° the correction is normal to one part in a hundred.
const NORMALITY: f64 = 100.0;

/// Motions smaller than this part of the triangle are not corrected: the correction, of third order, is
/// below its own round-off.
const RESOLVED: f64 = 1e-9;

/// A contact at the midpoint, how its energy changes, and all nodes that take part in that.
struct Change {
    middle: Contact,
    energy: f64,
    nodes: Vec<u32>,
}

impl SurfaceContact {
    pub(super) fn add_between(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) {
        let forces = self.changes(q0, q1);
        let forces = threads::par_map(forces.len().div_ceil(super::CHUNK), |i| {
            let part = &forces[i * super::CHUNK..forces.len().min((i + 1) * super::CHUNK)];
            part.iter().flat_map(|c| self.forces(c, q0, q1)).collect::<Vec<(u32, V3)>>()
        });
        for (node, f) in forces.into_iter().flatten() {
            for k in 0..3 {
                g[3 * node as usize + k] += f[k];
            }
        }
    }

    fn changes(&self, q0: &[f64], q1: &[f64]) -> Vec<Change> {
        let ends = [self.active(q0), self.active(q1)];
        let mut keys: Vec<Key> = ends.iter().flatten().map(|c| c.0).collect();
        if keys.is_empty() {
            return Vec::new();
        }
        keys.sort_unstable();
        keys.dedup();
        let q: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let mut poses: Vec<_> = self.surfaces.iter().map(|s| s.pose(&q)).collect();
        let mut needed = vec![false; poses.len()];
        for &(p, _) in &keys {
            needed[self.passes[p as usize].triangles_of] = true;
        }
        refit(&mut poses, &needed);
        let change = |key: Key| {
            let at = ends.each_ref().map(|list| {
                let found = list.binary_search_by_key(&key, |c| c.0);
                found.ok().map(|i| (self.energy_of(&list[i].1), &list[i]))
            });
            let pass = &self.passes[key.0 as usize];
            let near = self.nearest(&poses, key).unwrap_or_else(|| {
                // Out of reach half-way: the triangle of the end that feels more.
                let more = at.into_iter().flatten().reduce(|a, b| match a.0 < b.0 {
                    true => b,
                    false => a,
                });
                let triangle = more.map_or(0, |(_, c)| c.2);
                let x = poses[pass.vertices_of].x[key.1 as usize];
                poses[pass.triangles_of].look_at(x, triangle as usize)
            });
            let middle = self.contact(key, &near);
            let mut nodes = middle.nodes.to_vec();
            for (_, (_, contact, _)) in at.into_iter().flatten() {
                nodes.extend(contact.nodes);
            }
            nodes.sort_unstable();
            nodes.dedup();
            let [before, after] = at.map(|end| end.map_or(0.0, |(energy, _)| energy));
            Change { middle, energy: after - before, nodes }
        };
        keys.into_iter().map(change).collect()
    }

    /// ḡ on the nodes of one change.
    fn forces(&self, change: &Change, q0: &[f64], q1: &[f64]) -> Vec<(u32, V3)> {
        let m = &change.middle;
        let at = |q: &[f64], n: u32| [0, 1, 2].map(|k| q[3 * n as usize + k]);
        let x: Vec<V3> = (change.nodes.iter()).map(|&n| scale(add(at(q0, n), at(q1, n)), 0.5)).collect();
        let moved: Vec<V3> = (change.nodes.iter()).map(|&n| sub(at(q1, n), at(q0, n))).collect();
        let share = |n: u32| {
            let corner = m.nodes.iter().position(|&c| c == n);
            corner.map_or(0.0, |i| m.shares()[i])
        };
        let normal: Vec<V3> = (change.nodes.iter()).map(|&n| scale(m.normal, share(n))).collect();
        let along = inner(&normal, &moved);
        let slope = quotient(
            m.stiffness,
            self.thickness - (m.distance - 0.5 * along),
            self.thickness - (m.distance + 0.5 * along),
        );
        let mut force: Vec<V3> = normal.iter().map(|&n| scale(n, slope)).collect();
        let missing = change.energy - slope * along;

        let c = without_rigid(&x, &moved);
        let square = inner(&c, &c);
        let size = norm(sub(at(q1, m.nodes[2]), at(q1, m.nodes[1])));
        if square > (RESOLVED * size).powi(2) {
            let mu = missing / (square + NORMALITY * along * along);
            for (f, (c, n)) in force.iter_mut().zip(c.iter().zip(&normal)) {
                *f = add(*f, scale(add(*c, scale(*n, NORMALITY * along)), mu));
            }
        }
        change.nodes.iter().copied().zip(force).collect()
    }
}

/// (φ(s₁) − φ(s₀))/(s₁ − s₀) by depths b = thickness − s, without cancellation.
fn quotient(stiffness: f64, b0: f64, b1: f64) -> f64 {
    if b0 > 0.0 && b1 > 0.0 {
        -0.5 * stiffness * (b0 + b1)
    } else if b0 <= 0.0 && b1 <= 0.0 {
        0.0
    } else {
        -0.5 * stiffness * b0.max(b1).powi(2) / (b1 - b0).abs()
    }
}

fn inner(a: &[V3], b: &[V3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| dot(*a, *b)).sum()
}

/// The motion less the rigid velocity field at x that is nearest to it: without resultant and moment.
fn without_rigid(x: &[V3], moved: &[V3]) -> Vec<V3> {
    let mean = |v: &[V3]| scale(v.iter().fold([0.0; 3], |s, v| add(s, *v)), 1.0 / v.len() as f64);
    let (center, drift) = (mean(x), mean(moved));
    let arms: Vec<V3> = x.iter().map(|x| sub(*x, center)).collect();
    let mut rest: Vec<V3> = moved.iter().map(|v| sub(*v, drift)).collect();
    // ω from Σ (|r|² − r rᵀ) ω = Σ r × v; three columns of the matrix.
    let mut inertia = [[0.0; 3]; 3];
    let mut moment = [0.0; 3];
    for (r, v) in arms.iter().zip(&rest) {
        moment = add(moment, cross(*r, *v));
        for i in 0..3 {
            inertia[i][i] += dot(*r, *r);
            inertia[i] = sub(inertia[i], scale(*r, r[i]));
        }
    }
    let [a, b, c] = inertia;
    let det = dot(a, cross(b, c));
    let trace = a[0] + b[1] + c[2];
    // Collinear nodes turn about their line without moving; they are left as they are.
    if det > 1e-12 * trace.powi(3) {
        let turn =
            [dot(moment, cross(b, c)) / det, dot(moment, cross(c, a)) / det, dot(moment, cross(a, b)) / det];
        for (v, r) in rest.iter_mut().zip(&arms) {
            *v = sub(*v, cross(turn, *r));
        }
    }
    rest
}
