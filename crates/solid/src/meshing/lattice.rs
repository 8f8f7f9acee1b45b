//! The body-centred cubic lattice of the stuffing.

use super::{MeshingError, fail, metres};
use crate::math::vector::V3;

/// More lattice points than this are refused: some gigabytes.
const MOST_POINTS: f64 = 60e6;

/// Lattice of cubes: corners first, then centres. A point has doubled coordinates, even for
/// corners and odd for centres.
pub(crate) struct Lattice {
    origin: V3,
    edge: f64,
    /// Cubes along the axes.
    pub cells: [usize; 3],
}

impl Lattice {
    pub fn new([lo, hi]: [V3; 2], edge: f64) -> Result<Self, MeshingError> {
        // One cell of margin all around, centred, so that symmetric shapes get symmetric meshes.
        let wanted = [0, 1, 2].map(|i| ((hi[i] - lo[i]) / edge).ceil() + 2.0);
        let points = 2.0 * wanted.iter().map(|n| n + 1.0).product::<f64>();
        if points.is_nan() || points > MOST_POINTS {
            return fail(format!(
                "a lattice of edge {} over a box of {} × {} × {} has more than {} million points: use a larger edge length",
                metres(edge),
                metres(hi[0] - lo[0]),
                metres(hi[1] - lo[1]),
                metres(hi[2] - lo[2]),
                MOST_POINTS / 1e6
            ));
        }
        let origin = [0, 1, 2].map(|i| 0.5 * (lo[i] + hi[i]) - 0.5 * edge * wanted[i]);
        Ok(Self { origin, edge, cells: wanted.map(|n| n as usize) })
    }

    fn corners(&self) -> usize {
        self.cells.iter().map(|n| n + 1).product()
    }

    pub fn len(&self) -> usize {
        self.corners() + self.cells.iter().product::<usize>()
    }

    pub fn number(&self, x: [usize; 3]) -> u32 {
        let odd = x[0] & 1;
        let n = self.cells.map(|n| n + 1 - odd);
        let linear = x[0] / 2 + n[0] * (x[1] / 2 + n[1] * (x[2] / 2));
        (linear + odd * self.corners()) as u32
    }

    pub fn doubled(&self, number: u32) -> [usize; 3] {
        let (odd, k) = match (number as usize).checked_sub(self.corners()) {
            Some(k) => (1, k),
            None => (0, number as usize),
        };
        let n = self.cells.map(|n| n + 1 - odd);
        [k % n[0], k / n[0] % n[1], k / n[0] / n[1]].map(|i| 2 * i + odd)
    }

    pub fn is_centre(&self, number: u32) -> bool {
        number as usize >= self.corners()
    }

    pub fn position(&self, number: u32) -> V3 {
        let x = self.doubled(number);
        [0, 1, 2].map(|i| self.origin[i] + 0.5 * self.edge * x[i] as f64)
    }

    /// The 6 long and 8 short neighbours, as far as they exist.
    pub fn neighbours(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let x = self.doubled(number).map(|i| i as isize);
        let long = [0, 1, 2].into_iter().flat_map(|i| {
            [-2, 2].map(|s| {
                let mut d = [0; 3];
                d[i] = s;
                d
            })
        });
        let short = (0..8).map(|b| [0, 1, 2].map(|i| if b >> i & 1 == 0 { -1 } else { 1 }));
        long.chain(short).filter_map(move |d| {
            let y = [0, 1, 2].map(|i| x[i] + d[i]);
            let odd = y[0] & 1;
            let exists = (0..3).all(|i| y[i] >= 0 && y[i] <= 2 * self.cells[i] as isize - odd);
            exists.then(|| self.number(y.map(|i| i as usize)))
        })
    }
}
