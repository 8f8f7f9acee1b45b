//! Fine points shown from the motion of a coarse mesh.
//!
//! Plainly, by the tets that hold them ([`Embedding`]). Where the coarse mesh was made by homogenisation, the six
//! harmonic displacements H of the fine body tell what is inside of a coarse tet: a rotation R and a combination s of
//! them match its corners, R(xⁱ − x⁰) = Xⁱ − X⁰ + (Hⁱ − H⁰)s, and place what it holds \[kharevych2010, (4.6), (4.7)\],
//!
//!   x = x⁰ + Rᵀ(X − X⁰ + (H(X) − H⁰)s) + E(X − X⁰).
//!
//! R and s are found by turns, from the polar rotation of the tet; E is what they leave of its deformation, so that
//! corners are met exactly however large the deformation is. Across coarse tets the maps are blended: each corner of a
//! coarse tet stands for the mean of the maps of the tets around it, and a point takes the four by its barycentric
//! coordinates. Where coarse tets meet, so do the points.

use super::{Embedding, TetMesh};
use crate::math::{Mat3, Square, Svd, eigen_symmetric};
use lilyan_solve::threads;

/// The six harmonic displacements, flat: at the points, and at the vertices of the coarse mesh, in units of any kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Harmonics {
    /// At the points.
    pub fine: [Vec<f64>; 6],
    /// At the coarse vertices.
    pub coarse: [Vec<f64>; 6],
}

/// See the module.
pub struct Display {
    embedding: Embedding,
    detail: Option<Detail>,
}

struct Detail {
    points: Vec<[f64; 3]>,
    harmonics: Harmonics,
    mesh: TetMesh,
    around: (Vec<usize>, Vec<u32>),
    /// Of each coarse tet: inverse edges at rest, gradients of H, and what makes s of a strain.
    tets: Vec<(Mat3, [Mat3; 6], Square<6>)>,
}

/// What a coarse tet does to points at a time.
struct Placing {
    origin: [f64; 3],
    at_rest: [f64; 3],
    back: Mat3,
    rest_of: Mat3,
    s: [f64; 6],
    h0: [f64; 3],
}

impl Display {
    /// Of points in a coarse mesh; `None` for a mesh without tets, or if a point is not finite.
    pub fn new(mesh: &TetMesh, points: &[[f64; 3]]) -> Option<Self> {
        Some(Self { embedding: Embedding::new(mesh, points)?, detail: None })
    }

    /// With the harmonic displacements of the fine body; `None` if they are not of these points and this mesh.
    pub fn with(self, mesh: &TetMesh, points: &[[f64; 3]], harmonics: Harmonics) -> Option<Self> {
        let fits = harmonics.fine.iter().all(|h| h.len() == 3 * points.len())
            && harmonics.coarse.iter().all(|h| h.len() == 3 * mesh.vertices.len());
        let tets = |t: usize| {
            let x = mesh.corners(t);
            let inverse = edges(&[0, 1, 2, 3].map(|i| x[i])).inverse();
            let h = |a: usize| mesh.tets[t].map(|v| at(&harmonics.coarse[a], v));
            let gradients: [Mat3; 6] = std::array::from_fn(|a| edges(&h(a)) * inverse);
            (inverse, gradients, inverse_of_strains(&gradients))
        };
        if !fits {
            return None;
        }
        let tets = (0..mesh.tets.len()).map(tets).collect();
        let detail = Detail {
            points: points.to_vec(),
            tets,
            around: mesh.vertex_tets(),
            mesh: TetMesh::new(mesh.vertices.clone(), mesh.tets.clone()),
            harmonics,
        };
        Some(Self { detail: Some(detail), ..self })
    }

    /// How the points lie in the mesh.
    pub fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// Where the points are when the vertices of the coarse mesh are at `q`, all flat.
    pub fn place(&self, q: &[f64]) -> Vec<f64> {
        let Some(detail) = &self.detail else { return self.embedding.place(q) };
        let placings = threads::par_map(detail.mesh.tets.len(), |t| detail.placing(t, q));
        let (offsets, around) = &detail.around;
        let placed: Vec<[f64; 3]> = threads::par_map(detail.points.len(), |p| {
            let (corners, weights) = (&self.embedding.corners[p], &self.embedding.weights[p]);
            let positive = weights.map(|w| w.max(0.0));
            let total: f64 = positive.iter().sum();
            let mut x = [0.0; 3];
            for (v, w) in corners.iter().zip(positive).filter(|(_, w)| *w > 0.0) {
                let tets = &around[offsets[*v as usize]..offsets[*v as usize + 1]];
                for t in tets {
                    let y = detail.apply(&placings[*t as usize], p);
                    (0..3).for_each(|k| x[k] += w / (total * tets.len() as f64) * y[k]);
                }
            }
            x
        });
        placed.concat()
    }
}

impl Detail {
    fn placing(&self, t: usize, q: &[f64]) -> Placing {
        let tet = self.mesh.tets[t];
        let (inverse, gradients, strain_to_s) = &self.tets[t];
        let now = tet.map(|v| at(q, v));
        let F = edges(&now) * *inverse;
        let mut R = Svd::new(&F).rotation().transpose();
        let mut s = [0.0; 6];
        let mut D = Mat3::zero();
        for _ in 0..8 {
            let strain = mandel(&((R * F).symmetric_part() - Mat3::identity()));
            let next: [f64; 6] = std::array::from_fn(|a| (0..6).map(|b| strain_to_s[a][b] * strain[b]).sum());
            if !next.iter().all(|x| x.is_finite()) {
                break;
            }
            s = next;
            D = (0..6).fold(Mat3::zero(), |D, a| D + gradients[a].scale(s[a]));
            // The rotation that brings F nearest to 1 + D.
            R = Svd::new(&((Mat3::identity() + D) * F.transpose())).rotation();
        }
        let back = R.transpose();
        let rest_of = F - back * (Mat3::identity() + D);
        let h0 = [0, 1, 2].map(|k| (0..6).map(|a| s[a] * at(&self.harmonics.coarse[a], tet[0])[k]).sum());
        Placing { origin: now[0], at_rest: self.mesh.vertices[tet[0] as usize], back, rest_of, s, h0 }
    }

    fn apply(&self, placing: &Placing, p: usize) -> [f64; 3] {
        let d: [f64; 3] = [0, 1, 2].map(|k| self.points[p][k] - placing.at_rest[k]);
        let inside: [f64; 3] = [0, 1, 2].map(|k| {
            let h: f64 = (0..6).map(|a| placing.s[a] * self.harmonics.fine[a][3 * p + k]).sum();
            d[k] + h - placing.h0[k]
        });
        let (turned, left) = (placing.back.mul_vec(inside), placing.rest_of.mul_vec(d));
        [0, 1, 2].map(|k| placing.origin[k] + turned[k] + left[k])
    }
}

fn at(field: &[f64], v: u32) -> [f64; 3] {
    let i = 3 * v as usize;
    [field[i], field[i + 1], field[i + 2]]
}

/// Differences from the first corner, as columns.
fn edges(x: &[[f64; 3]; 4]) -> Mat3 {
    let [a, b, c] = [1, 2, 3].map(|i: usize| [0, 1, 2].map(|k| x[i][k] - x[0][k]));
    Mat3::from_columns(a, b, c)
}

/// A symmetric matrix as six numbers, shear times √2.
fn mandel(e: &Mat3) -> [f64; 6] {
    let root = std::f64::consts::SQRT_2;
    let e = &e.0;
    [e[0][0], e[1][1], e[2][2], root * e[1][2], root * e[0][2], root * e[0][1]]
}

/// s of a strain, by least squares: displacements that do not strain the tet do not count.
fn inverse_of_strains(gradients: &[Mat3; 6]) -> Square<6> {
    let columns = gradients.map(|g| mandel(&g.symmetric_part()));
    let sizes = columns.map(|c| c.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE));
    let unit: Square<6> = std::array::from_fn(|a| columns[a].map(|x| x / sizes[a]));
    let gram: Square<6> =
        std::array::from_fn(|a| std::array::from_fn(|b| (0..6).map(|i| unit[a][i] * unit[b][i]).sum()));
    let (values, vectors) = eigen_symmetric(&gram);
    let most = values.iter().copied().fold(0.0, f64::max);
    let inverse: Square<6> = std::array::from_fn(|a| {
        std::array::from_fn(|b| {
            let kept = (0..6).filter(|&m| values[m] > 1e-8 * most);
            kept.map(|m| vectors[a][m] * vectors[b][m] / values[m]).sum()
        })
    });
    std::array::from_fn(|a| {
        std::array::from_fn(|i| (0..6).map(|b| inverse[a][b] * unit[b][i]).sum::<f64>() / sizes[a])
    })
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
        let mesh = box_mesh([2.0, 1.0, 1.0], [2, 1, 1]).unwrap();
        let points = [[0.3, 0.4, 0.5], [1.9, 0.1, 0.9], [2.1, 0.5, 0.5], [-0.1, 1.1, 1.1]];
        let display = Display::new(&mesh, &points).unwrap();
        assert_eq!(display.embedding().outside, 2);
        let q: Vec<f64> = mesh.vertices.iter().flat_map(|x| moved(*x, 0.5)).collect();
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
        let harmonics = Harmonics { fine: linear(&points), coarse: linear(&mesh.vertices) };
        let detailed = Display::new(&mesh, &points).unwrap().with(&mesh, &points, harmonics).unwrap();
        for placed in [display.place(&q), detailed.place(&q)] {
            for (x, y) in points.iter().zip(placed.chunks_exact(3)) {
                let exact = moved(*x, 0.5);
                assert!((0..3).all(|k| (exact[k] - y[k]).abs() < 1e-10), "{x:?}: {y:?}, not {exact:?}");
            }
        }
    }

    #[test]
    fn far_points_follow_without_being_magnified() {
        let mesh = box_mesh([1.0, 1.0, 1.0], [2, 2, 2]).unwrap();
        let far = [[9.0, 0.5, 0.5]];
        let display = Display::new(&mesh, &far).unwrap();
        let mut q = mesh.vertices.concat();
        assert_eq!(display.place(&q), far[0]);
        q.iter_mut().enumerate().for_each(|(i, x)| *x += 1e-3 * (i as f64).sin());
        let moved = display.place(&q);
        assert!((0..3).all(|k| (moved[k] - far[0][k]).abs() <= 1e-3), "{moved:?}");
    }
}
