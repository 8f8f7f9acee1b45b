//! `body.mesh`: where the shape of a body comes from.

use super::quantity::Mark;
use crate::document::{Item, Raw, Reader, SceneError, Value};
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
    /// A chain of springs; its keys are read when the model is built.
    Rope(Raw),
    /// A net of springs; its keys are read when the model is built.
    Cloth(Raw),
    /// Single points, joined by springs or not.
    Points {
        /// Positions.
        positions: Vec<[f64; 3]>,
        /// Pairs of point numbers, from 0, that a spring joins.
        edges: Vec<[u32; 2]>,
        /// One per point, kg; empty: from the density.
        masses: Vec<f64>,
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
    /// Whether it is made of tets, and so needs elastic moduli and a density.
    pub fn is_solid(&self) -> bool {
        !matches!(self, Self::Rope(_) | Self::Cloth(_) | Self::Points { .. })
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
            "rope" => return Ok(Self::Rope(reader.raw())),
            "cloth" => return Ok(Self::Cloth(reader.raw())),
            _ => Self::read_points(&mut reader)?,
        };
        reader.finish()?;
        Ok(shape)
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
        Ok(Self::Points { positions, edges, masses })
    }
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
