//! The exact motion of a linear system, M ẍ = M a − K x − D(ẋ − v) from x = 0, ẋ = v, found in small spaces.
//!
//! The motion over h is hφ₁(hJ)(v, a) with J = [0 1; −M⁻¹K −M⁻¹D]. It is computed by Galerkin projection onto a
//! space that grows until the result no longer changes:
//!
//! * D = αM + βK ([`Damping::Rayleigh`]): everything is a function of M⁻¹K, self-adjoint in the inner product of M.
//!   The space is a block Krylov space of {v, a} in n dimensions, the projected stiffness is symmetric, and its
//!   eigenvalues go through the closed form of [`crate::phi`]. The projected problem is again a mechanical
//!   system: without damping it keeps its energy, however small the space.
//! * any other D ([`Damping::General`]): an Arnoldi space of (v, a) in 2n dimensions \[saad1992\], a dense exponential.
//!
//! Spaces grow by M⁻¹K (or J), which takes some hω_max vectors, or by solves with M + τD + τ²K (shift-invert
//! \[vandeneshof2006\]), which takes a number that does not depend on the stiffness. Either way the projection uses K
//! and D themselves, so that the matrix that is solved with need not be theirs.
//!
//! Products are asked for δq and δv. Solves are asked for δq alone: what moves much faster than the step can tell hardly
//! displaces anything, and the phase of its velocity would take a vector for every such motion. (Its energy is right,
//! since the projected problem keeps its own.)
//!
//! Where the largest space is not enough, the state is rough, or the step long beside the fastest motion. For
//! Rayleigh damping a sum of Chebyshev polynomials takes over (`chebyshev.rs`): ½hω_max products for each of v and a,
//! always. Otherwise a space grown by products serves for the part of the step that it can, and the next begins there;
//! parts would not help solves, which give way to products.

mod general;
mod space;
mod symmetric;

use crate::chebyshev::chebyshev;
use crate::vector::{axpy, dot};
use general::General;
use space::{Coordinates, Space, distance, size};
use std::fmt;
use symmetric::Symmetric;

/// Products with the matrices of a linear system; vectors are zero at held dofs, and stay so.
pub trait Linear {
    /// y ← M x.
    fn mass(&self, x: &[f64], y: &mut [f64]);
    /// y ← M⁻¹ x.
    fn divide_by_mass(&self, x: &[f64], y: &mut [f64]);
    /// y ← K x.
    fn stiffness(&self, x: &[f64], y: &mut [f64]);
    /// y ← D x.
    fn damping(&self, x: &[f64], y: &mut [f64]);
}

/// What D is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// αM + βK.
    Rayleigh {
        /// α, 1/s.
        alpha: f64,
        /// β, s.
        beta: f64,
    },
    /// Anything else.
    General,
}

/// How a space grows.
pub enum Growth<'a> {
    /// By products.
    Polynomial,
    /// By solves with M + τD + τ²K, or something near it.
    ShiftInvert {
        /// X ← (M + τD + τ²K)⁻¹X for so many columns.
        solve: &'a mut dyn FnMut(&mut [f64], usize),
        /// τ, s.
        tau: f64,
    },
}

/// How close, and to what.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// Error allowed over the step, relative to the motion in it and the velocity at its start.
    pub tolerance: f64,
    /// What moves besides, and what is too small to matter, as ‖·‖_M of a velocity.
    pub floor: f64,
    /// Vectors before the step is taken in parts, or solves give way to products.
    pub max_vectors: usize,
}

/// A motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Displacement.
    pub dq: Vec<f64>,
    /// Change of velocity.
    pub dv: Vec<f64>,
    /// Vectors that were used, in all parts.
    pub vectors: usize,
    /// In how many parts the step was taken.
    pub parts: usize,
    /// Whether solves were not enough, and products took over.
    pub rough: bool,
}

impl Flow {
    fn finite(self) -> Result<Self, FlowError> {
        let finite = self.dq.iter().chain(&self.dv).all(|x| x.is_finite());
        if finite { Ok(self) } else { Err(FlowError::NotFinite) }
    }
}

/// Why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowError {
    /// Something is not a finite number: motion that grows beyond all bounds, for one.
    NotFinite,
    /// The step would have to be cut into more than so many parts.
    TooManyParts(usize),
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => write!(f, "the linearised motion is not finite"),
            Self::TooManyParts(n) => write!(f, "the linearised motion needs more than {n} parts of the step"),
        }
    }
}

impl std::error::Error for FlowError {}

/// Parts of a step before it is given up.
const PARTS: usize = 4096;
/// Halvings of a step within one space.
const HALVINGS: i32 = 12;

/// The motion over `h` from velocity `v` and acceleration `a`; see the module.
pub fn flow(
    system: &dyn Linear,
    damping: Damping,
    mut growth: Growth<'_>,
    v: &[f64],
    a: &[f64],
    h: f64,
    accuracy: Accuracy,
) -> Result<Flow, FlowError> {
    let n = v.len();
    let (mut v, mut a) = (v.to_vec(), a.to_vec());
    let mut out = Flow { dq: vec![0.0; n], dv: vec![0.0; n], vectors: 0, parts: 0, rough: false };
    let (mut left, mut target) = (h, h);
    let mut sigma = 1.0 / (h * h);
    loop {
        let mut weighed = vec![0.0; n];
        for x in [&v, &a] {
            system.mass(x, &mut weighed);
            if !dot(x, &weighed).is_finite() {
                return Err(FlowError::NotFinite);
            }
        }
        let mut space: Box<dyn Space> = match damping {
            Damping::Rayleigh { alpha, beta } => Box::new(Symmetric::new(system, &v, &a, [alpha, beta])),
            Damping::General => Box::new(General::new(system, &v, &a, sigma)),
        };
        let part = target.min(left);
        let found = converge(space.as_mut(), &mut growth, part, h, accuracy);
        let solves = matches!(growth, Growth::ShiftInvert { .. });
        out.rough |= solves && found.is_err();
        let far_off = match &found {
            Ok((taken, _)) => *taken < part,
            Err(e) => matches!(e, FlowError::TooManyParts(_)),
        };
        if far_off
            && out.parts == 0
            && let Damping::Rayleigh { alpha, beta } = damping
            && let Some((dq, dv, products)) = chebyshev(system, [alpha, beta], &v, &a, h)
        {
            let vectors = out.vectors + space.len() + products;
            return Flow { dq, dv, vectors, parts: 1, rough: out.rough }.finite();
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
        // Twice as far as this one came, if that is possible.
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
/// The error is estimated from how the motion changes while the space grows: if the last change was d and the one
/// before d/ρ, the changes to come add up to dρ/(1 − ρ). Since single changes may be small by chance, no less than d/2
/// is believed. It is compared with the motion and with v: a full period leads back to where it began.
fn converge(
    space: &mut dyn Space,
    growth: &mut Growth<'_>,
    part: f64,
    h: f64,
    accuracy: Accuracy,
) -> Result<(f64, Coordinates), FlowError> {
    // Below this, rounding is all that changes.
    let tolerance = accuracy.tolerance.max(1e-13);
    let speed = space.speed() + accuracy.floor;
    let allowed = |t: f64, now: &Coordinates| tolerance * t / h * (size(now) + speed);
    let mut before: Option<(usize, Option<Coordinates>)> = None;
    let mut last_change = None;
    // Of two lists the first is δq; a single one holds both.
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
        // In shares, so that looking costs little beside growing. Products converge at once, when they do; solves
        // slowly, so that a change must be waited for.
        let share = if matches!(growth, Growth::Polynomial) { m / 4 } else { m / 2 };
        while space.len() < m + share.max(2) && !complete {
            complete = !space.grow(growth);
        }
    }
}

/// The largest fraction of `part` for which two spaces agree.
fn fraction(
    space: &dyn Space,
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
