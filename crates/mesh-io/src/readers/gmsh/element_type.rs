//! The element types of Gmsh.

use super::super::error::{Place, ReadError};
use super::super::solid_cell::SolidCell;

/// The most nodes of an element that are used.
pub(super) const MOST_NODES: usize = 20;

/// The element types that are read: tetrahedra of any order, other solids of order 1 and 2, and points, lines, triangles and
/// quadrilaterals.
#[derive(Clone, Copy)]
pub(super) struct ElementType {
    pub dimension: usize,
    /// Corners come first among the nodes.
    pub corners: usize,
    /// Nodes with those on edges, faces and inside.
    pub nodes: usize,
    /// What solid it is.
    pub solid: Option<SolidCell>,
    /// Of elements of order 2: for each node that is used, its place in the order of Gmsh.
    pub order: &'static [usize],
}

/// How the nodes on edges are numbered, where not as in vtkCellType.h.
const TET10: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 9, 8];
const HEX20: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15];
const WEDGE15: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11];
const PYRAMID13: &[usize] = &[0, 1, 2, 3, 4, 5, 8, 10, 6, 7, 9, 11, 12];

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
            5 => [3, 8, 8],
            17 => [3, 8, 20],
            12 => [3, 8, 27],
            6 => [3, 6, 6],
            18 => [3, 6, 15],
            13 => [3, 6, 18],
            7 => [3, 5, 5],
            19 => [3, 5, 13],
            14 => [3, 5, 14],
            _ => return None,
        };
        let solid = match (dimension, corners) {
            (3, 4) => Some(SolidCell::Tet),
            (3, 8) => Some(SolidCell::Hexahedron),
            (3, 6) => Some(SolidCell::Wedge),
            (3, 5) => Some(SolidCell::Pyramid),
            _ => None,
        };
        let order = match kind {
            11 => TET10,
            17 | 12 => HEX20,
            18 | 13 => WEDGE15,
            19 | 14 => PYRAMID13,
            _ => &[],
        };
        Some(Self { dimension, corners, nodes, solid, order })
    }

    /// How many nodes of an element are used.
    pub fn used(self) -> usize {
        self.corners.max(self.order.len())
    }
}

/// The refusal of an element that is neither a tet nor of lower dimension.
pub(super) fn not_a_tet(place: Place, id: u64, kind: i32) -> ReadError {
    let name = match kind {
        92 | 93 => "a hexahedron of higher order",
        _ => "of a type that is not known",
    };
    ReadError::new(
        place,
        format!("element {id} is {name} (Gmsh type {kind})"),
        "only tetrahedra, and hexahedra, prisms and pyramids of order 1 and 2, can be used",
    )
}
