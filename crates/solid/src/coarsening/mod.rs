//! Coarsening: effective stiffness and mass of a coarse mesh that stands for a fine, heterogeneous body.
//!
//! | file | what it gives |
//! |---|---|
//! | `tensor` | elasticity tensors as 6×6 matrices |
//! | `clip` | the part of one tet inside another, exactly |
//! | `overlap` | which part of the fine body belongs to which coarse tet |
//! | `boundary` | the faces that are pulled: the outer boundary without lips and notches |
//! | `traction` | unit stresses as tractions there |
//! | `family` | unit stresses on coarse normals, and stresses that vary |
//! | `harmonic` | six displacements under these tractions |
//! | `average` | effective tensors by volume: the thing to beat |
//! | `homogenize` | effective tensors that store the energy of the six displacements \[kharevych2010, ch. 4\] |
//! | `grid` | a coarse mesh where there is none |
//! | `plane` | the same in one and two dimensions: ropes and membranes |
//!
//! Every part of the fine body belongs to exactly one coarse tet: the one it lies in or, where the coarse mesh does not
//! reach, the nearest. So mass, its first moments inside the coarse mesh, and stiffness are all accounted for. Tensors
//! are per volume of the coarse tet: one that is half full is half as stiff and half as heavy.

mod average;
mod boundary;
mod clip;
mod family;
mod grid;
mod harmonic;
mod homogenize;
mod overlap;
mod plane;
mod tensor;
mod traction;

pub use average::average;
pub use boundary::{outer_faces, pulled_faces};
pub use grid::cover;
pub use harmonic::{DIRECT, Harmonic, Loading, harmonic};
pub use homogenize::{Homogenized, SOFTEST, homogenize};
pub use overlap::{Fitted, LEAST_FILL, Overlaps, Share, fit};
pub use plane::{CoarseMembrane, PlaneMesh, coarse_membrane, coarse_rope, plane_stress};
pub use tensor::{Tensor, from_voigt, of_material, to_voigt};
pub use traction::Traction;

use crate::math::vector::{V3, cross, dot, scale, sub};
use crate::mesh::Mesh;
use std::fmt;

/// A fine body as coarsening sees it.
pub struct Fine<'a> {
    /// Rest shape.
    pub mesh: &'a Mesh,
    /// Elasticity tensor at rest: one for all tets or one for each, Pa.
    pub stiffness: &'a [Tensor],
    /// Density: one for all tets or one for each, kg/m³.
    pub density: &'a [f64],
    /// Which unknowns will stay held, three per vertex.
    pub held: &'a [bool],
}

impl Fine<'_> {
    /// Elasticity tensor of tet e, Pa.
    pub fn stiffness(&self, e: usize) -> &Tensor {
        &self.stiffness[if self.stiffness.len() == 1 { 0 } else { e }]
    }

    /// Density of tet e, kg/m³.
    pub fn density(&self, e: usize) -> f64 {
        self.density[if self.density.len() == 1 { 0 } else { e }]
    }
}

/// Told how far a long work is: what is being done, and the share of it that is done.
pub type Progress<'a> = &'a mut dyn FnMut(&str, f64);

/// Why a body could not be coarsened, and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub struct CoarseningError(pub(crate) String);

impl fmt::Display for CoarseningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CoarseningError {}

fn fail<T>(message: impl Into<String>) -> Result<T, CoarseningError> {
    Err(CoarseningError(message.into()))
}

/// Volume of a tet, and the gradients of the barycentric coordinates of its corners.
pub(crate) fn gradients(x: [V3; 4]) -> (f64, [V3; 4]) {
    let [a, b, c] = [1, 2, 3].map(|k| sub(x[k], x[0]));
    let six = dot(a, cross(b, c));
    let g = [cross(b, c), cross(c, a), cross(a, b)].map(|n| scale(n, 1.0 / six));
    let first = [0, 1, 2].map(|k| -(g[0][k] + g[1][k] + g[2][k]));
    (six / 6.0, [first, g[0], g[1], g[2]])
}
