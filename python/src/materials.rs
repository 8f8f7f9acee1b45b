//! Materials whose functions come from Python.
#![allow(non_snake_case)] // F, P and H as in the papers

use crate::errors::input;
use crate::forces::RaisedError;
use lilyan::material::{Card, ConstantsError, Given, Mat3, Parameter, SmallStrain};
use lilyan_solid::materials::{Listed, Mat9, MaterialPoint, OfLists};
use numpy::ndarray::{Array1, ArrayView3};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

/// Step of the differences of P, in units of F, whose error and round-off are both about 1e-10 of the modulus.
const STEP: f64 = 1e-5;

/// A material model of Python functions.
///
/// It lives as long as the process, as those of the catalogue do.
#[pyclass(frozen, module = "lilyan._lilyan")]
pub struct Material(pub &'static OfLists<PythonMaterial>);

/// The functions ψ(F, c), P(F, c) and, if given, ∂P/∂F(F, c) of arrays of shape (n, 3, 3).
pub struct PythonMaterial {
    card: &'static Card,
    energy: Py<PyAny>,
    stress: Py<PyAny>,
    tangent: Option<Py<PyAny>>,
    /// The first exception that a function raised. What it should have given is then NaN, so that the step fails.
    pub error: RaisedError,
}

#[pymethods]
impl Material {
    #[new]
    fn new(
        name: String,
        energy: Py<PyAny>,
        stress: Py<PyAny>,
        tangent: Option<Py<PyAny>>,
        parameters: BTreeMap<String, f64>,
        frame_indifferent: bool,
    ) -> PyResult<Self> {
        if name.is_empty() {
            return Err(input("a material needs a name"));
        }
        let parameters = parameters.into_iter().map(|(name, default)| Parameter {
            name: name.leak(),
            doc: "a constant of a material in Python",
            default: Some(default),
        });
        let card = Box::leak(Box::new(Card {
            summary: "functions in Python",
            parameters: parameters.collect::<Vec<_>>().leak(),
            frame_indifferent,
            analytic: false,
            small_strain: SmallStrain::Given,
            ..Card::hyperelastic(name.leak())
        }));
        let functions = PythonMaterial { card, energy, stress, tangent, error: RaisedError::default() };
        Ok(Self(Box::leak(Box::new(OfLists(functions)))))
    }

    /// The name that scenes give it.
    #[getter]
    fn name(&self) -> &str {
        self.0.0.card.name
    }
}

impl PythonMaterial {
    /// The values that a function gives at these points, `size` for each.
    fn call(&self, function: &Py<PyAny>, what: &str, at: &[MaterialPoint<'_>], size: usize) -> Vec<f64> {
        let unknown = || vec![f64::NAN; size * at.len()];
        if self.error.is_raised() {
            return unknown();
        }
        Python::attach(|py| self.values(py, function, what, at, size)).unwrap_or_else(|error| {
            self.error.keep(error);
            unknown()
        })
    }

    fn values(
        &self,
        py: Python<'_>,
        function: &Py<PyAny>,
        what: &str,
        at: &[MaterialPoint<'_>],
        size: usize,
    ) -> PyResult<Vec<f64>> {
        let flat: Vec<f64> = at.iter().flat_map(|(_, F)| F.0.concat()).collect();
        let F = ArrayView3::from_shape((at.len(), 3, 3), &flat).map_err(input)?.to_pyarray(py);
        let found = function.bind(py).call1((F, self.constants_of(py, at)?))?;
        let shape: &[usize] = match size {
            1 => &[],
            9 => &[3, 3],
            _ => &[3, 3, 3, 3],
        };
        let wanted: Vec<usize> = std::iter::once(at.len()).chain(shape.iter().copied()).collect();
        let array = found.extract::<PyReadonlyArrayDyn<'_, f64>>().ok().filter(|a| a.shape() == wanted);
        let array = array.ok_or_else(|| {
            input(format!(
                "material {:?}: {what} must return an array of numbers of shape {wanted:?}",
                self.card.name
            ))
        })?;
        Ok(array.as_array().iter().copied().collect())
    }

    /// The constants by name: a number where all points have the same, else an array.
    fn constants_of<'py>(&self, py: Python<'py>, at: &[MaterialPoint<'_>]) -> PyResult<Bound<'py, PyDict>> {
        let names = ["lambda", "mu"].into_iter().chain(self.card.parameters.iter().map(|p| p.name));
        let dict = PyDict::new(py);
        for (k, name) in names.enumerate() {
            let value = |(c, _): &MaterialPoint<'_>| c.get(k).copied().unwrap_or(f64::NAN);
            let first = at.first().map_or(f64::NAN, value);
            if at.iter().all(|point| value(point) == first) {
                dict.set_item(name, first)?;
            } else {
                dict.set_item(name, at.iter().map(value).collect::<Array1<f64>>().to_pyarray(py))?;
            }
        }
        Ok(dict)
    }

    /// ∂P/∂F by central differences of P.
    fn differences(&self, at: &[MaterialPoint<'_>]) -> Vec<Mat9> {
        let moved = |k: usize, step: f64| {
            at.iter().map(move |&(c, mut F)| {
                F.0[k / 3][k % 3] += step;
                (c, F)
            })
        };
        let around: Vec<MaterialPoint<'_>> =
            (0..9).flat_map(|k| moved(k, STEP).chain(moved(k, -STEP))).collect();
        let P = self.stresses(&around);
        let n = at.len();
        let tangent = |point: usize| {
            let mut H = [[0.0; 9]; 9];
            for k in 0..9 {
                let (above, below) = (&P[2 * k * n + point], &P[(2 * k + 1) * n + point]);
                for (i, row) in H.iter_mut().enumerate() {
                    row[k] = (above.0[i / 3][i % 3] - below.0[i / 3][i % 3]) / (2.0 * STEP);
                }
            }
            symmetric(&H)
        };
        (0..n).map(tangent).collect()
    }
}

/// Half of a matrix and its transpose: second derivatives are symmetric.
fn symmetric(H: &Mat9) -> Mat9 {
    std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (H[i][j] + H[j][i])))
}

fn square(values: &[f64]) -> Mat3 {
    Mat3::from_fn(|i, j| values[3 * i + j])
}

impl Listed for PythonMaterial {
    fn card(&self) -> &'static Card {
        self.card
    }
    fn constants(&self, given: &Given) -> Result<Vec<f64>, ConstantsError> {
        let own = self.card.parameters.iter();
        let own = own.map(|p| given.get(p.name).or(p.default).unwrap_or(f64::NAN));
        Ok([given.lambda, given.mu].into_iter().chain(own).collect())
    }
    fn energies(&self, at: &[MaterialPoint<'_>]) -> Vec<f64> {
        let mut values = self.call(&self.energy, "energy", at, 1);
        // A logarithm of det F < 0, as NumPy has it: infeasible.
        values.iter_mut().filter(|psi| psi.is_nan()).for_each(|psi| *psi = f64::INFINITY);
        values
    }
    fn stresses(&self, at: &[MaterialPoint<'_>]) -> Vec<Mat3> {
        self.call(&self.stress, "stress", at, 9).chunks_exact(9).map(square).collect()
    }
    fn tangents(&self, at: &[MaterialPoint<'_>]) -> Vec<Mat9> {
        let Some(tangent) = &self.tangent else { return self.differences(at) };
        let values = self.call(tangent, "tangent", at, 81);
        values
            .chunks_exact(81)
            .map(|H| std::array::from_fn(|i| std::array::from_fn(|j| H[9 * i + j])))
            .collect()
    }
}
