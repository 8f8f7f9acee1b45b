//! Tetrahedral meshes: vertices, tets, what the file said about them, and the surface.
//!
//! | file | what it answers |
//! |---|---|
//! | `quality` | volumes, dihedral angles, heights, worst elements |
//! | `topology` | faces, neighbours, the oriented surface, Euler's formula |
//! | `order` | renumbering for locality |
//! | `locate` | which tet holds a point |
//! | `embed` | points that tets carry along |
//! | `display` | fine points shown from the motion of a coarse mesh |
//! | `split` | every tet by itself |

mod display;
mod embed;
mod locate;
mod order;
mod quality;
mod split;
pub(crate) mod topology;
pub(crate) mod vector;

pub use display::{Display, Harmonics};
pub use embed::{Embedding, REACH};
pub use locate::{Location, Locator};
pub use order::Permutation;
pub use quality::{ElementQuality, Quality};
pub use split::{Split, SplitFace};
pub use topology::{FACES, NO_TET, Surface, Topology, VertexGraph};

use std::collections::BTreeMap;
use std::fmt;
use vector::V3;

/// A tetrahedral mesh with whatever named data came with it.
///
/// A tet (a, b, c, d) is positively oriented when (b−a)·((c−a)×(d−a)) > 0; everything after
/// [`TetMesh::orient`] may count on that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Vertex positions, m.
    pub vertices: Vec<[f64; 3]>,
    /// Vertex numbers of each tet, from 0.
    pub tets: Vec<[u32; 4]>,
    /// Region number of each tet (material or physical tag, 0 where the file has none).
    pub tags: Vec<i64>,
    /// Names of regions, where the file gives them.
    pub region_names: BTreeMap<String, Vec<i64>>,
    /// Per-tet scalar fields of the file (for heterogeneous materials).
    pub cell_data: BTreeMap<String, Vec<f64>>,
    /// Per-vertex scalar fields of the file (for masses).
    pub point_data: BTreeMap<String, Vec<f64>>,
    /// Named or numbered vertex sets of the file (pins refer to them).
    pub vertex_sets: BTreeMap<String, Vec<u32>>,
}

/// A triangle surface as read from .obj, .stl, .ply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions, m.
    pub vertices: Vec<[f64; 3]>,
    /// Vertex numbers of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// What can be wrong with the arrays of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshError {
    /// There are no elements.
    Empty,
    /// A coordinate is NaN or infinite.
    NotFinite {
        /// Vertex number, from 0.
        vertex: usize,
    },
    /// An element names a vertex that does not exist.
    OutOfRange {
        /// Element number, from 0.
        element: usize,
        /// The vertex number it gives.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// An element names the same vertex twice.
    Repeated {
        /// Element number, from 0.
        element: usize,
        /// The vertex named twice.
        vertex: u32,
    },
    /// Data are not as long as the list of tets or vertices.
    Length {
        /// Which data.
        name: String,
        /// Their length.
        found: usize,
        /// The number of tets or vertices.
        expected: usize,
    },
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the mesh has no elements"),
            Self::NotFinite { vertex } => {
                write!(f, "vertex {vertex}: a coordinate is not a finite number")
            }
            Self::OutOfRange { element, vertex, vertices } => write!(
                f,
                "element {element} refers to vertex {vertex}, but there are {vertices} vertices (numbered from 0)"
            ),
            Self::Repeated { element, vertex } => {
                write!(f, "element {element} names vertex {vertex} twice: it has no volume")
            }
            Self::Length { name, found, expected } => {
                write!(f, "{name} has {found} entries instead of {expected}")
            }
        }
    }
}

impl std::error::Error for MeshError {}

fn check_arrays<const N: usize>(vertices: &[V3], elements: &[[u32; N]]) -> Result<(), MeshError> {
    if elements.is_empty() {
        return Err(MeshError::Empty);
    }
    if let Some(vertex) = vertices.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
        return Err(MeshError::NotFinite { vertex });
    }
    for (element, e) in elements.iter().enumerate() {
        for (k, &vertex) in e.iter().enumerate() {
            if vertex as usize >= vertices.len() {
                return Err(MeshError::OutOfRange { element, vertex, vertices: vertices.len() });
            }
            if e[..k].contains(&vertex) {
                return Err(MeshError::Repeated { element, vertex });
            }
        }
    }
    Ok(())
}

impl TetMesh {
    /// A mesh of one region (tag 0) without named data.
    pub fn new(vertices: Vec<[f64; 3]>, tets: Vec<[u32; 4]>) -> Self {
        let tags = vec![0; tets.len()];
        Self { vertices, tets, tags, ..Self::default() }
    }

    /// Whether the arrays make sense: elements exist, coordinates are finite, numbers in range,
    /// four different vertices per tet, per-tet data of the right length. The other methods may
    /// panic on a mesh that fails this.
    pub fn check(&self) -> Result<(), MeshError> {
        check_arrays(&self.vertices, &self.tets)?;
        let (tets, vertices) = (self.tets.len(), self.vertices.len());
        let lengths = std::iter::once(("tags", self.tags.len(), tets))
            .chain(self.cell_data.iter().map(|(name, d)| (name.as_str(), d.len(), tets)))
            .chain(self.point_data.iter().map(|(name, d)| (name.as_str(), d.len(), vertices)));
        for (name, found, expected) in lengths {
            if found != expected {
                return Err(MeshError::Length { name: name.to_string(), found, expected });
            }
        }
        Ok(())
    }

    /// The four corners of a tet.
    pub fn corners(&self, tet: usize) -> [[f64; 3]; 4] {
        self.tets[tet].map(|v| self.vertices[v as usize])
    }

    /// Volume of each tet, m³; negative where it is flipped.
    pub fn signed_volumes(&self) -> Vec<f64> {
        (0..self.tets.len()).map(|t| vector::volume(self.corners(t))).collect()
    }

    /// Sum of the signed volumes, m³.
    pub fn volume(&self) -> f64 {
        self.signed_volumes().iter().sum()
    }

    /// Turns every flipped tet (by swapping its last two vertices) and returns their numbers.
    /// Flat tets are left alone; [`TetMesh::quality`] lists them.
    pub fn orient(&mut self) -> Vec<usize> {
        let volumes = self.signed_volumes();
        let flipped: Vec<usize> = (0..volumes.len()).filter(|&t| volumes[t] < 0.0).collect();
        for &t in &flipped {
            self.tets[t].swap(2, 3);
        }
        flipped
    }

    /// Smallest and largest coordinates, m; `None` without vertices.
    pub fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        vector::bounds(self.vertices.iter().copied())
    }
}

impl TriMesh {
    /// Whether the arrays make sense; see [`TetMesh::check`].
    pub fn check(&self) -> Result<(), MeshError> {
        check_arrays(&self.vertices, &self.triangles)
    }

    /// The three corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [[f64; 3]; 3] {
        self.triangles[triangle].map(|v| self.vertices[v as usize])
    }

    /// Volume inside a closed surface by the divergence theorem, m³; negative when it is inside out.
    pub fn signed_volume(&self) -> f64 {
        // From the middle of the box, so that a surface far from the origin keeps its digits.
        let Some([lo, hi]) = self.bounds() else {
            return 0.0;
        };
        let o = vector::lerp(lo, hi, 0.5);
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t);
                vector::volume([o, a, b, c])
            })
            .sum()
    }

    /// Area, m².
    pub fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|t| 0.5 * vector::norm(vector::area_vector(self.corners(t)))).sum()
    }

    /// Smallest and largest coordinates, m; `None` without vertices.
    pub fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        vector::bounds(self.vertices.iter().copied())
    }
}
