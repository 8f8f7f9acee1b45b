//! Meshes: vertices, cells in blocks of one kind each, what the file said about them, and the surface.
//!
//! | file | what it answers |
//! |---|---|
//! | `quality` | volumes, dihedral angles, heights, worst elements |
//! | `topology` | faces, neighbours, the oriented surface, Euler's formula |
//! | `order` | renumbering for locality |
//! | `locate` | which tet holds a point |
//! | `embed` | points that tets carry along |
//! | `display` | fine points shown from the motion of a coarse mesh |
//! | `nodes` | the nodes of a body on its mesh |
//! | `faces` | integrals over the surface of a body |
//! | `parents` | between which vertices nodes lie |
//! | `bvh` | bounding volume hierarchy of triangles |

pub(crate) mod bvh;
mod cells;
mod curved;
mod display;
mod embed;
mod faces;
mod locate;
mod nodes;
mod order;
mod parents;
mod quality;
pub(crate) mod topology;

pub use cells::{CellBlock, CellKind};
pub use display::{Display, Harmonics, MAX_FLUCTUATION};
pub use embed::{Embedding, REACH};
pub use faces::{FacePoint, face_points};
pub use locate::{Location, Locator};
pub use nodes::{CurvedNodes, InnerFace, NodeLayout, Nodes};
pub use order::Permutation;
pub use parents::{Interpolate, NodeParents};
pub use quality::{ElementQuality, Quality};
pub use topology::{FACES, NO_TET, Surface, Topology, VertexGraph};

use crate::math::vector::{self, V3};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

/// Vertices and cells, with whatever named data came with them.
///
/// Cells are kept in blocks, one block for each kind. A tet (a, b, c, d) is positively oriented when
/// (b−a)·((c−a)×(d−a)) > 0; everything after [`Mesh::orient`] may count on that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertex positions, m.
    pub vertices: Vec<[f64; 3]>,
    cells: Vec<CellBlock>,
    /// Region number of each cell (material or physical tag, 0 where the file has none).
    pub tags: Vec<i64>,
    /// Names of regions, where the file gives them.
    pub region_names: BTreeMap<String, Vec<i64>>,
    /// Scalar fields of the cells (for heterogeneous materials).
    pub cell_data: BTreeMap<String, Vec<f64>>,
    /// Scalar fields of the vertices (for masses).
    pub point_data: BTreeMap<String, Vec<f64>>,
    /// Named or numbered vertex sets of the file (pins refer to them).
    pub vertex_sets: BTreeMap<String, Vec<u32>>,
    /// Places of the nodes on edges, of a mesh of quadratic tets, by the ends of the edge in ascending order, m. An edge that
    /// is not listed has its node at the middle.
    pub edge_points: BTreeMap<[u32; 2], [f64; 3]>,
    surface: Computed<Surface>,
}

/// A value that is computed from the cells when it is first asked for. It takes no part in comparisons.
#[derive(Clone, Debug)]
struct Computed<T>(OnceLock<T>);

impl<T> Default for Computed<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> PartialEq for Computed<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
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
    /// Data are not as long as the list of cells or vertices.
    Length {
        /// Which data.
        name: String,
        /// Their length.
        found: usize,
        /// The number of cells or vertices.
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

fn check_arrays<'a>(vertices: &[V3], elements: impl IntoIterator<Item = &'a [u32]>) -> Result<(), MeshError> {
    let mut elements = elements.into_iter().enumerate().peekable();
    if elements.peek().is_none() {
        return Err(MeshError::Empty);
    }
    if let Some(vertex) = vertices.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
        return Err(MeshError::NotFinite { vertex });
    }
    for (element, e) in elements {
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

impl Mesh {
    /// Tets of one region (tag 0) without named data.
    pub fn new(vertices: Vec<[f64; 3]>, tets: Vec<[u32; 4]>) -> Self {
        Self::of_cells(vertices, vec![CellBlock::from(tets)])
    }

    /// Cells of one region (tag 0) without named data. Empty blocks are left out.
    pub fn of_cells(vertices: Vec<[f64; 3]>, mut cells: Vec<CellBlock>) -> Self {
        cells.retain(|block| !block.is_empty());
        let tags = vec![0; cells.iter().map(CellBlock::len).sum()];
        Self { vertices, cells, tags, ..Self::default() }
    }

    /// The cells, a block for each kind.
    pub fn cells(&self) -> &[CellBlock] {
        &self.cells
    }

    /// Dimension of the cells: 3 with tets, 2 for a surface, 1 for lines, 0 for single points.
    pub fn dimension(&self) -> usize {
        self.cells.iter().map(|block| block.kind.dimension()).max().unwrap_or(0)
    }

    /// Vertex numbers of each tet, from 0.
    pub fn tets(&self) -> &[[u32; 4]] {
        self.cells_of(CellKind::Tet)
    }

    /// Vertex numbers of each triangle, from 0.
    pub fn triangles(&self) -> &[[u32; 3]] {
        self.cells_of(CellKind::Triangle)
    }

    fn cells_of<const N: usize>(&self, kind: CellKind) -> &[[u32; N]] {
        let block = self.cells.iter().find(|block| block.kind == kind);
        block.map_or(&[], |block| block.nodes.as_chunks().0)
    }

    /// The tets, to be changed.
    pub fn tets_mut(&mut self) -> &mut [[u32; 4]] {
        self.surface = Computed::default();
        let block = self.cells.iter_mut().find(|block| block.kind == CellKind::Tet);
        block.map_or(&mut [], |block| block.nodes.as_chunks_mut().0)
    }

    /// Other cells instead; tags and data of cells are the caller's to change with them.
    pub fn set_cells(&mut self, mut cells: Vec<CellBlock>) {
        cells.retain(|block| !block.is_empty());
        (self.cells, self.surface) = (cells, Computed::default());
    }

    /// Whether the arrays make sense: cells exist, coordinates are finite, numbers in range, different vertices in
    /// each cell, data of the right length. The other methods may panic on a mesh that fails this.
    pub fn check(&self) -> Result<(), MeshError> {
        check_arrays(&self.vertices, self.cells.iter().flat_map(CellBlock::iter))?;
        let cells = self.cells.iter().map(CellBlock::len).sum();
        let vertices = self.vertices.len();
        let lengths = std::iter::once(("tags", self.tags.len(), cells))
            .chain(self.cell_data.iter().map(|(name, d)| (name.as_str(), d.len(), cells)))
            .chain(self.point_data.iter().map(|(name, d)| (name.as_str(), d.len(), vertices)));
        for (name, found, expected) in lengths {
            if found != expected {
                return Err(MeshError::Length { name: name.to_string(), found, expected });
            }
        }
        Ok(())
    }

    /// The boundary of the tets, or the triangles of a mesh without tets.
    pub fn surface(&self) -> &Surface {
        self.surface.0.get_or_init(|| Surface::of(self))
    }

    /// The four corners of a tet.
    pub fn corners(&self, tet: usize) -> [[f64; 3]; 4] {
        self.tets()[tet].map(|v| self.vertices[v as usize])
    }

    /// Volume of each tet, m³; negative where it is flipped.
    pub fn signed_volumes(&self) -> Vec<f64> {
        (0..self.tets().len()).map(|t| vector::volume(self.corners(t))).collect()
    }

    /// Sum of the signed volumes, m³.
    pub fn volume(&self) -> f64 {
        self.signed_volumes().iter().sum()
    }

    /// Turns every flipped tet (by swapping its last two vertices) and returns their numbers.
    /// Flat tets are left alone; [`Mesh::quality`] lists them.
    pub fn orient(&mut self) -> Vec<usize> {
        let volumes = self.signed_volumes();
        let flipped: Vec<usize> = (0..volumes.len()).filter(|&t| volumes[t] < 0.0).collect();
        let tets = self.tets_mut();
        for &t in &flipped {
            tets[t].swap(2, 3);
        }
        flipped
    }

    /// Smallest and largest coordinates, m; `None` without vertices.
    pub fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        vector::bounds(self.vertices.iter().copied())
    }
}

impl TriMesh {
    /// Whether the arrays make sense; see [`Mesh::check`].
    pub fn check(&self) -> Result<(), MeshError> {
        check_arrays(&self.vertices, self.triangles.iter().map(|t| t.as_slice()))
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
