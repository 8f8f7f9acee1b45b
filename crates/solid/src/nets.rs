//! Networks: the vertices, springs and triangles of ropes and cloth, and the edges of any mesh as springs.

use crate::elements::{Bend, Spring};
use crate::math::vector::{V3, distance, lerp, volume};
use crate::mesh::Mesh;

/// Stiffness of the springs of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stretch {
    /// The same λ (N) in every spring.
    Lambda(f64),
    /// Young's modulus (Pa), from which each spring gets the λ of the material that it stands for.
    Young(f64),
}

/// Evenly spaced points of a line cut into so many segments.
pub fn rope(from: [f64; 3], to: [f64; 3], segments: usize) -> Vec<[f64; 3]> {
    (0..=segments).map(|k| lerp(from, to, k as f64 / segments as f64)).collect()
}

/// A spring between each vertex and the next, of a round section (m²).
pub fn rope_springs(vertices: &[[f64; 3]], stretch: Stretch, section: f64) -> Vec<Spring> {
    (1..vertices.len())
        .map(|k| {
            let ends = [k as u32 - 1, k as u32];
            let lambda = match stretch {
                Stretch::Lambda(lambda) => lambda,
                Stretch::Young(E) => E * section,
            };
            spring(vertices, ends, lambda, section)
        })
        .collect()
}

/// The bends of a rope of evenly spaced vertices with rigidity B, N m².
pub fn rope_bends(vertices: &[[f64; 3]], rigidity: f64) -> Vec<Bend> {
    (2..vertices.len())
        .map(|k| {
            let d =
                0.5 * (distance(vertices[k - 2], vertices[k - 1]) + distance(vertices[k - 1], vertices[k]));
            let k = k as u32;
            Bend { nodes: [k - 2, k - 1, k], stiffness: rigidity / d.powi(3) }
        })
        .collect()
}

fn spring(vertices: &[V3], ends: [u32; 2], lambda: f64, section: f64) -> Spring {
    let [a, b] = ends.map(|v| vertices[v as usize]);
    Spring { ends, lambda, length: distance(a, b), section }
}

/// A rectangle of cells, with vertex (i, j) at number i + (cells\[0\] + 1) j.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Cells along both sides.
    pub cells: [usize; 2],
}

/// The cells of a sheet are too long for springs: a spring along the shorter side would have to push.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "cells of {} m × {} m are too long for springs: keep the longer side below 1.7 times the shorter, or use element = \"membrane\"",
    sides[0], sides[1]
)]
pub struct LongCells {
    /// Sides of a cell, m.
    pub sides: [f64; 2],
}

impl Sheet {
    fn at(&self, i: usize, j: usize) -> u32 {
        (i + (self.cells[0] + 1) * j) as u32
    }

    /// Vertices of a sheet in the plane z = 0 with a corner at the origin.
    pub fn vertices(&self, size: [f64; 2]) -> Vec<[f64; 3]> {
        let [m, n] = self.cells;
        let place = |i: usize, j: usize| [size[0] * i as f64 / m as f64, size[1] * j as f64 / n as f64, 0.0];
        (0..=n).flat_map(|j| (0..=m).map(move |i| place(i, j))).collect()
    }

    /// Two triangles a cell, cut along one diagonal and the other in turn.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let mut out = Vec::with_capacity(2 * self.cells[0] * self.cells[1]);
        for j in 0..self.cells[1] {
            for i in 0..self.cells[0] {
                let [a, b] = [self.at(i, j), self.at(i + 1, j)];
                let [d, c] = [self.at(i, j + 1), self.at(i + 1, j + 1)];
                out.extend(match (i + j) % 2 {
                    0 => [[a, b, c], [a, c, d]],
                    _ => [[a, b, d], [b, c, d]],
                });
            }
        }
        out
    }

    /// Calls `f` with each line of `count` neighbours along one side, and the share of a cell's width that the line
    /// stands for: ½ at the border.
    fn each_line(&self, axis: usize, count: usize, mut f: impl FnMut(Vec<u32>, f64)) {
        let (along, across) = (self.cells[axis], self.cells[1 - axis]);
        for j in 0..=across {
            let share = if j == 0 || j == across { 0.5 } else { 1.0 };
            for i in 0..(along + 2).saturating_sub(count) {
                let line = (i..i + count).map(|i| if axis == 0 { self.at(i, j) } else { self.at(j, i) });
                f(line.collect(), share);
            }
        }
    }

    /// Springs along both sides of every cell, and along both of its diagonals against shear.
    ///
    /// With Young's modulus E and a thickness t, the sheet is the isotropic one of plane stress with ν = ⅓, the only
    /// ν that a plane network of springs can have, whatever the number of cells. For cells of dx × dy, with c, s the
    /// direction cosines of a diagonal of length L and G = 3Et/8:
    ///   λ_diagonal = G dx dy/(2 L c²s²),   λ_x = G dy (3 − c²/s²),   λ_y = G dx (3 − s²/c²),
    /// half of that on the border. Cells longer than √3 times their width would need springs that push; the error
    /// says so.
    pub fn springs(
        &self,
        vertices: &[[f64; 3]],
        stretch: Stretch,
        thickness: f64,
    ) -> Result<Vec<Spring>, LongCells> {
        let at = |v: u32| vertices[v as usize];
        let [dx, dy] = [distance(at(0), at(self.at(1, 0))), distance(at(0), at(self.at(0, 1)))];
        let diagonal = dx.hypot(dy);
        let (cc, ss) = ((dx / diagonal).powi(2), (dy / diagonal).powi(2));
        let (sides, shear) = match stretch {
            Stretch::Lambda(lambda) => (None, lambda),
            Stretch::Young(E) => {
                let G = 0.375 * E * thickness;
                let sides = [G * dy * (3.0 - cc / ss), G * dx * (3.0 - ss / cc)];
                if sides.iter().any(|lambda| *lambda <= 0.0) {
                    return Err(LongCells { sides: [dx, dy] });
                }
                (Some(sides), G * dx * dy / (2.0 * diagonal * cc * ss))
            }
        };
        let mut out = Vec::new();
        for axis in 0..2 {
            let width = [dy, dx][axis];
            self.each_line(axis, 2, |line, share| {
                let lambda = match (stretch, sides) {
                    (_, Some(sides)) => share * sides[axis],
                    (Stretch::Lambda(lambda) | Stretch::Young(lambda), None) => lambda,
                };
                out.push(spring(vertices, [line[0], line[1]], lambda, share * width * thickness));
            });
        }
        let section = 0.5 * thickness * dx * dy / diagonal;
        for j in 0..self.cells[1] {
            for i in 0..self.cells[0] {
                let ends = [[self.at(i, j), self.at(i + 1, j + 1)], [self.at(i + 1, j), self.at(i, j + 1)]];
                out.extend(ends.map(|ends| spring(vertices, ends, shear, section)));
            }
        }
        Ok(out)
    }

    /// The bends of a sheet with flexural rigidity D, N m.
    pub fn bends(&self, vertices: &[[f64; 3]], rigidity: f64) -> Vec<Bend> {
        let at = |v: u32| vertices[v as usize];
        let spacing = [distance(at(0), at(self.at(1, 0))), distance(at(0), at(self.at(0, 1)))];
        let mut out = Vec::new();
        for axis in 0..2 {
            let (d, width) = (spacing[axis], spacing[1 - axis]);
            self.each_line(axis, 3, |line, share| {
                let stiffness = share * rigidity * width / d.powi(3);
                out.push(Bend { nodes: [line[0], line[1], line[2]], stiffness });
            });
        }
        out
    }
}

/// The edges of tets as springs. With Young's modulus E each gets λ = E Σ V/l₀ over the tets around it: their volume
/// in equal parts, times the 6 that springs in all directions need to have the modulus E (and then ν = ¼).
pub fn tet_springs(mesh: &Mesh, stretch: Stretch) -> Vec<Spring> {
    let share = |e: usize| volume(mesh.corners(e)).abs();
    let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let edges = mesh.tets().iter().enumerate().flat_map(|(e, tet)| {
        let share = share(e);
        pairs.map(|[a, b]| ([tet[a].min(tet[b]), tet[a].max(tet[b])], share))
    });
    let modulus = |E: f64, share: f64, length: f64| (E * share / length, share / (6.0 * length));
    edge_springs(&mesh.vertices, edges.collect(), stretch, modulus)
}

/// The edges of triangles of thickness t as springs. With Young's modulus E each gets λ = E Σ tA/l₀ over the triangles
/// around it: their volume in equal parts, times the 3 that springs in all directions of a plane need (and then ν = ⅓).
pub fn triangle_springs(
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    stretch: Stretch,
    thickness: f64,
) -> Vec<Spring> {
    let edges = triangles.iter().flat_map(|t| {
        let corners = t.map(|v| vertices[v as usize]);
        let area = 0.5 * crate::math::vector::norm(crate::math::vector::area_vector(corners));
        let share = area * thickness;
        [[0, 1], [1, 2], [2, 0]].map(|[a, b]| ([t[a].min(t[b]), t[a].max(t[b])], share))
    });
    let modulus = |E: f64, share: f64, length: f64| (E * share / length, share / (3.0 * length));
    edge_springs(vertices, edges.collect(), stretch, modulus)
}

/// One spring for each edge, from the volumes (m³) around it; `modulus` turns E, volume and length into λ and section.
fn edge_springs(
    vertices: &[V3],
    mut edges: Vec<([u32; 2], f64)>,
    stretch: Stretch,
    modulus: impl Fn(f64, f64, f64) -> (f64, f64),
) -> Vec<Spring> {
    edges.sort_by_key(|a| a.0);
    edges
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| {
            let share: f64 = same.iter().map(|e| e.1).sum();
            let mut spring = spring(vertices, same[0].0, 0.0, 0.0);
            (spring.lambda, spring.section) = match stretch {
                Stretch::Young(E) => modulus(E, share, spring.length),
                Stretch::Lambda(lambda) => (lambda, modulus(1.0, share, spring.length).1),
            };
            spring
        })
        .collect()
}
