//! The ability that modal fits need ([`crate::fit`]): internal forces separate from external ones, and the bodies whose
//! lowest modes get other frequencies and shapes.

use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, Deflation};
use std::ops::Range;
use std::sync::Arc;

/// Energy and forces due to the deformation of bodies alone.
pub trait Deformation {
    /// Gradient of the deformation energy, N; overwrites `g`.
    fn deformation_gradient(&self, t: f64, q: &[f64], g: &mut [f64]);
    /// Adds the Hessian of the deformation energy, N/m.
    fn add_deformation_hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix);
    /// Whether that Hessian is constant for the body with these dofs, as for linear materials.
    fn has_constant_stiffness(&self, dofs: &Range<usize>) -> bool;
    /// Adds the damping forces that are not due to deformation, N; linear in v.
    fn add_outer_forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]);
    /// The bodies whose lowest modes are fitted.
    fn fits(&self) -> &[Fit];
}

/// A low-rank correction K‡ − K of the stiffness and D‡ − D of the damping matrix.
pub trait ModalCorrection {
    /// y ← y + (K‡ − K) x at free dofs; x may move held ones.
    fn add_stiffness(&self, x: &[f64], y: &mut [f64]);
    /// y ← y + (D‡ − D) x.
    fn add_damping(&self, x: &[f64], y: &mut [f64]);
    /// The correction of a matrix M + `stiffness`·K + `damping`·D.
    fn deflation(&self, stiffness: f64, damping: f64) -> Deflation;
}

/// Largest number of modes of a fit. More are not visible and cost time.
pub const MOST_MODES: usize = 20;

/// The target of the lowest modes of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The name in messages.
    pub name: String,
    /// The dofs of the body.
    pub dofs: Range<usize>,
    /// The configuration of the whole system at rest, m.
    pub rest: Arc<Vec<f64>>,
    /// Targets in the order of time. A new phase begins where the set of Dirichlet nodes changes.
    pub phases: Vec<Phase>,
}

/// A target for a period with the same Dirichlet nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The end of the period, s.
    pub until: f64,
    /// The target.
    pub target: Target,
}

/// The target of the modes at rest, lowest first, without rigid modes.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The present modes with λ multiplied by these ratios.
    Ratios(Vec<f64>),
    /// The modes of the fine body.
    Modes {
        /// λ, 1/s².
        values: Vec<f64>,
        /// Mode shapes as displacements of the dofs of the coarse body, mode by mode, of any norm.
        shapes: Arc<Vec<f64>>,
        /// Number of modes of the coarse body that represent them.
        from: usize,
    },
}

impl Target {
    /// Number of modes of the coarse body that change.
    pub fn count(&self) -> usize {
        match self {
            Self::Ratios(ratios) => ratios.len(),
            Self::Modes { from, .. } => *from,
        }
    }
}

impl Fit {
    /// Index of the phase of a step that ends at t.
    pub fn phase(&self, t: f64) -> Option<usize> {
        // Half a nanosecond of slack, as for pins.
        self.phases.iter().position(|p| t <= p.until + 5e-10)
    }
}
