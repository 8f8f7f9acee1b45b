//! Cells of any kind, in blocks of one kind each.

/// A kind of cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CellKind {
    /// Four nodes.
    Tet,
    /// Ten nodes: corners, then the edges (01)(12)(02)(03)(13)(23).
    QuadraticTet,
    /// Three nodes.
    Triangle,
    /// Two nodes: a spring, or a segment of a rope.
    Line,
}

impl CellKind {
    /// All kinds, in the order in which files number cells.
    pub const ALL: [Self; 4] = [Self::Tet, Self::QuadraticTet, Self::Triangle, Self::Line];

    /// Nodes of each cell.
    pub fn nodes(self) -> usize {
        match self {
            Self::Tet => 4,
            Self::QuadraticTet => 10,
            Self::Triangle => 3,
            Self::Line => 2,
        }
    }

    /// 3 for solids, 2 for surfaces, 1 for lines.
    pub fn dimension(self) -> usize {
        match self {
            Self::Tet | Self::QuadraticTet => 3,
            Self::Triangle => 2,
            Self::Line => 1,
        }
    }

    /// What one of them is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tet => "tet",
            Self::QuadraticTet => "quadratic tet",
            Self::Triangle => "triangle",
            Self::Line => "spring",
        }
    }

    /// Number in vtkCellType.h.
    pub fn vtk(self) -> u8 {
        match self {
            Self::Tet => 10,
            Self::QuadraticTet => 24,
            Self::Triangle => 5,
            Self::Line => 3,
        }
    }
}

/// Cells of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellBlock {
    /// Their kind.
    pub kind: CellKind,
    /// Nodes of all cells, [`CellKind::nodes`] for each.
    pub nodes: Vec<u32>,
}

impl CellBlock {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.nodes.len() / self.kind.nodes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The nodes of each cell.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.nodes.chunks_exact(self.kind.nodes())
    }
}

impl From<Vec<[u32; 4]>> for CellBlock {
    fn from(tets: Vec<[u32; 4]>) -> Self {
        Self { kind: CellKind::Tet, nodes: tets.into_flattened() }
    }
}

impl From<Vec<[u32; 3]>> for CellBlock {
    fn from(triangles: Vec<[u32; 3]>) -> Self {
        Self { kind: CellKind::Triangle, nodes: triangles.into_flattened() }
    }
}

impl From<Vec<[u32; 2]>> for CellBlock {
    fn from(lines: Vec<[u32; 2]>) -> Self {
        Self { kind: CellKind::Line, nodes: lines.into_flattened() }
    }
}
