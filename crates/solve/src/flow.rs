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

use crate::chebyshev::chebyshev;
use crate::dense::{exponential, symmetric_eigen};
use crate::phi::Propagator;
use crate::vector::{axpy, dot, scale};
use faer::Mat;
use std::fmt;

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

/// Coordinates of (δq/t, δv) in an orthonormal basis, in one or two lists.
type Coordinates = [Vec<f64>; 2];

fn size(c: &[Vec<f64>]) -> f64 {
    c.iter().flatten().map(|x| x * x).sum::<f64>().sqrt()
}

/// Distance of two points, of which one may have fewer coordinates.
fn distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        for k in 0..a.len().max(b.len()) {
            let x = a.get(k).unwrap_or(&0.0) - b.get(k).unwrap_or(&0.0);
            sum += x * x;
        }
    }
    sum.sqrt()
}

trait Space {
    fn len(&self) -> usize;
    /// ‖v‖_M at the start.
    fn speed(&self) -> f64;
    /// Whether the inner product turned out not to be one.
    fn indefinite(&self) -> bool {
        false
    }
    /// Adds vectors; false if there are none to add, so that the space holds the motion exactly.
    fn grow(&mut self, growth: &mut Growth<'_>) -> bool;
    /// The motion over t in the first m vectors, if finite.
    fn motion(&self, m: usize, t: f64) -> Option<Coordinates>;
    /// (δq, δv) of the motion over t.
    fn assemble(&self, t: f64, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>);
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

/// Gram–Schmidt in the inner product of `weigh`, repeated until it changes little: twice is enough unless w was nearly in the
/// span (Kahan & Parlett; Giraud et al. 2005). Returns the coordinates of w; the last is its own, 0 if nothing was left,
/// negative if the inner product is not definite.
fn orthonormalise(weigh: &dyn Fn(&[f64], &mut [f64]), vectors: &[Vec<f64>], w: &mut [f64]) -> Vec<f64> {
    let mut coordinates = vec![0.0; vectors.len() + 1];
    let mut weighed = vec![0.0; w.len()];
    weigh(w, &mut weighed);
    let root = |square: f64| square.abs().sqrt().copysign(square);
    let original = root(dot(w, &weighed));
    let (mut before, mut left) = (original, original);
    for _ in 0..6 {
        if vectors.is_empty() {
            break;
        }
        let products: Vec<f64> = vectors.iter().map(|v| dot(v, &weighed)).collect();
        for ((v, s), c) in vectors.iter().zip(&products).zip(&mut coordinates) {
            axpy(-s, v, w);
            *c += s;
        }
        weigh(w, &mut weighed);
        left = root(dot(w, &weighed));
        if left > 0.7 * before || left <= 1e-13 * original {
            break;
        }
        before = left;
    }
    if left.abs() > 1e-13 * original.abs() && left.is_finite() {
        scale(1.0 / left, w);
        coordinates[vectors.len()] = left;
    }
    coordinates
}

fn combination(coefficients: &[f64], vectors: &[Vec<f64>], n: usize) -> Vec<f64> {
    let mut u = vec![0.0; n];
    for (c, v) in coefficients.iter().zip(vectors) {
        axpy(*c, v, &mut u);
    }
    u
}

/// The space for Rayleigh damping.
struct Symmetric<'a> {
    system: &'a dyn Linear,
    rayleigh: [f64; 2],
    dofs: usize,
    vectors: Vec<Vec<f64>>,
    /// K times those vectors that have not yet been used to grow.
    images: Vec<Vec<f64>>,
    grown: usize,
    /// Lower triangle of VᵀKV.
    projected: Vec<Vec<f64>>,
    /// Coordinates of v and a.
    start: [Vec<f64>; 2],
}

impl<'a> Symmetric<'a> {
    fn new(system: &'a dyn Linear, v: &[f64], a: &[f64], rayleigh: [f64; 2]) -> Self {
        let mut space = Self {
            system,
            rayleigh,
            dofs: v.len(),
            vectors: Vec::new(),
            images: Vec::new(),
            grown: 0,
            projected: Vec::new(),
            start: [Vec::new(), Vec::new()],
        };
        for (k, w) in [v, a].into_iter().enumerate() {
            space.start[k] = space.add(w.to_vec());
        }
        space
    }

    fn add(&mut self, mut w: Vec<f64>) -> Vec<f64> {
        let coordinates = orthonormalise(&|x, y| self.system.mass(x, y), &self.vectors, &mut w);
        if coordinates[self.vectors.len()] > 0.0 {
            let mut image = vec![0.0; self.dofs];
            self.system.stiffness(&w, &mut image);
            self.vectors.push(w);
            self.projected.push(self.vectors.iter().map(|v| dot(v, &image)).collect());
            self.images.push(image);
        }
        coordinates
    }
}

impl Space for Symmetric<'_> {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn speed(&self) -> f64 {
        self.start[0].iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    fn grow(&mut self, growth: &mut Growth<'_>) -> bool {
        let before = self.vectors.len();
        // A block of two, as there are two vectors to start from.
        let images: Vec<Vec<f64>> = self.images.drain(..2.min(self.images.len())).collect();
        let used = self.grown..self.grown + images.len();
        self.grown = used.end;
        match growth {
            Growth::Polynomial => {
                for image in images {
                    let mut w = vec![0.0; self.dofs];
                    self.system.divide_by_mass(&image, &mut w);
                    self.add(w);
                }
            }
            Growth::ShiftInvert { solve, .. } => {
                let mut block = vec![0.0; self.dofs * used.len()];
                for (w, k) in block.chunks_exact_mut(self.dofs).zip(used.clone()) {
                    self.system.mass(&self.vectors[k], w);
                }
                solve(&mut block, used.len());
                for w in block.chunks_exact(self.dofs) {
                    self.add(w.to_vec());
                }
            }
        }
        self.vectors.len() > before || self.grown < self.vectors.len()
    }

    fn motion(&self, m: usize, t: f64) -> Option<Coordinates> {
        if m == 0 {
            return Some([Vec::new(), Vec::new()]);
        }
        let lower = Mat::from_fn(m, m, |i, j| self.projected[i.max(j)][i.min(j)]);
        if (0..m).any(|i| (0..m).any(|j| !lower[(i, j)].is_finite())) {
            return None;
        }
        let (values, q) = symmetric_eigen(lower.as_ref())?;
        let mut out = [vec![0.0; m], vec![0.0; m]];
        for k in 0..m {
            let along = |c: &[f64]| c.iter().take(m).enumerate().map(|(i, c)| c * q[(i, k)]).sum::<f64>();
            let (v, a) = (along(&self.start[0]), along(&self.start[1]));
            let damping = self.rayleigh[0] + self.rayleigh[1] * values[k];
            let propagator = Propagator::new(t * t * values[k], 0.5 * t * damping);
            let (x, y) = propagator.advance(v, t * a);
            for i in 0..m {
                out[0][i] += x * q[(i, k)];
                out[1][i] += y * q[(i, k)];
            }
        }
        Some(out).filter(|c| size(c).is_finite())
    }

    fn assemble(&self, t: f64, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>) {
        let displacement: Vec<f64> = coordinates[0].iter().map(|x| t * x).collect();
        let n = self.dofs;
        (combination(&displacement, &self.vectors, n), combination(&coordinates[1], &self.vectors, n))
    }
}

/// The space for any other damping: pairs (x, y) one after the other, with the norm xᵀ(K + σM)x + yᵀMy.
///
/// That is (nearly) the energy, in which J is (nearly) dissipative, and so is its projection: exponentials stay of the
/// size of the motion. In the norm of M alone they grow like e^{(hω)²/2} before the space is large enough.
struct General<'a> {
    system: &'a dyn Linear,
    dofs: usize,
    sigma: f64,
    vectors: Vec<Vec<f64>>,
    /// J times them.
    images: Vec<Vec<f64>>,
    grown: usize,
    /// `projected[j][i]` is the product of vector i and image j.
    projected: Vec<Vec<f64>>,
    /// The norm of (v, a).
    start: f64,
    speed: f64,
    indefinite: bool,
}

impl<'a> General<'a> {
    fn new(system: &'a dyn Linear, v: &[f64], a: &[f64], sigma: f64) -> Self {
        let mut space = Self {
            system,
            dofs: v.len(),
            sigma,
            vectors: Vec::new(),
            images: Vec::new(),
            grown: 0,
            projected: Vec::new(),
            start: 0.0,
            speed: 0.0,
            indefinite: false,
        };
        let mut momentum = vec![0.0; v.len()];
        system.mass(v, &mut momentum);
        space.speed = dot(v, &momentum).sqrt();
        space.start = space.add([v, a].concat());
        space
    }

    fn weigh(&self, u: &[f64], out: &mut [f64]) {
        let n = self.dofs;
        let (x, y) = out.split_at_mut(n);
        self.system.stiffness(&u[..n], x);
        self.system.mass(&u[..n], y);
        axpy(self.sigma, y, x);
        self.system.mass(&u[n..], y);
    }

    /// Adds w, if it is new; returns what of it is.
    fn add(&mut self, mut w: Vec<f64>) -> f64 {
        let n = self.dofs;
        let own = orthonormalise(&|x, y| self.weigh(x, y), &self.vectors, &mut w)[self.vectors.len()];
        self.indefinite |= own < 0.0;
        if own > 0.0 {
            let mut image = vec![0.0; 2 * n];
            image[..n].copy_from_slice(&w[n..]);
            let (mut force, mut other) = (vec![0.0; n], vec![0.0; n]);
            self.system.stiffness(&w[..n], &mut force);
            self.system.damping(&w[n..], &mut other);
            axpy(1.0, &other, &mut force);
            self.system.divide_by_mass(&force, &mut image[n..]);
            scale(-1.0, &mut image[n..]);
            let (mut weighed, mut weighed_image) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
            self.weigh(&w, &mut weighed);
            self.weigh(&image, &mut weighed_image);
            for (column, image) in self.projected.iter_mut().zip(&self.images) {
                column.push(dot(&weighed, image));
            }
            self.vectors.push(w);
            self.images.push(image);
            self.projected.push(self.vectors.iter().map(|v| dot(v, &weighed_image)).collect());
        }
        own
    }
}

impl Space for General<'_> {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn speed(&self) -> f64 {
        self.speed
    }

    fn indefinite(&self) -> bool {
        self.indefinite
    }

    fn grow(&mut self, growth: &mut Growth<'_>) -> bool {
        let n = self.dofs;
        let before = self.vectors.len();
        if self.grown == before || self.indefinite {
            return false;
        }
        let w = match growth {
            Growth::Polynomial => self.images[self.grown].clone(),
            Growth::ShiftInvert { solve, tau } => {
                // (1 − τJ)(x, y) = (b, c): (M + τD + τ²K) y = M c − τK b, x = b + τy.
                let from = &self.vectors[self.grown];
                let (mut y, mut other) = (vec![0.0; n], vec![0.0; n]);
                self.system.mass(&from[n..], &mut y);
                self.system.stiffness(&from[..n], &mut other);
                axpy(-*tau, &other, &mut y);
                solve(&mut y, 1);
                let mut x = from[..n].to_vec();
                axpy(*tau, &y, &mut x);
                x.extend_from_slice(&y);
                x
            }
        };
        self.grown += 1;
        self.add(w);
        self.vectors.len() > before
    }

    fn motion(&self, m: usize, t: f64) -> Option<Coordinates> {
        if m == 0 {
            return Some([Vec::new(), Vec::new()]);
        }
        // tφ₁(tH)b is the last column of exp [tH tb; 0 0].
        let augmented = Mat::from_fn(m + 1, m + 1, |i, j| match (i < m, j < m) {
            (true, true) => t * self.projected[j][i],
            (true, false) if i == 0 => t * self.start,
            _ => 0.0,
        });
        let exponential = exponential(&augmented)?;
        let column = (0..m).map(|i| exponential[(i, m)]).collect();
        Some([column, Vec::new()]).filter(|c| size(c).is_finite())
    }

    fn assemble(&self, _t: f64, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>) {
        let mut dq = combination(&coordinates[0], &self.vectors, 2 * self.dofs);
        let dv = dq.split_off(self.dofs);
        (dq, dv)
    }
}
