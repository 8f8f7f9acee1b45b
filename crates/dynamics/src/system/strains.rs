//! The ability that `regularized` needs: an elastic energy ½ Σ φᵢ²/αᵢ of strains φ that vanish at rest, with compliances
//! α ≥ 0.

use lilyan_solve::BlockMatrix;

/// The strains of elements with the same number of nodes, element by element.
pub trait Strains {
    /// Which strains belong to which nodes, and their compliances.
    fn layout(&self) -> StrainLayout<'_>;
    /// φ(q); overwrites `phi`.
    fn strains(&self, q: &[f64], phi: &mut [f64]);
    /// ∂φ/∂q with respect to the nodes of the element, strain by strain; overwrites `jacobian`.
    fn jacobian(&self, q: &[f64], jacobian: &mut [f64]);
}

/// Which strains belong to which nodes, and their compliances. The energy does not couple strains.
#[derive(Clone, Copy, Debug)]
pub struct StrainLayout<'a> {
    /// Number of nodes of an element.
    pub nodes_each: usize,
    /// Number of strains of an element.
    pub strains_each: usize,
    /// The nodes of all elements, one after the other.
    pub nodes: &'a [u32],
    /// α, in the squared unit of the strain per joule; 0 is a constraint: the strain stays 0.
    pub compliances: &'a [f64],
}

/// A system whose elastic energy is a sum over strains, ½ Σ φᵢ²/αᵢ.
pub trait Strained {
    /// The strains.
    fn strains(&self) -> Vec<&dyn Strains>;
    /// Gradient of all other potentials, N; overwrites `g`.
    fn other_gradient(&self, t: f64, q: &[f64], g: &mut [f64]);
    /// Adds the second derivative of all other potentials, projected, N/m.
    fn other_hessian(&self, t: f64, q: &[f64], h: &mut BlockMatrix);
}
