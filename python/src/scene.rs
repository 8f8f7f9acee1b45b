//! Scenes, and what can be done with a whole scene.

use crate::arrays::{self, MeshArrays, OwnedMeshArrays, OwnedSurfaceArrays, SurfaceArrays};
use crate::errors::{input, step};
use crate::forces::RaisedError;
use crate::materials::Material;
use crate::simulation::Simulation;
use lilyan::result::{
    CoarseMesh, CoarsenOptions, CompareOptions, CompareReport, Consistency, RunError, RunOptions, Signal,
    check, coarsen, compare, run,
};
use lilyan::scene::{Built, build, open};
use lilyan_dynamics::spectrum;
use lilyan_study::compare::{ConfiguredIntegrator, ReferenceChoice};
use lilyan_study::converge::{ConvergeOptions, ConvergeProgress, ConvergeReport, converge};
use lilyan_study::{rest, scene_files};
use numpy::{PyArray1, PyArray3, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;

/// A scene, as its file says it.
#[pyclass(frozen, module = "lilyan._lilyan")]
pub struct Scene {
    scene: lilyan::scene::Scene,
    /// Where functions of its materials leave their exceptions.
    raised: Vec<RaisedError>,
}

/// Meshes, surfaces and materials in memory, which a scene names.
#[derive(FromPyObject)]
pub struct InMemory<'py> {
    #[pyo3(item)]
    meshes: Vec<MeshArrays<'py>>,
    #[pyo3(item)]
    surfaces: Vec<SurfaceArrays<'py>>,
    #[pyo3(item)]
    materials: Vec<Py<Material>>,
}

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
        open(name, &settings).map(Self::plain).map_err(input)
    }

    /// Reads a scene from text in TOML or JSON. What is in memory is found by its name.
    #[staticmethod]
    fn parse(text: &str, origin: &str, settings: Vec<String>, memory: InMemory<'_>) -> PyResult<Self> {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let mut scene = lilyan::scene::Scene::from_str_with(text, origin, &settings).map_err(input)?;
        for arrays in memory.meshes {
            let (name, mesh) = arrays::mesh(arrays)?;
            scene = scene.with_mesh(&name, mesh).map_err(input)?;
        }
        for arrays in memory.surfaces {
            let (name, surface) = arrays::surface(arrays)?;
            scene = scene.with_surface(&name, surface).map_err(input)?;
        }
        let mut raised = Vec::new();
        for material in memory.materials {
            let material = material.get().0;
            raised.push(material.0.error.clone());
            scene = scene.with_material(material);
        }
        Ok(Self { scene, raised })
    }

    /// The scene of a simulation, with what was changed in it.
    #[staticmethod]
    fn of(py: Python<'_>, simulation: &Simulation) -> PyResult<Self> {
        let (scene, raised) = simulation.scene(py)?;
        Ok(Self { scene, raised })
    }

    /// The scene with other values of some keys, each a text "key=value".
    fn with_settings(&self, settings: Vec<String>) -> PyResult<Self> {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let scene = self.scene.with_settings(&settings).map_err(input)?;
        Ok(Self { scene, raised: self.raised.clone() })
    }

    /// The scene as JSON, with what was set.
    #[getter]
    fn document(&self) -> String {
        self.scene.document.to_json().to_string()
    }

    /// The file that the scene came from, or what stands for it.
    #[getter]
    fn origin(&self) -> &str {
        &self.scene.origin.0
    }

    /// The scene as TOML.
    fn to_toml(&self) -> String {
        self.scene.to_toml()
    }

    /// Writes it into a file, and meshes in memory beside it.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        if let Some((name, _)) = self.scene.meshes.iter().find(|(_, mesh)| !mesh.edge_points.is_empty()) {
            return Err(input(format!(
                "{name} has nodes on edges, which are not written; save the mesh by its own library and name its file in the scene"
            )));
        }
        scene_files::write(&self.scene, &path).map_err(input)
    }

    /// The meshes in memory, in arrays.
    fn meshes<'py>(&self, py: Python<'py>) -> PyResult<Vec<OwnedMeshArrays<'py>>> {
        self.scene.meshes.iter().map(|(name, mesh)| arrays::of_mesh(py, name, mesh)).collect()
    }

    /// The surfaces in memory, in arrays.
    fn surfaces<'py>(&self, py: Python<'py>) -> PyResult<Vec<OwnedSurfaceArrays<'py>>> {
        self.scene.surfaces.iter().map(|(name, surface)| arrays::of_surface(py, name, surface)).collect()
    }

    /// What to expect of a run, as JSON.
    fn check(&self, py: Python<'_>, modes: usize) -> PyResult<String> {
        let report = py.detach(|| self.build().map(|built| check(&self.scene, &built, modes).report))?;
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
            let report = rest::rest(&self.scene, &mut built);
            let report = report.map_err(|error| self.take_raised().unwrap_or_else(|| step(error)))?;
            Ok::<_, PyErr>((report, built))
        })?;
        Ok((json(&report)?, Simulation::of(py, &self.scene, &self.raised, built)?))
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
            run(&self.scene, built, &options, &mut |now| told.tell(now.step as f64, now.steps as f64))
                .map_err(|error| match error {
                    RunError::Write(_) => step(error),
                    RunError::Folder(_) | RunError::InUse(_) | RunError::Resume(_) => input(error),
                })
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
        if !failed.is_empty()
            && let Some(error) = self.take_raised()
        {
            return Err(error);
        }
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
            compare(&self.scene, built, &options, &mut tell, &mut |_| {}).map_err(input)
        });
        match compared {
            Ok(comparison) => told.result(json(&CompareReport::new(&self.scene, &comparison))?),
            Err(error) => told.result(()).and(Err(error)),
        }
    }

    /// Refines step and mesh until probes settle; returns the report as JSON.
    #[pyo3(signature = (accuracy, probes, budget, progress))]
    fn converge(
        &self,
        py: Python<'_>,
        accuracy: f64,
        probes: Vec<String>,
        budget: f64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        if !(accuracy > 0.0 && accuracy.is_finite() && budget > 0.0 && budget.is_finite()) {
            return Err(input("accuracy and budget (s) must be positive numbers"));
        }
        let options = ConvergeOptions { accuracy, probes, budget };
        let mut told = Progress { report: progress, error: None };
        let converged = py.detach(|| {
            let built = self.build()?;
            let mut tell = |now: &ConvergeProgress| told.tell(now.run as f64 + now.done, f64::INFINITY);
            converge(&self.scene, built, &options, &mut tell).map_err(input)
        });
        match converged {
            Ok(found) => told.result(json(&ConvergeReport::new(&self.scene, &found))?),
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
            let mut outcome = coarsen(&self.scene, &request, &mut show).map_err(input)?;
            if let Some(end) = compare {
                let end = end.min(self.scene.time.end);
                let found = Consistency::new(&self.scene, &outcome.scene, outcome.body, end, &mut show);
                outcome.report.consistency = Some(found.map_err(input)?.report());
            }
            Ok::<_, PyErr>((outcome.scene, outcome.report))
        })?;
        Ok((Self { scene, raised: self.raised.clone() }, json(&report)?))
    }

    /// A simulation that can be stepped. Each force is a function of t, q and v.
    fn simulation(&self, py: Python<'_>, forces: Vec<Py<PyAny>>) -> PyResult<Simulation> {
        Simulation::new(py, &self.scene, &self.raised, forces)
    }
}

impl Scene {
    /// A scene without materials of Python.
    fn plain(scene: lilyan::scene::Scene) -> Self {
        Self { scene, raised: Vec::new() }
    }

    fn build(&self) -> PyResult<Built> {
        build(&self.scene).map_err(|error| self.take_raised().unwrap_or_else(|| input(error)))
    }

    /// The exception of a function of its materials, if one was raised.
    fn take_raised(&self) -> Option<PyErr> {
        self.raised.iter().find_map(RaisedError::take)
    }
}
