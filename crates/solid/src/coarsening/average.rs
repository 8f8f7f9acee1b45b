//! The volume average of the elasticity tensor, per coarse tet \[nesme2006\].
//!
//! Exact for a homogeneous body, and for strains that are uniform whatever the material. A body is softer than that:
//! springs in series have the mean of their compliances, not of their stiffnesses.

use super::tensor::add_scaled;
use super::{Fine, Overlaps, Tensor};
use crate::mesh::Mesh;
use lilyan_parallel::threads;

/// Effective tensor of each coarse tet, Pa: Σ |T ∩ 𝕋| C / |𝕋|.
pub fn average(fine: &Fine<'_>, coarse: &Mesh, overlaps: &Overlaps) -> Vec<Tensor> {
    let volumes = coarse.signed_volumes();
    threads::par_map(overlaps.len(), |q| {
        let mut sum = [[0.0; 6]; 6];
        for s in overlaps.of(q) {
            add_scaled(&mut sum, s.volume / volumes[q], fine.stiffness(s.fine as usize));
        }
        sum
    })
}
