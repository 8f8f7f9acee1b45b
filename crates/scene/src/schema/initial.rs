//! `initial` of a body: how it starts.

use super::kinds::{DIRECTION, FACTOR};
use super::quantity::{Quantity, SPACE};
use super::rotation::{self, Rotation};
use super::snapshot::Snapshot;
use crate::document::key::{Absent, Case, Key, Kind, TableSchema, When, no_cases};
use crate::document::{Item, SceneError};

static SPEED: Kind = Kind::Either(&[Kind::number_in("m/s"), Kind::Formula(SPACE)]);
static RATE_OF_TURN: Kind = Kind::number_in("rad/s");

const VELOCITY: Key = Key::optional(
    "velocity",
    Kind::exactly(3, &SPEED),
    "[0.1, 0.2, 0]",
    Absent::Means("0"),
    "Velocity; its components may be formulas of x, y, z.",
);
const ANGULAR_VELOCITY: Key = Key::optional(
    "angular_velocity",
    Kind::exactly(3, &RATE_OF_TURN),
    "[0.3, 0.5, 2.0]",
    Absent::Means("0"),
    "Angular velocity about the centre of mass.",
);
const STRETCH: Key = Key::optional(
    "stretch",
    Kind::exactly(3, &FACTOR),
    "[1.15, 0.95, 0.95]",
    Absent::Means("no stretch"),
    "Factors along x, y, z, about the centre of mass.",
);
const ROTATE: Key = Key::optional(
    "rotate",
    rotation::KIND,
    rotation::EXAMPLE,
    Absent::Means("no rotation"),
    "A rotation of the whole body about its centre of mass.",
);
const TWIST: Key = Key::optional(
    "twist",
    Kind::Table(&TWIST_TABLE),
    "{ axis = [1, 0, 0], degrees = 90 }",
    Absent::Means("no twist"),
    "A twist along an axis.",
);
const STATE: Key = Key::optional(
    "state",
    Kind::Text,
    "\"\"",
    Absent::Means("the other keys say how the body starts"),
    "Every position and velocity, as the lab saves them, instead of all other keys.",
);

const REST: Key = Key::optional(
    "rest",
    Kind::Flag,
    "true",
    Absent::Flag(false),
    "Whether the body starts in static equilibrium under what acts at t = 0. Bodies that do not say so stay in place while it is found.",
);

static TABLE: TableSchema = TableSchema {
    name: "initial",
    doc: "How a body starts: stretched, twisted, rotated about its centre of mass, in this order, and then moving.",
    keys: &[VELOCITY, ANGULAR_VELOCITY, STRETCH, ROTATE, TWIST, STATE, REST],
    cases: no_cases,
    exclusive: &[
        ["state", "velocity"],
        ["state", "angular_velocity"],
        ["state", "stretch"],
        ["state", "rotate"],
        ["state", "twist"],
    ],
};

/// `initial` of a body.
pub(super) const INITIAL: Key = Key::optional(
    "initial",
    Kind::Table(&TABLE),
    "{ velocity = [0.1, 0.2, 0] }",
    Absent::Means("at rest, undeformed"),
    "How the body starts.",
);

const AXIS: Key = Key::required("axis", DIRECTION, "[1, 0, 0]", "Axis of the twist.");
const DEGREES: Key =
    Key::required("degrees", Kind::number_in("°"), "90", "Angle from one end of the body to the other.");
const RATE: Key = Key::required("rate", Kind::number_in("rad/m"), "0.5", "Angle per length.");

static TWIST_TABLE: TableSchema = TableSchema {
    name: "twist",
    doc: "Cross-sections turned about an axis in proportion to their position along it.",
    keys: &[AXIS],
    cases: || {
        let case = |key: Key| Case { when: When::Has(key.name), doc: key.doc, keys: vec![key] };
        vec![case(DEGREES), case(RATE)]
    },
    exclusive: &[],
};

/// How a body starts. The shape is changed first (stretch, twist, rotate, about its centre of mass), then the
/// velocities act.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initial {
    /// m/s; formulas of x, y, z.
    pub velocity: Option<[Quantity; 3]>,
    /// About the centre of mass, rad/s.
    pub angular_velocity: Option<[f64; 3]>,
    /// Factors along x, y, z.
    pub stretch: Option<[f64; 3]>,
    /// A turn of the whole.
    pub rotate: Option<Rotation>,
    /// A twist along an axis.
    pub twist: Option<Twist>,
    /// Every position and velocity, instead of all the others.
    pub state: Option<Snapshot>,
    /// From static equilibrium; the shape of the other keys is where the search begins.
    pub rest: bool,
}

/// Cross-sections turned about an axis in proportion to their position along it.
#[derive(Clone, Debug, PartialEq)]
pub struct Twist {
    /// Unit vector.
    pub axis: [f64; 3],
    /// By how much.
    pub amount: TwistAmount,
}

/// How much a twist turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TwistAmount {
    /// From one end of the body to the other, degrees.
    Degrees(f64),
    /// Per length, rad/m.
    Rate(f64),
}

impl Initial {
    pub(super) fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let velocity = reader.optional(&VELOCITY).map(|item| Quantity::read3(&item)).transpose()?;
        let angular_velocity = reader.optional_vector3(&ANGULAR_VELOCITY)?;
        let stretch = reader.optional(&STRETCH).map(|item| read_stretch(&item)).transpose()?;
        let rotate = reader.optional(&ROTATE).map(|item| Rotation::read(&item)).transpose()?;
        let twist = reader.optional(&TWIST).map(|item| Twist::read(&item)).transpose()?;
        let state = match reader.optional(&STATE) {
            Some(item) => {
                let others = [velocity.is_some(), angular_velocity.is_some(), stretch.is_some()];
                if others.contains(&true) || rotate.is_some() || twist.is_some() {
                    return Err(
                        item.error("says where everything starts and how it moves; take the other keys out")
                    );
                }
                Some(Snapshot::read(&item)?)
            }
            None => None,
        };
        let rest = match reader.optional(&REST) {
            Some(item) => item.bool()?,
            None => false,
        };
        reader.finish()?;
        Ok(Self { velocity, angular_velocity, stretch, rotate, twist, state, rest })
    }
}

fn read_stretch(item: &Item<'_>) -> Result<[f64; 3], SceneError> {
    let [x, y, z] = item.exactly("numbers")?;
    let stretch = [x.finite()?, y.finite()?, z.finite()?];
    if stretch.iter().all(|s| *s > 0.0) {
        Ok(stretch)
    } else {
        Err(item.error("must be positive; 1 leaves a direction as it is"))
    }
}

impl Twist {
    fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let axis = reader.required(&AXIS)?.direction()?;
        let amount = match (reader.optional(&DEGREES), reader.optional(&RATE)) {
            (Some(degrees), None) => TwistAmount::Degrees(degrees.number()?),
            (None, Some(rate)) => TwistAmount::Rate(rate.number()?),
            (Some(_), Some(rate)) => {
                return Err(rate.error("degrees and rate both set the twist; keep one of them"));
            }
            (None, None) => {
                let example = "degrees = 90 (end to end), or rate = 0.5 (rad/m)";
                TwistAmount::Degrees(reader.required_as(&DEGREES, example)?.number()?)
            }
        };
        reader.finish()?;
        Ok(Self { axis, amount })
    }
}
