//! Strain measured from the rest state, rotated or not, without cancellation.
//!
//! With the Green strain E = ½(FᵀF − I): tr C − 3 = 2 tr E, and J² = det(I + 2E) makes
//!   x = J − 1 = (2 tr E + 4 tr cof E + 8 det E)/(J + 1),
//!   t = (tr C − 3) − 2x = (2x tr E − 8 tr cof E − 16 det E)/(J + 1),
//! of second order in E term by term. A ψ built on these keeps 16 + log₁₀ε digits at strain ε, as
//! many as F itself carries, where one built on tr C and J keeps 16 + 2 log₁₀ε: at ε = 1e-6 that is
//! 10 against 4, and a line search that compares energies can see it.

use crate::math::{Mat3, Real};

/// What the volumetric–isochoric models are built on.
pub struct FromRest<T> {
    /// det F.
    pub J: T,
    /// J − 1.
    pub x: T,
    /// (tr C − 3) − 2(J − 1).
    pub t: T,
    /// tr cof E.
    pub e2: T,
}

impl<T: Real> FromRest<T> {
    /// That of F.
    #[inline(always)]
    pub fn new(F: &Mat3<T>) -> Self {
        let J = F.det();
        let E = green_strain(F);
        let (e1, e2, e3) = (E.trace(), E.cofactor().trace(), E.det());
        let higher = e2.scale(4.0) + e3.scale(8.0);
        let near = J - T::new(0.5); // below, J itself has the digits, and J + 1 may vanish
        let inv = T::one() / (J + T::one());
        let x = T::select_positive(near, (e1 + e1 + higher) * inv, J - T::one());
        let t = T::select_positive(near, ((x * e1) - higher).scale(2.0) * inv, (e1 - x).scale(2.0));
        Self { J, x, t, e2 }
    }
}

/// E = ½(FᵀF − I), as ½(H + Hᵀ + HᵀH) with H = F − I.
#[inline(always)]
pub fn green_strain<T: Real>(F: &Mat3<T>) -> Mat3<T> {
    let H = *F - Mat3::identity();
    H.symmetric_part() + H.transpose_mul(&H).scale(T::new(0.5))
}

/// ψ where det F = J > 0 and ψ is finite, +∞ elsewhere.
#[inline(always)]
pub fn infinite_unless_positive<T: Real>(J: T, energy: T) -> T {
    // 0·ψ is 0 for a finite ψ and NaN otherwise, which is not positive.
    let feasible = J + energy.scale(0.0);
    T::select_positive(feasible, energy, T::new(f64::INFINITY))
}

/// J where it is positive, NaN elsewhere: a stress that does not exist must not pass for one, least of
/// all with explicit integrators, which never ask for the energy.
#[inline(always)]
pub fn nan_unless_positive<T: Real>(J: T) -> T {
    T::select_positive(J, J, T::new(f64::NAN))
}
