//! Neo-Hookean with any stiffness at rest: ψ = ψ_NH(F; sG, sκ) + ½ ε̂ : (C − s C̄) : ε̂.
//!
//! C̄, with the moduli G and κ, is the isotropic part of the 21 constants C (Voigt's mean), and s ≤ 1 the largest factor for which
//! C − s C̄ is positive semidefinite. ψ_NH is the `neo-hookean` density, ε̂ the strain of `co-rotational`. The small-strain stiffness
//! is C; an isotropic C gives `neo-hookean` itself, and one without isotropic part `co-rotational`. Both terms are objective
//! potentials, and neither takes energy out of a strain. For coarse bodies that stand for neo-Hookean ones: ψ is not that
//! of a computed mean of large strains (as in \[kharevych2010\] it is left open), but has the right limits.

use super::from_rest::infinite_unless_positive;
use super::neo_hookean::NeoHookean;
use super::{
    BasisTangent, Card, CoRotational, ConstantsError, Density, Given, Mat9, SmallStrain, Tangent,
    basis_tangent, isotropic, stiffness,
};
use crate::math::{Mat3, Real, Square, eigen_symmetric, project_positive};
use std::f64::consts::SQRT_2;

/// The `anisotropic-neo-hookean` model; constants a, κ of the neo-Hookean part, then 21 of the other if C is anisotropic.
pub struct AnisotropicNeoHookean;

/// Number of constants of the neo-Hookean part.
const NEO_HOOKEAN: usize = 2;

impl Density for AnisotropicNeoHookean {
    const CARD: Card = Card {
        name: "anisotropic-neo-hookean",
        summary: "neo-Hookean as far as the stiffness is isotropic, co-rotational beyond: coarse bodies at large strain",
        formula: "psi_NH(F; s G, s kappa) + 1/2 e:(C - s C_iso):e, e = sym(R^T F) - I",
        parameters: stiffness::PARAMETERS,
        frame_indifferent: true,
        survives_inversion: false,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "kharevych2010",
    };
    type Tangent = Self;

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        let c = stiffness::constants(given)?;
        match c.len() {
            NEO_HOOKEAN => NeoHookean::constants(given),
            _ => Ok(split(&c)),
        }
    }

    #[inline(always)]
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let psi = NeoHookean::energy(&c[..NEO_HOOKEAN], F);
        if is_isotropic(c) {
            return psi;
        }
        infinite_unless_positive(F.det(), psi + CoRotational::energy(&c[NEO_HOOKEAN..], F))
    }

    #[inline(always)]
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let P = NeoHookean::stress(&c[..NEO_HOOKEAN], F);
        if is_isotropic(c) { P } else { P + CoRotational::stress(&c[NEO_HOOKEAN..], F) }
    }
}

impl Tangent<Self> for AnisotropicNeoHookean {
    fn hessian(c: &[f64], F: &Mat3) -> Mat9 {
        let mut K = isotropic::hessian::<NeoHookean>(&c[..NEO_HOOKEAN], F);
        if !is_isotropic(c) {
            let rest = <CoRotational as Tangent<CoRotational>>::hessian(&c[NEO_HOOKEAN..], F);
            K.as_flattened_mut().iter_mut().zip(rest.as_flattened()).for_each(|(K, x)| *K += x);
        }
        K
    }

    fn hessian_projected(c: &[f64], F: &Mat3) -> Mat9 {
        if is_isotropic(c) {
            isotropic::hessian_projected::<NeoHookean>(&c[..NEO_HOOKEAN], F)
        } else {
            project_positive(&Self::hessian(c, F))
        }
    }

    #[inline(always)]
    fn in_basis<T: Real>(c: &[T], F: &Mat3<T>, basis: &Mat3<T>, out: &mut BasisTangent<T>) {
        basis_tangent::isotropic::<NeoHookean, T>(&c[..NEO_HOOKEAN], F, basis, out);
        if !is_isotropic(c) {
            let mut rest = [[T::zero(); 9]; 6];
            <CoRotational as Tangent<CoRotational>>::in_basis(&c[NEO_HOOKEAN..], F, basis, &mut rest);
            out.as_flattened_mut().iter_mut().zip(rest.as_flattened()).for_each(|(K, x)| *K += *x);
        }
    }
}

#[inline(always)]
fn is_isotropic<T>(c: &[T]) -> bool {
    c.len() == NEO_HOOKEAN
}

/// a and κ of sC̄, and the 21 constants of C − sC̄.
fn split(c: &[f64]) -> Vec<f64> {
    // Mandel's notation, in which eigenvalues are those of the tensor.
    let root = |i: usize| if i < 3 { 1.0 } else { SQRT_2 };
    let mut matrix: Square<6> = [[0.0; 6]; 6];
    let mut packed = c.iter();
    for i in 0..6 {
        for j in i..6 {
            let value = root(i) * root(j) * packed.next().copied().unwrap_or(0.0);
            (matrix[i][j], matrix[j][i]) = (value, value);
        }
    }
    let volume: f64 = (0..9).map(|k| matrix[k / 3][k % 3]).sum::<f64>() / 3.0;
    let trace: f64 = (0..6).map(|i| matrix[i][i]).sum();
    // 3κ and 2G: the mean eigenvalues of the spherical and of the deviatoric part.
    let (spherical, deviatoric) = (volume, (trace - volume) / 5.0);
    let isotropic = |of: &dyn Fn(f64) -> f64| -> Square<6> {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let along = if i < 3 && j < 3 { 1.0 / 3.0 } else { 0.0 };
                of(spherical) * along + of(deviatoric) * (if i == j { 1.0 } else { 0.0 } - along)
            })
        })
    };
    let product = |a: &Square<6>, b: &Square<6>| -> Square<6> {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| a[i][k] * b[k][j]).sum()))
    };
    let inverse_root = isotropic(&|x| x.sqrt().recip());
    let mut scaled = product(&inverse_root, &product(&matrix, &inverse_root));
    for i in 0..6 {
        for j in 0..i {
            scaled[i][j] = scaled[j][i];
        }
    }
    let share = eigen_symmetric(&scaled).0.into_iter().fold(1.0, f64::min).max(0.0);
    let mean = isotropic(&|x| share * x);
    let mut out = vec![0.25 * share * deviatoric, share * spherical / 3.0];
    for i in 0..6 {
        out.extend((i..6).map(|j| (matrix[i][j] - mean[i][j]) / (root(i) * root(j))));
    }
    out
}
