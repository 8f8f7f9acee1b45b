//! Why the text of a request to compare makes no sense.

use lilyan_dynamics::OptionError;
use lilyan_dynamics::integrators;
use lilyan_scene::expression::ExpressionError;
use lilyan_scene::suggest::{quoted, unknown};

/// An integrator, a step or a reference that cannot be read. The message names what is wrong, and what is known.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestError {
    /// The parenthesis of the options has no end.
    #[error("{}: \"(\" is not closed; write name(key=value)", quoted(.0))]
    NotClosed(String),
    /// The catalogue has no integrator of this name.
    #[error("{}", unknown("integrator", .0, &integrators::CATALOGUE.iter().map(|e| e.name).collect::<Vec<_>>()))]
    UnknownIntegrator(String),
    /// An option is given without a value.
    #[error("{}: write options as {integrator}(key=value)", quoted(.option))]
    OptionWithoutValue {
        /// Name of the integrator.
        integrator: &'static str,
        /// What was given.
        option: String,
    },
    /// The integrator has no such option.
    #[error("{}", unknown(&format!("option of {integrator} called"), .option, .known))]
    UnknownOption {
        /// Name of the integrator.
        integrator: &'static str,
        /// The name that was given.
        option: String,
        /// The options that it has.
        known: Vec<&'static str>,
    },
    /// The integrator refuses the value of an option.
    #[error("{integrator}: {source}")]
    Option {
        /// Name of the integrator.
        integrator: &'static str,
        /// Why.
        source: OptionError,
    },
    /// An option is a formula that cannot be read.
    #[error("{integrator}: formula of {option}, {source}")]
    Formula {
        /// Name of the integrator.
        integrator: &'static str,
        /// The option.
        option: String,
        /// Where reading stopped, and why.
        source: ExpressionError,
    },
    /// A list of integrators has an empty place.
    #[error("{}: a name is missing; write for example variational,backward-euler", quoted(.0))]
    MissingName(String),
    /// A step is zero, negative or infinite.
    #[error("{0} is not a step; steps are positive numbers of seconds")]
    StepNotPositive(f64),
    /// A step is not a number.
    #[error("{} is not a step; write seconds, for example 0.01", quoted(.0))]
    StepNotANumber(String),
    /// The reference is neither a keyword nor an integrator.
    #[error("{0}; write auto, fine, METHOD or METHOD@STEP as in rk4@0.0005")]
    Reference(#[source] Box<RequestError>),
}
