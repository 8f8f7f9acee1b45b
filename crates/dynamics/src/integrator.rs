//! The interface of time integrators, and the properties that they claim.

use crate::constraints::ConstraintSolver;
use crate::effort::Effort;
use crate::memory::{Memory, MemoryError, Nothing};
use crate::state::State;
use crate::step::{StepError, StepStats};
use crate::system::System;

/// A time integrator: it advances a state by one step.
pub trait Integrator: Send {
    /// Advances by `h`, or as [`Integrator::step_length`] says. On failure the state is unchanged.
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError>;
    /// The properties that this method claims with its current options.
    fn claims(&self) -> Claims;
    /// Up to what the method is stable on nonlinear systems and on systems that it splits, where a linear oscillation tells too
    /// little.
    fn limit(&self) -> Option<&'static str> {
        None
    }
    /// Why this method does not support that system, in addition to [`crate::integrators::refusal`]; `None` if it does.
    fn refuses(&self, system: &dyn System) -> Option<String> {
        refuses_incompressible(system)
    }
    /// Whether its steps use [`crate::Abilities::correction`], so that it supports modal fits ([`crate::fit`]).
    fn takes_fits(&self) -> bool {
        false
    }
    /// Whether its steps obey the feasible-step limit and solve stateful terms ([`crate::system::terms`]), so that it supports
    /// contact with a barrier.
    fn takes_contact(&self) -> bool {
        false
    }
    /// Whether it takes such contact and solves for the positions at the end of a step. Other methods have to halve a step that ends
    /// beyond a contact.
    fn solves_for_end(&self) -> bool {
        false
    }
    /// The constraints of the last step, if it supports constraints.
    fn constraint_solver(&self) -> Option<&ConstraintSolver> {
        None
    }
    /// The work of forces without potential and of loads over the last step by the quadrature of the method. `None`: the
    /// midpoint rule is as accurate as the method.
    fn work_of_forces(&self) -> Option<WorkOfForces> {
        None
    }
    /// How the length of a step depends on `h`.
    fn step_length(&self) -> StepLength {
        StepLength::Fixed
    }
    /// Reduces the accuracy of the solves: `effort` 0 is the least, 1 (the default) is the tolerance of the options. A step
    /// that misses this tolerance reports it ([`StepStats::shortfall`]). Returns the effort in force; `None` if the method has
    /// no tolerance.
    fn set_effort(&mut self, _effort: f64) -> Option<Effort> {
        None
    }
    /// Resets the memory of earlier steps.
    fn reset(&mut self) {}
    /// The memory of earlier steps. With it the next step is reproduced to the bit.
    fn memory(&self) -> Memory {
        Memory::default()
    }
    /// Restores the memory that [`Integrator::memory`] returned at this state, and resets everything else. On an error nothing
    /// is changed.
    fn restore(&mut self, memory: &Memory, _state: &State) -> Result<(), MemoryError> {
        memory.read::<Nothing>().map(|_| ())
    }
}

/// Work over a step, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkOfForces {
    /// Of all forces without potential.
    pub without_potential: f64,
    /// Of applied forces, which are among these.
    pub applied: f64,
    /// Of dead loads.
    pub loads: f64,
}

/// How the length of a step depends on h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepLength {
    /// The step is h.
    Fixed,
    /// The step is at most h, as the accuracy permits.
    AtMost,
    /// The step is hσ, which is known only afterwards.
    Adaptive,
}

/// Properties that a method claims. Tests check them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Order of accuracy without damping.
    pub order: u32,
    /// Order of accuracy with damping.
    pub damped_order: u32,
    /// The method solves no equations and is stable only below a limit.
    pub explicit: bool,
    /// The map (q, p) → (q', p') is symplectic, so that energy oscillates but does not drift.
    pub symplectic: bool,
    /// The map is reversible: a step backwards returns to the start. Energy does not drift.
    pub reversible: bool,
    /// Σp is conserved to round-off or solver tolerance without external forces.
    pub linear_momentum: bool,
    /// Σq×p is conserved in the same sense.
    pub angular_momentum: bool,
    /// The energy is conserved to solver tolerance, for any potential.
    pub energy: bool,
}

impl Claims {
    /// The claims that all methods of an order have in common: linear momentum is conserved, nothing else. A method states
    /// what it claims beyond this.
    pub const fn of_order(order: u32) -> Self {
        Self {
            order,
            damped_order: order,
            explicit: false,
            symplectic: false,
            reversible: false,
            linear_momentum: true,
            angular_momentum: false,
            energy: false,
        }
    }

    /// The claims of a variational integrator: symplectic, and both momenta are conserved.
    pub const fn variational(order: u32) -> Self {
        Self { symplectic: true, angular_momentum: true, ..Self::of_order(order) }
    }

    /// Whether the energy may oscillate but does not drift, as with symplectic and reversible methods \[hairer2006, IX, XI\]
    /// and with energy-conserving ones.
    pub fn bounds_energy(&self) -> bool {
        self.energy || self.symplectic || self.reversible
    }
}

/// The refusal of methods that use ∇W: strains without compliance are not part of W.
pub(crate) fn refuses_incompressible(system: &dyn System) -> Option<String> {
    system.abilities().incompressible.then(|| {
        "a Poisson's ratio of 0.5 has no finite bulk modulus; use integrator \"regularized\", or a ratio below 0.5 \
         (0.49 for a nearly incompressible body)"
            .into()
    })
}
