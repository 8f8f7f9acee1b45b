//! Faces, neighbours, the surface.

use super::{Mesh, TriMesh};
use crate::math::vector::{area_vector, norm};

/// Corner numbers of the face opposite to each corner, outward in a positively oriented tet.
pub const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Corner numbers of the six edges.
pub(crate) const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Stands for "no tet" in [`Mesh::neighbours`].
pub const NO_TET: u32 = u32::MAX;

/// The boundary of a tet mesh, in the mesh's own vertex numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Boundary triangles, counter-clockwise seen from outside (of an oriented mesh).
    pub triangles: Vec<[u32; 3]>,
    /// The tet behind each triangle.
    pub tets: Vec<u32>,
    /// Boundary vertices, ascending.
    pub vertices: Vec<u32>,
}

/// Counts, and what Euler's formula says about them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Vertices that some tet uses.
    pub vertices: usize,
    /// Edges.
    pub edges: usize,
    /// Faces, inner and boundary.
    pub faces: usize,
    /// Tets.
    pub tets: usize,
    /// Faces of one tet only.
    pub boundary_faces: usize,
    /// Faces of three or more tets, each as sorted vertex numbers: the mesh overlaps itself.
    pub overfull_faces: Vec<[u32; 3]>,
    /// Boundary edges with other than two boundary faces: bodies that touch along an edge.
    pub pinched_edges: Vec<[u32; 2]>,
    /// V − E + F − T: 1 for a ball, 0 for a solid torus.
    pub euler: i64,
    /// V − E + F of the boundary: 2 for a sphere, 0 for a torus.
    pub boundary_euler: i64,
    /// Pieces that hang together by faces.
    pub components: usize,
    /// Vertices that no tet uses.
    pub unused_vertices: Vec<u32>,
}

impl Topology {
    /// Whether the mesh conforms and is a manifold as far as counting can tell: no overfull face,
    /// no pinched edge, and χ(body) = ½ χ(boundary), which holds for every compact 3-manifold.
    pub fn is_manifold(&self) -> bool {
        self.overfull_faces.is_empty()
            && self.pinched_edges.is_empty()
            && 2 * self.euler == self.boundary_euler
    }
}

/// Which vertices share an edge, in compressed rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexGraph {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
}

impl VertexGraph {
    /// Vertices that share an edge with `vertex`, ascending.
    pub fn neighbours(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.offsets[vertex]..self.offsets[vertex + 1]]
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }
}

fn sorted<const N: usize>(mut a: [u32; N]) -> [u32; N] {
    a.sort_unstable();
    a
}

/// All faces with their owner `4·tet + face`, grouped by vertices.
fn sorted_faces(tets: &[[u32; 4]]) -> Vec<([u32; 3], u32)> {
    let mut faces: Vec<([u32; 3], u32)> = tets
        .iter()
        .enumerate()
        .flat_map(|(t, tet)| (0..4).map(move |f| (sorted(FACES[f].map(|k| tet[k])), (4 * t + f) as u32)))
        .collect();
    faces.sort_unstable();
    faces
}

/// Lists of numbers per row: `(row, value)` pairs in, offsets and values out, in the given order.
pub(crate) fn compress(rows: usize, pairs: &[(u32, u32)]) -> (Vec<usize>, Vec<u32>) {
    let mut offsets = vec![0; rows + 1];
    for &(row, _) in pairs {
        offsets[row as usize + 1] += 1;
    }
    for r in 0..rows {
        offsets[r + 1] += offsets[r];
    }
    let mut next = offsets.clone();
    let mut values = vec![0; pairs.len()];
    for &(row, value) in pairs {
        values[next[row as usize]] = value;
        next[row as usize] += 1;
    }
    (offsets, values)
}

impl Mesh {
    /// For each tet, the tet behind the face opposite to each of its corners; [`NO_TET`] on the
    /// boundary (and at faces of three or more tets, which [`Mesh::topology`] lists).
    pub fn neighbours(&self) -> Vec<[u32; 4]> {
        let mut out = vec![[NO_TET; 4]; self.tets().len()];
        for group in sorted_faces(self.tets()).chunk_by(|a, b| a.0 == b.0) {
            if let &[(_, a), (_, b)] = group {
                out[a as usize / 4][a as usize % 4] = b / 4;
                out[b as usize / 4][b as usize % 4] = a / 4;
            }
        }
        out
    }

    /// Which vertices share an edge.
    pub fn vertex_graph(&self) -> VertexGraph {
        let mut pairs: Vec<(u32, u32)> = self
            .tets()
            .iter()
            .flat_map(|t| EDGES.iter().flat_map(|&[i, j]| [(t[i], t[j]), (t[j], t[i])]))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let (offsets, neighbours) = compress(self.vertices.len(), &pairs);
        VertexGraph { offsets, neighbours }
    }

    /// The tets around each vertex, ascending: offsets and tet numbers in compressed rows.
    pub fn vertex_tets(&self) -> (Vec<usize>, Vec<u32>) {
        let pairs: Vec<(u32, u32)> =
            (0..self.tets().len()).flat_map(|t| self.tets()[t].map(|v| (v, t as u32))).collect();
        compress(self.vertices.len(), &pairs)
    }

    /// Piece number of each tet (pieces hang together by faces, numbered by their first tet), and
    /// how many there are.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let neighbours = self.neighbours();
        let mut piece = vec![u32::MAX; self.tets().len()];
        let mut count = 0;
        let mut stack = Vec::new();
        for seed in 0..self.tets().len() {
            if piece[seed] != u32::MAX {
                continue;
            }
            piece[seed] = count;
            stack.push(seed);
            while let Some(t) = stack.pop() {
                for n in neighbours[t].into_iter().filter(|&n| n != NO_TET) {
                    if piece[n as usize] == u32::MAX {
                        piece[n as usize] = count;
                        stack.push(n as usize);
                    }
                }
            }
            count += 1;
        }
        (piece, count as usize)
    }

    /// Counts vertices, edges, faces and pieces, and lists where the mesh is no manifold.
    pub fn topology(&self) -> Topology {
        let faces = sorted_faces(self.tets());
        let (mut face_count, mut boundary_faces) = (0, 0);
        let mut overfull_faces = Vec::new();
        let mut boundary_edges: Vec<[u32; 2]> = Vec::new();
        for group in faces.chunk_by(|a, b| a.0 == b.0) {
            face_count += 1;
            let f = group[0].0;
            match group.len() {
                1 => {
                    boundary_faces += 1;
                    boundary_edges.extend([[f[0], f[1]], [f[0], f[2]], [f[1], f[2]]]);
                }
                2 => {}
                _ => overfull_faces.push(f),
            }
        }
        boundary_edges.sort_unstable();
        let mut pinched_edges = Vec::new();
        let mut boundary_edge_count = 0;
        for group in boundary_edges.chunk_by(|a, b| a == b) {
            boundary_edge_count += 1;
            if group.len() != 2 {
                pinched_edges.push(group[0]);
            }
        }
        let mut boundary_vertices = boundary_edges.as_flattened().to_vec();
        boundary_vertices.sort_unstable();
        boundary_vertices.dedup();
        let mut used = vec![false; self.vertices.len()];
        for &v in self.tets().as_flattened() {
            used[v as usize] = true;
        }
        let unused_vertices: Vec<u32> = (0..used.len() as u32).filter(|&v| !used[v as usize]).collect();
        let vertices = used.len() - unused_vertices.len();
        let edges = self.vertex_graph().edges();
        let tets = self.tets().len();
        Topology {
            vertices,
            edges,
            faces: face_count,
            tets,
            boundary_faces,
            overfull_faces,
            pinched_edges,
            euler: vertices as i64 - edges as i64 + face_count as i64 - tets as i64,
            boundary_euler: boundary_vertices.len() as i64 - boundary_edge_count as i64
                + boundary_faces as i64,
            components: self.components().1,
            unused_vertices,
        }
    }
}

impl Surface {
    /// The faces that belong to one tet only, outward, in the order of their tets; without tets, the triangles.
    pub(super) fn of(mesh: &Mesh) -> Self {
        let tets = mesh.tets();
        if tets.is_empty() {
            return Self::of_triangles(mesh.triangles().to_vec(), Vec::new());
        }
        let mut owners: Vec<usize> = sorted_faces(tets)
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|group| group.len() == 1)
            .map(|group| group[0].1 as usize)
            .collect();
        owners.sort_unstable();
        let triangles = owners.iter().map(|&o| FACES[o % 4].map(|k| tets[o / 4][k])).collect();
        Self::of_triangles(triangles, owners.iter().map(|&o| (o / 4) as u32).collect())
    }

    /// Whether there are triangles, and every edge belongs to two of them, once in each direction.
    pub(super) fn is_closed(&self) -> bool {
        let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
        let mut edges: Vec<[u32; 2]> = self.triangles.iter().flat_map(sides).collect();
        edges.sort_unstable();
        !edges.is_empty()
            && edges.windows(2).all(|e| e[0] != e[1])
            && edges.iter().all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok())
    }

    /// Of triangles of nodes, outward, and the tet that each belongs to (none for a body without tets).
    pub fn of_triangles(triangles: Vec<[u32; 3]>, tets: Vec<u32>) -> Self {
        let mut vertices = triangles.as_flattened().to_vec();
        vertices.sort_unstable();
        vertices.dedup();
        Self { triangles, tets, vertices }
    }

    /// Area of each triangle, m².
    pub fn face_areas(&self, positions: &[[f64; 3]]) -> Vec<f64> {
        self.triangles.iter().map(|t| 0.5 * norm(area_vector(t.map(|v| positions[v as usize])))).collect()
    }

    /// Area that each vertex of the mesh stands for, m²: a third of every triangle around it, 0
    /// inside the body. The weights of contact, traction and pressure.
    pub fn nodal_areas(&self, positions: &[[f64; 3]]) -> Vec<f64> {
        let mut out = vec![0.0; positions.len()];
        for (t, area) in self.triangles.iter().zip(self.face_areas(positions)) {
            for &v in t {
                out[v as usize] += area / 3.0;
            }
        }
        out
    }

    /// The surface with its own vertex numbers, at the given positions of the mesh's vertices;
    /// vertex i of the result is vertex `self.vertices[i]` of the mesh.
    pub fn to_tri_mesh(&self, positions: &[[f64; 3]]) -> TriMesh {
        let mut number = vec![0; positions.len()];
        for (i, &v) in self.vertices.iter().enumerate() {
            number[v as usize] = i as u32;
        }
        TriMesh {
            vertices: self.vertices.iter().map(|&v| positions[v as usize]).collect(),
            triangles: self.triangles.iter().map(|t| t.map(|v| number[v as usize])).collect(),
        }
    }
}
