//! Tetrahedral meshes: vertices, tets, what the file said about them, and the surface.

use std::collections::BTreeMap;

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
