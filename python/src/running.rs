//! A simulation of Python between its steps: its built scene, and what was changed by hand.

use crate::errors::{input, step};
use crate::forces::RaisedError;
use lilyan::integrator::System;
use lilyan::scene::{Built, Scene};
use lilyan::simulation::{Checkpoint, State};
use lilyan_report::{Plot, Replay, Series, render_motion};
use lilyan_scene::schema::FieldName;
use lilyan_solid::PinTarget;
use lilyan_study::run::forces::{self, StepStart};
use lilyan_study::run::{GrowthLimit, at_vertices, replay};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often a long call looks whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(100);

/// A simulation and what is known of its last step.
pub struct Running {
    /// The scene with its changes.
    pub scene: Scene,
    /// The simulation with its bodies.
    pub built: Built,
    limit: GrowthLimit,
    /// The state before the last step, for the forces of pins and of friction.
    before: StepStart,
    /// Forces on the nodes that the user has set, N, flat.
    pub external: Vec<f64>,
    recording: Option<Recording>,
}

/// Frames and energies that were recorded for a replay and for plots.
struct Recording {
    replay: Replay,
    t: Vec<f64>,
    /// Kinetic, elastic, gravity, total; J.
    energies: [Vec<f64>; 4],
}

/// All that is needed to continue to the bit.
#[derive(Serialize, Deserialize)]
struct Saved {
    checkpoint: Checkpoint,
    /// Places that pins refer to, m.
    start: Vec<f64>,
    external: Vec<f64>,
    targets: Vec<SavedTarget>,
}

/// A node, the start of its way (m, s) and the end of it.
type SavedTarget = (u32, ([f64; 3], f64), ([f64; 3], f64));

/// Recorded times (s), and kinetic, elastic, gravity and total energies (J).
pub type Recorded<V> = (V, [V; 4]);

impl Running {
    /// The simulation of a scene at its start.
    pub fn new(scene: Scene, built: Built) -> Self {
        let limit = GrowthLimit::new(&built);
        let external = vec![0.0; built.simulation.state().q.len()];
        let mut running =
            Self { scene, built, limit, before: StepStart::default(), external, recording: None };
        running.forget_step();
        running
    }

    /// The present state.
    pub fn state(&self) -> &State {
        self.built.simulation.state()
    }

    /// After a change by hand there is no last step that explains the state.
    fn forget_step(&mut self) {
        self.before.note(self.built.simulation.state());
    }

    /// Replaces the state. The change of energy counts as external work.
    pub fn replace_state(&mut self, mut q: Vec<f64>, mut v: Vec<f64>) -> PyResult<()> {
        let simulation = &mut self.built.simulation;
        let system = simulation.system();
        let t = simulation.state().t;
        system.abilities().place_prescribed(t, &mut q, &mut v);
        if !system.energy(t, &q).is_finite() {
            return Err(input(
                "q: there the energy is infinite: an element is inverted, or surfaces intersect",
            ));
        }
        let mut next = State { q, v, ..simulation.state().clone() };
        next.update_momenta(system);
        simulation.replace_state(next);
        self.forget_step();
        Ok(())
    }

    /// Sets the forces on the nodes, N, flat.
    pub fn set_external(&mut self, forces: Vec<f64>) {
        let acts = forces.iter().any(|f| *f != 0.0);
        let given = acts.then(|| forces.clone());
        self.built.simulation.change_loads(|model| model.set_nodal_forces(given));
        self.external = forces;
    }

    /// Lets pinned nodes move to these places within a duration (s), from now on.
    pub fn move_pins(&mut self, nodes: &[u32], places: &[[f64; 3]], duration: f64) -> PyResult<()> {
        let simulation = &mut self.built.simulation;
        let (model, State { t, q, .. }) = (simulation.system(), simulation.state());
        let mut held = vec![false; q.len()];
        if let Some(prescribed) = model.abilities().prescribed {
            prescribed.mark_prescribed(*t, &mut held);
        }
        let mut targets = model.pin_targets().clone();
        for (&node, &to) in nodes.iter().zip(places) {
            let first = 3 * node as usize;
            if !held.get(first..first + 3).is_some_and(|axes| axes.contains(&true)) {
                return Err(input(format!("node {node} is not pinned; sim.pins lists the nodes that are")));
            }
            let from = [q[first], q[first + 1], q[first + 2]];
            targets.insert(node, PinTarget { from: (from, *t), to: (to, t + duration) });
        }
        simulation.change_loads(|model| model.set_pin_targets(targets));
        Ok(())
    }

    /// Goes on with a changed scene that has the same nodes. The change of energy counts as external work.
    pub fn change(&mut self, scene: Scene, next: Built) -> PyResult<()> {
        let (old, new) = (self.built.rest_positions().len(), next.rest_positions().len());
        if old != new {
            return Err(input(format!(
                "the change gives {} nodes instead of {}; a running simulation keeps its nodes, make a new one",
                new / 3,
                old / 3
            )));
        }
        let Built { simulation, bodies, probes, constraints, conserved, symmetries, notes, warnings } = next;
        let h = simulation.step();
        let (mut model, integrator, _) = simulation.into_parts();
        let present = &self.built.simulation;
        let State { t, q, v, .. } = present.state();
        let (t, mut q, mut v) = (*t, q.clone(), v.clone());
        // What is pinned from now on is held where it is.
        model.hold_still_at(&q);
        let mut targets = present.system().pin_targets().clone();
        targets.retain(|node, _| model.pins().iter().any(|pin| pin.nodes.contains(node)));
        model.set_pin_targets(targets);
        model.set_nodal_forces(self.external.iter().any(|f| *f != 0.0).then(|| self.external.clone()));
        model.abilities().place_prescribed(t, &mut q, &mut v);
        if !model.energy(t, &q).is_finite() {
            return Err(input(
                "with the change the energy is infinite: an element is inverted, or surfaces intersect",
            ));
        }
        let method = scene.integrator != self.scene.integrator;
        let simulation = &mut self.built.simulation;
        simulation.change_system(|system| *system = model);
        let mut state = State::new(simulation.system(), q, v);
        state.t = t;
        simulation.replace_state(state);
        if method {
            simulation.set_integrator(integrator);
        }
        if h != simulation.step() && scene.time.step != self.scene.time.step {
            simulation.set_step(h);
        }
        let built = &mut self.built;
        (built.bodies, built.probes, built.constraints) = (bodies, probes, constraints);
        (built.conserved, built.symmetries) = (conserved, symmetries);
        (built.notes, built.warnings) = (notes, warnings);
        self.scene = scene;
        self.limit = GrowthLimit::new(&self.built);
        self.forget_step();
        Ok(())
    }

    /// Advances by so many steps, without holding the interpreter but for looks at Ctrl-C.
    pub fn advance(&mut self, steps: u64, raised: &[RaisedError]) -> PyResult<()> {
        let mut looked = Instant::now();
        for _ in 0..steps {
            self.before.note(self.built.simulation.state());
            if let Err(error) = self.built.simulation.advance() {
                return Err(raised.iter().find_map(RaisedError::take).unwrap_or_else(|| step(error)));
            }
            if let Some(growth) = self.limit.check(&self.built, false) {
                let t = self.state().t;
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

    /// The force of each pin on its body in the last step, N.
    pub fn pin_forces(&self) -> Vec<f64> {
        let mut row = forces::row(&self.built, &self.before);
        row.truncate(3 * self.built.simulation.system().pins().len());
        row
    }

    /// Forces of contacts on the nodes, N, as `forces.csv` has them: friction is the mean of the last step, and with
    /// `energy-momentum` the whole contact is.
    pub fn contact_forces(&self) -> Vec<f64> {
        forces::contact_forces(&self.built, &self.before)
    }

    /// Takes the present state into the replay and the plots.
    pub fn record(&mut self) {
        let Self { scene, built, recording, .. } = self;
        let new = || Recording { replay: replay(scene, built), t: Vec::new(), energies: Default::default() };
        let recording = recording.get_or_insert_with(new);
        let State { t, q, .. } = built.simulation.state();
        if recording.t.last() == Some(t) {
            return;
        }
        recording.replay.push(*t, q, &[&at_vertices(built, FieldName::VonMises)]);
        recording.t.push(*t);
        let (kinetic, parts) = built.simulation.energies();
        let values = [kinetic, parts.elastic, parts.gravity, built.simulation.total_energy()];
        recording.energies.iter_mut().zip(values).for_each(|(curve, value)| curve.push(value));
    }

    /// A page with the replay of what was recorded, with plots of it, or both.
    pub fn page(&self, motion: bool, plots: bool) -> String {
        let now;
        let recording = match &self.recording {
            Some(recording) => recording,
            None => {
                let mut replay = replay(&self.scene, &self.built);
                replay.push(
                    self.state().t,
                    &self.state().q,
                    &[&at_vertices(&self.built, FieldName::VonMises)],
                );
                now = Recording { replay, t: Vec::new(), energies: Default::default() };
                &now
            }
        };
        let names = ["kinetic", "elastic", "gravity", "total"];
        let curves = names.into_iter().zip(&recording.energies);
        let shown = curves.filter(|(name, y)| *name == "total" || y.iter().any(|y| *y != 0.0));
        let series = shown.map(|(name, y)| Series::line(name, &recording.t, y)).collect();
        let plots = match plots && recording.t.len() > 1 {
            true => vec![Plot::over_time("Energy", "energy, J", series)],
            false => Vec::new(),
        };
        render_motion(&self.scene.title, motion.then_some(&recording.replay), &plots)
    }

    /// What was recorded.
    pub fn recorded(&self) -> Option<Recorded<Vec<f64>>> {
        self.recording.as_ref().map(|r| (r.t.clone(), r.energies.clone()))
    }

    /// All that is needed to continue to the bit, as bytes.
    pub fn checkpoint(&self) -> PyResult<Vec<u8>> {
        let model = self.built.simulation.system();
        let target = |(node, target): (&u32, &PinTarget)| (*node, target.from, target.to);
        let saved = Saved {
            checkpoint: self.built.simulation.checkpoint(),
            start: model.start().to_vec(),
            external: self.external.clone(),
            targets: model.pin_targets().iter().map(target).collect(),
        };
        postcard::to_stdvec(&saved).map_err(step)
    }

    /// Continues from a checkpoint of the same scene. After an error everything is as before.
    pub fn restore(&mut self, bytes: &[u8]) -> PyResult<()> {
        let size = self.state().q.len();
        let saved = match postcard::take_from_bytes::<Saved>(bytes) {
            Ok((saved, [])) if saved.checkpoint.state.q.len() == size => saved,
            Ok((_, [])) => return Err(input("the checkpoint belongs to another scene")),
            _ => return Err(input("these bytes are no checkpoint of this version of lilyan")),
        };
        let Saved { checkpoint, start, external, targets } = saved;
        if start.len() != size || external.len() != size {
            return Err(input("the checkpoint belongs to another scene"));
        }
        let simulation = &mut self.built.simulation;
        let own = simulation.checkpoint();
        let targets: BTreeMap<u32, PinTarget> =
            targets.into_iter().map(|(node, from, to)| (node, PinTarget { from, to })).collect();
        let forces = external.iter().any(|f| *f != 0.0).then(|| external.clone());
        if let Err(error) = simulation.restore(&checkpoint) {
            simulation.restore(&own).map_err(step)?;
            return Err(input(format!("the checkpoint belongs to another scene: {error}")));
        }
        simulation.change_loads(|model| {
            model.set_start(start);
            model.set_nodal_forces(forces);
            model.set_pin_targets(targets);
        });
        // The change of the loads belongs to the checkpoint.
        simulation.restore(&checkpoint).map_err(step)?;
        self.external = external;
        self.limit = GrowthLimit::new(&self.built);
        self.forget_step();
        Ok(())
    }
}
