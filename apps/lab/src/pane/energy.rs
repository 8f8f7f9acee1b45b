//! The energy of a pane.

use super::Pane;
use lilyan_dynamics::EnergyParts;
use lilyan_scene::build::Built;
use lilyan_study::run::RoundOff;

/// The energy of a pane at one state, J. It costs a pass over all elements, so it is evaluated once per frame.
#[derive(Clone, Copy, Debug)]
pub struct PaneEnergy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy by kind.
    pub parts: EnergyParts,
    /// Kinetic plus potential energy.
    pub total: f64,
    /// What the integrator lost since the start or the last change; negative: what it gained.
    pub numerical: f64,
}

impl PaneEnergy {
    /// The energy that moves and deforms the bodies.
    pub fn lively(&self) -> f64 {
        self.kinetic + self.parts.elastic.abs() + self.parts.other.abs()
    }
}

/// What round-off can add to a pane, as it was at some step.
pub struct PaneRoundOff {
    at: RoundOff,
    step: u64,
}

impl PaneRoundOff {
    /// At the present state.
    pub fn of(built: &Built) -> Self {
        Self { at: RoundOff::at(built), step: built.simulation.index() }
    }

    /// Finds it anew each time that the number of steps has doubled: a body may have moved far away, or be pressed
    /// against something stiff, by then.
    pub fn refresh(&mut self, built: &Built) {
        if built.simulation.index() > 2 * self.step {
            *self = Self::of(built);
        }
    }
}

impl Pane {
    /// Energy (J), linear and angular momentum (kg m/s, kg m²/s) that round-off can have made by now.
    pub fn round_off(&self, energy: &PaneEnergy) -> [f64; 3] {
        let steps = self.built.simulation.index();
        let largest = energy.lively().max(energy.parts.gravity.abs());
        let [linear, angular] = self.round_off.at.momenta(steps);
        [self.round_off.at.energy(steps, energy.lively(), largest), linear, angular]
    }

    /// The energy at the current state.
    pub fn energy(&self) -> PaneEnergy {
        let simulation = &self.built.simulation;
        let (kinetic, parts) = simulation.energies();
        let total = kinetic + parts.total();
        PaneEnergy { kinetic, parts, total, numerical: simulation.ledger().dissipated_numerical(total) }
    }
}
