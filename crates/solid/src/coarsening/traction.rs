//! Unit stresses as tractions on the outer boundary.
//!
//! With the uniform traction e·n of \[kharevych2010, (4.3)\], fibres that end at the boundary are pulled no harder than the soft
//! matrix between them, which hands the load over only along a length that grows with the contrast: the ends would come out as
//! soft as the matrix. So there are two more candidates for each e, with the same resultant, moment and mean stress: one whose
//! pressure, and one all of whose traction follows the stiffness at the boundary ([`shares`]). The mixture of the three with
//! the least energy is taken: of all stresses in equilibrium with a mean, the true one stores least.

use super::Fine;
use super::boundary::parts;
use super::tensor::unit;
use crate::math::vector::{V3, add, area_vector, dot, norm, scale, sub};
use crate::mesh::Surface;
use lilyan_solve::SmallMatrix;
use std::collections::BTreeMap;

/// How a unit stress is shared out over the outer boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traction {
    /// The same stress everywhere \[kharevych2010, (4.3)\].
    Uniform,
    /// The mixture of it and of tractions that follow the stiffness at the boundary that stores the least energy.
    LeastEnergy,
    /// The same stress everywhere, on the normals of the coarse mesh \[kharevych2010, 4.4.2\].
    CoarseNormal,
    /// The same stress everywhere, and 15 that vary linearly: tensors are fitted to them by least squares
    /// \[kharevych2010, 4.3.9\].
    Linear,
}

impl Traction {
    /// All ways. Where two come equally near, the first is taken.
    pub const ALL: [Self; 4] = [Self::LeastEnergy, Self::Uniform, Self::CoarseNormal, Self::Linear];

    /// How many candidates it is made of.
    pub(super) fn candidates(self) -> usize {
        match self {
            Self::Uniform | Self::CoarseNormal | Self::Linear => 1,
            Self::LeastEnergy => CANDIDATES,
        }
    }
}

/// A triangle of the outer boundary that is pulled.
struct Face {
    corners: [u32; 3],
    /// Normal, and its area, m².
    normal: V3,
    area: f64,
    /// Centre, about that of the boundary and in units of its size.
    at: V3,
    /// Stiffness behind it, relative to the mean.
    stiffness: f64,
}

/// The pulled triangles of each closed part of the outer boundary, so that uniform stress is in equilibrium on them.
fn faces(fine: &Fine<'_>, surface: &Surface, outside: &[bool], pulled: &[bool]) -> Vec<Vec<Face>> {
    let part = parts(surface);
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for t in (0..part.len()).filter(|t| outside[*t]) {
        members.entry(part[t]).or_default().push(t);
    }
    let of_part = |all: Vec<usize>| {
        let some: Vec<usize> = all.iter().copied().filter(|t| pulled[*t]).collect();
        let balanced = (some.len() < all.len()).then(|| balanced(collected(fine, surface, &some))).flatten();
        balanced.unwrap_or_else(|| collected(fine, surface, &all))
    };
    members.into_values().map(of_part).collect()
}

fn collected(fine: &Fine<'_>, surface: &Surface, triangles: &[usize]) -> Vec<Face> {
    let face = |&t: &usize| {
        let corners = surface.triangles[t];
        let x = corners.map(|v| fine.mesh.vertices[v as usize]);
        let a = scale(area_vector(x), 0.5);
        let c = fine.stiffness(surface.tets[t] as usize);
        Face {
            corners,
            normal: scale(a, 1.0 / norm(a).max(f64::MIN_POSITIVE)),
            area: norm(a),
            at: scale(x.into_iter().fold([0.0; 3], add), 1.0 / 3.0),
            stiffness: (0..6).map(|i| c[i][i]).sum::<f64>(),
        }
    };
    let mut faces: Vec<Face> = triangles.iter().map(face).collect();
    let total: f64 = faces.iter().map(|f| f.area).sum();
    let mean = |of: &dyn Fn(&Face) -> f64| faces.iter().map(|f| f.area * of(f)).sum::<f64>() / total;
    let (middle, stiffness) = ([0, 1, 2].map(|k| mean(&|f| f.at[k])), mean(&|f| f.stiffness));
    for f in faces.iter_mut() {
        f.at = scale(sub(f.at, middle), 1.0 / total.sqrt());
        f.stiffness /= stiffness;
    }
    faces
}

/// The faces of a boundary with gaps, areas weighed such that Σ A n = 0 and Σ A n⊗x is isotropic: any uniform stress is then in
/// equilibrium on them. `None` where that would pull at some faces the other way.
fn balanced(mut faces: Vec<Face>) -> Option<Vec<Face>> {
    let ones = vec![1.0; faces.len()];
    let sums = sums(&faces, &functions(&faces, &ones), &ones);
    let volume = (0..3).map(|k| sums[3 + 4 * k]).sum::<f64>() / 3.0;
    let target = std::array::from_fn(|i| if i >= 3 && i % 3 == i / 3 - 1 { volume } else { 0.0 });
    let weights = nearest(&faces, &ones, &ones, &target);
    faces.iter_mut().zip(&weights).for_each(|(f, w)| f.area *= w);
    weights.iter().all(|w| *w > 0.0).then_some(faces)
}

/// φ = p (n, n⊗x) of each face.
fn functions(faces: &[Face], parts: &[f64]) -> Vec<[f64; 12]> {
    let of = |(f, p): (&Face, &f64)| {
        std::array::from_fn(|i| p * f.normal[i % 3] * if i < 3 { 1.0 } else { f.at[i / 3 - 1] })
    };
    faces.iter().zip(parts).map(of).collect()
}

/// Σ A s φ.
fn sums(faces: &[Face], functions: &[[f64; 12]], shares: &[f64]) -> [f64; 12] {
    let mut sums = [0.0; 12];
    for ((f, phi), s) in faces.iter().zip(functions).zip(shares) {
        (0..12).for_each(|i| sums[i] += f.area * s * phi[i]);
    }
    sums
}

/// s of each face, by which a part p of the traction on it is multiplied: nearest to the stiffness there, such that Σ A s p n
/// and Σ A s p n⊗x are those of s = 1. With p = n·e·n, or with p = 1 and all of the traction, resultant, moment and mean stress
/// are then those of uniform traction.
fn shares(faces: &[Face], parts: &[f64]) -> Vec<f64> {
    let stiffness: Vec<f64> = faces.iter().map(|f| f.stiffness).collect();
    let target = sums(faces, &functions(faces, parts), &vec![1.0; faces.len()]);
    nearest(faces, &stiffness, parts, &target)
}

/// The s of each face that are nearest to the weights w, Σ A (s − w)²/w, with given Σ A s φ: s = w (1 + c·φ).
fn nearest(faces: &[Face], weights: &[f64], parts: &[f64], target: &[f64; 12]) -> Vec<f64> {
    let functions = functions(faces, parts);
    let mut square = [[0.0; 12]; 12];
    for ((f, phi), w) in faces.iter().zip(&functions).zip(weights) {
        for i in 0..12 {
            (0..12).for_each(|j| square[i][j] += f.area * w * phi[i] * phi[j]);
        }
    }
    // Some of the functions depend on others, as on a ball, or are 0.
    let square = SmallMatrix::from_fn(12, 12, |i, j| square[i][j]);
    let most = (0..12).map(|i| square[(i, i)]).fold(0.0, f64::max);
    let Some(inverse) = square.function(|v| if v > 1e-10 * most { 1.0 / v } else { 0.0 }) else {
        return vec![1.0; faces.len()];
    };
    let mut shares = weights.to_vec();
    // More than once for round-off: what is missing would be borne by what is held.
    for _ in 0..3 {
        let sums = sums(faces, &functions, &shares);
        let c = inverse.apply(&std::array::from_fn::<f64, 12, _>(|i| target[i] - sums[i]));
        for ((w, phi), s) in weights.iter().zip(&functions).zip(&mut shares) {
            *s += w * phi.iter().zip(&c).map(|(f, c)| f * c).sum::<f64>();
        }
    }
    shares
}

/// Ways to share out a unit stress on the boundary.
const CANDIDATES: usize = 3;

/// Nodal forces of the six unit stresses on the pulled part of the outer boundary, 0 where held; the candidates one after the
/// other.
pub(super) fn loads(
    fine: &Fine<'_>,
    surface: &Surface,
    [outside, pulled]: [&[bool]; 2],
    held: &[bool],
) -> Vec<f64> {
    let dofs = held.len();
    let mut out = vec![0.0; 6 * CANDIDATES * dofs];
    for faces in faces(fine, surface, outside, pulled) {
        let all = shares(&faces, &vec![1.0; faces.len()]);
        for a in 0..6 {
            let e = unit(a);
            let pull: Vec<V3> = faces.iter().map(|f| e.mul_vec(f.normal)).collect();
            let pressures: Vec<f64> = faces.iter().zip(&pull).map(|(f, t)| dot(f.normal, *t)).collect();
            let some = shares(&faces, &pressures);
            for (i, f) in faces.iter().enumerate() {
                let pressed = |k: usize| (some[i] - 1.0) * pressures[i] * f.normal[k];
                for (v, k) in f.corners.into_iter().flat_map(|v| [0, 1, 2].map(|k| (v, k))) {
                    let tractions = [pull[i][k], pull[i][k] + pressed(k), all[i] * pull[i][k]];
                    for (candidate, traction) in tractions.into_iter().enumerate() {
                        out[(6 * candidate + a) * dofs + 3 * v as usize + k] += f.area / 3.0 * traction;
                    }
                }
            }
        }
    }
    for f in out.chunks_exact_mut(dofs) {
        f.iter_mut().zip(held).filter(|(_, h)| **h).for_each(|(f, _)| *f = 0.0);
    }
    out
}

/// For each unit stress the mixture of its candidates, loads and displacements, with the least energy.
pub(super) fn mixed(traction: Traction, loads: &[f64], x: &[f64], dofs: usize) -> (Vec<f64>, Vec<f64>) {
    if traction != Traction::LeastEnergy {
        return (loads[..6 * dofs].to_vec(), x[..6 * dofs].to_vec());
    }
    let column = |of: &'_ [f64], candidate: usize, a: usize| -> Vec<f64> {
        of[(6 * candidate + a) * dofs..(6 * candidate + a + 1) * dofs].to_vec()
    };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut forces, mut displacements) = (Vec::new(), Vec::new());
    for a in 0..6 {
        let (mut f, mut u) = (column(loads, 0, a), column(x, 0, a));
        let apart = |of: &[f64], first: &[f64], candidate: usize| -> Vec<f64> {
            column(of, candidate, a).iter().zip(first).map(|(x, y)| x - y).collect()
        };
        let others: Vec<(Vec<f64>, Vec<f64>)> =
            (1..CANDIDATES).map(|c| (apart(loads, &f, c), apart(x, &u, c))).collect();
        let m = others.len();
        let square = SmallMatrix::from_fn(m, m, |i, j| product(&others[i].0, &others[j].1)).symmetric();
        let least = 1e-12 * product(&f, &u);
        let inverse = square.function(|v| if v > least { 1.0 / v } else { 0.0 });
        let slope: Vec<f64> = others.iter().map(|(df, _)| -product(df, &u)).collect();
        let weights = inverse.map_or(vec![0.0; m], |inverse| inverse.apply(&slope));
        for ((df, du), w) in others.iter().zip(weights) {
            f.iter_mut().zip(df).for_each(|(f, d)| *f += w * d);
            u.iter_mut().zip(du).for_each(|(u, d)| *u += w * d);
        }
        forces.extend(f);
        displacements.extend(u);
    }
    (forces, displacements)
}
