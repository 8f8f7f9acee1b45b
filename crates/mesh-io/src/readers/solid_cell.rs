//! Kinds of solid cells, and what readers have found of them beside the tets.

use std::collections::BTreeMap;

/// A kind of solid cell. Its nodes are numbered as in vtkCellType.h: corners, then the middles of [`SolidCell::edges`], then any
/// others, which are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SolidCell {
    Tet,
    Hexahedron,
    Wedge,
    Pyramid,
}

impl SolidCell {
    /// Corners of each cell.
    pub fn corners(self) -> usize {
        match self {
            Self::Tet => 4,
            Self::Hexahedron => 8,
            Self::Wedge => 6,
            Self::Pyramid => 5,
        }
    }

    /// The corners of its edges, in the order of the nodes there.
    pub fn edges(self) -> &'static [[usize; 2]] {
        match self {
            Self::Tet => &[[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]],
            Self::Hexahedron => &[
                [0, 1],
                [1, 2],
                [2, 3],
                [3, 0],
                [4, 5],
                [5, 6],
                [6, 7],
                [7, 4],
                [0, 4],
                [1, 5],
                [2, 6],
                [3, 7],
            ],
            Self::Wedge => &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]],
            Self::Pyramid => &[[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 4], [3, 4]],
        }
    }

    /// The corners of its faces, three or four each.
    pub fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Self::Tet => &[&[1, 2, 3], &[0, 3, 2], &[0, 1, 3], &[0, 2, 1]],
            Self::Hexahedron => {
                &[&[0, 3, 2, 1], &[4, 5, 6, 7], &[0, 1, 5, 4], &[1, 2, 6, 5], &[2, 3, 7, 6], &[3, 0, 4, 7]]
            }
            Self::Wedge => &[&[0, 2, 1], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]],
            Self::Pyramid => &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
        }
    }

    /// What several of them are called.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Tet => "tetrahedra",
            Self::Hexahedron => "hexahedra",
            Self::Wedge => "wedges",
            Self::Pyramid => "pyramids",
        }
    }
}

/// A cell with nodes on its edges.
#[derive(Debug)]
pub(super) struct QuadraticCell {
    pub kind: SolidCell,
    pub id: u64,
    /// Corners, then nodes on edges.
    pub nodes: Vec<u32>,
}

/// What readers have found of solid cells beside the tets.
#[derive(Debug, Default)]
pub(super) struct SolidCells {
    /// Cells with nodes on their edges.
    pub quadratic: Vec<QuadraticCell>,
    /// How many cells of each kind were split, and into how many tets.
    pub split: BTreeMap<SolidCell, [usize; 2]>,
    /// Tets that come from splitting, ascending.
    pub made: Vec<u32>,
    /// The first tet of each cell.
    pub starts: Vec<u32>,
}

impl SolidCells {
    /// Whether a tet comes from a cell that was split.
    pub fn made(&self, tet: usize) -> bool {
        u32::try_from(tet).is_ok_and(|tet| self.made.binary_search(&tet).is_ok())
    }

    /// Lists of cells, by the order in which they were pushed, as lists of tets.
    pub fn tets_of(&self, sets: &mut [(String, Vec<u32>)], tets: usize) {
        if self.made.is_empty() {
            return;
        }
        for (_, set) in sets {
            let range = |cell: &u32| {
                let at = *cell as usize;
                let first = self.starts.get(at).copied().unwrap_or(0);
                first..self.starts.get(at + 1).copied().unwrap_or(tets as u32)
            };
            *set = set.iter().flat_map(range).collect();
        }
    }

    /// Numbers of nodes that count from `first` count from 0. A number below it becomes one that no vertex has.
    pub fn rebase(&mut self, first: u64) {
        for node in self.quadratic.iter_mut().flat_map(|cell| &mut cell.nodes) {
            let moved = u64::from(*node).checked_sub(first).and_then(|v| u32::try_from(v).ok());
            *node = moved.unwrap_or(u32::MAX);
        }
    }
}
