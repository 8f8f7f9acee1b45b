//! A perspective camera, and the light.

use crate::vector::{V3, add, dot, scale, sub, unit};
use lilyan_report::View;

/// Half of the vertical angle of view, rad.
const HALF_ANGLE: f32 = 0.26;

/// Where the picture is taken from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub eye: V3,
    right: V3,
    up: V3,
    forward: V3,
    /// Pixels per unit of tan(angle).
    focal: f32,
    centre: [f32; 2],
}

impl Camera {
    /// Looks as `view` does, from so far away that all points are in the picture, with a margin.
    pub fn new(view: &View, points: &[V3], [width, height]: [usize; 2]) -> Self {
        let of = |v: [f64; 3]| v.map(|x| x as f32);
        let (right, up, toward) = (of(view.right), of(view.up), of(view.toward));
        let middle = of(view.centre);
        let focal = 0.5 * height as f32 / HALF_ANGLE.tan();
        // A point p is in the picture from a distance d if |p·right| ≤ margin (d − p·toward) tan.
        let margin = 0.9;
        let tan = [0.5 * width as f32 / focal, 0.5 * height as f32 / focal];
        let mut distance = 0.0f32;
        for p in points {
            let p = sub(*p, middle);
            let (x, y, z) = (dot(p, right), dot(p, up), dot(p, toward));
            distance = distance.max(z + x.abs() / (margin * tan[0])).max(z + y.abs() / (margin * tan[1]));
        }
        let distance = if distance > 0.0 && distance.is_finite() { distance } else { 1.0 };
        Self {
            eye: add(middle, scale(toward, distance)),
            right,
            up,
            forward: scale(toward, -1.0),
            focal,
            centre: [0.5 * width as f32, 0.5 * height as f32],
        }
    }

    /// The same with so many samples along each side of a pixel.
    pub fn finer(&self, samples: usize) -> Self {
        let s = samples as f32;
        Self { focal: s * self.focal, centre: self.centre.map(|c| s * c), ..*self }
    }

    /// Column, row and depth of a point; `None` behind the camera.
    pub fn project(&self, p: V3) -> Option<V3> {
        let p = sub(p, self.eye);
        let depth = dot(p, self.forward);
        (depth > 0.0).then(|| {
            let scale = self.focal / depth;
            [self.centre[0] + scale * dot(p, self.right), self.centre[1] - scale * dot(p, self.up), depth]
        })
    }

    /// The direction in which a place of the picture is seen, of depth 1.
    pub fn ray(&self, x: f32, y: f32) -> V3 {
        let sideways = scale(self.right, (x - self.centre[0]) / self.focal);
        let upward = scale(self.up, (self.centre[1] - y) / self.focal);
        add(self.forward, add(sideways, upward))
    }

    /// Width of a pixel at depth 1.
    pub fn pixel(&self) -> f32 {
        1.0 / self.focal
    }

    /// The direction to a light above and behind the left shoulder. `up` is that of the scene.
    pub fn light(&self, up: V3) -> V3 {
        let toward = scale(self.forward, -1.0);
        unit(add(scale(up, 1.0), add(scale(toward, 0.55), scale(self.right, -0.5))))
    }
}
