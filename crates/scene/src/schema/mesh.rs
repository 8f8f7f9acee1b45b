//! `body.mesh`: where the shape of a body comes from.

use super::kinds::{FACTOR, POINT};
use super::quantity::Mark;
use super::rotation::{self, Rotation};
use super::shape::{FILE_KEYS, FileSpec, RESOLUTION, Resolution, SHAPES, Shape, file_path};
use crate::document::key::{Absent, Case, Key, Kind, TableSchema, When, words};
use crate::document::{Item, Reader, SceneError, Value};

const SCALE: Key = Key::optional(
    "scale",
    Kind::Either(const { &[FACTOR, Kind::exactly(3, &FACTOR), Kind::Word(|| words(UNITS))] }),
    "\"mm\"",
    Absent::Number(1.0),
    "Factor on all coordinates, three factors along x, y, z, or the unit that the file is in; applied first.",
);
/// Lengths of units, m.
const UNITS: &[(&str, f64)] =
    &[("m", 1.0), ("cm", 1e-2), ("mm", 1e-3), ("um", 1e-6), ("in", 0.0254), ("ft", 0.3048)];
const ROTATE: Key = Key::optional(
    "rotate",
    rotation::KIND,
    rotation::EXAMPLE,
    Absent::Means("no rotation"),
    "A rotation about the origin; applied second.",
);
const TRANSLATE: Key = Key::optional(
    "translate",
    POINT,
    "[0, 0, 1]",
    Absent::Means("no translation"),
    "A translation; applied last.",
);

static TABLE: TableSchema = TableSchema {
    name: "mesh",
    doc: "A shape and where it is put.",
    keys: &[SCALE, ROTATE, TRANSLATE],
    cases: || {
        let beside = |key: &Key| if matches!(key.kind, Kind::Path) { FILE_KEYS } else { &[] };
        let case = |key: &Key| Case {
            when: When::Has(key.name),
            doc: key.doc,
            keys: std::iter::once(key).chain(beside(key)).copied().collect(),
        };
        SHAPES.iter().map(|(key, _)| case(key)).collect()
    },
    exclusive: &[RESOLUTION],
};

/// What a mesh is written as: a table, or the path of a file.
pub(super) const KIND: Kind = Kind::Either(const { &[Kind::Path, Kind::Table(&TABLE)] });

/// `mesh` of a body.
pub(super) const MESH: Key = Key::required(
    "mesh",
    KIND,
    "{ box = { size = [4, 1, 1], cells = [16, 4, 4] } }",
    "The shape of the body: a table, or the path of a mesh file.",
);

const EXAMPLE: &str =
    "mesh = { box = { size = [4, 1, 1], cells = [16, 4, 4] } } or mesh = { file = \"bunny.mesh\" }";

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

impl MeshSpec {
    /// Reads a `mesh`: a table, or the path of a file.
    pub fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        if let Value::Text(path) = &item.node.value {
            let shape = Shape::File(FileSpec {
                path: file_path(item, path)?,
                format: None,
                group: None,
                resolution: Resolution::Automatic,
                embed: false,
                thickness: None,
            });
            return Ok(Self { shape, transform: Transform::identity(), mark: item.into() });
        }
        let mut reader = item.reader()?;
        let mut shape: Option<(&str, Shape)> = None;
        for (key, read) in SHAPES {
            let Some(source) = reader.optional(key) else { continue };
            if let Some((other, _)) = &shape {
                return Err(source.error(format!(
                    "a body has one mesh, but {other} is given as well; keep one of them or write two bodies"
                )));
            }
            shape = Some((key.name, read(&source, &mut reader)?));
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
        Self::read(&body.required_as(&MESH, EXAMPLE)?)
    }
}

impl Transform {
    /// No change.
    pub fn identity() -> Self {
        Self { scale: [1.0; 3], rotate: None, translate: [0.0; 3] }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, SceneError> {
        let mut transform = Self::identity();
        if let Some(item) = reader.optional(&SCALE) {
            transform.scale = match item.node.value {
                Value::Array(_) => {
                    let [x, y, z] = item.exactly("numbers")?;
                    [x.finite()?, y.finite()?, z.finite()?]
                }
                Value::Text(_) => [item.choice(UNITS)?; 3],
                _ => [item.finite()?; 3],
            };
            if transform.scale.iter().any(|s| *s <= 0.0) {
                return Err(item.error("must be positive; a file in millimetres needs scale = \"mm\""));
            }
        }
        transform.rotate = reader.optional(&ROTATE).map(|item| Rotation::read(&item)).transpose()?;
        transform.translate = reader.optional_vector3(&TRANSLATE)?.unwrap_or_default();
        Ok(transform)
    }
}
