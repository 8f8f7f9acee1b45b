//! The surface of a body as vertices, edges and triangles, with what inclusion–exclusion and the search need.
//!
//! The numbers of a surface that a union of simplices is counted with: every triangle +1, every edge −(n − 1) for its n
//! triangles, every vertex what is left to 1. Then all simplices that contain a vertex, or an edge, count 1 in all.

use crate::contact::ContactSurface;
use crate::math::vector::{V3, add, area_vector, bounds, norm, scale};
use crate::mesh::TriMesh;
use crate::mesh::bvh::{Box3, Bvh, NOWHERE};

/// Vertices that do not move have node numbers from here on, one each.
const FIRST_FIXED: u32 = 1 << 31;

/// Whether this is the number of a vertex that does not move, and so no node.
pub fn is_fixed(node: u32) -> bool {
    node >= FIRST_FIXED
}

/// A surface in its own numbers.
#[derive(Debug)]
pub struct CollisionMesh {
    /// Node of each vertex; see [`is_fixed`].
    pub nodes: Vec<u32>,
    /// Rest positions of the vertices, m; of an obstacle, where they are.
    pub rest: Vec<V3>,
    /// Area of each vertex at rest, m².
    pub areas: Vec<f64>,
    /// Vertices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Edges of each triangle; the first is opposite to the first corner.
    pub triangle_edges: Vec<[u32; 3]>,
    /// Vertices of each edge, ascending.
    pub edges: Vec<[u32; 2]>,
    /// A third of the triangles at each edge, m².
    pub edge_areas: Vec<f64>,
    /// 1 − n for the n triangles of each edge.
    pub edge_counts: Vec<i32>,
    /// What is left to 1 at each vertex.
    pub vertex_counts: Vec<i32>,
    /// Triangles around each vertex, in compressed rows.
    stars: CompressedRows,
    /// Trees over vertices, edges and triangles.
    trees: [Tree; 3],
}

/// A tree and the items in the order of its leaves.
#[derive(Debug)]
pub(in crate::contact) struct Tree {
    pub tree: Bvh,
    pub order: Vec<u32>,
}

impl Tree {
    fn new(centers: &[V3]) -> Self {
        let (tree, order) = Bvh::new(centers);
        Self { tree, order }
    }

    /// Boxes of the nodes from those of the items.
    pub fn boxes(&self, items: &[Box3]) -> Vec<Box3> {
        self.tree.boxes(|leaf| items[self.order[leaf] as usize])
    }
}

/// Lists of numbers, one after the other.
#[derive(Debug)]
struct CompressedRows {
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl CompressedRows {
    /// From pairs of a row below `rows` and an item.
    fn new(rows: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        let mut offsets = vec![0; rows + 1];
        pairs.iter().for_each(|pair| offsets[pair.0 as usize + 1] += 1);
        (0..rows).for_each(|row| offsets[row + 1] += offsets[row]);
        Self { offsets, items: pairs.into_iter().map(|pair| pair.1).collect() }
    }

    fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.items[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

/// A kind of simplex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Simplex {
    Vertex,
    Edge,
    Triangle,
}

impl CollisionMesh {
    /// The surface of a body.
    pub fn of_body(surface: &ContactSurface) -> Self {
        let (nodes, areas) = (surface.nodes.clone(), surface.areas.clone());
        Self::new(nodes, surface.rest.clone(), areas, surface.triangles.clone())
    }

    /// A mesh that does not move.
    pub fn of_obstacle(mesh: &TriMesh) -> Self {
        let mut areas = vec![0.0; mesh.vertices.len()];
        for corners in &mesh.triangles {
            let normal = area_vector(corners.map(|v| mesh.vertices[v as usize]));
            corners.iter().for_each(|&v| areas[v as usize] += norm(normal) / 6.0);
        }
        let nodes = (FIRST_FIXED..).take(areas.len()).collect();
        Self::new(nodes, mesh.vertices.clone(), areas, mesh.triangles.clone())
    }

    fn new(nodes: Vec<u32>, rest: Vec<V3>, areas: Vec<f64>, triangles: Vec<[u32; 3]>) -> Self {
        let (edges, triangle_edges) = edges_of(&triangles);
        let corners = (0u32..).zip(&triangles).flat_map(|(t, corners)| corners.map(|v| (v, t)));
        let stars = CompressedRows::new(nodes.len(), corners.collect());
        let mut edge_areas = vec![0.0; edges.len()];
        let mut edge_counts = vec![1; edges.len()];
        for (corners, own) in triangles.iter().zip(&triangle_edges) {
            let normal = area_vector(corners.map(|v| rest[v as usize]));
            let area = 0.5 * norm(normal);
            for &edge in own {
                edge_areas[edge as usize] += area / 3.0;
                edge_counts[edge as usize] -= 1;
            }
        }
        let center = |corners: &[u32]| {
            let sum = corners.iter().fold([0.0; 3], |sum, &v| add(sum, rest[v as usize]));
            scale(sum, 1.0 / corners.len() as f64)
        };
        let trees = [
            Tree::new(&rest),
            Tree::new(&edges.iter().map(|e| center(e)).collect::<Vec<_>>()),
            Tree::new(&triangles.iter().map(|t| center(t)).collect::<Vec<_>>()),
        ];
        let mut out = Self {
            nodes,
            rest,
            areas,
            triangles,
            triangle_edges,
            edges,
            edge_areas,
            edge_counts,
            vertex_counts: Vec::new(),
            stars,
            trees,
        };
        out.vertex_counts = (0..out.nodes.len() as u32).map(|v| out.count_of_vertex(v, None)).collect();
        out
    }

    /// What is left to 1 at a vertex of the triangles and edges there that do not contain `without`.
    fn count_of_vertex(&self, v: u32, without: Option<u32>) -> i32 {
        let kept = |t: &&u32| without.is_none_or(|p| !self.triangles[**t as usize].contains(&p));
        let mut edges: Vec<u32> = Vec::new();
        let mut count = 1;
        for &t in self.stars.row(v).iter().filter(kept) {
            count -= 1;
            let own = self.triangle_edges[t as usize].iter();
            edges.extend(own.filter(|e| self.edges[**e as usize].contains(&v)));
        }
        edges.sort_unstable();
        count + edges.windows(2).filter(|pair| pair[0] == pair[1]).count() as i32
    }

    /// The number that an edge counts with, seen from a vertex of the same surface (`own`) that is not one of its ends.
    pub fn edge_count(&self, edge: u32, own: Option<u32>) -> i32 {
        let count = self.edge_counts[edge as usize];
        let Some(p) = own else { return count };
        let [a, _] = self.edges[edge as usize];
        let holds = |t: &&u32| {
            self.triangle_edges[**t as usize].contains(&edge) && self.triangles[**t as usize].contains(&p)
        };
        let at_vertex = self.stars.row(a).iter().filter(holds).count() as i32;
        (count + at_vertex).min(0)
    }

    /// The number that a vertex counts with, seen from another vertex of the same surface (`own`).
    pub fn vertex_count(&self, v: u32, own: Option<u32>) -> i32 {
        let near = |p: &u32| self.stars.row(v).iter().any(|t| self.triangles[*t as usize].contains(p));
        match own.filter(near) {
            None => self.vertex_counts[v as usize],
            without => self.count_of_vertex(v, without),
        }
    }

    /// The mean area of a vertex, m².
    pub fn mean_area(&self) -> f64 {
        self.areas.iter().sum::<f64>() / self.areas.len().max(1) as f64
    }

    /// The positions of the vertices, m.
    pub fn positions(&self, q: &[f64]) -> Vec<V3> {
        let at = |(&n, x): (&u32, &V3)| {
            if is_fixed(n) { *x } else { std::array::from_fn(|k| q[3 * n as usize + k]) }
        };
        self.nodes.iter().zip(&self.rest).map(at).collect()
    }

    /// The motion of the vertices, from that of the nodes.
    pub fn motion(&self, d: &[f64]) -> Vec<V3> {
        let of = |&n: &u32| {
            if is_fixed(n) { [0.0; 3] } else { std::array::from_fn(|k| d[3 * n as usize + k]) }
        };
        self.nodes.iter().map(of).collect()
    }

    /// The tree over simplices of a kind.
    pub(super) fn tree(&self, kind: Simplex) -> &Tree {
        &self.trees[kind as usize]
    }

    /// The vertices of a simplex.
    pub fn corners<'a>(&'a self, (kind, item): &'a (Simplex, u32)) -> &'a [u32] {
        match kind {
            Simplex::Vertex => std::slice::from_ref(item),
            Simplex::Edge => &self.edges[*item as usize],
            Simplex::Triangle => &self.triangles[*item as usize],
        }
    }

    /// The boxes of all simplices of a kind whose vertices are in these boxes.
    pub fn item_boxes(&self, kind: Simplex, vertices: &[Box3]) -> Vec<Box3> {
        let join =
            |corners: &[u32]| bounds(corners.iter().flat_map(|&v| vertices[v as usize])).unwrap_or(NOWHERE);
        match kind {
            Simplex::Vertex => vertices.to_vec(),
            Simplex::Edge => self.edges.iter().map(|e| join(e)).collect(),
            Simplex::Triangle => self.triangles.iter().map(|t| join(t)).collect(),
        }
    }
}

/// Edges of triangles, each once, ascending; and the edges of each triangle, the first opposite to the first corner.
fn edges_of(triangles: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let opposite = |t: &[u32; 3], k: usize| {
        let (a, b) = (t[(k + 1) % 3], t[(k + 2) % 3]);
        [a.min(b), a.max(b)]
    };
    let mut edges: Vec<[u32; 2]> = triangles.iter().flat_map(|t| [0, 1, 2].map(|k| opposite(t, k))).collect();
    edges.sort_unstable();
    edges.dedup();
    // Every edge of a triangle is in the list.
    let place = |edge: [u32; 2]| edges.partition_point(|e| *e < edge) as u32;
    let own = triangles.iter().map(|t| [0, 1, 2].map(|k| place(opposite(t, k)))).collect();
    (edges, own)
}
