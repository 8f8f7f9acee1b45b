//! Newton's method twice: as a minimiser of a function whose gradient is the equation, and as a
//! root finder for equations that have no such function.
//!
//! \[kharevych2006\] §4 argues for minimising; the root finder stands beside it for forces without
//! potential (viscosity, discrete gradients) and so that the two can be compared.
//!
//! Convergence is judged by the Newton correction, not by the gradient: the correction is a length,
//! means the same for jelly and diamond, and is not spoilt by round-off in stiff forces. A
//! correction below tolerance is still applied: what is left is its square, and what the linear solve left of it.

mod failure;
mod minimize;
mod progress;
mod quasi;
mod root;
mod workspace;

pub use failure::SolveError;
pub use minimize::minimize;
pub use root::find_root;
pub use workspace::Workspace;

use crate::{BlockMatrix, Deflation, SparseRows};

/// Which second derivative is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// The second derivative itself, possibly indefinite.
    Exact,
    /// Its positive semidefinite projection, element by element.
    Projected,
}

/// A function to be minimised.
pub trait Objective {
    /// Value, and the magnitude of the largest term in it (its round-off is ε times that).
    /// +∞ where `x` is infeasible.
    fn value(&mut self, x: &[f64]) -> (f64, f64);
    /// Gradient, overwriting `g`; zero for held unknowns.
    fn gradient(&mut self, x: &[f64], g: &mut [f64]);
    /// Second derivative, overwriting `h`; identity for held unknowns.
    fn hessian(&mut self, x: &[f64], curvature: Curvature, h: &mut BlockMatrix);
    /// What the second derivative has beyond that matrix, along a few vectors; the same at every point.
    fn low_rank(&self) -> Option<Deflation> {
        None
    }
    /// Largest multiple of `d` that is known to be feasible from `x`.
    fn max_step(&mut self, _x: &[f64], _d: &[f64]) -> f64 {
        f64::INFINITY
    }
    /// What the second derivative depends on beside `x`: the time, and two numbers that must be the same for a factor
    /// to serve another step as well. `None`: it must not.
    fn circumstances(&self) -> Option<Circumstances> {
        None
    }
    /// The second derivative at another time; see [`Objective::hessian`].
    fn hessian_then(&mut self, _time: f64, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.hessian(x, curvature, h);
    }
}

/// See [`Objective::circumstances`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circumstances {
    /// s.
    pub time: f64,
    /// What does not change from step to step.
    pub same: [f64; 2],
}

/// Equations to be solved, r(x) = 0.
pub trait Equations {
    /// Residual, overwriting `r`; zero for held unknowns. `false` where `x` is infeasible.
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> bool;
    /// A symmetric approximation of ∂r/∂x, overwriting `a`; identity for held unknowns.
    fn preconditioner(&mut self, x: &[f64], curvature: Curvature, a: &mut BlockMatrix);
    /// What is to be added to that matrix along a few vectors.
    fn low_rank(&self) -> Option<Deflation> {
        None
    }
    /// Weights of the merit function Σ wᵢ rᵢ².
    fn weight(&self, i: usize) -> f64;
    /// How many multipliers of constraints follow the unknowns in `x`, and constraints their equations in `r`.
    fn multipliers(&self) -> usize {
        0
    }
    /// The derivative B of the residual in the multipliers, transposed, at `x`; the derivative of the constraints
    /// in the unknowns is close to it. Zero for held unknowns.
    fn rows(&mut self, _x: &[f64], b: &mut SparseRows) {
        b.clear();
    }
    /// Whether B depends on the unknowns.
    fn rows_move(&self) -> bool {
        false
    }
    /// Whether constraints with these residuals hold as closely as they are asked to.
    fn kept(&self, _r: &[f64]) -> bool {
        true
    }
    /// Largest multiple of `d` that is known to be feasible from `x`.
    fn max_step(&mut self, _x: &[f64], _d: &[f64]) -> f64 {
        f64::INFINITY
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Stopping {
    /// Relative size of the last Newton correction.
    pub tolerance: f64,
    /// Iterations before giving up.
    pub max_iterations: usize,
    /// Size of the body, m: the floor below which corrections are round-off.
    pub length: f64,
    /// Whether every linear system is solved by a factorisation of its own.
    pub direct: bool,
    /// Whether no more may be left than the square of the tolerance, which is what a whole correction leaves. Methods that
    /// keep momenta keep them as well as their equations are solved.
    pub conserving: bool,
    /// A looser tolerance, with which a solve in a hurry may be content; it then reports its shortfall.
    pub enough: Option<f64>,
}

impl Stopping {
    /// What is asked for, but with the tolerance in force.
    fn in_force(&self) -> Self {
        Self { tolerance: self.enough.unwrap_or(self.tolerance).max(self.tolerance), ..*self }
    }

    /// Corrections up to the first size (maximum norm) are converged at `x` when the step began at `origin`; up to the
    /// second may be left.
    fn thresholds(&self, x: &[f64], origin: &[f64]) -> [f64; 2] {
        // 1e-4: a body at rest is followed to tolerance × 0.1 mm per metre; 32 ε: round-off, of
        // positions that may be far from the origin of coordinates.
        let resolved = 32.0 * f64::EPSILON * self.length.max(max_norm(x));
        let converged =
            self.tolerance * distance(x, origin) + (self.tolerance * 1e-4 * self.length).max(resolved);
        [
            converged,
            if self.conserving { (self.tolerance * converged).max(0.1 * resolved) } else { converged },
        ]
    }
}

/// How a solve went.
#[derive(Clone, Debug, Default)]
pub struct SolveReport {
    /// Newton iterations.
    pub iterations: usize,
    /// Linear iterations inside them (0 where every system was solved directly).
    pub linear_iterations: usize,
    /// Linear systems that were solved with a multigrid method.
    pub multigrid: usize,
    /// Maximum norm of each correction, m.
    pub corrections: Vec<f64>,
    /// How many times the last correction, or the one to be expected next, was what the tolerance asked for allows, where the
    /// solve was content with a looser one; 0 where it converged.
    pub shortfall: f64,
}

fn check_finite(v: &[f64]) -> Result<(), SolveError> {
    match v.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(dof) => Err(SolveError::NotFinite { dof: Some(dof) }),
    }
}

/// The eight entries of largest size, largest first.
fn largest(v: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..v.len()).collect();
    order.sort_by(|&a, &b| v[b].abs().total_cmp(&v[a].abs()));
    order.truncate(8);
    order
}

/// max |vᵢ|.
pub fn max_norm(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// Σ aᵢ bᵢ.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}
