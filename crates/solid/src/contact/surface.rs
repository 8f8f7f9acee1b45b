//! The surface of a body, made ready to be asked for signed distances.
//!
//! The distance to a closed, outward surface takes its sign from the pseudonormal of the nearest
//! feature: the normal of a face, the sum of the two normals at an edge, the sum of normals weighted by
//! their angles at a corner \[baerentzen2005\]. So it is right also where the nearest point is an edge or
//! a corner, where a single face would lie.

use crate::dofs::DofMap;
use crate::math::vector::{
    V3, add, area_vector, bounds, distance, dot, nearest_on_triangle, norm, scale, sub,
};
use crate::mesh::bvh::{Box3, Bvh, square_to_box};
use crate::mesh::{Surface, TriMesh};

/// A body's surface in its own numbers, from 0, with what does not change as it moves.
#[derive(Debug)]
pub struct ContactSurface {
    /// Global node of each vertex.
    pub(super) nodes: Vec<u32>,
    /// Area of each vertex at rest, m².
    pub(super) areas: Vec<f64>,
    /// Whether it has an inside. One that has not, a cloth, keeps things away on both sides.
    pub(super) closed: bool,
    /// Triangles, in the order of the tree.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Rest positions of the vertices, m.
    pub(super) rest: Vec<V3>,
    /// Triangles around each vertex, in compressed rows.
    offsets: Vec<u32>,
    stars: Vec<u32>,
    tree: Bvh,
}

/// The part of a triangle that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// Its inside.
    Face,
    /// The edge opposite to this corner.
    Edge(u8),
    /// This corner.
    Corner(u8),
}

/// Where a surface is nearest to a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub triangle: u32,
    pub feature: Feature,
    /// Barycentric coordinates of the nearest point.
    pub weights: [f64; 3],
    /// ∂s/∂x: unit, from the surface.
    pub normal: V3,
    /// Signed distance, m; negative inside.
    pub s: f64,
}

/// A surface at some positions.
pub(super) struct Pose<'a> {
    pub surface: &'a ContactSurface,
    pub x: Vec<V3>,
    pub bounds: Box3,
    boxes: Vec<Box3>,
}

impl ContactSurface {
    /// The surface of a body.
    pub fn new(dofs: &DofMap) -> Self {
        let nodes = dofs.nodes();
        Self::with_areas(dofs, &nodes.surface().nodal_areas(nodes.points()))
    }

    /// With the area (m²) of each node given: besides the nodes of the triangles, all those that have an area take
    /// part, but only against other surfaces.
    pub fn with_areas(dofs: &DofMap, all: &[f64]) -> Self {
        let nodes = dofs.nodes();
        let touching = (0u32..).zip(all).filter(|(_, area)| **area > 0.0).map(|(n, _)| n);
        let surface = &Surface {
            vertices: touching.collect(),
            triangles: nodes.surface().triangles.clone(),
            tets: Vec::new(),
        };
        let own = surface.to_tri_mesh(nodes.points());
        let global = surface.vertices.iter().map(|n| dofs.global(*n)).collect();
        let areas = surface.vertices.iter().map(|n| all[*n as usize]).collect();
        Self::of_mesh(global, areas, own, nodes.is_closed())
    }

    /// Of a triangle mesh at rest: the global node and the area (m²) of each vertex, and whether it has an inside.
    pub(super) fn of_mesh(nodes: Vec<u32>, areas: Vec<f64>, own: TriMesh, closed: bool) -> Self {
        let corner = |t: &[u32; 3], k: usize| own.vertices[t[k] as usize];
        let centers: Vec<V3> = (own.triangles.iter())
            .map(|t| scale(add(add(corner(t, 0), corner(t, 1)), corner(t, 2)), 1.0 / 3.0))
            .collect();
        let (tree, order) = Bvh::new(&centers);
        let triangles: Vec<[u32; 3]> = order.iter().map(|&t| own.triangles[t as usize]).collect();
        let mut pairs: Vec<(u32, u32)> =
            (0u32..).zip(&triangles).flat_map(|(t, corners)| corners.map(|v| (v, t))).collect();
        pairs.sort_unstable();
        let mut offsets = vec![0; own.vertices.len() + 1];
        for &(v, _) in &pairs {
            offsets[v as usize + 1] += 1;
        }
        for v in 0..own.vertices.len() {
            offsets[v + 1] += offsets[v];
        }
        Self {
            nodes,
            areas,
            closed,
            triangles,
            rest: own.vertices,
            offsets,
            stars: pairs.iter().map(|p| p.1).collect(),
            tree,
        }
    }

    /// Global node of each vertex.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Triangles, in global node numbers, outward.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        let global = |t: &[u32; 3]| t.map(|v| self.nodes[v as usize]);
        self.triangles.iter().map(global)
    }

    pub(super) fn star(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.stars[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }

    /// Smallest extent of the rest shape along the axes, m: no point inside is deeper than half of it. 0 without an
    /// inside.
    pub(super) fn smallest_extent(&self) -> f64 {
        if !self.closed {
            return 0.0;
        }
        bounds(self.rest.iter().copied())
            .map_or(0.0, |[lo, hi]| (0..3).fold(f64::INFINITY, |m, k| m.min(hi[k] - lo[k])))
    }

    /// Longest rest edge at a vertex, m.
    pub(super) fn longest_edge(&self, vertex: u32) -> f64 {
        let x = self.rest[vertex as usize];
        let corners = self.star(vertex).iter().flat_map(|&t| self.triangles[t as usize]);
        corners.fold(0.0, |m, v| m.max(distance(x, self.rest[v as usize])))
    }

    /// At rest, ready for [`Pose::nearest`].
    pub(super) fn at_rest(&self) -> Pose<'_> {
        let mut pose = Pose::at(self, self.rest.clone());
        pose.refit();
        pose
    }

    /// At the positions q, not yet ready for [`Pose::nearest`].
    pub(super) fn pose(&self, q: &[f64]) -> Pose<'_> {
        let at = |&n: &u32| [0, 1, 2].map(|k| q[3 * n as usize + k]);
        Pose::at(self, self.nodes.iter().map(at).collect())
    }
}

impl<'a> Pose<'a> {
    fn at(surface: &'a ContactSurface, x: Vec<V3>) -> Self {
        let nowhere = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        Self { surface, bounds: bounds(x.iter().copied()).unwrap_or(nowhere), x, boxes: Vec::new() }
    }

    /// Makes [`Pose::nearest`] possible.
    pub fn refit(&mut self) {
        if !self.boxes.is_empty() {
            return;
        }
        self.boxes = self.surface.tree.boxes(|t| {
            let [a, b, c] = self.corners(t);
            [[0, 1, 2].map(|k| a[k].min(b[k]).min(c[k])), [0, 1, 2].map(|k| a[k].max(b[k]).max(c[k]))]
        });
    }

    pub fn corners(&self, triangle: usize) -> [V3; 3] {
        self.surface.triangles[triangle].map(|v| self.x[v as usize])
    }

    /// Whether a point is within `margin` of the box around the surface.
    pub fn may_touch(&self, p: V3, margin: f64) -> bool {
        square_to_box(p, &self.bounds) <= margin * margin
    }

    /// The nearest point of the surface within a distance, without the triangles in the sorted list
    /// `skip`.
    pub fn nearest(&self, p: V3, within: f64, skip: &[u32]) -> Option<Near> {
        let square = |t: usize| {
            if skip.binary_search(&(t as u32)).is_ok() {
                return None;
            }
            let r = sub(p, self.point(t, nearest_on_triangle(p, self.corners(t))));
            Some(dot(r, r))
        };
        let tree = &self.surface.tree;
        let t = tree.nearest(&self.boxes, p, within * within, square)?;
        Some(self.look_at(p, t))
    }

    /// All triangles within a distance of a point, ascending.
    pub fn all_within(&self, p: V3, within: f64) -> Vec<u32> {
        let found = std::cell::RefCell::new(Vec::new());
        // Nothing is ever accepted, so that nothing is left out.
        self.surface.tree.nearest(&self.boxes, p, within * within, |t| {
            let r = sub(p, self.point(t, nearest_on_triangle(p, self.corners(t))));
            if dot(r, r) < within * within {
                found.borrow_mut().push(t as u32);
            }
            None
        });
        let mut found = found.into_inner();
        found.sort_unstable();
        found
    }

    fn point(&self, triangle: usize, w: [f64; 3]) -> V3 {
        let [a, b, c] = self.corners(triangle);
        [0, 1, 2].map(|k| w[0] * a[k] + w[1] * b[k] + w[2] * c[k])
    }

    /// Signed distance of a point to one triangle, as part of the surface.
    pub fn look_at(&self, p: V3, triangle: usize) -> Near {
        let weights = nearest_on_triangle(p, self.corners(triangle));
        let t = self.surface.triangles[triangle];
        let zero: Vec<usize> = (0..3).filter(|&k| weights[k] == 0.0).collect();
        let arm = sub(p, self.point(triangle, weights));
        let (feature, outward) = match zero.as_slice() {
            [] => (Feature::Face, self.normal(triangle)),
            &[k] => {
                let (a, b) = (t[(k + 1) % 3], t[(k + 2) % 3]);
                (Feature::Edge(k as u8), self.edge_normal(a, b))
            }
            _ => {
                let k = (0..3).find(|k| weights[*k] != 0.0).unwrap_or(0);
                (Feature::Corner(k as u8), self.corner_normal(t[k]))
            }
        };
        let (normal, s) = match feature {
            Feature::Face => {
                let s = dot(arm, outward);
                if s < 0.0 && !self.surface.closed { (scale(outward, -1.0), -s) } else { (outward, s) }
            }
            _ => {
                let inside = self.surface.closed && dot(arm, outward) < 0.0;
                let sign = if inside { -1.0 } else { 1.0 };
                let d = norm(arm);
                // Closer than this the direction of the arm is round-off.
                let size = norm(sub(self.corners(triangle)[1], self.corners(triangle)[0]));
                let normal = if d > 1e-13 * size { scale(arm, sign / d) } else { unit(outward) };
                (normal, sign * d)
            }
        };
        Near { triangle: triangle as u32, feature, weights, normal, s }
    }

    fn normal(&self, triangle: usize) -> V3 {
        unit(area_vector(self.corners(triangle)))
    }

    fn edge_normal(&self, a: u32, b: u32) -> V3 {
        let around = self.surface.star(a).iter();
        around
            .filter(|&&t| self.surface.triangles[t as usize].contains(&b))
            .fold([0.0; 3], |sum, &t| add(sum, self.normal(t as usize)))
    }

    fn corner_normal(&self, v: u32) -> V3 {
        self.surface.star(v).iter().fold([0.0; 3], |sum, &t| {
            let corners = self.surface.triangles[t as usize];
            let k = corners.iter().position(|&c| c == v).unwrap_or(0);
            let at = |i: usize| self.x[corners[(k + i) % 3] as usize];
            let (a, b) = (unit(sub(at(1), at(0))), unit(sub(at(2), at(0))));
            let angle = dot(a, b).clamp(-1.0, 1.0).acos();
            add(sum, scale(self.normal(t as usize), angle))
        })
    }
}

/// v/|v|, or 0 of 0.
pub(super) fn unit(v: V3) -> V3 {
    scale(v, 1.0 / norm(v).max(f64::MIN_POSITIVE))
}
