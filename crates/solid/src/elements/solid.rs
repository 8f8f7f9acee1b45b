//! What a kind of elements for solids is.

use super::Elements;
use crate::dofs::DofMap;
use crate::materials::{Constants, Material};
use crate::mesh::{Mesh, Nodes};
use std::fmt::Debug;
use std::sync::Arc;

/// A kind of elements that a solid can be made of: where its nodes are, and how it is made.
#[derive(Clone, Copy)]
pub struct SolidKind {
    /// Name in scene files.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Whether its mass is consistent unless the integrator is explicit: where lumping costs accuracy.
    pub consistent_mass: bool,
    /// Whether it can take the mean dilatation of each tet, against volumetric locking.
    pub mean_dilatation: bool,
    /// The nodes of the kind on a mesh.
    pub nodes: fn(Arc<Mesh>) -> Nodes,
    /// Makes the elements of a body.
    pub build: fn(SolidInput<'_>) -> Vec<Arc<dyn Elements>>,
}

/// From what the elements of a solid are made.
pub struct SolidInput<'a> {
    /// The nodes of the body in the model.
    pub dofs: &'a DofMap,
    /// Material model.
    pub material: &'static dyn Material,
    /// Its constants.
    pub constants: Constants,
    /// μ and λ for damping, Pa.
    pub moduli: Constants,
    /// Density, one for all tets or one for each, kg/m³.
    pub density: Vec<f64>,
    /// Against volumetric locking, the mean dilatation of each tet, if the kind can take it.
    pub mean_dilatation: bool,
    /// What holds discontinuous tets together.
    pub glued: Option<Glued>,
}

/// How discontinuous tets or triangles are held together.
#[derive(Clone, Copy, Debug)]
pub struct Glued {
    /// The energy of gaps.
    pub kind: GluingKind,
    /// Its strength c, see [`super::Gluing`].
    pub penalty: f64,
}

/// The energy of gaps between discontinuous cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GluingKind {
    /// η‖\[x\]‖² alone.
    BabuskaZlamal,
    /// With the mean traction.
    InteriorPenalty,
}

/// By their names.
impl PartialEq for SolidKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for SolidKind {}

impl Debug for SolidKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
