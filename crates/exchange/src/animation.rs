//! The surfaces of bodies in motion, with a field as colours.

use crate::error::ExchangeError;
use crate::results::Results;
use crate::surface::Surface;
use lilyan_mesh_io::readers::{FrameData, FrameField, read_frame};
use lilyan_scene::schema::FIELD_NAMES;
use lilyan_scene::suggest;
use std::ops::Range;

/// Which part of a run is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnimationOptions {
    /// Names of bodies; empty: all.
    pub bodies: Vec<String>,
    /// The field that colours them.
    pub field: Option<String>,
    /// First and last time, s.
    pub between: Option<[f64; 2]>,
    /// Every so many frames; 0 and 1: all.
    pub every: usize,
    /// Values of the lowest and highest colour, instead of those of the field.
    pub range: Option<[f64; 2]>,
}

/// Bodies in motion.
#[derive(Clone, Debug)]
pub struct Animation {
    /// Title of the scene.
    pub title: String,
    /// The direction that points up.
    pub up: [f64; 3],
    /// Times of the frames, s.
    pub times: Vec<f64>,
    /// The bodies.
    pub bodies: Vec<AnimatedBody>,
    /// What the colours mean, if there are some.
    pub scale: Option<ColourScale>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// A body in motion.
#[derive(Clone, Debug, Default)]
pub struct AnimatedBody {
    /// Its name.
    pub name: String,
    /// Its visible part.
    pub surface: Surface,
    /// Positions of the vertices in every frame, m.
    pub positions: Vec<Vec<[f64; 3]>>,
    /// Values of the field at the vertices in every frame; empty without a field.
    pub values: Vec<Vec<f64>>,
}

/// What colours mean.
#[derive(Clone, Debug, PartialEq)]
pub struct ColourScale {
    /// The field: "von_mises".
    pub field: String,
    /// Its unit: "Pa"; empty for a ratio.
    pub unit: String,
    /// The value of the lowest colour.
    pub low: f64,
    /// The value of the highest colour.
    pub high: f64,
}

impl ColourScale {
    /// A value from 0 (lowest colour) to 1.
    pub fn scaled(&self, value: f64) -> f64 {
        let x = (value - self.low) / (self.high - self.low);
        if x.is_finite() { x.clamp(0.0, 1.0) } else { 0.0 }
    }
}

impl Animation {
    /// Reads the frames of a run. `progress` gets the share that is done.
    pub fn read(
        results: &Results,
        options: &AnimationOptions,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self, ExchangeError> {
        let chosen = chosen_frames(results, options)?;
        let first = results.frame(0)?;
        let mut notes = Vec::new();
        let parts = parts(results, &first, options, &mut notes)?;
        let mut bodies: Vec<AnimatedBody> = parts
            .iter()
            .map(|part| AnimatedBody {
                name: part.name.clone(),
                surface: part.surface.clone(),
                ..AnimatedBody::default()
            })
            .collect();
        for (done, &number) in chosen.iter().enumerate() {
            progress(done as f64 / chosen.len() as f64);
            let frame = results.frame(number)?;
            if frame.positions.len() != first.positions.len() {
                let what = format!("frame {number} has another number of points than the first");
                return Err(ExchangeError::NoResults { folder: results.directory.clone(), what });
            }
            let field = options.field.as_deref().map(|name| vertex_values(&frame, name)).transpose()?;
            let shown = match parts.iter().any(|part| part.shown) {
                true => read_frame(&results.shown[number])?.positions,
                false => Vec::new(),
            };
            for (body, part) in bodies.iter_mut().zip(&parts) {
                let all = if part.shown { &shown } else { &frame.positions };
                let at = |v: &u32| all.get(*v as usize).copied();
                let positions: Option<Vec<[f64; 3]>> = body.surface.source.iter().map(at).collect();
                let Some(positions) = positions else {
                    let what = format!("frame {number} has too few points of body \"{}\"", body.name);
                    return Err(ExchangeError::NoResults { folder: results.directory.clone(), what });
                };
                body.positions.push(positions);
                if let Some(field) = &field {
                    body.values.push(body.surface.source.iter().map(|v| field[*v as usize]).collect());
                }
            }
        }
        let scale = options.field.as_ref().map(|name| scale(name, &bodies, options.range));
        Ok(Self {
            title: results.title.clone(),
            up: results.up(),
            times: chosen.iter().map(|&number| results.frames[number].0).collect(),
            bodies,
            scale,
            notes,
        })
    }

    /// Frames per second of simulated time; 1 for a single frame.
    pub fn frames_per_second(&self) -> f64 {
        match (self.times.first(), self.times.last()) {
            (Some(first), Some(last)) if last > first => (self.times.len() - 1) as f64 / (last - first),
            _ => 1.0,
        }
    }
}

/// The surface of a body, and where its points are.
struct Part {
    name: String,
    surface: Surface,
    /// Whether its points are those of the mesh that it shows instead of its own.
    shown: bool,
}

fn parts(
    results: &Results,
    first: &FrameData,
    options: &AnimationOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<Part>, ExchangeError> {
    let bodies = results.bodies_of(first.positions.len())?;
    let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
    if let Some(unknown) = options.bodies.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(ExchangeError::request(suggest::unknown("body", unknown, &names)));
    }
    let any_shown = bodies.iter().any(|body| body.shown > 0) && !results.shown.is_empty();
    let shown = match any_shown && options.field.is_none() {
        true => Some(read_frame(&results.shown[0])?),
        false => None,
    };
    if any_shown && options.field.is_some() {
        notes.push("with colours the simulated meshes are taken, not those that bodies show".into());
    }
    let (mut parts, mut node, mut point) = (Vec::new(), 0, 0);
    for body in &bodies {
        let nodes = node..node + body.nodes;
        let points = point..point + body.shown;
        (node, point) = (nodes.end, points.end);
        if !options.bodies.is_empty() && !options.bodies.contains(&body.name) {
            continue;
        }
        let of_shown = shown.as_ref().filter(|_| body.shown > 0);
        let surface = match of_shown {
            Some(frame) => Surface::of(frame, &points, false),
            None => Surface::of(first, &nodes, body.discontinuous),
        };
        if surface.source.is_empty() {
            notes.push(format!("body \"{}\" has neither triangles nor springs and is left out", body.name));
            continue;
        }
        parts.push(Part { name: body.name.clone(), surface, shown: of_shown.is_some() });
    }
    if parts.is_empty() {
        return Err(ExchangeError::request("no body has triangles or springs: there is nothing to show"));
    }
    Ok(parts)
}

/// Numbers of the frames that are wanted.
pub(crate) fn chosen_frames(
    results: &Results,
    options: &AnimationOptions,
) -> Result<Vec<usize>, ExchangeError> {
    let [from, to] = options.between.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    // Times are written with all digits, and users give few.
    let slack = 1e-9 * results.frames.last().map_or(0.0, |(t, _)| t.abs());
    let within = |t: f64| from - slack <= t && t <= to + slack;
    let numbers = (0..results.frames.len()).filter(|&k| within(results.frames[k].0));
    let chosen: Vec<usize> = numbers.step_by(options.every.max(1)).collect();
    if chosen.is_empty() {
        let last = results.frames.last().map_or(0.0, |(t, _)| *t);
        return Err(ExchangeError::request(format!(
            "no frame lies between {from} and {to} s; the frames go from {} to {last} s",
            results.frames[0].0
        )));
    }
    Ok(chosen)
}

/// A field as one number per point: sizes of vectors and tensors, means of what belongs to cells.
fn vertex_values(frame: &FrameData, name: &str) -> Result<Vec<f64>, ExchangeError> {
    if let Some(field) = frame.point_fields.iter().find(|field| field.name == name) {
        return Ok(sizes(field));
    }
    let Some(field) = frame.cell_fields.iter().find(|field| field.name == name) else {
        let all = frame.point_fields.iter().chain(&frame.cell_fields);
        let known: Vec<&str> = all.map(|field| field.name.as_str()).collect();
        let message = suggest::unknown("field of the frames", name, &known);
        return Err(ExchangeError::request(format!("{message}; `output.fields` of the scene adds fields")));
    };
    let mut values = sizes(field).into_iter();
    let (mut sum, mut weight) = (vec![0.0; frame.positions.len()], vec![0.0; frame.positions.len()]);
    for cell in frame.blocks.iter().flat_map(|block| block.iter()) {
        let Some(value) = values.next() else { break };
        let size = size(frame, cell);
        for &v in cell {
            sum[v as usize] += size * value;
            weight[v as usize] += size;
        }
    }
    Ok(sum.iter().zip(&weight).map(|(s, w)| if *w > 0.0 { s / w } else { 0.0 }).collect())
}

fn sizes(field: &FrameField) -> Vec<f64> {
    match field.components {
        1 => field.values.clone(),
        n => field.values.chunks_exact(n).map(|c| c.iter().map(|x| x * x).sum::<f64>().sqrt()).collect(),
    }
}

/// Volume, area or length of a cell; cells of one kind share the nodes of a body, so that the unit does not matter.
fn size(frame: &FrameData, cell: &[u32]) -> f64 {
    let at = |k: usize| frame.positions[cell[k] as usize];
    let edge = |k: usize| [0, 1, 2].map(|i| at(k)[i] - at(0)[i]);
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    match cell.len() {
        2 => dot(edge(1), edge(1)).sqrt(),
        3 => dot(cross(edge(1), edge(2)), cross(edge(1), edge(2))).sqrt() / 2.0,
        _ => dot(edge(1), cross(edge(2), edge(3))).abs() / 6.0,
    }
}

/// The range of a field over all frames. If the largest value is more than twice as far above the lowest as the 99.5 %
/// quantile, that is the upper end, because almost everything would have one colour otherwise.
fn scale(name: &str, bodies: &[AnimatedBody], given: Option<[f64; 2]>) -> ColourScale {
    let values = bodies.iter().flat_map(|body| body.values.iter().flatten());
    let mut all: Vec<f64> = values.copied().filter(|x| x.is_finite()).collect();
    all.sort_unstable_by(f64::total_cmp);
    let [low, mut high] = match (all.first(), all.last()) {
        (Some(&low), Some(&high)) => [low, high],
        _ => [0.0, 1.0],
    };
    let most = all.get(all.len().saturating_sub(1) * 995 / 1000).copied().unwrap_or(high);
    if high - low > 2.0 * (most - low) && most > low {
        high = most;
    }
    let [low, high] = given.unwrap_or([low, high]);
    let high = if high > low { high } else { low + low.abs().max(1.0) * 1e-3 };
    ColourScale { field: name.into(), unit: unit_of(name).into(), low, high }
}

/// The unit of a field of the frames.
fn unit_of(name: &str) -> &'static str {
    FIELD_NAMES.iter().find(|(known, _)| *known == name).map_or("", |(_, field)| field.unit())
}

/// Where the nodes of each body are among those of a frame.
pub(crate) fn node_ranges(
    results: &Results,
    nodes: usize,
) -> Result<Vec<(String, Range<usize>)>, ExchangeError> {
    let mut from = 0;
    let bodies = results.bodies_of(nodes)?.into_iter().map(|body| {
        let range = from..from + body.nodes;
        from = range.end;
        (body.name, range)
    });
    Ok(bodies.collect())
}
