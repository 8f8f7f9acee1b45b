//! How far from rest a fitted body is.

use lilyan_solve::SmallMatrix;
use serde::{Deserialize, Serialize};

/// How far from rest a body is, as far as it concerns its fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DistanceFromRest {
    /// |ln κ| with the factor κ by which the stiffness along modes at rest has changed, as a root mean square.
    pub stiffening: f64,
    /// Share of the modes at rest that the present modes do not span.
    pub lost: f64,
    /// Root mean square of the relative changes of length.
    pub strain: f64,
}

impl DistanceFromRest {
    /// The larger of both, one by one.
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            stiffening: self.stiffening.max(other.stiffening),
            lost: self.lost.max(other.lost),
            strain: self.strain.max(other.strain),
        }
    }

    /// From the modes at rest in the basis of the present modes (by columns), and λ of both.
    pub(super) fn of_modes(overlap: &SmallMatrix, now: &[f64], rest: &[f64]) -> Self {
        let (mut stiffening, mut spanned, count) = (0.0, 0.0, overlap.columns().max(1) as f64);
        for j in 0..overlap.columns() {
            let share = |i: usize| overlap[(i, j)].powi(2);
            let length: f64 = (0..overlap.rows()).map(share).sum();
            let stiffness: f64 = (0..overlap.rows()).map(|i| share(i) * now[i]).sum();
            spanned += length / count;
            if length > 0.0 && stiffness > 0.0 && rest[j] > 0.0 {
                stiffening += (stiffness / length / rest[j]).ln().powi(2) / count;
            }
        }
        Self { stiffening: stiffening.sqrt(), lost: (1.0 - spanned).max(0.0), strain: 0.0 }
    }
}
