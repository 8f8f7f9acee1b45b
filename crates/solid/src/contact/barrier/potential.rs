//! The barrier between surfaces as a potential that no motion passes through.

use super::ccd;
use super::contacts::BarrierContact;
use super::distance_change::DistanceChange;
use super::search::{candidates, swept_box};
use super::surface_barrier::{Poses, SurfaceBarrier};
use crate::math::vector::add;
use crate::potentials::{ContactFriction, Kind, Potential, PotentialRole};
use lilyan_dynamics::system::abilities::FeasibleStep;
use lilyan_parallel::threads;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// Pairs per task of collision detection. Each task begins with the whole motion, so that the order of tasks has no say.
const CHUNK: usize = 256;

impl Potential for SurfaceBarrier {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole {
            kind: Kind::Other,
            is_contact: true,
            feasible_step: Some(self),
            terms: None,
            discrete_hessian: Some(self),
            friction: self.has_friction().then_some(self),
            intersections: Some(self),
        }
    }

    fn energy(&self, q: &[f64]) -> f64 {
        self.contacts(q).iter().map(BarrierContact::energy).sum()
    }

    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        self.contacts(q).iter().for_each(|contact| contact.add_gradient(g));
    }

    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.contacts(q).iter().for_each(|contact| contact.add_hessian(curvature, h));
    }

    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.add_between(q0, q1, g)
    }
}

impl SurfaceBarrier {
    fn has_friction(&self) -> bool {
        self.pairs.iter().any(|pair| pair.friction.is_some())
    }
}

impl ContactFriction for SurfaceBarrier {
    fn add_friction(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.contacts(q).iter().filter_map(BarrierContact::sliding).for_each(|c| c.add_force(v, f));
    }
    fn add_mean_friction(&self, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let v = mean_velocity(h, q0, q1);
        self.changes(q0, q1).iter().filter_map(DistanceChange::sliding).for_each(|c| c.add_force(&v, f));
    }
    fn add_friction_matrix(&self, q: &[f64], v: &[f64], d: &mut BlockMatrix) {
        self.contacts(q).iter().filter_map(BarrierContact::sliding).for_each(|c| c.add_matrix(v, d));
    }
    fn add_mean_friction_matrix(&self, h: f64, q0: &[f64], q1: &[f64], d: &mut BlockMatrix) {
        let v = mean_velocity(h, q0, q1);
        self.changes(q0, q1).iter().filter_map(DistanceChange::sliding).for_each(|c| c.add_matrix(&v, d));
    }
}

/// (q₁ − q₀)/h, m/s.
pub(super) fn mean_velocity(h: f64, q0: &[f64], q1: &[f64]) -> Vec<f64> {
    q0.iter().zip(q1).map(|(a, b)| (b - a) / h).collect()
}

impl FeasibleStep for SurfaceBarrier {
    /// By continuous collision detection of all pairs of vertices and triangles, and of edges, whose swept boxes meet.
    fn max_step(&self, _t: [f64; 2], q: &[f64], d: &[f64]) -> f64 {
        let from = self.poses(q);
        let motion: Poses = threads::par_map(self.meshes.len(), |s| self.meshes[s].motion(d));
        let swept = |s: usize| {
            let both = from[s].iter().zip(&motion[s]);
            both.map(|(x, p)| swept_box(*x, add(*x, *p), 0.0)).collect()
        };
        let boxes: Vec<_> = (0..self.meshes.len()).map(swept).collect();
        let found = candidates(&self.meshes, &self.pairs, &boxes);
        let of_vertices = least(found.vertices.len(), |i, limit| {
            let candidate = &found.vertices[i];
            let [own, other] = candidate.surfaces(&self.pairs[candidate.pair as usize]);
            let [a, b, c] = self.meshes[other].triangles[candidate.triangle as usize].map(|v| v as usize);
            let stencil = |at: &Poses| {
                let other = &at[other];
                [at[own][candidate.vertex as usize], other[a], other[b], other[c]]
            };
            ccd::point_triangle(stencil(&from), stencil(&motion), limit)
        });
        let of_edges = least(found.edges.len(), |i, limit| {
            let pair = self.edges(found.edges[i]);
            let stencil = |at: &Poses| {
                let [[a, b], [c, d]] = pair.positions(at);
                [a, b, c, d]
            };
            ccd::edge_edge(stencil(&from), stencil(&motion), limit)
        });
        of_vertices.min(of_edges)
    }
}

/// The least of so many safe times up to 1. Within a task a search ends at what an earlier one of the task found.
fn least(count: usize, time: impl Fn(usize, f64) -> f64 + Sync) -> f64 {
    let chunks = threads::par_map(count.div_ceil(CHUNK), |chunk| {
        let own = chunk * CHUNK..count.min((chunk + 1) * CHUNK);
        own.fold(1.0, |limit: f64, i| limit.min(time(i, limit)))
    });
    chunks.into_iter().fold(1.0, f64::min)
}
