//! The run loop's inner part: one nominal step at a time, halved where it fails, with the energy
//! that came in and went out kept in a ledger.

use crate::fit::Fitting;
use crate::integrators::{self, Pace};
use crate::{EnergyParts, Integrating, Integrator, State, StepError, System};
use lilyan_solve::newton::dot;

/// A system on its way through time.
pub struct Simulation<S: System> {
    /// What moves.
    pub system: S,
    /// How it is stepped.
    pub integrator: Box<dyn Integrator>,
    /// Where it is.
    pub state: State,
    /// Nominal step, s.
    pub step: f64,
    /// Nominal steps done.
    pub index: u64,
    /// Energy that came in and went out.
    pub ledger: Ledger,
    /// Mean force of every constraint in the last nominal step, N; empty if none is in force.
    pub constraint_forces: Vec<f64>,
    /// How often a failing step may be halved.
    pub max_halvings: u32,
    /// The modes of fitted bodies.
    fitting: Option<Fitting>,
}

/// Energy across the boundary, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Total energy at the start.
    pub initial: f64,
    /// Work done by loads and by moving what is held.
    pub work_external: f64,
    /// Taken by material damping.
    pub dissipated_physical: f64,
}

impl Ledger {
    /// What the integrator lost (negative: gained) if the energy is now `total`.
    pub fn dissipated_numerical(&self, total: f64) -> f64 {
        self.initial + self.work_external - self.dissipated_physical - total
    }
}

/// How a nominal step went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepRecord {
    /// Newton and linear iterations, over all parts.
    pub integrating: Integrating,
    /// Steps of the integrator (1, unless some failed or it adapts time; 0 if time had passed already).
    pub parts: u32,
    /// Time that went by in them, s.
    pub advanced: f64,
    /// Whether a step failed and was cut.
    pub cut: bool,
}

/// Enough to go on to the bit.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Where it is.
    pub state: State,
    /// Nominal step, s.
    pub step: f64,
    /// Nominal steps done.
    pub index: u64,
    /// Energy that came in and went out.
    pub ledger: Ledger,
    /// The integrator's memory.
    pub memory: Vec<f64>,
    /// Forces of the constraints in the last step, N.
    pub constraint_forces: Vec<f64>,
    /// The memory of fits.
    pub modes: Vec<f64>,
}

/// A way back.
type Before = (State, Ledger, Vec<f64>, Vec<f64>);

impl<S: System> Simulation<S> {
    /// At time 0.
    pub fn new(system: S, integrator: Box<dyn Integrator>, state: State, step: f64) -> Self {
        let fitting = Fitting::new(&system, &state);
        let mut simulation = Self {
            fitting,
            system,
            integrator,
            state,
            step,
            index: 0,
            ledger: Ledger::default(),
            constraint_forces: Vec::new(),
            max_halvings: 10,
        };
        simulation.ledger.initial = simulation.total_energy();
        simulation
    }

    /// How the fits of bodies fare, if there are any.
    pub fn fitting(&self) -> Option<&Fitting> {
        self.fitting.as_ref()
    }

    /// Kinetic energy and potential energy by kind, J.
    pub fn energies(&self) -> (f64, EnergyParts) {
        let kinetic = self.state.kinetic(&self.system);
        let (t, q) = (self.state.t, &self.state.q);
        let parts = match &self.fitting {
            Some(fitting) => fitting.view(&self.system).energy_parts(t, q),
            None => self.system.energy_parts(t, q),
        };
        (kinetic, parts)
    }

    /// Kinetic plus potential energy, J.
    pub fn total_energy(&self) -> f64 {
        let (kinetic, parts) = self.energies();
        kinetic + parts.total()
    }

    /// One nominal step. Where the integrator fails, the step is cut in two, and again, up to
    /// `max_halvings` times; on failure everything is as it was before.
    ///
    /// An integrator with its own pace steps until the nominal time is reached or passed: `state.t` is then
    /// where it is, and a nominal step that is already behind is none.
    pub fn advance(&mut self) -> Result<StepRecord, StepError> {
        if let Some(reason) = integrators::refusal(self.integrator.as_ref(), &self.system) {
            return Err(StepError::Refused { reason });
        }
        let mut record = StepRecord::default();
        // Not t += h: a million rounding errors would show in the output times.
        let nominal = (self.index + 1) as f64 * self.step;
        let pace = self.integrator.pace();
        if pace != Pace::Own || nominal - self.state.t > 1e-9 * self.step {
            self.constraint_forces.clear();
        }
        if pace == Pace::Fixed {
            self.whole(self.step, &mut record)?;
            record.advanced = self.step;
        } else {
            let before = self.way_back();
            while nominal - self.state.t > 1e-9 * self.step {
                let rest = nominal - self.state.t;
                let h = if pace == Pace::Own { self.step } else { rest };
                if let Err(error) = self.whole(h, &mut record) {
                    self.go_back(before);
                    return Err(error);
                }
            }
            record.advanced = self.state.t - before.0.t;
        }
        // Impulses so far; where no step was due, the forces of the last one stay.
        if record.parts > 0 {
            self.constraint_forces.iter_mut().for_each(|force| *force /= record.advanced);
        }
        self.index += 1;
        if pace != Pace::Own {
            self.state.t = nominal;
        }
        Ok(record)
    }

    /// One step of the integrator, halved where it fails.
    fn whole(&mut self, h: f64, record: &mut StepRecord) -> Result<(), StepError> {
        if let Err(first) = self.part(h, record) {
            // Only now is a way back needed: a failed step leaves everything untouched.
            let before = self.way_back();
            record.cut = true;
            if let Err(last) = self.halves(h, 1, first, record) {
                self.go_back(before);
                return Err(last);
            }
        }
        Ok(())
    }

    fn way_back(&self) -> Before {
        let modes = self.fitting.as_ref().map_or(Vec::new(), |fitting| fitting.memory());
        (self.state.clone(), self.ledger, self.integrator.memory(), modes)
    }

    fn go_back(&mut self, (state, ledger, memory, modes): Before) {
        (self.state, self.ledger) = (state, ledger);
        self.integrator.reset();
        self.integrator.remember(&memory);
        if let Some(fitting) = &mut self.fitting {
            fitting.remember(&modes);
        }
    }

    /// Two halves of a step that failed because of `error`, themselves halved where they fail.
    fn halves(
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
            if let Err(error) = self.part(0.5 * h, record) {
                self.halves(0.5 * h, halvings + 1, error, record)?;
            }
        }
        Ok(())
    }

    fn part(&mut self, h: f64, record: &mut StepRecord) -> Result<(), StepError> {
        let accounting = self.system.has_load()
            || self.system.has_forces()
            || self.system.has_impulse()
            || self.system.held_moves();
        let before = accounting.then(|| self.state.clone());
        let done = match &mut self.fitting {
            None => self.integrator.step(&self.system, &mut self.state, h)?,
            Some(fitting) => {
                fitting.refresh(&self.system, self.state.t + h, &self.state.q);
                self.integrator.step(&fitting.view(&self.system), &mut self.state, h)?
            }
        };
        record.parts += 1;
        record.integrating.add(done);
        let impulses = self.integrator.holding().map_or(&[][..], |holding| holding.impulses());
        self.constraint_forces.resize(self.constraint_forces.len().max(impulses.len()), 0.0);
        for (force, impulse) in self.constraint_forces.iter_mut().zip(impulses) {
            *force += impulse;
        }
        if let Some(before) = before {
            let fixed = self.integrator.pace() == Pace::Fixed;
            let h = if fixed { h } else { self.state.t - before.t };
            let fitted = self.fitting.as_ref().map(|fitting| fitting.view(&self.system));
            let system: &dyn System = match &fitted {
                Some(fitted) => fitted,
                None => &self.system,
            };
            let (work, dissipated) = self.account(system, &before, h);
            self.ledger.work_external += work;
            self.ledger.dissipated_physical += dissipated;
        }
        Ok(())
    }

    /// Work done by loads and by what is held, and dissipation, of the step just done, by the midpoint rule (exact
    /// for `energy-momentum`).
    fn account(&self, system: &dyn System, before: &State, h: f64) -> (f64, f64) {
        let after = &self.state;
        let (mut work, mut dissipated) = (0.0, 0.0);
        let n = after.q.len();
        let moved: Vec<f64> = after.q.iter().zip(&before.q).map(|(a, b)| a - b).collect();
        let middle = before.t + 0.5 * h;
        let mut forces = vec![0.0; n];
        if system.has_forces() {
            system.forces_between(before.t, h, &before.q, &after.q, &mut forces);
            dissipated -= dot(&forces, &moved);
        }
        let mut impulse = vec![0.0; n];
        if system.has_impulse() {
            system.impulse(h, &before.q, &after.q, &mut impulse);
            // v was v − M⁻¹j before the kick: it took −j·(v − ½M⁻¹j).
            let mut held = vec![false; n];
            system.held(after.t, &mut held);
            let mut kick = vec![0.0; n];
            system.mass().solve(&held, &impulse, &mut kick);
            let taken: f64 = (0..n).map(|i| impulse[i] * (after.v[i] - 0.5 * kick[i])).sum();
            dissipated -= taken;
        }
        if system.has_load() {
            let mut load = vec![0.0; n];
            system.load(middle, &mut load);
            work += dot(&load, &moved);
        }
        if system.held_moves() {
            let mut held = vec![false; n];
            system.held(after.t, &mut held);
            // The mean force whose work over all unknowns is exactly the change of potential; where a
            // step is not feasible for it, the force in the middle does as well.
            let mut gradient = vec![0.0; n];
            if !system.discrete_gradient(middle, &before.q, &after.q, &mut gradient) {
                let q: Vec<f64> = after.q.iter().zip(&before.q).map(|(a, b)| 0.5 * (a + b)).collect();
                system.gradient(middle, &q, &mut gradient);
            }
            // What constraints took from, or gave to, what is held, N s.
            let mut reactions = vec![0.0; n];
            if let Some(holding) = self.integrator.holding() {
                reactions[..holding.reactions().len()].copy_from_slice(holding.reactions());
            }
            work += (0..n)
                .filter(|&i| held[i])
                .map(|i| {
                    // Kinetic energy of what is held comes from outside too.
                    let kinetic = 0.5 * (after.v[i] + before.v[i]) * (after.p[i] - before.p[i]);
                    let given = (gradient[i] - forces[i]) - reactions[i] / h;
                    kinetic + given * moved[i] - impulse[i] * after.v[i]
                })
                .sum::<f64>();
        }
        (work, dissipated)
    }

    /// Everything needed to go on to the bit.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            state: self.state.clone(),
            step: self.step,
            index: self.index,
            ledger: self.ledger,
            memory: self.integrator.memory(),
            constraint_forces: self.constraint_forces.clone(),
            modes: self.fitting.as_ref().map_or(Vec::new(), |fitting| fitting.memory()),
        }
    }

    /// Goes back to a checkpoint.
    pub fn restore(&mut self, checkpoint: &Checkpoint) {
        self.step = checkpoint.step;
        self.index = checkpoint.index;
        self.constraint_forces.clone_from(&checkpoint.constraint_forces);
        let Checkpoint { state, ledger, memory, modes, .. } = checkpoint.clone();
        self.go_back((state, ledger, memory, modes));
    }
}
