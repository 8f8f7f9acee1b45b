//! Snapshots as SVG: orthographic projection, farthest triangle first, Lambert shading.

use super::simplify::simplify;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Largest number of triangles. More would make a small picture larger without a visible difference.
const MAX_TRIANGLES: usize = 4_000;

/// Colours from low to high; the same stops as in the replay.
const COLOURS: [[f64; 3]; 6] = [
    [45.0, 42.0, 110.0],
    [38.0, 88.0, 155.0],
    [31.0, 135.0, 163.0],
    [50.0, 176.0, 140.0],
    [143.0, 207.0, 95.0],
    [246.0, 226.0, 77.0],
];
/// The colour of bodies without a field: red, green and blue from 0 to 255.
pub const PLAIN: [f64; 3] = [122.0, 158.0, 196.0];

/// An orthographic view: where the picture's axes point in space, and what fits into it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The point in the middle of the picture, m.
    pub centre: [f64; 3],
    /// Unit vector to the right in the picture.
    pub right: [f64; 3],
    /// Unit vector up in the picture.
    pub up: [f64; 3],
    /// Unit vector out of the picture, to the viewer.
    pub toward: [f64; 3],
    /// Half of the width and height that must be visible, m.
    pub half: [f64; 2],
}

impl View {
    /// A view from the side from which the points (flat xyz) spread most. It is raised and turned a little, so that depth is
    /// visible. `up` is the direction that points up in the picture.
    pub fn auto(positions: &[f64], up: [f64; 3]) -> Self {
        let up = unit(up);
        let seed = if up[0].abs() < 0.8 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
        let e1 = unit(minus(seed, scaled(up, dot(seed, up))));
        let e2 = cross(e1, up);
        let count = (positions.len() / 3).max(1) as f64;
        let points = || positions.chunks_exact(3).map(|p| [p[0], p[1], p[2]]);
        let mean = scaled(points().fold([0.0; 3], plus), 1.0 / count);
        let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
        for p in points() {
            let d = minus(p, mean);
            let (s, t) = (dot(d, e1), dot(d, e2));
            a += s * s;
            b += s * t;
            c += t * t;
        }
        // Principal direction of the points in the horizontal plane. If all directions are equal within rounding, a fixed one is
        // taken, since rounding errors would choose otherwise.
        let round = ((a - c).powi(2) + 4.0 * b * b).sqrt() <= 1e-6 * (a + c);
        let long = if round { 0.0 } else { 0.5 * (2.0 * b).atan2(a - c) };
        let along = plus(scaled(e1, long.cos()), scaled(e2, long.sin()));
        let along = if dot(along, e1) < 0.0 { scaled(along, -1.0) } else { along };
        Self::from_direction(positions, up, along, 0.45, 0.32)
    }

    /// A view in which `along` (horizontal) points to the right. It is then turned by `turn` about the vertical, raised by `lift`
    /// (both in radians), and fitted to the points.
    pub fn from_direction(positions: &[f64], up: [f64; 3], along: [f64; 3], turn: f64, lift: f64) -> Self {
        let up = unit(up);
        let along = unit(minus(along, scaled(up, dot(along, up))));
        let level = unit(cross(along, up));
        let flat = plus(scaled(level, turn.cos()), scaled(along, turn.sin()));
        let toward = plus(scaled(flat, lift.cos()), scaled(up, lift.sin()));
        let right = unit(cross(up, toward));
        let view = Self { centre: [0.0; 3], right, up: cross(toward, right), toward, half: [1.0; 2] };
        view.fitted(positions)
    }

    /// The same directions, centred on and fitted to the points.
    pub fn fitted(mut self, positions: &[f64]) -> Self {
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for p in positions.chunks_exact(3).filter(|p| p.iter().all(|x| x.is_finite())) {
            let p = [p[0], p[1], p[2]];
            for (k, axis) in [self.right, self.up, self.toward].into_iter().enumerate() {
                low[k] = low[k].min(dot(p, axis));
                high[k] = high[k].max(dot(p, axis));
            }
        }
        if low[0] > high[0] {
            (low, high) = ([-1.0; 3], [1.0; 3]);
        }
        let middle = [0, 1, 2].map(|k| 0.5 * (low[k] + high[k]));
        self.centre = plus(scaled(self.right, middle[0]), scaled(self.up, middle[1]));
        self.centre = plus(self.centre, scaled(self.toward, middle[2]));
        self.half = [0, 1].map(|k| 0.5 * (high[k] - low[k]));
        self
    }
}

/// A still picture of a surface as an `<svg>` element with a transparent background.
///
/// `positions` are flat xyz; `values`, one per vertex and already scaled to 0…1, choose the
/// colours (absent: one colour for all); `size` is the width and height in pixels. Triangles
/// that face away are left out if the surface is closed. Beyond 4,000 triangles a coarser
/// surface is drawn. Vertices that are not finite are left out with their triangles.
pub fn snapshot_svg(
    positions: &[f64],
    triangles: &[[u32; 3]],
    values: Option<&[f64]>,
    view: &View,
    size: [f64; 2],
) -> String {
    snapshot_with_lines(positions, triangles, &[], values, view, size, MAX_TRIANGLES)
}

/// [`snapshot_svg`] with line segments (ropes) and another limit on the triangles.
pub(super) fn snapshot_with_lines(
    positions: &[f64],
    triangles: &[[u32; 3]],
    lines: &[[u32; 2]],
    values: Option<&[f64]>,
    view: &View,
    size: [f64; 2],
    limit: usize,
) -> String {
    let coarse;
    let (mut triangles, mut lines) = (triangles, lines);
    let mut source: Option<&[u32]> = None;
    if triangles.len() > limit {
        // A surface has about two triangles per vertex.
        coarse = simplify(positions, triangles, lines, limit / 2);
        (triangles, lines, source) = (&coarse.triangles, &coarse.lines, Some(&coarse.source[..]));
    }
    let vertex = |v: u32| source.map_or(v, |s| s[v as usize]) as usize;
    let point = |v: u32| -> Option<[f64; 3]> {
        let p = positions.get(3 * vertex(v)..3 * vertex(v) + 3)?;
        p.iter().all(|x| x.is_finite()).then(|| minus([p[0], p[1], p[2]], view.centre))
    };
    let margin = 0.94;
    let fit = |k: usize| {
        if view.half[k] > 0.0 { margin * size[k] / (2.0 * view.half[k]) } else { f64::INFINITY }
    };
    let scale = fit(0).min(fit(1));
    let scale = if scale.is_finite() { scale } else { 1.0 };
    let project =
        |p: [f64; 3]| [0.5 * size[0] + scale * dot(p, view.right), 0.5 * size[1] - scale * dot(p, view.up)];

    let closed = is_closed(triangles);
    let light = unit(plus(plus(scaled(view.toward, 0.7), scaled(view.up, 0.75)), scaled(view.right, -0.35)));
    let mut faces = Vec::new();
    for (k, t) in triangles.iter().enumerate() {
        let (Some(a), Some(b), Some(c)) = (point(t[0]), point(t[1]), point(t[2])) else {
            continue;
        };
        let mut normal = unit(cross(minus(b, a), minus(c, a)));
        if dot(normal, view.toward) < 0.0 {
            if closed {
                continue;
            }
            normal = scaled(normal, -1.0);
        }
        let value =
            values.map(|f| t.iter().map(|&v| f.get(vertex(v)).copied().unwrap_or(0.0)).sum::<f64>() / 3.0);
        let depth = dot(a, view.toward) + dot(b, view.toward) + dot(c, view.toward);
        let shade = 0.46 + 0.52 * dot(normal, light).max(0.0) + 0.1 * dot(normal, view.toward);
        faces.push((depth, k, [a, b, c].map(project), scaled(value.map_or(PLAIN, colour), shade)));
    }
    faces.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\"><g fill=\"currentColor\" stroke=\"currentColor\" stroke-width=\".7\" stroke-linejoin=\"round\">",
        w = size[0],
        h = size[1]
    );
    for (_, _, [a, b, c], rgb) in faces {
        let [red, green, blue] = rgb.map(|x| x.clamp(0.0, 255.0).round() as u8);
        let _ = write!(
            svg,
            "<path color=\"#{red:02x}{green:02x}{blue:02x}\" d=\"M{} {}L{} {} {} {}z\"/>",
            tenth(a[0]),
            tenth(a[1]),
            tenth(b[0]),
            tenth(b[1]),
            tenth(c[0]),
            tenth(c[1])
        );
    }
    svg.push_str("</g>");
    let mut path = String::new();
    for l in lines {
        if let (Some(a), Some(b)) = (point(l[0]).map(project), point(l[1]).map(project)) {
            let _ = write!(path, "M{} {}L{} {}", tenth(a[0]), tenth(a[1]), tenth(b[0]), tenth(b[1]));
        }
    }
    if !path.is_empty() {
        let _ = write!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"#4f7fb3\" stroke-width=\"2\" stroke-linecap=\"round\"/>"
        );
    }
    svg.push_str("</svg>");
    svg
}

/// Whether every edge is used once in each direction.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut edges = BTreeSet::new();
    let distinct = triangles.iter().all(|t| (0..3).all(|k| edges.insert((t[k], t[(k + 1) % 3]))));
    distinct && edges.iter().all(|&(a, b)| edges.contains(&(b, a)))
}

/// The colour of a value that is scaled to 0…1: red, green and blue from 0 to 255.
pub fn colour(t: f64) -> [f64; 3] {
    let last = COLOURS.len() - 1;
    let u = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 } * last as f64;
    let k = (u as usize).min(last - 1);
    let s = u - k as f64;
    [0, 1, 2].map(|i| COLOURS[k][i] + s * (COLOURS[k + 1][i] - COLOURS[k][i]))
}

fn tenth(x: f64) -> f64 {
    // Adding zero turns −0 into 0.
    (x * 10.0).round() / 10.0 + 0.0
}

fn plus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn scaled(a: [f64; 3], s: f64) -> [f64; 3] {
    a.map(|x| x * s)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = dot(a, a).sqrt();
    if length > 0.0 { scaled(a, 1.0 / length) } else { a }
}
