//! Holonomic constraints g(t, q) = 0, satisfied at the end of every step by forces that do no work unless g changes in time.
//!
//! The method follows \[kharevych2006\] §3.5. A map Φ: (q₀, p₀) → (q₁, p₁) becomes, with constraints,
//!
//!   (q₁, p) = Φ(q₀, p₀ + J(q₀)ᵀμ)  with μ such that g(q₁) = 0,   p₁ = p + J(q₁)ᵀν  with ν such that J(q₁)M⁻¹p₁ = −∂g/∂t,
//!
//! with J = ∂g/∂q. This is RATTLE \[andersen1983\]. It is symplectic if Φ is, reversible if Φ is, and of the same order
//! \[hairer2006, VII.1.3\]. `energy-momentum` uses a discrete gradient of g as the direction of the force instead
//! \[gonzalez1999\]. This force does no work over the step, and the velocities are not projected.
//!
//! Every gᵢ is a length (m), so that its multiplier is a force (N). μ and ν are impulses, and (μ + ν)/h is the mean force over
//! the step.

mod distance;
mod on_surface;
mod solver;
mod start;

pub use distance::{Distance, RodLength};
pub use on_surface::{OnSurface, SurfaceEquation};
pub use solver::ConstraintSolver;
pub use start::{StartError, start};

pub use crate::system::constraint::{Constraint, Constraints, active};

use crate::System;
use lilyan_solve::SparseRows;

/// The accuracy of constraints, relative to their [`Constraint::scale`].
pub const TOLERANCE: f64 = 1e-10;

/// The Jacobian ∂g/∂q of the constraints `which` at (t, q).
pub fn jacobian(system: &dyn System, which: &[usize], t: f64, q: &[f64], rows: &mut SparseRows) {
    let (constraints, t) = (system.abilities().constraints(), system.abilities().constraint_time(t));
    fill(which, rows, |i, entry| constraints[i].gradient(t, q, entry));
}

/// The discrete gradients of the constraints `which` between (t₀, q₀) and (t₁, q₁).
pub fn discrete_jacobian(
    system: &dyn System,
    which: &[usize],
    t: [f64; 2],
    q0: &[f64],
    q1: &[f64],
    rows: &mut SparseRows,
) {
    let (constraints, t) =
        (system.abilities().constraints(), t.map(|t| system.abilities().constraint_time(t)));
    fill(which, rows, |i, entry| constraints[i].discrete_gradient(t, q0, q1, entry));
}

fn fill(
    which: &[usize],
    rows: &mut SparseRows,
    mut each: impl FnMut(usize, &mut dyn FnMut(usize, [f64; 3])),
) {
    rows.clear();
    for &i in which {
        each(i, &mut |node, g| {
            for k in 0..3 {
                rows.push(3 * node + k, g[k]);
            }
        });
        rows.end_row();
    }
}

/// The constraint in force at t with the largest |g|/scale, and this ratio.
pub fn worst(system: &dyn System, t: f64, q: &[f64]) -> Option<(usize, f64)> {
    let abilities = system.abilities();
    let excess = |i: usize| {
        let c = &abilities.constraints()[i];
        let excess = (c.value(abilities.constraint_time(t), q) / c.scale()).abs();
        if excess.is_nan() { f64::INFINITY } else { excess }
    };
    abilities.in_force(t).into_iter().map(|i| (i, excess(i))).max_by(|a, b| a.1.total_cmp(&b.1))
}
