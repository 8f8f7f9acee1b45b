//! What a picture shows: triangles with normals and colours, the floor, and balls.

use crate::vector::{V3, add, cross, scale, sub, to_linear, unit};
use lilyan_exchange::{AnimatedBody, Animation, ColourScale, CreasedSurface, Surface, vertex_normals};
use lilyan_report::{PLAIN, colour};
use lilyan_solid::mesh::TriMesh;

/// Triangles, ready to be drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawn {
    pub positions: Vec<V3>,
    pub normals: Vec<V3>,
    /// Linear red, green and blue.
    pub colours: Vec<V3>,
    pub triangles: Vec<[u32; 3]>,
    /// Points and normals of planes.
    pub planes: Vec<[V3; 2]>,
    /// Centres and radii.
    pub balls: Vec<(V3, f32)>,
}

/// Colours of bodies without a field, one after the other; the first is that of reports.
const BODIES: [[f64; 3]; 6] = [
    PLAIN,
    [226.0, 147.0, 92.0],
    [126.0, 178.0, 121.0],
    [196.0, 122.0, 158.0],
    [214.0, 183.0, 92.0],
    [134.0, 134.0, 190.0],
];

/// Thickness of springs as a share of the size of what is shown.
const SPRING: f32 = 0.004;

impl Drawn {
    /// Adds the bodies of an animation at a time between its frames: `frame` + `share`. `creased` are the surfaces of the
    /// bodies, `size` is the size of what is shown, m.
    pub fn add_bodies(
        &mut self,
        animation: &Animation,
        creased: &[CreasedSurface],
        (frame, share): (usize, f64),
        size: f32,
    ) {
        for (b, (body, creased)) in animation.bodies.iter().zip(creased).enumerate() {
            let positions =
                between(&body.positions, frame, share, |a, b, s| [0, 1, 2].map(|k| a[k] + s * (b[k] - a[k])));
            let values = between(&body.values, frame, share, |a, b, s| a + s * (b - a));
            let plain = BODIES[b % BODIES.len()];
            let colours = vertex_colours(body, &values, animation.scale.as_ref(), plain);
            if body.surface.triangles.is_empty() {
                self.add_springs(&positions, &body.surface.lines, &colours, SPRING * size);
                continue;
            }
            let split: Vec<[f64; 3]> = creased.source.iter().map(|v| positions[*v as usize]).collect();
            self.add_split(&split, creased, &colours);
        }
    }

    /// Adds the surface of an obstacle.
    pub fn add_obstacle(&mut self, surface: &TriMesh, colour: V3) {
        let all = Surface {
            source: (0..surface.vertices.len() as u32).collect(),
            triangles: surface.triangles.clone(),
            lines: Vec::new(),
        };
        let creased = all.creased(&surface.vertices);
        let split: Vec<[f64; 3]> = creased.source.iter().map(|v| surface.vertices[*v as usize]).collect();
        let colours = vec![colour; surface.vertices.len()];
        self.add_split(&split, &creased, &colours);
    }

    fn add_split(&mut self, split: &[[f64; 3]], creased: &CreasedSurface, colours: &[V3]) {
        let first = self.positions.len() as u32;
        let normals = vertex_normals(split, &creased.triangles);
        self.positions.extend(split.iter().map(|p| p.map(|x| x as f32)));
        self.normals.extend(normals.iter().map(|n| n.map(|x| x as f32)));
        self.colours.extend(creased.source.iter().map(|v| colours[*v as usize]));
        self.triangles.extend(creased.triangles.iter().map(|t| t.map(|v| v + first)));
    }

    /// Springs as six-sided rods.
    fn add_springs(&mut self, positions: &[[f64; 3]], lines: &[[u32; 2]], colours: &[V3], radius: f32) {
        for ends in lines {
            let [a, b] = ends.map(|v| positions[v as usize].map(|x| x as f32));
            let along = unit(sub(b, a));
            let seed = if along[0].abs() < 0.8 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
            let u = unit(cross(along, seed));
            let v = cross(along, u);
            let first = self.positions.len() as u32;
            for k in 0..6 {
                let (sin, cos) = (std::f32::consts::TAU * k as f32 / 6.0).sin_cos();
                let normal = add(scale(u, cos), scale(v, sin));
                for (end, node) in [a, b].into_iter().zip(ends) {
                    self.positions.push(add(end, scale(normal, radius)));
                    self.normals.push(normal);
                    self.colours.push(colours[*node as usize]);
                }
            }
            for k in 0..6 {
                let [p, q] = [first + 2 * k, first + 2 * ((k + 1) % 6)];
                self.triangles.extend([[p, q, q + 1], [p, q + 1, p + 1]]);
            }
        }
    }
}

fn vertex_colours(
    body: &AnimatedBody,
    values: &[f64],
    field: Option<&ColourScale>,
    plain: [f64; 3],
) -> Vec<V3> {
    let linear = |c: [f64; 3]| c.map(|x| to_linear(x as f32 / 255.0));
    match field {
        Some(field) => values.iter().map(|x| linear(colour(field.scaled(*x)))).collect(),
        None => vec![linear(plain); body.surface.source.len()],
    }
}

/// What lies a share of the way from a frame to the next; empty if there are no frames.
fn between<T: Copy>(frames: &[Vec<T>], frame: usize, share: f64, mix: impl Fn(T, T, f64) -> T) -> Vec<T> {
    match (frames.get(frame), frames.get(frame + 1)) {
        (Some(a), Some(b)) if share > 0.0 => a.iter().zip(b).map(|(a, b)| mix(*a, *b, share)).collect(),
        (Some(a), _) => a.clone(),
        (None, _) => Vec::new(),
    }
}
