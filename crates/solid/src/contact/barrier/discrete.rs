//! The discrete gradient of the barrier: exact in energy, in linear and in angular momentum, through impacts at any step.
//!
//! For each vertex and simplex within d̂ at q₀ or q₁, with gaps g₀ and g₁ and N = ∇d at the midpoint of the chord:
//!
//!   ḡ = Q N + correction,   Q = w (φ(g₁) − φ(g₀))/(g₁ − g₀),
//!
//! where the correction (`chord`) does the work of Q ((g₁ − g₀) − N·Δ), summed over all that one vertex meets. Simplices whose closest features are the same at q₀, at
//! the midpoint and at q₁ are added up by their counts as in `features`; the others are evaluated one by one.
//!
//! In a large turn the midpoint may lie on the other side of the surface. N then points against the normals at both ends and is
//! turned around: it stays parallel to the vector between the closest points, so that it has no moment.
//!
//! For edges that are nearly parallel see `distance_change`.

use super::distance_change::{Changes, DistanceChange, MovingNode, Stage, correction, give_friction};
use super::features::{Posed, SimplexId, counted_simplices, merged, nodes};
use super::friction::TurningNodes;
use super::scatter::add_at;
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
        if !changes.distances.iter().all(DistanceChange::is_possible) {
            return false;
        }
        changes.distances.iter().for_each(|change| change.add_force(g));
        changes.corrections.iter().for_each(|(node, force)| add_at(*node, *force, g));
        true
    }

    /// All changes of distances, in a fixed order.
    pub(super) fn changes(&self, q0: &[f64], q1: &[f64]) -> Arc<Changes> {
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

    fn find_changes(&self, q0: &[f64], q1: &[f64]) -> Changes {
        let ends = [self.candidates(q0), self.candidates(q1)];
        let candidates = if Arc::ptr_eq(&ends[0], &ends[1]) || ends[0] == ends[1] {
            ends[0].clone()
        } else {
            Arc::new(ends[0].union(&ends[1]))
        };
        let Candidates { vertices, edges } = &*candidates;
        if vertices.is_empty() && edges.is_empty() {
            return Changes::default();
        }
        let middle: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let poses = [q0, &middle, q1].map(|q| self.poses(q));
        let groups = candidates.by_vertex();
        let of_vertices = threads::par_map(groups.len().div_ceil(CHUNK), |chunk| {
            let mut out = Changes::default();
            for group in &groups[chunk * CHUNK..groups.len().min((chunk + 1) * CHUNK)] {
                self.vertex_changes(&poses, &vertices[group.clone()], &mut out);
            }
            out
        });
        let of_edges = threads::par_map(edges.len().div_ceil(CHUNK), |chunk| {
            let mut out = Changes::default();
            for &edges in &edges[chunk * CHUNK..edges.len().min((chunk + 1) * CHUNK)] {
                self.edge_change(&poses, edges, &mut out);
            }
            out
        });
        let mut all = Changes::default();
        for part in of_vertices.into_iter().chain(of_edges) {
            all.distances.extend(part.distances);
            all.corrections.extend(part.corrections);
        }
        all
    }

    fn vertex_changes(&self, poses: &[Poses; 3], group: &[VertexCandidate], out: &mut Changes) {
        let Some(first) = group.first() else { return };
        let owner = self.owner(first);
        let p = [0, 1, 2].map(|k| poses[k][owner.surfaces[0]][first.vertex as usize]);
        let posed = [0, 1, 2].map(|k| Posed { mesh: owner.other, x: &poses[k][owner.surfaces[1]] });
        let far = |k: usize, c: &VertexCandidate| point_triangle_distance(p[k], posed[k].corners(c.triangle));
        let within = |k: usize, c: &VertexCandidate| far(k, c) < owner.law.distance;
        let near: Vec<VertexCandidate> =
            group.iter().filter(|c| within(0, c) || within(2, c)).copied().collect();
        if near.is_empty() {
            return;
        }
        let first = out.distances.len();
        // They fade as a triangle leaves the reach of both ends.
        let weight = |c: &VertexCandidate| owner.law.fade(far(0, c)) + owner.law.fade(far(2, c));
        let moving = moving_nodes(MovingNode::new(owner.node, 1.0, p[0], p[2]), &near, &posed, &weight);
        let simplices = counted_simplices(owner.other, &near, owner.own);
        let closest = |simplex: SimplexId| [0, 1, 2].map(|k| posed[k].closest(p[k], simplex));
        let features = simplices.into_iter().map(|(simplex, count)| (closest(simplex), count));
        for (features, count) in merged(features.collect()) {
            let stage = |k: usize| -> Stage {
                (posed[k].stencil(p[k], features[k]), nodes(owner.node, owner.other, features[k]))
            };
            let stages = [stage(0), stage(1), stage(2)];
            let gaps = [0, 2].map(|k| stages[k].0.distance());
            if gaps.iter().all(|gap| *gap >= owner.law.distance) {
                continue;
            }
            let weight = f64::from(count) * owner.weight;
            out.distances.push(DistanceChange::new(stages, (&moving, 1), weight, owner.law, None));
        }
        let own = &mut out.distances[first..];
        correction(own, &moving, &mut out.corrections);
        if let Some(law) = owner.friction {
            give_friction(own, law, &posed[1].turning_nodes(&near, weight));
        }
    }

    fn edge_change(&self, poses: &[Poses; 3], candidate: [u32; 3], out: &mut Changes) {
        let pair = self.edges(candidate);
        let x = [0, 1, 2].map(|k| pair.positions(&poses[k]));
        let parts = x.map(|[first, second]| closest_parts_of_edges(first, second));
        let stages = [0, 1, 2].map(|k| pair.stencil(parts[k], x[k]));
        if [0, 2].iter().all(|&k| stages[k].0.distance() >= pair.law.distance) {
            return;
        }
        let mollifiers = x.map(|x| pair.mollifier(x));
        let values = mollifiers.map(|m| m.value());
        if values == [0.0; 3] {
            return;
        }
        let flat = |x: [[V3; 2]; 2]| [x[0][0], x[0][1], x[1][0], x[1][1]];
        let (from, to) = (flat(x[0]), flat(x[2]));
        let moving: [MovingNode; 4] =
            std::array::from_fn(|i| MovingNode::new(pair.nodes[i], 0.25, from[i], to[i]));
        let mollifiers = (values != [1.0; 3]).then_some((mollifiers, pair.nodes));
        let mut change = [DistanceChange::new(stages, (&moving, 2), pair.weight, pair.law, mollifiers)];
        correction(&change, &moving, &mut out.corrections);
        if let Some(law) = pair.friction {
            give_friction(&mut change, law, &TurningNodes::of_edges(pair.nodes, x[1]));
        }
        out.distances.extend(change);
    }
}

/// A vertex and the corners of the triangles near it, which share a weight of 1 by the weights of the triangles.
fn moving_nodes(
    vertex: MovingNode,
    near: &[VertexCandidate],
    posed: &[Posed<'_>; 3],
    weight: &dyn Fn(&VertexCandidate) -> f64,
) -> Vec<MovingNode> {
    let mut out = vec![vertex];
    let total: f64 = near.iter().map(weight).sum();
    for c in near {
        let share = weight(c) / (3.0 * total).max(f64::MIN_POSITIVE);
        for v in posed[0].mesh.triangles[c.triangle as usize] {
            let node = posed[0].mesh.nodes[v as usize];
            match out.iter_mut().find(|part| part.node == node) {
                Some(part) => part.weight += share,
                None => {
                    let [from, to] = [0, 2].map(|k: usize| posed[k].x[v as usize]);
                    out.push(MovingNode::new(node, share, from, to));
                }
            }
        }
    }
    out
}

impl DiscreteHessian for SurfaceBarrier {
    fn add_discrete_hessian(&self, q0: &[f64], q1: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.changes(q0, q1).distances.iter().for_each(|change| change.add_hessian(curvature, h));
    }
}
