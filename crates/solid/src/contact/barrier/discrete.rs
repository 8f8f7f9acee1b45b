//! The discrete gradient of the barrier: exact in energy, in linear and in angular momentum, through impacts at any step.
//!
//! For each vertex and simplex within d̂ at q₀ or q₁, with gaps g₀ and g₁ and N = ∇d at the midpoint of the chord:
//!
//!   ḡ = Q (N + correction),   Q = w (φ(g₁) − φ(g₀))/(g₁ − g₀),
//!
//! where the correction ([`Chord`]) does the work of (g₁ − g₀) − N·Δ. Simplices whose closest features are the same at q₀, at
//! the midpoint and at q₁ are added up by their counts as in `features`; the others are evaluated one by one.
//!
//! In a large turn the midpoint may lie on the other side of the surface. N then points against the normals at both ends and is
//! turned around: it stays parallel to the vector between the closest points, so that it has no moment.
//!
//! For edges that are nearly parallel φ is m φ, with the product rule of differences and the discrete gradient of m.

use super::contacts::{add_at, add_block};
use super::features::{Posed, SimplexId, counted_simplices, merged, nodes};
use super::law::BarrierLaw;
use super::mollifier::Mollifier;
use super::search::{Candidates, VertexCandidate};
use super::stencil::{Stencil, closest_parts_of_edges, point_triangle_distance};
use super::surface_barrier::{Poses, SurfaceBarrier};
use crate::contact::chord::{Chord, inner};
use crate::math::vector::{V3, add, dot, norm, scale, sub};
use crate::potentials::DiscreteHessian;
use lilyan_parallel::threads;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::Arc;

/// Motions smaller than this part of the stencil are not corrected: the correction, of third order, is below its own
/// round-off.
const RESOLVED: f64 = 1e-10;
/// Groups of candidates per task.
const CHUNK: usize = 64;

/// A change of a distance between q₀ and q₁.
struct DistanceChange {
    middle: Stencil,
    /// Nodes of the stencil at the midpoint.
    nodes: [u32; 4],
    /// ±1: the sign of N along the vector between the closest points.
    sign: f64,
    /// m.
    gaps: [f64; 2],
    /// The nodes that take part: weight, midpoint and motion.
    parts: Vec<(u32, f64, V3, V3)>,
    /// m².
    weight: f64,
    law: BarrierLaw,
    /// The mollifier at both ends and the nodes of both edges.
    mollifiers: Option<([Mollifier; 2], [u32; 4])>,
}

/// A stencil at q₀, at the midpoint and at q₁, with its nodes and their places at q₀ and at q₁.
type Stage = (Stencil, [u32; 4], [[V3; 2]; 4]);

impl SurfaceBarrier {
    /// Adds the discrete gradient; `false` where it is infeasible.
    pub(super) fn add_between(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let changes = self.changes(q0, q1);
        let possible = |c: &DistanceChange| c.middle.distance() > 0.0 && c.gaps.iter().all(|gap| *gap > 0.0);
        if !changes.iter().all(possible) {
            return false;
        }
        changes.iter().for_each(|change| change.add_force(g));
        true
    }

    /// All changes of distances, in a fixed order.
    fn changes(&self, q0: &[f64], q1: &[f64]) -> Vec<DistanceChange> {
        let ends = [self.candidates(q0), self.candidates(q1)];
        let candidates = if Arc::ptr_eq(&ends[0], &ends[1]) || ends[0] == ends[1] {
            ends[0].clone()
        } else {
            Arc::new(ends[0].union(&ends[1]))
        };
        let Candidates { vertices, edges } = &*candidates;
        if vertices.is_empty() && edges.is_empty() {
            return Vec::new();
        }
        let middle: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let poses = [q0, &middle, q1].map(|q| self.poses(q));
        let groups = candidates.by_vertex();
        let of_vertices = threads::par_map(groups.len().div_ceil(CHUNK), |chunk| {
            let mut out = Vec::new();
            for group in &groups[chunk * CHUNK..groups.len().min((chunk + 1) * CHUNK)] {
                self.vertex_changes(&poses, &vertices[group.clone()], &mut out);
            }
            out
        });
        let of_edges = threads::par_map(edges.len().div_ceil(CHUNK), |chunk| {
            let own = &edges[chunk * CHUNK..edges.len().min((chunk + 1) * CHUNK)];
            own.iter().filter_map(|&edges| self.edge_change(&poses, edges)).collect::<Vec<_>>()
        });
        of_vertices.into_iter().chain(of_edges).flatten().collect()
    }

    fn vertex_changes(&self, poses: &[Poses; 3], group: &[VertexCandidate], out: &mut Vec<DistanceChange>) {
        let Some(first) = group.first() else { return };
        let owner = self.owner(first);
        let p = [0, 1, 2].map(|k| poses[k][owner.surfaces[0]][first.vertex as usize]);
        let posed = [0, 1, 2].map(|k| Posed { mesh: owner.other, x: &poses[k][owner.surfaces[1]] });
        let within = |k: usize, c: &VertexCandidate| {
            let corners = owner.other.triangles[c.triangle as usize].map(|v| posed[k].x[v as usize]);
            point_triangle_distance(p[k], corners) < owner.law.distance
        };
        let near: Vec<VertexCandidate> =
            group.iter().filter(|c| within(0, c) || within(2, c)).copied().collect();
        if near.is_empty() {
            return;
        }
        let simplices = counted_simplices(owner.other, &near, owner.own);
        let closest = |simplex: SimplexId| [0, 1, 2].map(|k| posed[k].closest(p[k], simplex));
        let features = simplices.into_iter().map(|(simplex, count)| (closest(simplex), count));
        for (features, count) in merged(features.collect()) {
            let stage = |k: usize| -> Stage {
                let stencil = posed[k].stencil(p[k], features[k]);
                let mut places = [[p[0], p[2]]; 4];
                for (place, &v) in places[1..].iter_mut().zip(owner.other.corners(&features[k])) {
                    *place = [0, 2].map(|k| posed[k].x[v as usize]);
                }
                (stencil, nodes(owner.node, owner.other, features[k]), places)
            };
            let stages = [stage(0), stage(1), stage(2)];
            let gaps = [0, 2].map(|k| stages[k].0.distance());
            if gaps.iter().all(|gap| *gap >= owner.law.distance) {
                continue;
            }
            let weight = f64::from(count) * owner.weight;
            out.push(DistanceChange::new(stages, weight, owner.law, None));
        }
    }

    fn edge_change(&self, poses: &[Poses; 3], candidate: [u32; 3]) -> Option<DistanceChange> {
        let pair = self.edges(candidate);
        let x = [0, 1, 2].map(|k| pair.positions(&poses[k]));
        let parts = x.map(|[first, second]| closest_parts_of_edges(first, second));
        let stencils = [0, 1, 2].map(|k| pair.stencil(parts[k], x[k]));
        if [0, 2].iter().all(|&k| stencils[k].0.distance() >= pair.law.distance) {
            return None;
        }
        let mollifiers = [0, 2].map(|k| pair.mollifier(x[k]));
        let values = mollifiers.map(|m| m.value());
        if values == [0.0; 2] {
            return None;
        }
        let flat = |x: [[V3; 2]; 2]| [x[0][0], x[0][1], x[1][0], x[1][1]];
        let (first, last) = (flat(x[0]), flat(x[2]));
        let place = |node: u32| {
            let i = pair.nodes.iter().position(|n| *n == node).unwrap_or(0);
            [first[i], last[i]]
        };
        let stages = stencils.map(|(stencil, nodes)| (stencil, nodes, nodes.map(place)));
        let mollifiers = (values != [1.0; 2]).then_some((mollifiers, pair.nodes));
        Some(DistanceChange::new(stages, pair.weight, pair.law, mollifiers))
    }
}

impl DiscreteHessian for SurfaceBarrier {
    fn add_discrete_hessian(&self, q0: &[f64], q1: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.changes(q0, q1).iter().for_each(|change| change.add_hessian(curvature, h));
    }
}

impl DistanceChange {
    fn new(
        stages: [Stage; 3],
        weight: f64,
        law: BarrierLaw,
        mollifiers: Option<([Mollifier; 2], [u32; 4])>,
    ) -> Self {
        let [first, middle, last] = &stages;
        let normal = middle.0.normal();
        let against = |end: &Stage| dot(normal, end.0.normal()) < 0.0;
        let mut parts: Vec<(u32, f64, V3, V3)> = Vec::new();
        for (stencil, nodes, places) in &stages {
            for ((&node, c), [from, to]) in nodes.iter().zip(stencil.coefficients()).zip(places) {
                let share = c.abs() / 3.0;
                match parts.iter_mut().find(|part| part.0 == node) {
                    Some(part) => part.1 += share,
                    None => parts.push((node, share, midpoint(*from, *to), sub(*to, *from))),
                }
            }
        }
        Self {
            middle: middle.0,
            nodes: middle.1,
            sign: if against(first) && against(last) { -1.0 } else { 1.0 },
            gaps: [first.0.distance(), last.0.distance()],
            parts,
            weight,
            law,
            mollifiers,
        }
    }

    /// The mean of m at both ends.
    fn mollified(&self) -> f64 {
        self.mollifiers.map_or(1.0, |([a, b], _)| 0.5 * (a.value() + b.value()))
    }

    fn add_force(&self, g: &mut [f64]) {
        let [g0, g1] = self.gaps;
        let slope = self.weight * self.mollified() * self.law.quotient(g0, g1);
        let x: Vec<V3> = self.parts.iter().map(|part| part.2).collect();
        let moved: Vec<V3> = self.parts.iter().map(|part| part.3).collect();
        let weights: Vec<f64> = self.parts.iter().map(|part| part.1).collect();
        let own = &self.nodes[..self.middle.count()];
        let share = |part: &(u32, f64, V3, V3)| {
            let place = own.iter().position(|node| *node == part.0);
            place.map_or([0.0; 3], |i| scale(self.middle.gradient(i), self.sign))
        };
        let normal: Vec<V3> = self.parts.iter().map(share).collect();
        let along = inner(&normal, &moved);
        let mut force: Vec<V3> = normal.iter().map(|n| scale(*n, slope)).collect();
        let size = x.iter().map(|a| norm(sub(*a, x[0]))).fold(0.0, f64::max);
        let chord = Chord { x: &x, weights: &weights, moved: &moved, normal: &normal, along };
        chord.add_missing(slope * ((g1 - g0) - along), RESOLVED * size, &mut force);
        self.parts.iter().zip(force).for_each(|(part, f)| add_at(part.0, f, g));
        if let Some(([m0, m1], nodes)) = &self.mollifiers {
            let energy = 0.5 * self.weight * (self.law.energy(g0) + self.law.energy(g1));
            let [u, v] = m0.discrete_gradient(m1);
            for (node, f) in nodes.iter().zip([scale(u, -1.0), u, scale(v, -1.0), v]) {
                add_at(*node, scale(f, energy), g);
            }
        }
    }

    fn add_hessian(&self, curvature: Curvature, h: &mut BlockMatrix) {
        let exact = curvature == Curvature::Exact;
        let [g0, g1] = self.gaps;
        let weight = self.weight * self.mollified();
        let along = weight * self.law.quotient_slope(g0, g1);
        if !exact && along <= 0.0 {
            return;
        }
        let across = 0.5 * self.sign * weight * self.law.quotient(g0, g1);
        for i in 0..self.middle.count() {
            for j in 0..=i {
                let (a, b) = (self.middle.gradient(i), self.middle.gradient(j));
                let second = if exact { self.middle.hessian(i, j) } else { [0.0; 9] };
                let block = std::array::from_fn(|k| along * a[k / 3] * b[k % 3] + across * second[k]);
                add_block([self.nodes[i], self.nodes[j]], &block, h);
            }
        }
    }
}

fn midpoint(a: V3, b: V3) -> V3 {
    scale(add(a, b), 0.5)
}
