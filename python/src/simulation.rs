//! A simulation that is stepped from Python.

use crate::arrays;
use crate::errors::{input, step};
use crate::forces::{PythonForce, RaisedError};
use lilyan::body::Force;
use lilyan::integrator::System;
use lilyan::scene::{Built, Scene};
use lilyan::simulation::{Checkpoint, State};
use lilyan_scene::build::build_with_forces;
use lilyan_solid::elements::CellField;
use lilyan_solid::output;
use lilyan_study::run::GrowthLimit;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How often a long call looks whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(100);

/// A simulation with arrays q, v and p that always show its state, and whose changes the simulation takes over.
#[pyclass(frozen, module = "lilyan._lilyan")]
pub struct Simulation {
    scene: Scene,
    running: Mutex<Running>,
    /// q (m), v (m/s) and p (kg m/s), each of shape (n, 3).
    shown: [Py<PyArray2<f64>>; 3],
    functions: Vec<Py<PyAny>>,
    raised: RaisedError,
}

/// What a step changes.
struct Running {
    built: Built,
    limit: GrowthLimit,
}

impl Simulation {
    /// The simulation of a scene with forces of the user.
    pub fn new(py: Python<'_>, scene: &Scene, functions: Vec<Py<PyAny>>) -> PyResult<Self> {
        let raised = RaisedError::default();
        let mut forces: Vec<Box<dyn Force>> = Vec::new();
        for function in &functions {
            forces.push(Box::new(PythonForce::new(function.clone_ref(py), raised.clone())));
        }
        let built = py.detach(|| build_with_forces(scene, forces)).map_err(input)?;
        Self::with(py, scene, built, functions, raised)
    }

    /// A simulation that is built already, without forces of the user.
    pub fn of(py: Python<'_>, scene: &Scene, built: Built) -> PyResult<Self> {
        Self::with(py, scene, built, Vec::new(), RaisedError::default())
    }

    fn with(
        py: Python<'_>,
        scene: &Scene,
        built: Built,
        functions: Vec<Py<PyAny>>,
        raised: RaisedError,
    ) -> PyResult<Self> {
        let State { q, v, p, .. } = built.simulation.state();
        let shown =
            [arrays::rows(py, q)?.unbind(), arrays::rows(py, v)?.unbind(), arrays::rows(py, p)?.unbind()];
        let limit = GrowthLimit::new(&built);
        let running = Mutex::new(Running { built, limit });
        Ok(Self { scene: scene.clone(), running, shown, functions, raised })
    }

    /// The simulation, after changes that were made in its arrays.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Running>> {
        // Another thread that holds it may need the interpreter to go on.
        let mut running = self
            .running
            .lock_py_attached(py)
            .map_err(|_| step("an earlier call failed in the middle of a step; make a new simulation"))?;
        self.take_changes(py, &mut running)?;
        Ok(running)
    }

    /// Takes over what was written into the arrays since the last step. The change of energy counts as external work.
    fn take_changes(&self, py: Python<'_>, running: &mut Running) -> PyResult<()> {
        let state = running.built.simulation.state();
        let mut changed = [false; 3];
        for ((array, now), changed) in self.shown.iter().zip([&state.q, &state.v, &state.p]).zip(&mut changed)
        {
            let array = array.bind(py).readonly();
            *changed = array.as_slice().map_err(input)? != &now[..];
        }
        if changed == [false; 3] {
            return Ok(());
        }
        let names = ["q", "v", "p"];
        let mut values = Vec::new();
        for (array, name) in self.shown.iter().zip(names) {
            match arrays::flat(array.bind(py), name, state.q.len()) {
                Ok(array) => values.push(array),
                Err(error) => {
                    // What cannot be taken over is taken back.
                    self.show(py, running)?;
                    return Err(error);
                }
            }
        }
        let [mut q, mut v, p] = [0, 1, 2].map(|k| std::mem::take(&mut values[k]));
        let simulation = &mut running.built.simulation;
        let system = simulation.system();
        if changed[2] && !changed[1] {
            system.mass().solve(&vec![false; p.len()], &p, &mut v);
        }
        system.abilities().place_prescribed(simulation.state().t, &mut q, &mut v);
        let mut next = State { q, v, ..simulation.state().clone() };
        next.update_momenta(system);
        simulation.replace_state(next);
        self.show(py, running)
    }

    /// Writes the state into the arrays.
    fn show(&self, py: Python<'_>, running: &Running) -> PyResult<()> {
        let State { q, v, p, .. } = running.built.simulation.state();
        for (array, values) in self.shown.iter().zip([q, v, p]) {
            array.bind(py).readwrite().as_slice_mut().map_err(input)?.copy_from_slice(values);
        }
        Ok(())
    }

    /// Advances by so many steps, without holding the interpreter but for looks at Ctrl-C.
    fn advance(&self, running: &mut Running, steps: u64) -> PyResult<()> {
        let mut looked = Instant::now();
        for _ in 0..steps {
            if let Err(error) = running.built.simulation.advance() {
                return Err(self.raised().unwrap_or_else(|| step(error)));
            }
            if let Some(growth) = running.limit.check(&running.built, false) {
                let t = running.built.simulation.state().t;
                return Err(step(format!(
                    "unstable at t = {t} s: {growth}; take a shorter step or another integrator (scene.check() tells)"
                )));
            }
            if looked.elapsed() > LOOK {
                Python::attach(|py| py.check_signals())?;
                looked = Instant::now();
            }
        }
        Ok(())
    }

    /// The exception that a force of the user has raised.
    fn raised(&self) -> Option<PyErr> {
        self.raised.0.lock().ok()?.take()
    }

    /// A field of the cells at the present positions.
    fn field(&self, py: Python<'_>, field: CellField) -> PyResult<Vec<f64>> {
        let running = self.lock(py)?;
        let simulation = &running.built.simulation;
        Ok(output::cell_field(simulation.system().bodies(), field, &simulation.state().q))
    }
}

#[pymethods]
impl Simulation {
    /// Takes so many steps.
    fn step(&self, py: Python<'_>, steps: u64) -> PyResult<()> {
        let mut running = self.lock(py)?;
        let running = &mut *running;
        let done = py.detach(|| self.advance(running, steps));
        self.show(py, running)?;
        done
    }

    /// Positions, m.
    #[getter]
    fn q(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.shown[0].clone_ref(py)
    }

    /// Velocities, m/s.
    #[getter]
    fn v(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.shown[1].clone_ref(py)
    }

    /// Momenta, kg m/s.
    #[getter]
    fn p(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.shown[2].clone_ref(py)
    }

    /// Time, s.
    #[getter]
    fn t(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.built.simulation.state().t)
    }

    /// Length of a step, s.
    #[getter]
    fn time_step(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.built.simulation.step())
    }

    #[setter]
    fn set_time_step(&self, py: Python<'_>, h: f64) -> PyResult<()> {
        if !(h > 0.0 && h.is_finite()) {
            return Err(input(format!("a step of {h} s; give a positive number")));
        }
        self.lock(py)?.built.simulation.set_step(h);
        Ok(())
    }

    /// Steps done.
    #[getter]
    fn index(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.built.simulation.index())
    }

    /// Positions at rest, m.
    #[getter]
    fn rest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let flat = self.lock(py)?.built.rest_positions();
        arrays::rows(py, &flat)
    }

    /// Masses of the nodes, kg.
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.lock(py)?.built.simulation.system().node_masses().to_pyarray(py))
    }

    /// Cells by kind: the numbers of their nodes, of shape (m, nodes per cell).
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let running = self.lock(py)?;
        let found = PyDict::new(py);
        for block in output::cells(running.built.simulation.system().bodies()) {
            let flat: Vec<i64> = block.nodes.iter().map(|n| i64::from(*n)).collect();
            let rows = flat.len() / block.len().max(1);
            found.set_item(block.kind.name(), flat.to_pyarray(py).reshape([block.len(), rows])?)?;
        }
        Ok(found)
    }

    /// Names of the bodies, each with the range of its nodes.
    fn bodies(&self, py: Python<'_>) -> PyResult<Vec<(String, usize, usize)>> {
        let running = self.lock(py)?;
        let range = |body: &lilyan::scene::BuiltBody| {
            let range = body.dofs.range();
            (body.name.clone(), range.start, range.end)
        };
        Ok(running.built.bodies.iter().map(range).collect())
    }

    /// Triangles of the surfaces of all bodies of tets, anticlockwise from outside, by nodes.
    fn surface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let running = self.lock(py)?;
        let mut flat = Vec::new();
        for body in running.built.bodies.iter().filter(|body| !body.is_net()) {
            let triangles = &body.mesh().surface().triangles;
            flat.extend(triangles.iter().flatten().map(|v| i64::from(body.dofs.global(*v))));
        }
        flat.to_pyarray(py).reshape([flat.len() / 3, 3])
    }

    /// Energies and what entered and left, J.
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let running = self.lock(py)?;
        let simulation = &running.built.simulation;
        let (kinetic, parts) = simulation.energies();
        let (total, ledger) = (simulation.total_energy(), simulation.ledger());
        let energies = PyDict::new(py);
        for (name, value) in [
            ("kinetic", kinetic),
            ("elastic", parts.elastic),
            ("gravity", parts.gravity),
            ("other", parts.other),
            ("total", total),
            ("initial", ledger.initial),
            ("work_external", ledger.work_external),
            ("dissipated_physical", ledger.dissipated_physical),
            ("dissipated_numerical", ledger.dissipated_numerical(total)),
        ] {
            energies.set_item(name, value)?;
        }
        Ok(energies)
    }

    /// Linear momentum (kg m/s) and angular momentum about a point (kg m²/s).
    fn momentum(&self, py: Python<'_>, about: [f64; 3]) -> PyResult<([f64; 3], [f64; 3])> {
        Ok(self.lock(py)?.built.simulation.state().momenta(about))
    }

    /// Cauchy stress of each cell, Pa, of shape (m, 3, 3).
    fn stress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let flat = self.field(py, CellField::Stress)?;
        flat.to_pyarray(py).reshape([flat.len() / 9, 3, 3])
    }

    /// von Mises stress of each cell, Pa.
    fn von_mises<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(lilyan_solid::elements::von_mises(&self.field(py, CellField::Stress)?).to_pyarray(py))
    }

    /// Volume over volume at rest of each cell.
    fn volume_ratio<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.field(py, CellField::VolumeRatio)?.to_pyarray(py))
    }

    /// Forces on the nodes from all potentials, N: elastic, gravity, contact, dead loads; without inertia and damping.
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let running = self.lock(py)?;
        let State { t, q, .. } = running.built.simulation.state();
        let mut force = vec![0.0; q.len()];
        running.built.simulation.system().gradient(*t, q, &mut force);
        force.iter_mut().for_each(|f| *f = -*f);
        arrays::rows(py, &force)
    }

    /// Where the probes are, m.
    fn probes(&self, py: Python<'_>) -> PyResult<Vec<(String, [f64; 3])>> {
        let running = self.lock(py)?;
        let q = &running.built.simulation.state().q;
        Ok(running.built.probes.iter().map(|probe| (probe.name.clone(), probe.place(q))).collect())
    }

    /// What readers and the build have to say.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.lock(py)?.built.warnings.clone())
    }

    /// The state, the energy account and the memory of the method as bytes: all that is needed to continue to the bit.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let running = self.lock(py)?;
        let bytes = postcard::to_stdvec(&running.built.simulation.checkpoint()).map_err(step)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Continues from a checkpoint of the same scene.
    fn restore(&self, py: Python<'_>, checkpoint: &[u8]) -> PyResult<()> {
        let mut running = self.lock(py)?;
        let size = running.built.simulation.state().q.len();
        let saved = match postcard::take_from_bytes::<Checkpoint>(checkpoint) {
            Ok((saved, [])) if saved.state.q.len() == size => saved,
            Ok((_, [])) => return Err(input("the checkpoint belongs to another scene")),
            _ => return Err(input("these bytes are no checkpoint of this version of lilyan")),
        };
        running.built.simulation.restore(&saved).map_err(input)?;
        running.limit = GrowthLimit::new(&running.built);
        self.show(py, &running)
    }

    /// The same simulation once more. It shares the functions of the user's forces, and nothing else.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let checkpoint = self.checkpoint(py)?;
        let functions = self.functions.iter().map(|f| f.clone_ref(py)).collect();
        let copy = Self::new(py, &self.scene, functions)?;
        copy.restore(py, checkpoint.as_bytes())?;
        Ok(copy)
    }
}
