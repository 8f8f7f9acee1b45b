//! The invariants of F by which isotropic models are written; see [`super::isotropic`].

use super::Density;
use crate::math::{Mat3, Real, Vec3};

/// The invariants.
#[derive(Clone, Copy, Debug)]
pub struct Invariants<T = f64> {
    /// ‖F‖².
    pub I: T,
    /// ‖FᵀF‖².
    pub Q: T,
    /// det F.
    pub J: T,
    /// tr S.
    pub s: T,
}

/// Derivatives of ψ by the invariants, first and second; those that are not named are 0 in every
/// model here.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Derivatives<T = f64> {
    pub I: T,
    pub Q: T,
    pub J: T,
    pub s: T,
    pub II: T,
    pub IJ: T,
    pub QJ: T,
    pub JJ: T,
    pub ss: T,
}

impl<T: Real> Derivatives<T> {
    /// All 0, for a model to name its own.
    #[inline(always)]
    pub fn none() -> Self {
        let o = T::zero();
        Self { I: o, Q: o, J: o, s: o, II: o, IJ: o, QJ: o, JJ: o, ss: o }
    }
}

/// An isotropic density.
pub trait Isotropic: Density {
    /// ψ depends on s, so that its exact Hessian needs the polar rotation.
    const ROTATION: bool = false;
    /// ψ depends on Q.
    const QUARTIC: bool = false;
    /// ψ is not linear in I: ψ_II or ψ_IJ is not 0.
    const COUPLED: bool = false;
    /// The derivatives of ψ.
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T>;
}

/// ∂²ψ/∂σ∂σ.
#[inline(always)]
pub(super) fn scaling<T: Real>(d: &Derivatives<T>, sigma: Vec3<T>) -> Mat3<T> {
    let gI = sigma.map(|x| x + x);
    let gQ = sigma.map(|x| (x * x * x).scale(4.0));
    let gJ = [0, 1, 2].map(|i| sigma[(i + 1) % 3] * sigma[(i + 2) % 3]);
    Mat3::from_fn(|i, j| {
        let own = match i == j {
            true => d.I + d.I + (sigma[i] * sigma[i] * d.Q).scale(12.0),
            false => sigma[3 - i - j] * d.J,
        };
        own + d.II * gI[i] * gI[j]
            + d.IJ * (gI[i] * gJ[j] + gJ[i] * gI[j])
            + d.QJ * (gQ[i] * gJ[j] + gJ[i] * gQ[j])
            + d.JJ * gJ[i] * gJ[j]
            + d.ss
    })
}
