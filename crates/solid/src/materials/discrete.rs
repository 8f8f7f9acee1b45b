//! The stress of a discrete gradient between two deformations.

use crate::math::{Mat3, Real};

/// P at a point such that Σ P:(F₁ − F₀) is the change of energy and P (½(F₀+F₁))ᵀ is symmetric: nodal forces made of it
/// are a discrete gradient \[gonzalez2000\].
///
/// P = ½(F₀+F₁) S with S = S(C̄) + 2 (ψ₁ − ψ₀ − ½S(C̄):ΔC)/‖ΔC‖² ΔC, C̄ = ½(C₀+C₁). S(C̄) = F⁻¹P(F) for any F with
/// FᵀF = C̄: the Cholesky factor is the cheapest. ψ as a function of C does not see inversion: S(C̄) is that of an
/// element turned inside out where the step begins so, whatever it becomes, so that the equations stay smooth in F₁;
/// the energies are those of F₀ and F₁ themselves, +∞ (and the result not finite) where a material does not
/// survive inversion. The linear material, which is no function of C, takes the midpoint stress, which does the
/// same for a quadratic energy.
#[inline(always)]
pub(super) fn discrete_stress<T: Real>(
    frame_indifferent: bool,
    [F0, F1]: &[Mat3<T>; 2],
    energy: impl Fn(&Mat3<T>) -> T,
    stress: impl Fn(&Mat3<T>) -> Mat3<T>,
) -> Mat3<T> {
    let middle = (*F0 + *F1).scale(T::new(0.5));
    if !frame_indifferent {
        return stress(&middle);
    }
    let (C0, C1) = (F0.transpose_mul(F0), F1.transpose_mul(F1));
    let change = C1 - C0;
    let mut root = cholesky_transposed(&(C0 + C1).scale(T::new(0.5)));
    root[(2, 2)] = root[(2, 2)] * T::select_positive(F0.det(), T::new(1.0), T::new(-1.0));
    let S = (root.inverse() * stress(&root)).symmetric_part();
    let square = change.dot(&change);
    // One copy of the energy's source, not two.
    let mut energies = [T::zero(); 2];
    for (value, F) in energies.iter_mut().zip([F0, F1]) {
        *value = energy(F);
    }
    let missing = energies[1] - energies[0] - S.dot(&change).scale(0.5);
    // Below ‖ΔC‖ = 1e-6 the correction (third order in ΔC) is smaller than its own round-off.
    let counts = square - C1.dot(&C1).scale(1e-12);
    let factor = T::select_positive(counts, missing.scale(2.0) / square, T::new(0.0));
    middle * (S + change.scale(factor))
}

/// The upper triangular F with FᵀF = C.
#[inline(always)]
pub(crate) fn cholesky_transposed<T: Real>(C: &Mat3<T>) -> Mat3<T> {
    let mut F = Mat3::zero();
    F[(0, 0)] = C[(0, 0)].sqrt();
    F[(0, 1)] = C[(0, 1)] / F[(0, 0)];
    F[(0, 2)] = C[(0, 2)] / F[(0, 0)];
    F[(1, 1)] = (C[(1, 1)] - F[(0, 1)].squared()).sqrt();
    F[(1, 2)] = (C[(1, 2)] - F[(0, 1)] * F[(0, 2)]) / F[(1, 1)];
    F[(2, 2)] = (C[(2, 2)] - F[(0, 2)].squared() - F[(1, 2)].squared()).sqrt();
    F
}
