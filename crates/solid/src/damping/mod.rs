//! Material damping: a property of the body that does not change with the step.
//!
//! A model holds its constants and acts on a [`DampedBody`]. To add a model: a new file with a [`Damping`] and its card, and
//! the line of the card in [`CATALOGUE`]. Scene files, the reference page, the lab and the tests follow from the card.

mod kharevych;
mod rayleigh;
mod viscous;

pub use kharevych::Kharevych;
pub use rayleigh::Rayleigh;
pub use viscous::Viscous;

use crate::elements::{ElementCells, Elements};
use crate::materials::{Mat9, apply_stiffness, from_differential};
use crate::math::Mat3;
use crate::parameters::{ModelParameter, Parameters};
use lilyan_solve::BlockMatrix;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// The part of a model that a damping model acts on.
pub struct DampedBody {
    /// The elements of the body, without those that only join others.
    pub elements: Vec<Arc<dyn Elements>>,
    /// Global nodes of the body.
    pub nodes: Range<usize>,
    /// Mass of each global node, kg; `None`: the consistent mass of the elements.
    pub masses: Option<Arc<Vec<f64>>>,
    /// Rest positions of all global nodes, flat, m.
    pub rest: Arc<Vec<f64>>,
}

impl DampedBody {
    /// Adds c M v.
    fn add_mass_product(&self, v: &[f64], c: f64, out: &mut [f64]) {
        match &self.masses {
            None => self.cells().filter_map(|cells| cells.mass()).for_each(|m| m.add_product(v, c, out)),
            Some(masses) => {
                for n in self.nodes.clone() {
                    for i in 3 * n..3 * n + 3 {
                        out[i] += c * masses[n] * v[i];
                    }
                }
            }
        }
    }

    /// Adds c M.
    fn add_mass(&self, c: f64, out: &mut BlockMatrix) {
        match &self.masses {
            None => {
                let mut mass = BlockMatrix::zeros(out.pattern().clone());
                self.cells().filter_map(|cells| cells.mass()).for_each(|m| m.add_consistent(&mut mass));
                out.add_scaled(c, &mass);
            }
            Some(masses) => {
                let mut diagonal = vec![0.0; 3 * masses.len()];
                for n in self.nodes.clone() {
                    diagonal[3 * n..3 * n + 3].fill(c * masses[n]);
                }
                out.add_diagonal(&diagonal);
            }
        }
    }

    /// The elements that have points at which damping acts.
    pub fn cells(&self) -> impl Iterator<Item = &dyn ElementCells> {
        self.elements.iter().filter_map(|e| e.cells())
    }
}

/// k U(C:sym(UᵀδF A))Aᵀ as a matrix on δF, with the 21 constants of C.
fn general_tangent(c: &[f64], U: &Mat3, A: &Mat3, k: f64) -> Mat9 {
    from_differential(|dF| {
        (*U * apply_stiffness(c, &U.transpose_mul(&(*dF * *A)).symmetric_part())).mul_transpose(A).scale(k)
    })
}

/// A damping model with its constants: forces that take energy out of a body.
pub trait Damping: Debug + Send + Sync {
    /// What it is and claims.
    fn card(&self) -> &'static DampingCard;
    /// Whether it acts on rigid translation, so that the linear momentum of a free body changes.
    fn is_drag(&self) -> bool {
        false
    }
    /// Whether it keeps the angular momentum of a free body to round-off, with explicit or with implicit integrators.
    fn keeps_angular_momentum(&self, explicit: bool) -> bool;
    /// The rate 2ζω at which the energy of a small oscillation decays, 1/s, if its frequency ω (rad/s) alone determines it.
    fn decay_rate(&self, omega: f64) -> Option<f64>;

    /// Adds the force at positions q and velocities v, N.
    fn add_forces(&self, body: &DampedBody, q: &[f64], v: &[f64], f: &mut [f64]);
    /// Adds the mean force over a step; by default the force at the midpoint.
    fn add_forces_between(&self, body: &DampedBody, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let q: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let v: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| (b - a) / h).collect();
        self.add_forces(body, &q, &v, f);
    }
    /// Adds the part of the force that does not come from deformation, N.
    fn add_outer_forces(&self, _body: &DampedBody, _v: &[f64], _f: &mut [f64]) {}
    /// Adds −∂f/∂v at q, N s/m.
    fn add_matrix(&self, body: &DampedBody, q: &[f64], d: &mut BlockMatrix);
    /// Whether it acts as an impulse at the end of the step instead.
    fn is_impulse(&self) -> bool {
        false
    }
    /// Adds that impulse, N s.
    fn add_impulse(&self, _body: &DampedBody, _q0: &[f64], _q1: &[f64], _j: &mut [f64]) {}
}

/// What a damping model is and claims, and how it is made.
#[derive(Clone, Copy, Debug)]
pub struct DampingCard {
    /// Name in scene files.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Rigid motion is not damped: momenta are kept to round-off (`kharevych`: in its explicit form).
    pub keeps_momenta: bool,
    /// Key in references.bib.
    pub cite: &'static str,
    /// Its parameters in scene files.
    pub parameters: &'static [ModelParameter],
    /// Makes one from its parameters.
    pub create: fn(&Parameters) -> Arc<dyn Damping>,
    /// Every way in which it can act, with a time of so many seconds; the tests try all of them.
    pub variants: fn(f64) -> Vec<Arc<dyn Damping>>,
}

/// Every damping model.
pub static CATALOGUE: &[&DampingCard] = &[&viscous::CARD, &kharevych::CARD, &rayleigh::CARD];

/// The damping model of that name.
pub fn find(name: &str) -> Option<&'static DampingCard> {
    CATALOGUE.iter().find(|card| card.name == name).copied()
}
