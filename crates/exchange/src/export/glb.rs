//! Binary glTF 2.0: each body is a node, its mesh has a morph target for each frame but the first, and the weights are
//! animated linearly from frame to frame. With a field, vertices have colours, which are morphed too.
//!
//! glTF is in metres with y up; a root node turns scenes that have another direction up.

use super::binary::floats;
use super::{ExportFormat, Write, upright};
use crate::animation::{AnimatedBody, Animation, ColourScale};
use crate::surface::{CreasedSurface, vertex_normals};
use lilyan_files::atomic::{self, WriteError};
use lilyan_report::{PLAIN, colour};
use serde_json::{Value, json};
use std::path::Path;

pub(super) const FORMAT: ExportFormat = ExportFormat {
    name: "glb",
    summary: "glTF 2.0 with a morph target per frame, normals and colours: browsers, Blender, game engines",
    write: Write::File(write),
};

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const VERTEX_DATA: u32 = 34962;
const INDICES: u32 = 34963;
const LINES: u32 = 1;
const TRIANGLES: u32 = 4;

fn write(animation: &Animation, path: &Path) -> Result<(), WriteError> {
    let mut file = Glb::default();
    let (mut nodes, mut meshes) = (Vec::new(), Vec::new());
    for body in &animation.bodies {
        nodes.push(json!({ "name": body.name, "mesh": meshes.len() }));
        meshes.push(file.mesh(body, animation.scale.as_ref()));
    }
    let children: Vec<usize> = (1..=nodes.len()).collect();
    let mut root = json!({ "name": animation.title, "children": children });
    if let Some(turn) = upright::turn_to_y(animation.up) {
        root["rotation"] = json!(turn);
    }
    nodes.insert(0, root);
    let plain = PLAIN.map(|x| linear(x / 255.0));
    let base = if animation.scale.is_some() { [1.0; 3] } else { plain };
    let mut extras = json!({ "title": animation.title });
    if let Some(scale) = &animation.scale {
        extras["colours"] =
            json!({ "field": scale.field, "unit": scale.unit, "low": scale.low, "high": scale.high });
    }
    let mut document = json!({
        "asset": { "version": "2.0", "generator": concat!("lilyan ", env!("CARGO_PKG_VERSION")), "extras": extras },
        "scene": 0,
        "scenes": [{ "name": animation.title, "nodes": [0] }],
        "nodes": nodes,
        "meshes": meshes,
        "materials": [{
            "pbrMetallicRoughness": {
                "baseColorFactor": [base[0], base[1], base[2], 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.6,
            },
            "doubleSided": true,
        }],
    });
    if animation.times.len() > 1 {
        document["animations"] = json!([file.weights(animation)]);
    }
    document["accessors"] = Value::Array(std::mem::take(&mut file.accessors));
    document["bufferViews"] = Value::Array(std::mem::take(&mut file.views));
    document["buffers"] = json!([{ "byteLength": file.bytes.len() }]);
    file.write(&document, path)
}

/// The parts of a file while it is made.
#[derive(Default)]
struct Glb {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Glb {
    /// The mesh of a body: the first frame, and what each later one adds to it.
    fn mesh(&mut self, body: &AnimatedBody, scale: Option<&ColourScale>) -> Value {
        let creased = match body.surface.triangles.is_empty() {
            // The lines of a body of springs have no creases.
            true => CreasedSurface {
                source: (0..body.surface.source.len() as u32).collect(),
                triangles: Vec::new(),
            },
            false => body.surface.creased(&body.positions[0]),
        };
        let (indices, mode) = match body.surface.triangles.is_empty() {
            true => (body.surface.lines.as_flattened(), LINES),
            false => (creased.triangles.as_flattened(), TRIANGLES),
        };
        let first = FrameAttributes::of(body, &creased, 0, scale);
        let targets: Vec<Value> = (1..body.positions.len())
            .map(|k| {
                let frame = FrameAttributes::of(body, &creased, k, scale).less(&first);
                self.attributes(&frame)
            })
            .collect();
        let attributes = self.attributes(&first);
        let mut primitive = json!({
            "attributes": attributes,
            "indices": self.indices(indices),
            "mode": mode,
            "material": 0,
        });
        if targets.is_empty() {
            return json!({ "name": body.name, "primitives": [primitive] });
        }
        let weights = vec![0.0; targets.len()];
        primitive["targets"] = Value::Array(targets);
        json!({ "name": body.name, "primitives": [primitive], "weights": weights })
    }

    fn attributes(&mut self, frame: &FrameAttributes) -> Value {
        let mut all = json!({ "POSITION": self.vectors(&frame.positions, true) });
        if !frame.normals.is_empty() {
            all["NORMAL"] = json!(self.vectors(&frame.normals, false));
        }
        if !frame.colours.is_empty() {
            all["COLOR_0"] = json!(self.vectors(&frame.colours, false));
        }
        all
    }

    /// An animation that goes from target to target.
    fn weights(&mut self, animation: &Animation) -> Value {
        let start = animation.times[0];
        let times: Vec<f64> = animation.times.iter().map(|t| t - start).collect();
        let frames = times.len();
        let end = times[frames - 1] as f32;
        let input = self.accessor(
            floats(times),
            None,
            json!({
                "componentType": FLOAT, "count": frames, "type": "SCALAR", "min": [0.0], "max": [end],
            }),
        );
        let one_of_each =
            (0..frames).flat_map(|k| (1..frames).map(move |target| f64::from(u8::from(k == target))));
        let output = self.accessor(
            floats(one_of_each),
            None,
            json!({
                "componentType": FLOAT, "count": frames * (frames - 1), "type": "SCALAR",
            }),
        );
        let bodies = 1..=animation.bodies.len();
        let channels: Vec<Value> = bodies
            .map(|node| json!({ "sampler": 0, "target": { "node": node, "path": "weights" } }))
            .collect();
        json!({
            "name": "motion",
            "channels": channels,
            "samplers": [{ "input": input, "output": output, "interpolation": "LINEAR" }],
        })
    }

    fn vectors(&mut self, values: &[[f64; 3]], bounded: bool) -> usize {
        let mut about = json!({ "componentType": FLOAT, "count": values.len(), "type": "VEC3" });
        if bounded {
            // Of the numbers as they are stored.
            let fold = |start: f32, pick: fn(f32, f32) -> f32| {
                [0, 1, 2].map(|k| values.iter().fold(start, |m, v| pick(m, v[k] as f32)))
            };
            about["min"] = json!(fold(f32::INFINITY, f32::min));
            about["max"] = json!(fold(f32::NEG_INFINITY, f32::max));
        }
        self.accessor(floats(values.as_flattened().iter().copied()), Some(VERTEX_DATA), about)
    }

    fn indices(&mut self, values: &[u32]) -> usize {
        let about = json!({ "componentType": UNSIGNED_INT, "count": values.len(), "type": "SCALAR" });
        self.accessor(values.iter().flat_map(|v| v.to_le_bytes()).collect(), Some(INDICES), about)
    }

    fn accessor(&mut self, bytes: Vec<u8>, target: Option<u32>, mut about: Value) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        about["bufferView"] = json!(self.views.len());
        self.views.push(view);
        self.accessors.push(about);
        // All numbers have four bytes, so that everything stays aligned.
        self.bytes.extend(bytes);
        self.accessors.len() - 1
    }

    fn write(&self, document: &Value, path: &Path) -> Result<(), WriteError> {
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let total = 12 + 8 + text.len() + 8 + self.bytes.len();
        let Ok(total) = u32::try_from(total) else {
            let cause = format!(
                "{total} bytes are more than the 4 GB of a .glb; take fewer frames with --every, or one --body"
            );
            return Err(WriteError::data(path, cause));
        };
        atomic::write_with(path, |out| {
            out.write_all(b"glTF")?;
            out.write_all(&2u32.to_le_bytes())?;
            out.write_all(&total.to_le_bytes())?;
            for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &self.bytes)] {
                out.write_all(&(chunk.len() as u32).to_le_bytes())?;
                out.write_all(kind)?;
                out.write_all(chunk)?;
            }
            Ok(())
        })
    }
}

/// What the vertices of a body have in a frame.
struct FrameAttributes {
    positions: Vec<[f64; 3]>,
    /// Empty for lines.
    normals: Vec<[f64; 3]>,
    /// Linear red, green and blue; empty without a field.
    colours: Vec<[f64; 3]>,
}

impl FrameAttributes {
    fn of(body: &AnimatedBody, creased: &CreasedSurface, frame: usize, scale: Option<&ColourScale>) -> Self {
        let positions: Vec<[f64; 3]> =
            creased.source.iter().map(|v| body.positions[frame][*v as usize]).collect();
        let normals = match creased.triangles.is_empty() {
            true => Vec::new(),
            // glTF wants unit vectors: a vertex of nothing but flat triangles gets some direction.
            false => vertex_normals(&positions, &creased.triangles)
                .into_iter()
                .map(|n| if n == [0.0; 3] { [0.0, 1.0, 0.0] } else { n })
                .collect(),
        };
        let of_value = |scale: &ColourScale, v: u32| {
            colour(scale.scaled(body.values[frame][v as usize])).map(|x| linear(x / 255.0))
        };
        let colours =
            scale.map_or(Vec::new(), |scale| creased.source.iter().map(|v| of_value(scale, *v)).collect());
        Self { positions, normals, colours }
    }

    fn less(&self, first: &Self) -> Self {
        let minus = |a: &[[f64; 3]], b: &[[f64; 3]]| {
            // In single precision, so that first + difference is the frame.
            let one = |x: f64, y: f64| f64::from(x as f32) - f64::from(y as f32);
            a.iter().zip(b).map(|(a, b)| [0, 1, 2].map(|k| one(a[k], b[k]))).collect()
        };
        Self {
            positions: minus(&self.positions, &first.positions),
            normals: minus(&self.normals, &first.normals),
            colours: minus(&self.colours, &first.colours),
        }
    }
}

/// From the sRGB of screens to linear light.
fn linear(x: f64) -> f64 {
    if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
}
