//! Points carried along by the tets that hold them.

use super::locate::barycentric;
use super::{Mesh, Nodes, locate::Location};
use crate::math::vector::{V3, bounds, distance};

/// Points in a body: each is a weighted sum of the nodes at the corners of a tet.
///
/// A point outside goes with the nearest tet, as if that went on: a rotation or a stretch of the tet turns and
/// stretches what sticks out of it. Beyond [`REACH`] times the size of the tet that would magnify its every move, and
/// the point is carried by the nearest point of the mesh instead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedding {
    /// The tet of each point.
    pub tets: Vec<u32>,
    /// The nodes at its corners.
    pub corners: Vec<[u32; 4]>,
    /// Their weights, of sum 1.
    pub weights: Vec<[f64; 4]>,
    /// What the weights leave of the place, m: 0 but for points that are far out.
    pub offsets: Vec<[f64; 3]>,
    /// How many points are outside.
    pub outside: usize,
    /// How far out the furthest is, m.
    pub furthest: f64,
}

/// How far out of a tet, in its own size, its motion is extrapolated.
pub const REACH: f64 = 1.0;

impl Embedding {
    /// Of points in a body; `None` for a body without tets, or if a point is not finite.
    pub fn new(nodes: &Nodes, points: &[[f64; 3]]) -> Option<Self> {
        let mesh = nodes.mesh();
        let locator = mesh.locator();
        let size = mesh.bounds().map_or(0.0, |[a, b]| distance(a, b));
        let mut out = Self::default();
        for &point in points {
            let found = locator.locate(point)?;
            let (weights, offset) = weigh(mesh, point, &found);
            out.tets.push(found.tet as u32);
            out.corners.push(nodes.tets()[found.tet]);
            out.weights.push(weights);
            out.offsets.push(offset);
            // Vertices of a surface that the mesh follows are out by rounding.
            out.outside += usize::from(found.distance > 1e-9 * size);
            out.furthest = out.furthest.max(found.distance);
        }
        Some(out)
    }

    /// How many points.
    pub fn len(&self) -> usize {
        self.tets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tets.is_empty()
    }

    /// Where the points are when the nodes of the body are at `q` (flat).
    pub fn place(&self, q: &[f64]) -> Vec<f64> {
        let mut out = self.map(q);
        out.iter_mut().zip(self.offsets.iter().flatten()).for_each(|(x, o)| *x += o);
        out
    }

    /// The nodes at the corners of point p with their weights, cut to 0 and to a sum of 1.
    pub(super) fn shares(&self, p: usize) -> impl Iterator<Item = (u32, f64)> {
        let positive = self.weights[p].map(|w| w.max(0.0));
        let total: f64 = positive.iter().sum();
        self.corners[p].into_iter().zip(positive.map(|w| w / total))
    }

    /// A field of vectors at the nodes (flat), at the points.
    pub fn map(&self, field: &[f64]) -> Vec<f64> {
        let at = |(corners, weights): (&[u32; 4], &[f64; 4])| -> [f64; 3] {
            [0, 1, 2].map(|k| (0..4).map(|i| weights[i] * field[3 * corners[i] as usize + k]).sum())
        };
        self.corners.iter().zip(&self.weights).flat_map(at).collect()
    }
}

fn weigh(mesh: &Mesh, point: V3, found: &Location) -> ([f64; 4], V3) {
    if found.distance == 0.0 {
        return (found.barycentric, [0.0; 3]);
    }
    let x = mesh.corners(found.tet);
    let weights = barycentric(point, x);
    let size = bounds(x).map_or(0.0, |[a, b]| distance(a, b));
    // A flat tet would carry even a near point far away.
    if found.distance <= REACH * size && weights.iter().all(|w| w.abs() <= 4.0) {
        return (weights, [0.0; 3]);
    }
    let nearest = mesh.place(found, &mesh.vertices);
    (found.barycentric, [0, 1, 2].map(|k| point[k] - nearest[k]))
}
