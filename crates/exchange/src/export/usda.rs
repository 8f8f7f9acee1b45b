//! USD as text: a mesh per body with time samples of points, normals, extent, and with a field its values and colours.
//! Bodies of springs are linear curves.
//!
//! Time codes are frames: `timeCodesPerSecond` is the number of frames in a second of simulated time.

use super::sequence::identifier;
use super::{ExportFormat, Write, upright};
use crate::animation::{AnimatedBody, Animation, ColourScale};
use crate::surface::vertex_normals;
use lilyan_files::atomic::{self, WriteError};
use lilyan_report::{PLAIN, colour};
use std::io;
use std::path::Path;

pub(super) const FORMAT: ExportFormat = ExportFormat {
    name: "usda",
    summary: "USD with time samples of points, normals, field and colours: usdview, Houdini, Omniverse, Blender",
    write: Write::File(write),
};

fn write(animation: &Animation, path: &Path) -> Result<(), WriteError> {
    atomic::write_with(path, |out| stream(animation, out))
}

fn stream(animation: &Animation, out: &mut dyn io::Write) -> io::Result<()> {
    let rate = animation.frames_per_second();
    let code = |t: f64| (t - animation.times[0]) * rate;
    // Frames are equally spaced up to rounding, which would be ugly in every time sample.
    let codes: Vec<f64> = animation
        .times
        .iter()
        .map(|t| if (code(*t) - code(*t).round()).abs() < 1e-6 { code(*t).round() } else { code(*t) })
        .collect();
    let z_up = upright::is_z(animation.up);
    writeln!(out, "#usda 1.0\n(\n    defaultPrim = \"scene\"\n    doc = {}", quoted(&animation.title))?;
    writeln!(out, "    metersPerUnit = 1\n    upAxis = \"{}\"", if z_up { "Z" } else { "Y" })?;
    writeln!(out, "    startTimeCode = 0\n    endTimeCode = {}", codes[codes.len() - 1])?;
    writeln!(out, "    timeCodesPerSecond = {rate}\n    framesPerSecond = {rate}\n)\n")?;
    writeln!(out, "def Xform \"scene\"\n{{")?;
    if let Some([x, y, z, w]) = upright::turn_to_y(animation.up).filter(|_| !z_up) {
        writeln!(out, "    quatd xformOp:orient = ({w}, {x}, {y}, {z})")?;
        writeln!(out, "    uniform token[] xformOpOrder = [\"xformOp:orient\"]")?;
    }
    for (b, body) in animation.bodies.iter().enumerate() {
        let name = identifier(&animation.bodies, b);
        match body.surface.triangles.is_empty() {
            true => curves(out, body, &name, &codes)?,
            false => mesh(out, body, &name, &codes, animation.scale.as_ref())?,
        }
    }
    writeln!(out, "}}")
}

fn mesh(
    out: &mut dyn io::Write,
    body: &AnimatedBody,
    name: &str,
    codes: &[f64],
    scale: Option<&ColourScale>,
) -> io::Result<()> {
    let triangles = &body.surface.triangles;
    writeln!(out, "    def Mesh \"{name}\"\n    {{")?;
    writeln!(
        out,
        "        uniform bool doubleSided = 1\n        uniform token subdivisionScheme = \"none\""
    )?;
    writeln!(out, "        int[] faceVertexCounts = {:?}", vec![3; triangles.len()])?;
    writeln!(out, "        int[] faceVertexIndices = {:?}", triangles.as_flattened())?;
    samples(out, "float3[] extent", "", codes, &|k| vectors(&bounds(&body.positions[k])))?;
    samples(out, "point3f[] points", "", codes, &|k| vectors(&body.positions[k]))?;
    let vertex = " (\n            interpolation = \"vertex\"\n        )";
    samples(out, "normal3f[] normals", vertex, codes, &|k| {
        vectors(&vertex_normals(&body.positions[k], triangles))
    })?;
    match scale {
        Some(scale) => {
            let field = format!("float[] primvars:{}", scale.field);
            samples(out, &field, vertex, codes, &|k| numbers(&body.values[k]))?;
            samples(out, "color3f[] primvars:displayColor", vertex, codes, &|k| {
                let of = |x: &f64| colour(scale.scaled(*x)).map(|x| x / 255.0);
                vectors(&body.values[k].iter().map(of).collect::<Vec<_>>())
            })?;
        }
        None => {
            let plain = vectors(&[PLAIN.map(|x| x / 255.0)]);
            writeln!(out, "        color3f[] primvars:displayColor = {plain}")?;
        }
    }
    writeln!(out, "    }}")
}

fn curves(out: &mut dyn io::Write, body: &AnimatedBody, name: &str, codes: &[f64]) -> io::Result<()> {
    let lines = &body.surface.lines;
    writeln!(out, "    def BasisCurves \"{name}\"\n    {{")?;
    writeln!(out, "        uniform token type = \"linear\"\n        uniform token wrap = \"nonperiodic\"")?;
    writeln!(out, "        int[] curveVertexCounts = {:?}", vec![2; lines.len()])?;
    samples(out, "float3[] extent", "", codes, &|k| vectors(&bounds(&body.positions[k])))?;
    samples(out, "point3f[] points", "", codes, &|k| {
        let ends = lines.as_flattened().iter().map(|v| body.positions[k][*v as usize]);
        vectors(&ends.collect::<Vec<_>>())
    })?;
    // USD wants a width; a thousandth of the size can be seen.
    let [low, high] = bounds(&body.positions[0]);
    let width = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max) * 2e-3;
    writeln!(
        out,
        "        float[] widths = [{width}] (\n            interpolation = \"constant\"\n        )\n    }}"
    )
}

/// An attribute with a value for each frame. A single frame has no time.
fn samples(
    out: &mut dyn io::Write,
    attribute: &str,
    about: &str,
    codes: &[f64],
    value: &dyn Fn(usize) -> String,
) -> io::Result<()> {
    if codes.len() == 1 {
        return writeln!(out, "        {attribute} = {}{about}", value(0));
    }
    // Metadata stand with the declaration, which the samples follow.
    if !about.is_empty() {
        writeln!(out, "        {attribute}{about}")?;
    }
    writeln!(out, "        {attribute}.timeSamples = {{")?;
    for (k, code) in codes.iter().enumerate() {
        writeln!(out, "            {code}: {},", value(k))?;
    }
    writeln!(out, "        }}")
}

fn vectors(values: &[[f64; 3]]) -> String {
    let each = values.iter().map(|v| {
        let [x, y, z] = v.map(|x| x as f32);
        format!("({x}, {y}, {z})")
    });
    format!("[{}]", each.collect::<Vec<_>>().join(", "))
}

fn numbers(values: &[f64]) -> String {
    format!("[{}]", values.iter().map(|x| (*x as f32).to_string()).collect::<Vec<_>>().join(", "))
}

fn bounds(positions: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let fold = |start: f64, pick: fn(f64, f64) -> f64| {
        [0, 1, 2].map(|k| positions.iter().fold(start, |m, p| pick(m, p[k])))
    };
    [fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max)]
}

/// A string of USD.
fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}
