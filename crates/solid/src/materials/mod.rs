//! Hyperelastic materials: one file each, written over [`Real`] so that one source serves scalars,
//! SIMD lanes and complex-step tests.
//!
//! To add one: a new file with a [`Density`], and its line in [`CATALOGUE`]. The catalogue feeds the
//! scene file, `lilyan materials`, and the tests.
//!
//! Every ψ is 0 at rest and is summed from terms that are of second order there, so that its digits
//! are not lost at small strain (ψ ~ ε² against terms ~ 1); see [`from_rest`].

mod anisotropic_neo_hookean;
mod arap;
pub mod basis_tangent;
mod co_rotational;
mod constants;
mod discrete;
mod error;
mod fixed_corotated;
pub mod from_rest;
mod given;
pub mod invariants;
pub mod isotropic;
mod lame;
mod linear;
mod material;
mod mooney_rivlin;
mod neo_hookean;
mod neo_hookean_log;
mod of_lists;
mod stable_neo_hookean;
mod stiffness;
mod stvk;

pub use anisotropic_neo_hookean::AnisotropicNeoHookean;
pub use arap::Arap;
pub use basis_tangent::BasisTangent;
pub use co_rotational::CoRotational;
pub use constants::{Constants, MAX_CONSTANTS, Places};
pub(crate) use discrete::cholesky_transposed;
pub use error::ConstantsError;
pub use fixed_corotated::FixedCorotated;
pub use given::Given;
pub use invariants::{Derivatives, Invariants, Isotropic};
pub use lame::Lame;
pub use linear::Linear;
pub use material::{Entry, Material, entry};
pub use mooney_rivlin::MooneyRivlin;
pub use neo_hookean::NeoHookean;
pub use neo_hookean_log::NeoHookeanLog;
pub use of_lists::{Listed, MaterialPoint, OfLists};
pub use stable_neo_hookean::StableNeoHookean;
pub(crate) use stiffness::{apply as apply_stiffness, constants as stiffness_constants};
pub use stvk::StVenantKirchhoff;

use crate::math::{Lanes, Mat3, Real};

/// Every material, in the order of the documentation.
pub static CATALOGUE: &[&dyn Material] = &[
    entry::<Linear>(),
    entry::<CoRotational>(),
    entry::<StVenantKirchhoff>(),
    entry::<NeoHookean>(),
    entry::<NeoHookeanLog>(),
    entry::<StableNeoHookean>(),
    entry::<MooneyRivlin>(),
    entry::<Arap>(),
    entry::<FixedCorotated>(),
    entry::<AnisotropicNeoHookean>(),
];

/// The material of that name.
pub fn find(name: &str) -> Option<&'static dyn Material> {
    CATALOGUE.iter().copied().find(|m| m.card().name == name)
}

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
    /// What the model is at small strain, for the E and nu that were given.
    pub small_strain: SmallStrain,
    /// Key in references.bib.
    pub cite: &'static str,
}

impl Card {
    /// The card of a model as most are: frame indifferent, analytic, with the given moduli at small strain, infeasible where an
    /// element is inverted.
    pub const fn hyperelastic(name: &'static str) -> Self {
        Self {
            name,
            summary: "",
            formula: "",
            parameters: &[],
            frame_indifferent: true,
            survives_inversion: false,
            analytic: true,
            small_strain: SmallStrain::Given,
            cite: "",
        }
    }
}

/// The linear elasticity that a model becomes as the strain goes to 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallStrain {
    /// That of the given E and nu.
    Given,
    /// Shear modulus as given, but λ = 0: Young's modulus 2G and Poisson's ratio 0.
    ShearOnly,
}

impl SmallStrain {
    /// (λ, G) of the small-strain response, Pa.
    pub fn lame(self, given: &Given) -> (f64, f64) {
        match self {
            Self::Given => (given.lambda, given.mu),
            Self::ShearOnly => (0.0, given.mu),
        }
    }
}

/// The frame in which a model is linear elasticity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// That of the rest shape.
    Fixed,
    /// One that turns with each element.
    Turning,
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
pub trait Density: Sized + Send + Sync + 'static {
    /// What it is and claims.
    const CARD: Card;
    /// How its ∂P/∂F is found: [`isotropic::ByInvariants`] for isotropic models.
    type Tangent: Tangent<Self>;
    /// The frame in which it is linear with the constants of `stiffness`, if there is one.
    const FRAME: Option<Frame> = None;
    /// 1/(3λ+2μ) from the constants where ψ is a quadratic and isotropic function of a strain; 0 for ν = ½, which models
    /// without it do not know.
    fn volumetric_compliance(_c: &[f64]) -> Option<f64> {
        None
    }
    /// Whether ν = ½ is a case of this model (for integrators that step along strains).
    const INCOMPRESSIBLE: bool = false;
    /// The model's own constants for the given moduli.
    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError>;
    /// ψ(F), J/m³; +∞ where F is infeasible.
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T;
    /// P = ∂ψ/∂F, Pa.
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T>;
}

/// How ∂P/∂F of a density D is found.
pub trait Tangent<D>: 'static {
    /// ∂P/∂F, Pa.
    fn hessian(c: &[f64], F: &Mat3) -> Mat9;
    /// ∂P/∂F with its negative eigenvalues set to 0.
    fn hessian_projected(c: &[f64], F: &Mat3) -> Mat9;
    /// ∂P/∂F in a basis of three vectors, the rows of `basis`.
    fn in_basis<T: Real>(c: &[T], F: &Mat3<T>, basis: &Mat3<T>, out: &mut BasisTangent<T>);
    /// The same at four points, with the negative eigenvalues of ∂P/∂F set to 0.
    fn in_basis_projected(c: &[Lanes], F: &Mat3<Lanes>, basis: &Mat3<Lanes>, out: &mut BasisTangent<Lanes>) {
        basis_tangent::each_lane(c, F, basis, out, &Self::hessian_projected);
    }
    /// dP = ∂P/∂F : dF at four points, with the negative eigenvalues of ∂P/∂F set to 0.
    fn product_projected(c: &[Lanes], F: &Mat3<Lanes>, dF: &Mat3<Lanes>) -> Mat3<Lanes> {
        basis_tangent::product_of_each_lane(c, F, dF, &Self::hessian_projected)
    }
}

/// ∂P/∂F from the dP of a dF.
pub(crate) fn from_differential(dP: impl Fn(&Mat3) -> Mat3) -> Mat9 {
    let mut K = [[0.0; 9]; 9];
    for column in 0..9 {
        let mut dF = Mat3::zero();
        dF.0[column / 3][column % 3] = 1.0;
        let dP = dP(&dF);
        for row in 0..9 {
            K[row][column] = dP.0[row / 3][row % 3];
        }
    }
    K
}

/// The constants as an array, to be taken apart by name.
#[inline(always)]
pub fn constants<T: Copy, const N: usize>(c: &[T]) -> [T; N] {
    *c.first_chunk().expect("a model gets the constants it made")
}
