//! Mean dilatation against volumetric locking \[simo1985\]: the ratio of volumes of each point becomes nearly the mean of its tet.
//!
//! With J̄ = Σ w J/V, J̃ = θ J̄ + (1 − θ) J and s = (J̃/J)^⅓ the material sees F̂ = s F, for which det F̂ = J̃; W = Σ w ψ(F̂). Of a material
//! that is linear in a fixed frame, tr F takes the place of J: F̂ = F + ⅓θ(t̄ − tr F) 1. Both have rates of the same form,
//!   dF̂ = s (dF + a (δ − c:dF) E),   δ = Σ w r c:dF/V,
//! with E = F, c = F⁻ᵀ, r = J/J̄, a = ⅓θ J̄/J̃, or E = c = 1, s = r = 1, a = ⅓θ. The transpose makes of P̂ = ∂ψ/∂F̂
//!   P = s P̂ + (r π − a s P̂:E) c,   π = Σ w a s P̂:E/V.
//! A tet with an inverted point has no such F̂: its energy is +∞ whatever the material.
//!
//! θ = 1 would be the mean alone. Then a volume that changes linearly over the tet costs nothing, and neither does a motion that
//! is locally a similarity: a beam that is one tet thick bends by swelling on one side, at a third of its frequency. So such
//! changes meet the bulk modulus κ* that the shear modulus would have at ν = 0.3: with θ = 1 − √(κ*/κ) their energy is
//! ½ (1 − θ)²κ = ½ κ*. Nearly incompressible solutions have next to none of them, so that this does not lock.

use super::kernel::{BATCH, POINTS, RestPoint};
use super::shape::NODES;
use super::{QuadraticTets, sorted_slopes};
use crate::materials::Lame;
use crate::materials::{Mat9, Material, Places, cholesky_transposed};
use crate::math::{LANES, Lanes, Mat3, Scalar};

/// κ*/μ, of a body with ν = 0.3.
const BULK_OF_CHANGES: f64 = 2.0 * 1.3 / (3.0 * (1.0 - 0.6));

/// θ of a tet.
pub(super) fn evened(moduli: Lame) -> f64 {
    let bulk = moduli.lambda + 2.0 / 3.0 * moduli.mu;
    let ratio = BULK_OF_CHANGES * moduli.mu / bulk;
    if ratio > 0.0 && ratio < 1.0 { 1.0 - ratio.sqrt() } else { 0.0 }
}

/// F̂ at the points of a tet, or of four, and what its rates are made of.
pub(super) struct EvenDilatation<T> {
    /// F̂.
    pub even: [Mat3<T>; POINTS],
    direction: [Mat3<T>; POINTS],
    along: [Mat3<T>; POINTS],
    stretch: [T; POINTS],
    /// a.
    part: [T; POINTS],
    ratio: [T; POINTS],
    shares: [T; POINTS],
    /// The smallest J, or 1: where it is not positive there is no F̂.
    least: T,
    finite: bool,
}

impl<T: Scalar> EvenDilatation<T> {
    /// From F, the part of the volume of each point and θ; `finite`: by J, else by tr F.
    #[inline(always)]
    pub fn new(finite: bool, F: &[Mat3<T>; POINTS], shares: [T; POINTS], theta: T) -> Self {
        let one = T::one();
        if !finite {
            let trace = F.map(|F| F.trace());
            let mean = weighted(shares, trace);
            let unit = Mat3::identity();
            let part = theta.scale(1.0 / 3.0);
            return Self {
                even: std::array::from_fn(|q| F[q] + unit.scale(part * (mean - trace[q]))),
                direction: [unit; POINTS],
                along: [unit; POINTS],
                stretch: [one; POINTS],
                part: [part; POINTS],
                ratio: [one; POINTS],
                shares,
                least: one,
                finite,
            };
        }
        let cofactors = F.map(|F| F.cofactor());
        // det F = row · cofactors of the row.
        let J: [T; POINTS] = std::array::from_fn(|q| {
            let (a, b) = (F[q].0[0], cofactors[q].0[0]);
            a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
        });
        let mean = weighted(shares, J);
        let even = J.map(|J| theta * mean + (one - theta) * J);
        let stretch: [T; POINTS] = std::array::from_fn(|q| (even[q] / J[q]).cbrt());
        Self {
            even: std::array::from_fn(|q| F[q].scale(stretch[q])),
            direction: *F,
            along: std::array::from_fn(|q| cofactors[q].scale(one / J[q])),
            stretch,
            part: even.map(|even| (theta * mean / even).scale(1.0 / 3.0)),
            ratio: J.map(|J| J / mean),
            shares,
            least: J.into_iter().fold(mean, |least, J| T::select_positive(least - J, J, least)),
            finite,
        }
    }

    /// dF̂ of dF.
    #[inline(always)]
    pub fn rate(&self, dF: &[Mat3<T>; POINTS]) -> [Mat3<T>; POINTS] {
        let own: [T; POINTS] = std::array::from_fn(|q| self.along[q].dot(&dF[q]));
        let mean = weighted(self.shares, std::array::from_fn(|q| self.ratio[q] * own[q]));
        std::array::from_fn(|q| {
            let change = self.direction[q].scale(self.part[q] * (mean - own[q]));
            (dF[q] + change).scale(self.stretch[q])
        })
    }

    /// P of P̂.
    #[inline(always)]
    pub fn stress(&self, even: &[Mat3<T>; POINTS]) -> [Mat3<T>; POINTS] {
        let own: [T; POINTS] =
            std::array::from_fn(|q| self.part[q] * self.stretch[q] * even[q].dot(&self.direction[q]));
        let mean = weighted(self.shares, own);
        std::array::from_fn(|q| {
            let pressure = self.ratio[q] * mean - own[q];
            Mat3::combine(self.stretch[q], &even[q], pressure, &self.along[q])
        })
    }
}

#[inline(always)]
fn weighted<T: Scalar>(shares: [T; POINTS], values: [T; POINTS]) -> T {
    let term = |q: usize| shares[q] * values[q];
    (term(0) + term(1)) + (term(2) + term(3))
}

/// Second derivatives of W/V at one tet: Σ (w/V) dF:L:dF + 2 δ Σ (w/V) l:dF + k δ².
pub(super) struct EvenTangent {
    /// L.
    pub own: [Mat9; POINTS],
    /// (w/V) r c, whose product with dF is δ.
    pub along: [Mat3; POINTS],
    /// (w/V) l + ½ k (w/V) r c.
    pub other: [Mat3; POINTS],
}

impl EvenDilatation<f64> {
    /// From ∂²ψ/∂F̂² and, for the exact second derivatives, P̂; without it the part is left out that the curvature of F̂(F) makes,
    /// and what is left is positive semidefinite if ∂²ψ/∂F̂² is.
    pub fn tangent(&self, hessians: &[Mat9; POINTS], stresses: Option<&[Mat3; POINTS]>) -> EvenTangent {
        let flat = |m: &Mat3| -> [f64; 9] { std::array::from_fn(|k| m[(k / 3, k % 3)]) };
        let square = |m: [f64; 9]| Mat3::from_fn(|i, j| m[3 * i + j]);
        let stresses = stresses.filter(|_| self.finite);
        let work = |q: usize| stresses.map_or(0.0, |P| P[q].dot(&self.even[q]));
        let pressure: f64 = (0..POINTS).map(|q| self.shares[q] * self.part[q] * work(q)).sum();
        let (mut own, mut other) = ([[[0.0; 9]; 9]; POINTS], [[0.0; 9]; POINTS]);
        let mut curvature = -pressure;
        for q in 0..POINTS {
            let (E, c, s) = (flat(&self.direction[q]), flat(&self.along[q]), self.stretch[q]);
            let H = &hessians[q];
            // H:E, and E:H:E.
            let along: [f64; 9] = std::array::from_fn(|x| (0..9).map(|y| H[x][y] * E[y]).sum());
            let twice: f64 = (0..9).map(|x| E[x] * along[x]).sum();
            let (ss, a) = (s * s, self.part[q]);
            curvature += self.shares[q] * ss * a * a * twice;
            for x in 0..9 {
                for y in 0..9 {
                    let deviatoric =
                        H[x][y] - a * (along[x] * c[y] + c[x] * along[y]) + a * a * twice * c[x] * c[y];
                    own[q][x][y] = ss * deviatoric;
                }
                other[q][x] = a * ss * (along[x] - a * twice * c[x]);
            }
            if let Some(P) = stresses {
                let (P, work, ratio) = (flat(&P[q]), work(q), self.ratio[q]);
                // d²s/s = a (dδ + tr(F⁻¹dF F⁻¹dF)) + b (δ − c:dF)².
                let b = a * a + a * (1.0 - 3.0 * a);
                curvature += self.shares[q] * work * b;
                for x in 0..9 {
                    for y in 0..9 {
                        // c_ia c_kb of (i, b) and (k, a): tr(F⁻¹dF F⁻¹dF).
                        let crossed = self.along[q][(x / 3, y % 3)] * self.along[q][(y / 3, x % 3)];
                        own[q][x][y] += (work * b + pressure * ratio) * c[x] * c[y]
                            + (a * work - pressure * ratio) * crossed
                            - a * s * (c[x] * P[y] + P[x] * c[y]);
                    }
                    other[q][x] += a * s * P[x] - work * b * c[x];
                }
            }
        }
        let along: [Mat3; POINTS] =
            std::array::from_fn(|q| self.along[q].scale(self.shares[q] * self.ratio[q]));
        EvenTangent {
            own,
            other: std::array::from_fn(|q| {
                Mat3::combine(self.shares[q], &square(other[q]), 0.5 * curvature, &along[q])
            }),
            along,
        }
    }
}

/// What joins the points of four tets in their matrices: blocks uₐ mᵦᵀ + mₐ uᵦᵀ between nodes a and b.
#[derive(Clone, Copy)]
pub(super) struct Coupling10 {
    pub u: [[Lanes; 3]; NODES],
    pub m: [[Lanes; 3]; NODES],
}

impl Coupling10 {
    pub const ZERO: Self = Self { u: [[Lanes([0.0; 4]); 3]; NODES], m: [[Lanes([0.0; 4]); 3]; NODES] };

    /// Of a tet in a lane, from its points at rest.
    pub fn set_lane(&mut self, lane: usize, points: [&RestPoint; POINTS], tangent: &EvenTangent) {
        let volume: f64 = points.iter().map(|p| p.weight.0[lane]).sum();
        let slopes = super::shape::points().map(sorted_slopes);
        for (to, from, c) in [(&mut self.u, &tangent.along, 1.0), (&mut self.m, &tangent.other, volume)] {
            for (a, to) in to.iter_mut().enumerate() {
                let mut sum = [0.0; 3];
                for q in 0..POINTS {
                    let gradient = points[q].inverse.lane(lane).transpose().mul_vec(slopes[q][a]);
                    let part = from[q].mul_vec(gradient);
                    (0..3).for_each(|i| sum[i] += c * part[i]);
                }
                (0..3).for_each(|i| to[i].0[lane] = sum[i]);
            }
        }
    }

    /// Adds the lower blocks between nodes a and b ≤ a.
    pub fn add_to(&self, element: &mut [[Lanes; 9]]) {
        let mut blocks = element.iter_mut();
        for a in 0..NODES {
            for b in 0..=a {
                let Some(block) = blocks.next() else { return };
                for i in 0..3 {
                    for j in 0..3 {
                        block[3 * i + j] += self.u[a][i] * self.m[b][j] + self.m[a][i] * self.u[b][j];
                    }
                }
            }
        }
    }
}

/// The part of the volume of its tet that each point of a block stands for; a quarter where there is no tet.
#[inline(always)]
pub(super) fn shares(points: [&RestPoint; POINTS]) -> [Lanes; POINTS] {
    let weights = points.map(|p| p.weight);
    let volume = (weights[0] + weights[1]) + (weights[2] + weights[3]);
    weights.map(|w| Lanes::select_positive(volume, w / volume, Lanes::new(0.25)))
}

/// Matrices at the points of a block.
type BlockMatrices = [Mat3<Lanes>; POINTS];

impl QuadraticTets {
    /// F̂ of block `block` from F.
    #[inline(always)]
    pub(super) fn even(&self, block: usize, F: &BlockMatrices) -> EvenDilatation<Lanes> {
        let points = std::array::from_fn(|q| self.rest_point(block, q));
        EvenDilatation::new(self.material.card().frame_indifferent, F, shares(points), self.evened[block])
    }

    /// ψ(F̂) of blocks from number `first` on.
    pub(super) fn even_energies(&self, first: usize, F: &[Mat3<Lanes>], out: &mut [Lanes]) {
        let mut even = [Mat3([[Lanes::zero(); 3]; 3]); BATCH];
        let mut least = [Lanes::zero(); BATCH / POINTS];
        for (k, F) in F.as_chunks().0.iter().enumerate() {
            let own = self.even(first + k, F);
            even[POINTS * k..POINTS * (k + 1)].copy_from_slice(&own.even);
            least[k] = own.least;
        }
        self.material.energies(self.entries(first), &even[..F.len()], out);
        for (k, out) in out.iter_mut().enumerate() {
            *out = Lanes::select_positive(least[k / POINTS], *out, Lanes::new(f64::INFINITY));
        }
    }

    /// P of blocks from number `first` on, from a law that makes P̂ of F̂.
    pub(super) fn even_stresses(
        &self,
        first: usize,
        F: &[Mat3<Lanes>],
        P: &mut [Mat3<Lanes>],
        law: impl Fn(Places<'_>, &[Mat3<Lanes>], &mut [Mat3<Lanes>]),
    ) {
        for (k, (F, P)) in F.as_chunks().0.iter().zip(P.as_chunks_mut::<POINTS>().0).enumerate() {
            let own = self.even(first + k, F);
            law(self.entries(first + k), &own.even, P);
            *P = own.stress(P);
        }
    }

    /// P of a law between two fields, of which the second is of rates or of positions too.
    pub(super) fn even_pairs(
        &self,
        first: usize,
        gradients: &[[Mat3<Lanes>; 2]],
        rates: bool,
        P: &mut [Mat3<Lanes>],
        mut law: impl FnMut(usize, &[[Mat3<Lanes>; 2]; POINTS], &mut BlockMatrices),
    ) {
        let pairs = gradients.as_chunks::<POINTS>().0.iter().zip(P.as_chunks_mut::<POINTS>().0);
        for (k, (ends, P)) in pairs.enumerate() {
            let [F, G] = [0, 1].map(|n| ends.map(|ends| ends[n]));
            let own = self.even(first + k, &F);
            if rates {
                let rate = own.rate(&G);
                law(first + k, &std::array::from_fn(|q| [own.even[q], rate[q]]), P);
                *P = own.stress(P);
            } else {
                let end = self.even(first + k, &G);
                law(first + k, &std::array::from_fn(|q| [own.even[q], end.even[q]]), P);
                *P = end.stress(P);
            }
        }
    }

    /// The stresses of a discrete gradient \[gonzalez2000\] over the C of all four points: S from the formula above at the mean C,
    /// then corrected along ΔC so that Σ w ½ S:ΔC = ΔW.
    pub(super) fn even_discrete_stresses(
        &self,
        first: usize,
        ends: &[[Mat3<Lanes>; 2]],
        P: &mut [Mat3<Lanes>],
    ) {
        let material: &dyn Material = self.material;
        let pairs = ends.as_chunks::<POINTS>().0.iter().zip(P.as_chunks_mut::<POINTS>().0);
        for (k, (ends, P)) in pairs.enumerate() {
            let middle = ends.map(|[a, b]| (a + b).scale(Lanes::new(0.5)));
            if !material.card().frame_indifferent {
                self.even_stresses(first + k, &middle, P, |at, F, P| material.stresses(at, F, P));
                continue;
            }
            let squares = ends.map(|ends| ends.map(|F| F.transpose_mul(&F)));
            let roots = squares.map(|[a, b]| cholesky_transposed(&(a + b).scale(Lanes::new(0.5))));
            self.even_stresses(first + k, &roots, P, |at, F, P| material.stresses(at, F, P));
            let S: BlockMatrices = std::array::from_fn(|q| (roots[q].inverse() * P[q]).symmetric_part());
            let mut energies = [[Lanes::zero(); POINTS]; 2];
            for (n, energies) in energies.iter_mut().enumerate() {
                self.even_energies(first + k, &ends.map(|ends| ends[n]), energies);
            }
            let shares = shares(std::array::from_fn(|q| self.rest_point(first + k, q)));
            let change = squares.map(|[a, b]| b - a);
            let missing = weighted(
                shares,
                std::array::from_fn(|q| energies[1][q] - energies[0][q] - S[q].dot(&change[q]).scale(0.5)),
            );
            let square = weighted(shares, change.map(|c| c.dot(&c)));
            let size = weighted(shares, squares.map(|[_, b]| b.dot(&b)));
            // Below ‖ΔC‖ = 1e-6 the correction, of third order, is smaller than its own round-off.
            let counts = square - size.scale(1e-12);
            let factor = Lanes::select_positive(counts, missing.scale(2.0) / square, Lanes::zero());
            *P = std::array::from_fn(|q| middle[q] * (S[q] + change[q].scale(factor)));
        }
    }

    /// F̂ of one tet.
    pub(super) fn even_of(&self, e: usize, q: &[f64]) -> EvenDilatation<f64> {
        let volume = self.volume(e);
        let F = std::array::from_fn(|point| self.gradient_of(e, point, q));
        let shares = std::array::from_fn(|point| self.weight(e, point) / volume);
        let place = self.places[e] as usize;
        let theta = self.evened[place / LANES].0[place % LANES];
        EvenDilatation::new(self.material.card().frame_indifferent, &F, shares, theta)
    }
}
