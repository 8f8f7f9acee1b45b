//! `[[contact]]`: what touches what.

use super::bodies::Bodies;
use super::kinds::{DIRECTION, LENGTH, POINT};
use super::mesh::{self, MeshSpec};
use super::model_parameters;
use super::pin_motion::{OBSTACLE_MOTION, OBSTACLE_ROTATE, RigidMotion};
use super::quantity::Mark;
use crate::document::key::{Absent, Case, Choice, Key, KeyValue, Kind, TableSchema, When, words};
use crate::document::{Item, Reader, SceneError};
use lilyan_solid::contact::{CATALOGUE, ContactCard, ContactPair, DEFAULT_CONTACT, ObstacleShape};
use lilyan_solid::parameters::{ModelParameter, Parameters};

const KIND: Key = Key::required("kind", Kind::Word(|| words(KINDS)), "\"plane\"", "What touches what.");
const MODEL: Key = Key::optional(
    "model",
    Kind::Word(|| CATALOGUE.iter().map(|card| Choice { name: card.name, doc: card.summary }).collect()),
    "\"penalty\"",
    Absent::Means(
        "the one that a given key belongs to alone; otherwise \"barrier\" with \"backward-euler\", \"bdf2\", \"newmark\" and \
         \"energy-momentum\", and \"penalty\" with others",
    ),
    "The contact model.",
);
const CONTACT_POINT: Key = Key::required("point", POINT, "[0, 0, 0]", "A point on the plane.");
const NORMAL: Key =
    Key::required("normal", DIRECTION, "[0, 1, 0]", "Direction to the side where the bodies stay.");
const CENTER: Key = Key::required("center", POINT, "[0, 0, 0]", "Centre of the sphere.");
const RADIUS: Key = Key::required("radius", LENGTH, "1", "Radius of the sphere.");
const INSIDE: Key = Key::optional(
    "inside",
    Kind::Flag,
    "true",
    Absent::Flag(false),
    "Whether the bodies stay inside the sphere instead of outside.",
);
const OBSTACLE_MESH: Key = Key::required(
    "mesh",
    mesh::KIND,
    "{ file = \"funnel.obj\", translate = [0, -1, 0] }",
    "The obstacle: the surface of a shape, or of a mesh file.",
);
const BETWEEN: Key = Key::optional(
    "between",
    Kind::exactly(2, &Kind::Body),
    "[\"bar\", \"ball\"]",
    Absent::Means("every pair of bodies"),
    "The two bodies that touch.",
);
const ITSELF: Key = Key::optional(
    "body",
    Kind::Body,
    "\"bar\"",
    Absent::Means("every body"),
    "The body that touches itself.",
);
/// `[[contact]]`.
pub(super) static CONTACT: TableSchema = TableSchema {
    name: "contact",
    doc: "What touches what, and the model that keeps them apart.",
    keys: &[KIND, MODEL],
    cases,
    exclusive: &[],
};

fn cases() -> Vec<Case> {
    cases_of(CATALOGUE)
}

/// A case for each kind, and within it one for each model with its own keys.
fn cases_of(catalogue: &[&'static ContactCard]) -> Vec<Case> {
    let by_kind = |(value, touch): &(&'static str, Touch)| {
        let (doc, keys): (_, &[Key]) = match touch {
            Touch::Plane => (
                "All bodies stay on the side of the plane that the normal points to.",
                &[CONTACT_POINT, NORMAL, OBSTACLE_MOTION, OBSTACLE_ROTATE],
            ),
            Touch::Sphere => (
                "All bodies stay outside, or inside, a sphere.",
                &[CENTER, RADIUS, INSIDE, OBSTACLE_MOTION, OBSTACLE_ROTATE],
            ),
            Touch::Mesh => (
                "All bodies stay off a rigid triangle mesh.",
                &[OBSTACLE_MESH, OBSTACLE_MOTION, OBSTACLE_ROTATE],
            ),
            Touch::Bodies => ("Bodies do not pass through each other.", &[BETWEEN]),
            Touch::Itself => ("A body does not pass through itself.", &[ITSELF]),
        };
        let kind = KeyValue { key: KIND.name, value, default: false };
        let known = || catalogue.iter().filter(|card| touch.is_known_to(card));
        let single = known().count() == 1;
        let by_model = |card: &&'static ContactCard| {
            let model = KeyValue { key: MODEL.name, value: card.name, default: single };
            let keys = model_parameters::keys(touch.parameters(card));
            Case { when: When::Both([kind, model]), doc: card.summary, keys }
        };
        let own = Case { when: When::Is { key: KIND.name, value, default: false }, doc, keys: keys.to_vec() };
        std::iter::once(own).chain(known().map(by_model)).collect::<Vec<_>>()
    };
    KINDS.iter().flat_map(by_kind).collect()
}

/// A contact.
#[derive(Clone, Debug)]
pub struct ContactSpec {
    /// What touches what.
    pub pair: ContactPair,
    /// How the obstacle moves, if it does.
    pub motion: Option<RigidMotion>,
    /// The obstacle that is a mesh; `pair` is then known when it is built.
    pub mesh: Option<MeshSpec>,
    /// The contact model.
    pub card: &'static ContactCard,
    /// Its parameters.
    pub parameters: Parameters,
    /// Where it was written.
    pub mark: Mark,
}

impl ContactSpec {
    /// Whether it takes energy by friction.
    pub fn has_friction(&self) -> bool {
        self.parameters.number("friction").is_some_and(|friction| friction > 0.0)
    }

    /// The obstacle where it is written, if it is contact with one.
    pub fn obstacle(&self) -> Option<ObstacleShape> {
        match self.pair {
            ContactPair::Obstacle(shape) => Some(shape),
            _ => None,
        }
    }
}

impl PartialEq for ContactSpec {
    fn eq(&self, other: &Self) -> bool {
        self.card.name == other.card.name
            && (self.pair, &self.motion, &self.mesh, &self.parameters, &self.mark)
                == (other.pair, &other.motion, &other.mesh, &other.parameters, &other.mark)
    }
}

#[derive(Clone, Copy)]
enum Touch {
    Plane,
    Sphere,
    Mesh,
    Bodies,
    Itself,
}

impl Touch {
    /// Whether a model knows this kind of contact.
    fn is_known_to(self, card: &ContactCard) -> bool {
        !matches!(self, Self::Mesh) || card.takes_meshes
    }

    /// The model where none is named: the first with a key of its own in the table, or else the barrier where it can be.
    fn default_model(self, reader: &Reader<'_>, takes_barriers: bool) -> &'static ContactCard {
        let known = || CATALOGUE.iter().copied().filter(|card| self.is_known_to(card));
        let is_given = |card: &ContactCard| {
            let others = || known().filter(|other| other.name != card.name);
            let is_own = |name| !others().any(|other| self.parameters(other).iter().any(|p| p.name == name));
            self.parameters(card).iter().any(|p| reader.peek(p.name) && is_own(p.name))
        };
        let fits = |card: &&ContactCard| card.limits_steps == takes_barriers;
        let by_key = known().find(|card| is_given(card));
        by_key.or_else(|| known().find(fits)).or_else(|| known().next()).unwrap_or(DEFAULT_CONTACT)
    }

    /// The parameters that this kind of contact takes.
    fn parameters(self, card: &ContactCard) -> &'static [ModelParameter] {
        match self {
            Self::Plane | Self::Sphere | Self::Mesh => card.obstacle_parameters,
            Self::Bodies | Self::Itself => card.parameters,
        }
    }
}

const KINDS: &[(&str, Touch)] = &[
    ("plane", Touch::Plane),
    ("sphere", Touch::Sphere),
    ("mesh", Touch::Mesh),
    ("bodies", Touch::Bodies),
    ("self", Touch::Itself),
];

impl ContactSpec {
    /// `takes_barriers` says whether the method is made for contact that no motion passes through.
    pub(super) fn read(
        item: &Item<'_>,
        bodies: &Bodies<'_>,
        takes_barriers: bool,
    ) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let kind_item = reader.required(&KIND)?;
        let kind = kind_item.choice(KINDS)?;
        let mut mesh = None;
        let pair = match kind {
            Touch::Plane => ContactPair::Obstacle(ObstacleShape::Plane {
                point: reader.required(&CONTACT_POINT)?.vector3()?,
                normal: reader.required(&NORMAL)?.direction()?,
            }),
            Touch::Sphere => ContactPair::Obstacle(ObstacleShape::Sphere {
                center: reader.required(&CENTER)?.vector3()?,
                radius: reader.number(&RADIUS)?,
                inside: reader.flag(&INSIDE)?,
            }),
            Touch::Mesh => {
                mesh = Some(MeshSpec::read(&reader.required(&OBSTACLE_MESH)?)?);
                ContactPair::Mesh(0)
            }
            Touch::Bodies => {
                if bodies.0.len() < 2 {
                    return Err(kind_item.error("needs two bodies; write kind = \"self\" for one"));
                }
                let between = reader.optional(&BETWEEN).map(|item| read_pair(&item, bodies));
                ContactPair::Bodies(between.transpose()?)
            }
            Touch::Itself => {
                let body = reader.optional(&ITSELF).map(|item| bodies.find(&item));
                ContactPair::Itself(body.transpose()?)
            }
        };
        let motion = match kind {
            Touch::Plane | Touch::Sphere | Touch::Mesh => RigidMotion::read(&mut reader)?,
            Touch::Bodies | Touch::Itself => None,
        };
        let models: Vec<(&'static str, &'static ContactCard)> =
            CATALOGUE.iter().filter(|card| kind.is_known_to(card)).map(|card| (card.name, *card)).collect();
        let card = match reader.peek(MODEL.name) {
            true => reader.choice(&MODEL, &models)?,
            false => kind.default_model(&reader, takes_barriers),
        };
        let parameters = model_parameters::read(kind.parameters(card), &mut reader)?;
        reader.finish()?;
        Ok(Self { pair, motion, mesh, card, parameters, mark: item.into() })
    }
}

fn read_pair(item: &Item<'_>, bodies: &Bodies<'_>) -> Result<[usize; 2], SceneError> {
    let [a, b] = item.exactly("names of bodies")?;
    let pair = [bodies.find(&a)?, bodies.find(&b)?];
    let [a, b] = pair;
    if a == b {
        return Err(item.error("names one body twice; write kind = \"self\" for contact with itself"));
    }
    Ok(pair)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::reference::{json_schema, markdown};
    use lilyan_solid::parameters::ParameterKind;
    use serde_json::{Value, json};

    /// A second model: a key that the first one has not, and one that means something else.
    static SECOND: ContactCard =
        ContactCard { name: "second", parameters: KEYS, obstacle_parameters: KEYS, ..*DEFAULT_CONTACT };
    const KEYS: &[ModelParameter] = &[parameter("stiffness", "Pa/m²"), parameter("depth", "m")];

    const fn parameter(name: &'static str, unit: &'static str) -> ModelParameter {
        ModelParameter { name, unit, example: "1", doc: "Of the second.", kind: ParameterKind::Required }
    }

    static TABLE: TableSchema = TableSchema { cases: two_models, ..CONTACT };

    fn two_models() -> Vec<Case> {
        cases_of(&[DEFAULT_CONTACT, &SECOND])
    }

    /// What holds under these conditions.
    fn rule(schema: &Value, condition: Value) -> Value {
        let mut rules = schema["allOf"].as_array().unwrap().iter();
        rules.find(|rule| rule["if"] == condition).unwrap_or_else(|| panic!("{schema:#}"))["then"].clone()
    }

    #[test]
    fn keys_belong_to_their_model() {
        let schema = Value::Object(json_schema::object(&TABLE));
        let plane = json!({ "const": "plane" });
        let kind = rule(&schema, json!({ "properties": { "kind": plane }, "required": ["kind"] }));
        let is = |model: &str| json!({ "kind": plane, "model": { "const": model } });
        // No model is the default by itself: what is given decides.
        let first = rule(&schema, json!({ "properties": is("penalty"), "required": ["kind", "model"] }));
        let second = rule(&schema, json!({ "properties": is("second"), "required": ["kind", "model"] }));
        assert_eq!(kind["properties"]["radius"], false);
        assert_eq!(kind["required"], json!(["point", "normal"]));
        assert!(kind["properties"]["depth"].is_null() && kind["properties"]["stiffness"].is_null());
        assert_eq!(first["properties"]["depth"], false);
        assert_eq!(first["properties"]["thickness"], false);
        assert_eq!(first["properties"]["stiffness"]["x-unit"], "Pa/m");
        assert!(first["properties"]["point"].is_null());
        assert_eq!(second["properties"]["stiffness"]["x-unit"], "Pa/m²");
        assert_eq!(second["required"], json!(["stiffness", "depth"]));
    }

    #[test]
    fn the_page_has_a_table_for_each_model() {
        let mut page = String::new();
        markdown::section(&TABLE, &mut page);
        for line in [
            "**`kind = \"plane\"`**: All",
            "**`kind = \"plane\"`, `model = \"penalty\"`**: ",
            "**`kind = \"self\"`, `model = \"second\"`**: ",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
        assert!(page.contains("| `stiffness` | number, positive (Pa/m) |"));
        assert!(page.contains("(Pa/m²)"));
    }

    #[test]
    fn a_kind_goes_with_the_keys_of_each_model() {
        let cases = two_models();
        let keys = |case: &Case| case.keys_within(&cases).iter().map(|key| key.name).collect::<Vec<_>>();
        assert_eq!(
            keys(&cases[0]),
            ["point", "normal", "motion", "rotate", "stiffness", "stiffness", "depth"]
        );
    }
}
