//! `[[constraint]]`: distances and volumes that stay exactly what they are.

use super::interaction::Bodies;
use super::quantity::Mark;
use super::selector::{Selector, Target};
use crate::document::{Item, Reader, SceneError, Value};

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
        /// m; absent: that of the reference.
        length: Option<f64>,
    },
    /// The length of every edge of a body of springs or triangles.
    Edges {
        /// Number of the body.
        body: usize,
        /// Edges with both ends in here.
        selector: Selector,
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
    pub(super) fn read(item: &Item<'_>, bodies: &Bodies<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let kind = reader.required("kind", "kind = \"volume\"")?;
        let kind = match kind.choice(&[("distance", true), ("volume", false)])? {
            true => distance(&mut reader, bodies)?,
            false => volume(&mut reader, bodies)?,
        };
        let name = reader.optional("name").map(|n| n.name().map(str::to_string)).transpose()?;
        let reference = match reader.optional("reference") {
            Some(item) => item.choice(&[("rest", Reference::Rest), ("start", Reference::Start)])?,
            None => Reference::Rest,
        };
        let until = reader.optional_positive("until", "s")?;
        reader.finish()?;
        Ok(Self { kind, name, reference, until, mark: item.into() })
    }
}

fn selector(reader: &mut Reader<'_>, target: Target) -> Result<Selector, SceneError> {
    reader.optional("where").map_or(Ok(Selector::All), |place| Selector::read(&place, target))
}

fn distance(reader: &mut Reader<'_>, bodies: &Bodies<'_>) -> Result<ConstraintKind, SceneError> {
    if let Some(each) = reader.optional("each") {
        each.choice(&[("edge", ())])?;
        let body = bodies.of(reader)?;
        return Ok(ConstraintKind::Edges { body, selector: selector(reader, Target::Vertices)? });
    }
    let named = reader.optional("body").map(|item| bodies.find(&item)).transpose()?;
    let between = reader.required("between", "between = [[0, 0, 0], [1, 0, 0]]")?;
    let [a, b] = between.exactly("ends (a point, a vertex number, or { body = …, nearest = … })")?;
    let between = [end(&a, named, bodies)?, end(&b, named, bodies)?];
    Ok(ConstraintKind::Distance { between, length: reader.optional_positive("length", "m")? })
}

fn volume(reader: &mut Reader<'_>, bodies: &Bodies<'_>) -> Result<ConstraintKind, SceneError> {
    let body = bodies.of(reader)?;
    let Some(each) = reader.optional("each") else { return Ok(ConstraintKind::Volume { body }) };
    each.choice(&[("element", ())])?;
    Ok(ConstraintKind::Elements { body, selector: selector(reader, Target::Elements)? })
}

fn end(item: &Item<'_>, named: Option<usize>, bodies: &Bodies<'_>) -> Result<EndSpec, SceneError> {
    let vertex = |item: &Item<'_>| item.count(0, u32::MAX - 1).map(EndAt::Vertex);
    let unnamed = || {
        let only = (bodies.0.len() == 1).then_some(0);
        named.or(only).ok_or_else(|| {
            item.error("of which body? Write { body = …, nearest = [x, y, z] }, or give `body` for both ends")
        })
    };
    match item.node.value {
        Value::Table(_) => {
            let mut reader = item.reader()?;
            let body = match reader.optional("body") {
                Some(item) => bodies.find(&item)?,
                None => unnamed()?,
            };
            let at = match reader.optional("vertex") {
                Some(item) => vertex(&item)?,
                None => EndAt::Nearest(reader.required("nearest", "nearest = [0, 0, 0]")?.vector3()?),
            };
            reader.finish()?;
            Ok(EndSpec { body, at })
        }
        Value::Array(_) => Ok(EndSpec { body: unnamed()?, at: EndAt::Nearest(item.vector3()?) }),
        _ => Ok(EndSpec { body: unnamed()?, at: vertex(item)? }),
    }
}
