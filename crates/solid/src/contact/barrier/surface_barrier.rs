//! The barrier between surfaces of bodies and within them:
//!
//!   W = Σ_pairs [ Σ_P s A_P Ψ_P + Σ_ee′ σ m φ(g(e,e′)) ],
//!
//! with Ψ_P by inclusion–exclusion (`features`), the areas A_P of the vertices at rest, and shares s of the two surfaces that
//! add to 1: s_a = Ā_b/(Ā_a + Ā_b) by the mean areas of their vertices, so that a coarse surface does not poke a fine one, and
//! ½ within a surface. So the layer between two surfaces has the stiffness per area of the law on any meshes. Edges against
//! edges are a guard with σ = 0.05 · 0.4534 √(A_e A_e′): the geometric mean is what makes their part independent of the ratio
//! of two meshes, and 0.4534 makes it 1 for σ/0.05 = 1 on equal meshes.
//!
//! Within a surface d̂ of a vertex or an edge is at most half its distance at rest to what it is not part of, so that there is
//! no energy at rest, and yet no pair is left out.

use super::collision_mesh::CollisionMesh;
use super::contacts::BarrierContact;
use super::distance_change::DistanceChange;
use super::features::{Posed, counted_simplices, merged, nodes};
use super::friction::{FrictionLaw, TurningNodes};
use super::law::BarrierLaw;
use super::mollifier::Mollifier;
use super::search::{Candidates, SurfacePair, VertexCandidate, candidates, swept_box};
use super::stencil::{
    EdgeParts, Part, Stencil, closest_parts_of_edges, edge_edge_distance, point_triangle_distance,
};
use crate::math::vector::{V3, dot, sub};
use lilyan_parallel::threads;
use std::sync::{Arc, Mutex, PoisonError};

/// The stiffness of the guard of edges, relative to that of vertices.
const GUARD: f64 = 0.05;
/// What makes the guard of two equal meshes as stiff as their vertices: 1/2.2055, from the density of crossings of two
/// random nets of edges.
const CROSSINGS: f64 = 0.4534;
/// Groups of candidates per task.
const CHUNK: usize = 64;

/// Positions of the vertices of all surfaces, m.
pub type Poses = Vec<Vec<V3>>;

/// Surfaces and the pairs of them that touch.
pub struct SurfaceBarrier {
    pub(super) meshes: Vec<CollisionMesh>,
    pub(super) pairs: Vec<SurfacePair>,
    /// d̂ of each vertex and each edge in contact with its own surface, m; empty for two surfaces.
    reach: Vec<[Vec<f64>; 2]>,
    /// The largest d̂, m.
    distance: f64,
    /// What was found before. It saves time and changes nothing.
    pub(super) found: Mutex<Found>,
}

/// The ends of a step, and the changes between them.
type KnownChanges = ([Vec<f64>; 2], Arc<Vec<DistanceChange>>);

/// What was found for earlier positions.
#[derive(Default)]
pub(super) struct Found {
    /// The last two searches.
    searches: Vec<Search>,
    /// The last contacts, and where.
    contacts: Option<(Vec<f64>, Arc<Vec<BarrierContact>>)>,
    /// The last changes of distances, and between where.
    pub(super) changes: Option<KnownChanges>,
}

/// Candidates that hold as long as no coordinate moves more than `slack` (m).
struct Search {
    q: Vec<f64>,
    slack: f64,
    candidates: Arc<Candidates>,
}

impl SurfaceBarrier {
    /// Of these surfaces.
    pub fn new(meshes: Vec<CollisionMesh>, pairs: Vec<SurfacePair>) -> Self {
        let distance = pairs.iter().map(|pair| pair.law.distance).fold(0.0, f64::max);
        let reach = pairs.iter().map(|pair| {
            let mesh = &meshes[pair.surfaces[0]];
            if pair.is_self() { reach_at_rest(mesh, pair.law) } else { Default::default() }
        });
        Self { reach: reach.collect(), meshes, pairs, distance, found: Mutex::default() }
    }

    /// Positions of the vertices of all surfaces, m.
    pub(super) fn poses(&self, q: &[f64]) -> Poses {
        threads::par_map(self.meshes.len(), |s| self.meshes[s].positions(q))
    }

    /// All that is within d̂ at q, and perhaps more.
    pub(super) fn candidates(&self, q: &[f64]) -> Arc<Candidates> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = |search: &Search| {
            let far = |(a, b): (&f64, &f64)| (a - b).abs();
            search.q.iter().zip(q).map(far).fold(0.0, f64::max)
        };
        let mut least = f64::INFINITY;
        for search in found.searches.iter().rev() {
            let moved = moved(search);
            if moved <= search.slack {
                return search.candidates.clone();
            }
            least = least.min(moved);
        }
        // Far enough for a few motions like the last one; a search that is too wide costs more than another one.
        let slack = if least.is_finite() { (2.0 * least).min(8.0 * self.distance) } else { 0.0 };
        let slack = slack.max(self.distance);
        let margin = 0.5 * self.distance + slack;
        let boxes: Vec<_> =
            self.poses(q).iter().map(|x| x.iter().map(|x| swept_box(*x, *x, margin)).collect()).collect();
        let candidates = Arc::new(candidates(&self.meshes, &self.pairs, &boxes));
        if found.searches.len() > 1 {
            found.searches.remove(0);
        }
        found.searches.push(Search { q: q.to_vec(), slack, candidates: candidates.clone() });
        candidates
    }

    /// All contacts at q, in a fixed order.
    pub fn contacts(&self, q: &[f64]) -> Arc<Vec<BarrierContact>> {
        {
            let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((at, contacts)) = &found.contacts
                && at == q
            {
                return contacts.clone();
            }
        }
        let candidates = self.candidates(q);
        let poses = if candidates.vertices.is_empty() && candidates.edges.is_empty() {
            Vec::new()
        } else {
            self.poses(q)
        };
        let groups = candidates.by_vertex();
        let of_vertices = threads::par_map(groups.len().div_ceil(CHUNK), |chunk| {
            let mut out = Vec::new();
            for group in &groups[chunk * CHUNK..groups.len().min((chunk + 1) * CHUNK)] {
                self.vertex_contacts(&poses, &candidates.vertices[group.clone()], &mut out);
            }
            out
        });
        let edges = &candidates.edges;
        let of_edges = threads::par_map(edges.len().div_ceil(CHUNK), |chunk| {
            let own = &edges[chunk * CHUNK..edges.len().min((chunk + 1) * CHUNK)];
            own.iter().filter_map(|&edges| self.edge_contact(&poses, edges)).collect::<Vec<_>>()
        });
        let contacts: Arc<Vec<BarrierContact>> =
            Arc::new(of_vertices.into_iter().chain(of_edges).flatten().collect());
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.contacts = Some((q.to_vec(), contacts.clone()));
        contacts
    }

    /// What the candidates of one vertex have in common.
    pub(super) fn owner(&self, candidate: &VertexCandidate) -> Owner<'_> {
        let pair = &self.pairs[candidate.pair as usize];
        let [from, to] = candidate.surfaces(pair);
        let (own, other) = (&self.meshes[from], &self.meshes[to]);
        let vertex = candidate.vertex as usize;
        let law = match self.reach[candidate.pair as usize][0].get(vertex) {
            Some(reach) => pair.law.within(*reach),
            None => pair.law,
        };
        Owner {
            surfaces: [from, to],
            node: own.nodes[vertex],
            other,
            own: pair.is_self().then_some(candidate.vertex),
            weight: own.areas[vertex] * pair.shares[usize::from(candidate.second)],
            law,
            friction: pair.friction,
        }
    }

    fn vertex_contacts(&self, poses: &Poses, group: &[VertexCandidate], out: &mut Vec<BarrierContact>) {
        let Some(first) = group.first() else { return };
        let owner = self.owner(first);
        let p = poses[owner.surfaces[0]][first.vertex as usize];
        let posed = Posed { mesh: owner.other, x: &poses[owner.surfaces[1]] };
        let near: Vec<VertexCandidate> = group
            .iter()
            .filter(|c| point_triangle_distance(p, posed.corners(c.triangle)) < owner.law.distance)
            .copied()
            .collect();
        if near.is_empty() {
            return;
        }
        let weight =
            |c: &VertexCandidate| owner.law.fade(point_triangle_distance(p, posed.corners(c.triangle)));
        let friction = owner.friction.map(|law| (law, posed.turning_nodes(&near, weight)));
        let simplices = counted_simplices(owner.other, &near, owner.own);
        let features = simplices.into_iter().map(|(simplex, count)| (posed.closest(p, simplex), count));
        for (feature, count) in merged(features.collect()) {
            let stencil = posed.stencil(p, feature);
            if stencil.distance() < owner.law.distance {
                out.push(BarrierContact {
                    nodes: nodes(owner.node, owner.other, feature),
                    stencil,
                    weight: f64::from(count) * owner.weight,
                    law: owner.law,
                    mollifier: None,
                    friction: friction.clone(),
                });
            }
        }
    }

    /// What two edges have in common at all positions; the law has d̂ of both.
    pub(super) fn edges(&self, [pair, e, f]: [u32; 3]) -> EdgePair {
        let number = pair as usize;
        let pair = &self.pairs[number];
        let [a, b] = pair.surfaces;
        let meshes = [&self.meshes[a], &self.meshes[b]];
        let items = [e as usize, f as usize];
        let vertices = [0, 1].map(|k| meshes[k].edges[items[k]]);
        let square = |k: usize| {
            let [from, to] = vertices[k].map(|v| meshes[k].rest[v as usize]);
            dot(sub(to, from), sub(to, from))
        };
        let area = meshes[0].edge_areas[items[0]] * meshes[1].edge_areas[items[1]];
        let reach = items.map(|item| self.reach[number][1].get(item).copied().unwrap_or(f64::INFINITY));
        let nodes = [0, 1].map(|k| vertices[k].map(|v| meshes[k].nodes[v as usize]));
        EdgePair {
            surfaces: pair.surfaces,
            vertices,
            nodes: [nodes[0][0], nodes[0][1], nodes[1][0], nodes[1][1]],
            weight: GUARD * CROSSINGS * area.sqrt(),
            law: pair.law.within(reach[0].min(reach[1])),
            rest: [square(0), square(1)],
            friction: pair.friction,
        }
    }

    fn edge_contact(&self, poses: &Poses, candidate: [u32; 3]) -> Option<BarrierContact> {
        let pair = self.edges(candidate);
        let [first, second] = pair.positions(poses);
        let parts = closest_parts_of_edges(first, second);
        let (stencil, nodes) = pair.stencil(parts, [first, second]);
        if stencil.distance() >= pair.law.distance {
            return None;
        }
        let mollifier = pair.mollifier([first, second]);
        let value = mollifier.value();
        if value == 0.0 {
            return None;
        }
        Some(BarrierContact {
            nodes,
            stencil,
            weight: pair.weight,
            law: pair.law,
            mollifier: (value < 1.0).then_some((mollifier, pair.nodes)),
            friction: pair.friction.map(|law| (law, TurningNodes::of_edges(pair.nodes, [first, second]))),
        })
    }
}

/// A vertex that may touch a surface.
pub struct Owner<'a> {
    /// Places of its surface and of the other one.
    pub surfaces: [usize; 2],
    /// Its node.
    pub node: u32,
    /// The other surface.
    pub other: &'a CollisionMesh,
    /// The vertex itself, if the other surface is its own.
    pub own: Option<u32>,
    /// Its area times its share, m².
    pub weight: f64,
    /// Its law.
    pub law: BarrierLaw,
    /// Its friction.
    pub friction: Option<FrictionLaw>,
}

/// Two edges that may touch.
pub struct EdgePair {
    /// Places of the surfaces.
    pub surfaces: [usize; 2],
    /// Vertices of both edges, in their surfaces.
    pub vertices: [[u32; 2]; 2],
    /// Nodes of both edges.
    pub nodes: [u32; 4],
    /// Weight, m².
    pub weight: f64,
    /// Law.
    pub law: BarrierLaw,
    /// Friction.
    pub friction: Option<FrictionLaw>,
    /// Squared lengths at rest, m².
    rest: [f64; 2],
}

impl EdgePair {
    /// Where the ends of both are.
    pub fn positions(&self, poses: &Poses) -> [[V3; 2]; 2] {
        [0, 1].map(|k| self.vertices[k].map(|v| poses[self.surfaces[k]][v as usize]))
    }

    /// The mollifier of the edges at these places.
    pub fn mollifier(&self, x: [[V3; 2]; 2]) -> Mollifier {
        Mollifier::new(x.map(|[a, b]| sub(b, a)), self.rest)
    }

    /// The stencil of closest parts, and its nodes.
    pub fn stencil(&self, parts: EdgeParts, [first, second]: [[V3; 2]; 2]) -> (Stencil, [u32; 4]) {
        let [a, b, c, d] = self.nodes;
        let own = [[a, b], [c, d]];
        match parts {
            EdgeParts::Both => (Stencil::lines([first[0], first[1], second[0], second[1]]), self.nodes),
            EdgeParts::FirstEnd(end, Part::Corner(corner)) => {
                let node = own[0][end];
                (Stencil::points([first[end], second[corner]]), [node, own[1][corner], node, node])
            }
            EdgeParts::FirstEnd(end, _) => {
                let node = own[0][end];
                (Stencil::point_line([first[end], second[0], second[1]]), [node, c, d, node])
            }
            EdgeParts::SecondEnd(end) => {
                let node = own[1][end];
                (Stencil::point_line([second[end], first[0], first[1]]), [node, a, b, node])
            }
        }
    }
}

/// d̂ of the vertices and of the edges of a surface in contact with itself, m.
fn reach_at_rest(mesh: &CollisionMesh, law: BarrierLaw) -> [Vec<f64>; 2] {
    let mut vertices = vec![law.distance; mesh.nodes.len()];
    let mut edges = vec![law.distance; mesh.edges.len()];
    let boxes: Vec<_> = mesh.rest.iter().map(|x| swept_box(*x, *x, law.distance)).collect();
    let pair = SurfacePair { surfaces: [0, 0], law, shares: [0.5; 2], friction: None };
    let near = candidates(std::slice::from_ref(mesh), &[pair], &[boxes]);
    let at = |v: u32| mesh.rest[v as usize];
    for c in &near.vertices {
        let gap = point_triangle_distance(at(c.vertex), mesh.triangles[c.triangle as usize].map(at));
        let reach = &mut vertices[c.vertex as usize];
        *reach = reach.min(0.5 * gap);
    }
    for &[_, e, f] in &near.edges {
        let gap = edge_edge_distance(mesh.edges[e as usize].map(at), mesh.edges[f as usize].map(at));
        for edge in [e, f] {
            let reach = &mut edges[edge as usize];
            *reach = reach.min(0.5 * gap);
        }
    }
    [vertices, edges]
}
