//! Elements: from nodal positions to energies, forces and stiffness.
//!
//! A body has a list of [`Elements`], each a set of elements of one kind: linear and quadratic tets (four at a time in SIMD
//! lanes), triangles of membranes, springs, bends, and the faces that hold discontinuous cells together. Everything that the
//! rest of the program asks of a kind goes through this trait: forces, masses, cells and fields for output, and the
//! points at which damping acts. A new kind for solids is a folder here with its [`SolidKind`], and its line in [`SOLID_KINDS`].

mod bending;
mod dg;
mod fields;
mod membrane;
mod points;
mod quadratic;
mod runs;
mod solid;
mod springs;
mod tets;

pub use bending::{Bend, Bending};
pub(crate) use dg::join;
pub use dg::{DISCONTINUOUS_TETS, Gluing, Simplices};
pub use fields::{CellField, von_mises};
pub use membrane::{Membrane, MembraneModel, Triangle};
pub use points::{PointLaw, PointSet};
pub use quadratic::{QUADRATIC_TETS, QuadraticTets};
pub use solid::{Glued, GluingKind, SolidInput, SolidKind};
pub use springs::{Spring, Springs};
pub use tets::{LINEAR_TETS, Tets};

use crate::mesh::{CellBlock, CellKind};
use crate::potentials::Potential;
use lilyan_solve::BlockMatrix;
use std::any::Any;

/// Every kind of continuous elements for solids; the first is the default.
pub static SOLID_KINDS: &[&SolidKind] = &[&LINEAR_TETS, &QUADRATIC_TETS];

/// A set of elements of one kind, with the elastic energy W of all of them as a [`Potential`].
pub trait Elements: Potential + Any {
    /// How many there are.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Calls `f` with the nodes that each element couples, for the pattern of the stiffness matrix.
    fn each_clique(&self, f: &mut dyn FnMut(&[u32]));
    /// Whether they only join other elements. They are not damped, and a method that treats elements implicitly may leave
    /// them out.
    fn joins(&self) -> bool;
    /// Whether the stiffness is the same at all positions.
    fn has_constant_stiffness(&self) -> bool;
    /// Adds c K v with K the projected stiffness at q.
    fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]);
    /// Their cells; `None` for elements without a deformation gradient, such as bends and faces: they have no mass, no fields
    /// and no points at which damping acts.
    fn cells(&self) -> Option<&dyn ElementCells>;
}

/// Elements with a deformation gradient F: cells with mass, fields for output and quadrature points.
pub trait ElementCells {
    /// What kind of cells they are.
    fn cell_kind(&self) -> CellKind;
    /// The cells for output, in global nodes.
    fn block(&self) -> CellBlock;
    /// The mass that they bring; `None` where masses are given at the nodes.
    fn mass(&self) -> Option<&dyn ElementMass>;
    /// Appends a field at positions q, [`CellField::components`] numbers for each cell.
    fn append_field(&self, field: CellField, q: &[f64], out: &mut Vec<f64>);
    /// Appends the Cauchy stress (Pa, nine numbers) at each node of each cell; the same all over cells that do not say otherwise.
    fn append_nodal_stress(&self, q: &[f64], out: &mut Vec<f64>) {
        let mut own = Vec::new();
        self.append_field(CellField::Stress, q, &mut own);
        for stress in own.chunks_exact(CellField::Stress.components()) {
            (0..self.cell_kind().nodes()).for_each(|_| out.extend(stress));
        }
    }

    /// Adds the nodal forces Σ w P ∇N of the stress P that `law` makes of the gradients of two fields at each point.
    fn add_point_forces(&self, fields: [&[f64]; 2], law: &dyn PointLaw, out: &mut [f64]);
    /// Adds Σ w ∇Nᵀ H ∇N with H = [`PointLaw::tangent`] at each point.
    fn add_point_matrix(&self, q: &[f64], law: &dyn PointLaw, out: &mut BlockMatrix);
}

/// The mass of elements with a density.
pub trait ElementMass {
    /// Adds a mass for each node, kg.
    fn add_lumped(&self, masses: &mut [f64]);
    /// Adds ∫ρNₙNₘ, kg.
    fn add_consistent(&self, mass: &mut BlockMatrix);
    /// Adds ∫ρNₙ, the consistent mass times 1, kg: what gravity pulls at. It may be negative.
    fn add_weights(&self, weights: &mut [f64]);
    /// Adds c M v with the consistent mass M.
    fn add_product(&self, v: &[f64], c: f64, out: &mut [f64]);
}
