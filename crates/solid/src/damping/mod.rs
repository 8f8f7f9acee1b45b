//! Material damping: a property of the body that does not change with the step.
//!
//! To add a model: a new file with a [`Damping`], and its line in [`CATALOGUE`].

mod kharevych;
mod rayleigh;
mod viscous;

pub use kharevych::Kharevych;
pub use rayleigh::Rayleigh;
pub use viscous::Viscous;

use lilyan_solve::BlockMatrix;

/// Forces that take energy out of a body.
pub trait Damping: Send + Sync {
    /// Adds the force at positions q and velocities v, N.
    fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]);
    /// Adds the mean force over a step; by default the force at the midpoint.
    fn add_forces_between(&self, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let q: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let v: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| (b - a) / h).collect();
        self.add_forces(&q, &v, f);
    }
    /// Adds the part of the force that does not come from deformation, N.
    fn add_outer_forces(&self, _v: &[f64], _f: &mut [f64]) {}
    /// Adds −∂f/∂v at q, N s/m.
    fn add_matrix(&self, q: &[f64], d: &mut BlockMatrix);
    /// Whether it acts as an impulse at the end of the step instead.
    fn is_impulse(&self) -> bool {
        false
    }
    /// Adds that impulse, N s.
    fn add_impulse(&self, _q0: &[f64], _q1: &[f64], _j: &mut [f64]) {}
}

/// What a damping model is and claims.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// Name in scene files.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Rigid motion is not damped: momenta are kept to round-off (`kharevych`: in its explicit form).
    pub keeps_momenta: bool,
    /// Key in references.bib.
    pub cite: &'static str,
}

/// Every damping model.
pub static CATALOGUE: &[Card] = &[viscous::CARD, kharevych::CARD, rayleigh::CARD];
