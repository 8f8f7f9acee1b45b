//! Elements: from nodal positions to energies, forces and stiffness. Tets four at a time; triangles of membranes,
//! springs and bends one by one.

mod assembly;
mod bending;
mod cells;
mod gluing;
pub mod kernel;
mod level;
mod material_stiffness;
mod matrices;
pub(crate) mod membrane;
mod quad;
mod springs;
mod strains;
mod tets;
mod turned;

pub use bending::{Bend, Bending};
pub use cells::Cells;
pub use gluing::{Gluing, GluingKind};
pub use kernel::{Block, Constants};
pub use membrane::{Membrane, MembraneModel, Triangle};
pub use springs::{Spring, Springs};
pub use tets::Tets;

use lilyan_dynamics::corotated::Rotation;
use lilyan_dynamics::strains::Strains;
use lilyan_solve::BlockMatrix;

/// A set of elements of one kind, with the elastic energy W of all of them.
pub trait Elements: Send + Sync {
    /// Whether there are none.
    fn is_empty(&self) -> bool;
    /// W, J; +∞ where infeasible.
    fn energy(&self, q: &[f64]) -> f64;
    /// Adds ∇W, N.
    fn add_gradient(&self, q: &[f64], g: &mut [f64]);
    /// Adds ∇²W, N/m, exact or projected element by element.
    fn add_hessian(&self, q: &[f64], projected: bool, h: &mut BlockMatrix);
    /// Adds c K v with K the projected stiffness at q.
    fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]);
    /// Adds a discrete gradient between q₀ and q₁ (see [`lilyan_dynamics::System`]); `false` where infeasible.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool;
    /// Adds the stiffness of elements by themselves, without what joins them; by default all of it, projected.
    fn add_element_stiffness(&self, q: &[f64], h: &mut BlockMatrix) {
        self.add_hessian(q, true, h);
    }
    /// Adds the material stiffness, that is ∇²W without what comes of the stress, positive semidefinite; by default the
    /// projection of all of it.
    fn add_material_stiffness(&self, q: &[f64], h: &mut BlockMatrix) {
        self.add_hessian(q, true, h);
    }

    /// The strains that the energy is made of (see [`lilyan_dynamics::strains`]), if it is.
    fn strains(&self) -> Option<&dyn Strains> {
        None
    }
    /// What should have strains and has none, by the name of its material.
    fn not_strained(&self) -> Option<&'static str> {
        None
    }
    /// Whether some strains have no compliance.
    fn incompressible(&self) -> bool {
        false
    }

    /// What has no co-rotated form (see [`lilyan_dynamics::corotated`]), by the name of its material.
    fn not_corotated(&self) -> Option<&'static str> {
        None
    }
    /// Adds ∇W with the elements' frames turned by `rotation`, N; springs and membranes turn by themselves.
    fn add_turned_gradient(&self, q: &[f64], _rotation: Rotation, _held: &[bool], g: &mut [f64]) {
        self.add_gradient(q, g);
    }
    /// Adds the stiffness with these frames fixed, N/m.
    fn add_turned_stiffness(&self, q: &[f64], _rotation: Rotation, _held: &[bool], k: &mut BlockMatrix) {
        self.add_material_stiffness(q, k);
    }
}

impl Elements for Tets {
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    fn energy(&self, q: &[f64]) -> f64 {
        Tets::energy(self, q)
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        Tets::add_gradient(self, q, g);
    }
    fn add_hessian(&self, q: &[f64], projected: bool, h: &mut BlockMatrix) {
        Tets::add_hessian(self, q, projected, h);
    }
    fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        Tets::add_hessian_product(self, q, v, c, out);
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        Tets::add_discrete_gradient(self, q0, q1, g)
    }
    fn strains(&self) -> Option<&dyn Strains> {
        self.has_strains().then_some(self as &dyn Strains)
    }
    fn not_strained(&self) -> Option<&'static str> {
        (!self.has_strains()).then(|| self.material().card().name)
    }
    fn incompressible(&self) -> bool {
        Tets::incompressible(self)
    }
    fn not_corotated(&self) -> Option<&'static str> {
        self.material().frame().is_none().then(|| self.material().card().name)
    }
    fn add_turned_gradient(&self, q: &[f64], rotation: Rotation, held: &[bool], g: &mut [f64]) {
        Tets::add_turned_gradient(self, q, rotation, held, g);
    }
    fn add_turned_stiffness(&self, q: &[f64], rotation: Rotation, held: &[bool], k: &mut BlockMatrix) {
        Tets::add_turned_stiffness(self, q, rotation, held, k);
    }
    fn add_material_stiffness(&self, q: &[f64], h: &mut BlockMatrix) {
        self.add_element_matrices(h, &|e| {
            material_stiffness::material_tangent(self.material(), self.constants(e), &self.gradient_of(e, q))
        });
    }
}
