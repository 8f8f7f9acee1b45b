//! Moves vertices for better shapes: onto sharp edges and corners of the boundary, then wherever
//! the worst tet around gets better.
//!
//! Every move is guarded: the worst tet around the vertex may not get worse, or only as far as an
//! angle of [`GUARD`] degrees when a sharp edge is gained. Vertices are visited in order, each
//! seeing the moves before, so that the result does not depend on threads.

use super::solid::{Hold, Solid};
use crate::math::vector::{V3, add, area_vector, cross, distance, dot, lerp, norm, scale, sub};
use crate::mesh::{FACES, Mesh, VertexGraph};

/// Smallest dihedral angle (and 180° minus largest) that a move onto a sharp edge may leave.
const GUARD: f64 = 11.0;

/// Tets with no angle worse than this are left as they are.
const GOOD: f64 = 40.0;

/// The shape of a tet with the worst dihedral angle θ: 1 − |cos θ| in degrees.
fn shape_with(degrees: f64) -> f64 {
    1.0 - degrees.to_radians().cos()
}

/// 1 − max |cos θ| over the dihedral angles: ⅔ for a regular tet, 0 flat, negative flipped.
pub(crate) fn shape_of(x: [V3; 4]) -> f64 {
    if dot(sub(x[1], x[0]), cross(sub(x[2], x[0]), sub(x[3], x[0]))) <= 0.0 {
        return -1.0;
    }
    let n = FACES.map(|f| area_vector(f.map(|k| x[k])));
    let l = n.map(norm);
    let mut worst = 0.0_f64;
    for i in 0..4 {
        for j in 0..i {
            worst = worst.max(dot(n[i], n[j]).abs() / (l[i] * l[j]));
        }
    }
    1.0 - worst
}

/// Smoothing weighs a tet of height h in a lattice of edge a like one of shape HEIGHT·h/a: small tets
/// of good shape still cost time steps. A height of a/5 then counts as much as an angle of 30°.
const HEIGHT: f64 = 0.67;

fn smallest_height(x: [V3; 4]) -> f64 {
    let largest = FACES.map(|f| norm(area_vector(f.map(|k| x[k])))).into_iter().fold(0.0, f64::max);
    dot(sub(x[1], x[0]), cross(sub(x[2], x[0]), sub(x[3], x[0]))) / largest
}

struct Improver<'a> {
    mesh: &'a mut Mesh,
    shape: &'a dyn Solid,
    /// Edge of the lattice, m.
    edge: f64,
    /// cos of the angle by which normals differ across a sharp edge.
    sharp: f64,
    hold: Vec<Hold>,
    graph: VertexGraph,
    offsets: Vec<usize>,
    around: Vec<u32>,
    surface_edges: Vec<[u32; 2]>,
}

/// Pulls the boundary onto `shape` and its sharp edges, and smooths `passes` times. `hold` says what
/// holds the vertices, if that is known from before; the return value says it after.
pub(crate) fn improve(
    mesh: &mut Mesh,
    shape: &dyn Solid,
    edge: f64,
    sharp_angle: f64,
    passes: usize,
    hold: Option<Vec<Hold>>,
) -> Vec<Hold> {
    let surface = mesh.surface();
    let hold = hold.unwrap_or_else(|| {
        let mut hold = vec![Hold::Free; mesh.vertices.len()];
        for &v in &surface.vertices {
            hold[v as usize] = Hold::Face;
        }
        hold
    });
    if passes == 0 {
        return hold;
    }
    let mut surface_edges: Vec<[u32; 2]> = surface
        .triangles
        .iter()
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
        .filter(|e| e[0] < e[1])
        .collect();
    surface_edges.sort_unstable();
    let (offsets, around) = mesh.vertex_tets();
    let graph = mesh.vertex_graph();
    let sharp = sharp_angle.to_radians().cos();
    let mut i = Improver { mesh, shape, edge, sharp, hold, graph, offsets, around, surface_edges };
    i.project();
    for _ in 0..passes {
        i.snap_to_corners();
        i.snap_to_edges();
        i.smooth();
    }
    i.hold
}

impl Improver<'_> {
    fn at(&self, v: usize) -> V3 {
        self.mesh.vertices[v]
    }

    /// The worst shape around vertex v if it were at p; may return early with anything ≤ `enough`.
    fn worst_at(&self, v: usize, p: V3, enough: f64, measure: impl Fn([V3; 4]) -> f64) -> f64 {
        let mut worst = f64::INFINITY;
        for &t in &self.around[self.offsets[v]..self.offsets[v + 1]] {
            let tet = self.mesh.tets()[t as usize];
            let x = tet.map(|w| if w as usize == v { p } else { self.mesh.vertices[w as usize] });
            worst = worst.min(measure(x));
            if worst <= enough {
                break;
            }
        }
        worst
    }

    /// Moves v to p unless that leaves a shape worse than both the guard and what is there now.
    fn try_move(&mut self, v: usize, p: V3) -> bool {
        let now = self.worst_at(v, self.at(v), f64::NEG_INFINITY, shape_of);
        let limit = now.min(shape_with(GUARD));
        let ok = self.worst_at(v, p, limit - 1e-12, shape_of) >= limit;
        if ok {
            self.mesh.vertices[v] = p;
        }
        ok
    }

    /// Boundary vertices that are not on the shape (where tets were taken away) go there, or as
    /// far as the guard lets them.
    fn project(&mut self) {
        for v in 0..self.hold.len() {
            if self.hold[v] == Hold::Free {
                continue;
            }
            let p = self.at(v);
            let Some((q, _)) = self.shape.nearest(p, 2.0 * self.edge) else {
                continue;
            };
            if distance(p, q) > 1e-9 * self.edge {
                let _ = [1.0, 0.75, 0.5, 0.25].iter().any(|&t| self.try_move(v, lerp(p, q, t)));
            }
        }
    }

    fn snap_to_corners(&mut self) {
        let shape = self.shape;
        // Boundary vertices by x, so that each corner looks at a slab only.
        let mut by_x: Vec<usize> = (0..self.hold.len()).filter(|&v| self.hold[v] != Hold::Free).collect();
        by_x.sort_by(|&a, &b| self.at(a)[0].total_cmp(&self.at(b)[0]).then(a.cmp(&b)));
        let xs: Vec<f64> = by_x.iter().map(|&v| self.at(v)[0]).collect();
        for &corner in shape.corners() {
            let from = xs.partition_point(|&x| x < corner[0] - self.edge);
            let to = xs.partition_point(|&x| x < corner[0] + self.edge);
            let mut near: Vec<(f64, usize)> = by_x[from..to]
                .iter()
                .filter(|&&v| self.hold[v] != Hold::Corner || self.at(v) == corner)
                .map(|&v| (distance(self.at(v), corner), v))
                .filter(|&(d, _)| d < self.edge)
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            if near.iter().any(|&(_, v)| self.hold[v] == Hold::Corner) {
                continue;
            }
            for &(_, v) in near.iter().take(4) {
                if self.try_move(v, corner) {
                    self.hold[v] = Hold::Corner;
                    break;
                }
            }
        }
    }

    /// Surface edges whose ends lie on different sides of a sharp edge: the nearer end goes there,
    /// or else the other one.
    fn snap_to_edges(&mut self) {
        let normals: Vec<Option<V3>> = (0..self.hold.len())
            .map(|v| match self.hold[v] {
                Hold::Face => self.shape.nearest(self.at(v), 0.1 * self.edge).map(|n| n.1),
                _ => None,
            })
            .collect();
        let mut wishes: Vec<(f64, usize, usize, V3)> = Vec::new();
        for &[a, b] in &self.surface_edges {
            let (a, b) = (a as usize, b as usize);
            let (Some(m), Some(n)) = (normals[a], normals[b]) else {
                continue;
            };
            if dot(m, n) < self.sharp {
                for (v, w) in [(a, b), (b, a)] {
                    if let Some(p) = self.shape.nearest_sharp(self.at(v), self.edge) {
                        wishes.push((distance(self.at(v), p), v, w, p));
                    }
                }
            }
        }
        wishes.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (_, v, w, p) in wishes {
            if self.hold[v] == Hold::Face && self.hold[w] == Hold::Face && self.try_move(v, p) {
                self.hold[v] = Hold::Edge;
            }
        }
    }

    /// The place nearest to p where v is allowed to be.
    fn allowed(&self, v: usize, p: V3) -> Option<V3> {
        match self.hold[v] {
            Hold::Free => Some(p),
            Hold::Face => self.shape.nearest(p, 0.5 * self.edge).map(|n| n.0),
            Hold::Edge => self.shape.nearest_sharp(p, 0.5 * self.edge),
            Hold::Corner => None,
        }
    }

    /// Middle of the neighbours that are held at least as strongly.
    fn middle(&self, v: usize) -> Option<V3> {
        let strength = |h: Hold| h as u8;
        let own = strength(self.hold[v]);
        let (mut sum, mut count) = ([0.0; 3], 0.0);
        for &w in self.graph.neighbours(v) {
            if strength(self.hold[w as usize]) >= own {
                sum = add(sum, self.at(w as usize));
                count += 1.0;
            }
        }
        (count > 1.0).then(|| scale(sum, 1.0 / count))
    }

    fn smooth(&mut self) {
        let good = shape_with(GOOD);
        for v in 0..self.hold.len() {
            let x = self.at(v);
            let worth = |x| shape_of(x).min(HEIGHT * smallest_height(x) / self.edge);
            let mut best = self.worst_at(v, x, f64::NEG_INFINITY, worth);
            if best >= good || self.hold[v] == Hold::Corner {
                continue;
            }
            let mut place = x;
            let mut attempt = |p: V3| {
                if let Some(p) = self.allowed(v, p) {
                    let s = self.worst_at(v, p, best + 1e-6, worth);
                    if s > best + 1e-6 {
                        best = s;
                        place = p;
                    }
                }
                place
            };
            if let Some(m) = self.middle(v) {
                for t in [1.0, 0.5, 0.25] {
                    attempt(lerp(x, m, t));
                }
            }
            for step in [0.1, 0.03] {
                // From the best place so far, along the lattice directions.
                let from = attempt(x);
                for b in 0..14 {
                    attempt(add(from, scale(direction(b), step * self.edge)));
                }
            }
            self.mesh.vertices[v] = place;
        }
    }
}

/// Along the axes, then the space diagonals.
fn direction(b: usize) -> V3 {
    if b < 6 {
        let mut d = [0.0; 3];
        d[b / 2] = if b.is_multiple_of(2) { 1.0 } else { -1.0 };
        d
    } else {
        let s = 1.0 / 3.0_f64.sqrt();
        [0, 1, 2].map(|i| if (b - 6) >> i & 1 == 0 { s } else { -s })
    }
}
