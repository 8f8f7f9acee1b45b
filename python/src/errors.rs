//! Exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::fmt::Display;

create_exception!(
    lilyan,
    InputError,
    PyValueError,
    "What was given is wrong: a key of a scene, a mesh, an array. The message names the place and the remedy."
);
create_exception!(
    lilyan,
    StepError,
    PyRuntimeError,
    "The simulation could not go on. Its state is that before the step. The message says when and why."
);

/// An [`InputError`] with this message.
pub fn input(error: impl Display) -> PyErr {
    InputError::new_err(error.to_string())
}

/// A [`StepError`] with this message.
pub fn step(error: impl Display) -> PyErr {
    StepError::new_err(error.to_string())
}
