//! A picture of triangles, planes and balls: four samples per pixel, light from the sky, the ground and one lamp, shadows.

use crate::camera::Camera;
use crate::drawn::Drawn;
use crate::image::Image;
use crate::raster::Samples;
use crate::shadow::ShadowMap;
use crate::vector::{V3, add, dot, mix, scale, smoothstep, sub, to_screen, unit};
use lilyan_parallel::threads::par_chunks_mut;

/// Samples along each side of a pixel.
const SAMPLES: usize = 2;
/// Rows of pixels that a thread draws at a time.
const BAND: usize = 16;

const SKY: V3 = [0.52, 0.56, 0.62];
const GROUND: V3 = [0.30, 0.28, 0.26];
const LAMP: V3 = [0.80, 0.77, 0.72];
const BACKGROUND: [V3; 2] = [[0.78, 0.83, 0.89], [0.93, 0.94, 0.95]];
const FLOOR: V3 = [0.70, 0.71, 0.72];
/// Of balls and other obstacles.
pub(crate) const OBSTACLE: V3 = [0.55, 0.55, 0.56];

/// What does not change from picture to picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage {
    pub camera: Camera,
    /// The direction that points up in the scene.
    pub up: V3,
    /// A ball that holds everything that is drawn, m.
    pub centre: V3,
    pub radius: f32,
    /// Distance of the lines on the floor, m.
    pub grid: f32,
    pub size: [usize; 2],
}

/// Draws a picture.
pub(crate) fn draw(stage: &Stage, drawn: &Drawn) -> Image {
    let [width, height] = stage.size;
    let light = stage.camera.light(stage.up);
    let lit = Lit {
        stage,
        drawn,
        light,
        camera: stage.camera.finer(SAMPLES),
        shadow: ShadowMap::new(drawn, light, stage.centre, stage.radius),
    };
    let placed: Vec<Option<V3>> = drawn.positions.iter().map(|p| lit.camera.project(*p)).collect();
    let mut image = Image::new(width, height, [0; 3]);
    par_chunks_mut(&mut image.pixels, 3 * width * BAND, |band, pixels| {
        let rows = pixels.len() / (3 * width);
        let first = SAMPLES * BAND * band;
        let mut samples = Samples::new(SAMPLES * width, first..first + SAMPLES * rows);
        for (k, t) in drawn.triangles.iter().enumerate() {
            if let [Some(a), Some(b), Some(c)] = t.map(|v| placed[v as usize]) {
                samples.draw(k as u32, [a, b, c], true);
            }
        }
        for row in 0..rows {
            for column in 0..width {
                let mut sum = [0.0; 3];
                for sample in 0..SAMPLES * SAMPLES {
                    let x = SAMPLES * column + sample % SAMPLES;
                    let y = SAMPLES * row + sample / SAMPLES;
                    sum = add(sum, lit.sample(&samples, x, y, first));
                }
                let mean = scale(sum, 1.0 / (SAMPLES * SAMPLES) as f32);
                let at = 3 * (row * width + column);
                pixels[at..at + 3].copy_from_slice(&mean.map(to_screen));
            }
        }
    });
    image
}

/// Everything that light falls on.
struct Lit<'a> {
    stage: &'a Stage,
    drawn: &'a Drawn,
    light: V3,
    camera: Camera,
    shadow: ShadowMap,
}

/// A place on a surface.
struct Spot {
    place: V3,
    normal: V3,
    colour: V3,
}

impl Lit<'_> {
    /// What is seen through a sample; its row counts from `first`.
    fn sample(&self, samples: &Samples, x: usize, y: usize, first: usize) -> V3 {
        let ray = self.camera.ray(x as f32 + 0.5, (first + y) as f32 + 0.5);
        let at = y * samples.width + x;
        let mut depth = samples.depth[at];
        let mut seen = depth.is_finite().then(|| self.spot(samples, at, ray));
        for (centre, radius) in &self.drawn.balls {
            if let Some(t) = meets_ball(self.camera.eye, ray, *centre, *radius).filter(|t| *t < depth) {
                depth = t;
                let place = add(self.camera.eye, scale(ray, t));
                seen = Some(Spot { place, normal: unit(sub(place, *centre)), colour: OBSTACLE });
            }
        }
        let upward = 0.5 + 0.5 * dot(unit(ray), self.stage.up);
        let mut behind = mix(BACKGROUND[1], BACKGROUND[0], upward.clamp(0.0, 1.0));
        if seen.is_none() {
            for [point, normal] in &self.drawn.planes {
                let facing = dot(ray, *normal);
                let t = dot(sub(*point, self.camera.eye), *normal) / facing;
                if facing < 0.0 && t > 0.0 && t < depth {
                    depth = t;
                    behind = self.floor(add(self.camera.eye, scale(ray, t)), *normal, t, behind);
                }
            }
            return behind;
        }
        // Parts of a body that lie below a plane stay visible: a picture does not hide a penetration.
        seen.map_or(behind, |spot| self.shade(&spot, unit(ray)))
    }

    fn spot(&self, samples: &Samples, at: usize, ray: V3) -> Spot {
        let t = self.drawn.triangles[samples.triangle[at] as usize];
        let [b, c] = samples.weights[at];
        let of = |values: &[V3]| {
            let [va, vb, vc] = t.map(|v| values[v as usize]);
            add(scale(va, 1.0 - b - c), add(scale(vb, b), scale(vc, c)))
        };
        let mut normal = unit(of(&self.drawn.normals));
        if dot(normal, ray) > 0.0 {
            // The inner side of a sheet, or a silhouette.
            let [p, q, r] = t.map(|v| self.drawn.positions[v as usize]);
            let face = crate::vector::cross(sub(q, p), sub(r, p));
            if dot(face, ray) > 0.0 {
                normal = scale(normal, -1.0);
            }
        }
        Spot {
            place: add(self.camera.eye, scale(ray, samples.depth[at])),
            normal,
            colour: of(&self.drawn.colours),
        }
    }

    /// Light that a spot sends to the camera.
    fn shade(&self, spot: &Spot, ray: V3) -> V3 {
        let around = mix(GROUND, SKY, 0.5 + 0.5 * dot(spot.normal, self.stage.up));
        let facing = dot(spot.normal, self.light).max(0.0);
        let reached = if facing > 0.0 { self.shadow.light_at(spot.place, spot.normal) } else { 0.0 };
        let half = unit(sub(self.light, ray));
        let gloss = 0.10 * reached * dot(spot.normal, half).max(0.0).powi(36);
        // Edges that turn away are a little darker, which shows the shape.
        let rim = 0.82 + 0.18 * (-dot(spot.normal, ray)).clamp(0.0, 1.0);
        std::array::from_fn(|k| {
            spot.colour[k] * rim * (around[k] + LAMP[k] * facing * reached) + gloss * facing.min(1.0)
        })
    }

    /// The floor: lines, shadows, and far away the background.
    fn floor(&self, place: V3, normal: V3, depth: f32, behind: V3) -> V3 {
        let reached = self.shadow.light_at(place, normal);
        let far = sub(place, self.stage.centre);
        let far = dot(far, far).sqrt() / self.stage.radius;
        let seed = if normal[0].abs() < 0.8 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
        let u = unit(crate::vector::cross(normal, seed));
        let v = crate::vector::cross(normal, u);
        let width = 0.75 * self.camera.pixel() * depth * SAMPLES as f32;
        let line = |axis: V3| {
            let x = dot(place, axis) / self.stage.grid;
            let off = (x - x.round()).abs() * self.stage.grid;
            1.0 - smoothstep(width, 2.0 * width, off)
        };
        let lines = 0.10 * line(u).max(line(v));
        let bright = (1.0 - lines) * (0.62 + 0.38 * reached);
        mix(scale(FLOOR, bright), behind, smoothstep(1.6, 5.0, far))
    }
}

/// The nearest depth at which a ray meets a ball.
fn meets_ball(eye: V3, ray: V3, centre: V3, radius: f32) -> Option<f32> {
    let from = sub(eye, centre);
    let (a, b, c) = (dot(ray, ray), dot(from, ray), dot(from, from) - radius * radius);
    let root = b * b - a * c;
    let t = (-b - root.max(0.0).sqrt()) / a;
    (root > 0.0 && t > 0.0).then_some(t)
}
