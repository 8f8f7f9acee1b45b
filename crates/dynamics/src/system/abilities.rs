//! The optional abilities of a system beyond mass and energy, with one small trait each.
//!
//! [`Abilities`] is a struct without defaults. A system that is not a decorator starts from [`Abilities::NONE`] and adds its
//! abilities. A decorator that changes nothing returns the abilities of the inner system. A decorator that changes something
//! names every field, so that a new ability does not compile until it is handled there.

use super::constraint::{Constraint, Constraints};
use super::corotated::Corotated;
use super::fit::{Deformation, Fit, ModalCorrection};
use super::strains::Strained;
use super::terms::StatefulTerms;
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// The abilities of a system; `None` for those that it does not have.
#[derive(Clone, Copy)]
pub struct Abilities<'a> {
    /// Unknowns whose motion is prescribed (Dirichlet).
    pub prescribed: Option<&'a dyn PrescribedMotion>,
    /// Dead loads.
    pub loads: Option<&'a dyn Loads>,
    /// Forces without potential.
    pub dissipation: Option<&'a dyn Dissipation>,
    /// The share of these forces that is applied from outside.
    pub applied: Option<&'a dyn AppliedForces>,
    /// The share of these forces that is friction of contacts.
    pub friction: Option<&'a dyn Friction>,
    /// An impulse at the end of every step.
    pub end_impulse: Option<&'a dyn EndImpulse>,
    /// Constraints g(q) = 0.
    pub constraints: Option<&'a dyn Constraints>,
    /// A limit of feasible steps.
    pub feasible_step: Option<&'a dyn FeasibleStep>,
    /// Terms of W with state within a step: active contacts, lagged friction.
    pub terms: Option<&'a dyn StatefulTerms>,
    /// The part of W, beside loads, that changes in time.
    pub timed: Option<&'a dyn TimedPotential>,
    /// A discrete gradient that also conserves momenta; see [`super::discrete_gradient`] for `None`.
    pub discrete_gradient: Option<&'a dyn DiscreteGradient>,
    /// A stiff part of ∇²W. With `None` all of ∇²W is stiff.
    pub split: Option<&'a dyn AdditiveSplit>,
    /// A stiffness that rotates with the elements.
    pub corotated: Result<&'a dyn Corotated, Lacking>,
    /// The elastic energy as strains and compliances.
    pub strained: Result<&'a dyn Strained, Lacking>,
    /// Whether some strains have no compliance. Their energy is not part of W; only `strained` contains them.
    pub incompressible: bool,
    /// Internal forces separate from external ones, for modal fits.
    pub deformation: Option<&'a dyn Deformation>,
    /// A low-rank part of ∇²W and of the damping matrix, in addition to the sparse matrices.
    pub correction: Option<&'a dyn ModalCorrection>,
}

impl<'a> Abilities<'a> {
    /// No abilities.
    pub const NONE: Self = Self {
        prescribed: None,
        loads: None,
        dissipation: None,
        applied: None,
        friction: None,
        end_impulse: None,
        constraints: None,
        feasible_step: None,
        terms: None,
        timed: None,
        discrete_gradient: None,
        split: None,
        corotated: Err(Lacking::Corotation),
        strained: Err(Lacking::Strains),
        incompressible: false,
        deformation: None,
        correction: None,
    };

    /// Overwrites `mask` with the Dirichlet dofs of a step that ends at `t`.
    pub fn mark_prescribed(&self, t: f64, mask: &mut [bool]) {
        mask.fill(false);
        if let Some(prescribed) = self.prescribed {
            prescribed.mark_prescribed(t, mask);
        }
    }

    /// Writes position and velocity of the unknowns that are prescribed at `t`.
    pub fn place_prescribed(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        if let Some(prescribed) = self.prescribed {
            prescribed.place_prescribed(t, q, v);
        }
    }

    /// Whether a prescribed unknown moves, so that its reaction does work.
    pub fn prescribed_moves(&self) -> bool {
        self.prescribed.is_some_and(|prescribed| prescribed.prescribed_moves())
    }

    /// All constraints.
    pub fn constraints(&self) -> &'a [Box<dyn Constraint>] {
        self.constraints.map_or(&[], |constraints| constraints.list())
    }

    /// The constraints in force during a step that ends at `t`, as indices of the list.
    pub fn in_force(&self, t: f64) -> Vec<usize> {
        self.constraints.map_or_else(Vec::new, |constraints| constraints.in_force(t))
    }

    /// The time at which constraints are evaluated for a state of time `t`.
    pub fn constraint_time(&self, t: f64) -> f64 {
        self.constraints.map_or(t, |constraints| constraints.time(t))
    }

    /// Whether a constraint changes in time, so that its force does work.
    pub fn constraints_move(&self) -> bool {
        self.constraints().iter().any(|constraint| constraint.moves())
    }

    /// The bodies whose lowest modes are fitted.
    pub fn fits(&self) -> &'a [Fit] {
        self.deformation.map_or(&[], |deformation| deformation.fits())
    }

    /// Whether steps must follow a feasible path, as for contact with a barrier.
    pub fn limits_steps(&self) -> bool {
        self.feasible_step.is_some() || self.terms.is_some()
    }
}

/// Unknowns whose motion is prescribed (Dirichlet).
pub trait PrescribedMotion {
    /// Sets `mask` for the unknowns that are prescribed during a step that ends at `t`.
    fn mark_prescribed(&self, t: f64, mask: &mut [bool]);
    /// Writes position (m) and velocity (m/s) of the unknowns that are prescribed at `t`.
    fn place_prescribed(&self, t: f64, q: &mut [f64], v: &mut [f64]);
    /// Whether any of them moves, so that its reaction does work.
    fn prescribed_moves(&self) -> bool;
}

/// Potential energy that changes in time, of moving obstacles say. It is part of W and of the energy parts. This trait serves only to
/// account for the work of what changes it.
pub trait TimedPotential {
    /// The work over a step between the times `t`, J: the change of its energy less the work of its discrete gradient
    /// ([`DiscreteGradient`]) in the motion.
    fn work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64;
    /// The work of its friction on what it carries along, J: the work of the mean friction and what friction dissipates.
    fn friction_work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64;
}

/// Dead loads. They are part of W as −load·q. This trait serves only to account for their work.
pub trait Loads {
    /// Adds the loads at time t, N.
    fn add_load(&self, t: f64, f: &mut [f64]);
}

/// Forces without potential f(t, q, v).
pub trait Dissipation {
    /// Adds f(t, q, v), N.
    fn add_forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]);
    /// Adds the mean of f over a step of `h` from q₀ at `t0` to q₁, N. See [`add_midpoint_forces`].
    fn add_mean_forces(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]);
    /// Adds a symmetric positive semidefinite approximation of −∂f/∂v at (t, q, v), N s/m.
    fn add_damping_matrix(&self, t: f64, q: &[f64], v: &[f64], d: &mut BlockMatrix);
    /// Adds such an approximation for the mean of f over a step of `h` with the mean velocity v; `between` is three quarters on the
    /// way. Without forces that act at the ends of the step alone, as friction of contacts does, it is
    /// [`add_damping_matrix`](Self::add_damping_matrix) there.
    fn add_mean_damping_matrix(&self, t: f64, h: f64, between: &[f64], v: &[f64], d: &mut BlockMatrix);
}

/// Friction of contacts. It is part of the forces of [`Dissipation`], where every method takes it from. This trait tells it apart
/// for the ledger and the tables.
pub trait Friction {
    /// Adds the part of the mean of f over a step between the times `t` that is friction, N.
    fn add_friction(&self, t: [f64; 2], q0: &[f64], q1: &[f64], f: &mut [f64]);
}

/// Forces f(t, q, v) from outside without potential: drag, swirl, follower pressure.
///
/// They are part of the forces of [`Dissipation`], where every method takes them from. This trait tells them apart: their work
/// is external, and static equilibria keep them, at velocity 0.
pub trait AppliedForces {
    /// Adds f(t, q, v), N.
    fn add_applied_forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]);
    /// Adds a symmetric positive semidefinite approximation D of −∂f/∂v at (t, q, v), N s/m.
    fn add_applied_damping_matrix(&self, t: f64, q: &[f64], v: &[f64], d: &mut BlockMatrix);
}

/// The part of applied forces that a damping matrix D at (q, v) leaves to the right side: f(t, q, w) + D w.
pub struct AppliedRemainder<'a> {
    applied: &'a dyn AppliedForces,
    damping: BlockMatrix,
}

impl<'a> AppliedRemainder<'a> {
    /// With D at (t, q, v); `None` if the system has no applied forces.
    pub fn at(
        abilities: &Abilities<'a>,
        pattern: &Arc<BlockPattern>,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Option<Self> {
        let applied = abilities.applied?;
        let mut damping = BlockMatrix::zeros(pattern.clone());
        applied.add_applied_damping_matrix(t, q, v, &mut damping);
        Some(Self { applied, damping })
    }

    /// f(t, q, w) + D w, N.
    pub fn force(&self, t: f64, q: &[f64], w: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; w.len()];
        self.damping.mul_vec(w, &mut force);
        self.applied.add_applied_forces(t, q, w, &mut force);
        force
    }
}

/// Adds the force at the midpoint with the mean velocity of a step. For viscosity this mean conserves momenta and never adds
/// energy.
pub fn add_midpoint_forces(of: &dyn Dissipation, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
    let q: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
    let v: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| (b - a) / h).collect();
    of.add_forces(t0 + 0.5 * h, &q, &v, f);
}

/// Damping that is evaluated after q₁ is known: the explicit F^{d+} of \[kharevych2006\].
pub trait EndImpulse {
    /// Adds the impulse of a step of `h` from q₀ to q₁, N s.
    fn add_end_impulse(&self, h: f64, q0: &[f64], q1: &[f64], j: &mut [f64]);
}

/// A limit of straight motions, e.g. by continuous collision detection.
///
/// The initial guess of a step, its line searches and its end all obey it.
pub trait FeasibleStep {
    /// The largest multiple of the straight motion `d` from `q` at `t[0]`, on the way until `t[1]`, that is known to be feasible; it may
    /// be infinite. Where anything moves in time between the two, only whether it is 1 or more tells something.
    fn max_step(&self, t: [f64; 2], q: &[f64], d: &[f64]) -> f64;
}

/// A discrete gradient of W between two times.
///
/// Loads are those of the middle. What moves is met as it moves: ∇̄W belongs to the motion relative to it, so that a step does not
/// depend on the frame of an observer at constant velocity.
pub trait DiscreteGradient {
    /// ∇̄W with ∇̄W·(q₁−q₀) = W(q₁) − W(q₀) where nothing moves, equivariant under rigid motion where W is invariant;
    /// overwrites `g`. Returns `false` where it is infeasible.
    fn discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool;
    /// Adds a symmetric approximation of its derivative with respect to q₁ to `h`, which is zero; see
    /// [`super::half_hessian`].
    fn add_discrete_hessian(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    );
}

/// A stiff part of W, for methods that treat only that part implicitly and ∇W explicitly.
pub trait AdditiveSplit {
    /// The 3×3 blocks of the stiff part that may be nonzero. The blocks of M and of the damping matrix are included.
    fn stiff_pattern(&self, part: StiffPart) -> &Arc<BlockPattern>;
    /// Adds the stiff part of ∇²W(t, q), positive semidefinite, N/m.
    fn add_stiff_hessian(&self, t: f64, q: &[f64], part: StiffPart, h: &mut BlockMatrix);
}

/// The part of the stiffness that an additive split treats as stiff \[chen2019\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StiffPart {
    /// The material stiffness of springs, without the geometric one.
    Material,
    /// The stiffness of elements, without the coupling terms of discontinuous ones.
    Elements,
}

/// The reason why a system has no co-rotated or strain form, and the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lacking {
    /// The system has no elements that rotate.
    #[error("this system has no co-rotated stiffness; use another integrator, \"energy-momentum\" say")]
    Corotation,
    /// The energy of a material has no co-rotated form.
    #[error(
        "the material model \"{material}\" has no co-rotated stiffness; use one of \"{}\", or another integrator",
        known.join("\", \"")
    )]
    CorotationOf {
        /// Its name.
        material: &'static str,
        /// Materials that have one.
        known: &'static [&'static str],
    },
    /// Elements that have no co-rotated form, whatever their material.
    #[error("{elements} have no co-rotated stiffness; set element = \"tets\", or use another integrator")]
    CorotationOfElements {
        /// Which, in the plural.
        elements: &'static str,
    },
    /// The system has no strains.
    #[error("this system has no strains; use another integrator, \"backward-euler\" say")]
    Strains,
    /// The energy of a material is no sum of squares of strains.
    #[error(
        "the material model \"{material}\" is no isotropic quadratic function of a strain; use \"stvk\", or another integrator"
    )]
    StrainsOf {
        /// Its name.
        material: &'static str,
    },
    /// Elements whose energy is no sum over strains, whatever their material.
    #[error("{elements} have no strains and compliances; set element = \"tets\", or use another integrator")]
    StrainsOfElements {
        /// Which, in the plural.
        elements: &'static str,
    },
    /// A spring has no length that its strain could be relative to.
    #[error("a spring of length 0 has no strain; use another integrator")]
    StrainOfZeroLength,
}
