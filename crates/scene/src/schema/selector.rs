//! `where`: which vertices or elements of a body are meant.

use super::kinds::{LENGTH, POINT};
use super::quantity::{SPACE, SPACE_TAG};
use crate::document::key::{Absent, Choice, Key, Kind, TableSchema, no_cases};
use crate::document::{Item, Reader, SceneError, Value};
use crate::expression::Expression;

const ALL: Key =
    Key::optional("all", Kind::Flag, "true", Absent::Means("no restriction"), "Everything; must be true.");
const BOX: Key = Key::optional(
    "box",
    Kind::Table(&BOX_TABLE),
    "{ min = [-0.01, -1, -1], max = [0.01, 2, 2] }",
    Absent::Means("no restriction"),
    "Inside a box, its faces included.",
);
const SPHERE: Key = Key::optional(
    "sphere",
    Kind::Table(&SPHERE_TABLE),
    "{ center = [0, 0, 0], radius = 0.1 }",
    Absent::Means("no restriction"),
    "Inside a sphere, its surface included.",
);
const TAG: Key = Key::optional(
    "tag",
    Kind::Whole { least: i64::MIN, most: i64::MAX },
    "3",
    Absent::Means("no restriction"),
    "Elements with this tag, and their vertices.",
);
const REGION: Key = Key::optional(
    "region",
    Kind::Text,
    "\"core\"",
    Absent::Means("no restriction"),
    "Elements of a named region of the mesh file, and their vertices.",
);
const EXPRESSION: Key = Key::optional(
    "expression",
    Kind::Formula(SPACE),
    "\"x > 1\"",
    Absent::Means("no restriction"),
    "Where a formula of the rest position is not 0.",
);
const EXPRESSION_TAG: Key = Key {
    kind: Kind::Formula(SPACE_TAG),
    doc: "Where a formula of the rest position of the centroid and the tag is not 0.",
    ..EXPRESSION
};
const SET: Key = Key::optional(
    "set",
    Kind::Text,
    "\"left\"",
    Absent::Means("no restriction"),
    "A named set of vertices of the mesh file.",
);
const VERTICES: Key = Key::optional(
    "vertices",
    Kind::List { of: &VERTEX, least: 1, most: usize::MAX },
    "[0, 5]",
    Absent::Means("no restriction"),
    "Vertices by number, from 0.",
);
const NEAREST: Key = Key::optional(
    "nearest",
    POINT,
    "[0, 0, 0]",
    Absent::Means("no restriction"),
    "The vertex nearest to a point.",
);
const SURFACE: Key = Key::optional(
    "surface",
    Kind::Flag,
    "true",
    Absent::Means("no restriction"),
    "On the surface (true) or inside (false).",
);

/// Number of a vertex.
pub(super) const VERTEX: Kind = Kind::count(0, u32::MAX - 1);

static VERTEX_TABLE: TableSchema = TableSchema {
    name: "where",
    doc: "Vertices of a body, by their rest position; several keys are an intersection.",
    keys: &[ALL, BOX, SPHERE, TAG, REGION, EXPRESSION, SET, VERTICES, NEAREST, SURFACE],
    cases: no_cases,
    exclusive: &[],
};
static ELEMENT_TABLE: TableSchema = TableSchema {
    name: "where.elements",
    doc: "Elements of a body, by the rest position of their centroid; several keys are an intersection.",
    keys: &[ALL, BOX, SPHERE, TAG, REGION, EXPRESSION_TAG],
    cases: no_cases,
    exclusive: &[],
};

/// Which vertices are meant.
pub(super) static OF_VERTICES: Kind = Kind::Either(&VERTEX_KINDS);
static VERTEX_KINDS: [Kind; 4] = [
    Kind::Word(|| vec![EVERYTHING, Choice { name: "surface", doc: "Every vertex of the surface." }]),
    Kind::Formula(SPACE),
    Kind::Table(&VERTEX_TABLE),
    Kind::List { of: &OF_VERTICES, least: 1, most: usize::MAX },
];
/// Which elements are meant.
pub(super) static OF_ELEMENTS: Kind = Kind::Either(&ELEMENT_KINDS);
static ELEMENT_KINDS: [Kind; 4] = [
    Kind::Word(|| vec![EVERYTHING]),
    Kind::Formula(SPACE_TAG),
    Kind::Table(&ELEMENT_TABLE),
    Kind::List { of: &OF_ELEMENTS, least: 1, most: usize::MAX },
];

const EVERYTHING: Choice = Choice { name: "all", doc: "Everything." };

const MIN: Key = Key::required("min", POINT, "[-0.01, -1, -1]", "Smallest corner.");
const MAX: Key = Key::required("max", POINT, "[0.01, 2, 2]", "Largest corner.");

static BOX_TABLE: TableSchema = TableSchema {
    name: "where.box",
    doc: "A box along the axes.",
    keys: &[MIN, MAX],
    cases: no_cases,
    exclusive: &[],
};

const CENTER: Key = Key::required("center", POINT, "[0, 0, 0]", "Centre.");
const RADIUS: Key = Key::required("radius", LENGTH, "0.1", "Radius.");

static SPHERE_TABLE: TableSchema = TableSchema {
    name: "where.sphere",
    doc: "A ball.",
    keys: &[CENTER, RADIUS],
    cases: no_cases,
    exclusive: &[],
};

/// A choice of vertices (pins, loads) or elements (material regions), in rest positions.
#[derive(Clone, Debug, PartialEq)]
pub enum Selector {
    /// Everything.
    All,
    /// Inside a box, its faces included, m.
    Box {
        /// Smallest corner.
        min: [f64; 3],
        /// Largest corner.
        max: [f64; 3],
    },
    /// Inside a sphere, its surface included, m.
    Sphere {
        /// Centre.
        center: [f64; 3],
        /// Radius.
        radius: f64,
    },
    /// Elements with this tag (and their vertices).
    Tag(i64),
    /// Elements of a named region of the mesh file (and their vertices).
    Region(String),
    /// A named vertex set of the mesh file.
    Set(String),
    /// Vertices by number, from 0.
    Vertices(Vec<u32>),
    /// The vertex nearest to a point, m.
    Nearest([f64; 3]),
    /// Where a formula is not 0: of x, y, z for vertices; of x, y, z, tag at the centroid for elements.
    Formula(Expression),
    /// On the surface (true) or inside (false).
    Surface(bool),
    /// In any of these: `where = [ …, … ]`.
    Union(Vec<Selector>),
    /// In all of these: several keys in one table.
    Intersection(Vec<Selector>),
}

/// What is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Vertices.
    Vertices,
    /// Elements.
    Elements,
}

impl Selector {
    /// Reads a `where`.
    pub fn read(item: &Item<'_>, target: Target) -> Result<Self, SceneError> {
        match &item.node.value {
            Value::Text(text) if text == "all" => Ok(Self::All),
            Value::Text(text) if text == "surface" && target == Target::Vertices => Ok(Self::Surface(true)),
            Value::Text(_) => Ok(Self::Formula(item.formula()?)),
            Value::Array(_) => {
                let parts = item.members()?.map(|part| Self::read(&part, target));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                if parts.is_empty() {
                    return Err(
                        item.error("is an empty list and selects nothing; write \"all\" or a { box = … }")
                    );
                }
                Ok(Self::Union(parts))
            }
            Value::Table(_) => Self::read_table(item, target),
            other => Err(item.error(format!(
                "expected \"all\", a formula, a table as {{ box = … }}, or a list of these, found {}",
                other.kind()
            ))),
        }
    }

    fn read_table(item: &Item<'_>, target: Target) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let mut parts = Vec::new();
        if let Some(all) = reader.optional(&ALL) {
            if !all.bool()? {
                return Err(all.error("must be true; leave it out and say what to select instead"));
            }
            parts.push(Self::All);
        }
        if let Some(item) = reader.optional(&BOX) {
            parts.push(read_box(&item)?);
        }
        if let Some(item) = reader.optional(&SPHERE) {
            let mut sphere = item.reader()?;
            let center = sphere.required(&CENTER)?.vector3()?;
            let radius = sphere.number(&RADIUS)?;
            sphere.finish()?;
            parts.push(Self::Sphere { center, radius });
        }
        if let Some(item) = reader.optional(&TAG) {
            parts.push(Self::Tag(item.integer()?));
        }
        if let Some(item) = reader.optional(&REGION) {
            parts.push(Self::Region(item.text()?.to_owned()));
        }
        let expression = if target == Target::Vertices { EXPRESSION } else { EXPRESSION_TAG };
        if let Some(item) = reader.optional(&expression) {
            parts.push(Self::Formula(item.formula()?));
        }
        if target == Target::Vertices {
            Self::read_vertices(&mut reader, &mut parts)?;
        }
        reader.finish()?;
        match parts.len() {
            0 => Err(item.error("selects nothing; write \"all\" or for example { nearest = [0, 0, 0] }")),
            1 => parts.pop().ok_or_else(|| item.error("selects nothing")),
            _ => Ok(Self::Intersection(parts)),
        }
    }

    /// The keys that select vertices only.
    fn read_vertices(reader: &mut Reader<'_>, parts: &mut Vec<Self>) -> Result<(), SceneError> {
        if let Some(item) = reader.optional(&SET) {
            parts.push(Self::Set(item.text()?.to_owned()));
        }
        if let Some(item) = reader.optional(&VERTICES) {
            let numbers = item.members()?.map(|n| n.count()).collect::<Result<Vec<_>, _>>()?;
            if numbers.is_empty() {
                return Err(item.error("is empty and selects nothing; give vertex numbers, from 0"));
            }
            parts.push(Self::Vertices(numbers));
        }
        if let Some(point) = reader.optional_vector3(&NEAREST)? {
            parts.push(Self::Nearest(point));
        }
        if let Some(item) = reader.optional(&SURFACE) {
            parts.push(Self::Surface(item.bool()?));
        }
        Ok(())
    }
}

fn read_box(item: &Item<'_>) -> Result<Selector, SceneError> {
    let mut reader = item.reader()?;
    let min = reader.required(&MIN)?.vector3()?;
    let max = reader.required(&MAX)?.vector3()?;
    reader.finish()?;
    for ((low, high), axis) in min.iter().zip(&max).zip(["x", "y", "z"]) {
        if low > high {
            return Err(item.error(format!("min is above max along {axis} ({low} > {high}); exchange them")));
        }
    }
    Ok(Selector::Box { min, max })
}
