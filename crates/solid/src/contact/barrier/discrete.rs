//! The discrete gradient of the barrier: exact in energy, in linear and in angular momentum, through impacts at any step.
//!
//! For each vertex and simplex within d̂ at q₀ or q₁, with gaps g₀ and g₁ and N = ∇d at the midpoint of the chord:
//!
//!   ḡ = Q (N + correction),   Q = w (φ(g₁) − φ(g₀))/(g₁ − g₀),
//!
//! where the correction (`chord`) does the work of (g₁ − g₀) − N·Δ. Simplices whose closest features are the same at q₀, at
//! the midpoint and at q₁ are added up by their counts as in `features`; the others are evaluated one by one.
//!
//! In a large turn the midpoint may lie on the other side of the surface. N then points against the normals at both ends and is
//! turned around: it stays parallel to the vector between the closest points, so that it has no moment.
//!
//! For edges that are nearly parallel φ is m φ, with the product rule of differences and the discrete gradient of m.

use super::distance_change::{DistanceChange, Stage, give_friction};
use super::features::{Posed, SimplexId, counted_simplices, merged, nodes};
use super::friction::TurningNodes;
use super::search::{Candidates, VertexCandidate};
use super::stencil::{closest_parts_of_edges, point_triangle_distance};
use super::surface_barrier::{Poses, SurfaceBarrier};
use crate::math::vector::V3;
use crate::potentials::DiscreteHessian;
use lilyan_parallel::threads;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::{Arc, PoisonError};

/// Groups of candidates per task.
const CHUNK: usize = 64;

impl SurfaceBarrier {
    /// Adds the discrete gradient; `false` where it is infeasible.
    pub(super) fn add_between(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let changes = self.changes(q0, q1);
        if !changes.iter().all(DistanceChange::is_possible) {
            return false;
        }
        changes.iter().for_each(|change| change.add_force(g));
        true
    }

    /// All changes of distances, in a fixed order.
    pub(super) fn changes(&self, q0: &[f64], q1: &[f64]) -> Arc<Vec<DistanceChange>> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(([from, to], changes)) = &found.changes
            && from == q0
            && to == q1
        {
            return changes.clone();
        }
        drop(found);
        let changes = Arc::new(self.find_changes(q0, q1));
        found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.changes = Some(([q0.to_vec(), q1.to_vec()], changes.clone()));
        changes
    }

    fn find_changes(&self, q0: &[f64], q1: &[f64]) -> Vec<DistanceChange> {
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
            point_triangle_distance(p[k], posed[k].corners(c.triangle)) < owner.law.distance
        };
        let near: Vec<VertexCandidate> =
            group.iter().filter(|c| within(0, c) || within(2, c)).copied().collect();
        if near.is_empty() {
            return;
        }
        let first = out.len();
        let weight = |c: &VertexCandidate| {
            let far = |k: usize| point_triangle_distance(p[k], posed[k].corners(c.triangle));
            owner.law.fade(far(0)) + owner.law.fade(far(2))
        };
        let turning = owner.friction.map(|law| (law, posed[1].turning_nodes(&near, weight)));
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
        if let Some((law, turning)) = turning {
            give_friction(&mut out[first..], law, &turning);
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
        let mut change = [DistanceChange::new(stages, pair.weight, pair.law, mollifiers)];
        if let Some(law) = pair.friction {
            give_friction(&mut change, law, &TurningNodes::of_edges(pair.nodes, x[1]));
        }
        let [change] = change;
        Some(change)
    }
}

impl DiscreteHessian for SurfaceBarrier {
    fn add_discrete_hessian(&self, q0: &[f64], q1: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.changes(q0, q1).iter().for_each(|change| change.add_hessian(curvature, h));
    }
}
