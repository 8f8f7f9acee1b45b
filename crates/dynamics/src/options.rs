//! Options of integrators: what a card declares, what a scene gives.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A function of named variables, which whoever reads scenes compiles from a text.
pub trait Formula: std::fmt::Debug + Send + Sync {
    /// The text.
    fn source(&self) -> &str;
    /// The value, and its derivative with respect to variable number `wrt`.
    fn eval_dual(&self, values: &[f64], wrt: usize) -> (f64, f64);
    /// Whether variable number `index` occurs.
    fn depends_on(&self, index: usize) -> bool;
}

/// A formula as the value of an option. Two are equal if their texts are.
#[derive(Clone, Debug)]
pub struct SharedFormula(pub Arc<dyn Formula>);

impl PartialEq for SharedFormula {
    fn eq(&self, other: &Self) -> bool {
        self.0.source() == other.0.source()
    }
}

/// A value as given.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// A word.
    Word(String),
    /// A formula of the variables of the option.
    Formula(SharedFormula),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Flag(b) => write!(f, "{b}"),
            Self::Word(w) => write!(f, "\"{w}\""),
            Self::Formula(formula) => write!(f, "\"{}\"", formula.0.source()),
        }
    }
}

/// What an option may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number in a closed interval, and its default.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
        /// When absent.
        default: f64,
    },
    /// A number in a closed interval, or a word instead; the number is the default.
    NumberOr {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
        /// When absent.
        default: f64,
        /// The word.
        word: &'static str,
    },
    /// Yes or no, and its default.
    Flag {
        /// When absent.
        default: bool,
    },
    /// One of some words; the first is the default.
    Word {
        /// Those words.
        choices: &'static [&'static str],
    },
    /// A formula of these variables; absent by default.
    Formula {
        /// Their names.
        variables: &'static [&'static str],
    },
}

/// An option that an integrator declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionSpec {
    /// Key in the scene file.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// What it may be.
    pub kind: Kind,
}

/// Why options are refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptionError {
    /// The integrator has no option of that name.
    #[error("unknown option \"{name}\"; known: {}", known.join(", "))]
    Unknown {
        /// The name that was given.
        name: String,
        /// Names of the options that it has.
        known: Vec<&'static str>,
    },
    /// The option does not take that value.
    #[error("option \"{name}\" must be {wanted}, not {given}")]
    Value {
        /// The option.
        name: String,
        /// Values that it takes, in words.
        wanted: String,
        /// The value that was given.
        given: Value,
    },
}

/// The options of one integrator, checked against its card and completed with defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(BTreeMap<&'static str, Value>);

impl Options {
    /// Checks what is given against what is declared. The error names the option and the remedy.
    pub fn resolve(specs: &'static [OptionSpec], given: &[(String, Value)]) -> Result<Self, OptionError> {
        let mut options: BTreeMap<&'static str, Value> = specs
            .iter()
            .filter_map(|s| {
                let default = match s.kind {
                    Kind::Number { default, .. } | Kind::NumberOr { default, .. } => Value::Number(default),
                    Kind::Flag { default } => Value::Flag(default),
                    Kind::Word { choices } => Value::Word(choices[0].to_string()),
                    Kind::Formula { .. } => return None,
                };
                Some((s.name, default))
            })
            .collect();
        for (name, value) in given {
            let Some(spec) = specs.iter().find(|s| s.name == name) else {
                let known: Vec<&str> = specs.iter().map(|s| s.name).collect();
                return Err(OptionError::Unknown { name: name.clone(), known });
            };
            let fits = match (spec.kind, value) {
                (Kind::Number { min, max, .. } | Kind::NumberOr { min, max, .. }, Value::Number(x)) => {
                    min <= *x && *x <= max
                }
                (Kind::NumberOr { word, .. }, Value::Word(w)) => word == w,
                (Kind::Flag { .. }, Value::Flag(_)) => true,
                (Kind::Word { choices }, Value::Word(w)) => choices.contains(&w.as_str()),
                (Kind::Formula { .. }, Value::Formula(_)) => true,
                _ => false,
            };
            if !fits {
                let wanted = match spec.kind {
                    Kind::Number { min, max, .. } => format!("a number from {min} to {max}"),
                    Kind::NumberOr { min, max, word, .. } => {
                        format!("a number from {min} to {max} or \"{word}\"")
                    }
                    Kind::Flag { .. } => "true or false".to_string(),
                    Kind::Word { choices } => format!("one of \"{}\"", choices.join("\", \"")),
                    Kind::Formula { variables } => format!("a formula of {}", variables.join(", ")),
                };
                return Err(OptionError::Value { name: name.clone(), wanted, given: value.clone() });
            }
            options.insert(spec.name, value.clone());
        }
        Ok(Self(options))
    }

    /// A declared number.
    pub fn number(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(Value::Number(x)) => *x,
            other => unreachable!("option {name} is declared a number, found {other:?}"),
        }
    }

    /// A declared number, or `None` where its word is given instead.
    pub fn number_or_word(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(Value::Number(x)) => Some(*x),
            Some(Value::Word(_)) => None,
            other => unreachable!("option {name} is declared a number or a word, found {other:?}"),
        }
    }

    /// A declared flag.
    pub fn flag(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(Value::Flag(b)) => *b,
            other => unreachable!("option {name} is declared a flag, found {other:?}"),
        }
    }

    /// A declared word.
    pub fn word(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(Value::Word(w)) => w,
            other => unreachable!("option {name} is declared a word, found {other:?}"),
        }
    }

    /// A declared formula, if it was given.
    pub fn formula(&self, name: &str) -> Option<&SharedFormula> {
        match self.0.get(name) {
            Some(Value::Formula(formula)) => Some(formula),
            None => None,
            other => unreachable!("option {name} is declared a formula, found {other:?}"),
        }
    }

    /// All of them, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(k, v)| (*k, v))
    }
}
