//! Whether the energy of a run grows beyond what physics allows.
//!
//! With the work of loads and pins, E ≤ E₀ + work, whatever damping takes. Let W_min be the lowest potential energy so far.
//! The energy available to the motion is then at most A, the largest E₀ + work − W_min so far, and the energy in the motion
//! is X = E − W_min. A method may err, and the energy of a symplectic one oscillates: near the stability limit by
//! 1/(1 − (hω/2)²). Growth by [`LIMIT`] is neither. Such a run is unstable, and is stopped in that step.
//!
//! A body that starts at rest has nothing available yet, and the first step of a method of first order is off by what the
//! forces can do in it. A is therefore never less than the kinetic energy that the forces of the start give in one step. Of
//! this, elastic forces give no more than the elastic energy of the start, however long the step; what acts from outside is
//! taken at the rest positions, where elastic forces vanish.

use super::round_off::RoundOff;
use lilyan_dynamics::{EnergyParts, System};
use lilyan_files::csv::Table;
use lilyan_report::short;
use lilyan_scene::build::Built;

/// X/A from which a run is stopped. A stable oscillation has less for hω below 1.95.
const LIMIT: f64 = 20.0;
/// The energy is evaluated when the kinetic energy has grown by this factor; else with the lines of the table.
const LOOK_AGAIN: f64 = 4.0;

/// Follows the energy of a run.
pub struct GrowthLimit {
    /// W_min, J.
    lowest_potential: f64,
    /// A, J.
    available: f64,
    /// The kinetic energy when the energy was last evaluated, J.
    kinetic: f64,
    /// Energy that is known to be round-off, J. It takes a Hessian to find it.
    round_off: f64,
}

/// An energy that no physics explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnphysicalGrowth {
    /// X, J.
    pub energy: f64,
    /// A, J.
    pub available: f64,
}

impl std::fmt::Display for UnphysicalGrowth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [energy, available] = [self.energy, self.available].map(short);
        write!(f, "the motion has {energy} J, but the start, loads and pins give no more than {available} J")
    }
}

impl GrowthLimit {
    /// For a run that begins from this state.
    pub fn new(start: &Built) -> Self {
        let simulation = &start.simulation;
        let (system, state) = (simulation.system(), simulation.state());
        let mut held = vec![false; state.q.len()];
        system.abilities().mark_prescribed(state.t, &mut held);
        // ½h² F·M⁻¹F.
        let in_one_step = |q: &[f64]| {
            let (mut forces, mut acceleration) = (vec![0.0; q.len()], vec![0.0; q.len()]);
            system.gradient(state.t, q, &mut forces);
            forces.iter_mut().for_each(|f| *f = -*f);
            if let Some(applied) = system.abilities().applied {
                applied.add_applied_forces(state.t, q, &state.v, &mut forces);
            }
            system.mass().solve(&held, &forces, &mut acceleration);
            let power: f64 = forces.iter().zip(&acceleration).map(|(f, a)| f * a).sum();
            0.5 * simulation.step().powi(2) * power
        };
        let parts = simulation.energies().1;
        let stored = parts.elastic.abs() + parts.other.abs();
        let available = in_one_step(&state.q).min(stored + in_one_step(&start.rest_positions()));
        Self { lowest_potential: f64::INFINITY, available, kinetic: 0.0, round_off: 0.0 }
    }

    /// The same after these lines of `energy.csv`, in a run that began with so much energy, J.
    pub(super) fn after(mut self, lines: &Table, initial: f64) -> Self {
        let column = |name: &str| lines.column(name).unwrap_or_default();
        let (total, kinetic, work) = (column("total"), column("kinetic"), column("work_external"));
        for k in 0..total.len() {
            self.note(kinetic[k], total[k] - kinetic[k], initial, work[k]);
        }
        self
    }

    fn note(&mut self, kinetic: f64, potential: f64, initial: f64, work: f64) {
        self.lowest_potential = self.lowest_potential.min(potential);
        self.available = self.available.max(initial + work - self.lowest_potential);
        self.kinetic = kinetic;
    }

    /// Looks at the state after a step of a run; in any case where it is to be `recorded`.
    pub fn check(&mut self, built: &Built, recorded: bool) -> Option<UnphysicalGrowth> {
        let simulation = &built.simulation;
        if !recorded {
            let kinetic = simulation.state().kinetic(simulation.system());
            if kinetic <= LOOK_AGAIN * self.kinetic {
                return None;
            }
        }
        self.judge(built)
    }

    /// Whether the present energy is more than physics allows. An energy that is not finite is not judged.
    pub fn judge(&mut self, built: &Built) -> Option<UnphysicalGrowth> {
        let simulation = &built.simulation;
        let (kinetic, parts): (f64, EnergyParts) = simulation.energies();
        if !(kinetic + parts.total()).is_finite() {
            return None;
        }
        let ledger = simulation.ledger();
        self.note(kinetic, parts.total(), ledger.initial, ledger.work_external);
        let energy = kinetic + parts.total() - self.lowest_potential;
        let beyond = energy > LIMIT * self.available && !self.is_round_off(built, energy);
        beyond.then_some(UnphysicalGrowth { energy, available: self.available })
    }

    /// Whether round-off alone can have made this energy (J) by now. What it can make grows with the steps, so a bound that
    /// was found before still holds, and a new one is found only where that is not enough.
    pub fn is_round_off(&mut self, built: &Built, energy: f64) -> bool {
        if energy > self.round_off {
            let (kinetic, parts) = built.simulation.energies();
            let largest = kinetic.abs() + parts.total().abs();
            self.round_off = RoundOff::at(built).energy(built.simulation.index(), energy, largest);
        }
        energy <= self.round_off
    }
}
