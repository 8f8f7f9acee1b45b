//! The recorded motion, rounded so that it needs few bytes and looks the same.
//!
//! Positions are relative to the box of their frame and rounded to 1/65,535 of the largest such box. The accuracy therefore does
//! not depend on how far a body moves. Fields are rounded to 256 levels. Every second frame of a long run is left out, repeatedly
//! if necessary. Large surfaces get fewer vertices. The page tells what is left out.

use super::decimate::{json_number, json_numbers};
use super::encode::{base64, json_string};
use super::simplify::{Simplified, simplify};
use super::snapshot::{View, snapshot_with_lines};
use std::fmt::Write;

/// Largest number of vertices. It is enough for the size of the picture, and the page can hold about eighty frames of them.
const MAX_VERTICES: usize = 12_000;
/// Bytes for positions and fields. In base64 they take a third more, about 9 MB of the page.
const MAX_BYTES: usize = 6_900_000;

/// A field that can colour the replay.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    name: String,
    unit: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Frame {
    number: usize,
    time: f64,
    /// The frame's lowest corner, m; positions are relative to it, so single precision suffices.
    origin: [f64; 3],
    positions: Vec<f32>,
    /// All fields, one after the other.
    values: Vec<f32>,
}

/// A surface in motion, recorded frame by frame within bounded memory.
///
/// Vertex numbers are those of the caller's arrays; only what the triangles and lines use is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    surface: Simplified,
    all_vertices: usize,
    fields: Vec<Field>,
    pinned: Vec<u32>,
    ground: Option<([f64; 3], [f64; 3])>,
    /// Centres and radii.
    spheres: Vec<([f64; 3], f64)>,
    up: [f64; 3],
    /// Texts, each with some of the vertices that it is shown above.
    labels: Vec<(String, Vec<u32>)>,
    snapshots: bool,
    frames: Vec<Frame>,
    /// The newest frame, if it is not one of those kept. The end is therefore always shown.
    last: Option<Frame>,
    stride: usize,
    seen: usize,
    max_bytes: usize,
}

impl Replay {
    /// A replay of the surface that has these triangles and lines. `positions` (flat xyz, m) are a configuration of it, preferably
    /// at rest.
    pub fn new(positions: &[f64], triangles: &[[u32; 3]], lines: &[[u32; 2]]) -> Self {
        let surface = simplify(positions, triangles, lines, MAX_VERTICES);
        let all_vertices = surface.stands_for.iter().filter(|&&v| v != u32::MAX).count();
        Self {
            surface,
            all_vertices,
            fields: Vec::new(),
            pinned: Vec::new(),
            ground: None,
            spheres: Vec::new(),
            up: [0.0, 1.0, 0.0],
            labels: Vec::new(),
            snapshots: true,
            frames: Vec::new(),
            last: None,
            stride: 1,
            seen: 0,
            max_bytes: MAX_BYTES,
        }
    }

    /// Adds a field for colours, before the first frame. Frames must then have its values.
    pub fn with_field(mut self, name: impl Into<String>, unit: impl Into<String>) -> Self {
        self.fields.push(Field { name: name.into(), unit: unit.into() });
        self
    }

    /// Marks pinned vertices; those inside the body are not shown.
    pub fn with_pinned(mut self, vertices: &[u32]) -> Self {
        let shown = vertices.iter().filter_map(|&v| self.surface.stands_for.get(v as usize));
        self.pinned = shown.copied().filter(|&v| v != u32::MAX).collect();
        self.pinned.sort_unstable();
        self.pinned.dedup();
        self
    }

    /// Shows a ground plane through `point` with this normal.
    pub fn with_ground(mut self, point: [f64; 3], normal: [f64; 3]) -> Self {
        self.ground = Some((point, normal));
        self
    }

    /// Shows a sphere, by circles on it.
    pub fn with_sphere(mut self, center: [f64; 3], radius: f64) -> Self {
        self.spheres.push((center, radius));
        self
    }

    /// Sets the direction that points up on the screen (the default is y).
    pub fn with_up(mut self, up: [f64; 3]) -> Self {
        if up.iter().all(|x| x.is_finite()) && up != [0.0; 3] {
            self.up = up;
        }
        self
    }

    /// Shows a text above these vertices. It moves with them.
    pub fn with_label(mut self, text: impl Into<String>, vertices: std::ops::Range<u32>) -> Self {
        let kept = vertices.filter_map(|v| self.surface.stands_for.get(v as usize).copied());
        let mut kept: Vec<u32> = kept.filter(|&v| v != u32::MAX).collect();
        kept.dedup();
        // A few dozen vertices are enough to place the text.
        let every = kept.len().div_ceil(64).max(1);
        let some: Vec<u32> = kept.into_iter().step_by(every).collect();
        if !some.is_empty() {
            self.labels.push((text.into(), some));
        }
        self
    }

    /// Leaves out the still pictures of the motion.
    pub fn without_snapshots(mut self) -> Self {
        self.snapshots = false;
        self
    }

    pub(super) fn has_snapshots(&self) -> bool {
        self.snapshots
    }

    /// Sets the bytes that positions and fields may take on the page (the default keeps it below
    /// about 12 MB).
    pub fn with_budget(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Records a frame: positions of all vertices (flat xyz, m), and for each field added with
    /// [`Replay::with_field`] one value per vertex (missing ones are shown as zero).
    ///
    /// A frame whose shown positions are not all finite is left out.
    pub fn push(&mut self, time: f64, positions: &[f64], fields: &[&[f64]]) {
        let coordinate = |v: u32, k: usize| positions.get(3 * v as usize + k).copied().unwrap_or(f64::NAN);
        let mut low = [f64::INFINITY; 3];
        for &v in &self.surface.source {
            for k in 0..3 {
                let x = coordinate(v, k);
                if !x.is_finite() {
                    return;
                }
                low[k] = low[k].min(x);
            }
        }
        if self.surface.source.is_empty() || !time.is_finite() {
            return;
        }
        let source = &self.surface.source;
        let shown = source.iter().flat_map(|&v| (0..3).map(move |k| (coordinate(v, k) - low[k]) as f32));
        let mut values = Vec::with_capacity(source.len() * self.fields.len());
        for f in 0..self.fields.len() {
            let value = |v: &u32| fields.get(f).and_then(|x| x.get(*v as usize)).copied().unwrap_or(0.0);
            values.extend(source.iter().map(|v| value(v) as f32));
        }
        let frame = Frame { number: self.seen, time, origin: low, positions: shown.collect(), values };
        self.seen += 1;
        if frame.number.is_multiple_of(self.stride) {
            self.last = None;
            self.frames.push(frame);
            // Twice as many frames are kept as fit into the page, so that the frames that are chosen at the end are evenly spaced.
            if self.frames.len() > 2 * self.capacity() {
                self.stride *= 2;
                self.last = self.frames.last().cloned();
                self.frames.retain(|f| f.number.is_multiple_of(self.stride));
                if self.frames.last() == self.last.as_ref() {
                    self.last = None;
                }
            }
        } else {
            self.last = Some(frame);
        }
    }

    /// Number of frames recorded so far, shown or not.
    pub fn recorded(&self) -> usize {
        self.seen
    }

    fn capacity(&self) -> usize {
        let bytes = self.surface.source.len() * (6 + self.fields.len());
        (self.max_bytes / bytes.max(1)).clamp(2, 5_000)
    }

    /// The frames that go on the page: evenly spaced, first and last included.
    fn chosen(&self) -> Vec<&Frame> {
        let all: Vec<&Frame> = self.frames.iter().chain(&self.last).collect();
        let every = all.len().saturating_sub(1).div_ceil((self.capacity() - 1).max(1)).max(1);
        let last = all.len().saturating_sub(1);
        let kept = all.iter().enumerate().filter(|(k, _)| k % every == 0 || *k == last);
        kept.map(|(_, f)| *f).collect()
    }

    /// Whether there is anything to show.
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty() || self.surface.source.is_empty()
    }

    /// What was left out to keep the page small; empty if nothing was.
    pub(super) fn reduction(&self) -> String {
        let (frames, vertices) = (self.chosen().len(), self.surface.source.len());
        let mut parts = Vec::new();
        if frames < self.seen {
            parts.push(format!("{frames} of the {} recorded frames", self.seen));
        }
        if vertices < self.all_vertices {
            parts.push(format!("{vertices} of the {} surface vertices", self.all_vertices));
        }
        match parts.len() {
            0 => String::new(),
            _ => format!(
                "To keep this page small, the replay shows {}; the files hold everything.",
                parts.join(" and ")
            ),
        }
    }

    /// Range of a field over the frames, and whether its upper end was lowered. It is lowered if the largest value is
    /// more than twice as far above the lowest as the 99.5 % quantile is, because almost all vertices would have one colour
    /// otherwise.
    fn range(&self, frames: &[&Frame], field: usize) -> (f32, f32, bool) {
        let n = self.surface.source.len();
        let values = frames.iter().flat_map(|f| &f.values[n * field..n * (field + 1)]);
        let mut all: Vec<f32> = values.copied().filter(|x| x.is_finite()).collect();
        all.sort_unstable_by(f32::total_cmp);
        let (Some(&low), Some(&high)) = (all.first(), all.last()) else {
            return (0.0, 1.0, false);
        };
        let most = all[(all.len() - 1) * 995 / 1000];
        let (high, cut) =
            if high - low > 2.0 * (most - low) && most > low { (most, true) } else { (high, false) };
        (low, if high > low { high } else { low + low.abs().max(1.0) * 1e-3 }, cut)
    }

    /// The data block that the page's script reads.
    pub(super) fn json(&self) -> String {
        let frames = self.chosen();
        let n = self.surface.source.len();
        let mut extent = [0f32; 3];
        for p in frames.iter().flat_map(|f| f.positions.as_chunks::<3>().0) {
            for k in 0..3 {
                extent[k] = extent[k].max(p[k]);
            }
        }
        let centre = frames.first().map_or([0.0; 3], |f| f.origin);
        let mut positions = Vec::with_capacity(6 * n * frames.len());
        for p in frames.iter().flat_map(|f| f.positions.as_chunks::<3>().0) {
            for k in 0..3 {
                let level =
                    if extent[k] > 0.0 { f64::from(p[k]) / f64::from(extent[k]) * 65535.0 } else { 0.0 };
                positions.extend_from_slice(&(level.round() as u16).to_le_bytes());
            }
        }
        let words =
            |values: &[u32]| base64(&values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());

        let mut out = format!("{{\"vertices\":{n},\"times\":");
        json_numbers(&frames.iter().map(|f| f.time).collect::<Vec<_>>(), &mut out);
        out.push_str(",\"offsets\":[");
        for (k, frame) in frames.iter().enumerate() {
            out.push_str(if k > 0 { "," } else { "" });
            json_numbers(&[0, 1, 2].map(|k| frame.origin[k] - centre[k]), &mut out);
        }
        out.push_str("],\"extent\":");
        json_numbers(&extent.map(f64::from), &mut out);
        out.push_str(",\"up\":");
        json_numbers(&self.up, &mut out);
        out.push_str(",\"ground\":");
        match &self.ground {
            Some((point, normal)) => {
                out.push_str("{\"point\":");
                json_numbers(&[0, 1, 2].map(|k| point[k] - centre[k]), &mut out);
                out.push_str(",\"normal\":");
                json_numbers(normal, &mut out);
                out.push('}');
            }
            None => out.push_str("null"),
        }
        out.push_str(",\"spheres\":[");
        for (k, (center, radius)) in self.spheres.iter().enumerate() {
            out.push_str(if k > 0 { "," } else { "" });
            let [x, y, z] = [0, 1, 2].map(|k| center[k] - centre[k]);
            json_numbers(&[x, y, z, *radius], &mut out);
        }
        out.push(']');
        let _ = write!(out, ",\"pinned\":{:?},\"labels\":[", self.pinned);
        for (k, (text, vertices)) in self.labels.iter().enumerate() {
            let comma = if k > 0 { "," } else { "" };
            let text = json_string(text);
            let _ = write!(out, "{comma}{{\"text\":{text},\"vertices\":{vertices:?}}}");
        }
        out.push(']');
        let _ = write!(out, ",\"triangles\":\"{}\"", words(self.surface.triangles.as_flattened()));
        let _ = write!(out, ",\"lines\":\"{}\"", words(self.surface.lines.as_flattened()));
        let _ = write!(out, ",\"positions\":\"{}\",\"fields\":[", base64(&positions));
        for (k, field) in self.fields.iter().enumerate() {
            let (low, high, cut) = self.range(&frames, k);
            let level = |x: &f32| ((x - low) / (high - low) * 255.0).clamp(0.0, 255.0).round() as u8;
            let bytes: Vec<u8> =
                frames.iter().flat_map(|f| &f.values[n * k..n * (k + 1)]).map(level).collect();
            out.push_str(if k > 0 { "," } else { "" });
            let _ = write!(
                out,
                "{{\"name\":{},\"unit\":{},\"low\":",
                json_string(&field.name),
                json_string(&field.unit)
            );
            json_number(f64::from(low), &mut out);
            out.push_str(",\"high\":");
            json_number(f64::from(high), &mut out);
            let _ = write!(out, ",\"clipped\":{cut},\"values\":\"{}\"}}", base64(&bytes));
        }
        out.push_str("]}");
        out
    }

    /// Up to `count` snapshots of the motion, evenly spaced in time, with their times.
    pub(super) fn snapshots(&self, count: usize, size: [f64; 2]) -> Vec<(f64, String)> {
        let frames = self.chosen();
        let (Some(first), Some(last)) = (frames.first(), frames.last()) else {
            return Vec::new();
        };
        let mut picked: Vec<&Frame> = Vec::new();
        for k in 0..count {
            let time = first.time + (last.time - first.time) * k as f64 / (count - 1).max(1) as f64;
            let nearest =
                frames.iter().min_by(|a, b| (a.time - time).abs().total_cmp(&(b.time - time).abs()));
            picked.extend(nearest.filter(|f| picked.last().is_none_or(|p| p.number != f.number)));
        }
        let absolute = |f: &Frame| -> Vec<f64> {
            let shift = |(k, x): (usize, &f32)| f64::from(*x) + f.origin[k % 3] - first.origin[k % 3];
            f.positions.iter().enumerate().map(shift).collect()
        };
        let mut shapes: Vec<Vec<f64>> = picked.iter().map(|f| absolute(f)).collect();
        if travels(&shapes) {
            // In a picture of its whole path, a body that moves far would be too small to see.
            shapes.iter_mut().for_each(|s| centre(s));
        }
        let view = View::auto(&shapes.concat(), self.up);
        let ranges = (!self.fields.is_empty()).then(|| self.range(&frames, 0));
        let n = self.surface.source.len();
        let draw = |(frame, shape): (&&Frame, &Vec<f64>)| {
            let values = ranges.map(|(low, high, _)| -> Vec<f64> {
                frame.values[..n].iter().map(|x| f64::from((x - low) / (high - low))).collect()
            });
            let (triangles, lines) = (&self.surface.triangles, &self.surface.lines);
            (frame.time, snapshot_with_lines(shape, triangles, lines, values.as_deref(), &view, size, 3_000))
        };
        picked.iter().zip(&shapes).map(draw).collect()
    }

    /// What the stills are coloured by.
    pub(super) fn snapshot_field(&self) -> Option<&str> {
        self.fields.first().map(|f| f.name.as_str())
    }
}

fn bounds(positions: &[f64]) -> [[f64; 2]; 3] {
    let mut range = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    for (k, &x) in positions.iter().enumerate() {
        let r = &mut range[k % 3];
        *r = [r[0].min(x), r[1].max(x)];
    }
    range
}

fn diagonal(positions: &[f64]) -> f64 {
    bounds(positions).iter().map(|r| (r[1] - r[0]).powi(2)).sum::<f64>().sqrt()
}

fn travels(shapes: &[Vec<f64>]) -> bool {
    let own = shapes.iter().map(|s| diagonal(s)).fold(0.0, f64::max);
    diagonal(&shapes.concat()) > 3.5 * own
}

fn centre(positions: &mut [f64]) {
    let middle = bounds(positions).map(|r| 0.5 * (r[0] + r[1]));
    positions.iter_mut().enumerate().for_each(|(k, x)| *x -= middle[k % 3]);
}
