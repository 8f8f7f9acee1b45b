//! `[environment]`: what acts on every body.

use super::kinds::POINT;
use super::quantity::{Quantity, TIME};
use crate::document::key::{Absent, Key, Kind, TableSchema, no_cases};
use crate::document::{Item, SceneError};

static ACCELERATION: Kind = Kind::Either(&[Kind::number_in("m/s²"), Kind::Formula(TIME)]);

const GRAVITY: Key = Key::optional(
    "gravity",
    Kind::exactly(3, &ACCELERATION),
    "[0, -9.81, 0]",
    Absent::Means("none"),
    "Acceleration of gravity; its components may be formulas of t.",
);
const MONOPOLE: Key = Key::optional(
    "monopole",
    Kind::Table(&MONOPOLE_TABLE),
    "{ strength = 1.0, at = [0, 0, 0] }",
    Absent::Means("none"),
    "A point that attracts every body.",
);

/// `[environment]`.
pub(super) static ENVIRONMENT: TableSchema = TableSchema {
    name: "environment",
    doc: "What acts on every body.",
    keys: &[GRAVITY, MONOPOLE],
    cases: no_cases,
    exclusive: &[],
};

const STRENGTH: Key =
    Key::required("strength", Kind::number_in("m³/s²"), "1.0", "G·M of the point; a negative value repels.");
const AT: Key = Key::required("at", POINT, "[0, 0, 0]", "Position of the point.");

static MONOPOLE_TABLE: TableSchema = TableSchema {
    name: "monopole",
    doc: "A point mass that attracts with strength/r².",
    keys: &[STRENGTH, AT],
    cases: no_cases,
    exclusive: &[],
};

/// What acts on every body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// m/s²; formulas of t.
    pub gravity: Option<[Quantity; 3]>,
    /// A point that attracts.
    pub monopole: Option<Monopole>,
}

/// A point mass that attracts with strength/r².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Monopole {
    /// G·M, m³/s²; negative repels.
    pub strength: f64,
    /// Position, m.
    pub at: [f64; 3],
}

impl Environment {
    pub(super) fn read(item: Option<Item<'_>>) -> Result<Self, SceneError> {
        let Some(item) = item else { return Ok(Self::default()) };
        let mut reader = item.reader()?;
        let gravity = reader.optional(&GRAVITY).map(|item| Quantity::read3(&item)).transpose()?;
        let monopole = reader.optional(&MONOPOLE).map(|item| Monopole::read(&item)).transpose()?;
        reader.finish()?;
        Ok(Self { gravity, monopole })
    }
}

impl Monopole {
    fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let strength = reader.number(&STRENGTH)?;
        let at = reader.required(&AT)?.vector3()?;
        reader.finish()?;
        Ok(Self { strength, at })
    }
}
