//! Stateful terms of W: active contacts, candidate pairs, lagged friction.
//!
//! The life cycle of a step:
//!
//! 1. [`StatefulTerms::begin_step`] creates the state of the step from the history of the last step.
//! 2. The step is solved with these terms as part of W. They do not change during the solve.
//! 3. [`StepTerms::lag`] updates the lagged quantities at the solution. If they changed, 2 is repeated.
//! 4. [`StepTerms::end_step`] returns the history for the next step.
//!
//! The step owns the state. A failed step drops it, so that a shorter one starts from the same history. The history is part of
//! [`crate::State`], and so of a checkpoint.

use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use serde::{Deserialize, Serialize};

/// The start of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepStart<'a> {
    /// Time, s.
    pub t: f64,
    /// Length of the step, s.
    pub h: f64,
    /// Positions, m.
    pub q: &'a [f64],
    /// Velocities, m/s.
    pub v: &'a [f64],
    /// The history of the last step.
    pub history: &'a TermHistory,
}

/// The history of stateful terms between steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TermHistory {
    /// Energy dissipated so far, J.
    pub dissipated: f64,
    /// Data of the terms, with a version of their own; empty before the first step.
    pub data: Vec<u8>,
}

/// The ability to have stateful terms.
pub trait StatefulTerms {
    /// The terms of a step.
    fn begin_step<'a>(&'a self, start: StepStart<'_>) -> Box<dyn StepTerms + 'a>;
    /// Energy stored in the terms between steps, J.
    fn stored_energy(&self, history: &TermHistory, q: &[f64]) -> f64;
}

/// The terms of one step.
pub trait StepTerms: Sync {
    /// Their part of W, J: stored energy and dissipation potentials; +∞ where q is infeasible.
    fn energy(&self, q: &[f64]) -> f64;
    /// Adds the gradient, N.
    fn add_gradient(&self, q: &[f64], g: &mut [f64]);
    /// Adds the Hessian, N/m.
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix);
    /// Adds the discrete gradient between q₀ and q₁, N. Returns `false` where it is infeasible.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool;
    /// The largest multiple of `d` that is known to be feasible from `q`; it may be infinite.
    fn max_step(&self, q: &[f64], d: &[f64]) -> f64;
    /// Updates lagged quantities at q. Returns whether they changed so much that the step must be solved again.
    fn lag(&mut self, q: &[f64]) -> bool;
    /// The history after a step that ended at q.
    fn end_step(&self, q: &[f64]) -> TermHistory;
}
