//! The discrete gradient of contact: exact in energy, in linear and in angular momentum.
//!
//! For each vertex with φ(thickness − s) > 0, written φ(s) here, at q₀ or q₁, with N = ∇s at the midpoint of the
//! chord and Δ the motion from q₀ to q₁ of all nodes that take part (the vertex, and the corners of the
//! triangles nearest at q₀, at the midpoint and at q₁):
//!
//!   ḡ = Q N + μ d,   Q = [φ(s₁) − φ(s₀)]/(s₁ − s₀),
//!   d = ωc + β (N·Δ) N,   μ = (φ(s₁) − φ(s₀) − Q N·Δ)/(d·Δ),
//!
//! c being Δ less the rigid velocity field at the midpoint that is nearest to it, by weights ω: the mean of
//! the barycentric coordinates at q₀, the midpoint and q₁, so that nodes come and go smoothly as the
//! nearest point passes from triangle to triangle. Then ḡ·Δ = φ(s₁) − φ(s₀) by choice of μ, whatever
//! triangles s₀ and s₁ belong to. N and ωc, hence ḡ, have no resultant and no moment about the midpoint
//! positions, which is what q_{k+1} − q_k ∝ p_k + p_{k+1} asks for. As d·Δ = Σ ω|c|² + β (N·Δ)², it
//! vanishes only in a motion that is rigid for all these nodes, and then the energy does not change.
//!
//! Q N alone is exact for a plane that does not turn; μ d is of second order in the motion while the
//! nearest points move smoothly. β makes what is left to correct act along the normal: c alone would look
//! like friction. This is Gonzalez' idea \[gonzalez1996\] with the rigid part projected out instead of
//! invariants, as the distance is no smooth function of squared lengths where it is 0.

use super::{CHUNK, SurfaceContact, VertexKey, refit};
use crate::contact::ContactLaw;
use crate::contact::chord::{Chord, inner};
use crate::contact::surface::Pose;
use crate::contact::vertex::VertexContact;
use crate::math::vector::{V3, add, norm, scale, sub};
use lilyan_parallel::threads;

/// Motions smaller than this part of the triangle are not corrected: the correction, of third order, is
/// below its own round-off.
const RESOLVED: f64 = 1e-9;

/// A contact at the midpoint, the distance at both ends (`None`: out of reach), and all nodes that take
/// part with their weights ω.
struct Change {
    middle: VertexContact,
    ends: [Option<f64>; 2],
    nodes: Vec<(u32, f64)>,
}

impl<L: ContactLaw> SurfaceContact<L> {
    pub(super) fn add_between(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) {
        let middle: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let (mut first, some) = self.candidates(q0);
        let (mut last, more) = self.candidates(q1);
        let mut keys: Vec<VertexKey> = [(&first, some), (&last, more)]
            .into_iter()
            .flat_map(|(poses, keys)| self.active_of(poses, &keys))
            .map(|(key, _)| key)
            .collect();
        if keys.is_empty() {
            return;
        }
        keys.sort_unstable();
        keys.dedup();
        let mut poses: Vec<Pose<'_>> = self.surfaces.iter().map(|s| s.pose(&middle)).collect();
        let mut needed = vec![false; poses.len()];
        for &(p, _) in &keys {
            needed[self.passes[p as usize].triangles_of] = true;
        }
        for poses in [&mut first, &mut poses, &mut last] {
            refit(poses, &needed);
        }
        let chunks = threads::par_map(keys.len().div_ceil(CHUNK), |i| {
            let keys = &keys[i * CHUNK..keys.len().min((i + 1) * CHUNK)];
            let changes = keys.iter().filter_map(|&key| self.change([&first, &poses, &last], key));
            changes.flat_map(|c| self.forces(&c, q0, q1)).collect::<Vec<(u32, V3)>>()
        });
        for (node, f) in chunks.into_iter().flatten() {
            for k in 0..3 {
                g[3 * node as usize + k] += f[k];
            }
        }
    }

    /// From the poses at the first end, the midpoint and the last end.
    fn change(&self, poses: [&[Pose<'_>]; 3], key: VertexKey) -> Option<Change> {
        let pass = &self.passes[key.0 as usize];
        let [first, middle, last] = poses.map(|poses| {
            let near = self.nearest(poses, key)?;
            // Outside the box means outside, also of a surface so tangled that its signs are wrong.
            let x = poses[pass.vertices_of].x[key.1 as usize];
            let outside = !poses[pass.triangles_of].may_touch(x, self.thickness);
            (near.s >= self.thickness || !outside).then_some(near)
        });
        let near = middle.or_else(|| {
            // Out of reach half-way: the triangle of the end that feels more.
            let deeper = [first, last].into_iter().flatten();
            let deeper = deeper.reduce(|a, b| if b.s < a.s { b } else { a })?;
            let x = poses[1][pass.vertices_of].x[key.1 as usize];
            Some(poses[1][pass.triangles_of].look_at(x, deeper.triangle as usize))
        })?;
        let middle = self.contact(key, &near);
        let ends = [first, last].map(|end| end.map(|near| self.contact(key, &near)));
        let mut nodes: Vec<(u32, f64)> = Vec::new();
        for c in [ends[0], Some(middle), ends[1]].iter().flatten() {
            for (&node, w) in c.nodes.iter().zip(c.shares()) {
                // Corners that the nearest point is not on do not take part: which of two triangles an
                // edge was found in must not matter.
                if w != 0.0 {
                    match nodes.iter_mut().find(|n| n.0 == node) {
                        Some(n) => n.1 += w.abs() / 3.0,
                        None => nodes.push((node, w.abs() / 3.0)),
                    }
                }
            }
        }
        nodes.sort_unstable_by_key(|n| n.0);
        Some(Change { middle, ends: ends.map(|end| end.map(|c| c.distance)), nodes })
    }

    /// ḡ on the nodes of one change.
    fn forces(&self, change: &Change, q0: &[f64], q1: &[f64]) -> Vec<(u32, V3)> {
        let m = &change.middle;
        let at = |q: &[f64], n: u32| [0, 1, 2].map(|k| q[3 * n as usize + k]);
        let x: Vec<V3> = (change.nodes.iter()).map(|&(n, _)| scale(add(at(q0, n), at(q1, n)), 0.5)).collect();
        let moved: Vec<V3> = (change.nodes.iter()).map(|&(n, _)| sub(at(q1, n), at(q0, n))).collect();
        let share = |n: u32| {
            let corner = m.nodes.iter().position(|&c| c == n);
            corner.map_or(0.0, |i| m.shares()[i])
        };
        let normal: Vec<V3> = (change.nodes.iter()).map(|&(n, _)| scale(m.normal, share(n))).collect();
        let along = inner(&normal, &moved);
        // An end out of reach feels nothing; about how far it is only matters for the mean force.
        let away = |s: f64| self.thickness - s.max(self.thickness);
        let [b0, b1] = [(0, -0.5), (1, 0.5)].map(|(end, half)| match change.ends[end] {
            Some(s) => self.thickness - s,
            None => away(m.distance + half * along),
        });
        let law = self.law.of_area(m.area);
        let slope = -law.quotient(b0, b1);
        let mut force: Vec<V3> = normal.iter().map(|&n| scale(n, slope)).collect();
        let missing = law.energy(b1) - law.energy(b0) - slope * along;

        let weights: Vec<f64> = change.nodes.iter().map(|n| n.1).collect();
        let size = norm(sub(at(q1, m.nodes[2]), at(q1, m.nodes[1])));
        let chord = Chord { x: &x, weights: &weights, moved: &moved, normal: &normal, along };
        chord.add_missing(missing, RESOLVED * size, &mut force);
        let nodes = change.nodes.iter().map(|n| n.0);
        nodes.zip(force).collect()
    }
}
