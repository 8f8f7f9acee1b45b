//! The ability that `corotational-reversible` needs: a stiffness that rotates with the elements and does not depend on their
//! shape.

use lilyan_solve::BlockMatrix;

/// The definition of the rotation of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// The rotation of the polar decomposition of the deformation gradient.
    Polar,
    /// The rotation that minimises the co-rotated displacement of the nodes, Σ|Rᵀ(x−b) − (X−b₀)|².
    Minimizer,
}

/// A system whose Hessian is replaced by Kᴿ(q) = Σ R Kᵉ Rᵀ, with R the rotation of each element at q. Potentials without
/// elements (gravity, contact) contribute their projected Hessian.
pub trait Corotated {
    /// Kᴿ(q) q − bᴿ(q), N, plus ∇W(t, q) of all other potentials; overwrites `g`. `held` marks the Dirichlet dofs, which
    /// limit the rotation of their elements.
    fn corotated_gradient(&self, t: f64, q: &[f64], rotation: Rotation, held: &[bool], g: &mut [f64]);
    /// Adds Kᴿ(q), N/m, which is symmetric and positive semidefinite.
    fn corotated_stiffness(&self, t: f64, q: &[f64], rotation: Rotation, held: &[bool], k: &mut BlockMatrix);
}
