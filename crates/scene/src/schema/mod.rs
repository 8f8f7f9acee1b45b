//! The scene file, typed and checked as far as possible without its meshes.
//!
//! [`Scene::from_path`] and [`Scene::from_str`] read TOML or JSON. Names that belong to catalogues (integrators and
//! their options, material models and their constants) are kept with a [`Mark`] and checked when the model is
//! built. Defaults are listed in [`defaults`].

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

pub mod defaults;

mod body;
mod constraint;
mod fit;
mod integrator;
mod interaction;
mod load;
mod material;
mod mesh;
mod output;
mod quantity;
mod sanity;
mod selector;
mod snapshot;

pub use body::{BodySpec, Damping, Initial, Mass, Strength, Twist, TwistAmount};
pub use constraint::{ConstraintKind, ConstraintSpec, EndAt, EndSpec, Reference};
pub use fit::{FitKind, FitSpec, PhaseSpec, TargetSpec};
pub use integrator::{IntegratorOption, IntegratorSpec, OptionValue};
pub use interaction::{ContactKind, ContactSpec, LoadKind, LoadSpec, PinSpec};
pub use material::{MaterialSpec, Parameter, Parameters, Region, STIFFNESS_KEYS};
pub use mesh::{Element, FORMATS, GluingSpec, MeshSpec, Resolution, Rotation, Shape, Transform};
pub use output::{FIELD_NAMES, FieldName, Output, ProbeSpec};
pub use quantity::{Field, Mark, Quantity, SPACE, SPACE_TAG, SPACE_TIME, TIME};
pub use selector::{Selector, Target};
pub use snapshot::Snapshot;

use crate::document::{Item, Node, Reader, SceneError};
use interaction::Bodies;

/// Everything a scene file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// For reports.
    pub title: String,
    /// How long and how finely.
    pub time: Time,
    /// Which method, with its options.
    pub integrator: IntegratorSpec,
    /// What acts on every body.
    pub environment: Environment,
    /// At least one; names are unique.
    pub bodies: Vec<BodySpec>,
    /// Held vertices.
    pub pins: Vec<PinSpec>,
    /// Forces.
    pub loads: Vec<LoadSpec>,
    /// Holonomic constraints other than pins.
    pub constraints: Vec<ConstraintSpec>,
    /// Contacts.
    pub contacts: Vec<ContactSpec>,
    /// What is written.
    pub output: Output,
    /// Points that are followed.
    pub probes: Vec<ProbeSpec>,
    /// What can be meant but probably is not.
    pub warnings: Vec<String>,
    /// The file as data, overrides applied.
    pub document: Node,
    /// The file, or what stands for it; two scenes from different files may be equal.
    pub origin: Origin,
}

/// The name of a scene's file. All origins compare equal.
#[derive(Clone, Debug, Default)]
pub struct Origin(pub String);

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// How long a run is and how finely it is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// Simulated time, s.
    pub end: f64,
    /// Step, s.
    pub step: f64,
}

impl Time {
    /// Number of steps, at least 1: the last ends at `end`, give or take round-off.
    pub fn steps(&self) -> u64 {
        // A ratio such as 0.3/0.1 may come out just above or below a whole number: forgive its round-off.
        let ratio = self.end / self.step;
        let forgiven = 1e-9 + 4.0 * f64::EPSILON * ratio;
        ((ratio - forgiven).ceil() as u64).max(1)
    }
}

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
    /// Where, m.
    pub at: [f64; 3],
}

const BODY_EXAMPLE: &str = "the scene has no body; add for example

[[body]]
name = \"bar\"
mesh = { box = { size = [4, 1, 1], cells = [16, 4, 4] } }
material = { model = \"neo-hookean\", E = 1e5, nu = 0.3, rho = 1000 }
";

impl Scene {
    /// Interprets a document.
    pub fn from_document(document: Node, origin: &str) -> Result<Self, SceneError> {
        let root = Item::root(&document, origin);
        let mut reader = root.reader()?;
        let title = match reader.optional("title") {
            Some(item) => item.text()?.to_owned(),
            None => load::stem(origin),
        };
        let example = "[time] with end = 8.0 and step = 0.004 (s)";
        let time = Time::read(&reader.required("time", example)?)?;
        let integrator = IntegratorSpec::read(reader.optional("integrator"), origin)?;
        let environment = Environment::read(&mut reader)?;
        let bodies = read_bodies(&mut reader)?;
        let names: Vec<String> = bodies.iter().map(|body| body.name.clone()).collect();
        let known = Bodies(&names);
        let pins = read_each(&mut reader, "pin", |item| PinSpec::read(item, &known))?;
        let loads = read_each(&mut reader, "load", |item| LoadSpec::read(item, &known))?;
        let constraints = read_each(&mut reader, "constraint", |item| ConstraintSpec::read(item, &known))?;
        let contacts = read_each(&mut reader, "contact", |item| ContactSpec::read(item, &known))?;
        let output = Output::read(&mut reader, &time)?;
        let probes = read_probes(&mut reader, &known)?;
        reader.finish()?;
        let mut scene = Self {
            title,
            time,
            integrator,
            environment,
            bodies,
            pins,
            loads,
            constraints,
            contacts,
            output,
            probes,
            warnings: Vec::new(),
            origin: Origin(origin.to_owned()),
            document,
        };
        scene.warnings = sanity::warnings(&scene);
        Ok(scene)
    }

    /// Content hash for `summary.json`: 32 hexadecimal digits, the same for TOML and JSON, for any order of keys
    /// and any layout. Mesh files do not enter.
    pub fn hash(&self) -> String {
        format!("{:032x}", self.document.fingerprint())
    }

    /// The scene as TOML, always in the same order and layout, overrides included.
    pub fn to_toml(&self) -> String {
        self.document.to_toml()
    }
}

impl Time {
    fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let end = reader.required("end", "end = 8.0 (s)")?.positive("s")?;
        let step_item = reader.required("step", "step = 0.004 (s)")?;
        let step = step_item.positive("s")?;
        reader.finish()?;
        if end / step > 1e15 {
            return Err(step_item.error(format!(
                "{step} s is too short for a run of {end} s: time would not advance in double precision; use a longer step"
            )));
        }
        Ok(Self { end, step })
    }
}

impl Environment {
    fn read(scene: &mut Reader<'_>) -> Result<Self, SceneError> {
        let Some(item) = scene.optional("environment") else {
            return Ok(Self::default());
        };
        let mut reader = item.reader()?;
        let gravity = reader.optional("gravity").map(|item| Quantity::read3(&item, TIME)).transpose()?;
        let monopole = reader.optional("monopole").map(|item| Monopole::read(&item)).transpose()?;
        reader.finish()?;
        Ok(Self { gravity, monopole })
    }
}

impl Monopole {
    fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let strength = reader.number("strength", "strength = 1.0 (m³/s²)")?;
        let at = reader.required("at", "at = [0, 0, 0]")?.vector3()?;
        reader.finish()?;
        Ok(Self { strength, at })
    }
}

fn read_each<T>(
    scene: &mut Reader<'_>,
    key: &'static str,
    read: impl Fn(&Item<'_>) -> Result<T, SceneError>,
) -> Result<Vec<T>, SceneError> {
    scene.tables(key)?.iter().map(read).collect()
}

fn read_bodies(scene: &mut Reader<'_>) -> Result<Vec<BodySpec>, SceneError> {
    let items = scene.tables("body")?;
    if items.is_empty() {
        // A misspelt [[bodies]] is the likelier mistake.
        return Err(match scene.required("body", "") {
            Err(error) if error.message.starts_with("unknown key") => error,
            _ => scene.error(BODY_EXAMPLE),
        });
    }
    let single = items.len() == 1;
    let mut bodies: Vec<BodySpec> = Vec::with_capacity(items.len());
    let mut seen = std::collections::HashSet::new();
    for (i, item) in items.iter().enumerate() {
        let fallback = if single { "body".to_owned() } else { format!("body{}", i + 1) };
        let body = BodySpec::read(item, &fallback)?;
        if !seen.insert(body.name.clone()) {
            return Err(item.error(format!(
                "a second body is named {:?}; give each its own name, for example name = \"{}{}\"",
                body.name,
                body.name,
                i + 1
            )));
        }
        bodies.push(body);
    }
    Ok(bodies)
}

fn read_probes(scene: &mut Reader<'_>, bodies: &Bodies<'_>) -> Result<Vec<ProbeSpec>, SceneError> {
    let mut probes = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (i, item) in scene.tables("probe")?.iter().enumerate() {
        let probe = ProbeSpec::read(item, bodies, &format!("probe{}", i + 1))?;
        if !seen.insert(probe.name.clone()) {
            return Err(
                item.error(format!("a second probe is named {:?}; give each its own name", probe.name))
            );
        }
        probes.push(probe);
    }
    Ok(probes)
}
