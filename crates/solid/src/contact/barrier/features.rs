//! A vertex P against the surface it may touch, by inclusion–exclusion \[li2023\]:
//!
//!   Ψ_P = Σ_t φ(g(P,t)) − Σ_e (n_e − 1) φ(g(P,e)) + Σ_v m_v φ(g(P,v)),
//!
//! over triangles, edges and vertices within reach, with g the distance to the whole simplex and the counts of
//! [`CollisionMesh`]. Each simplex adds its count to its closest feature; the counts cancel but for one at the nearest
//! feature of a flat or convex patch. So Ψ is C¹ and does not know how a flat surface is cut into triangles.

use super::collision_mesh::{CollisionMesh, Simplex};
use super::friction::TurningNodes;
use super::search::VertexCandidate;
use super::stencil::{Part, Stencil, closest_part, closest_part_of_edge};
use crate::math::vector::V3;

/// A simplex of a surface; ordered.
pub type SimplexId = (Simplex, u32);

/// A surface at some positions.
#[derive(Clone, Copy)]
pub struct Posed<'a> {
    /// The surface.
    pub mesh: &'a CollisionMesh,
    /// Positions of its vertices, m.
    pub x: &'a [V3],
}

impl Posed<'_> {
    fn at(&self, vertices: [u32; 3]) -> [V3; 3] {
        vertices.map(|v| self.x[v as usize])
    }

    /// Where the corners of a triangle are.
    pub fn corners(&self, triangle: u32) -> [V3; 3] {
        self.at(self.mesh.triangles[triangle as usize])
    }

    /// The corners of some triangles by weights.
    pub fn turning_nodes(
        &self,
        near: &[VertexCandidate],
        weight: impl Fn(&VertexCandidate) -> f64,
    ) -> TurningNodes {
        TurningNodes::of_triangles(near.iter().map(|c| {
            let nodes = self.mesh.triangles[c.triangle as usize].map(|v| self.mesh.nodes[v as usize]);
            (nodes, self.corners(c.triangle), weight(c))
        }))
    }

    /// The closest feature of a simplex to a point.
    pub fn closest(&self, p: V3, (kind, item): SimplexId) -> SimplexId {
        let mesh = self.mesh;
        match kind {
            Simplex::Vertex => (kind, item),
            Simplex::Edge => {
                let ends = mesh.edges[item as usize];
                match closest_part_of_edge(p, ends.map(|v| self.x[v as usize])) {
                    Part::Corner(k) => (Simplex::Vertex, ends[k]),
                    _ => (kind, item),
                }
            }
            Simplex::Triangle => {
                let corners = mesh.triangles[item as usize];
                match closest_part(p, self.at(corners)) {
                    Part::Inside => (kind, item),
                    Part::Edge(k) => (Simplex::Edge, mesh.triangle_edges[item as usize][k]),
                    Part::Corner(k) => (Simplex::Vertex, corners[k]),
                }
            }
        }
    }

    /// The stencil of a point and a feature.
    pub fn stencil(&self, p: V3, (kind, item): SimplexId) -> Stencil {
        let x = |v: u32| self.x[v as usize];
        match kind {
            Simplex::Vertex => Stencil::points([p, x(item)]),
            Simplex::Edge => {
                let [a, b] = self.mesh.edges[item as usize];
                Stencil::point_line([p, x(a), x(b)])
            }
            Simplex::Triangle => {
                let [a, b, c] = self.mesh.triangles[item as usize];
                Stencil::point_plane([p, x(a), x(b), x(c)])
            }
        }
    }
}

/// The nodes of a vertex with this node and of a feature.
pub fn nodes(node: u32, mesh: &CollisionMesh, feature: SimplexId) -> [u32; 4] {
    let mut out = [node; 4];
    out[1..].iter_mut().zip(mesh.corners(&feature)).for_each(|(out, v)| *out = mesh.nodes[*v as usize]);
    out
}

/// The simplices of the candidates of one vertex, and their counts. `own` is the vertex if it belongs to the same surface.
pub fn counted_simplices(
    mesh: &CollisionMesh,
    candidates: &[VertexCandidate],
    own: Option<u32>,
) -> Vec<(SimplexId, i32)> {
    let mut out: Vec<(SimplexId, i32)> =
        candidates.iter().map(|c| ((Simplex::Triangle, c.triangle), 1)).collect();
    let items = |kind: Simplex| {
        let of = |c: &VertexCandidate| match kind {
            Simplex::Edge => mesh.triangle_edges[c.triangle as usize],
            _ => mesh.triangles[c.triangle as usize],
        };
        let mut items: Vec<u32> = candidates.iter().flat_map(of).collect();
        items.sort_unstable();
        items.dedup();
        items
    };
    let edges = items(Simplex::Edge)
        .into_iter()
        .filter(|e| own.is_none_or(|p| !mesh.edges[*e as usize].contains(&p)));
    out.extend(edges.map(|e| ((Simplex::Edge, e), mesh.edge_count(e, own))));
    let vertices = items(Simplex::Vertex).into_iter().filter(|v| Some(*v) != own);
    out.extend(vertices.map(|v| ((Simplex::Vertex, v), mesh.vertex_count(v, own))));
    out.retain(|(_, count)| *count != 0);
    out
}

/// Adds up the counts of equal keys; what is left, without zeros, in the order of the keys.
pub fn merged<K: Ord + Copy>(mut counts: Vec<(K, i32)>) -> Vec<(K, i32)> {
    counts.sort_unstable_by_key(|(key, _)| *key);
    let sum = |group: &[(K, i32)]| (group[0].0, group.iter().map(|(_, count)| count).sum());
    let sums = counts.chunk_by(|a, b| a.0 == b.0).map(sum);
    sums.filter(|(_, count)| *count != 0).collect()
}
