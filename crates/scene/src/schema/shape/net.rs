//! Shapes without tets: ropes, cloth and points.

use super::Shape;
use crate::document::key::{Absent, Case, Key, Kind, TableSchema, When, no_cases};
use crate::document::{Item, Reader, SceneError};
use crate::schema::kinds::{LENGTH, POINT};

/// `rope` of a mesh.
pub(super) const ROPE: Key = Key::required(
    "rope",
    Kind::Table(&ROPE_TABLE),
    "{ from = [0, 0, 0], to = [1, 0, 0], segments = 50, radius = 0.005 }",
    "A chain of springs.",
);
const FROM: Key = Key::required("from", POINT, "[0, 0, 0]", "One end, at rest.");
const TO: Key = Key::required("to", POINT, "[1, 0, 0]", "The other end, at rest.");
const CORNERS: Key = Key::required(
    "points",
    Kind::List { of: &POINT, least: 2, most: usize::MAX },
    "[[0, 0, 0], [1, 0, 0]]",
    "Corners of its line at rest.",
);
const SEGMENTS: Key = Key::required("segments", Kind::count(1, 10_000_000), "50", "Number of springs.");
const ROPE_RADIUS: Key = Key::required("radius", LENGTH, "0.005", "Radius of its round section.");
const ROPE_BENDING: Key = Key::optional(
    "bending",
    Kind::not_negative("N m²"),
    "1e-4",
    Absent::Number(0.0),
    "Flexural rigidity of a rope that is straight at rest.",
);

static ROPE_TABLE: TableSchema = TableSchema {
    name: "mesh.rope",
    doc: "A chain of springs along a line.",
    keys: &[SEGMENTS, ROPE_RADIUS, ROPE_BENDING],
    cases: || {
        let case = |first: Key, doc, keys| Case { when: When::Has(first.name), doc, keys };
        vec![
            case(FROM, "A straight rope.", vec![FROM, TO]),
            case(CORNERS, "A rope along a line.", vec![CORNERS]),
        ]
    },
    exclusive: &[],
};

/// `cloth` of a mesh.
pub(super) const CLOTH: Key = Key::required(
    "cloth",
    Kind::Table(&CLOTH_TABLE),
    "{ size = [1, 1], cells = [20, 20], thickness = 0.001 }",
    "A sheet in the plane z = 0 with a corner at the origin.",
);
const SIZE: Key = Key::required("size", Kind::exactly(2, &LENGTH), "[1, 1]", "Lengths along x and y.");
const CELLS: Key =
    Key::required("cells", Kind::exactly(2, &Kind::count(1, 20_000)), "[20, 20]", "Cells along x and y.");
const THICKNESS: Key = Key::required("thickness", LENGTH, "0.001", "Thickness of the material.");
const BENDING: Key =
    Key::optional("bending", Kind::not_negative("N m"), "1e-5", Absent::Number(0.0), "Flexural rigidity.");

static CLOTH_TABLE: TableSchema = TableSchema {
    name: "mesh.cloth",
    doc: "A sheet in the plane z = 0 with a corner at the origin.",
    keys: &[SIZE, CELLS, THICKNESS, BENDING],
    cases: no_cases,
    exclusive: &[],
};

/// `points` of a mesh.
pub(super) const POINTS: Key = Key::required(
    "points",
    Kind::Table(&POINTS_TABLE),
    "{ positions = [[0, 0, 0], [1, 0, 0]], edges = [[0, 1]] }",
    "Single points, which springs may join.",
);
const POSITIONS: Key = Key::required(
    "positions",
    Kind::List { of: &POINT, least: 1, most: usize::MAX },
    "[[0, 0, 0], [1, 0, 0]]",
    "Positions at rest.",
);
const EDGES: Key = Key::optional(
    "edges",
    Kind::list(&Kind::exactly(2, &Kind::count(0, u32::MAX - 1))),
    "[[0, 1]]",
    Absent::Means("none"),
    "Pairs of point numbers, from 0, that a spring joins.",
);
const MASSES: Key = Key::optional(
    "masses",
    Kind::list(&Kind::positive("kg")),
    "[1, 2]",
    Absent::Means("from the density"),
    "Masses, one per point.",
);
const SPRING_RADIUS: Key = Key::optional(
    "radius",
    LENGTH,
    "0.005",
    Absent::Means("`lambda` of the material gives the stiffness"),
    "Radius of the round section of the springs.",
);

static POINTS_TABLE: TableSchema = TableSchema {
    name: "mesh.points",
    doc: "Single points, which springs may join.",
    keys: &[POSITIONS, EDGES, MASSES, SPRING_RADIUS],
    cases: no_cases,
    exclusive: &[],
};

pub(super) fn read_rope(item: &Item<'_>, _: &mut Reader<'_>) -> Result<Shape, SceneError> {
    let mut reader = item.reader()?;
    let points = match reader.optional(&CORNERS) {
        None => {
            let from = reader.required_as(&FROM, "from = [0, 0, 0] and to = [1, 0, 0]")?.vector3()?;
            vec![from, reader.required(&TO)?.vector3()?]
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
    let segments = reader.required(&SEGMENTS)?.count()?;
    let radius = reader.number(&ROPE_RADIUS)?;
    let bending = reader.number_or_default(&ROPE_BENDING)?;
    if bending > 0.0 && points.len() > 2 {
        return Err(reader.error("bending needs a rope that is straight at rest: give from and to"));
    }
    reader.finish()?;
    Ok(Shape::Rope { points, segments, radius, bending })
}

pub(super) fn read_cloth(item: &Item<'_>, _: &mut Reader<'_>) -> Result<Shape, SceneError> {
    let mut reader = item.reader()?;
    let [a, b] = reader.required(&SIZE)?.exactly("numbers")?;
    let size = [a.number()?, b.number()?];
    let [m, n] = reader.required(&CELLS)?.exactly("whole numbers")?;
    let cells = [m.count()?, n.count()?];
    let thickness = reader.number(&THICKNESS)?;
    let bending = reader.number_or_default(&BENDING)?;
    reader.finish()?;
    Ok(Shape::Cloth { size, cells, thickness, bending })
}

pub(super) fn read_points(item: &Item<'_>, _: &mut Reader<'_>) -> Result<Shape, SceneError> {
    let mut reader = item.reader()?;
    let item = reader.required(&POSITIONS)?;
    let positions = item.members()?.map(|p| p.vector3()).collect::<Result<Vec<_>, _>>()?;
    let most = match u32::try_from(positions.len()) {
        Ok(count) if count > 0 => count - 1,
        _ => return Err(item.error("has no points; give at least one, as [[0, 0, 0]]")),
    };
    let mut edges = Vec::new();
    if let Some(item) = reader.optional(&EDGES) {
        for edge in item.members()? {
            let [a, b] = edge.exactly("point numbers")?;
            let pair = [a.index(most)?, b.index(most)?];
            let [a, b] = pair;
            if a == b {
                return Err(edge.error("joins a point to itself; give two different points"));
            }
            edges.push(pair);
        }
    }
    let mut masses = Vec::new();
    if let Some(item) = reader.optional(&MASSES) {
        masses = item.members()?.map(|m| m.number()).collect::<Result<Vec<_>, _>>()?;
        if masses.len() != positions.len() {
            return Err(item.error(format!(
                "has {} masses for {} points; give one per point",
                masses.len(),
                positions.len()
            )));
        }
    }
    let radius = reader.optional_number(&SPRING_RADIUS)?;
    reader.finish()?;
    Ok(Shape::Points { positions, edges, masses, radius })
}
