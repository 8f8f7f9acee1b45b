//! The scene file, typed and checked as far as possible without its meshes.
//!
//! [`Scene::from_path`] and [`Scene::from_str`] read TOML or JSON. Names that belong to catalogues (integrators and
//! their options, material models and their constants) are kept with a [`Mark`] and checked when the model is
//! built. Defaults are listed in [`defaults`].

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

pub mod defaults;

mod bodies;
mod body;
mod constraint;
mod contact;
mod damping;
mod element;
mod environment;
mod fit;
mod initial;
mod integrator;
mod interaction;
mod kinds;
mod load;
mod material;
mod mesh;
mod model_parameters;
mod output;
mod own_materials;
mod pin_motion;
mod quantity;
mod rotation;
mod sanity;
mod selector;
mod shape;
mod snapshot;
mod stiffness;
mod time;

pub use body::{BodySpec, Mass};
pub use constraint::{ConstraintKind, ConstraintSpec, EndAt, EndSpec, Reference};
pub use contact::ContactSpec;
pub use damping::DampingSpec;
pub use element::{Element, GluingSpec};
pub use environment::{Environment, Monopole};
pub use fit::{FitKind, FitSpec, PhaseSpec, TargetSpec};
pub use initial::{Initial, Twist, TwistAmount};
pub use integrator::{IntegratorOption, IntegratorSpec, OptionValue, option_of_text};
pub use interaction::{LoadKind, LoadSpec, PinSpec};
pub use material::{MaterialSpec, Parameter, Parameters, Region};
pub use mesh::{MeshSpec, Transform};
pub use output::{FIELD_NAMES, FieldName, Output, ProbeSpec};
pub use own_materials::OwnMaterials;
pub use pin_motion::{PinMotion, RigidMotion, TimedRotation};
pub use quantity::{Field, LOAD_POINT, Mark, Quantity, SPACE, SPACE_TAG, SPACE_TIME, TIME};
pub use rotation::Rotation;
pub use selector::{Selector, Target};
pub use shape::{FileSpec, Resolution, Shape};
pub use snapshot::Snapshot;
pub use stiffness::STIFFNESS_KEYS;
pub use time::Time;

use crate::document::key::{Absent, Key, Kind, TableSchema, no_cases};
use crate::document::{Item, Node, Reader, SceneError};
use bodies::Bodies;
use lilyan_solid::mesh::{Mesh, TriMesh};
use std::collections::BTreeMap;
use std::sync::Arc;

const TITLE: Key = Key::optional(
    "title",
    Kind::Text,
    "\"Bar tumbling in space\"",
    Absent::Means("name of the file without its extension"),
    "Heads reports.",
);
const TIME_KEY: Key = Key::required(
    "time",
    Kind::Table(&time::TIME_TABLE),
    "{ end = 8.0, step = 0.004 }",
    "How long the run is and how finely it is cut.",
);
const ENVIRONMENT: Key = Key::optional(
    "environment",
    Kind::Table(&environment::ENVIRONMENT),
    "{ gravity = [0, -9.81, 0] }",
    Absent::Means("nothing acts on every body"),
    "What acts on every body.",
);
const BODY: Key = Key::required(
    "body",
    Kind::List { of: const { &Kind::Table(&body::BODY_TABLE) }, least: 1, most: usize::MAX },
    "[{ mesh = { box = { size = [4, 1, 1], cells = [4, 1, 1] } }, material = { E = 1e5, nu = 0.3, rho = 1000 } }]",
    "The bodies, at least one.",
);
const PIN: Key = Key::optional(
    "pin",
    Kind::list(const { &Kind::Table(&interaction::PIN) }),
    "[{ where = { nearest = [0, 0, 0] } }]",
    Absent::Means("none"),
    "Vertices that are held.",
);
const LOAD: Key = Key::optional(
    "load",
    Kind::list(const { &Kind::Table(&interaction::LOAD) }),
    "[{ acceleration = [0, -9.81, 0] }]",
    Absent::Means("none"),
    "Forces.",
);
const CONSTRAINT: Key = Key::optional(
    "constraint",
    Kind::list(const { &Kind::Table(&constraint::CONSTRAINT) }),
    "[{ kind = \"volume\" }]",
    Absent::Means("none"),
    "Distances and volumes that are kept exactly.",
);
const CONTACT: Key = Key::optional(
    "contact",
    Kind::list(const { &Kind::Table(&contact::CONTACT) }),
    "[{ kind = \"self\" }]",
    Absent::Means("none"),
    "Contacts.",
);
const OUTPUT: Key = Key::optional(
    "output",
    Kind::Table(&output::OUTPUT),
    "{ every = 0.02 }",
    Absent::Means("every key of it has a default"),
    "What is written, and how often.",
);
const PROBE: Key = Key::optional(
    "probe",
    Kind::list(const { &Kind::Table(&output::PROBE) }),
    "[{ at = [4, 0.5, 0.5] }]",
    Absent::Means("none"),
    "Points that are followed.",
);

/// All keys of a scene: the root of the data from which the reader, the JSON Schema and the reference page are made.
pub static SCENE: TableSchema = TableSchema {
    name: "scene",
    doc: "A scene of lilyan: bodies, what acts on them, and how their motion is computed and written. SI units.",
    keys: &[
        TITLE,
        TIME_KEY,
        integrator::INTEGRATOR,
        ENVIRONMENT,
        BODY,
        PIN,
        LOAD,
        CONSTRAINT,
        CONTACT,
        OUTPUT,
        PROBE,
    ],
    cases: no_cases,
    exclusive: &[],
};

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
    /// Meshes in memory, by the name that a `file` of the scene gives them; they come before files of that name.
    pub meshes: BTreeMap<String, Arc<Mesh>>,
    /// Surfaces in memory, likewise.
    pub surfaces: BTreeMap<String, Arc<TriMesh>>,
    /// Material models of the program, which the scene can name beside those of the catalogue.
    pub materials: OwnMaterials,
    /// The file as data, overrides applied.
    pub document: Node,
    /// The overrides: keys and values as text.
    pub settings: BTreeMap<String, String>,
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

const BODY_EXAMPLE: &str = "the scene has no body; add for example

[[body]]
name = \"bar\"
mesh = { box = { size = [4, 1, 1], cells = [16, 4, 4] } }
material = { model = \"neo-hookean\", E = 1e5, nu = 0.3, rho = 1000 }
";

impl Scene {
    /// Interprets a document.
    pub fn from_document(document: Node, origin: &str) -> Result<Self, SceneError> {
        let root = Item::root(&document, origin, &SCENE);
        let mut reader = root.reader()?;
        let title = match reader.optional(&TITLE) {
            Some(item) => item.text()?.to_owned(),
            None => load::stem(origin),
        };
        let example = "[time] with end = 8.0 and step = 0.004 (s)";
        let time = Time::read(&reader.required_as(&TIME_KEY, example)?)?;
        let integrator = IntegratorSpec::read(reader.optional(&integrator::INTEGRATOR), origin)?;
        let environment = Environment::read(reader.optional(&ENVIRONMENT))?;
        let bodies = read_bodies(&mut reader)?;
        let names: Vec<String> = bodies.iter().map(|body| body.name.clone()).collect();
        let known = Bodies(&names);
        let pins = read_each(&mut reader, &PIN, |item| PinSpec::read(item, &known))?;
        let loads = read_each(&mut reader, &LOAD, |item| LoadSpec::read(item, &known))?;
        let constraints = read_each(&mut reader, &CONSTRAINT, |item| ConstraintSpec::read(item, &known))?;
        let contacts = read_each(&mut reader, &CONTACT, |item| {
            ContactSpec::read(item, &known, integrator.takes_barriers())
        })?;
        let output = Output::read(reader.optional(&OUTPUT), &time)?;
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
            meshes: BTreeMap::new(),
            surfaces: BTreeMap::new(),
            materials: OwnMaterials::default(),
            settings: BTreeMap::new(),
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

fn read_each<T>(
    scene: &mut Reader<'_>,
    key: &Key,
    read: impl Fn(&Item<'_>) -> Result<T, SceneError>,
) -> Result<Vec<T>, SceneError> {
    scene.tables(key)?.iter().map(read).collect()
}

fn read_bodies(scene: &mut Reader<'_>) -> Result<Vec<BodySpec>, SceneError> {
    let items = scene.tables(&BODY)?;
    if items.is_empty() {
        // A misspelt [[bodies]] is the likelier mistake.
        return Err(match scene.required(&BODY) {
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
    for (i, item) in scene.tables(&PROBE)?.iter().enumerate() {
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
