//! What fades the guard of two edges out as they become parallel, where their distance is not smooth:
//!
//!   m(y) = y(2 − y) for y < 1, and 1 beyond,   y = |u × v|²/ε = (ab − c²)/ε,
//!
//! with a = |u|², b = |v|², c = u·v of the edges u and v, and ε relative to their lengths at rest. In a, b and c, which are
//! quadratic, y has a discrete gradient that keeps linear and angular momentum.

use crate::math::vector::{V3, dot, scale, sub};

/// Sines below the square root of this count as nearly parallel.
const NEARLY_PARALLEL: f64 = 1e-3;

/// Two edges.
#[derive(Clone, Copy, Debug)]
pub struct Mollifier {
    /// The edges, m.
    edges: [V3; 2],
    /// a, b, c, m².
    squares: [f64; 3],
    /// ε, m⁴.
    scale: f64,
}

impl Mollifier {
    /// Of edges u and v, with the squares of their lengths at rest.
    pub fn new(edges: [V3; 2], rest: [f64; 2]) -> Self {
        let [u, v] = edges;
        let squares = [dot(u, u), dot(v, v), dot(u, v)];
        Self { edges, squares, scale: NEARLY_PARALLEL * rest[0] * rest[1] }
    }

    /// y.
    fn argument(&self) -> f64 {
        let [a, b, c] = self.squares;
        (a * b - c * c) / self.scale
    }

    /// m.
    pub fn value(&self) -> f64 {
        let y = self.argument();
        if y >= 1.0 { 1.0 } else { y.max(0.0) * (2.0 - y) }
    }

    /// m′ and m″.
    fn slopes(&self) -> [f64; 2] {
        let y = self.argument();
        if y >= 1.0 { [0.0; 2] } else { [2.0 - 2.0 * y, -2.0] }
    }

    /// ∂y/∂u and ∂y/∂v.
    fn argument_gradient(&self) -> [V3; 2] {
        gradient(self.edges, self.squares, self.scale)
    }

    /// ∂m/∂u and ∂m/∂v.
    pub fn gradient(&self) -> [V3; 2] {
        let slope = self.slopes()[0];
        self.argument_gradient().map(|g| scale(g, slope))
    }

    /// The second derivative of m by edges i and j, row by row.
    pub fn hessian(&self, i: usize, j: usize) -> [f64; 9] {
        let [slope, curvature] = self.slopes();
        let gradient = self.argument_gradient();
        let (own, other) = (self.edges[i], self.edges[1 - i]);
        let [_, _, c] = self.squares;
        std::array::from_fn(|k| {
            let (r, s) = (k / 3, k % 3);
            let identity = if r == s { 1.0 } else { 0.0 };
            let second = if i == j {
                2.0 * (self.squares[1 - i] * identity - other[r] * other[s])
            } else {
                4.0 * own[r] * other[s] - 2.0 * other[r] * own[s] - 2.0 * c * identity
            };
            slope * second / self.scale + curvature * gradient[i][r] * gradient[j][s]
        })
    }

    /// A discrete gradient of m by u and v between these edges and `end`.
    pub fn discrete_gradient(&self, end: &Self) -> [V3; 2] {
        let (y0, y1) = (self.argument(), end.argument());
        let quotient = match (y0 < 1.0, y1 < 1.0) {
            (true, true) => 2.0 - (y0 + y1),
            (true, false) => (1.0 - y0).powi(2) / (y1 - y0),
            (false, true) => (1.0 - y1).powi(2) / (y0 - y1),
            (false, false) => 0.0,
        };
        let mean = |a: V3, b: V3| [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]));
        let edges = [0, 1].map(|k| mean(self.edges[k], end.edges[k]));
        let squares = mean(self.squares, end.squares);
        gradient(edges, squares, self.scale).map(|g| scale(g, quotient))
    }
}

/// ∂y/∂u = 2(b u − c v)/ε and ∂y/∂v = 2(a v − c u)/ε.
fn gradient([u, v]: [V3; 2], [a, b, c]: [f64; 3], scale_of: f64) -> [V3; 2] {
    let factor = 2.0 / scale_of;
    [scale(sub(scale(u, b), scale(v, c)), factor), scale(sub(scale(v, a), scale(u, c)), factor)]
}
