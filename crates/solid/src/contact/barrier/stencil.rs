//! Closest points of two features, and the derivatives of their distance.
//!
//! With nodes xᵢ, coefficients cᵢ of r = Σ cᵢxᵢ, the vector between the closest points, and e_k = ∂r/∂θ_k for the parameters θ
//! of these points, one formula holds for all pairs of features (D = d² = |r|², n = r/d, G_kl = e_k·e_l):
//!
//!   ∇d = c ⊗ n,   ½∇²D = c cᵀ ⊗ I − Σ_kl U_k (G⁻¹)_kl U_lᵀ,   U_k = ∂_k c ⊗ r + c ⊗ e_k,
//!   ∇²d = (½∇²D − ∇d ∇dᵀ)/d.
//!
//! Which feature of a triangle, edge or pair of edges is closest follows \[ericson2004\]; ties go to the lower dimension.

use crate::math::vector::{V3, add, cross, dot, nearest_on_triangle, scale, sub};

/// The closest points of two features at some positions.
#[derive(Clone, Copy, Debug)]
pub struct Stencil {
    /// How many nodes take part.
    count: usize,
    /// c.
    coefficients: [f64; 4],
    /// e_k and ∂c/∂θ_k.
    parameters: [(V3, [f64; 4]); 2],
    /// G⁻¹; 0 for parameters that there are not.
    inverse: [[f64; 2]; 2],
    /// r, m.
    arm: V3,
    /// d, m.
    distance: f64,
}

/// The feature of a triangle or an edge that is closest to a point: all of it, an edge by the opposite corner, or a corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The inside.
    Inside,
    /// The edge opposite to this corner of a triangle.
    Edge(usize),
    /// This corner.
    Corner(usize),
}

/// Closest features of two edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeParts {
    /// The insides of both.
    Both,
    /// This end of the first and this part of the second.
    FirstEnd(usize, Part),
    /// The inside of the first and this end of the second.
    SecondEnd(usize),
}

/// Edges are parallel below this squared sine: the closest points are then those of an end.
const PARALLEL: f64 = 2.5e-16;

impl Stencil {
    fn new(points: &[V3], coefficients: [f64; 4]) -> Self {
        let arm = points.iter().zip(coefficients).fold([0.0; 3], |sum, (x, c)| add(sum, scale(*x, c)));
        Self {
            count: points.len(),
            coefficients,
            parameters: [([0.0; 3], [0.0; 4]); 2],
            inverse: [[0.0; 2]; 2],
            arm,
            distance: dot(arm, arm).sqrt(),
        }
    }

    /// Two points.
    pub fn points(x: [V3; 2]) -> Self {
        Self::new(&x, [1.0, -1.0, 0.0, 0.0])
    }

    /// A point and the line through two.
    pub fn point_line(x: [V3; 3]) -> Self {
        let (edge, from) = (sub(x[2], x[1]), sub(x[0], x[1]));
        let square = dot(edge, edge);
        let s = dot(from, edge) / square;
        let mut out = Self::new(&x, [1.0, s - 1.0, -s, 0.0]);
        out.parameters[0] = (scale(edge, -1.0), [0.0, 1.0, -1.0, 0.0]);
        out.inverse[0][0] = 1.0 / square;
        out
    }

    /// A point and the plane through three.
    pub fn point_plane(x: [V3; 4]) -> Self {
        let (u, v, from) = (sub(x[2], x[1]), sub(x[3], x[1]), sub(x[0], x[1]));
        let inverse = inverse([dot(u, u), dot(u, v), dot(v, v)]);
        let right = [dot(u, from), dot(v, from)];
        let [s, t] = [0, 1].map(|k| inverse[k][0] * right[0] + inverse[k][1] * right[1]);
        let mut out = Self::new(&x, [1.0, s + t - 1.0, -s, -t]);
        out.parameters = [(scale(u, -1.0), [0.0, 1.0, -1.0, 0.0]), (scale(v, -1.0), [0.0, 1.0, 0.0, -1.0])];
        out.inverse = inverse;
        out.set_normal(cross(u, v));
        out
    }

    /// The lines through two pairs of points.
    pub fn lines(x: [V3; 4]) -> Self {
        let (u, v, between) = (sub(x[1], x[0]), sub(x[3], x[2]), sub(x[0], x[2]));
        let inverse = inverse([dot(u, u), -dot(u, v), dot(v, v)]);
        let right = [-dot(u, between), dot(v, between)];
        let [s, t] = [0, 1].map(|k| inverse[k][0] * right[0] + inverse[k][1] * right[1]);
        let mut out = Self::new(&x, [1.0 - s, s, t - 1.0, -t]);
        out.parameters = [(u, [-1.0, 1.0, 0.0, 0.0]), (scale(v, -1.0), [0.0, 0.0, 1.0, -1.0])];
        out.inverse = inverse;
        out.set_normal(cross(u, v));
        out
    }

    /// Gives r the direction of a normal, which has more digits than the sum over the points where these are close.
    fn set_normal(&mut self, normal: V3) {
        let square = dot(normal, normal);
        if square > 0.0 {
            self.arm = scale(normal, dot(self.arm, normal) / square);
            self.distance = dot(self.arm, self.arm).sqrt();
        }
    }

    /// The number of nodes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// d, m.
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// c, one number for each node.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients[..self.count]
    }

    /// n.
    pub fn normal(&self) -> V3 {
        scale(self.arm, 1.0 / self.distance)
    }

    /// ∇d at a node.
    pub fn gradient(&self, node: usize) -> V3 {
        scale(self.arm, self.coefficients[node] / self.distance)
    }

    /// The block (i, j) of ∇²d, row by row, 1/m.
    pub fn hessian(&self, i: usize, j: usize) -> [f64; 9] {
        let (r, c, d) = (self.arm, &self.coefficients, self.distance);
        let n = self.normal();
        let both = c[i] * c[j];
        let mut block: [f64; 9] = std::array::from_fn(|k| {
            let identity = if k / 3 == k % 3 { both } else { 0.0 };
            identity - both * n[k / 3] * n[k % 3]
        });
        let arm = |k: usize, i: usize| {
            let (e, dc) = &self.parameters[k];
            add(scale(r, dc[i]), scale(*e, c[i]))
        };
        for k in 0..2 {
            for l in 0..2 {
                let inverse = self.inverse[k][l];
                if inverse != 0.0 {
                    let (a, b) = (arm(k, i), arm(l, j));
                    for (at, value) in block.iter_mut().enumerate() {
                        *value -= inverse * a[at / 3] * b[at % 3];
                    }
                }
            }
        }
        block.map(|value| value / d)
    }
}

/// The inverse of [a b; b c].
fn inverse([a, b, c]: [f64; 3]) -> [[f64; 2]; 2] {
    let factor = 1.0 / (a * c - b * b);
    [[c * factor, -b * factor], [-b * factor, a * factor]]
}

/// The part of a triangle that is closest to a point.
pub fn closest_part(p: V3, triangle: [V3; 3]) -> Part {
    let weights = nearest_on_triangle(p, triangle);
    match weights.map(|w| w == 0.0) {
        [false, false, false] => Part::Inside,
        [false, true, true] => Part::Corner(0),
        [true, false, true] => Part::Corner(1),
        [true, true, false] => Part::Corner(2),
        [zero, second, _] => Part::Edge(if zero {
            0
        } else if second {
            1
        } else {
            2
        }),
    }
}

/// The part of an edge that is closest to a point.
pub fn closest_part_of_edge(p: V3, [a, b]: [V3; 2]) -> Part {
    let edge = sub(b, a);
    if dot(sub(p, a), edge) <= 0.0 {
        Part::Corner(0)
    } else if dot(sub(p, b), edge) >= 0.0 {
        Part::Corner(1)
    } else {
        Part::Inside
    }
}

/// The closest parts of two edges.
pub fn closest_parts_of_edges(first: [V3; 2], second: [V3; 2]) -> EdgeParts {
    let (u, v, w) = (sub(first[1], first[0]), sub(second[1], second[0]), sub(first[0], second[0]));
    let (a, b, c, d, e) = (dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w));
    let determinant = a * c - b * b;
    if determinant > PARALLEL * a * c {
        let (s, t) = (b * e - c * d, a * e - b * d);
        let inside = |x: f64| x > 0.0 && x < determinant;
        if inside(s) && inside(t) {
            return EdgeParts::Both;
        }
    }
    let to_second = |end: usize| {
        let part = closest_part_of_edge(first[end], second);
        (EdgeParts::FirstEnd(end, part), distance_to_part(first[end], second, part))
    };
    let to_first = |end: usize| {
        let part = closest_part_of_edge(second[end], first);
        let parts = match part {
            Part::Corner(corner) => EdgeParts::FirstEnd(corner, Part::Corner(end)),
            _ => EdgeParts::SecondEnd(end),
        };
        (parts, distance_to_part(second[end], first, part))
    };
    let all = [to_second(0), to_second(1), to_first(0), to_first(1)];
    let least = all.into_iter().reduce(|a, b| if b.1 < a.1 { b } else { a });
    least.map_or(EdgeParts::Both, |(parts, _)| parts)
}

/// Distance (m) of a point to a part of an edge.
fn distance_to_part(p: V3, edge: [V3; 2], part: Part) -> f64 {
    match part {
        Part::Corner(corner) => Stencil::points([p, edge[corner]]).distance(),
        _ => Stencil::point_line([p, edge[0], edge[1]]).distance(),
    }
}

/// Distance of a point to a triangle, m.
pub fn point_triangle_distance(p: V3, triangle: [V3; 3]) -> f64 {
    let [a, b, c] = triangle;
    match closest_part(p, triangle) {
        Part::Inside => Stencil::point_plane([p, a, b, c]).distance(),
        Part::Edge(k) => Stencil::point_line([p, triangle[(k + 1) % 3], triangle[(k + 2) % 3]]).distance(),
        Part::Corner(k) => Stencil::points([p, triangle[k]]).distance(),
    }
}

/// Distance of two edges, m.
pub fn edge_edge_distance(first: [V3; 2], second: [V3; 2]) -> f64 {
    match closest_parts_of_edges(first, second) {
        EdgeParts::Both => Stencil::lines([first[0], first[1], second[0], second[1]]).distance(),
        EdgeParts::FirstEnd(end, part) => distance_to_part(first[end], second, part),
        EdgeParts::SecondEnd(end) => Stencil::point_line([second[end], first[0], first[1]]).distance(),
    }
}
