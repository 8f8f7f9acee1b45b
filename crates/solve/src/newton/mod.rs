//! Newton's method in two forms: [`minimize`] for a function whose gradient is the equation, [`find_root`] for equations
//! without such a function.
//!
//! \[kharevych2006\] §4 argues for minimisation. The root finder serves forces without a potential (viscosity, discrete
//! gradients), and allows the two to be compared.
//!
//! Convergence is judged by the Newton correction, not by the gradient. The correction is a length, has the same meaning
//! for soft and stiff bodies, and does not suffer from round-off in stiff forces. A correction below the tolerance is
//! still applied. The remaining error is then its square, and the error of the linear solve.
//!
//! ```
//! use lilyan_solve::newton::{Curvature, Objective, Stopping, Workspace, minimize};
//! use lilyan_solve::{BlockMatrix, BlockPattern};
//! use std::sync::Arc;
//!
//! /// ½|x|² + ¼|x|⁴ − 2 x₀, which is least at (1, 0, 0).
//! struct Well;
//!
//! impl Objective for Well {
//!     fn value(&mut self, x: &[f64]) -> (f64, f64) {
//!         let square: f64 = x.iter().map(|x| x * x).sum();
//!         (0.5 * square + 0.25 * square * square - 2.0 * x[0], 1.0)
//!     }
//!     fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
//!         let square: f64 = x.iter().map(|x| x * x).sum();
//!         (0..3).for_each(|i| g[i] = (1.0 + square) * x[i]);
//!         g[0] -= 2.0;
//!     }
//!     fn hessian(&mut self, x: &[f64], _: Curvature, h: &mut BlockMatrix) {
//!         let square: f64 = x.iter().map(|x| x * x).sum();
//!         h.clear();
//!         h.add_diagonal(&[1.0 + square; 3]);
//!         h.add_block(0, 0, &std::array::from_fn(|k| 2.0 * x[k / 3] * x[k % 3]));
//!     }
//! }
//!
//! let mut work = Workspace::new(Arc::new(BlockPattern::from_cliques(1, std::iter::empty())));
//! let stopping =
//!     Stopping { tolerance: 1e-9, max_iterations: 20, length: 1.0, direct: false, conserving: false, enough: None };
//! let mut x = [0.0; 3];
//! let report = minimize(&mut Well, &mut x, &[0.0; 3], &stopping, &mut work)?;
//! assert!(report.iterations < 10 && (x[0] - 1.0).abs() < 1e-9);
//! # Ok::<(), lilyan_solve::newton::SolveError>(())
//! ```

mod bfgs;
mod failure;
mod forcing;
mod line_search;
mod linear_step;
mod memory;
mod minimize;
mod quasi_newton;
mod root;
mod symmetric;
mod workspace;

pub use crate::linear::{Backoff, Kept, LinearMemory};
pub use bfgs::minimize_by_bfgs;
pub use failure::SolveError;
pub use linear_step::{Linearisation, RigidMotions};
pub use memory::{KeptMemory, MemoryVersion, SolverMemory, UnknownVersion};
pub use minimize::minimize;
pub use root::find_root;
pub use workspace::{SolverChoice, Workspace};

use crate::{BlockMatrix, Deflation, SparseRows};
use serde::{Deserialize, Serialize};

/// Which Hessian is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Curvature {
    /// The Hessian itself, possibly indefinite.
    Exact,
    /// Its positive semidefinite projection, element by element.
    Projected,
}

/// A function to be minimised.
pub trait Objective {
    /// Value, and the magnitude of its largest term (the round-off of the value is ε times that). The value is +∞ where
    /// `x` is infeasible.
    fn value(&mut self, x: &[f64]) -> (f64, f64);
    /// Gradient, overwriting `g`. It is zero for Dirichlet unknowns.
    fn gradient(&mut self, x: &[f64], g: &mut [f64]);
    /// Hessian, overwriting `h`. Rows of Dirichlet unknowns are those of the identity.
    fn hessian(&mut self, x: &[f64], curvature: Curvature, h: &mut BlockMatrix);
    /// A low-rank part of the Hessian in addition to that matrix. It is the same at every point.
    fn low_rank(&self) -> Option<Deflation> {
        None
    }
    /// Largest multiple of `d` that is known to be feasible from `x`.
    fn max_step(&mut self, _x: &[f64], _d: &[f64]) -> f64 {
        f64::INFINITY
    }
    /// What the Hessian depends on besides `x`. Another step may reuse a preconditioner if the numbers
    /// [`ReuseKey::same`] agree. `None`: no reuse.
    fn reuse_key(&self) -> Option<ReuseKey> {
        None
    }
    /// Which second derivative [`Objective::hessian`] is at `x`, if that is not always the one asked for.
    fn curvature_at(&self, _x: &[f64], asked: Curvature) -> Curvature {
        asked
    }
    /// The Hessian at another time; see [`Objective::hessian`].
    fn hessian_at_time(&mut self, _time: f64, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.hessian(x, curvature, h);
    }
}

/// What a Hessian depends on besides the unknowns. It decides whether a preconditioner may be reused.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReuseKey {
    /// Time of the evaluation, s.
    pub time: f64,
    /// Numbers that must agree in steps that share a preconditioner, e.g. weights and a hash of the Dirichlet dofs.
    pub same: [f64; 3],
}

/// Equations to be solved, r(x) = 0.
pub trait Equations {
    /// Residual, overwriting `r`. It is zero for Dirichlet unknowns. Returns `false` where `x` is infeasible.
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> bool;
    /// A symmetric approximation of ∂r/∂x, overwriting `a`. Rows of Dirichlet unknowns are those of the identity.
    fn preconditioner(&mut self, x: &[f64], curvature: Curvature, a: &mut BlockMatrix);
    /// Whether that approximation is so close that corrections with it alone converge fast, which saves products with the
    /// Jacobian.
    fn is_nearly_symmetric(&self) -> bool {
        false
    }
    /// See [`Objective::curvature_at`].
    fn curvature_at(&self, _x: &[f64], asked: Curvature) -> Curvature {
        asked
    }
    /// Velocities on which the approximation at x depends, overwriting `rates`.
    fn rates(&mut self, _x: &[f64], rates: &mut Vec<f64>) {
        rates.clear();
    }
    /// The approximation for another time and other velocities; see [`Equations::preconditioner`].
    fn preconditioner_at_time(
        &mut self,
        _time: f64,
        x: &[f64],
        _rates: &[f64],
        curvature: Curvature,
        a: &mut BlockMatrix,
    ) {
        self.preconditioner(x, curvature, a);
    }
    /// See [`Objective::reuse_key`].
    fn reuse_key(&self) -> Option<ReuseKey> {
        None
    }
    /// A low-rank part of the approximation in addition to that matrix.
    fn low_rank(&self) -> Option<Deflation> {
        None
    }
    /// Weights of the merit function Σ wᵢ rᵢ².
    fn weight(&self, i: usize) -> f64;
    /// Number of Lagrange multipliers. They follow the unknowns in `x`, and the constraints follow the equations in `r`.
    fn multipliers(&self) -> usize {
        0
    }
    /// B, the transposed derivative of the residual with respect to the multipliers at `x`. The derivative of the
    /// constraints with respect to the unknowns is close to it. B is zero for Dirichlet unknowns.
    fn rows(&mut self, _x: &[f64], b: &mut SparseRows) {
        b.clear();
    }
    /// Whether B depends on the unknowns.
    fn rows_move(&self) -> bool {
        false
    }
    /// Whether constraints with these residuals are satisfied to their tolerance.
    fn constraints_satisfied(&self, _r: &[f64]) -> bool {
        true
    }
    /// Largest multiple of `d` that is known to be feasible from `x`.
    fn max_step(&mut self, _x: &[f64], _d: &[f64]) -> f64 {
        f64::INFINITY
    }
}

/// The stopping criteria of a Newton solve.
#[derive(Clone, Copy, Debug)]
pub struct Stopping {
    /// Relative tolerance of the last Newton correction.
    pub tolerance: f64,
    /// The iteration limit.
    pub max_iterations: usize,
    /// Size of the body, m. It sets the level of round-off in corrections.
    pub length: f64,
    /// Whether every linear system gets its own factorisation.
    pub direct: bool,
    /// Whether the remaining error must be as small as the square of the tolerance, which is what an exact Newton
    /// correction leaves. A method that conserves momenta does so to the accuracy of its equations.
    pub conserving: bool,
    /// A looser tolerance that suffices in real-time mode. The solve then reports its shortfall.
    pub enough: Option<f64>,
}

impl Stopping {
    /// The same criteria with the tolerance in force.
    fn in_force(&self) -> Self {
        Self { tolerance: self.enough.unwrap_or(self.tolerance).max(self.tolerance), ..*self }
    }

    /// Two thresholds in the maximum norm at `x`, for a step that began at `origin`: the largest converged correction, and
    /// the largest remaining error.
    fn thresholds(&self, x: &[f64], origin: &[f64]) -> [f64; 2] {
        // 1e-4: the accuracy for a body at rest is tolerance × 0.1 mm per metre.
        let resolved = self.resolved(x);
        let converged =
            self.tolerance * distance(x, origin) + (self.tolerance * 1e-4 * self.length).max(resolved);
        [
            converged,
            if self.conserving { (self.tolerance * converged).max(0.1 * resolved) } else { converged },
        ]
    }

    /// The same thresholds for corrections that do not converge quadratically. If quantities are conserved, the last
    /// correction leaves as little as one of the Newton–Krylov method.
    fn linear_thresholds(&self, x: &[f64], origin: &[f64]) -> [f64; 2] {
        let [converged, _] = self.thresholds(x, origin);
        let close = (root::FORCING * converged).max(self.resolved(x) / 32.0);
        [converged, if self.conserving { close } else { converged }]
    }

    /// Round-off of positions, which may be far from the origin of coordinates: 32 ε.
    fn resolved(&self, x: &[f64]) -> f64 {
        32.0 * f64::EPSILON * self.length.max(max_norm(x))
    }
}

/// Statistics of a Newton solve.
#[derive(Clone, Debug, Default)]
pub struct SolveReport {
    /// Newton iterations.
    pub iterations: usize,
    /// Linear iterations in all (0 if every system was solved directly).
    pub linear_iterations: usize,
    /// Linear systems that were solved with a multigrid method.
    pub multigrid: usize,
    /// Maximum norm of each correction, m.
    pub corrections: Vec<f64>,
    /// If the solve stopped at the looser tolerance: the last or the predicted next correction, divided by what the
    /// requested tolerance allows. 0 if it converged.
    pub shortfall: f64,
}

fn check_finite(v: &[f64]) -> Result<(), SolveError> {
    match v.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(dof) => Err(SolveError::NotFinite { dof: Some(dof) }),
    }
}

/// Indices of the eight entries of largest magnitude, largest first.
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
