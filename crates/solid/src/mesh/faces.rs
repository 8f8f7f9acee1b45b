//! Integrals over the faces of a surface: triangles, or quadratic faces with nodes on their edges too.

use super::Nodes;
use crate::math::vector::{V3, cross, norm};

/// A point of a quadratic face.
pub struct FacePoint {
    /// The values of the shape functions of the six nodes.
    pub shape: [f64; 6],
    /// Their derivatives by the second and third barycentric coordinate, the first being 1 less these.
    pub slopes: [[f64; 2]; 6],
    /// Its part of the face, of sum 1.
    pub weight: f64,
}

/// The points of a rule of degree 4 \[dunavant1985\].
pub fn face_points() -> [FacePoint; 6] {
    const A: [(f64, f64); 2] =
        [(0.445_948_490_915_965, 0.223_381_589_678_011), (0.091_576_213_509_771, 0.109_951_743_655_322)];
    std::array::from_fn(|p| {
        let (a, weight) = A[p / 3];
        FacePoint::at(std::array::from_fn(|k| if k == p % 3 { 1.0 - 2.0 * a } else { a }), weight)
    })
}

impl FacePoint {
    /// The point with these barycentric coordinates.
    fn at(l: [f64; 3], weight: f64) -> Self {
        let corner = |k: usize| l[k] * (2.0 * l[k] - 1.0);
        let [c0, c1, c2] = l.map(|l| 4.0 * l - 1.0);
        Self {
            shape: [corner(0), corner(1), corner(2), 4.0 * l[0] * l[1], 4.0 * l[1] * l[2], 4.0 * l[2] * l[0]],
            slopes: [
                [-c0, -c0],
                [c1, 0.0],
                [0.0, c2],
                [4.0 * (l[0] - l[1]), -4.0 * l[1]],
                [4.0 * l[2], 4.0 * l[1]],
                [-4.0 * l[2], 4.0 * (l[0] - l[2])],
            ],
            weight,
        }
    }

    /// The value there of a field with these values at the nodes.
    pub fn value(&self, nodes: &[V3; 6]) -> V3 {
        std::array::from_fn(|k| (0..6).map(|n| self.shape[n] * nodes[n][k]).sum())
    }

    /// The outward normal there, as long as the part of the area that the point stands for, m².
    pub fn area_vector(&self, nodes: &[V3; 6]) -> V3 {
        // From the first node, so that faces far from the origin keep their digits.
        let along = |axis: usize| -> V3 {
            std::array::from_fn(|k| (1..6).map(|n| self.slopes[n][axis] * (nodes[n][k] - nodes[0][k])).sum())
        };
        cross(along(0), along(1)).map(|x| 0.5 * self.weight * x)
    }
}

impl Nodes {
    /// ∫N over the faces of the surface all of whose nodes are marked, for each node, m²: what a traction there is shared by.
    pub fn face_weights(&self, marked: &[bool]) -> Vec<f64> {
        let mut weights = vec![0.0; self.len()];
        let surface = self.surface();
        if self.quadratic_faces().is_empty() {
            let areas = surface.face_areas(self.points());
            for (face, area) in surface.triangles.iter().zip(areas) {
                if face.iter().all(|v| marked[*v as usize]) {
                    for v in face {
                        weights[*v as usize] += area / 3.0;
                    }
                }
            }
            return weights;
        }
        let points = face_points();
        for face in self.quadratic_faces().iter().filter(|face| face.iter().all(|v| marked[*v as usize])) {
            let nodes = face.map(|v| self.points()[v as usize]);
            for point in &points {
                let area = norm(point.area_vector(&nodes));
                for (v, value) in face.iter().zip(point.shape) {
                    weights[*v as usize] += area * value;
                }
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫λ₀ᵃλ₁ᵇλ₂ᶜ over a triangle of area 1 = 2 a! b! c!/(a+b+c+2)!.
    fn has_degree(points: &[FacePoint], degree: i32) {
        let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
        // λ from the shape functions: λ₀ = N₀ + ½(N₀₁ + N₂₀).
        let lambda = |p: &FacePoint| {
            let n = &p.shape;
            [n[0] + 0.5 * (n[3] + n[5]), n[1] + 0.5 * (n[3] + n[4]), n[2] + 0.5 * (n[4] + n[5])]
        };
        for a in 0..=degree {
            for b in 0..=degree - a {
                let sum: f64 =
                    points.iter().map(|p| p.weight * lambda(p)[0].powi(a) * lambda(p)[1].powi(b)).sum();
                let exact = 2.0 * factorial(a) * factorial(b) / factorial(a + b + 2);
                assert!((sum - exact).abs() < 1e-14, "{a} {b}: {sum}");
            }
        }
    }

    #[test]
    fn rules_have_their_degrees() {
        has_degree(&face_points(), 4);
    }

    #[test]
    fn a_flat_face_has_its_area_on_the_edges() {
        let corners = [[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [0.0, 3.0, 1.0]];
        let middle = |a: usize, b: usize| std::array::from_fn(|k| 0.5 * (corners[a][k] + corners[b][k]));
        let nodes = [corners[0], corners[1], corners[2], middle(0, 1), middle(1, 2), middle(2, 0)];
        let check = |points: &[FacePoint]| {
            let mut weights = [0.0; 6];
            for point in points {
                let area = point.area_vector(&nodes);
                assert!(area[0].abs() + area[1].abs() < 1e-15 && area[2] > 0.0);
                (0..6).for_each(|n| weights[n] += area[2] * point.shape[n]);
            }
            for (n, weight) in weights.into_iter().enumerate() {
                let exact = if n < 3 { 0.0 } else { 1.0 };
                assert!((weight - exact).abs() < 1e-14, "{weights:?}");
            }
        };
        check(&face_points());
    }
}
