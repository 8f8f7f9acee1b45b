//! Fine points shown from the motion of a coarse mesh.
//!
//! Plainly, by the tets that hold them ([`Embedding`]): x = Σ Nᵢ(X) xᵢ. Where the coarse mesh was made by homogenisation, the
//! six harmonic displacements H of the fine body tell what is inside of a coarse tet. Let φ(X) = H(X) − Σ Nᵢ(X) Hᵢ be what
//! they do beside the interpolation of their values at the corners. The map of \[kharevych2010, (4.6), (4.7)\] is then
//!
//!   x = Σ Nᵢ(X) xᵢ + R φ(X) s,    𝔾 s = ε,
//!
//! with F = R(1 + ε) in the coarse tet and 𝔾 the strains of the coarse H there. So corners are met at any deformation, and a
//! displacement H s is shown as it is. Across coarse tets R and s are blended: each node stands for the mean of the tets around
//! it, and a point takes its four corners by their weights.
//!
//! 𝔾 is singular or nearly so where the six displacements hardly strain a coarse tet: beside cracks and pins, and in the
//! softer part of a body. In the modes y of the pair (𝔾ᵀ𝔾, φᵀφ) therefore
//!
//!   s = Σ y (𝔾y)ᵀε / max(|𝔾y|², |φy|²/(MAX_FLUCTUATION ℓ)²),
//!
//! with |φy| the largest at the points of the tet and ℓ its size. Where a mode moves points by less than [`MAX_FLUCTUATION`] of its strain
//! times ℓ, that is the inverse; elsewhere it is less. No point is further from its place by interpolation than √6 MAX_FLUCTUATION ℓ|ε|.
//!
//! Departure: \[kharevych2010\] takes R such that RᵀF = 1 + ∇H s, where the gradient may contain a rotation. To first order
//! that is the same. When the rotation is large, a displacement that is linear in it is none.

use super::topology::compress;
use super::{Embedding, Nodes};
use crate::math::vector::distance;
use crate::math::{Mat3, Square, Svd, eigen_symmetric};
use lilyan_parallel::threads;
use std::sync::Arc;

/// Largest displacement of a point by one mode of the harmonic displacements, relative to the size of the tet times its
/// strain. A crack that opens by all of the elongation of a tet moves its lips by 1/2.
pub const MAX_FLUCTUATION: f64 = 1.0;

/// The six harmonic displacements, flat: at the points, and at the nodes of the coarse body, in units of any kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Harmonics {
    /// At the points.
    pub fine: [Vec<f64>; 6],
    /// At the coarse nodes.
    pub coarse: [Vec<f64>; 6],
}

/// Points of a fine mesh or surface that follow the motion of a coarse mesh.
pub struct Display {
    embedding: Embedding,
    detail: Option<Detail>,
}

/// φ of the six harmonic displacements at a point.
type Fluctuations = [[f64; 3]; 6];

struct Detail {
    fluctuations: Vec<Fluctuations>,
    nodes: Arc<Nodes>,
    /// The coarse tets around each node, in compressed rows.
    around: (Vec<usize>, Vec<u32>),
    /// Of each coarse tet: inverse edges at rest, and what makes s of a strain.
    tets: Vec<(Mat3, Square<6>)>,
}

impl Display {
    /// Of points in a coarse body; `None` for a body without tets, or if a point is not finite.
    pub fn new(nodes: &Nodes, points: &[[f64; 3]]) -> Option<Self> {
        Some(Self { embedding: Embedding::new(nodes, points)?, detail: None })
    }

    /// With the harmonic displacements of the fine body; `None` if they are not of these points and this body.
    pub fn with(self, nodes: &Arc<Nodes>, harmonics: &Harmonics) -> Option<Self> {
        let points = self.embedding.len();
        let fits = harmonics.fine.iter().all(|h| h.len() == 3 * points)
            && harmonics.coarse.iter().all(|h| h.len() == 3 * nodes.len());
        if !fits {
            return None;
        }
        let interpolated = harmonics.coarse.each_ref().map(|h| self.embedding.map(h));
        let beside = |a: usize, i: usize| harmonics.fine[a][i] - interpolated[a][i];
        let fluctuations: Vec<Fluctuations> =
            (0..points).map(|p| std::array::from_fn(|a| [0, 1, 2].map(|k| beside(a, 3 * p + k)))).collect();
        let felt = (0..points).flat_map(|p| {
            self.embedding.shares(p).filter(|(_, share)| *share > 0.0).map(move |(node, _)| (node, p as u32))
        });
        let (starts, felt) = compress(nodes.len(), &felt.collect::<Vec<_>>());
        let of_tet = |t: usize| {
            let (tet, corners) = (nodes.tets()[t], nodes.mesh().corners(t));
            let inverse = edges(&corners).inverse();
            let strain = |h: &Vec<f64>| mandel(&(edges(&tet.map(|v| at(h, v))) * inverse).symmetric_part());
            let near = tet.iter().flat_map(|&v| &felt[starts[v as usize]..starts[v as usize + 1]]);
            let near: Vec<&Fluctuations> = near.map(|&p| &fluctuations[p as usize]).collect();
            (inverse, inverse_of_strains(&harmonics.coarse.each_ref().map(strain), &near, size(&corners)))
        };
        let tets = threads::par_map(nodes.tets().len(), of_tet);
        let corners = nodes.tets().as_flattened().iter().enumerate();
        let pairs: Vec<(u32, u32)> = corners.map(|(k, node)| (*node, k as u32 / 4)).collect();
        let around = compress(nodes.len(), &pairs);
        let detail = Detail { fluctuations, nodes: nodes.clone(), around, tets };
        Some(Self { detail: Some(detail), ..self })
    }

    /// How the points lie in the mesh.
    pub fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// Where the points are when the nodes of the coarse body are at `q`, all flat.
    pub fn place(&self, q: &[f64]) -> Vec<f64> {
        let mut places = self.embedding.place(q);
        let Some(detail) = &self.detail else { return places };
        let turned = detail.at_nodes(q);
        let moves: Vec<[f64; 3]> = threads::par_map(detail.fluctuations.len(), |p| {
            let mut x = [0.0; 3];
            for (node, share) in self.embedding.shares(p) {
                for (m, f) in turned[node as usize].iter().zip(&detail.fluctuations[p]) {
                    let y = m.mul_vec(*f);
                    (0..3).for_each(|k| x[k] += share * y[k]);
                }
            }
            x
        });
        places.iter_mut().zip(moves.as_flattened()).for_each(|(x, y)| *x += y);
        places
    }
}

impl Detail {
    /// R s of the tets around each node, on average.
    fn at_nodes(&self, q: &[f64]) -> Vec<[Mat3; 6]> {
        let of_tets = threads::par_map(self.tets.len(), |t| self.turned(t, q));
        let (starts, around) = &self.around;
        threads::par_map(self.nodes.len(), |v| {
            let tets = &around[starts[v]..starts[v + 1]];
            let mut sum = [Mat3::zero(); 6];
            for &t in tets {
                let (R, s) = &of_tets[t as usize];
                sum.iter_mut().zip(s).for_each(|(sum, s)| *sum = *sum + R.scale(*s));
            }
            sum.map(|m| m.scale(1.0 / tets.len().max(1) as f64))
        })
    }

    /// R and s of a coarse tet.
    fn turned(&self, t: usize, q: &[f64]) -> (Mat3, [f64; 6]) {
        let (inverse, strain_to_s) = &self.tets[t];
        let F = edges(&self.nodes.tets()[t].map(|v| at(q, v))) * *inverse;
        let R = Svd::new(&F).rotation();
        let strain = mandel(&(R.transpose_mul(&F).symmetric_part() - Mat3::identity()));
        (R, strain_to_s.map(|row| row.iter().zip(strain).map(|(t, e)| t * e).sum()))
    }
}

fn at(x: &[f64], node: u32) -> [f64; 3] {
    [0, 1, 2].map(|k| x[3 * node as usize + k])
}

/// The edges from the first corner, as columns.
fn edges(x: &[[f64; 3]; 4]) -> Mat3 {
    Mat3::from_fn(|k, i| x[i + 1][k] - x[0][k])
}

/// Length of the longest edge.
fn size(x: &[[f64; 3]; 4]) -> f64 {
    let lengths = (0..4).flat_map(|i| (0..i).map(move |j| distance(x[i], x[j])));
    lengths.fold(0.0, f64::max)
}

fn mandel(e: &Mat3) -> [f64; 6] {
    let root = std::f64::consts::SQRT_2;
    let e = &e.0;
    [e[0][0], e[1][1], e[2][2], root * e[1][2], root * e[0][2], root * e[0][1]]
}

fn inner<const N: usize>(x: &[f64; N], y: &[f64; N]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn square<const N: usize>(x: &[f64; N]) -> f64 {
    inner(x, x)
}

/// Σ sₐ xₐ.
fn combined<const N: usize>(x: &[[f64; N]; 6], s: &[f64; 6]) -> [f64; N] {
    std::array::from_fn(|k| x.iter().zip(s).map(|(x, s)| s * x[k]).sum())
}

/// s of a strain, from 𝔾 by columns, φ at the points that feel the tet, and ℓ.
fn inverse_of_strains(strains: &[[f64; 6]; 6], felt: &[&Fluctuations], size: f64) -> Square<6> {
    let mut out = [[0.0; 6]; 6];
    for y in modes(strains, felt, size) {
        let strain = combined(strains, &y);
        let furthest = felt.iter().map(|f| square(&combined(f, &y))).fold(0.0, f64::max);
        let divisor = square(&strain).max(furthest / (MAX_FLUCTUATION * size).powi(2));
        if divisor > 0.0 {
            for (row, y) in out.iter_mut().zip(y) {
                row.iter_mut().zip(&strain).for_each(|(t, e)| *t += y * e / divisor);
            }
        }
    }
    out
}

/// The combinations of the six displacements that are orthogonal in 𝔾ᵀ𝔾 and in the mean of φᵀφ/ℓ². Those that neither strain
/// the tet nor move a point in it are left out.
fn modes(strains: &[[f64; 6]; 6], felt: &[&Fluctuations], size: f64) -> Vec<[f64; 6]> {
    let mean = 1.0 / (felt.len().max(1) as f64 * size * size);
    let strained: Square<6> =
        std::array::from_fn(|a| std::array::from_fn(|b| inner(&strains[a], &strains[b])));
    let moved: Square<6> = std::array::from_fn(|a| {
        std::array::from_fn(|b| mean * felt.iter().map(|f| inner(&f[a], &f[b])).sum::<f64>())
    });
    // Displacements of soft and stiff directions differ by orders.
    let scale: [f64; 6] = std::array::from_fn(|a| {
        let square = strained[a][a] + moved[a][a];
        if square > 0.0 { square.sqrt().recip() } else { 0.0 }
    });
    let scaled = |m: &dyn Fn(usize, usize) -> f64| -> Square<6> {
        std::array::from_fn(|a| std::array::from_fn(|b| scale[a] * m(a, b) * scale[b]))
    };
    let (values, vectors) = eigen_symmetric(&scaled(&|a, b| strained[a][b] + moved[a][b]));
    let most = values.iter().copied().fold(0.0, f64::max);
    let kept = |k: usize| values[k] > 1e-12 * most;
    // Rows of the inverse root of the sum, back in the units of s.
    let root: Square<6> = std::array::from_fn(|k| {
        let factor = if kept(k) { values[k].sqrt().recip() } else { 0.0 };
        std::array::from_fn(|a| factor * vectors[k][a] * scale[a])
    });
    let strain_of = root.map(|y| combined(strains, &y));
    let among: Square<6> =
        std::array::from_fn(|k| std::array::from_fn(|l| inner(&strain_of[k], &strain_of[l])));
    let (_, rotated) = eigen_symmetric(&among);
    rotated.iter().map(|z| combined(&root, z)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meshing::box_mesh;

    /// Rotates by a radian, moves, and stretches by so much.
    fn moved(x: [f64; 3], stretch: f64) -> [f64; 3] {
        let (s, c) = 1.0f64.sin_cos();
        let y = [x[0] * (1.0 + stretch), x[1], x[2]];
        [c * y[0] - s * y[1] + 3.0, s * y[0] + c * y[1], y[2] - 1.0]
    }

    #[test]
    fn a_turned_and_stretched_body_carries_points_inside_and_outside() {
        let nodes = Arc::new(Nodes::at_vertices(box_mesh([2.0, 1.0, 1.0], [2, 1, 1]).unwrap()));
        let points = [[0.3, 0.4, 0.5], [1.9, 0.1, 0.9], [2.1, 0.5, 0.5], [-0.1, 1.1, 1.1]];
        let display = Display::new(&nodes, &points).unwrap();
        assert_eq!(display.embedding().outside, 2);
        let q: Vec<f64> = nodes.points().iter().flat_map(|x| moved(*x, 0.5)).collect();
        // Harmonic displacements of a homogeneous body are linear: the map must then be exact as well.
        let linear = |x: &[[f64; 3]]| -> [Vec<f64>; 6] {
            std::array::from_fn(|a| {
                let e = [[0, 0], [1, 1], [2, 2], [1, 2], [0, 2], [0, 1]][a];
                let one = |x: &[f64; 3]| {
                    let mut h = [0.0; 3];
                    h[e[0]] += x[e[1]];
                    h[e[1]] += 0.3 * x[e[0]];
                    h
                };
                x.iter().flat_map(one).collect()
            })
        };
        let harmonics = Harmonics { fine: linear(&points), coarse: linear(nodes.points()) };
        let detailed = Display::new(&nodes, &points).unwrap().with(&nodes, &harmonics).unwrap();
        for placed in [display.place(&q), detailed.place(&q)] {
            for (x, y) in points.iter().zip(placed.chunks_exact(3)) {
                let exact = moved(*x, 0.5);
                assert!((0..3).all(|k| (exact[k] - y[k]).abs() < 1e-10), "{x:?}: {y:?}, not {exact:?}");
            }
        }
    }

    #[test]
    fn far_points_follow_without_being_magnified() {
        let nodes = Nodes::at_vertices(box_mesh([1.0, 1.0, 1.0], [2, 2, 2]).unwrap());
        let far = [[9.0, 0.5, 0.5]];
        let display = Display::new(&nodes, &far).unwrap();
        let mut q = nodes.points().concat();
        assert_eq!(display.place(&q), far[0]);
        q.iter_mut().enumerate().for_each(|(i, x)| *x += 1e-3 * (i as f64).sin());
        let moved = display.place(&q);
        assert!((0..3).all(|k| (moved[k] - far[0][k]).abs() <= 1e-3), "{moved:?}");
    }
}
