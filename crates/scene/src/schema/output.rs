//! `[output]` and `[[probe]]`: what is written.

use super::interaction::Bodies;
use super::quantity::Mark;
use super::{Time, defaults};
use crate::document::{Item, Reader, SceneError};

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
    ("J", FieldName::J),
    ("tag", FieldName::Tag),
    ("mass", FieldName::Mass),
];

impl FieldName {
    /// The name in scene files and frames.
    pub fn name(self) -> &'static str {
        FIELD_NAMES.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
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
    pub(super) fn read(scene: &mut Reader<'_>, time: &Time) -> Result<Self, SceneError> {
        let mut output = Self {
            every: time.step.max(time.end / defaults::FRAMES),
            fields: defaults::FIELDS.to_vec(),
            energy_every: defaults::ENERGY_EVERY,
            checkpoint_every: defaults::CHECKPOINT_EVERY,
            replay: true,
        };
        let Some(item) = scene.optional("output") else {
            return Ok(output);
        };
        let mut reader = item.reader()?;
        if let Some(every) = reader.optional_positive("every", "s")? {
            output.every = every;
        }
        if let Some(item) = reader.optional("fields") {
            output.fields.clear();
            for field in item.members()? {
                let name = field.choice(FIELD_NAMES)?;
                if !output.fields.contains(&name) {
                    output.fields.push(name);
                }
            }
        }
        if let Some(item) = reader.optional("energy_every") {
            output.energy_every = item.count(1, u32::MAX)?;
        }
        if let Some(seconds) = reader.optional_positive("checkpoint_every", "s of wall time")? {
            output.checkpoint_every = seconds;
        }
        output.replay = reader.bool_or("replay", output.replay)?;
        reader.finish()?;
        Ok(output)
    }
}

impl ProbeSpec {
    pub(super) fn read(item: &Item<'_>, bodies: &Bodies<'_>, fallback: &str) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let body = bodies.of(&mut reader)?;
        let at = reader.required("at", "at = [4, 0.5, 0.5]")?.vector3()?;
        let name = reader.optional("name").map_or(Ok(fallback), |item| item.name())?.to_owned();
        reader.finish()?;
        Ok(Self { body, at, name, mark: item.into() })
    }
}
