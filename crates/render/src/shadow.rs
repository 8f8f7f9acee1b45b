//! Shadows by a shadow map: the depths that the light sees.

use crate::drawn::Drawn;
use crate::raster::Samples;
use crate::vector::{V3, cross, dot, scale, sub, unit};

/// Rows and columns of the map.
const SIZE: usize = 1536;
/// Distance of the outermost sample of a soft edge, texels.
const SOFTNESS: f32 = 3.0;
/// A spiral of sixteen places in a disc of radius 1.
const SPIRAL: usize = 16;

/// What the light sees.
pub(crate) struct ShadowMap {
    /// To the light, and two directions across.
    axes: [V3; 3],
    centre: V3,
    texels_per_metre: f32,
    depth: Vec<f32>,
    spiral: [[f32; 2]; SPIRAL],
}

impl ShadowMap {
    /// For light from the direction `light` on triangles within a ball.
    pub fn new(drawn: &Drawn, light: V3, centre: V3, radius: f32) -> Self {
        let seed = if light[0].abs() < 0.8 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
        let u = unit(cross(light, seed));
        let axes = [light, u, cross(light, u)];
        let margin = SOFTNESS + 2.0;
        let texels_per_metre = (0.5 * SIZE as f32 - margin) / radius;
        let spiral = std::array::from_fn(|k| {
            // The golden angle spreads the places evenly.
            let (sin, cos) = (2.399_963 * k as f32).sin_cos();
            let r = SOFTNESS * ((k as f32 + 0.5) / SPIRAL as f32).sqrt();
            [r * cos, r * sin]
        });
        let mut map = Self { axes, centre, texels_per_metre, depth: Vec::new(), spiral };
        let mut samples = Samples::new(SIZE, 0..SIZE);
        for (k, t) in drawn.triangles.iter().enumerate() {
            samples.draw(k as u32, t.map(|v| map.place(drawn.positions[v as usize])), false);
        }
        map.depth = samples.depth;
        map
    }

    /// Column, row, and distance from the light, up to a constant.
    fn place(&self, p: V3) -> V3 {
        let p = sub(p, self.centre);
        let middle = 0.5 * SIZE as f32;
        let across = |axis: V3| middle + self.texels_per_metre * dot(p, axis);
        [across(self.axes[1]), across(self.axes[2]), -dot(p, self.axes[0])]
    }

    /// How much light reaches a point of a surface with this normal, 0 to 1.
    pub fn light_at(&self, p: V3, normal: V3) -> f32 {
        // Away from the surface, so that it does not shade itself: more where the light grazes.
        let slope = 1.0 - dot(normal, self.axes[0]).clamp(0.0, 1.0);
        let away = scale(normal, (1.0 + 2.5 * slope) * SOFTNESS / self.texels_per_metre);
        let [x, y, depth] = self.place(crate::vector::add(p, away));
        let lit = self.spiral.iter().filter(|[dx, dy]| {
            let (column, row) = ((x + dx) as i64, (y + dy) as i64);
            let inside = (0..SIZE as i64).contains(&column) && (0..SIZE as i64).contains(&row);
            !inside || self.depth[row as usize * SIZE + column as usize] >= depth
        });
        lit.count() as f32 / SPIRAL as f32
    }
}
