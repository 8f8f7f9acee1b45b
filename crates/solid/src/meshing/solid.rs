//! What the lattice method asks of a shape.

use super::tree::WindingTree;
use crate::math::vector::{V3, area_vector, cross, dot, lerp, norm, scale, sub};
use crate::mesh::TriMesh;
use std::collections::BTreeMap;

/// Where a vertex is held on the boundary of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hold {
    /// Not on the boundary.
    Free,
    /// On the boundary, may slide.
    Face,
    /// On a sharp edge, may slide along it.
    Edge,
    /// On a corner.
    Corner,
}

/// A closed shape.
pub(crate) trait Solid: Sync {
    /// A box that holds it.
    fn bounds(&self) -> [V3; 2];
    /// Whether `p` is inside.
    fn inside(&self, p: V3) -> bool;
    /// The place t ∈ [0, 1] where the way from `a` inside to `b` outside leaves the shape.
    fn crossing(&self, a: V3, b: V3) -> f64 {
        self.halve(a, b)
    }
    /// [`Solid::crossing`] by halving the way, for any shape.
    fn halve(&self, a: V3, b: V3) -> f64 {
        let (mut inner, mut outer) = (0.0, 1.0);
        for _ in 0..40 {
            let t = 0.5 * (inner + outer);
            if self.inside(lerp(a, b, t)) { inner = t } else { outer = t }
        }
        0.5 * (inner + outer)
    }
    /// The boundary point nearest to `p`, and the outward normal there; `None` beyond `within`.
    fn nearest(&self, p: V3, within: f64) -> Option<(V3, V3)>;
    /// The point nearest to `p` of the sharp edges, not beyond `within`.
    fn nearest_sharp(&self, _p: V3, _within: f64) -> Option<V3> {
        None
    }
    /// Corners, where sharp edges end or meet.
    fn corners(&self) -> &[V3] {
        &[]
    }
}

/// The inside of a triangle surface: winding number above ½.
pub(crate) struct Inside {
    bounds: [V3; 2],
    tree: WindingTree,
    normals: Vec<V3>,
    sharp: WindingTree,
    corners: Vec<V3>,
}

impl Inside {
    /// `surface` must be checked; edges that turn by more than `sharp_angle` (degrees) are sharp.
    pub fn new(surface: &TriMesh, sharp_angle: f64) -> Self {
        let triangles: Vec<[V3; 3]> = (0..surface.triangles.len()).map(|t| surface.corners(t)).collect();
        let normals: Vec<V3> = triangles
            .iter()
            .map(|&t| {
                let n = area_vector(t);
                scale(n, 1.0 / norm(n).max(f64::MIN_POSITIVE))
            })
            .collect();
        let mut around: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        for (t, tri) in surface.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (tri[k], tri[(k + 1) % 3]);
                around.entry([a.min(b), a.max(b)]).or_default().push(t);
            }
        }
        let limit = sharp_angle.to_radians().cos();
        let mut edges = Vec::new();
        let mut ends: BTreeMap<u32, Vec<V3>> = BTreeMap::new();
        for ([a, b], tris) in &around {
            if let [s, t] = tris[..]
                && dot(normals[s], normals[t]) < limit
            {
                let (p, q) = (surface.vertices[*a as usize], surface.vertices[*b as usize]);
                edges.push([p, q, q]);
                let d = scale(sub(q, p), 1.0 / norm(sub(q, p)).max(f64::MIN_POSITIVE));
                ends.entry(*a).or_default().push(d);
                ends.entry(*b).or_default().push(scale(d, -1.0));
            }
        }
        // Two sharp edges that go on straight (within the same angle) make no corner.
        let corners = ends
            .iter()
            .filter(|(_, d)| d.len() != 2 || dot(d[0], d[1]) > -limit)
            .map(|(&v, _)| surface.vertices[v as usize])
            .collect();
        Self {
            bounds: surface.bounds().unwrap_or_default(),
            tree: WindingTree::new(triangles),
            normals,
            sharp: WindingTree::new(edges),
            corners,
        }
    }
}

impl Solid for Inside {
    fn bounds(&self) -> [V3; 2] {
        self.bounds
    }

    fn inside(&self, p: V3) -> bool {
        (0..3).all(|i| self.bounds[0][i] <= p[i] && p[i] <= self.bounds[1][i]) && self.tree.winding(p) > 0.5
    }

    fn crossing(&self, a: V3, b: V3) -> f64 {
        let hits = self.tree.crossings(a, b);
        match hits[..] {
            // Through a hole of the surface, or along it.
            [] => self.halve(a, b),
            [t] => t,
            // Parts that overlap or lie close: the first hit beyond which it is outside.
            _ => (0..hits.len() - 1)
                .find(|&i| !self.inside(lerp(a, b, 0.5 * (hits[i] + hits[i + 1]))))
                .map_or(hits[hits.len() - 1], |i| hits[i]),
        }
    }

    fn nearest(&self, p: V3, within: f64) -> Option<(V3, V3)> {
        let n = self.tree.nearest(p, within)?;
        Some((n.point, self.normals[n.triangle]))
    }

    fn nearest_sharp(&self, p: V3, within: f64) -> Option<V3> {
        self.sharp.nearest(p, within).map(|n| n.point)
    }

    fn corners(&self) -> &[V3] {
        &self.corners
    }
}

/// x²/a² + y²/b² + z²/c² ≤ 1.
pub(crate) struct Ellipsoid(pub V3);

impl Ellipsoid {
    fn radius(&self, p: V3) -> f64 {
        norm([0, 1, 2].map(|i| p[i] / self.0[i]))
    }
}

impl Solid for Ellipsoid {
    fn bounds(&self) -> [V3; 2] {
        [scale(self.0, -1.0), self.0]
    }

    fn inside(&self, p: V3) -> bool {
        self.radius(p) < 1.0
    }

    /// Along the ray from the centre: not the nearest point, but on the surface and near.
    fn nearest(&self, p: V3, _within: f64) -> Option<(V3, V3)> {
        let r = self.radius(p);
        let q = if r > 0.0 { scale(p, 1.0 / r) } else { [self.0[0], 0.0, 0.0] };
        let n = [0, 1, 2].map(|i| q[i] / (self.0[i] * self.0[i]));
        Some((q, scale(n, 1.0 / norm(n))))
    }
}

/// Whether a triangle has no area to speak of against its edges.
pub(crate) fn is_flat([a, b, c]: [V3; 3]) -> bool {
    let (u, v) = (sub(b, a), sub(c, a));
    norm(cross(u, v)) <= 1e-14 * norm(u) * norm(v)
}
