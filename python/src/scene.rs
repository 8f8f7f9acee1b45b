//! Scenes, and what can be done with a whole scene.

use crate::arrays::{self, MeshArrays, OwnedMeshArrays};
use crate::errors::{input, step};
use crate::simulation::Simulation;
use lilyan::result::{
    CoarseMesh, CoarsenOptions, CompareOptions, CompareReport, Consistency, RunError, RunOptions, Signal,
    check, coarsen, compare, run,
};
use lilyan::scene::{Built, build, open};
use lilyan_dynamics::spectrum;
use lilyan_study::compare::{ConfiguredIntegrator, ReferenceChoice};
use lilyan_study::rest;
use numpy::{PyArray1, PyArray3, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;

/// A scene, as its file says it.
#[pyclass(frozen, module = "lilyan._lilyan")]
pub struct Scene(lilyan::scene::Scene);

/// A result as JSON text.
pub fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(step)
}

/// What the caller wants to know while something runs: whether Ctrl-C was pressed, and the progress.
struct Progress {
    report: Option<Py<PyAny>>,
    error: Option<PyErr>,
}

impl Progress {
    /// Calls the Python function with these numbers; stops if it raises or if a signal is pending.
    fn tell(&mut self, done: f64, of: f64) -> Signal {
        let answer = Python::attach(|py| {
            py.check_signals()?;
            self.report.as_ref().map_or(Ok(()), |f| f.call1(py, (done, of)).map(|_| ()))
        });
        match answer {
            Ok(()) => Signal::Continue,
            Err(error) => {
                self.error.get_or_insert(error);
                Signal::Stop
            }
        }
    }

    fn result<T>(self, value: T) -> PyResult<T> {
        self.error.map_or(Ok(value), Err)
    }
}

#[pymethods]
impl Scene {
    /// Opens a scene file, or a built-in scene by its name; each setting is a text "key=value".
    #[staticmethod]
    fn open(name: &str, settings: Vec<String>) -> PyResult<Self> {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        open(name, &settings).map(Self).map_err(input)
    }

    /// Reads a scene from text in TOML or JSON. Meshes in memory are found by their names.
    #[staticmethod]
    fn parse(text: &str, origin: &str, settings: Vec<String>, meshes: Vec<MeshArrays<'_>>) -> PyResult<Self> {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let scene = lilyan::scene::Scene::from_str_with(text, origin, &settings).map_err(input)?;
        let add = |scene: lilyan::scene::Scene, arrays| {
            let (name, mesh) = arrays::mesh(arrays)?;
            scene.with_mesh(&name, mesh).map_err(input)
        };
        meshes.into_iter().try_fold(scene, add).map(Self)
    }

    /// The scene as JSON, with what was set.
    #[getter]
    fn document(&self) -> String {
        self.0.document.to_json().to_string()
    }

    /// The file that the scene came from, or what stands for it.
    #[getter]
    fn origin(&self) -> &str {
        &self.0.origin.0
    }

    /// The scene as TOML.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// The meshes in memory, in arrays.
    fn meshes<'py>(&self, py: Python<'py>) -> PyResult<Vec<OwnedMeshArrays<'py>>> {
        self.0.meshes.iter().map(|(name, mesh)| arrays::of_mesh(py, name, mesh)).collect()
    }

    /// What to expect of a run, as JSON.
    fn check(&self, py: Python<'_>, modes: usize) -> PyResult<String> {
        let report = py.detach(|| self.build().map(|built| check(&self.0, &built, modes).report))?;
        json(&report)
    }

    /// The lowest eigenvalues ω² (1/s²), those below `round_off` being of rigid motions, and shapes of shape (count, n, 3).
    #[allow(clippy::type_complexity)]
    fn modes<'py>(
        &self,
        py: Python<'py>,
        count: usize,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, f64, Bound<'py, PyArray3<f64>>)> {
        let modes = py.detach(|| {
            let built = self.build()?;
            spectrum::modes(built.simulation.system(), &built.rest_positions(), count).map_err(input)
        })?;
        let flat: Vec<f64> = modes.vectors.concat();
        let nodes = flat.len() / 3 / modes.vectors.len().max(1);
        let shapes = flat.to_pyarray(py).reshape([modes.vectors.len(), nodes, 3])?;
        Ok((modes.values.to_pyarray(py), 1e-6 * modes.shift, shapes))
    }

    /// The static equilibrium: its report as JSON, and a simulation that starts from it.
    fn rest(&self, py: Python<'_>) -> PyResult<(String, Simulation)> {
        let (report, built) = py.detach(|| {
            let mut built = self.build()?;
            let report = rest::rest(&self.0, &mut built).map_err(step)?;
            Ok::<_, PyErr>((report, built))
        })?;
        Ok((json(&report)?, Simulation::of(py, &self.0, built)?))
    }

    /// Runs the scene into a folder. Returns the summary as JSON, whether it finished, and why not.
    #[pyo3(signature = (directory, resume, steps, progress))]
    fn run(
        &self,
        py: Python<'_>,
        directory: PathBuf,
        resume: bool,
        steps: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, String, Vec<String>)> {
        let mut told = Progress { report: progress, error: None };
        let outcome = py.detach(|| {
            let built = self.build()?;
            let options = RunOptions { directory, resume, steps };
            run(&self.0, built, &options, &mut |now| told.tell(now.step as f64, now.steps as f64)).map_err(
                |error| match error {
                    RunError::Write(_) => step(error),
                    RunError::Folder(_) | RunError::Resume(_) => input(error),
                },
            )
        })?;
        let verdict = vec![
            format!("{:?}", outcome.verdict.level).to_lowercase(),
            outcome.verdict.headline.clone(),
            outcome.verdict.sentence.clone(),
        ];
        let failed = match &outcome.status {
            lilyan::result::Status::Failed(why) => why.to_string(),
            _ => String::new(),
        };
        told.result((json(&outcome.summary)?, failed, verdict))
    }

    /// Compares integrators and steps; returns the report as JSON.
    #[pyo3(signature = (integrators, steps, reference, budget, progress))]
    fn compare(
        &self,
        py: Python<'_>,
        integrators: Option<&str>,
        steps: Vec<f64>,
        reference: &str,
        budget: f64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let methods = integrators.map(ConfiguredIntegrator::parse_list).transpose().map_err(input)?;
        let options = CompareOptions {
            methods: methods.unwrap_or_default(),
            steps,
            reference: ReferenceChoice::parse(reference).map_err(input)?,
            budget,
        };
        let mut told = Progress { report: progress, error: None };
        let compared = py.detach(|| {
            let built = self.build()?;
            let mut tell = |now: &lilyan_study::compare::CompareProgress<'_>| told.tell(now.done, 1.0);
            compare(&self.0, built, &options, &mut tell, &mut |_| {}).map_err(input)
        });
        match compared {
            Ok(comparison) => told.result(json(&CompareReport::new(&self.0, &comparison))?),
            Err(error) => told.result(()).and(Err(error)),
        }
    }

    /// Makes a coarse scene; returns it and the report as JSON.
    #[pyo3(signature = (mesh, tets, method, body, model, modes, display, compare, quadratic))]
    #[allow(clippy::too_many_arguments)]
    fn coarsen(
        &self,
        py: Python<'_>,
        mesh: Option<PathBuf>,
        tets: Option<usize>,
        method: String,
        body: Option<String>,
        model: Option<String>,
        modes: Option<usize>,
        display: bool,
        compare: Option<f64>,
        quadratic: bool,
    ) -> PyResult<(Self, String)> {
        let mesh = match (mesh, tets) {
            (Some(file), None) => CoarseMesh::File(file),
            (None, Some(tets)) => CoarseMesh::Tets(tets),
            _ => return Err(input("give either the file of a coarse mesh, or a number of tets")),
        };
        let request = CoarsenOptions {
            body,
            mesh,
            method,
            model,
            modes,
            display,
            traction: None,
            all_tractions: false,
            quadratic,
        };
        let (scene, report) = py.detach(|| {
            let mut show = |_: &str, _: f64| ();
            let mut outcome = coarsen(&self.0, &request, &mut show).map_err(input)?;
            if let Some(end) = compare {
                let end = end.min(self.0.time.end);
                let found = Consistency::new(&self.0, &outcome.scene, outcome.body, end, &mut show);
                outcome.report.consistency = Some(found.map_err(input)?.report());
            }
            Ok::<_, PyErr>((outcome.scene, outcome.report))
        })?;
        Ok((Self(scene), json(&report)?))
    }

    /// A simulation that can be stepped. Each force is a function of t, q and v.
    fn simulation(&self, py: Python<'_>, forces: Vec<Py<PyAny>>) -> PyResult<Simulation> {
        Simulation::new(py, &self.0, forces)
    }
}

impl Scene {
    fn build(&self) -> PyResult<Built> {
        build(&self.0).map_err(input)
    }
}
