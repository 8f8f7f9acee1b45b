//! Static equilibrium: ∇W(t, q) = Jᵀλ at a fixed time, with Dirichlet nodes and constraints where they are at that time.
//!
//! The path to it is that of overdamped motion. Every step minimises ½(q − q₀)ᵀM(q − q₀)/h² + W(t, q) from rest: it is a step
//! of backward Euler whose initial velocity is 0, the proximal-point method \[rockafellar1976\] in the norm of M. Steps grow
//! as long as they succeed and move the body only moderately, so that the last ones are Newton's method for ∇W = 0. Large
//! loads need no continuation parameter: short steps follow the motion that an overdamped body would make, and end at
//! the equilibrium that this body would find. Contact, constraints, fits and Dirichlet nodes act as in a run.
//!
//! Where the equilibrium is a saddle of W (a column that should buckle), the body is displaced along the unstable mode, and
//! the search continues.

use crate::constraints::{ConstraintSolver, Constraints};
use crate::integrators;
use crate::simulation::Simulation;
use crate::state::State;
use crate::step::StepError;
use crate::system::abilities::{Abilities, Dissipation, Lacking, PrescribedMotion, add_midpoint_forces};
use crate::system::constraint::Constraint;
use crate::system::{ConfigurationSpace, EnergyParts, System};
use crate::{Value, spectrum};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::{Curvature, max_norm};
use std::cmp::Ordering;

/// The equilibrium is found when a further step moves no node by more than this, relative to the length of the system.
pub const TOLERANCE: f64 = 1e-9;
/// Longest steps. An equilibrium takes 15 to 40.
const MAX_STEPS: usize = 300;
/// Factor on the step after one that succeeded.
const GROWTH: f64 = 4.0;
/// A step that moves a node farther, relative to the length of the system, is not followed by a longer one. Longer motions could pass
/// through thin obstacles, or reach an equilibrium on another branch.
const MODERATE_MOTION: f64 = 0.1;
/// A step that moves a node farther is repeated with a shorter one.
const LARGE_MOTION: f64 = 0.5;
/// A body that has moved this far, relative to the length of the system, is not held by anything.
const NOT_HELD: f64 = 20.0;
/// Consecutive small steps, each [`GROWTH`] times as long as the one before. With growing steps a mode that is far from
/// equilibrium but soft would show itself.
const CONFIRMATIONS: usize = 3;
/// An eigenvalue of (K, M) below this times the largest one is round-off of a zero mode.
const ROUND_OFF: f64 = 1e-10;
/// Displacement along an unstable mode, relative to the length of the system.
const PERTURBATION: f64 = 1e-3;
/// Saddles that are left before the search gives up.
const MAX_SADDLES: usize = 4;

/// A static equilibrium and how it was found.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// The state, with velocities 0.
    pub state: State,
    /// Proximal steps.
    pub steps: usize,
    /// Newton iterations over all steps.
    pub newton_iterations: usize,
    /// The largest force that is not balanced, over the free unknowns, N.
    pub unbalanced_force: f64,
    /// The forces that hold the prescribed unknowns in place, N; 0 for the free ones.
    pub reactions: Vec<f64>,
    /// The displacement of the last step, m.
    pub last_motion: f64,
    /// Saddles of W that were left along an unstable mode.
    pub saddles: usize,
    /// Whether K is positive semidefinite there; `None` with constraints or applied forces, whose stiffness is not known.
    pub is_stable: Option<bool>,
    /// The lowest angular frequency about the equilibrium, rad/s; `None` if it is 0 to round-off, unstable, or not known.
    pub lowest_frequency: Option<f64>,
}

/// Why there is no equilibrium.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EquilibriumError {
    /// Nothing holds the system.
    #[error(
        "no equilibrium: a node has moved by {moved:.3} m, {times:.0} times the size of the scene, and is still moving; \
         pin the bodies or put something below them, or check the loads"
    )]
    NotHeld {
        /// Distance of a node from its start, m.
        moved: f64,
        /// The same, relative to the length of the system.
        times: f64,
        /// The unknown.
        dof: usize,
    },
    /// A step failed even when it was short.
    #[error("the search for an equilibrium stopped: {0}")]
    Step(#[from] StepError),
    /// Steps do not become small.
    #[error(
        "no equilibrium after {steps} steps: the last one moved a node by {motion:.2e} m; the loads may have no equilibrium, or \
         several bodies may slide without friction"
    )]
    NotConverged {
        /// How many.
        steps: usize,
        /// The largest motion of the last one, m.
        motion: f64,
    },
}

/// Finds the equilibrium at the time of `start`, beginning with its positions. `step` is the length of the first proximal step, s;
/// unknowns marked in `held` stay where they are.
///
/// ```
/// use lilyan_dynamics::systems::Oscillator;
/// use lilyan_dynamics::{State, equilibrium::equilibrium};
///
/// let spring = Oscillator::new(2.0);
/// let start = State::new(&spring, vec![1.0, 0.0, 0.0], vec![0.0; 3]);
/// let found = equilibrium(&spring, &start, 0.01, &[])?;
/// assert!(found.state.q[0].abs() < 1e-9);
/// # Ok::<(), lilyan_dynamics::equilibrium::EquilibriumError>(())
/// ```
pub fn equilibrium(
    system: &dyn System,
    start: &State,
    step: f64,
    held: &[bool],
) -> Result<Equilibrium, EquilibriumError> {
    let mut held = held.to_vec();
    held.resize(system.dofs(), false);
    let at_rest = StaticSystem { system, t: start.t, held, places: start.q.clone() };
    let mut search = Search::new(&at_rest, start, step);
    let mut saddles = 0;
    loop {
        search.run()?;
        let lowest = lowest_mode(&at_rest, &search.state.q);
        match &lowest {
            Some(LowestMode { sign: Ordering::Less, shape, .. }) if saddles < MAX_SADDLES => {
                saddles += 1;
                search.displace(shape);
            }
            // Within a step that is shorter than the slowest motion even a body far from equilibrium hardly moves.
            Some(LowestMode { sign: Ordering::Greater, value, .. }) if search.h.powi(2) * value < 1.0 => {
                search.h = GROWTH / value.sqrt();
            }
            _ => return Ok(search.result(saddles, lowest.as_ref())),
        }
    }
}

/// The lowest mode about a configuration.
struct LowestMode {
    /// The eigenvalue of (K, M), 1/s².
    value: f64,
    /// Its sign; 0 if the value is round-off.
    sign: Ordering,
    shape: Vec<f64>,
}

fn lowest_mode(system: &StaticSystem, q: &[f64]) -> Option<LowestMode> {
    // The geometric stiffness of constraint forces and the change of applied forces with the place are not part of the modes, so
    // that their sign would mean nothing.
    let abilities = system.abilities();
    let is_unknown = !abilities.in_force(system.t).is_empty() || abilities.dissipation.is_some();
    if is_unknown || spectrum::free_unknowns(&system) == 0 {
        return None;
    }
    let mut modes = spectrum::modes(&system, q, 1).ok()?;
    let (value, shape) = (*modes.values.first()?, modes.vectors.pop()?);
    let round_off = ROUND_OFF * spectrum::largest_frequency(&system, q)?.powi(2);
    let sign = if value.abs() <= round_off { Ordering::Equal } else { value.total_cmp(&0.0) };
    Some(LowestMode { value, sign, shape })
}

/// A search in progress.
struct Search<'a> {
    system: &'a StaticSystem<'a>,
    start: Vec<f64>,
    state: State,
    h: f64,
    steps: usize,
    newton_iterations: usize,
    unbalanced_force: f64,
    last_motion: f64,
}

impl<'a> Search<'a> {
    fn new(system: &'a StaticSystem<'a>, start: &State, step: f64) -> Self {
        let mut state = start.clone();
        state.v.fill(0.0);
        state.p.fill(0.0);
        Self {
            system,
            start: start.q.clone(),
            state,
            h: step,
            steps: 0,
            newton_iterations: 0,
            unbalanced_force: 0.0,
            last_motion: 0.0,
        }
    }

    /// Steps until they are small [`CONFIRMATIONS`] times in a row.
    fn run(&mut self) -> Result<(), EquilibriumError> {
        let length = self.system.length();
        let mut confirmations = 0;
        while confirmations < CONFIRMATIONS {
            if self.steps == MAX_STEPS {
                return Err(EquilibriumError::NotConverged { steps: self.steps, motion: self.last_motion });
            }
            let halved = self.step(LARGE_MOTION * length)?;
            if !halved && self.last_motion <= MODERATE_MOTION * length {
                self.h *= GROWTH;
            }
            self.check_held(length)?;
            confirmations = if self.last_motion <= TOLERANCE * length { confirmations + 1 } else { 0 };
        }
        Ok(())
    }

    /// One proximal step that moves no node by more than `limit`. Returns whether it had to be shortened.
    fn step(&mut self, limit: f64) -> Result<bool, EquilibriumError> {
        let mut shortened = false;
        loop {
            self.steps += 1;
            let mut simulation = Simulation::new(self.system, backward_euler(), self.state.clone(), self.h);
            let record = simulation.advance()?;
            self.newton_iterations += record.stats.newton_iterations;
            let after = simulation.state();
            let difference: Vec<f64> = after.q.iter().zip(&self.state.q).map(|(a, b)| a - b).collect();
            let motion = max_norm(&difference);
            if motion > limit && self.steps < MAX_STEPS {
                // Motion grows at most with the square of the step.
                self.h *= (0.5 * limit / motion).sqrt().max(0.01);
                shortened = true;
                continue;
            }
            self.last_motion = motion;
            self.unbalanced_force = self.unbalanced(after, self.h);
            self.state.q.clone_from(&after.q);
            self.state.terms = after.terms.clone();
            if record.halved {
                self.h /= GROWTH;
            }
            return Ok(shortened || record.halved);
        }
    }

    /// The residual of ∇W = 0 after a step of backward Euler from rest is M(q₁ − q₀)/h² = p₁/h.
    fn unbalanced(&self, after: &State, h: f64) -> f64 {
        let mut held = vec![false; after.p.len()];
        self.system.abilities().mark_prescribed(after.t, &mut held);
        let free = after.p.iter().zip(&held).filter(|(_, held)| !**held);
        free.fold(0.0, |m: f64, (p, _)| m.max(p.abs() / h))
    }

    fn check_held(&self, length: f64) -> Result<(), EquilibriumError> {
        let far = |(dof, (a, b)): (usize, (&f64, &f64))| (dof, (a - b).abs());
        let moved = self.state.q.iter().zip(&self.start).enumerate().map(far);
        match moved.max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((dof, moved)) if moved > NOT_HELD * length => {
                Err(EquilibriumError::NotHeld { moved, times: moved / length, dof })
            }
            _ => Ok(()),
        }
    }

    /// Displaces the state along a mode and begins with short steps again.
    fn displace(&mut self, mode: &[f64]) {
        let scale = PERTURBATION * self.system.length() / max_norm(mode);
        self.state.q.iter_mut().zip(mode).for_each(|(q, d)| *q += scale * d);
        self.h /= GROWTH.powi(CONFIRMATIONS as i32 + 2);
    }

    fn result(self, saddles: usize, lowest: Option<&LowestMode>) -> Equilibrium {
        let positive = lowest.filter(|mode| mode.sign == Ordering::Greater);
        let reactions = self.system.reactions(&self.state.q);
        Equilibrium {
            state: self.state,
            steps: self.steps,
            newton_iterations: self.newton_iterations,
            unbalanced_force: self.unbalanced_force,
            reactions,
            last_motion: self.last_motion,
            saddles,
            is_stable: lowest.map(|mode| mode.sign != Ordering::Less),
            lowest_frequency: positive.map(|mode| mode.value.sqrt()),
        }
    }
}

fn backward_euler() -> Box<dyn crate::Integrator> {
    let entry = integrators::find("backward-euler").expect("backward Euler is in the catalogue");
    entry.create(&[("tolerance".to_owned(), Value::Number(1e-8))]).expect("it has this option")
}

/// A system at a fixed time, without damping: what is prescribed stays where it is at that time.
struct StaticSystem<'a> {
    system: &'a dyn System,
    t: f64,
    /// Unknowns that stay in place beside the prescribed ones.
    held: Vec<bool>,
    places: Vec<f64>,
}

impl System for &StaticSystem<'_> {
    fn space(&self) -> &ConfigurationSpace {
        self.system.space()
    }
    fn energy(&self, _t: f64, q: &[f64]) -> f64 {
        self.system.energy(self.t, q)
    }
    fn gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        self.system.gradient(self.t, q, g);
    }
    fn hessian(&self, _t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.system.hessian(self.t, q, curvature, h);
    }
    fn energy_parts(&self, _t: f64, q: &[f64]) -> EnergyParts {
        self.system.energy_parts(self.t, q)
    }
    fn abilities(&self) -> Abilities<'_> {
        let inner = self.system.abilities();
        Abilities {
            prescribed: Some(*self),
            loads: None,
            dissipation: inner.applied.map(|_| *self as &dyn Dissipation),
            applied: None,
            friction: None,
            end_impulse: None,
            constraints: inner.constraints.map(|_| *self as &dyn Constraints),
            feasible_step: inner.feasible_step,
            terms: inner.terms,
            timed: None,
            discrete_gradient: None,
            split: None,
            corotated: Err(Lacking::Corotation),
            strained: Err(Lacking::Strains),
            incompressible: inner.incompressible,
            deformation: inner.deformation,
            correction: inner.correction,
        }
    }
}

impl StaticSystem<'_> {
    /// ∇W − f + Jᵀμ at the prescribed unknowns, with the μ that balance the free ones.
    fn reactions(&self, q: &[f64]) -> Vec<f64> {
        let (system, t, n) = (&self as &dyn System, self.t, q.len());
        let abilities = system.abilities();
        let mut held = vec![false; n];
        abilities.mark_prescribed(t, &mut held);
        let (mut force, mut applied, mut acceleration) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        system.gradient(t, q, &mut force);
        if let Some(forces) = abilities.dissipation {
            forces.add_forces(t, q, &vec![0.0; n], &mut applied);
        }
        force.iter_mut().zip(&applied).for_each(|(force, applied)| *force -= applied);
        system.mass().solve(&held, &force, &mut acceleration);
        for (i, mu) in ConstraintSolver::tangential(system, t, &held, q, &mut acceleration) {
            abilities.constraints()[i].gradient(abilities.constraint_time(t), q, &mut |node, g| {
                (0..3).for_each(|k| force[3 * node + k] += mu * g[k]);
            });
        }
        force.iter_mut().zip(&held).filter(|(_, held)| !**held).for_each(|(force, _)| *force = 0.0);
        force
    }
}

/// Applied forces on a body that does not move. The rest of the forces without potential vanishes.
impl Dissipation for StaticSystem<'_> {
    fn add_forces(&self, _t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        if let Some(applied) = self.system.abilities().applied {
            applied.add_applied_forces(self.t, q, &vec![0.0; v.len()], f);
        }
    }
    fn add_mean_forces(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        add_midpoint_forces(self, t0, h, q0, q1, f);
    }
    fn add_damping_matrix(&self, _t: f64, _q: &[f64], _v: &[f64], _d: &mut BlockMatrix) {}
    fn add_mean_damping_matrix(&self, _t: f64, _h: f64, _between: &[f64], _v: &[f64], _d: &mut BlockMatrix) {}
}

impl PrescribedMotion for StaticSystem<'_> {
    fn mark_prescribed(&self, _t: f64, mask: &mut [bool]) {
        self.system.abilities().mark_prescribed(self.t, mask);
        mask.iter_mut().zip(&self.held).for_each(|(mask, held)| *mask |= held);
    }
    fn place_prescribed(&self, _t: f64, q: &mut [f64], v: &mut [f64]) {
        self.system.abilities().place_prescribed(self.t, q, v);
        let mut held = vec![false; q.len()];
        self.mark_prescribed(self.t, &mut held);
        for i in (0..q.len()).filter(|&i| held[i]) {
            v[i] = 0.0;
            if self.held[i] {
                q[i] = self.places[i];
            }
        }
    }
    fn prescribed_moves(&self) -> bool {
        false
    }
}

impl Constraints for StaticSystem<'_> {
    fn list(&self) -> &[Box<dyn Constraint>] {
        self.system.abilities().constraints()
    }
    fn time(&self, _t: f64) -> f64 {
        self.t
    }
    fn in_force(&self, _t: f64) -> Vec<usize> {
        self.system.abilities().in_force(self.t)
    }
}
