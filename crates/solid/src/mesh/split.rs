//! A mesh cut into its tets, or a surface into its triangles, each with vertices of its own: what discontinuous elements
//! live on.

use super::topology::FACES;
use super::{NO_TET, Surface, TetMesh, TriMesh};

/// A face between two tets of a split mesh, or an edge between two triangles of a split surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitFace {
    /// The tets or triangles.
    pub cells: [u32; 2],
    /// Corners of each that lie on the face, in the same order of places; outward of the first. The first two for an
    /// edge.
    pub corners: [[u8; 3]; 2],
}

/// A split mesh; vertex k of tet t is number 4t + k.
#[derive(Clone, Debug)]
pub struct Split {
    /// The tets, with the tags and sets of the whole.
    pub mesh: TetMesh,
    /// The boundary of the whole.
    pub surface: Surface,
    /// The faces inside.
    pub faces: Vec<SplitFace>,
}

impl TetMesh {
    /// Cut into its tets.
    pub fn split(&self) -> Split {
        let number = |t: usize, k: usize| (4 * t + k) as u32;
        let mut mesh = self.clone();
        mesh.vertices = self.tets.iter().flatten().map(|&v| self.vertices[v as usize]).collect();
        mesh.tets = (0..self.tets.len()).map(|t| [0, 1, 2, 3].map(|k| number(t, k))).collect();
        for field in mesh.point_data.values_mut() {
            *field = self.tets.iter().flatten().map(|&v| field[v as usize]).collect();
        }
        for set in mesh.vertex_sets.values_mut() {
            let mut chosen = vec![false; self.vertices.len()];
            set.iter().for_each(|v| chosen[*v as usize] = true);
            let all = self.tets.iter().flatten().enumerate();
            *set = all.filter(|(_, v)| chosen[**v as usize]).map(|(n, _)| n as u32).collect();
        }
        let (mut surface, mut faces) = (Surface::default(), Vec::new());
        for (t, neighbours) in self.neighbours().iter().enumerate() {
            for (f, &other) in neighbours.iter().enumerate() {
                let corners = FACES[f];
                if other == NO_TET {
                    surface.triangles.push(corners.map(|k| number(t, k)));
                    surface.tets.push(t as u32);
                } else if (other as usize) > t {
                    let theirs = &self.tets[other as usize];
                    let same = |k: usize| theirs.iter().position(|v| *v == self.tets[t][k]).unwrap_or(0);
                    faces.push(SplitFace {
                        cells: [t as u32, other],
                        corners: [corners.map(|k| k as u8), corners.map(|k| same(k) as u8)],
                    });
                }
            }
        }
        surface.vertices = surface.triangles.concat();
        surface.vertices.sort_unstable();
        surface.vertices.dedup();
        Split { mesh, surface, faces }
    }
}

impl TriMesh {
    /// Cut into its triangles, vertex k of triangle t being number 3t + k, with the edges between them. Where more than
    /// two triangles meet, each is joined to the next.
    pub fn split(&self) -> (TriMesh, Vec<SplitFace>) {
        let all = self.triangles.iter().flatten();
        let whole = TriMesh {
            vertices: all.map(|v| self.vertices[*v as usize]).collect(),
            triangles: (0..self.triangles.len()).map(|t| [0, 1, 2].map(|k| (3 * t + k) as u32)).collect(),
        };
        // Ends in order of their numbers, triangle, corners in the same order.
        let mut edges: Vec<([u32; 2], u32, [u8; 2])> = Vec::new();
        for (t, corners) in self.triangles.iter().enumerate() {
            for k in [[0u8, 1], [1, 2], [2, 0]] {
                let ends = k.map(|k| corners[usize::from(k)]);
                edges.push(match ends[0] < ends[1] {
                    true => (ends, t as u32, k),
                    false => ([ends[1], ends[0]], t as u32, [k[1], k[0]]),
                });
            }
        }
        edges.sort_unstable();
        let joined = edges.windows(2).filter(|e| e[0].0 == e[1].0);
        let face = |e: &[([u32; 2], u32, [u8; 2])]| SplitFace {
            cells: [e[0].1, e[1].1],
            corners: [e[0].2, e[1].2].map(|[a, b]| [a, b, b]),
        };
        (whole, joined.map(face).collect())
    }
}
