//! `[[constraint]]`: distances, volumes and surfaces that are kept exactly.

use super::bodies::{BODY, Bodies};
use super::kinds::{COORDINATE, LENGTH, POINT};
use super::quantity::{Mark, Quantity, SPACE_TIME, TIME};
use super::selector::{OF_ELEMENTS, OF_VERTICES, Selector, Target, VERTEX};
use crate::document::key::{Absent, Case, Key, Kind, TableSchema, When, words};
use crate::document::{Item, Reader, SceneError, Value};

const KIND: Key = Key::required("kind", Kind::Word(|| words(KINDS)), "\"volume\"", "What is kept.");
const KINDS: &[(&str, Kept)] =
    &[("distance", Kept::Distance), ("volume", Kept::Volume), ("surface", Kept::Surface)];

/// What a constraint keeps.
#[derive(Clone, Copy)]
enum Kept {
    Distance,
    Volume,
    Surface,
}

const NAME: Key = Key::optional(
    "name",
    Kind::Name,
    "\"rod\"",
    Absent::Means("made from what is kept"),
    "Heads the columns of the constraint in tables.",
);
const REFERENCE: Key = Key::optional(
    "reference",
    Kind::Word(|| words(REFERENCES)),
    "\"start\"",
    Absent::Word("rest"),
    "The state whose length or volume is kept: the mesh as given, or as `initial` leaves it.",
);
const REFERENCES: &[(&str, Reference)] = &[("rest", Reference::Rest), ("start", Reference::Start)];
const UNTIL: Key = Key::optional(
    "until",
    Kind::positive("s"),
    "2.0",
    Absent::Means("kept to the end"),
    "Time at which the constraint is released.",
);
const BETWEEN: Key = Key::optional(
    "between",
    Kind::exactly(2, &END),
    "[[0, 0, 0], [1, 0, 0]]",
    Absent::Means("required without `each`"),
    "The two vertices: a point (the nearest vertex at rest), the number of a vertex, or a table.",
);
const DISTANCE: Key = Key::optional(
    "length",
    Kind::Either(const { &[LENGTH, Kind::Formula(TIME)] }),
    "\"0.5 + 0.1*sin(t)\"",
    Absent::Means("that of the reference"),
    "The distance that is kept; it may be a formula of t.",
);
const EACH_EDGE: Key = Key::optional(
    "each",
    Kind::Word(|| words(EDGE)),
    "\"edge\"",
    Absent::Means("one distance, that of `between`"),
    "The length of every edge of a body of springs or triangles is kept.",
);
const EDGE: &[(&str, ())] = &[("edge", ())];
const EACH_ELEMENT: Key = Key::optional(
    "each",
    Kind::Word(|| words(ELEMENT)),
    "\"element\"",
    Absent::Means("the volume of the whole body"),
    "The volume of every element is kept.",
);
const ELEMENT: &[(&str, ())] = &[("element", ())];
const EDGES_WHERE: Key = Key::optional(
    "where",
    OF_VERTICES,
    "\"x > 1\"",
    Absent::Means("all"),
    "With `each`: edges with both ends in here.",
);
const ELEMENTS_WHERE: Key =
    Key::optional("where", OF_ELEMENTS, "\"x > 1\"", Absent::Means("all"), "With `each`: which elements.");

const EQUATION: Key = Key::required(
    "equation",
    Kind::Formula(SPACE_TIME),
    "\"x^2 + y^2 - (1 + 0.1*sin(t))^2\"",
    "The surface is where this formula of the present place x, y, z and t is 0. Two constraints keep vertices on a curve.",
);
const ON_SURFACE_WHERE: Key =
    Key::required("where", OF_VERTICES, "{ nearest = [1, 0, 0] }", "Which vertices stay on the surface.");

/// `[[constraint]]`.
pub(super) static CONSTRAINT: TableSchema = TableSchema {
    name: "constraint",
    doc: "A distance, a volume or a surface that is kept exactly.",
    keys: &[KIND, BODY, NAME, REFERENCE, UNTIL],
    cases: || {
        let case = |value, doc, keys: &[Key]| Case {
            when: When::Is { key: KIND.name, value, default: false },
            doc,
            keys: keys.to_vec(),
        };
        let distance = "The distance of two vertices, or the length of every edge.";
        vec![
            case("volume", "The volume of a body, or of every element.", &[EACH_ELEMENT, ELEMENTS_WHERE]),
            case("distance", distance, &[BETWEEN, DISTANCE, EACH_EDGE, EDGES_WHERE]),
            case("surface", "Vertices on a surface, which may move.", &[EQUATION, ON_SURFACE_WHERE]),
        ]
    },
    exclusive: &[["each", "between"], ["each", "length"]],
};

const END: Kind = Kind::Either(const { &[Kind::exactly(3, &COORDINATE), VERTEX, Kind::Table(&END_TABLE)] });
const END_BODY: Key = Key::optional(
    "body",
    Kind::Body,
    "\"bar\"",
    Absent::Means("`body` of the constraint"),
    "Name of the body.",
);
const END_VERTEX: Key = Key::required("vertex", VERTEX, "0", "Number of the vertex, from 0.");
const END_NEAREST: Key =
    Key::required("nearest", POINT, "[0, 0, 0]", "The vertex nearest to this point, at rest.");

static END_TABLE: TableSchema = TableSchema {
    name: "constraint.between",
    doc: "One end of a distance: a vertex of a body.",
    keys: &[END_BODY],
    cases: || {
        let case = |key: Key| Case { when: When::Has(key.name), doc: "", keys: vec![key] };
        vec![case(END_VERTEX), case(END_NEAREST)]
    },
    exclusive: &[],
};

/// A holonomic constraint, or one for each of many elements.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintSpec {
    /// What is kept.
    pub kind: ConstraintKind,
    /// Heads its columns; absent: made from what it keeps.
    pub name: Option<String>,
    /// Which state has the length or volume that is kept.
    pub reference: Reference,
    /// Released at this time, s.
    pub until: Option<f64>,
    /// Where it was written.
    pub mark: Mark,
}

/// Kinds of constraints.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// The distance of two vertices.
    Distance {
        /// Those.
        between: [EndSpec; 2],
        /// m, a number or a formula of t; absent: that of the reference.
        length: Option<Quantity>,
    },
    /// The length of every edge of a body of springs or triangles.
    Edges {
        /// Number of the body.
        body: usize,
        /// Edges with both ends in here.
        selector: Selector,
    },
    /// Vertices on a surface.
    Surface {
        /// Number of the body.
        body: usize,
        /// Which vertices.
        selector: Selector,
        /// A formula of [`SPACE_TIME`], the present place and t, that is 0 on the surface.
        equation: Quantity,
    },
    /// Volume of a body.
    Volume {
        /// Number of the body.
        body: usize,
    },
    /// Volume of every element.
    Elements {
        /// Number of the body.
        body: usize,
        /// Which elements.
        selector: Selector,
    },
}

/// One end of a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndSpec {
    /// Number of the body.
    pub body: usize,
    /// Which of its vertices.
    pub at: EndAt,
}

/// A vertex by its number or by a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EndAt {
    /// Its number, from 0.
    Vertex(u32),
    /// That nearest to a point (at rest), m.
    Nearest([f64; 3]),
}

/// Which state a constraint keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The mesh as given.
    Rest,
    /// As `initial` leaves it.
    Start,
}

impl ConstraintSpec {
    /// Whether what is kept changes in time, so that work is done from outside.
    pub fn moves(&self) -> bool {
        match &self.kind {
            ConstraintKind::Distance { length, .. } => length.as_ref().is_some_and(|l| l.depends_on(0)),
            ConstraintKind::Surface { equation, .. } => equation.depends_on(3),
            _ => false,
        }
    }

    pub(super) fn read(item: &Item<'_>, bodies: &Bodies<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let kind = match reader.required(&KIND)?.choice(KINDS)? {
            Kept::Distance => distance(&mut reader, bodies)?,
            Kept::Volume => volume(&mut reader, bodies)?,
            Kept::Surface => surface(&mut reader, bodies)?,
        };
        let name = reader.optional(&NAME).map(|n| n.name().map(str::to_string)).transpose()?;
        let reference = reader.choice(&REFERENCE, REFERENCES)?;
        let until = reader.optional_number(&UNTIL)?;
        reader.finish()?;
        Ok(Self { kind, name, reference, until, mark: item.into() })
    }
}

fn selector(reader: &mut Reader<'_>, key: &Key, target: Target) -> Result<Selector, SceneError> {
    reader.optional(key).map_or(Ok(Selector::All), |place| Selector::read(&place, target))
}

fn distance(reader: &mut Reader<'_>, bodies: &Bodies<'_>) -> Result<ConstraintKind, SceneError> {
    if let Some(each) = reader.optional(&EACH_EDGE) {
        each.choice(EDGE)?;
        let body = bodies.of(reader)?;
        return Ok(ConstraintKind::Edges {
            body,
            selector: selector(reader, &EDGES_WHERE, Target::Vertices)?,
        });
    }
    let named = reader.optional(&BODY).map(|item| bodies.find(&item)).transpose()?;
    let between = reader.required(&BETWEEN)?;
    let [a, b] = between.exactly("ends (a point, a vertex number, or { body = …, nearest = … })")?;
    let between = [end(&a, named, bodies)?, end(&b, named, bodies)?];
    let length = reader.optional(&DISTANCE).map(|item| Quantity::read(&item)).transpose()?;
    Ok(ConstraintKind::Distance { between, length })
}

fn surface(reader: &mut Reader<'_>, bodies: &Bodies<'_>) -> Result<ConstraintKind, SceneError> {
    let body = bodies.of(reader)?;
    let item = reader.required(&EQUATION)?;
    let equation = Quantity::read(&item)?;
    if !(0..3).any(|k| equation.depends_on(k)) {
        return Err(item.error(
            "does not depend on x, y or z and describes no surface; write for example \"z - 0.1*sin(t)\"",
        ));
    }
    let selector = Selector::read(&reader.required(&ON_SURFACE_WHERE)?, Target::Vertices)?;
    Ok(ConstraintKind::Surface { body, selector, equation })
}

fn volume(reader: &mut Reader<'_>, bodies: &Bodies<'_>) -> Result<ConstraintKind, SceneError> {
    let body = bodies.of(reader)?;
    let Some(each) = reader.optional(&EACH_ELEMENT) else { return Ok(ConstraintKind::Volume { body }) };
    each.choice(ELEMENT)?;
    Ok(ConstraintKind::Elements { body, selector: selector(reader, &ELEMENTS_WHERE, Target::Elements)? })
}

fn end(item: &Item<'_>, named: Option<usize>, bodies: &Bodies<'_>) -> Result<EndSpec, SceneError> {
    let vertex = |item: &Item<'_>| item.count().map(EndAt::Vertex);
    let unnamed = || {
        let only = (bodies.0.len() == 1).then_some(0);
        named.or(only).ok_or_else(|| {
            item.error("of which body? Write { body = …, nearest = [x, y, z] }, or give `body` for both ends")
        })
    };
    match item.node.value {
        Value::Table(_) => {
            let mut reader = item.reader()?;
            let body = match reader.optional(&END_BODY) {
                Some(item) => bodies.find(&item)?,
                None => unnamed()?,
            };
            let at = match reader.optional(&END_VERTEX) {
                Some(item) => vertex(&item)?,
                None => EndAt::Nearest(reader.required(&END_NEAREST)?.vector3()?),
            };
            reader.finish()?;
            Ok(EndSpec { body, at })
        }
        Value::Array(_) => Ok(EndSpec { body: unnamed()?, at: EndAt::Nearest(item.vector3()?) }),
        _ => Ok(EndSpec { body: unnamed()?, at: vertex(item)? }),
    }
}
