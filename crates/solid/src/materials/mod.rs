//! Hyperelastic materials: one file each, written over [`Real`] so that one source serves scalars,
//! SIMD lanes and complex-step tests.
//!
//! To add one: a new file with a `Density`, and its line in [`CATALOGUE`]. The catalogue feeds the
//! scene file, `lilyan materials`, and the tests.

use crate::math::{Mat3, Real};

/// 9×9 matrix ∂P/∂F in the row-major order of [`Mat3`].
pub type Mat9 = [[f64; 9]; 9];

/// What a model is and claims; the tests hold it to that.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// Name in scene files.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// ψ(F) in plain text.
    pub formula: &'static str,
    /// Names of the constants that a scene may give beyond E, nu (or lambda, mu) and rho.
    pub parameters: &'static [Parameter],
    /// ψ(QF) = ψ(F) for every rotation Q (false for `linear` only).
    pub frame_indifferent: bool,
    /// ψ and P exist for det F ≤ 0; otherwise ψ = +∞ there.
    pub survives_inversion: bool,
    /// ψ and P are analytic in F, so that a complex step through them is exact.
    pub analytic: bool,
    /// Key in references.bib.
    pub cite: &'static str,
}

/// A constant that a model takes beside the moduli.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key in the scene file.
    pub name: &'static str,
    /// Unit and meaning.
    pub doc: &'static str,
    /// Value when absent; `None`: derived from the moduli or required, as `doc` says.
    pub default: Option<f64>,
}

/// The elastic energy density of one model, per unit rest volume.
///
/// `c` are the constants that [`Density::constants`] returned, one per lane.
pub trait Density: Send + Sync + 'static {
    /// What it is and claims.
    const CARD: Card;
    /// The model's own constants for the given moduli.
    fn constants(given: &Given) -> Result<Vec<f64>, String>;
    /// ψ(F), J/m³; +∞ (or NaN, in lanes) where F is infeasible.
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T;
    /// P = ∂ψ/∂F, Pa.
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T>;
    /// ∂P/∂F, Pa.
    fn hessian(c: &[f64], F: &Mat3) -> Mat9;
    /// ∂P/∂F with its negative eigenvalues set to 0.
    fn hessian_projected(c: &[f64], F: &Mat3) -> Mat9;
}

/// Elastic constants as the user gave them, completed: lambda and mu always follow from E and nu.
#[derive(Clone, Debug)]
pub struct Given {
    /// Young's modulus, Pa.
    pub E: f64,
    /// Poisson's ratio.
    pub nu: f64,
    /// Lamé's first, Pa.
    pub lambda: f64,
    /// Shear modulus G, Pa.
    pub mu: f64,
    /// Model-specific constants by name ([`Card::parameters`]); 21-constant stiffness as `C11`… .
    pub extra: std::collections::BTreeMap<String, f64>,
}

/// The constants as an array, to be taken apart by name.
#[inline(always)]
pub fn constants<T: Copy, const N: usize>(c: &[T]) -> [T; N] {
    *c.first_chunk().expect("a model gets the constants it made")
}
