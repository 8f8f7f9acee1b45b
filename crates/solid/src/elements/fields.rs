//! Fields of cells, for output.

use crate::math::Mat3;

/// A field with a value for each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellField {
    /// ψ, J/m³.
    EnergyDensity,
    /// Cauchy stress, Pa: P Fᵀ/J, nine numbers row by row; for springs the force per section at rest.
    Stress,
    /// Ratio of volumes, areas or lengths to those at rest.
    VolumeRatio,
    /// Volume at rest, m³.
    Volume,
    /// Young's modulus at small strain, Pa; 0 where it is not known.
    Young,
}

impl CellField {
    /// Numbers per cell.
    pub fn components(self) -> usize {
        if self == Self::Stress { 9 } else { 1 }
    }
}

/// √(3/2 s:s) of the deviator s of each stress, Pa; nine numbers for each stress, as [`CellField::Stress`] has them.
pub fn von_mises(stresses: &[f64]) -> Vec<f64> {
    let one = |stress: &[f64; 9]| {
        let stress = Mat3::from_fn(|i, j| stress[3 * i + j]).symmetric_part();
        let mean = stress.trace() / 3.0;
        let deviator = stress - Mat3::identity().scale(mean);
        (1.5 * deviator.dot(&deviator)).sqrt()
    };
    stresses.as_chunks().0.iter().map(one).collect()
}
