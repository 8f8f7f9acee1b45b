//! Forces from outside that depend on place and velocity: drag, swirl, follower pressure.
//!
//! They have no potential, so that steps solve their equations with them instead of minimising. Every integrator takes them as
//! the forces F of the discrete principle of d'Alembert and Pontryagin \[kharevych2006, §3.4\]: the mean over a step, half of it at
//! either end for variational methods.

use crate::mesh::face_points;
use lilyan_solve::BlockMatrix;

/// A force f(t, q, v) from outside.
///
/// ```
/// use lilyan_solid::Force;
/// use lilyan_solve::BlockMatrix;
///
/// /// −c|v|v on every node.
/// struct QuadraticDrag(f64);
///
/// impl Force for QuadraticDrag {
///     fn add(&self, _t: f64, _q: &[f64], v: &[f64], f: &mut [f64]) {
///         for (v, f) in v.chunks_exact(3).zip(f.chunks_exact_mut(3)) {
///             let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
///             (0..3).for_each(|k| f[k] -= self.0 * speed * v[k]);
///         }
///     }
/// }
/// let mut f = [0.0; 3];
/// QuadraticDrag(2.0).add(0.0, &[0.0; 3], &[3.0, 0.0, 4.0], &mut f);
/// assert_eq!(f, [-30.0, 0.0, -40.0]);
/// ```
pub trait Force: Send + Sync {
    /// Adds f(t, q, v), N, to the forces on all nodes of the model, flat.
    fn add(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]);
    /// Adds a symmetric positive semidefinite approximation of −∂f/∂v, N s/m, in blocks of single nodes or of nodes of one
    /// element.
    ///
    /// Methods that solve one linear system per step are stable under strong drag only with it. All others solve their
    /// equation whatever this is, but faster with it.
    fn add_damping_matrix(&self, _t: f64, _q: &[f64], _v: &[f64], _d: &mut BlockMatrix) {}
}

/// A point of a surface under pressure, as it is now: the centroid of a triangle, or one of the six points of a quadratic face
/// ([`crate::mesh::face_points`]).
pub struct PressureFace {
    /// Its number in the list of faces; at point k of a quadratic face, 6 times that number plus k.
    pub index: usize,
    /// Its place, m.
    pub x: [f64; 3],
    /// Its velocity, m/s.
    pub v: [f64; 3],
}

/// A pressure that follows the surface: −p n per present area, n the present outward normal.
///
/// A uniform pressure on a closed surface has no net force and no net torque, and its work is p times the loss of volume.
pub struct Pressure<P, const N: usize = 3> {
    /// Triangles, or quadratic faces of six nodes ([`crate::mesh::Nodes::quadratic_faces`]), anticlockwise from outside, by
    /// nodes of the model.
    pub faces: Vec<[u32; N]>,
    /// p(t, face), Pa.
    pub value: P,
}

impl<P: Fn(f64, &PressureFace) -> f64 + Send + Sync> Force for Pressure<P, 3> {
    fn add(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        for (index, face) in self.faces.iter().enumerate() {
            let of = |x: &[f64], n: u32| -> [f64; 3] { std::array::from_fn(|k| x[3 * n as usize + k]) };
            let mean = |x: &[f64]| -> [f64; 3] {
                let corners = face.map(|n| of(x, n));
                std::array::from_fn(|k| (corners[0][k] + corners[1][k] + corners[2][k]) / 3.0)
            };
            let p = (self.value)(t, &PressureFace { index, x: mean(q), v: mean(v) });
            let [a, b, c] = face.map(|n| of(q, n));
            let [s, r]: [[f64; 3]; 2] = [b, c].map(|end| std::array::from_fn(|k| end[k] - a[k]));
            // Twice the area times the normal.
            let normal = [s[1] * r[2] - s[2] * r[1], s[2] * r[0] - s[0] * r[2], s[0] * r[1] - s[1] * r[0]];
            for n in face {
                (0..3).for_each(|k| f[3 * *n as usize + k] -= p / 6.0 * normal[k]);
            }
        }
    }
}

/// Exact for a uniform pressure: normals are quadratic on a face.
impl<P: Fn(f64, &PressureFace) -> f64 + Send + Sync> Force for Pressure<P, 6> {
    fn add(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        let points = face_points();
        for (number, face) in self.faces.iter().enumerate() {
            let of = |x: &[f64]| face.map(|n| [0, 1, 2].map(|k| x[3 * n as usize + k]));
            let (places, velocities) = (of(q), of(v));
            for (k, point) in points.iter().enumerate() {
                let here = PressureFace {
                    index: points.len() * number + k,
                    x: point.value(&places),
                    v: point.value(&velocities),
                };
                let p = (self.value)(t, &here);
                let area = point.area_vector(&places);
                for (n, value) in face.iter().zip(point.shape) {
                    (0..3).for_each(|k| f[3 * *n as usize + k] -= p * value * area[k]);
                }
            }
        }
    }
}
