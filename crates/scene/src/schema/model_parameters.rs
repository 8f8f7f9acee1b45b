//! Keys from the parameters that models of damping and contact declare.

use crate::document::key::{Absent, Key, Kind};
use crate::document::{Reader, SceneError};
use lilyan_solid::parameters::{ModelParameter, ParameterKind, Parameters};

/// The keys of all parameters of a model.
pub(super) fn keys(parameters: &'static [ModelParameter]) -> Vec<Key> {
    parameters.iter().map(|parameter| key(parameter, parameters)).collect()
}

/// The key of a parameter among all of its model.
fn key(parameter: &'static ModelParameter, all: &'static [ModelParameter]) -> Key {
    let alternative =
        all.iter().find(|other| other.kind == ParameterKind::InsteadOf { name: parameter.name });
    let not_negative = Kind::not_negative(parameter.unit);
    let (kind, absent) = match parameter.kind {
        ParameterKind::Required => match alternative {
            Some(other) => (not_negative, Absent::Unless(other.name)),
            None => (not_negative, Absent::Required),
        },
        ParameterKind::InsteadOf { name } => (not_negative, Absent::Unless(name)),
        ParameterKind::Number { default } => (not_negative, Absent::Number(default)),
        ParameterKind::Derived { from } => (Kind::positive(parameter.unit), Absent::Means(from)),
        ParameterKind::Flag { default } => (Kind::Flag, Absent::Flag(default)),
    };
    Key::optional(parameter.name, kind, parameter.example, absent, parameter.doc)
}

/// Reads the parameters of a model from its table.
pub(super) fn read(
    parameters: &'static [ModelParameter],
    reader: &mut Reader<'_>,
) -> Result<Parameters, SceneError> {
    let mut values = Parameters::new(parameters);
    for parameter in parameters {
        let key = key(parameter, parameters);
        let Some(item) = reader.optional(&key) else { continue };
        match (key.kind, key.absent) {
            (Kind::Flag, _) => values.set_flag(parameter.name, item.bool()?),
            (_, Absent::Unless(other)) if values.number(other).is_some() => {
                return Err(item
                    .error(format!("{other} and {} exclude each other; keep one of them", parameter.name)));
            }
            _ => values.set_number(parameter.name, item.number()?),
        }
    }
    match values.missing() {
        None => Ok(values),
        Some(parameter) => Err(reader
            .required(&key(parameter, parameters))
            .err()
            .unwrap_or_else(|| reader.error(format!("the key {:?} is missing", parameter.name)))),
    }
}
