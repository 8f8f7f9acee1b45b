//! One vertex against one triangle: derivatives of the distance.
//!
//! With the nearest point c = Σ wᵢ xᵢ and the unit normal n = ∂s/∂x, a motion (dx, dx₁, dx₂, dx₃)
//! changes s by n·δ, δ = dx − Σ wᵢ dxᵢ: the force on the vertex is along n, and so are those on the
//! corners. They sum to 0, and as n is parallel to x − c so do their moments.
//!
//! The second derivative, from x − c = s n with n normal to what the nearest point may slide on:
//!
//!   corner   d²s = (|δ|² − (n·δ)²)/s
//!   edge     d²s = (m·δ)²/s − 2 (e·δ)(n·du)/ℓ − s (n·du)²/ℓ²,   e = u/ℓ, m = n × e
//!   face     d²s = −2 Σᵢ (gⁱ·δ)(n·duᵢ) − s Σᵢⱼ (gⁱ·gʲ)(n·duᵢ)(n·duⱼ)
//!
//! u the edge, uᵢ two edges of the face and gⁱ their dual basis in its plane.

use crate::contact::surface::{Feature, unit};
use crate::math::vector::{V3, cross, dot, norm, scale, sub};
use lilyan_solve::BlockMatrix;

/// A vertex that feels a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VertexContact {
    /// Global nodes: the vertex, and the corners of the triangle nearest to it.
    pub nodes: [u32; 4],
    /// What of the triangle is nearest.
    pub feature: Feature,
    /// Barycentric coordinates of the nearest point.
    pub weights: [f64; 3],
    /// Unit normal, from the triangle.
    pub normal: [f64; 3],
    /// Signed distance, m; negative inside.
    pub distance: f64,
    /// Area of the vertex at rest, m².
    pub area: f64,
}

/// A linear function of the motion of vertex and corners.
type Row = [V3; 4];

impl VertexContact {
    /// Coefficients of the vertex and the corners in δ.
    pub(super) fn shares(&self) -> [f64; 4] {
        let [a, b, c] = self.weights;
        [1.0, -a, -b, -c]
    }

    fn across(&self, g: V3) -> Row {
        self.shares().map(|w| scale(g, w))
    }

    /// Adds `along`·∇s.
    pub(super) fn add_force(&self, along: f64, g: &mut [f64]) {
        for (node, w) in self.nodes.iter().zip(self.shares()) {
            for k in 0..3 {
                g[3 * *node as usize + k] += along * w * self.normal[k];
            }
        }
    }

    /// Adds `along` ∇s∇sᵀ and, if there is one, `across` ∇²s.
    pub(super) fn add_hessian(&self, q: &[f64], along: f64, across: Option<f64>, h: &mut BlockMatrix) {
        let n = self.across(self.normal);
        let mut terms = vec![(along, n, n)];
        if let Some(across) = across {
            self.each_second(q, |c, a, b| terms.push((across * c, a, b)));
        }
        for i in 0..4 {
            for j in 0..=i {
                let mut block = [0.0; 9];
                for (c, a, b) in &terms {
                    for x in 0..9 {
                        let (r, s) = (x / 3, x % 3);
                        block[x] += 0.5 * c * (a[i][r] * b[j][s] + b[i][r] * a[j][s]);
                    }
                }
                if block != [0.0; 9] {
                    h.add_block(self.nodes[i] as usize, self.nodes[j] as usize, &block);
                }
            }
        }
    }

    /// d²s as a sum of c·a·b with linear functions a, b of the motion.
    fn each_second(&self, q: &[f64], mut add: impl FnMut(f64, Row, Row)) {
        let at = |i: usize| -> V3 {
            let n = 3 * self.nodes[i] as usize;
            [q[n], q[n + 1], q[n + 2]]
        };
        let (n, s) = (self.normal, self.distance);
        // n·(dx_j − dx_i), for corners counted from 1.
        let turn = |i: usize, j: usize| {
            let mut row = [[0.0; 3]; 4];
            row[j] = n;
            row[i] = scale(n, -1.0);
            row
        };
        match self.feature {
            // On the corner or edge itself s has a kink and no second derivative.
            Feature::Corner(_) | Feature::Edge(_) if s == 0.0 => {}
            Feature::Corner(_) => {
                let t = tangent(n);
                for t in [t, cross(n, t)] {
                    let across = self.across(t);
                    add(1.0 / s, across, across);
                }
            }
            Feature::Edge(k) => {
                let (i, j) = (1 + (k as usize + 1) % 3, 1 + (k as usize + 2) % 3);
                let u = sub(at(j), at(i));
                let l = norm(u);
                let e = scale(u, 1.0 / l);
                let m = self.across(cross(n, e));
                let turn = turn(i, j);
                add(1.0 / s, m, m);
                add(-2.0 / l, self.across(e), turn);
                add(-s / (l * l), turn, turn);
            }
            Feature::Face => {
                let (u, v) = (sub(at(2), at(1)), sub(at(3), at(1)));
                let (uu, uv, vv) = (dot(u, u), dot(u, v), dot(v, v));
                let det = uu * vv - uv * uv;
                let dual = |a: f64, b: f64| [0, 1, 2].map(|i| (a * u[i] + b * v[i]) / det);
                let g = [dual(vv, -uv), dual(-uv, uu)];
                let turns = [turn(1, 2), turn(1, 3)];
                for i in 0..2 {
                    add(-2.0, self.across(g[i]), turns[i]);
                    for j in 0..2 {
                        add(-s * dot(g[i], g[j]), turns[i], turns[j]);
                    }
                }
            }
        }
    }
}

/// Some unit vector normal to the unit vector n.
fn tangent(n: V3) -> V3 {
    let mut least = 0;
    for k in 1..3 {
        if n[k].abs() < n[least].abs() {
            least = k;
        }
    }
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    unit(cross(n, axis))
}
