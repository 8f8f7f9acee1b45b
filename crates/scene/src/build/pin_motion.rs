//! Where held vertices are at a time, and how fast they move.

use super::shape::{apply, turn};
use crate::schema::{PinMotion, TimedRotation};

impl PinMotion {
    /// Displacement (m) and velocity (m/s) at t of a vertex that starts at x.
    pub fn at(&self, t: f64, x: [f64; 3]) -> ([f64; 3], [f64; 3]) {
        let values = [x[0], x[1], x[2], t];
        let both: [(f64, f64); 3] = std::array::from_fn(|k| self.displacement[k].eval_dual(&values, 3));
        let (mut offset, mut rate) = (both.map(|b| b.0), both.map(|b| b.1));
        if let Some(rotation) = &self.rotation {
            let (moved, speed) = rotation.at(t, x);
            for k in 0..3 {
                offset[k] += moved[k];
                rate[k] += speed[k];
            }
        }
        (offset, rate)
    }
}

impl TimedRotation {
    /// Displacement and velocity at t of a point that starts at x.
    fn at(&self, t: f64, x: [f64; 3]) -> ([f64; 3], [f64; 3]) {
        let (degrees, per_second) = self.degrees.eval_dual(&[t], 0);
        let omega = per_second.to_radians();
        let arm = std::array::from_fn(|k| x[k] - self.point[k]);
        let turned = apply(&turn(self.axis, degrees.to_radians()), arm);
        let [a, b, c] = self.axis.map(|k| omega * k);
        let speed = apply(&[[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]], turned);
        (std::array::from_fn(|k| turned[k] - arm[k]), speed)
    }
}
