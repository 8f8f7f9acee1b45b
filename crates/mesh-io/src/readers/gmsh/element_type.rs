//! The element types of Gmsh.

use super::super::error::{Place, ReadError};

/// The element types that are read: tetrahedra of any order, and points, lines, triangles and quadrilaterals.
#[derive(Clone, Copy)]
pub(super) struct ElementType {
    pub dimension: usize,
    /// Corners come first among the nodes.
    pub corners: usize,
    /// Nodes with those on edges, faces and inside.
    pub nodes: usize,
}

impl ElementType {
    /// The type of this number.
    pub fn find(kind: i32) -> Option<Self> {
        let [dimension, corners, nodes] = match kind {
            15 => [0, 1, 1],
            1 => [1, 2, 2],
            8 => [1, 2, 3],
            26 => [1, 2, 4],
            27 => [1, 2, 5],
            28 => [1, 2, 6],
            2 => [2, 3, 3],
            9 => [2, 3, 6],
            20 => [2, 3, 9],
            21 => [2, 3, 10],
            22 => [2, 3, 12],
            23 | 24 => [2, 3, 15],
            25 => [2, 3, 21],
            3 => [2, 4, 4],
            16 => [2, 4, 8],
            10 => [2, 4, 9],
            4 => [3, 4, 4],
            11 => [3, 4, 10],
            29 => [3, 4, 20],
            30 => [3, 4, 35],
            31 => [3, 4, 56],
            _ => return None,
        };
        Some(Self { dimension, corners, nodes })
    }
}

/// The refusal of an element that is neither a tet nor of lower dimension.
pub(super) fn not_a_tet(place: Place, id: u64, kind: i32) -> ReadError {
    let name = match kind {
        5 | 12 | 17 | 92 | 93 => "a hexahedron",
        6 | 13 | 18 => "a prism",
        7 | 14 | 19 => "a pyramid",
        _ => "of a type that is not known",
    };
    ReadError::new(
        place,
        format!("element {id} is {name} (Gmsh type {kind})"),
        "only tetrahedra can be used: mesh the volume without recombination",
    )
}
