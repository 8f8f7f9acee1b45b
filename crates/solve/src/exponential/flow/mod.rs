//! The exact motion of a linear system, M ẍ = M a − K x − D(ẋ − v) from x = 0, ẋ = v, computed in Krylov spaces.
//!
//! The motion over h is hφ₁(hJ)(v, a) with J = [0 1; −M⁻¹K −M⁻¹D]. It is computed by Galerkin projection onto a space that
//! grows until the result converges:
//!
//! * D = αM + βK ([`Damping::Rayleigh`]): the motion is a function of M⁻¹K, which is self-adjoint in the inner product of
//!   M. The space is a block Krylov space of {v, a} in n dimensions. The projected stiffness is symmetric, and
//!   [`crate::exponential::Propagator`] is applied to its eigenvalues. The projected problem is again a mechanical system:
//!   without damping it conserves its energy, for a space of any size.
//! * any other D ([`Damping::General`]): an Arnoldi space of (v, a) in 2n dimensions \[saad1992\], and a dense exponential.
//!
//! A space grows by products with M⁻¹K (or J), which takes about hω_max vectors, or by solves with M + τD + τ²K
//! (shift-invert \[vandeneshof2006\]), for which the number of vectors does not depend on the stiffness. The projection
//! always uses K and D themselves, so the matrix of the solves may be an approximation.
//!
//! With products, both δq and δv must converge. With solves, only δq must: motion much faster than the step hardly
//! displaces anything, and the phase of its velocity would need one vector for each such mode. (Its energy is right, since
//! the projected problem conserves energy.)
//!
//! The largest space may be insufficient, if the state contains high frequencies or the step is long compared with them.
//! For Rayleigh damping, a sum of Chebyshev polynomials then replaces it (`chebyshev.rs`): always ½hω_max products for each
//! of v and a. For general damping, a space grown by products serves for the first part of the step, and a new space
//! begins there. Smaller parts do not help solves; products replace them.

mod general;
mod space;
mod symmetric;

use crate::exponential::chebyshev::chebyshev;
use crate::matrix::vector::{axpy, dot};
use crate::second_order::SecondOrderSystem;
use general::General;
use space::{Coordinates, KrylovSpace, distance, size};
use symmetric::Symmetric;

/// The structure of the damping matrix D.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// αM + βK.
    Rayleigh {
        /// α, 1/s.
        alpha: f64,
        /// β, s.
        beta: f64,
    },
    /// Any other matrix.
    General,
}

/// How a Krylov space grows.
pub enum Growth<'a> {
    /// By products with M⁻¹K or J.
    Polynomial,
    /// By solves with M + τD + τ²K, or with an approximation of it.
    ShiftInvert {
        /// X ← (M + τD + τ²K)⁻¹X; the second argument is the number of columns.
        solve: &'a mut dyn FnMut(&mut [f64], usize),
        /// τ, s.
        tau: f64,
    },
}

/// The accuracy of a [`flow`].
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// Permitted error over the step, relative to the motion and the initial velocity.
    pub tolerance: f64,
    /// A velocity, as ‖·‖_M, that is added to the scale of the relative error: other motion, and what is negligible.
    pub floor: f64,
    /// Largest dimension of a space. Beyond it the step is divided, or products replace solves.
    pub max_vectors: usize,
}

/// The motion of a linear system over a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Displacement.
    pub dq: Vec<f64>,
    /// Change of velocity.
    pub dv: Vec<f64>,
    /// Number of Krylov vectors, over all parts.
    pub vectors: usize,
    /// Number of parts of the step.
    pub parts: usize,
    /// Whether products had to replace solves.
    pub fell_back: bool,
}

impl Flow {
    fn finite(self) -> Result<Self, FlowError> {
        let finite = self.dq.iter().chain(&self.dv).all(|x| x.is_finite());
        if finite { Ok(self) } else { Err(FlowError::NotFinite) }
    }
}

/// Why a motion was not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// A number is not finite, e.g. since the motion grows without bound.
    #[error("the linearised motion is not finite")]
    NotFinite,
    /// The step would have to be divided into more than this number of parts.
    #[error("the linearised motion needs more than {0} parts of the step")]
    TooManyParts(usize),
}

/// Largest number of parts of a step.
const PARTS: usize = 4096;
/// Halvings of a step within one space.
const HALVINGS: i32 = 12;

/// The motion over `h` from velocity `v` and acceleration `a`.
pub fn flow(
    system: &dyn SecondOrderSystem,
    damping: Damping,
    mut growth: Growth<'_>,
    v: &[f64],
    a: &[f64],
    h: f64,
    accuracy: Accuracy,
) -> Result<Flow, FlowError> {
    let n = v.len();
    let (mut v, mut a) = (v.to_vec(), a.to_vec());
    let mut out = Flow { dq: vec![0.0; n], dv: vec![0.0; n], vectors: 0, parts: 0, fell_back: false };
    let (mut left, mut target) = (h, h);
    let mut sigma = 1.0 / (h * h);
    loop {
        let mut weighted = vec![0.0; n];
        for x in [&v, &a] {
            system.mass(x, &mut weighted);
            if !dot(x, &weighted).is_finite() {
                return Err(FlowError::NotFinite);
            }
        }
        let mut space: Box<dyn KrylovSpace> = match damping {
            Damping::Rayleigh { alpha, beta } => Box::new(Symmetric::new(system, &v, &a, [alpha, beta])),
            Damping::General => Box::new(General::new(system, &v, &a, sigma)),
        };
        let part = target.min(left);
        let found = converge(space.as_mut(), &mut growth, part, h, accuracy);
        let solves = matches!(growth, Growth::ShiftInvert { .. });
        out.fell_back |= solves && found.is_err();
        let insufficient = match &found {
            Ok((taken, _)) => *taken < part,
            Err(e) => matches!(e, FlowError::TooManyParts(_)),
        };
        if insufficient
            && out.parts == 0
            && let Damping::Rayleigh { alpha, beta } = damping
            && let Some((dq, dv, products)) = chebyshev(system, [alpha, beta], &v, &a, h)
        {
            let vectors = out.vectors + space.len() + products;
            return Flow { dq, dv, vectors, parts: 1, fell_back: out.fell_back }.finite();
        }
        let (taken, coordinates) = match found {
            Err(FlowError::TooManyParts(_)) if solves => {
                out.vectors += space.len();
                growth = Growth::Polynomial;
                continue;
            }
            Err(_) if space.indefinite() && sigma * h * h < 1e8 => {
                sigma *= 16.0;
                continue;
            }
            other => other?,
        };
        let (dq, dv) = space.assemble(taken, &coordinates);
        out.vectors += space.len();
        out.parts += 1;
        axpy(1.0, &dq, &mut out.dq);
        axpy(1.0, &dv, &mut out.dv);
        left -= taken;
        if left <= 0.0 {
            return out.finite();
        }
        if out.parts >= PARTS {
            return Err(FlowError::TooManyParts(PARTS));
        }
        // Try twice the length of this part.
        target = 2.0 * taken;
        let (mut force, mut other) = (vec![0.0; n], vec![0.0; n]);
        system.stiffness(&dq, &mut force);
        system.damping(&dv, &mut other);
        axpy(1.0, &other, &mut force);
        system.divide_by_mass(&force, &mut other);
        axpy(-1.0, &other, &mut a);
        axpy(1.0, &dv, &mut v);
    }
}

/// Grows the space until the motion over `part` of the step `h`, or over a fraction of it, has converged.
///
/// The error is estimated from the change of the motion while the space grows. If the last change was d and the one before
/// d/ρ, the further changes add up to dρ/(1 − ρ). A single change may be small by chance, so the estimate is at least d/2.
/// The error is relative to the motion and to v, since a full period leads back to its start.
fn converge(
    space: &mut dyn KrylovSpace,
    growth: &mut Growth<'_>,
    part: f64,
    h: f64,
    accuracy: Accuracy,
) -> Result<(f64, Coordinates), FlowError> {
    // The level of rounding.
    let tolerance = accuracy.tolerance.max(1e-13);
    let speed = space.speed() + accuracy.floor;
    let allowed = |t: f64, now: &Coordinates| tolerance * t / h * (size(now) + speed);
    let mut before: Option<(usize, Option<Coordinates>)> = None;
    let mut last_change = None;
    // Of two lists the first is δq. A single list contains both δq and δv.
    let lists = if matches!(growth, Growth::Polynomial) { 2 } else { 1 };
    let mut complete = space.len() == 0;
    loop {
        let m = space.len();
        if space.indefinite() {
            return Err(FlowError::NotFinite);
        }
        let now = space.motion(m, part);
        if complete {
            return now.map(|now| (part, now)).ok_or(FlowError::NotFinite);
        }
        if let Some((fewer, then)) = &before {
            let change = now.as_ref().zip(then.as_ref());
            let change = change.map(|(now, then)| (distance(&now[..lists], &then[..lists]), now));
            if let Some((change, now)) = change {
                let ratio = last_change.map_or(0.5, |last: f64| change / last).min(0.8);
                let ahead = (ratio / (1.0 - ratio)).max(0.5);
                if change == 0.0 || change * ahead <= allowed(part, now) {
                    return Ok((part, now.clone()));
                }
                last_change = Some(change);
            }
            if m >= accuracy.max_vectors {
                return match growth {
                    Growth::ShiftInvert { .. } => Err(FlowError::TooManyParts(1)),
                    Growth::Polynomial => fraction(space, [*fewer, m], part, &allowed),
                };
            }
        }
        before = Some((m, now));
        // The space grows by a fraction between two tests, so that tests cost little. With products, convergence is
        // sudden. With solves it is gradual, and the change between two tests must be large enough to be measured.
        let increment = if matches!(growth, Growth::Polynomial) { m / 4 } else { m / 2 };
        while space.len() < m + increment.max(2) && !complete {
            complete = !space.grow(growth);
        }
    }
}

/// The largest fraction of `part` for which two spaces agree.
fn fraction(
    space: &dyn KrylovSpace,
    [fewer, m]: [usize; 2],
    part: f64,
    allowed: &dyn Fn(f64, &Coordinates) -> f64,
) -> Result<(f64, Coordinates), FlowError> {
    let mut finite = false;
    for k in 1..=HALVINGS {
        let t = part * 0.5f64.powi(k);
        if let Some((now, then)) = space.motion(m, t).zip(space.motion(fewer, t)) {
            if distance(&now, &then) <= allowed(t, &now) {
                return Ok((t, now));
            }
            finite = true;
        }
    }
    Err(if finite { FlowError::TooManyParts(1 << HALVINGS) } else { FlowError::NotFinite })
}
