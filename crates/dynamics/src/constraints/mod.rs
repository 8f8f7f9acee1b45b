//! Constraints that are held exactly: g(q) = 0 at the end of every step, by forces that do no work.
//!
//! After \[kharevych2006\] §3.5. Whatever map (q₀, p₀) → (q₁, p₁) a method has, with constraints it becomes
//!
//!   (q₁, p) = Φ(q₀, p₀ + J(q₀)ᵀμ)  with μ such that g(q₁) = 0,   p₁ = p + J(q₁)ᵀν  with ν such that J(q₁)M⁻¹p₁ = 0,
//!
//! J = ∂g/∂q: RATTLE \[andersen1983\]. It is symplectic where Φ is, reversible where Φ is, and of the same order
//! \[hairer2006, VII.1.3\]. `energy-momentum` takes the force along a discrete gradient of g instead
//! \[gonzalez1999\], which does no work over the step, and leaves the velocities as they come.
//!
//! Every gᵢ is a length (m), so that its multiplier is a force (N): μ and ν are impulses, and (μ + ν)/h is the
//! mean force over the step.

mod distance;
mod holding;
mod start;

pub use distance::Distance;
pub use holding::Holding;
pub use start::{StartError, start};

use crate::System;
use lilyan_solve::SparseRows;

/// How closely constraints are held, relative to their [`Constraint::scale`].
pub const KEPT: f64 = 1e-10;

/// One equation g(q) = 0.
pub trait Constraint: Send + Sync {
    /// What it is called in messages and results.
    fn name(&self) -> &str;
    /// g, m.
    fn value(&self, q: &[f64]) -> f64;
    /// A length that |g| is judged by, m: that of a rod, the edge of a cube of the volume.
    fn scale(&self) -> f64;
    /// Calls `entry(node, ∂g/∂xₙ)` once for every node that it concerns.
    fn gradient(&self, q: &[f64], entry: &mut dyn FnMut(usize, [f64; 3]));
    /// The same for a discrete gradient: ∇̄g·(q₁−q₀) = g(q₁) − g(q₀), without force and torque where g is
    /// invariant.
    fn discrete_gradient(&self, q0: &[f64], q1: &[f64], entry: &mut dyn FnMut(usize, [f64; 3]));
    /// Released after this time, s.
    fn until(&self) -> f64 {
        f64::INFINITY
    }
}

/// Those in force during a step that ends at t, by their place in the list.
pub fn active(constraints: &[Box<dyn Constraint>], t: f64) -> Vec<usize> {
    // Half a nanosecond of slack, as for pins: the step that ends at `until` is still held.
    (0..constraints.len()).filter(|&i| t <= constraints[i].until() + 5e-10).collect()
}

/// ∂g/∂q of those constraints.
pub fn jacobian(system: &dyn System, which: &[usize], q: &[f64], rows: &mut SparseRows) {
    fill(which, rows, |i, entry| system.constraints()[i].gradient(q, entry));
}

/// Discrete gradients of those constraints.
pub fn discrete_jacobian(
    system: &dyn System,
    which: &[usize],
    q0: &[f64],
    q1: &[f64],
    rows: &mut SparseRows,
) {
    fill(which, rows, |i, entry| system.constraints()[i].discrete_gradient(q0, q1, entry));
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

/// The largest |g|/scale of the constraints in force at t, and which it is.
pub fn worst(system: &dyn System, t: f64, q: &[f64]) -> Option<(usize, f64)> {
    let excess = |i: usize| {
        let c = &system.constraints()[i];
        let excess = (c.value(q) / c.scale()).abs();
        if excess.is_nan() { f64::INFINITY } else { excess }
    };
    system.in_force(t).into_iter().map(|i| (i, excess(i))).max_by(|a, b| a.1.total_cmp(&b.1))
}
