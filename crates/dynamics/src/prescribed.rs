//! Dirichlet dofs of a step, and the end of a step, which all integrators share.

use crate::constraints::ConstraintSolver;
use crate::state::State;
use crate::step::{StepError, first_not_finite};
use crate::system::System;

/// The Dirichlet dofs of a step and their values at its end.
#[derive(Default)]
pub struct Prescribed {
    /// Marks the Dirichlet dofs.
    pub mask: Vec<bool>,
    /// Positions at the end, m (valid for Dirichlet dofs).
    pub q: Vec<f64>,
    /// Velocities at the end, m/s (valid for Dirichlet dofs).
    pub v: Vec<f64>,
    /// Momenta of the velocities at the end.
    p: Vec<f64>,
    any: bool,
    /// The constraints of the step.
    pub constraint_solver: ConstraintSolver,
}

impl Prescribed {
    /// Prepares a step of `h` from `state`, which must be finite.
    pub fn prepare(&mut self, system: &dyn System, state: &State, h: f64) -> Result<(), StepError> {
        let (n, t1) = (state.q.len(), state.t + h);
        // The check is here, since forces would spread NaN to neighbouring nodes.
        if let Some(dof) = first_not_finite(&[&state.q, &state.p, &state.v]) {
            return Err(StepError::NotFinite { t: state.t, h, dof });
        }
        if self.hold(system, t1, n) {
            self.q.clone_from(&state.q);
            self.v.clone_from(&state.v);
            system.abilities().place_prescribed(t1, &mut self.q, &mut self.v);
        } else {
            self.q.resize(n, 0.0);
            self.v.resize(n, 0.0);
        }
        self.constraint_solver.prepare(system, state, h, &self.mask);
        Ok(())
    }

    /// Marks the Dirichlet dofs among `n` unknowns at t. Returns whether there are any.
    pub fn hold(&mut self, system: &dyn System, t: f64, n: usize) -> bool {
        self.mask.resize(n, false);
        system.abilities().mark_prescribed(t, &mut self.mask);
        self.any = self.mask.contains(&true);
        self.any
    }

    /// Writes the mean velocity over the step into the Dirichlet entries of `v`.
    pub fn mean_velocity(&self, q0: &[f64], h: f64, v: &mut [f64]) {
        if self.any {
            for i in 0..v.len() {
                if self.mask[i] {
                    v[i] = (self.q[i] - q0[i]) / h;
                }
            }
        }
    }

    /// The Dirichlet dofs.
    pub fn held(&self) -> impl Iterator<Item = usize> {
        // There are usually few, so eight flags are tested at once.
        let (eights, remainder) = self.mask.as_chunks::<8>();
        let some = eights.iter().enumerate().filter(|(_, eight)| **eight != [false; 8]);
        let end = 8 * eights.len();
        some.flat_map(|(k, _)| 8 * k..8 * k + 8).chain(end..end + remainder.len()).filter(|&i| self.mask[i])
    }

    /// Whether there are Dirichlet dofs.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Completes (q₁, p₁): sets Dirichlet dofs, applies the end impulse, computes v = M⁻¹p. Then moves `state` there, unless a
    /// number is not finite.
    pub fn finish(
        &mut self,
        system: &dyn System,
        state: &mut State,
        h: f64,
        q1: &mut Vec<f64>,
        p1: &mut Vec<f64>,
    ) -> Result<(), StepError> {
        if self.any {
            for i in 0..q1.len() {
                if self.mask[i] {
                    q1[i] = self.q[i];
                }
            }
        }
        if let Some(damping) = system.abilities().end_impulse {
            damping.add_end_impulse(h, &state.q, q1, p1);
        }
        // `self.v` contains the velocities of the Dirichlet dofs. The other entries are overwritten.
        system.mass().solve(&self.mask, p1, &mut self.v);
        self.constraint_solver.finish(system, state, h, &self.mask, q1, &mut self.v, p1)?;
        if self.any {
            self.p.resize(p1.len(), 0.0);
            system.mass().mul(&self.v, &mut self.p);
            for i in 0..p1.len() {
                if self.mask[i] {
                    p1[i] = self.p[i];
                }
            }
        }
        if let Some(dof) = first_not_finite(&[q1, p1]) {
            return Err(StepError::NotFinite { t: state.t, h, dof });
        }
        std::mem::swap(&mut state.q, q1);
        std::mem::swap(&mut state.p, p1);
        std::mem::swap(&mut state.v, &mut self.v);
        state.t += h;
        Ok(())
    }
}
