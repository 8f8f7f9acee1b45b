//! A simulation that is stepped from Python.

use crate::arrays;
use crate::errors::{input, step};
use crate::forces::{PythonForce, RaisedError};
use crate::running::{Recorded, Running};
use lilyan::body::Force;
use lilyan::integrator::System;
use lilyan::scene::{Built, Scene};
use lilyan::simulation::State;
use lilyan_scene::build::build_with_forces;
use lilyan_solid::elements::CellField;
use lilyan_solid::output;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard};

/// A simulation with arrays that always show its state, and whose changes the simulation takes over.
#[pyclass(frozen, module = "lilyan._lilyan")]
pub struct Simulation {
    running: Mutex<Running>,
    /// q (m), v (m/s), p (kg m/s) and the external forces (N), each of shape (n, 3).
    shown: [Py<PyArray2<f64>>; 4],
    functions: Vec<Py<PyAny>>,
    raised: Vec<RaisedError>,
}

const NAMES: [&str; 4] = ["q", "v", "p", "external_forces"];

/// The simulation of a scene with forces of Python functions, whose exceptions go to the first of `raised`; the others are of materials.
fn built(py: Python<'_>, scene: &Scene, functions: &[Py<PyAny>], raised: &[RaisedError]) -> PyResult<Built> {
    let mut forces: Vec<Box<dyn Force>> = Vec::new();
    for function in functions {
        forces.push(Box::new(PythonForce::new(function.clone_ref(py), raised[0].clone())));
    }
    let built = py.detach(|| build_with_forces(scene, forces));
    built.map_err(|error| raised.iter().find_map(RaisedError::take).unwrap_or_else(|| input(error)))
}

/// Where exceptions go: first those of forces, then those of materials.
fn with_forces(of_materials: &[RaisedError]) -> Vec<RaisedError> {
    std::iter::once(RaisedError::default()).chain(of_materials.iter().cloned()).collect()
}

impl Simulation {
    /// The simulation of a scene with forces of the user; `of_materials`: where functions of its materials leave their exceptions.
    pub fn new(
        py: Python<'_>,
        scene: &Scene,
        of_materials: &[RaisedError],
        functions: Vec<Py<PyAny>>,
    ) -> PyResult<Self> {
        let raised = with_forces(of_materials);
        let built = built(py, scene, &functions, &raised)?;
        Self::with(py, scene, built, functions, raised)
    }

    /// A simulation that is built already, without forces of the user.
    pub fn of(py: Python<'_>, scene: &Scene, of_materials: &[RaisedError], built: Built) -> PyResult<Self> {
        Self::with(py, scene, built, Vec::new(), with_forces(of_materials))
    }

    fn with(
        py: Python<'_>,
        scene: &Scene,
        built: Built,
        functions: Vec<Py<PyAny>>,
        raised: Vec<RaisedError>,
    ) -> PyResult<Self> {
        let running = py.detach(|| Running::new(scene.clone(), built));
        let State { q, v, p, .. } = running.state();
        let array = |x: &[f64]| arrays::rows(py, x).map(Bound::unbind);
        let shown = [array(q)?, array(v)?, array(p)?, array(&running.external)?];
        Ok(Self { running: Mutex::new(running), shown, functions, raised })
    }

    /// The scene with its changes, and where functions of its materials leave their exceptions.
    pub fn scene(&self, py: Python<'_>) -> PyResult<(Scene, Vec<RaisedError>)> {
        Ok((self.lock(py)?.scene.clone(), self.raised[1..].to_vec()))
    }

    /// The simulation, after changes that were made in its arrays.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Running>> {
        // Another thread that holds it may need the interpreter to go on.
        let mut running = self
            .running
            .lock_py_attached(py)
            .map_err(|_| step("an earlier call failed in the middle of a step; make a new simulation"))?;
        if let Err(error) = self.take_changes(py, &mut running) {
            // What cannot be taken over is taken back.
            self.show(py, &running)?;
            return Err(error);
        }
        Ok(running)
    }

    /// Takes over what was written into the arrays since the last step. The change of energy counts as external work.
    fn take_changes(&self, py: Python<'_>, running: &mut Running) -> PyResult<()> {
        let State { q, v, p, .. } = running.state();
        let mut changed = [false; 4];
        for ((array, now), changed) in self.shown.iter().zip([q, v, p, &running.external]).zip(&mut changed) {
            let array = array.bind(py).readonly();
            *changed = array.as_slice().map_err(input)? != &now[..];
        }
        if changed == [false; 4] {
            return Ok(());
        }
        let length = q.len();
        let read = |k: usize| arrays::flat(self.shown[k].bind(py), NAMES[k], length);
        if changed[3] {
            let forces = read(3)?;
            py.detach(|| running.set_external(forces));
        }
        if changed[..3] == [false; 3] {
            return Ok(());
        }
        let (q, mut v, p) = (read(0)?, read(1)?, read(2)?);
        if changed[2] && !changed[1] {
            let mass = running.built.simulation.system().mass();
            mass.solve(&vec![false; p.len()], &p, &mut v);
        }
        py.detach(|| running.replace_state(q, v))?;
        self.show(py, running)
    }

    /// Writes the state into the arrays.
    fn show(&self, py: Python<'_>, running: &Running) -> PyResult<()> {
        let State { q, v, p, .. } = running.state();
        for (array, values) in self.shown.iter().zip([q, v, p, &running.external]) {
            array.bind(py).readwrite().as_slice_mut().map_err(input)?.copy_from_slice(values);
        }
        Ok(())
    }

    /// Computes something of the simulation without the interpreter, which functions of materials may need in other threads.
    fn compute<T: Send>(&self, py: Python<'_>, f: impl FnOnce(&mut Running) -> T + Send) -> PyResult<T> {
        let mut running = self.lock(py)?;
        let running = &mut *running;
        Ok(py.detach(|| f(running)))
    }

    /// A field of the cells at the present positions.
    fn field(&self, py: Python<'_>, field: CellField) -> PyResult<Vec<f64>> {
        self.compute(py, |running| {
            output::cell_field(running.built.simulation.system().bodies(), field, &running.state().q)
        })
    }
}

#[pymethods]
impl Simulation {
    /// Takes so many steps.
    fn step(&self, py: Python<'_>, steps: u64) -> PyResult<()> {
        let mut running = self.lock(py)?;
        let running = &mut *running;
        let done = py.detach(|| running.advance(steps, &self.raised));
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

    /// Forces on the nodes from outside, N.
    #[getter]
    fn external_forces(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.shown[3].clone_ref(py)
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
        let (kinetic, parts, total, ledger) = self.compute(py, |running| {
            let simulation = &running.built.simulation;
            let (kinetic, parts) = simulation.energies();
            (kinetic, parts, simulation.total_energy(), *simulation.ledger())
        })?;
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
            ("dissipated_friction", ledger.dissipated_friction),
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
        let force = self.compute(py, |running| {
            let State { t, q, .. } = running.state();
            let mut force = vec![0.0; q.len()];
            running.built.simulation.system().gradient(*t, q, &mut force);
            force.iter_mut().for_each(|f| *f = -*f);
            force
        })?;
        arrays::rows(py, &force)
    }

    /// Forces of contacts on the nodes, N.
    fn contact_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let forces = self.compute(py, |running| running.contact_forces())?;
        arrays::rows(py, &forces)
    }

    /// The force of each pin on its body, N.
    fn pin_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let forces = self.compute(py, |running| running.pin_forces())?;
        arrays::rows(py, &forces)
    }

    /// The nodes of each pin.
    fn pins<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
        let running = self.lock(py)?;
        let nodes =
            |pin: &lilyan_solid::Pin| -> Vec<i64> { pin.nodes.iter().map(|n| i64::from(*n)).collect() };
        Ok(running.built.simulation.system().pins().iter().map(|pin| nodes(pin).to_pyarray(py)).collect())
    }

    /// Lets pinned nodes move to these places (k, 3) within a duration, s.
    fn move_pins(
        &self,
        py: Python<'_>,
        nodes: Vec<u32>,
        places: Vec<[f64; 3]>,
        duration: f64,
    ) -> PyResult<()> {
        self.compute(py, |running| running.move_pins(&nodes, &places, duration))?
    }

    /// Goes on with other values of some keys of the scene, each a text "key=value".
    fn change(&self, py: Python<'_>, settings: Vec<String>) -> PyResult<()> {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let mut running = self.lock(py)?;
        let running = &mut *running;
        let scene = running.scene.with_settings(&settings).map_err(input)?;
        let next = built(py, &scene, &self.functions, &self.raised)?;
        py.detach(|| running.change(scene, next))?;
        self.show(py, running)
    }

    /// Takes the present state into the replay.
    fn record(&self, py: Python<'_>) -> PyResult<()> {
        self.compute(py, |running| running.record())
    }

    /// A page with the replay, with plots of energies, or both.
    fn page(&self, py: Python<'_>, motion: bool, plots: bool) -> PyResult<String> {
        self.compute(py, |running| running.page(motion, plots))
    }

    /// Recorded times, s, and kinetic, elastic, gravity and total energies, J.
    fn recorded(&self, py: Python<'_>) -> PyResult<Option<Recorded<Vec<f64>>>> {
        Ok(self.lock(py)?.recorded())
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
        Ok(PyBytes::new(py, &self.lock(py)?.checkpoint()?))
    }

    /// Continues from a checkpoint of the same scene.
    fn restore(&self, py: Python<'_>, checkpoint: &[u8]) -> PyResult<()> {
        let mut running = self.lock(py)?;
        let running = &mut *running;
        py.detach(|| running.restore(checkpoint))?;
        self.show(py, running)
    }

    /// The same simulation once more. It shares the functions of the user's forces, and nothing else.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let (scene, checkpoint) = {
            let running = self.lock(py)?;
            (running.scene.clone(), running.checkpoint()?)
        };
        let functions = self.functions.iter().map(|f| f.clone_ref(py)).collect();
        let copy = Self::new(py, &scene, &self.raised[1..], functions)?;
        copy.restore(py, &checkpoint)?;
        Ok(copy)
    }
}
