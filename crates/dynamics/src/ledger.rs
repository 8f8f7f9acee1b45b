//! The energy that enters and leaves a system.

use crate::constraints::ConstraintSolver;
use crate::integrator::{Integrator, WorkOfForces};
use crate::system::discrete_gradient;
use crate::{State, System};
use lilyan_solve::newton::dot;
use serde::{Deserialize, Serialize};

/// The energy account: energy across the boundary of a system since its start, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Total energy at the start.
    pub initial: f64,
    /// Work of loads, of applied forces, of prescribed motion, and of changes from outside.
    pub work_external: f64,
    /// Energy dissipated by material damping and by friction of contacts.
    pub dissipated_physical: f64,
    /// The part of it that is friction of contacts.
    pub dissipated_friction: f64,
}

impl Ledger {
    /// Energy that the integrator has lost (negative: gained) if the present energy is `total`.
    pub fn dissipated_numerical(&self, total: f64) -> f64 {
        self.initial + self.work_external - self.dissipated_physical - total
    }

    /// Adds the energy of one step.
    pub(crate) fn add(&mut self, flow: EnergyFlow) {
        self.work_external += flow.work;
        self.dissipated_physical += flow.dissipated;
        self.dissipated_friction += flow.friction;
    }
}

/// Energy across the boundary during one step, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EnergyFlow {
    /// Work done by loads, by applied forces and by prescribed motion.
    work: f64,
    /// Energy dissipated by material damping and friction.
    dissipated: f64,
    /// The part of it that is friction.
    friction: f64,
}

impl EnergyFlow {
    /// Whether the system can exchange energy with its surroundings.
    pub fn is_possible(system: &dyn System) -> bool {
        let abilities = system.abilities();
        abilities.loads.is_some()
            || abilities.dissipation.is_some()
            || abilities.end_impulse.is_some()
            || abilities.terms.is_some()
            || abilities.timed.is_some()
            || abilities.prescribed_moves()
            || abilities.constraints_move()
    }

    /// The energy flow of a step of length `h` by the quadrature of the method, or else by the midpoint rule, which is exact for
    /// `energy-momentum`.
    pub fn of_step(
        system: &dyn System,
        integrator: &dyn Integrator,
        before: &State,
        after: &State,
        h: f64,
    ) -> Self {
        let mut flow =
            Self { work: 0.0, dissipated: after.terms.dissipated - before.terms.dissipated, friction: 0.0 };
        let n = after.q.len();
        let displacement: Vec<f64> = after.q.iter().zip(&before.q).map(|(a, b)| a - b).collect();
        let middle = before.t + 0.5 * h;
        let mut forces = vec![0.0; n];
        let abilities = system.abilities();
        let constraint_solver = integrator.constraint_solver();
        if let Some(dissipation) = abilities.dissipation {
            dissipation.add_mean_forces(before.t, h, &before.q, &after.q, &mut forces);
        }
        if let Some(contacts) = abilities.friction {
            let mut friction = vec![0.0; n];
            contacts.add_friction([before.t, after.t], &before.q, &after.q, &mut friction);
            flow.friction -= dot(&friction, &displacement);
        }
        let work = integrator.work_of_forces().unwrap_or_else(|| {
            let mut work =
                WorkOfForces { without_potential: dot(&forces, &displacement), ..Default::default() };
            if let Some(applied) = abilities.applied {
                let middle_q: Vec<f64> = after.q.iter().zip(&before.q).map(|(a, b)| 0.5 * (a + b)).collect();
                let velocity: Vec<f64> = displacement.iter().map(|d| d / h).collect();
                let mut outside = vec![0.0; n];
                applied.add_applied_forces(middle, &middle_q, &velocity, &mut outside);
                work.applied = dot(&outside, &displacement);
            }
            if let Some(loads) = abilities.loads {
                let mut load = vec![0.0; n];
                loads.add_load(middle, &mut load);
                work.loads = dot(&load, &displacement);
            }
            work
        });
        flow.dissipated += work.applied - work.without_potential;
        flow.work += work.applied + work.loads;
        let mut impulse = vec![0.0; n];
        if let Some(damping) = abilities.end_impulse {
            damping.add_end_impulse(h, &before.q, &after.q, &mut impulse);
            // The impulse j changed the velocity from v − M⁻¹j to v: it dissipated −j·(v − ½M⁻¹j).
            let mut held = vec![false; n];
            abilities.mark_prescribed(after.t, &mut held);
            let mut kick = vec![0.0; n];
            system.mass().solve(&held, &impulse, &mut kick);
            let work_of_impulse: f64 = (0..n).map(|i| impulse[i] * (after.v[i] - 0.5 * kick[i])).sum();
            flow.dissipated -= work_of_impulse;
        }
        if let Some(timed) = abilities.timed {
            let times = [before.t, after.t];
            flow.work += timed.work(times, &before.q, &after.q);
            // What carries bodies along by friction does work on them; the slip alone dissipates.
            let carried = timed.friction_work(times, &before.q, &after.q);
            flow.work += carried;
            flow.dissipated += carried;
            flow.friction += carried;
        }
        // Exact where the force acts along a discrete gradient, else of second order as the step.
        if let Some(moving) =
            constraint_solver.map(ConstraintSolver::moving_reactions).filter(|r| !r.is_empty())
        {
            flow.work += dot(moving, &displacement) / h;
        }
        if abilities.prescribed_moves() {
            let mut held = vec![false; n];
            abilities.mark_prescribed(after.t, &mut held);
            // The work of this mean force over all unknowns is exactly the change of the potential. If it
            // is infeasible, the force at the midpoint is accurate enough.
            let mut gradient = vec![0.0; n];
            if !discrete_gradient(system, [before.t, after.t], &before.q, &after.q, &mut gradient) {
                let q: Vec<f64> = after.q.iter().zip(&before.q).map(|(a, b)| 0.5 * (a + b)).collect();
                system.gradient(middle, &q, &mut gradient);
            }
            // Impulses of the constraints on the prescribed unknowns, N s.
            let mut reactions = vec![0.0; n];
            if let Some(constraint_solver) = constraint_solver {
                reactions[..constraint_solver.reactions().len()]
                    .copy_from_slice(constraint_solver.reactions());
            }
            flow.work += (0..n)
                .filter(|&i| held[i])
                .map(|i| {
                    // The kinetic energy of prescribed unknowns is external work too.
                    let kinetic = 0.5 * (after.v[i] + before.v[i]) * (after.p[i] - before.p[i]);
                    let force = (gradient[i] - forces[i]) - reactions[i] / h;
                    kinetic + force * displacement[i] - impulse[i] * after.v[i]
                })
                .sum::<f64>();
        }
        flow
    }
}
