//! Potentials: each one file, summed by the [`crate::Model`].

mod gravity;
mod monopole;
mod tether;

pub use gravity::Gravity;
pub use monopole::Monopole;
pub use tether::Tether;

use lilyan_dynamics::StiffPart;
use lilyan_dynamics::corotated::Rotation;
use lilyan_dynamics::strains::Strains;
use lilyan_dynamics::system::abilities::FeasibleStep;
use lilyan_dynamics::system::terms::StatefulTerms;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::Arc;

/// In which column of the energy report a potential appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Stored in deformation.
    Elastic,
    /// Uniform gravity.
    Gravity,
    /// Anything else.
    Other,
}

/// What a potential is to a model. A potential names every field, or says that it is [`smooth`](PotentialRole::smooth).
#[derive(Clone, Copy)]
pub struct PotentialRole<'a> {
    /// Its column in the report.
    pub kind: Kind,
    /// Whether it keeps bodies out of something.
    pub is_contact: bool,
    /// The limit to steps of a potential that no motion may pass through, such as a barrier. `None` for potentials that allow
    /// every motion. A penalty allows penetration, and a line search refuses infinite energies by itself.
    pub feasible_step: Option<&'a dyn FeasibleStep>,
    /// Its terms with state within a step, beside its own W: lagged friction, active sets.
    pub terms: Option<&'a dyn StatefulTerms>,
    /// The derivative of its discrete gradient, where half of the Hessian three quarters on the way is far from it: a barrier may be out
    /// of reach there and felt at an end.
    pub discrete_hessian: Option<&'a dyn DiscreteHessian>,
    /// Its friction.
    pub friction: Option<&'a dyn ContactFriction>,
    /// Where it cannot start from.
    pub intersections: Option<&'a dyn Intersections>,
}

/// Forces of a contact against sliding. Normal loads and tangents are those of the normal forces of the same evaluation.
pub trait ContactFriction {
    /// Adds the force at positions q and velocities v, N.
    fn add_friction(&self, q: &[f64], v: &[f64], f: &mut [f64]);
    /// Adds the mean force over a step of `h` whose normal forces are the discrete gradient, N.
    fn add_mean_friction(&self, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]);
    /// Adds a positive semidefinite approximation of −∂f/∂v of the force at positions q and velocities v, N s/m.
    fn add_friction_matrix(&self, q: &[f64], v: &[f64], d: &mut BlockMatrix);
    /// The same for the mean force over a step.
    fn add_mean_friction_matrix(&self, h: f64, q0: &[f64], q1: &[f64], d: &mut BlockMatrix);
}

/// Surfaces that touch or cut each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intersection {
    /// A node of each; `None` for an obstacle.
    pub nodes: [Option<u32>; 2],
    /// Where, m.
    pub place: [f64; 3],
}

/// What a potential that no motion passes through cannot start from.
pub trait Intersections {
    /// The first pair of surfaces that touch or cut each other at q.
    fn first_intersection(&self, q: &[f64]) -> Option<Intersection>;
}

/// The derivative of a discrete gradient.
pub trait DiscreteHessian {
    /// Adds a symmetric approximation of the derivative with respect to q₁, N/m.
    fn add_discrete_hessian(&self, q0: &[f64], q1: &[f64], curvature: Curvature, h: &mut BlockMatrix);
}

impl PotentialRole<'_> {
    /// A potential of the positions alone that allows every motion and is not contact.
    pub const fn smooth(kind: Kind) -> Self {
        Self {
            kind,
            is_contact: false,
            feasible_step: None,
            terms: None,
            discrete_hessian: None,
            friction: None,
            intersections: None,
        }
    }

    /// Contact that allows penetration.
    pub const fn penalty() -> Self {
        Self { is_contact: true, ..Self::smooth(Kind::Other) }
    }
}

/// Why an elastic energy has no form that a method needs, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutForm {
    /// This material model has none.
    Material(&'static str),
    /// No material has one in these elements, in the plural.
    Elements(&'static str),
}

/// A potential of the nodal positions.
pub trait Potential: Send + Sync {
    /// What it is to a model: its column in the report, whether it is contact, limits and state.
    fn role(&self) -> PotentialRole<'_>;
    /// The potential as one that moves. The functions below then refer to some fixed time.
    fn moving(&self) -> Option<&dyn MovingPotential> {
        None
    }
    /// W, J; +∞ where infeasible.
    fn energy(&self, q: &[f64]) -> f64;
    /// Adds ∇W, N.
    fn add_gradient(&self, q: &[f64], g: &mut [f64]);
    /// Adds ∇²W, N/m.
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix);
    /// Adds the stiff part of ∇²W (see [`lilyan_dynamics::system::abilities::AdditiveSplit`]); by default all of its projection.
    fn add_stiff_hessian(&self, q: &[f64], _part: StiffPart, h: &mut BlockMatrix) {
        self.add_hessian(q, Curvature::Projected, h);
    }
    /// Adds a discrete gradient between q₀ and q₁ (see [`lilyan_dynamics::System`]); `false` where
    /// infeasible.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool;

    /// The strains that its energy is made of (see [`lilyan_dynamics::strains`]), if it is.
    fn strains(&self) -> Option<&dyn Strains> {
        None
    }
    /// What is elastic but has no strains.
    fn not_strained(&self) -> Option<WithoutForm> {
        None
    }
    /// Whether some strains have no compliance.
    fn incompressible(&self) -> bool {
        false
    }

    /// What has no co-rotated form (see [`lilyan_dynamics::corotated`]).
    fn not_corotated(&self) -> Option<WithoutForm> {
        None
    }
    /// Adds ∇W with the elements' frames turned by `rotation`, N; ∇W itself where there are no elements.
    fn add_corotated_gradient(&self, q: &[f64], _rotation: Rotation, _held: &[bool], g: &mut [f64]) {
        self.add_gradient(q, g);
    }
    /// Adds the stiffness with these frames fixed, N/m; projected ∇²W where there are no elements.
    fn add_corotated_stiffness(&self, q: &[f64], _rotation: Rotation, _held: &[bool], k: &mut BlockMatrix) {
        self.add_hessian(q, Curvature::Projected, k);
    }
}

/// A potential that moves in time, of an obstacle say.
pub trait MovingPotential {
    /// The potential as it is at a time, s.
    fn at(&self, t: f64) -> Arc<dyn Potential>;
    /// Adds the discrete gradient of the motion relative to it between the times `t`; `false` where infeasible.
    fn add_discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool;
    /// Adds a symmetric approximation of its derivative with respect to q₁, N/m.
    fn add_discrete_hessian(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    );
    /// Adds its mean friction between the times `t`, N, against the motion relative to it.
    fn add_mean_friction(&self, t: [f64; 2], q0: &[f64], q1: &[f64], f: &mut [f64]);
    /// Adds a positive semidefinite approximation of −∂f/∂v of that force, N s/m.
    fn add_mean_friction_matrix(&self, t: [f64; 2], q0: &[f64], q1: &[f64], d: &mut BlockMatrix);
    /// The work that its motion does over a step, J: the change of its energy less the work of its discrete gradient.
    fn work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64;
    /// The work that its motion does by friction, J: that of the friction on the bodies and what their slip dissipates.
    fn friction_work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64;
}

/// (φ(b) − φ(a))/(b − a), or φ' at the middle where a and b are too close for the quotient. The middle
/// is then exact to (b−a)², below the round-off of the quotient.
pub(crate) fn difference_quotient(
    a: f64,
    b: f64,
    scale: f64,
    phi: impl Fn(f64) -> f64,
    slope: impl Fn(f64) -> f64,
) -> f64 {
    if (b - a).abs() > 1e-5 * scale { (phi(b) - phi(a)) / (b - a) } else { slope(0.5 * (a + b)) }
}
