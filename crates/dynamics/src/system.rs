//! The seam between mechanics and time stepping: flat vectors in, flat vectors out.

use crate::Mass;
use crate::constraints::{self, Constraint};
use crate::corotated::Corotated;
use crate::fit::{Correction, Fit};
use crate::strains::Strained;
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::ops::Range;
use std::sync::Arc;

/// A mechanical system M q̈ = −∇W(t, q) + f(t, q, q̇), with some unknowns held.
///
/// A finite-element model is one; so are a pendulum and three springs. Unknowns come in threes.
pub trait System: Sync {
    /// Number of unknowns, a multiple of three.
    fn dofs(&self) -> usize;
    /// Which 3×3 blocks of the second derivative may be nonzero.
    fn pattern(&self) -> &Arc<BlockPattern>;
    /// M.
    fn mass(&self) -> &Mass;
    /// A length that characterises the system, m; tolerances are relative to it.
    fn length(&self) -> f64;

    /// W(t, q), J; +∞ where q is infeasible. Includes −load(t)·q.
    fn energy(&self, t: f64, q: &[f64]) -> f64;
    /// ∇W(t, q), N, overwriting `g`.
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]);
    /// Adds ∇²W(t, q), N/m, to `h`.
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix);
    /// Adds the stiff part of ∇²W(t, q), positive semidefinite, N/m, for methods that take only that implicitly
    /// and ∇W explicitly. By default all of the projected ∇²W.
    fn stiff_hessian(&self, t: f64, q: &[f64], _part: StiffPart, h: &mut BlockMatrix) {
        self.hessian(t, q, Curvature::Projected, h);
    }

    /// Which 3×3 blocks of the stiff part may be nonzero; M and the damping matrix must fit in as well.
    fn stiff_pattern(&self, _part: StiffPart) -> &Arc<BlockPattern> {
        self.pattern()
    }

    /// A discrete gradient: ∇̄W·(q₁−q₀) = W(q₁) − W(q₀), equivariant under rigid motion where W is
    /// invariant; overwrites `g`. `false` where infeasible. The default is Gonzalez' correction of
    /// the midpoint gradient, which keeps energy; systems that conserve angular momentum must
    /// provide their own.
    fn discrete_gradient(&self, t: f64, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let middle: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        self.gradient(t, &middle, g);
        let (w0, w1) = (self.energy(t, q0), self.energy(t, q1));
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

    /// Adds the given loads at time t (dead forces, N) to `f`. They are part of W as −load·q; asked
    /// for again only to account for their work.
    fn load(&self, _t: f64, _f: &mut [f64]) {}
    /// Whether `load` does anything.
    fn has_load(&self) -> bool {
        false
    }

    /// Whether there are forces without potential.
    fn has_forces(&self) -> bool {
        false
    }
    /// Adds the forces without potential f(t, q, v), N.
    fn forces(&self, _t: f64, _q: &[f64], _v: &[f64], _f: &mut [f64]) {}
    /// Adds their mean over a step from q₀ at `t0` to q₁. By default the force at the midpoint: for
    /// viscosity that is what keeps momenta and always dissipates.
    fn forces_between(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let q: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let v: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| (b - a) / h).collect();
        self.forces(t0 + 0.5 * h, &q, &v, f);
    }
    /// Adds a symmetric positive semidefinite approximation of −∂f/∂v at (t, q), N s/m.
    fn damping(&self, _t: f64, _q: &[f64], _d: &mut BlockMatrix) {}
    /// Whether an impulse is to be applied at the end of every step.
    fn has_impulse(&self) -> bool {
        false
    }
    /// Adds the impulse (N s) that a step from q₀ to q₁ leaves behind: damping that is evaluated once
    /// q₁ is known (the explicit F^{d+} of \[kharevych2006\]).
    fn impulse(&self, _h: f64, _q0: &[f64], _q1: &[f64], _j: &mut [f64]) {}

    /// Marks the unknowns that are held during a step that ends at `t`.
    fn held(&self, _t: f64, mask: &mut [bool]) {
        mask.fill(false);
    }
    /// Writes the position and velocity of the unknowns held at `t`.
    fn place_held(&self, _t: f64, _q: &mut [f64], _v: &mut [f64]) {}
    /// Whether anything held moves, so that holding it does work.
    fn held_moves(&self) -> bool {
        false
    }

    /// Constraints beside those held unknowns, to be kept exactly; see [`crate::constraints`].
    fn constraints(&self) -> &[Box<dyn Constraint>] {
        &[]
    }

    /// Which of the constraints are in force during a step that ends at `t`.
    fn in_force(&self, t: f64) -> Vec<usize> {
        constraints::active(self.constraints(), t)
    }

    /// Largest multiple of `d` that is known to be feasible from `q`.
    fn max_step(&self, _q: &[f64], _d: &[f64]) -> f64 {
        f64::INFINITY
    }

    /// ∇W of what is stored in the deformation of bodies, overwriting `g`. By default all but the loads.
    fn inner_gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.gradient(t, q, g);
        self.load(t, g);
    }
    /// Adds the stiffness against deformation, ∇²W without what acts from outside.
    fn inner_hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.hessian(t, q, curvature, h);
    }
    /// Whether that of the bodies with these unknowns is the same at all times and places, as of linear materials.
    fn has_constant_stiffness(&self, _dofs: &Range<usize>) -> bool {
        false
    }
    /// Adds those of the forces without potential that do not come from deformation, N.
    fn outer_forces(&self, _t: f64, _q: &[f64], _v: &[f64], _f: &mut [f64]) {}
    /// Bodies whose lowest modes are to have other frequencies; see [`crate::fit`].
    fn fits(&self) -> &[Fit] {
        &[]
    }
    /// What ∇²W and the damping matrix have beyond the sparse matrices that [`System::hessian`] and
    /// [`System::damping`] give: there is then no W whose gradient [`System::gradient`] is.
    fn correction(&self) -> Option<&Correction> {
        None
    }

    /// The stiffness that turns with the elements; the error names what has none, and the remedy.
    fn corotated(&self) -> Result<&dyn Corotated, String> {
        Err("this system has no co-rotated stiffness; use another integrator, \"energy-momentum\" say".into())
    }

    /// The elastic energy as strains and compliances; the error names what has none, and the remedy.
    fn strained(&self) -> Result<&dyn Strained, String> {
        Err("this system has no strains; use another integrator, \"backward-euler\" say".into())
    }
    /// Whether some strains have no compliance, so that W leaves out what they would cost and only
    /// [`System::strained`] tells the truth.
    fn incompressible(&self) -> bool {
        false
    }

    /// Potential energy by kind, without the loads.
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts { other: self.energy(t, q), ..EnergyParts::default() }
    }
}

/// Which part of the stiffness an additive split takes as the stiff one \[chen2019\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StiffPart {
    /// The material stiffness of springs, without the geometric one.
    Material,
    /// The stiffness of elements, without what joins discontinuous ones.
    Elements,
}

/// Potential energy by kind, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyParts {
    /// Stored in deformation.
    pub elastic: f64,
    /// In uniform gravity.
    pub gravity: f64,
    /// Contact, monopole, whatever else.
    pub other: f64,
}

impl EnergyParts {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.elastic + self.gravity + self.other
    }
}
