//! The interface between mechanics and time integration, in flat vectors.
//!
//! A [`System`] has mass, energy and derivatives of the energy. Everything else is an optional ability ([`Abilities`]). This
//! folder uses no other part of the crate than [`crate::Mass`].

pub mod abilities;
mod configuration_space;
pub mod constraint;
pub mod corotated;
mod energy;
pub mod fit;
pub mod strains;
pub mod terms;

use crate::mass::Mass;
pub use abilities::Abilities;
pub use configuration_space::ConfigurationSpace;
pub use energy::EnergyParts;
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// A mechanical system M q̈ = −∇W(t, q) + f(t, q, q̇), some of whose unknowns may be prescribed.
///
/// Examples are a finite-element model, a pendulum, particles with springs. Each node has three unknowns. Only the
/// methods that read [`System::space`] have default implementations, which no system replaces.
pub trait System: Sync {
    /// Unknowns, couplings, mass and length.
    fn space(&self) -> &ConfigurationSpace;

    /// W(t, q), J; +∞ where q is infeasible. It includes −load(t)·q.
    fn energy(&self, t: f64, q: &[f64]) -> f64;
    /// ∇W(t, q), N; overwrites `g`.
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]);
    /// Adds ∇²W(t, q), N/m, to `h`.
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix);
    /// Potential energy by kind, without the loads.
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts;

    /// The optional abilities.
    fn abilities(&self) -> Abilities<'_>;

    /// Number of unknowns, a multiple of three.
    fn dofs(&self) -> usize {
        self.space().dofs()
    }
    /// The 3×3 blocks of ∇²W that may be nonzero.
    fn pattern(&self) -> &Arc<BlockPattern> {
        &self.space().pattern
    }
    /// M.
    fn mass(&self) -> &Mass {
        &self.space().mass
    }
    /// A length that characterises the system, m; tolerances are relative to it.
    fn length(&self) -> f64 {
        self.space().length
    }
}

/// ∇̄W with ∇̄W·(q₁−q₀) = W(q₁) − W(q₀); overwrites `g`. `false` where infeasible.
///
/// It is that of the system if there is one ([`Abilities::discrete_gradient`]). Otherwise it is the gradient at the midpoint
/// with the correction of \[gonzalez2000\], which conserves energy but not angular momentum. W is that of the middle of the step
/// between the times `t`; for things that move see [`abilities::DiscreteGradient`].
pub fn discrete_gradient(system: &dyn System, t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
    if let Some(own) = system.abilities().discrete_gradient {
        return own.discrete_gradient(t, q0, q1, g);
    }
    let middle: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
    let t = 0.5 * (t[0] + t[1]);
    system.gradient(t, &middle, g);
    let (w0, w1) = (system.energy(t, q0), system.energy(t, q1));
    let square: f64 = q0.iter().zip(q1).map(|(a, b)| (b - a) * (b - a)).sum();
    if square > 0.0 {
        let along: f64 = g.iter().zip(q0.iter().zip(q1)).map(|(g, (a, b))| g * (b - a)).sum();
        let lambda = (w1 - w0 - along) / square;
        for (g, (a, b)) in g.iter_mut().zip(q0.iter().zip(q1)) {
            *g += lambda * (b - a);
        }
    }
    w1.is_finite()
}

/// Three quarters on the way from q₀ to q₁: where half of the Hessian approximates the derivative of a discrete gradient with
/// respect to q₁.
///
/// The discrete gradient is the stress S(½(C₀ + C₁)) at the midpoint F̄. The derivative of its part in C is ½F̄ℂF₁ᵀ, whose
/// symmetric part is that of ½(F̄ + F₁).
pub fn three_quarters(q0: &[f64], q1: &[f64]) -> Vec<f64> {
    q0.iter().zip(q1).map(|(q, x)| 0.25 * q + 0.75 * x).collect()
}

/// Half of the Hessian at [`three_quarters`]. `h` is zero before.
pub fn half_hessian(
    system: &dyn System,
    t: [f64; 2],
    q0: &[f64],
    q1: &[f64],
    curvature: Curvature,
    h: &mut BlockMatrix,
) {
    system.hessian(0.5 * (t[0] + t[1]), &three_quarters(q0, q1), curvature, h);
    h.scale(0.5);
}

/// A symmetric approximation of the derivative of [`discrete_gradient`] with respect to q₁. `h` is zero before.
pub fn discrete_hessian(
    system: &dyn System,
    t: [f64; 2],
    q0: &[f64],
    q1: &[f64],
    curvature: Curvature,
    h: &mut BlockMatrix,
) {
    match system.abilities().discrete_gradient {
        Some(own) => own.add_discrete_hessian(t, q0, q1, curvature, h),
        None => half_hessian(system, t, q0, q1, curvature, h),
    }
}
