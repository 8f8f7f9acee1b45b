//! Which vertices may touch which triangles, and which edges which edges: boxes in trees, tree against tree.
//!
//! What is found is sorted, and a superset of what is near. Everything that is made of it filters by the exact distance, so
//! that results depend neither on how far the search looked nor on the number of threads.

use super::collision_mesh::{CollisionMesh, Simplex, Tree};
use super::friction::FrictionLaw;
use super::law::BarrierLaw;
use crate::math::vector::{V3, bounds};
use crate::mesh::bvh::{Box3, NOWHERE, overlap};
use lilyan_parallel::threads;
use std::ops::Range;

/// Two surfaces that touch, or one that touches itself.
#[derive(Debug)]
pub struct SurfacePair {
    /// Their places in the list of surfaces; the same twice for contact with itself.
    pub surfaces: [usize; 2],
    /// The law per area.
    pub law: BarrierLaw,
    /// The part of the energy that the vertices of the first, and of the second, have.
    pub shares: [f64; 2],
    /// Friction, if there is any.
    pub friction: Option<FrictionLaw>,
}

impl SurfacePair {
    /// Whether it is one surface and itself.
    pub fn is_self(&self) -> bool {
        self.surfaces[0] == self.surfaces[1]
    }
}

/// What may touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// Number of the pair, side of the vertex, vertex, triangle; ascending.
    pub vertices: Vec<VertexCandidate>,
    /// Number of the pair, edge of the first, edge of the second; ascending.
    pub edges: Vec<[u32; 3]>,
}

/// A vertex and a triangle that may touch; ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VertexCandidate {
    /// Number of the pair.
    pub pair: u32,
    /// Whether the vertex belongs to the second surface.
    pub second: bool,
    /// The vertex.
    pub vertex: u32,
    /// The triangle of the other surface.
    pub triangle: u32,
}

impl VertexCandidate {
    /// The places of the surfaces of the vertex and of the triangle.
    pub fn surfaces(&self, pair: &SurfacePair) -> [usize; 2] {
        let [a, b] = pair.surfaces;
        if self.second { [b, a] } else { [a, b] }
    }

    fn owner(&self) -> (u32, bool, u32) {
        (self.pair, self.second, self.vertex)
    }
}

impl Candidates {
    /// The candidates of each vertex.
    pub fn by_vertex(&self) -> Vec<Range<usize>> {
        let mut first = 0;
        let groups = self.vertices.chunk_by(|a, b| a.owner() == b.owner());
        let range = |group: &[VertexCandidate]| {
            let begin = first;
            first += group.len();
            begin..first
        };
        groups.map(range).collect()
    }

    /// All candidates of both.
    pub fn union(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.vertices.extend(&other.vertices);
        out.edges.extend(&other.edges);
        out.sort();
        out
    }

    fn sort(&mut self) {
        self.vertices.sort_unstable();
        self.vertices.dedup();
        self.edges.sort_unstable();
        self.edges.dedup();
    }
}

/// The boxes of a surface with vertices in given boxes.
pub struct SurfaceBoxes {
    /// Of the vertices, edges and triangles.
    items: [Vec<Box3>; 3],
    /// Of the nodes of their trees.
    nodes: [Vec<Box3>; 3],
}

impl SurfaceBoxes {
    /// Of a surface with vertices in these boxes.
    pub fn new(mesh: &CollisionMesh, vertices: &[Box3]) -> Self {
        let kinds = [Simplex::Vertex, Simplex::Edge, Simplex::Triangle];
        let items = kinds.map(|kind| mesh.item_boxes(kind, vertices));
        let nodes = kinds.map(|kind| mesh.tree(kind).boxes(&items[kind as usize]));
        Self { items, nodes }
    }
}

/// The box around two points, larger by `margin` (m) on all sides.
pub fn swept_box(a: V3, b: V3, margin: f64) -> Box3 {
    [[0, 1, 2].map(|k| a[k].min(b[k]) - margin), [0, 1, 2].map(|k| a[k].max(b[k]) + margin)]
}

/// Pairs of leaves per task.
const CHUNK: usize = 256;

/// What may touch of these surfaces whose vertices are in these boxes.
pub fn candidates(meshes: &[CollisionMesh], pairs: &[SurfacePair], vertices: &[Vec<Box3>]) -> Candidates {
    let bounds: Vec<Box3> =
        vertices.iter().map(|boxes| bounds(boxes.iter().flatten().copied()).unwrap_or(NOWHERE)).collect();
    let near = |pair: &SurfacePair| {
        let [a, b] = pair.surfaces;
        pair.is_self() || overlap(&bounds[a], &bounds[b])
    };
    let mut needed = vec![false; meshes.len()];
    pairs
        .iter()
        .filter(|pair| near(pair))
        .for_each(|pair| pair.surfaces.iter().for_each(|&s| needed[s] = true));
    let boxes: Vec<Option<SurfaceBoxes>> =
        threads::par_map(meshes.len(), |s| needed[s].then(|| SurfaceBoxes::new(&meshes[s], &vertices[s])));
    let mut out = Candidates::default();
    for (p, pair) in (0u32..).zip(pairs).filter(|(_, pair)| near(pair)) {
        let [a, b] = pair.surfaces;
        let (Some(first), Some(second)) = (&boxes[a], &boxes[b]) else { continue };
        let (meshes, boxes) = ([&meshes[a], &meshes[b]], [first, second]);
        let sides = if pair.is_self() { 0..1 } else { 0..2 };
        for side in sides {
            let [i, j] = [side, 1 - side];
            let all = overlapping(
                [meshes[i].tree(Simplex::Vertex), meshes[j].tree(Simplex::Triangle)],
                [boxes[i], boxes[j]],
                [Simplex::Vertex, Simplex::Triangle],
                false,
            );
            let found = all.into_iter().filter(|&[vertex, triangle]| {
                !(pair.is_self() && meshes[j].triangles[triangle as usize].contains(&vertex))
            });
            let second = side == 1;
            out.vertices.extend(found.map(|[vertex, triangle]| VertexCandidate {
                pair: p,
                second,
                vertex,
                triangle,
            }));
        }
        let all = overlapping(
            meshes.map(|mesh| mesh.tree(Simplex::Edge)),
            boxes,
            [Simplex::Edge; 2],
            pair.is_self(),
        );
        let edges = |e: u32, f: u32| (&meshes[0].edges[e as usize], &meshes[1].edges[f as usize]);
        out.edges.extend(all.into_iter().filter_map(|[e, f]| {
            if !pair.is_self() {
                return Some([p, e, f]);
            }
            let (own, other) = edges(e, f);
            let apart = own.iter().all(|v| !other.contains(v));
            apart.then_some([p, e.min(f), e.max(f)])
        }));
    }
    out.sort();
    out
}

/// Pairs of simplices with overlapping boxes; of a surface and `itself` each pair once.
pub(super) fn overlapping(
    trees: [&Tree; 2],
    boxes: [&SurfaceBoxes; 2],
    kinds: [Simplex; 2],
    itself: bool,
) -> Vec<[u32; 2]> {
    let nodes = [0, 1].map(|k| boxes[k].nodes[kinds[k] as usize].as_slice());
    let items = [0, 1].map(|k| boxes[k].items[kinds[k] as usize].as_slice());
    let other = (!itself).then_some((&trees[1].tree, nodes[1]));
    let leaves = trees[0].tree.overlapping_leaves(nodes[0], other);
    let chunks = threads::par_map(leaves.len().div_ceil(CHUNK), |chunk| {
        let mut found = Vec::new();
        for &(a, b) in &leaves[chunk * CHUNK..leaves.len().min((chunk + 1) * CHUNK)] {
            for i in trees[0].tree.leaf(a) {
                for j in trees[1].tree.leaf(b) {
                    let [i, j] = [trees[0].order[i], trees[1].order[j]];
                    if overlap(&items[0][i as usize], &items[1][j as usize]) {
                        found.push([i, j]);
                    }
                }
            }
        }
        found
    });
    chunks.concat()
}
