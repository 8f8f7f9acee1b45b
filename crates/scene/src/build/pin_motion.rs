//! Where held vertices and obstacles are at a time, and how fast they move.

use super::shape::{apply, turn};
use crate::schema::{ContactSpec, PinMotion, RigidMotion, TimedRotation};
use lilyan_solid::contact::{ObstacleShape, Placement};

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

impl RigidMotion {
    /// Where it is at t.
    pub fn at(&self, t: f64) -> Placement {
        let displacement = std::array::from_fn(|k| self.displacement[k].eval(&[t]));
        match &self.rotation {
            None => Placement { displacement, ..Placement::START },
            Some(rotation) => {
                let angle = rotation.degrees.eval(&[t]).to_radians();
                Placement { rotation: turn(rotation.axis, angle), center: rotation.point, displacement }
            }
        }
    }
}

impl ContactSpec {
    /// The obstacle where it is at t, if it is contact with one.
    pub fn obstacle_at(&self, t: f64) -> Option<ObstacleShape> {
        let shape = self.obstacle()?;
        Some(self.motion.as_ref().map_or(shape, |motion| shape.placed(&motion.at(t))))
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
