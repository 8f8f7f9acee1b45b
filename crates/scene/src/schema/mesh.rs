//! `body.mesh`: where the shape of a body comes from.

use super::quantity::Mark;
use crate::document::{Item, Reader, SceneError, Value};
use crate::suggest;

/// A shape and where it is put.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshSpec {
    /// The shape.
    pub shape: Shape,
    /// Applied to it.
    pub transform: Transform,
    /// Where it was written.
    pub mark: Mark,
}

/// Scaled, then rotated about the origin, then translated.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// Factors along x, y, z.
    pub scale: [f64; 3],
    /// About the origin.
    pub rotate: Option<Rotation>,
    /// m.
    pub translate: [f64; 3],
}

/// A rotation about an axis, right-handed.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotation {
    /// Unit vector.
    pub axis: [f64; 3],
    /// Angle, degrees.
    pub degrees: f64,
}

/// Sources of shapes; lengths in m.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A block with a corner at the origin, cut into cells of 6 Kuhn tets.
    Box {
        /// Lengths of the edges.
        size: [f64; 3],
        /// Cells along each.
        cells: [u32; 3],
    },
    /// A mesh file; see [`super::Scene::resolve`].
    File {
        /// As written, relative to the folder of the scene.
        path: String,
        /// Overrides what the ending of the file says.
        format: Option<String>,
        /// How finely a surface is tetrahedralised.
        resolution: Resolution,
        /// Embed a surface in a coarser mesh instead of tetrahedralising it.
        embed: bool,
        /// Of a surface that stays one, m.
        thickness: Option<f64>,
    },
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
    pub fn elements(&self) -> &'static [Element] {
        use Element::{Dg, Membrane, Springs, Tets};
        match self {
            Self::Rope { .. } | Self::Points { .. } => &[Springs],
            Self::Cloth { .. } => &[Springs, Membrane, Dg],
            Self::File { .. } => &[Tets, Springs, Membrane, Dg],
            _ => &[Tets, Springs, Dg],
        }
    }
}

/// What a body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Linear tets.
    Tets,
    /// A spring along every edge.
    Springs,
    /// Linear triangles that resist stretch.
    Membrane,
    /// Discontinuous linear tets; triangles where the shape is a surface.
    Dg,
}

/// How discontinuous tets or triangles are held together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GluingSpec {
    /// With the mean traction (interior penalty), or without (Babuška–Zlámal).
    pub consistent: bool,
    /// Penalty on gaps, in units of (λ+2μ) area/volume.
    pub penalty: f64,
}

impl GluingSpec {
    /// Reads the `gluing` of a body of discontinuous tets.
    pub(super) fn read_of(body: &mut Reader<'_>, element: Element) -> Result<Option<Self>, SceneError> {
        let item = body.optional("gluing");
        if element != Element::Dg {
            return match item {
                None => Ok(None),
                Some(item) => Err(item.error("is for element = \"dg\"; leave it out")),
            };
        }
        let Some(item) = item else {
            return Ok(Some(Self { consistent: true, penalty: 4.0 }));
        };
        let mut reader = item.reader()?;
        let kinds = [("interior-penalty", true), ("babuska-zlamal", false)];
        let consistent = reader.optional("kind").map_or(Ok(true), |item| item.choice(&kinds))?;
        let default = if consistent { 4.0 } else { 100.0 };
        let penalty = reader.optional_positive("penalty", "units of (lambda + 2 mu) area/volume")?;
        reader.finish()?;
        let penalty = penalty.unwrap_or(default);
        if consistent && penalty < 2.0 {
            return Err(item.error("interior-penalty needs penalty = 2 or more to hold together"));
        }
        Ok(Some(Self { consistent, penalty }))
    }
}

impl Element {
    /// Every kind, with a line about it.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::Tets, "linear tets: solids"),
        (
            Self::Springs,
            "½k(|s| − l₀)² along every edge, k = λ/l₀: ropes, cloth, networks; lambda (N) or E (Pa)",
        ),
        (
            Self::Membrane,
            "linear triangles in plane stress: cloth, balloons; stvk, neo-hookean, neo-hookean-log",
        ),
        (
            Self::Dg,
            "linear tets, or triangles of a membrane, each by itself and glued: interior-penalty or babuska-zlamal",
        ),
    ];

    /// Name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tets => "tets",
            Self::Springs => "springs",
            Self::Membrane => "membrane",
            Self::Dg => "dg",
        }
    }

    /// Reads the `element` of a body.
    pub(super) fn read_of(body: &mut Reader<'_>, shape: &Shape) -> Result<Self, SceneError> {
        let able = shape.elements();
        let Some(item) = body.optional("element") else {
            return Ok(able.first().copied().unwrap_or(Self::Tets));
        };
        let choices: Vec<_> = Self::ALL.iter().map(|(e, _)| (e.name(), *e)).collect();
        let element = item.choice(&choices)?;
        if able.contains(&element) {
            return Ok(element);
        }
        let able: Vec<&str> = able.iter().map(|e| e.name()).collect();
        Err(item.error(format!(
            "this mesh cannot be made of {}; choose {}",
            element.name(),
            able.join(" or ")
        )))
    }
}

const EXAMPLE: &str =
    "mesh = { box = { size = [4, 1, 1], cells = [16, 4, 4] } } or mesh = { file = \"bunny.mesh\" }";
const KINDS: &[&str] = &["box", "file", "sphere", "cylinder", "ellipsoid", "rope", "cloth", "points"];
/// Formats that a `format` may name.
pub const FORMATS: &[&str] = &["msh", "mesh", "node", "ele", "vtk", "vtu", "veg", "obj", "stl", "ply"];
/// More vertices than this do not fit a 32-bit vertex number.
const MOST_CELLS: f64 = 4e9;

impl MeshSpec {
    /// Reads a `mesh`: a table, or the path of a file.
    pub fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        if let Value::Text(path) = &item.node.value {
            let shape = Shape::File {
                path: file_path(item, path)?,
                format: None,
                resolution: Resolution::Automatic,
                embed: false,
                thickness: None,
            };
            return Ok(Self { shape, transform: Transform::identity(), mark: item.into() });
        }
        let mut reader = item.reader()?;
        let mut shape: Option<(&str, Shape)> = None;
        for kind in KINDS {
            let Some(source) = reader.optional(kind) else {
                continue;
            };
            if let Some((other, _)) = &shape {
                return Err(source.error(format!(
                    "a body has one mesh, but {other} is given as well; keep one of them or write two bodies"
                )));
            }
            shape = Some((kind, Shape::read(kind, &source, &mut reader)?));
        }
        let transform = Transform::read(&mut reader)?;
        let Some((_, shape)) = shape else {
            reader.finish()?;
            return Err(item.error(format!("says no shape; write for example {EXAMPLE}")));
        };
        reader.finish()?;
        Ok(Self { shape, transform, mark: item.into() })
    }

    /// Reads the `mesh` of a body, which must be there.
    pub(super) fn read_required(body: &mut Reader<'_>) -> Result<Self, SceneError> {
        Self::read(&body.required("mesh", EXAMPLE)?)
    }
}

impl Shape {
    fn read(kind: &str, item: &Item<'_>, mesh: &mut Reader<'_>) -> Result<Self, SceneError> {
        if kind == "file" {
            let format = mesh.optional("format").map(|format| {
                let choices: Vec<_> = FORMATS.iter().map(|name| (*name, *name)).collect();
                format.choice(&choices).map(str::to_owned)
            });
            return Ok(Self::File {
                path: file_path(item, item.text()?)?,
                format: format.transpose()?,
                resolution: Resolution::read(mesh)?,
                embed: mesh.bool_or("embed", false)?,
                thickness: mesh.optional_positive("thickness", "m")?,
            });
        }
        let mut reader = item.reader()?;
        let shape = match kind {
            "box" => {
                let size = positive3(&reader.required("size", "size = [4, 1, 1]")?)?;
                let item = reader.required("cells", "cells = [16, 4, 4]")?;
                let [i, j, k] = item.exactly("whole numbers")?;
                let cells = [i, j, k].map(|n| n.count(1, 1 << 20));
                let [i, j, k] = cells;
                let cells = [i?, j?, k?];
                let total: f64 = cells.iter().map(|n| f64::from(*n) + 1.0).product();
                if total > MOST_CELLS {
                    return Err(item.error(format!(
                        "makes {total:.1e} vertices, more than can be numbered; use fewer cells"
                    )));
                }
                Self::Box { size, cells }
            }
            "sphere" => Self::Sphere {
                radius: reader.required("radius", "radius = 0.5")?.positive("m")?,
                resolution: Resolution::read(&mut reader)?,
            },
            "cylinder" => Self::Cylinder {
                radius: reader.required("radius", "radius = 0.1")?.positive("m")?,
                length: reader.required("length", "length = 1")?.positive("m")?,
                resolution: Resolution::read(&mut reader)?,
            },
            "ellipsoid" => Self::Ellipsoid {
                radii: positive3(&reader.required("radii", "radii = [1, 0.5, 0.5]")?)?,
                resolution: Resolution::read(&mut reader)?,
            },
            "rope" => Self::read_rope(&mut reader)?,
            "cloth" => Self::read_cloth(&mut reader)?,
            _ => Self::read_points(&mut reader)?,
        };
        reader.finish()?;
        Ok(shape)
    }

    fn read_rope(reader: &mut Reader<'_>) -> Result<Self, SceneError> {
        let points = match reader.optional("points") {
            None => {
                let from = reader.required("from", "from = [0, 0, 0] and to = [1, 0, 0]")?.vector3()?;
                vec![from, reader.required("to", "to = [1, 0, 0]")?.vector3()?]
            }
            Some(item) => {
                let points = item.members()?.map(|p| p.vector3()).collect::<Result<Vec<_>, _>>()?;
                if points.len() < 2 {
                    return Err(item.error("a rope needs two points or more, as [[0, 0, 0], [1, 0, 0]]"));
                }
                points
            }
        };
        if points.windows(2).any(|p| matches!(p, [a, b] if a == b)) {
            return Err(reader.error("a rope has a length: give two different ends"));
        }
        let segments = reader.required("segments", "segments = 50")?.count(1, 10_000_000)?;
        let radius = reader.required("radius", "radius = 0.005 (m)")?.positive("m")?;
        let bending = read_bending(reader, "N m²")?;
        if bending > 0.0 && points.len() > 2 {
            return Err(reader.error("bending needs a rope that is straight at rest: give from and to"));
        }
        Ok(Self::Rope { points, segments, radius, bending })
    }

    fn read_cloth(reader: &mut Reader<'_>) -> Result<Self, SceneError> {
        let [a, b] = reader.required("size", "size = [1, 1]")?.exactly("numbers")?;
        let size = [a.positive("m")?, b.positive("m")?];
        let [m, n] = reader.required("cells", "cells = [20, 20]")?.exactly("whole numbers")?;
        let cells = [m.count(1, 20_000)?, n.count(1, 20_000)?];
        let thickness = reader.required("thickness", "thickness = 0.001 (m)")?.positive("m")?;
        Ok(Self::Cloth { size, cells, thickness, bending: read_bending(reader, "N m")? })
    }

    fn read_points(reader: &mut Reader<'_>) -> Result<Self, SceneError> {
        let item = reader.required("positions", "positions = [[0, 0, 0], [1, 0, 0]]")?;
        let positions = item.members()?.map(|p| p.vector3()).collect::<Result<Vec<_>, _>>()?;
        let most = match u32::try_from(positions.len()) {
            Ok(count) if count > 0 => count - 1,
            _ => return Err(item.error("has no points; give at least one, as [[0, 0, 0]]")),
        };
        let mut edges = Vec::new();
        if let Some(item) = reader.optional("edges") {
            for edge in item.members()? {
                let [a, b] = edge.exactly("point numbers")?;
                let pair = [a.count(0, most)?, b.count(0, most)?];
                let [a, b] = pair;
                if a == b {
                    return Err(edge.error("joins a point to itself; give two different points"));
                }
                edges.push(pair);
            }
        }
        let mut masses = Vec::new();
        if let Some(item) = reader.optional("masses") {
            masses = item.members()?.map(|m| m.positive("kg")).collect::<Result<Vec<_>, _>>()?;
            if masses.len() != positions.len() {
                return Err(item.error(format!(
                    "has {} masses for {} points; give one per point",
                    masses.len(),
                    positions.len()
                )));
            }
        }
        let radius = reader.optional_positive("radius", "m")?;
        Ok(Self::Points { positions, edges, masses, radius })
    }
}

fn read_bending(reader: &mut Reader<'_>, unit: &str) -> Result<f64, SceneError> {
    reader.optional("bending").map_or(Ok(0.0), |item| item.not_negative(unit))
}

fn file_path(item: &Item<'_>, path: &str) -> Result<String, SceneError> {
    if path.trim().is_empty() || path.contains('\0') {
        return Err(item.error(format!(
            "{} is no path; name a mesh file, relative to the folder of the scene",
            suggest::quoted(path)
        )));
    }
    Ok(path.to_owned())
}

fn positive3(item: &Item<'_>) -> Result<[f64; 3], SceneError> {
    let [x, y, z] = item.exactly("numbers")?;
    Ok([x.positive("m")?, y.positive("m")?, z.positive("m")?])
}

impl Resolution {
    fn read(reader: &mut Reader<'_>) -> Result<Self, SceneError> {
        let edge = reader.optional_positive("edge", "m")?;
        match (edge, reader.optional("tets")) {
            (None, None) => Ok(Self::Automatic),
            (Some(edge), None) => Ok(Self::Edge(edge)),
            (None, Some(item)) => Ok(Self::Tets(item.count(1, 1_000_000_000)?)),
            (Some(_), Some(item)) => {
                Err(item.error("edge and tets both set the resolution; keep one of them"))
            }
        }
    }
}

impl Transform {
    /// No change.
    pub fn identity() -> Self {
        Self { scale: [1.0; 3], rotate: None, translate: [0.0; 3] }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, SceneError> {
        let mut transform = Self::identity();
        if let Some(item) = reader.optional("scale") {
            transform.scale = match item.node.value {
                Value::Array(_) => item.vector3()?,
                _ => [item.number()?; 3],
            };
            if transform.scale.iter().any(|s| *s <= 0.0) {
                return Err(item.error("must be positive; a file in millimetres needs scale = 0.001"));
            }
        }
        transform.rotate = reader.optional("rotate").map(|item| Rotation::read(&item)).transpose()?;
        transform.translate = reader.optional_vector3("translate")?.unwrap_or_default();
        Ok(transform)
    }
}

impl Rotation {
    /// Reads `{ axis = [0, 0, 1], degrees = 90 }`.
    pub fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let axis = reader.required("axis", "axis = [0, 0, 1]")?.direction()?;
        let degrees = reader.number("degrees", "degrees = 90")?;
        reader.finish()?;
        Ok(Self { axis, degrees })
    }
}
