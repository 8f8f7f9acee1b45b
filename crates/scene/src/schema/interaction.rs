//! `[[pin]]` and `[[load]]`: what holds and pushes bodies.

use super::bodies::{BODY, Bodies};
use super::pin_motion::{self, PinMotion};
use super::quantity::{LOAD_POINT, Mark, Quantity};
use super::selector::{OF_VERTICES, Selector, Target};
use crate::document::key::{Absent, Case, Key, Kind, TableSchema, When, no_cases, words};
use crate::document::{Item, SceneError};

static AXIS: Kind = Kind::Word(|| words(AXES));

const PIN_WHERE: Key =
    Key::required("where", OF_VERTICES, "{ nearest = [0, 0, 0] }", "Which vertices are held.");
const AXES_HELD: Key = Key::optional(
    "axes",
    Kind::List { of: &AXIS, least: 1, most: usize::MAX },
    "[\"z\"]",
    Absent::Means("all three"),
    "Which of x, y, z are held.",
);
const UNTIL: Key = Key::optional(
    "until",
    Kind::positive("s"),
    "1.0",
    Absent::Means("held to the end"),
    "Time at which the vertices are released.",
);

/// `[[pin]]`.
pub(super) static PIN: TableSchema = TableSchema {
    name: "pin",
    doc: "Vertices that are held in place or moved along a given motion, exactly.",
    keys: &[BODY, PIN_WHERE, AXES_HELD, pin_motion::MOTION, pin_motion::ROTATE, UNTIL],
    cases: no_cases,
    exclusive: &[],
};

static NEWTONS: Kind = Kind::Either(&[Kind::number_in("N"), Kind::Formula(LOAD_POINT)]);
static PASCALS: Kind = Kind::Either(&[Kind::number_in("Pa"), Kind::Formula(LOAD_POINT)]);
static PER_VOLUME: Kind = Kind::Either(&[Kind::number_in("N/m³"), Kind::Formula(LOAD_POINT)]);
static PER_MASS: Kind = Kind::Either(&[Kind::number_in("m/s²"), Kind::Formula(LOAD_POINT)]);

const LOAD_WHERE: Key = Key::required(
    "where",
    OF_VERTICES,
    "{ nearest = [4, 0.5, 0.5] }",
    "Which vertices, or which part of the surface.",
);
const FORCE: Key = Key::required(
    "force",
    Kind::exactly(3, &NEWTONS),
    "[0, -100, 0]",
    "Force in total, shared by the selected vertices; its components may be formulas.",
);
const TRACTION: Key = Key::required(
    "traction",
    Kind::exactly(3, &PASCALS),
    "[0, 0, 1]",
    "Force per rest area of the selected part of the surface; its components may be formulas.",
);
const BODY_FORCE: Key = Key::required(
    "body_force",
    Kind::exactly(3, &PER_VOLUME),
    "[0, -10, 0]",
    "Force per rest volume; its components may be formulas.",
);
const ACCELERATION: Key = Key::required(
    "acceleration",
    Kind::exactly(3, &PER_MASS),
    "[0, -9.81, 0]",
    "Force per mass; its components may be formulas.",
);

const PRESSURE: Key = Key::required(
    "pressure",
    PASCALS,
    "1000",
    "Pressure on the selected part of the surface: it pushes along the present inward normal, per present area.",
);

/// `[[load]]`.
pub(super) static LOAD: TableSchema = TableSchema {
    name: "load",
    doc: "A force on a body: one of force, traction, body_force, acceleration, pressure. Formulas have the present place x, y, z, \
          the velocity vx, vy, vz, the rest place X, Y, Z and t.",
    keys: &[BODY],
    cases: || {
        let anywhere = Key { absent: Absent::Means("the whole body"), ..LOAD_WHERE };
        let case = |(key, kind): &(Key, LoadKind)| {
            let place = if kind.is_everywhere() { anywhere } else { LOAD_WHERE };
            Case { when: When::Has(key.name), doc: "", keys: vec![*key, place] }
        };
        LOADS.iter().map(case).collect()
    },
    exclusive: &[],
};

const LOADS: &[(Key, LoadKind)] = &[
    (FORCE, LoadKind::Force),
    (TRACTION, LoadKind::Traction),
    (BODY_FORCE, LoadKind::BodyForce),
    (ACCELERATION, LoadKind::Acceleration),
    (PRESSURE, LoadKind::Pressure),
];

/// Vertices held in place or led along a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct PinSpec {
    /// Number of the body.
    pub body: usize,
    /// Which vertices.
    pub selector: Selector,
    /// How they move; `None` where they stay.
    pub motion: Option<PinMotion>,
    /// Released at this time, s.
    pub until: Option<f64>,
    /// Which of x, y, z are held.
    pub axes: [bool; 3],
    /// Where it was written.
    pub mark: Mark,
}

/// A load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadSpec {
    /// Number of the body.
    pub body: usize,
    /// Which vertices.
    pub selector: Selector,
    /// What is given.
    pub kind: LoadKind,
    /// Its components, three or, of a pressure, one; formulas of [`LOAD_POINT`].
    pub value: Vec<Quantity>,
    /// Where it was written.
    pub mark: Mark,
}

/// What a load gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadKind {
    /// N in total, shared by the selected vertices.
    Force,
    /// Pa, on the selected part of the surface.
    Traction,
    /// N/m³.
    BodyForce,
    /// m/s².
    Acceleration,
    /// Pa, along the present inward normal.
    Pressure,
}

impl LoadKind {
    /// Whether it acts on the whole body where the scene does not say where.
    fn is_everywhere(self) -> bool {
        matches!(self, Self::BodyForce | Self::Acceleration)
    }
}

impl PinSpec {
    pub(super) fn read(item: &Item<'_>, bodies: &Bodies<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let body = bodies.of(&mut reader)?;
        let place = reader.required(&PIN_WHERE)?;
        let selector = Selector::read(&place, Target::Vertices)?;
        let axes = reader.optional(&AXES_HELD).map_or(Ok([true; 3]), |item| read_axes(&item))?;
        let motion = PinMotion::read(&mut reader, axes)?;
        let until = reader.optional_number(&UNTIL)?;
        reader.finish()?;
        Ok(Self { body, selector, motion, until, axes, mark: item.into() })
    }
}

const AXES: &[(&str, usize)] = &[("x", 0), ("y", 1), ("z", 2)];

fn read_axes(item: &Item<'_>) -> Result<[bool; 3], SceneError> {
    let mut axes = [false; 3];
    for axis in item.members()? {
        let index: usize = axis.choice(AXES)?;
        if let Some(held) = axes.get_mut(index) {
            *held = true;
        }
    }
    if axes == [false; 3] {
        return Err(item.error("is empty and holds nothing; write for example axes = [\"z\"]"));
    }
    Ok(axes)
}

impl LoadSpec {
    /// Whether it depends on the present place or the velocity. Others are dead loads, which have a potential.
    pub fn is_live(&self) -> bool {
        let live = |q: &Quantity| (0..6).any(|k| q.depends_on(k));
        self.kind == LoadKind::Pressure || self.value.iter().any(live)
    }

    pub(super) fn read(item: &Item<'_>, bodies: &Bodies<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let body = bodies.of(&mut reader)?;
        let place = reader.optional(&LOAD_WHERE);
        let mut found = None;
        for (key, kind) in LOADS {
            let Some(value) = reader.optional(key) else { continue };
            if found.is_some() {
                return Err(value.error(
                    "a load is one of force, traction, body_force, acceleration, pressure; write two [[load]]",
                ));
            }
            let components = match kind {
                LoadKind::Pressure => vec![Quantity::read(&value)?],
                _ => Quantity::read3(&value)?.to_vec(),
            };
            found = Some((*kind, components));
        }
        reader.finish()?;
        let Some((kind, value)) = found else {
            return Err(item.error(
                "gives no load; write one of force (N), traction (Pa), body_force (N/m³), acceleration (m/s²), pressure (Pa), \
                 for example force = [0, -100, 0]",
            ));
        };
        let selector = match place {
            Some(place) => Selector::read(&place, Target::Vertices)?,
            None if kind.is_everywhere() => Selector::All,
            None => Selector::read(&reader.required(&LOAD_WHERE)?, Target::Vertices)?,
        };
        Ok(Self { body, selector, kind, value, mark: item.into() })
    }
}
