//! A mesh cut into its tets, each with four vertices of its own: what discontinuous elements live on.

use super::topology::FACES;
use super::{NO_TET, Surface, TetMesh};

/// A face between two tets of a split mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitFace {
    /// The tets.
    pub tets: [u32; 2],
    /// Corners of each that lie on the face, in the same order of places; outward of the first.
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
                        tets: [t as u32, other],
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
