//! Shapes of bodies: generated, or read from a file.

mod net;
mod solid;

use super::element::Element;
use super::kinds::LENGTH;
use crate::document::key::{Absent, Key, Kind};
use crate::document::{Item, Reader, SceneError};
use lilyan_solid::meshing::Diagonals;
pub(super) use solid::{FILE_KEYS, file_path};

/// How a shape is read: its own value, and the `mesh` around it.
type ReadShape = fn(&Item<'_>, &mut Reader<'_>) -> Result<Shape, SceneError>;

/// Every shape: the key of `mesh` that names it, and how it is read.
pub(super) const SHAPES: &[(Key, ReadShape)] = &[
    (solid::BOX, solid::read_box),
    (solid::FILE, solid::read_file),
    (solid::SPHERE, solid::read_sphere),
    (solid::CYLINDER, solid::read_cylinder),
    (solid::ELLIPSOID, solid::read_ellipsoid),
    (net::ROPE, net::read_rope),
    (net::CLOTH, net::read_cloth),
    (net::POINTS, net::read_points),
];

/// Sources of shapes; lengths in m.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A block with a corner at the origin, cut into cells of 6 Kuhn tets.
    Box {
        /// Lengths of the edges.
        size: [f64; 3],
        /// Cells along each.
        cells: [u32; 3],
        /// How cells are cut.
        diagonals: Diagonals,
    },
    /// A mesh file.
    File(FileSpec),
    /// A ball around the origin.
    Sphere {
        /// Radius.
        radius: f64,
        /// How finely.
        resolution: Resolution,
    },
    /// A cylinder along z around the origin, from z = 0.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Along z.
        length: f64,
        /// How finely.
        resolution: Resolution,
    },
    /// An ellipsoid around the origin.
    Ellipsoid {
        /// Half axes.
        radii: [f64; 3],
        /// How finely.
        resolution: Resolution,
    },
    /// A chain of springs.
    Rope {
        /// Corners of its line at rest; two of a straight one.
        points: Vec<[f64; 3]>,
        /// Springs.
        segments: u32,
        /// Radius of its round section.
        radius: f64,
        /// Flexural rigidity, N m².
        bending: f64,
    },
    /// A sheet in the plane z = 0 with a corner at the origin.
    Cloth {
        /// Lengths along x and y.
        size: [f64; 2],
        /// Cells along each.
        cells: [u32; 2],
        /// Of the material.
        thickness: f64,
        /// Flexural rigidity, N m.
        bending: f64,
    },
    /// Single points, joined by springs or not.
    Points {
        /// Positions.
        positions: Vec<[f64; 3]>,
        /// Pairs of point numbers, from 0, that a spring joins.
        edges: Vec<[u32; 2]>,
        /// One per point, kg; empty: from the density.
        masses: Vec<f64>,
        /// Radius of the springs' round section.
        radius: Option<f64>,
    },
}

/// A mesh file; see [`super::Scene::resolve`].
#[derive(Clone, Debug, PartialEq)]
pub struct FileSpec {
    /// As written, relative to the folder of the scene.
    pub path: String,
    /// One of [`lilyan_mesh_io::readers::formats`]; absent: the one that the extension of the file names.
    pub format: Option<&'static str>,
    /// The group or object of an `.obj` file that is taken; absent: all faces.
    pub group: Option<String>,
    /// How finely a surface is tetrahedralised.
    pub resolution: Resolution,
    /// Embed a surface in a coarser mesh instead of tetrahedralising it.
    pub embed: bool,
    /// Of a surface that stays one, m.
    pub thickness: Option<f64>,
}

/// How finely a shape is cut into tets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// As the mesher sees fit.
    Automatic,
    /// Length of an edge, m.
    Edge(f64),
    /// About this many tets.
    Tets(u32),
}

impl Shape {
    /// The elements that a body of this shape can be made of; the first is the default.
    pub fn elements(&self) -> Vec<Element> {
        use Element::{Dg, Membrane, Springs};
        match self {
            Self::Rope { .. } | Self::Points { .. } => vec![Springs],
            Self::Cloth { .. } => vec![Springs, Membrane, Dg],
            Self::File(_) => [Element::solids(), vec![Springs, Membrane, Dg]].concat(),
            _ => [Element::solids(), vec![Springs, Dg]].concat(),
        }
    }
}

/// Length of an edge.
const EDGE: Key = Key::optional(
    "edge",
    LENGTH,
    "0.05",
    Absent::Means("chosen by the mesher, or by `tets`"),
    "Length of an edge of the tets.",
);
/// About how many tets.
const TETS: Key = Key::optional(
    "tets",
    Kind::count(1, 1_000_000_000),
    "5000",
    Absent::Means("chosen by the mesher, or by `edge`"),
    "About how many tets.",
);
/// Keys of which one sets the resolution.
pub(super) const RESOLUTION: [&str; 2] = ["edge", "tets"];

impl Resolution {
    fn read(reader: &mut Reader<'_>) -> Result<Self, SceneError> {
        let edge = reader.optional_number(&EDGE)?;
        match (edge, reader.optional(&TETS)) {
            (None, None) => Ok(Self::Automatic),
            (Some(edge), None) => Ok(Self::Edge(edge)),
            (None, Some(item)) => Ok(Self::Tets(item.count()?)),
            (Some(_), Some(item)) => {
                Err(item.error("edge and tets both set the resolution; keep one of them"))
            }
        }
    }
}
