//! `motion` and `rotate` of a pin: how held vertices move.

use super::kinds::DIRECTION;
use super::quantity::{Quantity, SPACE_TIME, TIME};
use crate::document::key::{Absent, Key, Kind, TableSchema, no_cases};
use crate::document::{Item, Reader, SceneError};

static DISPLACEMENT: Kind = Kind::Either(&[Kind::number_in("m"), Kind::Formula(SPACE_TIME)]);
static TRANSLATION: Kind = Kind::Either(&[Kind::number_in("m"), Kind::Formula(TIME)]);
static METRES: Kind = Kind::number_in("m");

pub(super) const MOTION: Key = Key::optional(
    "motion",
    Kind::exactly(3, &DISPLACEMENT),
    "[\"0.1*sin(2*pi*t)\", 0, 0]",
    Absent::Means("held still"),
    "Displacement from where the vertices start; its components may be formulas of x, y, z (where a vertex starts) and t.",
);
/// `motion` of an obstacle.
pub(super) const OBSTACLE_MOTION: Key = Key::optional(
    "motion",
    Kind::exactly(3, &TRANSLATION),
    "[0, \"0.1*sin(2*pi*t)\", 0]",
    Absent::Means("held still"),
    "Displacement of the obstacle from where it is written; its components may be formulas of t.",
);
/// `rotate` of an obstacle.
pub(super) const OBSTACLE_ROTATE: Key = Key::optional(
    "rotate",
    Kind::Table(&ROTATION),
    "{ axis = [0, 0, 1], point = [0, 0, 0], degrees = \"20*t\" }",
    Absent::Means("no rotation"),
    "Rotation of the obstacle about a line, before `motion` is added.",
);
pub(super) const ROTATE: Key = Key::optional(
    "rotate",
    Kind::Table(&ROTATION),
    "{ axis = [1, 0, 0], point = [0, 0.5, 0.5], degrees = \"90*t\" }",
    Absent::Means("no rotation"),
    "Rotation about a line, before `motion` is added.",
);

const AXIS: Key = Key::required("axis", DIRECTION, "[1, 0, 0]", "Direction of the line.");
const POINT: Key = Key::required("point", Kind::exactly(3, &METRES), "[0, 0.5, 0.5]", "A point of the line.");
const DEGREES: Key = Key::required(
    "degrees",
    Kind::Either(&[Kind::number_in("°"), Kind::Formula(TIME)]),
    "\"90*t\"",
    "Angle, right-handed; it may be a formula of t.",
);

static ROTATION: TableSchema = TableSchema {
    name: "pin.rotate",
    doc: "A rotation about a line, by an angle that may change in time.",
    keys: &[AXIS, POINT, DEGREES],
    cases: no_cases,
    exclusive: &[],
};

/// How held vertices move.
#[derive(Clone, Debug, PartialEq)]
pub struct PinMotion {
    /// Displacement, m; formulas of [`SPACE_TIME`], the place at the start and t.
    pub displacement: [Quantity; 3],
    /// The rotation before it.
    pub rotation: Option<TimedRotation>,
}

/// A rotation about a line by an angle that may change in time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedRotation {
    /// Unit vector.
    pub axis: [f64; 3],
    /// A point of the line, m.
    pub point: [f64; 3],
    /// Angle, degrees; a formula of t.
    pub degrees: Quantity,
}

/// How an obstacle moves: rigidly.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidMotion {
    /// Displacement, m; formulas of t.
    pub displacement: [Quantity; 3],
    /// The rotation before it.
    pub rotation: Option<TimedRotation>,
}

impl RigidMotion {
    /// Reads both keys of an obstacle; `None` if it stays.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, SceneError> {
        let (motion, rotate) = (reader.optional(&OBSTACLE_MOTION), reader.optional(&OBSTACLE_ROTATE));
        if motion.is_none() && rotate.is_none() {
            return Ok(None);
        }
        let displacement = match &motion {
            None => [0.0; 3].map(Quantity::Number),
            Some(item) => Quantity::read3(item)?,
        };
        let rotation = rotate.map(|item| TimedRotation::read(&item)).transpose()?;
        Ok(Some(Self { displacement, rotation }))
    }
}

impl PinMotion {
    /// Reads both keys of a pin that holds these axes.
    pub(super) fn read(reader: &mut Reader<'_>, axes: [bool; 3]) -> Result<Option<Self>, SceneError> {
        let motion = reader.optional(&MOTION);
        let rotate = reader.optional(&ROTATE);
        if motion.is_none() && rotate.is_none() {
            return Ok(None);
        }
        let displacement = match &motion {
            None => [0.0; 3].map(Quantity::Number),
            Some(item) => {
                let motion = Quantity::read3(item)?;
                let free = motion.iter().zip(axes).any(|(m, held)| !held && m.constant() != Some(0.0));
                if free {
                    return Err(item.error("moves along an axis that `axes` leaves free; write 0 there"));
                }
                motion
            }
        };
        let rotation = match &rotate {
            Some(item) if axes != [true; 3] => {
                return Err(item.error("rotates vertices that `axes` leaves free; take `axes` out"));
            }
            Some(item) => Some(TimedRotation::read(item)?),
            None => None,
        };
        Ok(Some(Self { displacement, rotation }))
    }

    /// Whether all vertices have the same displacement.
    pub fn is_translation(&self) -> bool {
        self.rotation.is_none() && self.displacement.iter().all(|q| (0..3).all(|k| !q.depends_on(k)))
    }

    /// Whether the vertices move in time.
    pub fn changes(&self) -> bool {
        self.displacement.iter().any(|q| q.depends_on(3))
            || self.rotation.as_ref().is_some_and(|r| r.degrees.constant().is_none())
    }
}

impl TimedRotation {
    fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let axis = reader.required(&AXIS)?.direction()?;
        let [x, y, z] = reader.required(&POINT)?.exactly("numbers")?;
        let point = [x.finite()?, y.finite()?, z.finite()?];
        let degrees = Quantity::read(&reader.required(&DEGREES)?)?;
        reader.finish()?;
        Ok(Self { axis, point, degrees })
    }
}
