//! `[output]` and `[[probe]]`: what is written.

use super::bodies::{BODY, Bodies};
use super::defaults;
use super::kinds::POINT;
use super::quantity::Mark;
use super::time::Time;
use crate::document::key::{Absent, Choice, Key, Kind, TableSchema, no_cases};
use crate::document::{Item, SceneError};

const EVERY: Key = Key::optional(
    "every",
    Kind::positive("s"),
    "0.02",
    Absent::Means("a hundredth of the run, but not less than a step"),
    "Simulated time between frames; the first frame is at t = 0.",
);
const FIELDS: Key = Key::optional(
    "fields",
    Kind::list(&Kind::Word(field_names)),
    "[\"velocity\", \"von_mises\"]",
    Absent::Means("velocity, von_mises, strain_energy"),
    "Fields in the frames.",
);
const ENERGY_EVERY: Key = Key::optional(
    "energy_every",
    Kind::count(1, u32::MAX),
    "10",
    Absent::Means("1, or as many as keep the file below 20,000 lines"),
    "Steps between lines of `energy.csv`.",
);
const CHECKPOINT_EVERY: Key = Key::optional(
    "checkpoint_every",
    Kind::positive("s of wall time"),
    "60",
    Absent::Number(defaults::CHECKPOINT_EVERY),
    "Wall time between checkpoints.",
);
const REPLAY: Key = Key::optional(
    "replay",
    Kind::Flag,
    "false",
    Absent::Flag(true),
    "Whether the report shows a replay in three dimensions.",
);
const FORCES: Key = Key::optional(
    "forces",
    Kind::Flag,
    "true",
    Absent::Flag(false),
    "Whether `forces.csv` has the force of every pin, and that of the contacts of every body (N), at every line of `energy.csv`.",
);

/// `[output]`.
pub(super) static OUTPUT: TableSchema = TableSchema {
    name: "output",
    doc: "What is written, and how often.",
    keys: &[EVERY, FIELDS, ENERGY_EVERY, CHECKPOINT_EVERY, REPLAY, FORCES],
    cases: no_cases,
    exclusive: &[],
};

const AT: Key = Key::required("at", POINT, "[4, 0.5, 0.5]", "Rest position of the point.");
const NAME: Key = Key::optional(
    "name",
    Kind::Name,
    "\"tip\"",
    Absent::Means("`probe1`, `probe2`, … by position in the file"),
    "Heads the columns of the probe in `probes.csv`; unique in the scene.",
);

/// `[[probe]]`.
pub(super) static PROBE: TableSchema = TableSchema {
    name: "probe",
    doc: "A point of a body that is followed in `probes.csv`.",
    keys: &[BODY, AT, NAME],
    cases: no_cases,
    exclusive: &[],
};

fn field_names() -> Vec<Choice> {
    FIELD_NAMES.iter().map(|(name, field)| Choice { name, doc: field.doc() }).collect()
}

/// What is written, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Time between frames, s.
    pub every: f64,
    /// Fields in the frames.
    pub fields: Vec<FieldName>,
    /// Steps between lines of `energy.csv`.
    pub energy_every: u32,
    /// Wall time between checkpoints, s.
    pub checkpoint_every: f64,
    /// Whether the report shows a 3-D replay.
    pub replay: bool,
    /// Whether the forces of pins and contacts are written.
    pub forces: bool,
}

/// A field that frames can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldName {
    /// m/s, per vertex.
    Velocity,
    /// From the rest position, m, per vertex.
    Displacement,
    /// N, per vertex.
    Force,
    /// Pa, per element.
    VonMises,
    /// J/m³, per element.
    StrainEnergy,
    /// −⅓ tr σ, Pa, per element.
    Pressure,
    /// Cauchy stress, Pa, per element.
    Stress,
    /// Cauchy stress extrapolated to the nodes, Pa, per vertex.
    NodalStress,
    /// Its von Mises stress, Pa, per vertex.
    NodalVonMises,
    /// det F, per element.
    J,
    /// Region number, per element.
    Tag,
    /// kg, per vertex.
    Mass,
}

/// Every field, by name.
pub const FIELD_NAMES: &[(&str, FieldName)] = &[
    ("velocity", FieldName::Velocity),
    ("displacement", FieldName::Displacement),
    ("force", FieldName::Force),
    ("von_mises", FieldName::VonMises),
    ("strain_energy", FieldName::StrainEnergy),
    ("pressure", FieldName::Pressure),
    ("stress", FieldName::Stress),
    ("nodal_stress", FieldName::NodalStress),
    ("nodal_von_mises", FieldName::NodalVonMises),
    ("J", FieldName::J),
    ("tag", FieldName::Tag),
    ("mass", FieldName::Mass),
];

/// Fields in the frames of a scene that names none.
const DEFAULT_FIELDS: &[FieldName] = &[FieldName::Velocity, FieldName::VonMises, FieldName::StrainEnergy];

impl FieldName {
    /// The name in scene files and frames.
    pub fn name(self) -> &'static str {
        FIELD_NAMES.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
    }

    /// The unit of its numbers; empty for ratios.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Velocity => "m/s",
            Self::Displacement => "m",
            Self::Force => "N",
            Self::VonMises | Self::Pressure | Self::Stress => "Pa",
            Self::StrainEnergy => "J/m³",
            Self::Mass => "kg",
            Self::NodalStress | Self::NodalVonMises => "Pa",
            Self::J | Self::Tag => "",
        }
    }

    fn doc(self) -> &'static str {
        match self {
            Self::Velocity => "Velocity, m/s, per vertex.",
            Self::Displacement => "Displacement from the rest position, m, per vertex.",
            Self::Force => "Force, N, per vertex.",
            Self::VonMises => "Von Mises stress, Pa, per element.",
            Self::StrainEnergy => "Energy density, J/m³, per element.",
            Self::Pressure => "−⅓ tr σ, Pa, per element.",
            Self::Stress => "Cauchy stress, Pa, per element.",
            Self::NodalStress => {
                "Cauchy stress at the nodes, Pa, per vertex: that of the points of a quadratic tet, extrapolated; the mean of all tets there."
            }
            Self::NodalVonMises => "Von Mises stress of `nodal_stress`, Pa, per vertex.",
            Self::J => "det F, per element.",
            Self::Tag => "Number of the region, per element.",
            Self::Mass => "Mass, kg, per vertex.",
        }
    }
}

/// A point of a body that is followed.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSpec {
    /// Number of the body.
    pub body: usize,
    /// Rest position, m.
    pub at: [f64; 3],
    /// Unique in the scene; heads its columns in `probes.csv`.
    pub name: String,
    /// Where it was written.
    pub mark: Mark,
}

impl Output {
    pub(super) fn read(item: Option<Item<'_>>, time: &Time) -> Result<Self, SceneError> {
        let mut output = Self {
            every: time.step.max(time.end / defaults::FRAMES),
            fields: DEFAULT_FIELDS.to_vec(),
            energy_every: defaults::ENERGY_EVERY,
            checkpoint_every: defaults::CHECKPOINT_EVERY,
            replay: true,
            forces: false,
        };
        let Some(item) = item else { return Ok(output) };
        let mut reader = item.reader()?;
        if let Some(every) = reader.optional_number(&EVERY)? {
            output.every = every;
        }
        if let Some(item) = reader.optional(&FIELDS) {
            output.fields.clear();
            for field in item.members()? {
                let name = field.choice(FIELD_NAMES)?;
                if !output.fields.contains(&name) {
                    output.fields.push(name);
                }
            }
        }
        if let Some(item) = reader.optional(&ENERGY_EVERY) {
            output.energy_every = item.count()?;
        }
        output.checkpoint_every = reader.number_or_default(&CHECKPOINT_EVERY)?;
        output.replay = reader.flag(&REPLAY)?;
        output.forces = reader.flag(&FORCES)?;
        reader.finish()?;
        Ok(output)
    }
}

impl ProbeSpec {
    pub(super) fn read(item: &Item<'_>, bodies: &Bodies<'_>, fallback: &str) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let body = bodies.of(&mut reader)?;
        let at = reader.required(&AT)?.vector3()?;
        let name = reader.optional(&NAME).map_or(Ok(fallback), |item| item.name())?.to_owned();
        reader.finish()?;
        Ok(Self { body, at, name, mark: item.into() })
    }
}
