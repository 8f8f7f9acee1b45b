//! What `corotational-reversible` asks of a system beyond [`crate::System`]: a stiffness that turns with
//! the elements instead of changing with their shape.

use lilyan_solve::BlockMatrix;

/// Which rotation an element is said to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// The polar rotation of its deformation gradient.
    Polar,
    /// The one that leaves the least co-rotated displacement of its nodes, Σ|Rᵀ(x−b) − (X−b₀)|².
    Minimizer,
}

/// Potentials whose second derivative is replaced by Kᴿ(q) = Σ R Kᵉ Rᵀ, with R the rotation of each
/// element at q. What has no rotation (gravity, contact) gives its own, projected.
pub trait Corotated {
    /// Kᴿ(q) q − bᴿ(q), N, with everything else's ∇W(t, q); overwrites `g`. Elements know from `held`
    /// which of their nodes cannot turn.
    fn turned_gradient(&self, t: f64, q: &[f64], rotation: Rotation, held: &[bool], g: &mut [f64]);
    /// Adds Kᴿ(q), N/m: symmetric and positive semidefinite.
    fn turned_stiffness(&self, t: f64, q: &[f64], rotation: Rotation, held: &[bool], k: &mut BlockMatrix);
}
