//! Points carried along by the tets that hold them.

use super::locate::barycentric;
use super::vector::{V3, bounds, distance};
use super::{TetMesh, locate::Location};

/// Points in a mesh: each is a weighted sum of the corners of a tet.
///
/// A point outside goes with the nearest tet, as if that went on: a rotation or a stretch of the tet turns and
/// stretches what sticks out of it. Beyond [`REACH`] times the size of the tet that would magnify its every move, and
/// the point is carried by the nearest point of the mesh instead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedding {
    /// The tet of each point.
    pub tets: Vec<u32>,
    /// Its corners.
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
    /// Of points in a mesh; `None` for a mesh without tets, or if a point is not finite.
    pub fn new(mesh: &TetMesh, points: &[[f64; 3]]) -> Option<Self> {
        let locator = mesh.locator();
        let size = mesh.bounds().map_or(0.0, |[a, b]| distance(a, b));
        let mut out = Self::default();
        for &point in points {
            let found = locator.locate(point)?;
            let (weights, offset) = weigh(mesh, point, &found);
            out.tets.push(found.tet as u32);
            out.corners.push(mesh.tets[found.tet]);
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

    /// Where the points are when the vertices of the mesh are at `q` (flat).
    pub fn place(&self, q: &[f64]) -> Vec<f64> {
        let mut out = self.map(q);
        out.iter_mut().zip(self.offsets.iter().flatten()).for_each(|(x, o)| *x += o);
        out
    }

    /// A field of vectors at the vertices (flat), at the points.
    pub fn map(&self, field: &[f64]) -> Vec<f64> {
        let at = |(corners, weights): (&[u32; 4], &[f64; 4])| -> [f64; 3] {
            [0, 1, 2].map(|k| (0..4).map(|i| weights[i] * field[3 * corners[i] as usize + k]).sum())
        };
        self.corners.iter().zip(&self.weights).flat_map(at).collect()
    }
}

fn weigh(mesh: &TetMesh, point: V3, found: &Location) -> ([f64; 4], V3) {
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
