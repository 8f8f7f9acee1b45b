//! Whether surfaces touch or cut each other: no motion can lead out of such a state, so that none may begin there.
//!
//! Surfaces cut each other where an edge of one passes through a triangle of the other. The signs of volumes decide
//! \[ericson2004, §5.3.4\]; what is undecided by rounding has no gap that could be kept, and counts as touching.

use super::collision_mesh::{CollisionMesh, Simplex};
use super::features::{Posed, SimplexId};
use super::obstacle_barrier::ObstacleBarrier;
use super::search::{SurfaceBoxes, overlapping, swept_box};
use super::stencil::{edge_edge_distance, point_triangle_distance};
use super::surface_barrier::SurfaceBarrier;
use crate::math::vector::{V3, add, scale, volume};
use crate::potentials::{Intersection, Intersections};

impl Intersections for SurfaceBarrier {
    fn first_intersection(&self, q: &[f64]) -> Option<Intersection> {
        let poses = self.poses(q);
        let cut = self.pairs.iter().find_map(|pair| {
            let [a, b] = pair.surfaces.map(|s| Posed { mesh: &self.meshes[s], x: &poses[s] });
            cuts(a, b).or_else(|| if pair.is_self() { None } else { cuts(b, a) })
        });
        cut.or_else(|| self.touching(q))
    }
}

impl SurfaceBarrier {
    /// The first pair without a gap.
    fn touching(&self, q: &[f64]) -> Option<Intersection> {
        let (poses, candidates) = (self.poses(q), self.candidates(q));
        let vertex = candidates.vertices.iter().find_map(|c| {
            let [own, other] = c.surfaces(&self.pairs[c.pair as usize]).map(|s| (&self.meshes[s], &poses[s]));
            let p = own.1[c.vertex as usize];
            let corners = other.0.triangles[c.triangle as usize];
            let gap = point_triangle_distance(p, corners.map(|v| other.1[v as usize]));
            let nodes = [own.0.nodes[c.vertex as usize], other.0.nodes[corners[0] as usize]];
            (gap <= round_off(p)).then_some(Intersection { nodes: nodes.map(Some), place: p })
        });
        vertex.or_else(|| {
            candidates.edges.iter().find_map(|&edges| {
                let pair = self.edges(edges);
                let [first, second] = pair.positions(&poses);
                let nodes = [pair.nodes[0], pair.nodes[2]];
                (edge_edge_distance(first, second) <= round_off(first[0]))
                    .then_some(Intersection { nodes: nodes.map(Some), place: first[0] })
            })
        })
    }
}

/// A gap (m) that is lost in the rounding of positions.
fn round_off(p: V3) -> f64 {
    8.0 * f64::EPSILON * p.iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

/// The first edge of one surface that passes through a triangle of another.
fn cuts(edges_of: Posed<'_>, triangles_of: Posed<'_>) -> Option<Intersection> {
    let boxes = |posed: Posed<'_>| {
        let points: Vec<_> = posed.x.iter().map(|x| swept_box(*x, *x, 0.0)).collect();
        SurfaceBoxes::new(posed.mesh, &points)
    };
    let kinds = [Simplex::Edge, Simplex::Triangle];
    let trees = [edges_of.mesh.tree(kinds[0]), triangles_of.mesh.tree(kinds[1])];
    let mut found = overlapping(trees, [&boxes(edges_of), &boxes(triangles_of)], kinds, false);
    found.sort_unstable();
    let itself = std::ptr::eq(edges_of.mesh, triangles_of.mesh);
    found.into_iter().find_map(|[edge, triangle]| {
        let ids: [SimplexId; 2] = [(Simplex::Edge, edge), (Simplex::Triangle, triangle)];
        let (ends, corners) = (edges_of.mesh.corners(&ids[0]), triangles_of.mesh.corners(&ids[1]));
        if itself && ends.iter().any(|v| corners.contains(v)) {
            return None;
        }
        let at = |posed: &Posed<'_>, v: u32| posed.x[v as usize];
        let segment = [0, 1].map(|k| at(&edges_of, ends[k]));
        let place = crossing(segment, [0, 1, 2].map(|k| at(&triangles_of, corners[k])))?;
        let node = |mesh: &CollisionMesh, v: u32| Some(mesh.nodes[v as usize]);
        Some(Intersection {
            nodes: [node(edges_of.mesh, ends[0]), node(triangles_of.mesh, corners[0])],
            place,
        })
    })
}

/// Where a segment passes through a triangle.
fn crossing([p, q]: [V3; 2], [a, b, c]: [V3; 3]) -> Option<V3> {
    let (below, above) = (volume([a, b, c, p]), volume([a, b, c, q]));
    if below * above >= 0.0 {
        return None;
    }
    let sides = [volume([p, q, a, b]), volume([p, q, b, c]), volume([p, q, c, a])];
    let same = sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0);
    let t = below / (below - above);
    same.then(|| add(scale(p, 1.0 - t), scale(q, t)))
}

impl Intersections for ObstacleBarrier {
    fn first_intersection(&self, q: &[f64]) -> Option<Intersection> {
        let place = |node: u32| [0, 1, 2].map(|k| q[3 * node as usize + k]);
        let inside = |node: u32| self.shape.distance(&place(node)).distance <= 0.0;
        let node = self.nodes.iter().map(|n| n.node).find(|node| inside(*node))?;
        Some(Intersection { nodes: [Some(node), None], place: place(node) })
    }
}
