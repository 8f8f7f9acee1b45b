//! Wavefront OBJ: a file per frame with an object per body, vertices in the same order in every file.

use super::sequence::{frame_file, identifier};
use super::{ExportFormat, Write};
use crate::animation::{AnimatedBody, Animation};
use crate::surface::vertex_normals;
use lilyan_files::atomic::{self, WriteError};
use std::io;
use std::path::{Path, PathBuf};

pub(super) const FORMAT: ExportFormat = ExportFormat {
    name: "obj",
    summary: "a file per frame, an object per body, with normals: any modelling program",
    write: Write::Folder(write),
};

fn write(animation: &Animation, folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    let mut files = Vec::new();
    for (k, t) in animation.times.iter().enumerate() {
        let path = frame_file(folder, k, "obj");
        atomic::replace_with(&path, |out| {
            writeln!(out, "# {} at t = {t} s, metres", animation.title.replace(['\n', '\r'], " "))?;
            let mut first = 1;
            for (b, body) in animation.bodies.iter().enumerate() {
                write_body(out, body, &identifier(&animation.bodies, b), k, first)?;
                first += body.surface.source.len();
            }
            Ok(())
        })?;
        files.push(path);
    }
    Ok(files)
}

/// Writes a body in a frame; its first vertex has the number `first`.
pub(super) fn write_body(
    out: &mut dyn io::Write,
    body: &AnimatedBody,
    name: &str,
    frame: usize,
    first: usize,
) -> io::Result<()> {
    let (positions, surface) = (&body.positions[frame], &body.surface);
    writeln!(out, "o {name}")?;
    for [x, y, z] in positions {
        writeln!(out, "v {x} {y} {z}")?;
    }
    // Every vertex has a normal, of bodies of lines too, so that both have the same numbers.
    for n in vertex_normals(positions, &surface.triangles) {
        let [x, y, z] = n.map(|x| x as f32);
        writeln!(out, "vn {x} {y} {z}")?;
    }
    for t in &surface.triangles {
        let [a, b, c] = t.map(|v| v as usize + first);
        writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
    }
    for [a, b] in &surface.lines {
        writeln!(out, "l {} {}", *a as usize + first, *b as usize + first)?;
    }
    Ok(())
}
