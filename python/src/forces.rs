//! Forces that come from Python.

use crate::arrays;
use lilyan::body::Force;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};

/// A force f(t, q, v) that a Python function computes from arrays of shape (n, 3).
pub struct PythonForce {
    function: Py<PyAny>,
    /// The first exception that the function raised. A step with it fails, since the force becomes NaN.
    error: RaisedError,
}

/// The exception of a function in Python, until the caller takes it.
#[derive(Clone, Default)]
pub struct RaisedError(pub Arc<Mutex<Option<PyErr>>>);

impl RaisedError {
    /// Keeps the first exception.
    pub fn keep(&self, error: PyErr) {
        if let Ok(mut raised) = self.0.lock() {
            raised.get_or_insert(error);
        }
    }

    /// Whether there is one. The step will fail, so that nothing more needs to be asked.
    pub fn is_raised(&self) -> bool {
        self.0.lock().is_ok_and(|raised| raised.is_some())
    }

    /// The exception, which is then forgotten.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().ok()?.take()
    }
}

impl PythonForce {
    /// The force of this function; `error` is where its exception goes.
    pub fn new(function: Py<PyAny>, error: RaisedError) -> Self {
        Self { function, error }
    }

    fn evaluate(&self, py: Python<'_>, t: f64, q: &[f64], v: &[f64]) -> PyResult<Vec<f64>> {
        // Copies: what the function changes in its arguments does not reach the simulation.
        let f = self.function.bind(py).call1((t, arrays::rows(py, q)?, arrays::rows(py, v)?))?;
        arrays::flat(&f, "the force", q.len())
    }
}

impl Force for PythonForce {
    fn add(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        if self.error.is_raised() {
            f.fill(f64::NAN);
            return;
        }
        match Python::attach(|py| self.evaluate(py, t, q, v)) {
            Ok(values) => values.iter().zip(f).for_each(|(value, f)| *f += value),
            Err(error) => {
                f.fill(f64::NAN);
                self.error.keep(error);
            }
        }
    }
}
