//! Contact of bodies with each other and with themselves by a contact law,
//!
//!   W = Σ_v φ_v(thickness − s_v),
//!
//! with s_v the signed distance of surface vertex v to the other surface (negative inside) and φ_v the law of its area
//! at rest, so that refining the mesh does not change the contact. Both
//! ways: the vertices of each body against the triangles of the other. A potential: what lands bounces
//! back with the energy it came with. Two edges that cross between vertices do not feel each other.
//!
//! A surface without an inside, a cloth, has no sign: s_v is the distance to it, on either side, so that the
//! thickness must be more than what moves in a step. A rope takes part by its vertices, not by its segments.
//!
//! Everything here is a function of the positions alone, without memory, and the same to the bit for any
//! number of threads. Up to the limits below W is continuous; its gradient jumps where the nearest point does: at equal
//! distances to two places (inside, half-way between two sides), and at an edge or a corner itself.
//!
//! What is ignored:
//! - between bodies, penetration deeper than max(10 thickness, half the smallest rest extent of the body
//!   that is penetrated); no point of an undeformed body is that deep;
//! - within a body, triangles whose rest distance to the vertex is less than R = max(2 thickness, 1.5
//!   times the longest edge at the vertex), as neighbours are always near, and penetration deeper than
//!   R/2, as the opposite side of a thin body is no contact. So W = 0 at rest, and until something that was
//!   R apart comes closer than R/2. A body pressed locally to less than half may feel itself.
//!
//! Bodies whose boxes are apart cost one pass over their surface vertices (a few
//! percent of the elastic force for 5000 tets); self contact searches for every surface vertex (about as much as the elastic force).
//!
//! Curvature: `Exact` is the second derivative of W where it exists; `Projected` is its positive part
//! φ″ ∇s∇sᵀ (Gauss–Newton).

mod discrete;

use super::ContactLaw;
use super::surface::{ContactSurface, Near, Pose};
use super::vertex::VertexContact;
use crate::math::vector::V3;
use crate::potentials::{Potential, PotentialRole};
use lilyan_parallel::threads;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::Arc;

/// Vertices per task: some 50 µs of searching.
const CHUNK: usize = 64;

/// Contact between some bodies, or of bodies with themselves.
pub struct SurfaceContact<L> {
    surfaces: Vec<Arc<ContactSurface>>,
    passes: Vec<Pass>,
    /// φ per area.
    law: L,
    /// m.
    thickness: f64,
}

/// The vertices of one surface against the triangles of another.
struct Pass {
    vertices_of: usize,
    triangles_of: usize,
    limit: Limit,
}

/// How far to look.
enum Limit {
    /// m.
    Uniform(f64),
    /// Within a body: for each vertex how far (m), and which triangles not to see.
    Within(Vec<(f64, Vec<u32>)>),
}

/// A vertex of a pass; ordered.
type VertexKey = (u32, u32);

impl<L: ContactLaw> SurfaceContact<L> {
    /// Between pairs (i, j) of the given surfaces. The law is per area, the thickness in m.
    pub fn between(
        surfaces: Vec<Arc<ContactSurface>>,
        pairs: &[(usize, usize)],
        law: L,
        thickness: f64,
    ) -> Self {
        let pass = |vertices_of: usize, triangles_of: usize| {
            let half = 0.5 * surfaces[triangles_of].smallest_extent();
            Pass { vertices_of, triangles_of, limit: Limit::Uniform(half.max(10.0 * thickness)) }
        };
        // A rope has vertices and no triangles.
        let both = pairs.iter().flat_map(|&(i, j)| [(i, j), (j, i)]);
        let there = both.filter(|&(_, j)| !surfaces[j].triangles.is_empty());
        Self { passes: there.map(|(i, j)| pass(i, j)).collect(), surfaces, law, thickness }
    }

    /// Of each of the given surfaces with itself. The law is per area, the thickness in m.
    pub fn within(surfaces: Vec<Arc<ContactSurface>>, law: L, thickness: f64) -> Self {
        let pass = |i: usize| {
            let surface = &surfaces[i];
            let rest = surface.at_rest();
            let near = |v: usize| {
                let radius = (1.5 * surface.longest_edge(v as u32)).max(2.0 * thickness);
                // Without an inside there is no depth: what is farther than the thickness is not felt.
                let depth = if surface.closed { 0.5 * radius } else { thickness };
                (depth, rest.all_within(surface.rest[v], radius))
            };
            Pass {
                vertices_of: i,
                triangles_of: i,
                limit: Limit::Within(threads::par_map(surface.nodes.len(), near)),
            }
        };
        let there = (0..surfaces.len()).filter(|&i| !surfaces[i].triangles.is_empty());
        Self { passes: there.map(pass).collect(), surfaces, law, thickness }
    }

    /// Every vertex that feels a surface at q, in a fixed order.
    pub fn contacts(&self, q: &[f64]) -> Vec<VertexContact> {
        let (poses, keys) = self.candidates(q);
        let all = self.active_of(&poses, &keys);
        all.into_iter().map(|(_, contact)| contact).collect()
    }

    /// Those of the vertices that feel a surface, in the same order.
    fn active_of(&self, poses: &[Pose<'_>], keys: &[VertexKey]) -> Vec<(VertexKey, VertexContact)> {
        let find = |&key: &VertexKey| {
            let near = self.nearest(poses, key)?;
            (near.s < self.thickness).then(|| (key, self.contact(key, &near)))
        };
        let chunks = threads::par_map(keys.len().div_ceil(CHUNK), |i| {
            let keys = &keys[i * CHUNK..keys.len().min((i + 1) * CHUNK)];
            keys.iter().filter_map(find).collect::<Vec<_>>()
        });
        chunks.concat()
    }

    /// The vertices that are worth a search, and the poses to search in.
    fn candidates(&self, q: &[f64]) -> (Vec<Pose<'_>>, Vec<VertexKey>) {
        let mut poses: Vec<Pose<'_>> = self.surfaces.iter().map(|s| s.pose(q)).collect();
        let mut keys: Vec<VertexKey> = Vec::new();
        let mut needed = vec![false; poses.len()];
        for (p, pass) in (0u32..).zip(&self.passes) {
            let (from, to) = (&poses[pass.vertices_of], &poses[pass.triangles_of]);
            let before = keys.len();
            if let Limit::Within(_) = pass.limit {
                keys.extend((0..from.x.len() as u32).map(|v| (p, v)));
            } else if self.boxes_touch(from, to) {
                let near = |x: &V3| to.may_touch(*x, self.thickness);
                let all = (0u32..).zip(&from.x);
                keys.extend(all.filter(|(_, x)| near(x)).map(|(v, _)| (p, v)));
            }
            needed[pass.triangles_of] |= keys.len() > before;
        }
        refit(&mut poses, &needed);
        (poses, keys)
    }

    fn boxes_touch(&self, a: &Pose<'_>, b: &Pose<'_>) -> bool {
        (0..3).all(|k| {
            a.bounds[0][k] - self.thickness <= b.bounds[1][k]
                && b.bounds[0][k] - self.thickness <= a.bounds[1][k]
        })
    }

    fn nearest(&self, poses: &[Pose<'_>], (p, v): VertexKey) -> Option<Near> {
        let pass = &self.passes[p as usize];
        let x = poses[pass.vertices_of].x[v as usize];
        let (within, skip) = match &pass.limit {
            Limit::Uniform(within) => (*within, &[] as &[u32]),
            Limit::Within(of) => (of[v as usize].0, of[v as usize].1.as_slice()),
        };
        poses[pass.triangles_of].nearest(x, within, skip)
    }

    fn contact(&self, (p, v): VertexKey, near: &Near) -> VertexContact {
        let pass = &self.passes[p as usize];
        let from = &self.surfaces[pass.vertices_of];
        let to = &self.surfaces[pass.triangles_of];
        let [a, b, c] = to.triangles[near.triangle as usize].map(|i| to.nodes[i as usize]);
        VertexContact {
            nodes: [from.nodes[v as usize], a, b, c],
            feature: near.feature,
            weights: near.weights,
            normal: near.normal,
            distance: near.s,
            area: from.areas[v as usize],
        }
    }

    /// The law of a vertex, and its depth, m.
    fn law_at(&self, contact: &VertexContact) -> (L, f64) {
        (self.law.of_area(contact.area), self.thickness - contact.distance)
    }
}

/// Makes the needed poses searchable.
fn refit(poses: &mut [Pose<'_>], needed: &[bool]) {
    threads::par_chunks_mut(poses, 1, |i, pose| {
        if needed[i] {
            pose[0].refit();
        }
    });
}

impl<L: ContactLaw> Potential for SurfaceContact<L> {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::penalty()
    }

    fn energy(&self, q: &[f64]) -> f64 {
        let energy = |c: &VertexContact| {
            let (law, depth) = self.law_at(c);
            law.energy(depth)
        };
        self.contacts(q).iter().map(energy).sum()
    }

    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for c in self.contacts(q) {
            let (law, depth) = self.law_at(&c);
            c.add_force(-law.slope(depth), g);
        }
    }

    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        let exact = curvature == Curvature::Exact;
        for c in self.contacts(q) {
            let (law, depth) = self.law_at(&c);
            c.add_hessian(q, law.curvature(depth), exact.then(|| -law.slope(depth)), h);
        }
    }

    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.add_between(q0, q1, g);
        true
    }
}
