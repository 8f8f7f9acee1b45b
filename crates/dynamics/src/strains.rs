//! What `regularized` asks of a system beyond [`crate::System`]: its elastic energy as ½ Σ φᵢ²/αᵢ of strains φ that
//! vanish at rest, with compliances α that may be 0.

use lilyan_solve::BlockMatrix;

/// Elements of one shape and their strains, element after element.
pub trait Strains {
    /// Nodes of an element.
    fn nodes_each(&self) -> usize;
    /// Strains of an element; they are chosen such that the energy couples none of them to another.
    fn strains_each(&self) -> usize;
    /// The nodes.
    fn nodes(&self) -> &[u32];
    /// α, 1/J times the square of the unit of its strain; 0: never strained.
    fn compliances(&self) -> &[f64];
    /// φ(q), and ∂φ/∂q with respect to the nodes of its element, strain after strain; overwrites both.
    fn evaluate(&self, q: &[f64], phi: &mut [f64], jacobian: &mut [f64]);
}

/// A system whose elastic energy is that of strains.
pub trait Strained {
    /// The strains.
    fn strains(&self) -> Vec<&dyn Strains>;
    /// Gradient of all other potentials, N; overwrites `g`.
    fn other_gradient(&self, t: f64, q: &[f64], g: &mut [f64]);
    /// Adds the second derivative of all other potentials, projected, N/m.
    fn other_hessian(&self, t: f64, q: &[f64], h: &mut BlockMatrix);
}
