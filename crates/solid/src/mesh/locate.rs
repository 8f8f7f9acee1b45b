//! Which tet holds a point: for probes and for carrying an embedded surface along.

use super::Mesh;
use super::topology::FACES;
use crate::math::vector::{V3, add, bounds, distance, nearest_on_triangle, scale, sub, volume};

/// Where a point is in a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// The tet that holds the point, or the nearest one.
    pub tet: usize,
    /// Coordinates of the point, or of the nearest point of the mesh: ≥ 0 (to round-off) and of
    /// sum 1. The place is Σ bᵢ xᵢ over the corners of `tet`.
    pub barycentric: [f64; 4],
    /// Distance from the mesh, m; 0 inside.
    pub distance: f64,
}

/// A uniform grid over the tets of a mesh, for many queries.
#[derive(Clone, Debug)]
pub struct Locator<'m> {
    mesh: &'m Mesh,
    lo: V3,
    cell: V3,
    cells: [usize; 3],
    offsets: Vec<usize>,
    tets: Vec<u32>,
}

/// Barycentric coordinates; not finite in a flat tet.
pub(super) fn barycentric(p: V3, x: [V3; 4]) -> [f64; 4] {
    let whole = volume(x);
    [0, 1, 2, 3].map(|k| {
        let mut y = x;
        y[k] = p;
        volume(y) / whole
    })
}

/// Rounding of a barycentric coordinate that still counts as inside.
const SLACK: f64 = 1e-10;

fn nearest_in_tet(p: V3, x: [V3; 4]) -> ([f64; 4], f64) {
    let b = barycentric(p, x);
    if b.iter().all(|&c| c >= -SLACK) {
        return (b, 0.0);
    }
    let mut best = ([0.25; 4], f64::INFINITY);
    for f in FACES {
        let corners = f.map(|k| x[k]);
        let w = nearest_on_triangle(p, corners);
        let q = (0..3).fold([0.0; 3], |q, k| add(q, scale(corners[k], w[k])));
        let d = distance(p, q);
        if d < best.1 {
            let mut b = [0.0; 4];
            for k in 0..3 {
                b[f[k]] = w[k];
            }
            best = (b, d);
        }
    }
    best
}

impl Mesh {
    /// Where `point` is, by looking at every tet; for many points see [`Mesh::locator`].
    /// `None` for a mesh without tets or a point that is not finite.
    pub fn locate(&self, point: [f64; 3]) -> Option<Location> {
        if point.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let mut best: Option<Location> = None;
        for tet in 0..self.tets().len() {
            let (barycentric, distance) = nearest_in_tet(point, self.corners(tet));
            if best.is_none_or(|b| distance < b.distance) {
                best = Some(Location { tet, barycentric, distance });
            }
        }
        best
    }

    /// The place Σ bᵢ xᵢ that a location stands for, with the vertices at `positions`.
    pub fn place(&self, location: &Location, positions: &[[f64; 3]]) -> [f64; 3] {
        let tet = self.tets()[location.tet];
        (0..4).fold([0.0; 3], |p, k| add(p, scale(positions[tet[k] as usize], location.barycentric[k])))
    }

    /// Prepares for many calls of [`Locator::locate`].
    pub fn locator(&self) -> Locator<'_> {
        let [lo, hi] = self.bounds().unwrap_or_default();
        let size = sub(hi, lo);
        let side = size.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        // About one grid cell per tet, as cubic as the box allows.
        let filled: f64 = size.iter().map(|s| (s / side).max(1e-3)).product();
        let mut per_side = (self.tets().len() as f64 / filled).cbrt().clamp(1.0, 512.0);
        loop {
            let cells = size.map(|s| ((s / side * per_side).ceil() as usize).clamp(1, 512));
            let cell = [0, 1, 2].map(|i| (size[i] / cells[i] as f64).max(f64::MIN_POSITIVE));
            let mut grid = Locator { mesh: self, lo, cell, cells, offsets: Vec::new(), tets: Vec::new() };
            if grid.fill() || per_side <= 1.0 {
                return grid;
            }
            per_side *= 0.5;
        }
    }
}

impl Locator<'_> {
    fn cell_of(&self, p: V3) -> [usize; 3] {
        // The cast saturates: a point outside falls into the nearest cell of the border.
        [0, 1, 2].map(|i| (((p[i] - self.lo[i]) / self.cell[i]) as usize).min(self.cells[i] - 1))
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        i + self.cells[0] * (j + self.cells[1] * k)
    }

    /// Lists the tets that may reach into each cell; false when badly shaped elements would make
    /// the lists long.
    fn fill(&mut self) -> bool {
        let ranges: Vec<[[usize; 3]; 2]> = (0..self.mesh.tets().len())
            .map(|t| {
                let [lo, hi] = bounds(self.mesh.corners(t)).unwrap_or_default();
                [self.cell_of(lo), self.cell_of(hi)]
            })
            .collect();
        let entries: f64 =
            ranges.iter().map(|[a, b]| (0..3).map(|i| (b[i] - a[i] + 1) as f64).product::<f64>()).sum();
        if entries > 40.0 * ranges.len() as f64 + 1000.0 && self.cells != [1, 1, 1] {
            return false;
        }
        let mut pairs = Vec::with_capacity(entries as usize);
        for (t, [a, b]) in ranges.iter().enumerate() {
            for k in a[2]..=b[2] {
                for j in a[1]..=b[1] {
                    pairs.extend((a[0]..=b[0]).map(|i| (self.index([i, j, k]) as u32, t as u32)));
                }
            }
        }
        let rows = self.cells.iter().product();
        (self.offsets, self.tets) = super::topology::compress(rows, &pairs);
        true
    }

    fn tets_in(&self, cell: [usize; 3]) -> &[u32] {
        let c = self.index(cell);
        &self.tets[self.offsets[c]..self.offsets[c + 1]]
    }

    /// Where `point` is; the same answer as [`Mesh::locate`] up to ties.
    pub fn locate(&self, point: [f64; 3]) -> Option<Location> {
        if point.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let home = self.cell_of(point);
        let reach = self.cells.iter().copied().max().unwrap_or(1);
        let thinnest =
            (0..3).filter(|&i| self.cells[i] > 1).map(|i| self.cell[i]).fold(f64::INFINITY, f64::min);
        let mut best: Option<Location> = None;
        for ring in 0..=reach {
            // What lies in this ring is at least ring − 1 cells away from the point (or from its
            // projection to the box, which is nearer to everything in the box).
            let bound = ring.saturating_sub(1) as f64 * thinnest;
            if best.is_some_and(|b| b.distance == 0.0 || b.distance <= bound) {
                break;
            }
            self.for_ring(home, ring, |tet| {
                let (barycentric, distance) = nearest_in_tet(point, self.mesh.corners(tet));
                if best.is_none_or(|b| (distance, tet) < (b.distance, b.tet)) {
                    best = Some(Location { tet, barycentric, distance });
                }
            });
        }
        best
    }

    /// Visits the tets of all cells whose largest index difference from `home` is `ring`.
    fn for_ring(&self, home: [usize; 3], ring: usize, mut visit: impl FnMut(usize)) {
        let range = |i: usize| home[i].saturating_sub(ring)..=(home[i] + ring).min(self.cells[i] - 1);
        let on_ring = |i: usize, c: usize| c.abs_diff(home[i]) == ring;
        let mut cell = |i, j, k| {
            for &t in self.tets_in([i, j, k]) {
                visit(t as usize);
            }
        };
        for k in range(2) {
            for j in range(1) {
                if on_ring(1, j) || on_ring(2, k) {
                    range(0).for_each(|i| cell(i, j, k));
                } else {
                    range(0).filter(|&i| on_ring(0, i)).for_each(|i| cell(i, j, k));
                }
            }
        }
    }
}
