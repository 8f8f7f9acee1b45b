//! `damping` of a body.

use super::model_parameters;
use crate::document::key::{Absent, Case, Choice, Key, Kind, TableSchema, When};
use crate::document::{Item, SceneError, Value};
use lilyan_solid::damping::{CATALOGUE, Damping, DampingCard};
use lilyan_solid::parameters::Parameters;
use std::sync::Arc;

/// A damping model with its parameters.
#[derive(Clone, Debug)]
pub struct DampingSpec {
    /// The model.
    pub card: &'static DampingCard,
    /// Its parameters.
    pub parameters: Parameters,
}

impl DampingSpec {
    /// The model with its constants.
    pub fn create(&self) -> Arc<dyn Damping> {
        (self.card.create)(&self.parameters)
    }
}

impl PartialEq for DampingSpec {
    fn eq(&self, other: &Self) -> bool {
        self.card.name == other.card.name && self.parameters == other.parameters
    }
}

const MODEL: Key = Key::required("model", Kind::Word(models), "\"viscous\"", "The damping model.");

static TABLE: TableSchema = TableSchema {
    name: "damping",
    doc: "Physical damping of a body.",
    keys: &[MODEL],
    cases,
    exclusive: &[],
};

static ONE: Kind = Kind::Either(const { &[Kind::Word(none), Kind::Table(&TABLE)] });

/// `damping` of a body.
pub(super) const DAMPING: Key = Key::optional(
    "damping",
    Kind::Either(const { &[Kind::Word(none), Kind::Table(&TABLE), Kind::list(&ONE)] }),
    EXAMPLE,
    Absent::Means("none"),
    "Physical damping; several models in a list add up.",
);

const EXAMPLE: &str = "{ model = \"viscous\", time = 0.01 }";
const NONE: Choice = Choice { name: "none", doc: "No damping." };

fn none() -> Vec<Choice> {
    vec![NONE]
}

fn models() -> Vec<Choice> {
    let known = CATALOGUE.iter().map(|card| Choice { name: card.name, doc: card.summary });
    std::iter::once(NONE).chain(known).collect()
}

fn cases() -> Vec<Case> {
    let case =
        |name, doc, keys| Case { when: When::Is { key: MODEL.name, value: name, default: false }, doc, keys };
    let none = case(NONE.name, NONE.doc, Vec::new());
    let known =
        CATALOGUE.iter().map(|card| case(card.name, card.summary, model_parameters::keys(card.parameters)));
    std::iter::once(none).chain(known).collect()
}

/// Reads one damping model, or a list of them.
pub(super) fn read(item: &Item<'_>) -> Result<Vec<DampingSpec>, SceneError> {
    match item.node.value {
        Value::Array(_) => {
            let models = item.members()?.map(|part| read_one(&part));
            Ok(models.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        }
        _ => Ok(read_one(item)?.into_iter().collect()),
    }
}

fn read_one(item: &Item<'_>) -> Result<Option<DampingSpec>, SceneError> {
    let known = CATALOGUE.iter().map(|card| (card.name, Some(*card)));
    let choices: Vec<(&'static str, Option<&'static DampingCard>)> =
        std::iter::once((NONE.name, None)).chain(known).collect();
    if let Value::Text(_) = item.node.value {
        return match item.choice(&choices)? {
            None => Ok(None),
            Some(_) => Err(item.error(format!("needs its strength; write for example {EXAMPLE}"))),
        };
    }
    let mut reader = item.reader()?;
    let card = reader.required_as(&MODEL, EXAMPLE)?.choice(&choices)?;
    let damping = match card {
        None => None,
        Some(card) => {
            Some(DampingSpec { card, parameters: model_parameters::read(card.parameters, &mut reader)? })
        }
    };
    reader.finish()?;
    Ok(damping)
}
