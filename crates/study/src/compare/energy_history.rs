//! Energy along a run.

use lilyan_dynamics::{Simulation, System};

/// Energies at the times of a run, J.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnergyHistory {
    /// Times, s: ends of steps.
    pub t: Vec<f64>,
    /// Kinetic and potential, loads excluded.
    pub total: Vec<f64>,
    /// Energy that the integrator gained (+) or lost (−).
    pub gained: Vec<f64>,
    /// Gravity, and the sum of the absolute values of all other parts.
    parts: Vec<[f64; 2]>,
}

impl EnergyHistory {
    /// Adds the current energy. Returns `false` and adds nothing if it is not finite.
    pub fn note<S: System>(&mut self, simulation: &Simulation<S>) -> bool {
        let (kinetic, parts) = simulation.energies();
        let total = kinetic + parts.total();
        if !total.is_finite() {
            return false;
        }
        self.t.push(simulation.state().t);
        self.total.push(total);
        self.gained.push(-simulation.ledger().dissipated_numerical(total));
        self.parts.push([parts.gravity, kinetic + parts.elastic.abs() + parts.other.abs()]);
        true
    }

    /// The energy in play: the largest sum of kinetic, elastic and other energy, and gravity above its lowest value. It
    /// does not depend on the zero of height.
    pub fn in_play(&self) -> f64 {
        let lowest = self.parts.iter().map(|p| p[0]).fold(f64::INFINITY, f64::min);
        self.parts.iter().map(|p| p[1] + p[0] - lowest).fold(0.0, f64::max)
    }

    /// The largest gain or loss, with its sign.
    pub fn extreme(&self) -> f64 {
        self.gained.iter().copied().fold(0.0, |m: f64, x| if x.abs() > m.abs() { x } else { m })
    }

    /// Gain or loss at the end.
    pub fn last(&self) -> f64 {
        self.gained.last().copied().unwrap_or(0.0)
    }
}
