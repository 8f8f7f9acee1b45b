//! The simulation: a system, its state and its integrator. It advances by nominal steps, halves steps that fail, and accounts
//! for the energy that enters and leaves.

use crate::StepLength;
use crate::fit::Fitting;
use crate::integrators;
use crate::ledger::{EnergyFlow, Ledger};
use crate::start;
use crate::timeline::Timeline;
use crate::{Effort, EnergyParts, Integrator, Memory, MemoryError, State, StepError, StepStats, System};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A simulation: a system with its state, integrator and energy account.
///
/// All changes go through methods that keep the account correct: every change from outside counts as external work in the
/// [`Ledger`] and resets the integrator.
pub struct Simulation<S: System> {
    system: S,
    integrator: Box<dyn Integrator>,
    state: State,
    timeline: Timeline,
    ledger: Ledger,
    constraint_forces: Vec<f64>,
    max_halvings: u32,
    /// The modes of fitted bodies.
    fitting: Option<Fitting>,
    /// Cached kinetic energy and potential energies of the state; every change clears them.
    energies: OnceLock<(f64, EnergyParts)>,
    /// The state before the current step. It is a field so that its memory is reused.
    before: State,
    /// Whether a steep start is resolved ([`start`]).
    resolves_start: bool,
}

/// Statistics of a nominal step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepRecord {
    /// Newton and linear iterations, over all substeps.
    pub stats: StepStats,
    /// Steps of the integrator: 1, unless steps failed or the step length is adaptive; 0 if the time was reached already.
    pub substeps: u32,
    /// Their total length, s.
    pub advanced: f64,
    /// Whether a step failed and was halved.
    pub halved: bool,
}

/// Everything that a simulation needs to continue bit by bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Positions, velocities and momenta.
    pub state: State,
    /// Nominal times.
    pub timeline: Timeline,
    /// Energy that entered and left.
    pub ledger: Ledger,
    /// The memory of the integrator.
    pub memory: Memory,
    /// Forces of the constraints in the last step, N.
    pub constraint_forces: Vec<f64>,
    /// The memory of the modal fits, if there are any.
    pub fits: Option<Memory>,
}

/// The state to which a failed nominal step returns.
struct Snapshot {
    state: State,
    ledger: Ledger,
    memory: Memory,
    fits: Option<Memory>,
}

impl<S: System> Simulation<S> {
    /// A simulation that starts at time 0 with nominal step `step`, s.
    pub fn new(system: S, integrator: Box<dyn Integrator>, state: State, step: f64) -> Self {
        let fitting = Fitting::new(&system, &state);
        let mut simulation = Self {
            fitting,
            system,
            integrator,
            state,
            timeline: Timeline::new(step),
            ledger: Ledger::default(),
            constraint_forces: Vec::new(),
            max_halvings: 10,
            energies: OnceLock::new(),
            before: State::default(),
            resolves_start: true,
        };
        simulation.ledger.initial = simulation.total_energy();
        simulation
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The integrator.
    pub fn integrator(&self) -> &dyn Integrator {
        self.integrator.as_ref()
    }

    /// The present state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Nominal step, s.
    pub fn step(&self) -> f64 {
        self.timeline.step
    }

    /// Number of nominal steps done.
    pub fn index(&self) -> u64 {
        self.timeline.index
    }

    /// The energy account since the start.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Mean force of every constraint in the last nominal step, N; empty if none is in force.
    pub fn constraint_forces(&self) -> &[f64] {
        &self.constraint_forces
    }

    /// Largest number of times that a failing step is halved.
    pub fn max_halvings(&self) -> u32 {
        self.max_halvings
    }

    /// The tracked modes of fitted bodies, if there are any.
    pub fn fitting(&self) -> Option<&Fitting> {
        self.fitting.as_ref()
    }

    /// The system, the integrator and the state, for steps without energy account.
    pub fn into_parts(self) -> (S, Box<dyn Integrator>, State) {
        (self.system, self.integrator, self.state)
    }

    /// Kinetic energy and potential energy by kind, J. They are evaluated once per state.
    pub fn energies(&self) -> (f64, EnergyParts) {
        *self.energies.get_or_init(|| {
            let kinetic = self.state.kinetic(&self.system);
            (kinetic, self.potential_energies(self.state.t, &self.state.q))
        })
    }

    /// Potential energy by kind at a time and place, J.
    fn potential_energies(&self, t: f64, q: &[f64]) -> EnergyParts {
        let mut parts = match &self.fitting {
            Some(fitting) => fitting.view(&self.system).energy_parts(t, q),
            None => self.system.energy_parts(t, q),
        };
        if let Some(terms) = self.system.abilities().terms {
            parts.other += terms.stored_energy(&self.state.terms, q);
        }
        parts
    }

    /// The discrete energy of the way from an earlier time and place to the state, J \[kharevych2010, (3.21)\]:
    /// ½vᵀMv + W(½(q₀ + q₁)), v = (q₁ − q₀)/(t₁ − t₀). The total energy if no time has passed; infinite where the middle is infeasible.
    pub fn discrete_energy(&self, t0: f64, q0: &[f64]) -> f64 {
        let State { t, q, .. } = &self.state;
        if *t == t0 {
            return self.total_energy();
        }
        let v: Vec<f64> = q.iter().zip(q0).map(|(a, b)| (a - b) / (t - t0)).collect();
        let middle: Vec<f64> = q.iter().zip(q0).map(|(a, b)| 0.5 * (a + b)).collect();
        let mut momentum = vec![0.0; v.len()];
        self.system.mass().mul(&v, &mut momentum);
        let kinetic: f64 = 0.5 * v.iter().zip(&momentum).map(|(v, p)| v * p).sum::<f64>();
        kinetic + self.potential_energies(0.5 * (t + t0), &middle).total()
    }

    /// Kinetic plus potential energy, J.
    pub fn total_energy(&self) -> f64 {
        let (kinetic, parts) = self.energies();
        kinetic + parts.total()
    }

    /// Takes the first step as a whole even where damping makes it steep, to measure the method itself.
    pub(crate) fn take_whole_steps(&mut self) {
        self.resolves_start = false;
    }

    /// Replaces the state. The change of energy counts as external work. The integrator is reset.
    ///
    /// # Panics
    /// If the number of unknowns is another.
    pub fn replace_state(&mut self, state: State) {
        assert_eq!(state.q.len(), self.state.q.len(), "a state of another system");
        self.account_for(|simulation| {
            if state.t != simulation.state.t {
                simulation.timeline.continue_from(state.t, simulation.timeline.step);
            }
            simulation.state = state;
            if let Some(fitting) = &mut simulation.fitting {
                fitting.rebase(&simulation.system, simulation.state.t, &simulation.state.q);
            }
        });
    }

    /// Changes the system: materials, masses, Dirichlet nodes, but not the number of unknowns. The change of energy at the
    /// present state counts as external work. Velocities stay; momenta are recomputed.
    ///
    /// # Panics
    /// If the number of unknowns changes.
    pub fn change_system<R>(&mut self, change: impl FnOnce(&mut S) -> R) -> R {
        self.account_for(|simulation| {
            let masses = simulation.system.mass().diagonal().to_vec();
            let result = change(&mut simulation.system);
            assert_eq!(simulation.system.dofs(), simulation.state.q.len(), "a system of another size");
            if simulation.system.mass().diagonal() != masses {
                simulation.state.update_momenta(&simulation.system);
            }
            simulation.fitting = Fitting::new(&simulation.system, &simulation.state);
            result
        })
    }

    /// Changes external loads only, e.g. the force of a user's hand. Stiffness, masses and fits of the bodies stay. The
    /// change of energy at the present state counts as external work.
    pub fn change_loads<R>(&mut self, change: impl FnOnce(&mut S) -> R) -> R {
        self.account_for(|simulation| change(&mut simulation.system))
    }

    /// Continues with another nominal step, s. The integrator is reset, since multistep methods become unstable if the step
    /// grows much.
    pub fn set_step(&mut self, step: f64) {
        self.timeline.continue_from(self.timeline.time_of(self.timeline.index), step);
        self.integrator.reset();
    }

    /// Continues with another integrator.
    pub fn set_integrator(&mut self, integrator: Box<dyn Integrator>) {
        self.integrator = integrator;
        // The previous integrator, if adaptive, stopped near a nominal time, not at it.
        if self.integrator.step_length() != StepLength::Adaptive
            && self.state.t != self.timeline.time_of(self.timeline.index)
        {
            self.timeline.continue_from(self.state.t, self.timeline.step);
        }
    }

    /// Reduces the effort per step below what the options ask for; see [`Integrator::set_effort`].
    pub fn set_effort(&mut self, effort: f64) -> Option<Effort> {
        self.integrator.set_effort(effort)
    }

    /// The multiple of the nominal step that is nearest to `t`, s.
    pub fn nearest_time(&self, t: f64) -> f64 {
        (t / self.timeline.step).round() * self.timeline.step
    }

    /// Restarts from a state, at the multiple of the nominal step nearest to its time. The energy account begins with its
    /// energy.
    ///
    /// # Panics
    /// If the number of unknowns is another.
    pub fn restart(&mut self, mut state: State) {
        let step = self.timeline.step;
        let index = (state.t / step).round() as u64;
        self.timeline = Timeline { index, ..Timeline::new(step) };
        state.t = self.timeline.time_of(index);
        self.replace_state(state);
        self.constraint_forces.clear();
        self.ledger = Ledger { initial: self.total_energy(), ..Ledger::default() };
    }

    /// Applies a change from outside. The change of energy counts as external work. The integrator is reset.
    fn account_for<R>(&mut self, change: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.total_energy();
        let result = change(self);
        self.energies.take();
        self.integrator.reset();
        self.ledger.work_external += self.total_energy() - before;
        result
    }

    /// One nominal step. A step that fails is halved, repeatedly, up to [`Simulation::max_halvings`] times. On failure the
    /// simulation is unchanged.
    ///
    /// An adaptive integrator steps until the nominal time is reached or passed. `state().t` is then its actual time, and
    /// there is no step if the nominal time was passed already.
    pub fn advance(&mut self) -> Result<StepRecord, StepError> {
        if let Some(reason) = integrators::refusal(self.integrator.as_ref(), &self.system) {
            return Err(StepError::Refused { reason });
        }
        self.energies.take();
        let mut record = StepRecord::default();
        let step = self.timeline.step;
        let nominal = self.timeline.time_of(self.timeline.index + 1);
        let pace = self.integrator.step_length();
        if pace != StepLength::Adaptive || nominal - self.state.t > 1e-9 * step {
            self.constraint_forces.clear();
        }
        if pace == StepLength::Fixed {
            self.fixed_step(step, &mut record)?;
            record.advanced = step;
        } else {
            let snapshot = self.snapshot();
            while nominal - self.state.t > 1e-9 * step {
                let remaining = nominal - self.state.t;
                let h = if pace == StepLength::Adaptive { step } else { remaining };
                if let Err(error) = self.step_with_halving(h, &mut record) {
                    self.roll_back(snapshot);
                    return Err(error);
                }
            }
            record.advanced = self.state.t - snapshot.state.t;
        }
        // Impulses become mean forces. If no step was due, the forces of the last one stay.
        if record.substeps > 0 {
            self.constraint_forces.iter_mut().for_each(|force| *force /= record.advanced);
        }
        self.timeline.index += 1;
        if pace != StepLength::Adaptive {
            self.state.t = nominal;
        }
        Ok(record)
    }

    /// One step of the integrator, or in a steep start ([`start`]) a sequence of steps that grow.
    fn fixed_step(&mut self, h: f64, record: &mut StepRecord) -> Result<(), StepError> {
        let first = self.timeline.index == 0 && self.resolves_start && !self.integrator.claims().explicit;
        let halvings = if first { start::halvings(&self.system, &self.state, h) } else { 0 };
        if halvings == 0 {
            return self.step_with_halving(h, record);
        }
        tracing::debug!(halvings, "damping makes the start steep");
        let snapshot = self.snapshot();
        for k in std::iter::once(halvings).chain((1..=halvings).rev()) {
            if let Err(error) = self.step_with_halving(h * 0.5f64.powi(k), record) {
                self.roll_back(snapshot);
                return Err(error);
            }
        }
        Ok(())
    }

    /// One step of the integrator, halved where it fails.
    fn step_with_halving(&mut self, h: f64, record: &mut StepRecord) -> Result<(), StepError> {
        if let Err(first) = self.single_step(h, record) {
            // The snapshot can be taken here, since a failed step changes nothing.
            let snapshot = self.snapshot();
            record.halved = true;
            if let Err(last) = self.two_halves(h, 1, first, record) {
                self.roll_back(snapshot);
                return Err(last);
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            state: self.state.clone(),
            ledger: self.ledger,
            memory: self.integrator.memory(),
            fits: self.fitting.as_ref().map(Fitting::memory),
        }
    }

    fn roll_back(&mut self, snapshot: Snapshot) {
        self.restore_snapshot(snapshot).expect("a snapshot belongs to this simulation");
    }

    /// Restores a snapshot.
    fn restore_snapshot(&mut self, snapshot: Snapshot) -> Result<(), MemoryError> {
        let Snapshot { state, ledger, memory, fits } = snapshot;
        if let (Some(fitting), Some(fits)) = (&mut self.fitting, &fits) {
            fitting.restore(fits)?;
        }
        self.integrator.restore(&memory, &state)?;
        (self.state, self.ledger) = (state, ledger);
        self.energies.take();
        Ok(())
    }

    /// Two halves of a step that failed because of `error`. Each is halved again if it fails.
    fn two_halves(
        &mut self,
        h: f64,
        halvings: u32,
        error: StepError,
        record: &mut StepRecord,
    ) -> Result<(), StepError> {
        if halvings > self.max_halvings {
            return Err(error);
        }
        for _ in 0..2 {
            if let Err(error) = self.single_step(0.5 * h, record) {
                self.two_halves(0.5 * h, halvings + 1, error, record)?;
            }
        }
        Ok(())
    }

    /// One step of the integrator. It updates the energy account and the constraint impulses.
    fn single_step(&mut self, h: f64, record: &mut StepRecord) -> Result<(), StepError> {
        let _span = tracing::debug_span!("step", t = self.state.t, h).entered();
        let has_energy_flow = EnergyFlow::is_possible(&self.system);
        if has_energy_flow {
            self.before.clone_from(&self.state);
        }
        let stats = match &mut self.fitting {
            None => self.integrator.step(&self.system, &mut self.state, h),
            Some(fitting) => {
                fitting.refresh(&self.system, self.state.t + h, &self.state.q);
                self.integrator.step(&fitting.view(&self.system), &mut self.state, h)
            }
        };
        let stats = stats.inspect_err(|error| tracing::debug!(%error, "failed"))?;
        tracing::debug!(
            newton_iterations = stats.newton_iterations,
            linear_iterations = stats.linear_iterations,
            "done"
        );
        record.substeps += 1;
        record.stats.add(stats);
        let impulses = self
            .integrator
            .constraint_solver()
            .map_or(&[][..], |constraint_solver| constraint_solver.impulses());
        self.constraint_forces.resize(self.constraint_forces.len().max(impulses.len()), 0.0);
        for (force, impulse) in self.constraint_forces.iter_mut().zip(impulses) {
            *force += impulse;
        }
        if has_energy_flow {
            let fixed = self.integrator.step_length() == StepLength::Fixed;
            let h = if fixed { h } else { self.state.t - self.before.t };
            let fitted = self.fitting.as_ref().map(|fitting| fitting.view(&self.system));
            let system: &dyn System = match &fitted {
                Some(fitted) => fitted,
                None => &self.system,
            };
            let integrator = self.integrator.as_ref();
            self.ledger.add(EnergyFlow::of_step(system, integrator, &self.before, &self.state, h));
        }
        Ok(())
    }

    /// Everything that is needed to continue bit by bit.
    pub fn checkpoint(&self) -> Checkpoint {
        let Snapshot { state, ledger, memory, fits } = self.snapshot();
        let constraint_forces = self.constraint_forces.clone();
        Checkpoint { state, timeline: self.timeline, ledger, memory, constraint_forces, fits }
    }

    /// Continues from a checkpoint of the same system and integrator. After an error the simulation must not be stepped.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), MemoryError> {
        let Checkpoint { state, timeline, ledger, memory, constraint_forces, fits } = checkpoint.clone();
        self.restore_snapshot(Snapshot { state, ledger, memory, fits })?;
        (self.timeline, self.constraint_forces) = (timeline, constraint_forces);
        Ok(())
    }
}
