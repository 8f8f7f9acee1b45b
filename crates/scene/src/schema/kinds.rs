//! Kinds of values that several tables share.

use super::quantity::{CELL_DATA, SPACE_TAG};
use crate::document::key::Kind;

/// A number without a unit.
pub(super) const PLAIN: Kind = Kind::number_in("");
/// A coordinate.
pub(super) const COORDINATE: Kind = Kind::number_in("m");
/// A length.
pub(super) const LENGTH: Kind = Kind::positive("m");
/// A factor.
pub(super) const FACTOR: Kind = Kind::positive("");

/// A point in space.
pub(super) const POINT: Kind = Kind::exactly(3, &COORDINATE);
/// A direction; its length does not matter.
pub(super) const DIRECTION: Kind = Kind::exactly(3, &PLAIN);

/// A formula over the elements of a body.
pub(super) const PER_ELEMENT: Kind = Kind::Formula(SPACE_TAG);
/// Data of the mesh file, one number per element.
pub(super) const DATA: Kind = Kind::Table(&CELL_DATA);
