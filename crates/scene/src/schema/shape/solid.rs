//! Shapes that are filled with tets: boxes, round shapes and files.

use super::{EDGE, FileSpec, RESOLUTION, Resolution, Shape, TETS};
use crate::document::key::{Absent, Choice, Key, Kind, TableSchema, no_cases, words};
use crate::document::{Item, Reader, SceneError};
use crate::schema::kinds::LENGTH;
use crate::suggest;
use lilyan_mesh_io::readers::{self, READERS};
use lilyan_solid::meshing::Diagonals;

/// More vertices than this do not fit a 32-bit vertex number.
const MOST_CELLS: f64 = 4e9;

/// `box` of a mesh.
pub(super) const BOX: Key = Key::required(
    "box",
    Kind::Table(&BOX_TABLE),
    "{ size = [4, 1, 1], cells = [16, 4, 4] }",
    "A block with a corner at the origin.",
);
const SIZE: Key = Key::required("size", Kind::exactly(3, &LENGTH), "[4, 1, 1]", "Lengths along x, y, z.");
const CELLS: Key = Key::required(
    "cells",
    Kind::exactly(3, &Kind::count(1, 1 << 20)),
    "[16, 4, 4]",
    "Cells along x, y, z; each is cut into 6 tets.",
);
const DIAGONALS: Key = Key::optional(
    "diagonals",
    Kind::Word(|| words(ALL_DIAGONALS)),
    "\"same\"",
    Absent::Word("mirrored"),
    "How cells are cut: as mirror images of their neighbours, so that with even numbers of cells the body is as symmetric as the \
     box, or all along the same diagonal (Kuhn), so that the body prefers a direction: a beam that is pushed along y swings along z too.",
);
const ALL_DIAGONALS: &[(&str, Diagonals)] = &[("same", Diagonals::Same), ("mirrored", Diagonals::Mirrored)];

static BOX_TABLE: TableSchema = TableSchema {
    name: "mesh.box",
    doc: "A block with a corner at the origin.",
    keys: &[SIZE, CELLS, DIAGONALS],
    cases: no_cases,
    exclusive: &[],
};

/// `file` of a mesh.
pub(super) const FILE: Key = Key::required(
    "file",
    Kind::Path,
    "\"bunny.mesh\"",
    "Path of a mesh file, relative to the folder of the scene; a closed surface is filled with tets.",
);
const FORMAT: Key = Key::optional(
    "format",
    Kind::Word(formats),
    "\"msh\"",
    Absent::Means("the extension of the file"),
    "Format of the file.",
);
const EMBED: Key = Key::optional(
    "embed",
    Kind::Flag,
    "true",
    Absent::Flag(false),
    "Whether a surface is embedded in a coarser mesh instead of being tetrahedralised.",
);
const THICKNESS: Key = Key::optional(
    "thickness",
    LENGTH,
    "0.001",
    Absent::Means("the surface is filled with tets"),
    "Thickness of a surface that stays one.",
);
const GROUP: Key = Key::optional(
    "group",
    Kind::Text,
    "\"left\"",
    Absent::Means("all faces"),
    "The group or object of an .obj file that is taken, so that each can be a body.",
);
/// Keys that may stand beside `file`.
pub(in crate::schema) const FILE_KEYS: &[Key] = &[FORMAT, GROUP, EDGE, TETS, EMBED, THICKNESS];

/// `sphere` of a mesh.
pub(super) const SPHERE: Key = Key::required(
    "sphere",
    Kind::Table(&SPHERE_TABLE),
    "{ radius = 0.5, edge = 0.1 }",
    "A ball around the origin.",
);
const BALL_RADIUS: Key = Key::required("radius", LENGTH, "0.5", "Radius.");

static SPHERE_TABLE: TableSchema = TableSchema {
    name: "mesh.sphere",
    doc: "A ball around the origin.",
    keys: &[BALL_RADIUS, EDGE, TETS],
    cases: no_cases,
    exclusive: &[RESOLUTION],
};

/// `cylinder` of a mesh.
pub(super) const CYLINDER: Key = Key::required(
    "cylinder",
    Kind::Table(&CYLINDER_TABLE),
    "{ radius = 0.1, length = 1 }",
    "A cylinder around the z axis.",
);
const RADIUS: Key = Key::required("radius", LENGTH, "0.1", "Radius.");
const HEIGHT: Key = Key::required("length", LENGTH, "1", "Length along z, from z = 0.");

static CYLINDER_TABLE: TableSchema = TableSchema {
    name: "mesh.cylinder",
    doc: "A cylinder around the z axis, from z = 0.",
    keys: &[RADIUS, HEIGHT, EDGE, TETS],
    cases: no_cases,
    exclusive: &[RESOLUTION],
};

/// `ellipsoid` of a mesh.
pub(super) const ELLIPSOID: Key = Key::required(
    "ellipsoid",
    Kind::Table(&ELLIPSOID_TABLE),
    "{ radii = [1, 0.5, 0.5] }",
    "An ellipsoid around the origin.",
);
const RADII: Key =
    Key::required("radii", Kind::exactly(3, &LENGTH), "[1, 0.5, 0.5]", "Half axes along x, y, z.");

static ELLIPSOID_TABLE: TableSchema = TableSchema {
    name: "mesh.ellipsoid",
    doc: "An ellipsoid around the origin.",
    keys: &[RADII, EDGE, TETS],
    cases: no_cases,
    exclusive: &[RESOLUTION],
};

fn formats() -> Vec<Choice> {
    let summary = |name| READERS.iter().find(|r| r.extensions.contains(&name)).map_or("", |r| r.summary);
    readers::formats().map(|name| Choice { name, doc: summary(name) }).collect()
}

pub(super) fn read_box(item: &Item<'_>, _: &mut Reader<'_>) -> Result<Shape, SceneError> {
    let mut reader = item.reader()?;
    let size = reader.required(&SIZE)?.vector3()?;
    let item = reader.required(&CELLS)?;
    let [i, j, k] = item.exactly("whole numbers")?;
    let cells = [i.count()?, j.count()?, k.count()?];
    let total: f64 = cells.iter().map(|n| f64::from(*n) + 1.0).product();
    if total > MOST_CELLS {
        return Err(
            item.error(format!("makes {total:.1e} vertices, more than can be numbered; use fewer cells"))
        );
    }
    let diagonals = reader.choice(&DIAGONALS, ALL_DIAGONALS)?;
    reader.finish()?;
    Ok(Shape::Box { size, cells, diagonals })
}

pub(super) fn read_file(item: &Item<'_>, mesh: &mut Reader<'_>) -> Result<Shape, SceneError> {
    let format = mesh.optional(&FORMAT).map(|format| {
        let choices: Vec<_> = readers::formats().map(|name| (name, name)).collect();
        format.choice(&choices)
    });
    Ok(Shape::File(FileSpec {
        path: file_path(item, item.text()?)?,
        format: format.transpose()?,
        group: mesh.optional(&GROUP).map(|group| group.text().map(str::to_owned)).transpose()?,
        resolution: Resolution::read(mesh)?,
        embed: mesh.flag(&EMBED)?,
        thickness: mesh.optional_number(&THICKNESS)?,
    }))
}

pub(super) fn read_sphere(item: &Item<'_>, _: &mut Reader<'_>) -> Result<Shape, SceneError> {
    let mut reader = item.reader()?;
    let radius = reader.number(&BALL_RADIUS)?;
    let resolution = Resolution::read(&mut reader)?;
    reader.finish()?;
    Ok(Shape::Sphere { radius, resolution })
}

pub(super) fn read_cylinder(item: &Item<'_>, _: &mut Reader<'_>) -> Result<Shape, SceneError> {
    let mut reader = item.reader()?;
    let (radius, length) = (reader.number(&RADIUS)?, reader.number(&HEIGHT)?);
    let resolution = Resolution::read(&mut reader)?;
    reader.finish()?;
    Ok(Shape::Cylinder { radius, length, resolution })
}

pub(super) fn read_ellipsoid(item: &Item<'_>, _: &mut Reader<'_>) -> Result<Shape, SceneError> {
    let mut reader = item.reader()?;
    let radii = reader.required(&RADII)?.vector3()?;
    let resolution = Resolution::read(&mut reader)?;
    reader.finish()?;
    Ok(Shape::Ellipsoid { radii, resolution })
}

/// The path of a mesh file.
pub(in crate::schema) fn file_path(item: &Item<'_>, path: &str) -> Result<String, SceneError> {
    if path.trim().is_empty() || path.contains('\0') {
        return Err(item.error(format!(
            "{} is no path; name a mesh file, relative to the folder of the scene",
            suggest::quoted(path)
        )));
    }
    Ok(path.to_owned())
}
