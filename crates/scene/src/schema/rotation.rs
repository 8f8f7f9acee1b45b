//! `rotate`: a rotation about an axis.

use super::kinds::DIRECTION;
use crate::document::key::{Key, Kind, TableSchema, no_cases};
use crate::document::{Item, SceneError};

const AXIS: Key = Key::required("axis", DIRECTION, "[0, 0, 1]", "Axis of the rotation.");
const DEGREES: Key = Key::required("degrees", Kind::number_in("°"), "90", "Angle, right-handed.");

static TABLE: TableSchema = TableSchema {
    name: "rotate",
    doc: "A right-handed rotation about an axis.",
    keys: &[AXIS, DEGREES],
    cases: no_cases,
    exclusive: &[],
};

/// What a rotation is written as.
pub(super) const KIND: Kind = Kind::Table(&TABLE);
/// A rotation in TOML.
pub(super) const EXAMPLE: &str = "{ axis = [0, 0, 1], degrees = 90 }";

/// A rotation about an axis, right-handed.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotation {
    /// Unit vector.
    pub axis: [f64; 3],
    /// Angle, degrees.
    pub degrees: f64,
}

impl Rotation {
    /// Reads `{ axis = [0, 0, 1], degrees = 90 }`.
    pub(super) fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let axis = reader.required(&AXIS)?.direction()?;
        let degrees = reader.number(&DEGREES)?;
        reader.finish()?;
        Ok(Self { axis, degrees })
    }
}
