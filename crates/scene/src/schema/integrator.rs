//! `[integrator]`: a method by name, with options that only its card knows.

use super::defaults;
use super::kinds::PLAIN;
use super::quantity::Mark;
use crate::document::key::{Absent, Case, Choice, Key, Kind, Range, TableSchema, When};
use crate::document::{Item, SceneError, Value};
use crate::expression::{Expression, ExpressionError};
use crate::suggest;
use lilyan_dynamics::integrators::{self, CATALOGUE};
use lilyan_dynamics::options::{Kind as OptionKind, OptionSpec, SharedFormula, Value as Given};
use std::sync::Arc;

const NAME: Key = Key::optional(
    "name",
    Kind::Word(names),
    "\"variational\"",
    Absent::Word(defaults::INTEGRATOR),
    "The method, as `lilyan integrators` lists them.",
);

static TABLE: TableSchema = TableSchema {
    name: "integrator",
    doc: "The time integrator and its options.",
    keys: &[NAME],
    cases: || CATALOGUE.iter().map(|entry| case(entry.name, entry.summary, entry.options)).collect(),
    exclusive: &[],
};

/// `integrator` of a scene.
pub(super) const INTEGRATOR: Key = Key::optional(
    "integrator",
    Kind::Either(const { &[Kind::Word(names), Kind::Table(&TABLE)] }),
    "{ name = \"variational\", alpha = 0.5 }",
    Absent::Word(defaults::INTEGRATOR),
    "The time integrator: a table with its options, or its name alone.",
);

fn names() -> Vec<Choice> {
    CATALOGUE.iter().map(|entry| Choice { name: entry.name, doc: entry.summary }).collect()
}

fn case(name: &'static str, doc: &'static str, options: &'static [OptionSpec]) -> Case {
    let default = name == defaults::INTEGRATOR;
    let keys = options.iter().map(option_key).collect();
    Case { when: When::Is { key: NAME.name, value: name, default }, doc, keys }
}

/// The key of an option that the card of a method declares.
fn option_key(option: &'static OptionSpec) -> Key {
    let number = |min, max| Kind::Number { range: Range::closed(min, max), unit: "" };
    let (kind, absent) = match option.kind {
        OptionKind::Number { min, max, default } => (number(min, max), Absent::Number(default)),
        OptionKind::NumberOr { min, max, default, word } => {
            (Kind::NumberOrWord { range: Range::closed(min, max), word }, Absent::Number(default))
        }
        OptionKind::Flag { default } => (Kind::Flag, Absent::Flag(default)),
        OptionKind::Formula { variables } => (Kind::Formula(variables), Absent::Means("the rule")),
        OptionKind::Word { choices } => {
            (Kind::OneOf(choices), Absent::Word(choices.first().copied().unwrap_or_default()))
        }
    };
    Key::optional(option.name, kind, "", absent, option.doc)
}

/// A method and its options, to be checked against the method's card.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegratorSpec {
    /// Name in `lilyan integrators`.
    pub name: String,
    /// In the order of their names.
    pub options: Vec<IntegratorOption>,
    /// Where it was named.
    pub mark: Mark,
}

/// One option.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegratorOption {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: OptionValue,
    /// Where it was written.
    pub mark: Mark,
}

/// What an option may be.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A finite number.
    Number(f64),
    /// A word.
    Text(String),
    /// True or false.
    Bool(bool),
    /// Finite numbers.
    Numbers(Vec<f64>),
}

/// An option is read as what it is; the card of the method checks it when the simulation is built.
const ANY_OPTION: Kind = Kind::Either(const { &[PLAIN, Kind::Text, Kind::Flag, Kind::list(&PLAIN)] });

impl IntegratorSpec {
    pub(super) fn read(item: Option<Item<'_>>, origin: &str) -> Result<Self, SceneError> {
        let Some(item) = item else {
            let mark = Mark { origin: origin.to_owned(), path: "integrator".to_owned(), ..Mark::default() };
            return Ok(Self { name: defaults::INTEGRATOR.to_owned(), options: Vec::new(), mark });
        };
        // `integrator = "variational"` says it all when there are no options.
        if let Value::Text(_) = item.node.value {
            return Ok(Self { name: item.name()?.to_owned(), options: Vec::new(), mark: (&item).into() });
        }
        let mut reader = item.reader()?;
        let (name, mark) = match reader.optional(&NAME) {
            Some(name) => (name.name()?, Mark::from(&name)),
            None => (defaults::INTEGRATOR, Mark::from(&item)),
        };
        let mut options = Vec::new();
        for (entry, item) in reader.rest(ANY_OPTION) {
            let value = match &item.node.value {
                Value::Number(_) | Value::Integer(_) => OptionValue::Number(item.number()?),
                Value::Text(text) => OptionValue::Text(text.clone()),
                Value::Bool(flag) => OptionValue::Bool(*flag),
                Value::Array(_) => {
                    OptionValue::Numbers(item.members()?.map(|n| n.number()).collect::<Result<_, _>>()?)
                }
                Value::Table(_) => {
                    return Err(item.error("is a table; options are numbers, words, true or false"));
                }
            };
            options.push(IntegratorOption { key: entry.key.clone(), value, mark: (&item).into() });
        }
        options.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { name: name.to_owned(), options, mark })
    }

    /// Whether contact by a barrier is the default with this method: it solves for the positions at the end of a step.
    pub fn takes_barriers(&self) -> bool {
        let made = integrators::find(&self.name).and_then(|entry| entry.create(&[]).ok());
        made.is_some_and(|integrator| integrator.solves_for_end())
    }

    /// Refuses a name that is not in the catalogue.
    pub fn check_name(&self, known: &[&str]) -> Result<(), SceneError> {
        if known.contains(&self.name.as_str()) {
            return Ok(());
        }
        Err(self.mark.error(format!(
            "there is no integrator {}{}choose one of: {}",
            suggest::quoted(&self.name),
            suggest::did_you_mean(&self.name, known.iter().copied()),
            known.join(", ")
        )))
    }

    /// Refuses options that the method does not have.
    pub fn check_options(&self, known: &[&str]) -> Result<(), SceneError> {
        let stranger = self.options.iter().find(|option| !known.contains(&option.key.as_str()));
        stranger.map_or(Ok(()), |option| {
            Err(option.mark.error(format!(
                "unknown key {} for the integrator {:?}{}known keys: name{}",
                suggest::quoted(&option.key),
                self.name,
                suggest::did_you_mean(&option.key, known.iter().copied()),
                known.iter().map(|k| format!(", {k}")).collect::<String>()
            )))
        })
    }

    /// The options as its card takes them: a text is a formula where the card declares one.
    pub fn given(&self) -> Result<Vec<(String, Given)>, SceneError> {
        let specs = integrators::find(&self.name).map_or(&[][..], |entry| entry.options);
        let value = |option: &IntegratorOption| match &option.value {
            OptionValue::Number(x) => Ok(Given::Number(*x)),
            OptionValue::Bool(flag) => Ok(Given::Flag(*flag)),
            OptionValue::Text(text) => option_of_text(specs, &option.key, text)
                .map_err(|error| option.mark.error(format!("formula {}, {error}", suggest::quoted(text)))),
            OptionValue::Numbers(_) => Err(option.mark.error("give one value, not a list")),
        };
        self.options.iter().map(|option| Ok((option.key.clone(), value(option)?))).collect()
    }

    /// The value of an option, if given.
    pub fn option(&self, key: &str) -> Option<&IntegratorOption> {
        self.options.iter().find(|option| option.key == key)
    }
}

/// A text as the value of an option: a formula where the card declares one, else a word.
pub fn option_of_text(specs: &[OptionSpec], key: &str, text: &str) -> Result<Given, ExpressionError> {
    match specs.iter().find(|spec| spec.name == key).map(|spec| spec.kind) {
        Some(OptionKind::Formula { variables }) => {
            Ok(Given::Formula(SharedFormula(Arc::new(Expression::parse(text, variables)?))))
        }
        _ => Ok(Given::Word(text.to_owned())),
    }
}
