//! Energy and momenta that round-off alone adds to a run.
//!
//! A position is known to d = ε|q|, and each step rounds it anew. With the stiffness K of the model (contact included) at
//! the present state:
//! - The elastic energy of such a displacement is e = ½ Σ Kᵢᵢ dᵢ². N steps add N e. If an energy E is in play, they also add
//!   2√(N e E), the work of the existing forces as a random walk. Sums of energies are rounded to ε times the largest term.
//!   This matters for gravity, whose zero is arbitrary.
//! - The forces of such a displacement, |K d|, act for a step h each, as a random walk of N steps. Their kinetic energy is
//!   Σ (h Kᵢᵢ dᵢ)²/2mᵢ a step, more than e where hω > 1. Methods that take velocities from positions round them to d/h.
//!
//! All of this scales with the body: masses, moduli and lengths set it, and no constant in joules does. For a strain s of the
//! body the energy is about ε√N/s of the energy in play. It hides nothing that is larger than round-off: at s = 1e-3 and a
//! million steps it is 2e-10.

use lilyan_dynamics::{Curvature, System};
use lilyan_scene::build::Built;
use lilyan_solve::BlockMatrix;

/// Roundings in the sum of forces at a node, which has about ten elements.
const ROUNDINGS_PER_NODE: f64 = 16.0;

/// What rounding the positions once changes.
#[derive(Clone, Copy, Debug)]
pub struct RoundOff {
    /// e and the kinetic energy of the impulses h |K d|, J.
    elastic: f64,
    /// h |K d|, N s.
    impulse: f64,
    /// Momentum of velocities that are differences of positions, N s.
    momentum: f64,
    /// Largest distance from the origin along an axis, m.
    reach: f64,
}

impl RoundOff {
    /// At the present state. It takes the assembly of one matrix.
    pub fn at(built: &Built) -> Self {
        let simulation = &built.simulation;
        let (system, state) = (simulation.system(), simulation.state());
        let mut stiffness = BlockMatrix::zeros(system.pattern().clone());
        // The exact Hessian: the projected one costs several times as much. Negative diagonal entries are set to 0 below.
        system.hessian(state.t, &state.q, Curvature::Exact, &mut stiffness);
        let rest = built.rest_positions();
        let rounding = state.q.iter().zip(&rest).map(|(q, rest)| f64::EPSILON * q.abs().max(rest.abs()));
        let (diagonal, h) = (stiffness.diagonal(), simulation.step());
        let mut sum = Self { elastic: 0.0, impulse: 0.0, momentum: 0.0, reach: 0.0 };
        for (i, d) in rounding.enumerate() {
            let (k, mass) = (diagonal[i].max(0.0), system.node_masses()[i / 3]);
            sum.elastic += 0.5 * k * d * d;
            if mass > 0.0 {
                sum.elastic += 0.5 * (h * k * d).powi(2) / mass;
            }
            sum.impulse += (h * k * d).powi(2);
            sum.momentum += (mass * d / h).powi(2);
            sum.reach = sum.reach.max(state.q[i].abs());
        }
        Self { impulse: sum.impulse.sqrt(), momentum: sum.momentum.sqrt(), ..sum }
    }

    /// Energy that so many steps can add to a motion of energy `in_play`, in sums with terms of this size, J.
    pub fn energy(&self, steps: u64, in_play: f64, largest: f64) -> f64 {
        let added = (1.0 + steps as f64) * self.elastic;
        let work = 2.0 * (added * in_play.max(0.0)).sqrt();
        ROUNDINGS_PER_NODE * (added + work + f64::EPSILON * largest)
    }

    /// Linear and angular momentum that so many steps can add, kg m/s and kg m²/s.
    pub fn momenta(&self, steps: u64) -> [f64; 2] {
        let linear = ROUNDINGS_PER_NODE * ((1.0 + steps as f64).sqrt() * self.impulse + self.momentum);
        [linear, 3.0_f64.sqrt() * self.reach * linear]
    }
}
