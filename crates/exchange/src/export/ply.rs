//! PLY, binary: a file per frame with normals, the number of the body, and with a field its values and colours.

use super::binary::floats;
use super::sequence::frame_file;
use super::{ExportFormat, Write};
use crate::animation::Animation;
use crate::surface::vertex_normals;
use lilyan_files::atomic::{self, WriteError};
use lilyan_report::colour;
use std::io;
use std::path::{Path, PathBuf};

pub(super) const FORMAT: ExportFormat = ExportFormat {
    name: "ply",
    summary: "a file per frame with normals, body numbers, field and colours: MeshLab, Open3D, Blender",
    write: Write::Folder(write),
};

fn write(animation: &Animation, folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    let frames = 0..animation.times.len();
    let files = frames.map(|frame| {
        let path = frame_file(folder, frame, "ply");
        atomic::replace_with(&path, |out| stream(animation, frame, out))?;
        Ok(path)
    });
    files.collect()
}

fn stream(animation: &Animation, frame: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let bodies = &animation.bodies;
    let count = |of: fn(&crate::Surface) -> usize| bodies.iter().map(|b| of(&b.surface)).sum::<usize>();
    let [vertices, faces, edges] =
        [count(|s| s.source.len()), count(|s| s.triangles.len()), count(|s| s.lines.len())];
    let mut head =
        format!("ply\nformat binary_little_endian 1.0\ncomment t = {} s\n", animation.times[frame]);
    head += &format!("element vertex {vertices}\n");
    for name in ["x", "y", "z", "nx", "ny", "nz"] {
        head += &format!("property float {name}\n");
    }
    head += "property int body\n";
    if let Some(scale) = &animation.scale {
        head += &format!("property float {}\n", scale.field);
        head += "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    }
    head += &format!("element face {faces}\nproperty list uchar int vertex_indices\n");
    if edges > 0 {
        head += &format!("element edge {edges}\nproperty int vertex1\nproperty int vertex2\n");
    }
    out.write_all((head + "end_header\n").as_bytes())?;
    for (b, body) in bodies.iter().enumerate() {
        let positions = &body.positions[frame];
        for (v, normal) in vertex_normals(positions, &body.surface.triangles).into_iter().enumerate() {
            out.write_all(&floats(positions[v].into_iter().chain(normal)))?;
            out.write_all(&(b as i32).to_le_bytes())?;
            if let Some(scale) = &animation.scale {
                let value = body.values[frame][v];
                out.write_all(&(value as f32).to_le_bytes())?;
                out.write_all(&colour(scale.scaled(value)).map(|x| x.round() as u8))?;
            }
        }
    }
    let mut first = 0;
    for body in bodies {
        for t in &body.surface.triangles {
            out.write_all(&[3])?;
            out.write_all(t.map(|v| (v + first).to_le_bytes()).as_flattened())?;
        }
        first += body.surface.source.len() as u32;
    }
    first = 0;
    for body in bodies {
        for l in &body.surface.lines {
            out.write_all(l.map(|v| (v + first).to_le_bytes()).as_flattened())?;
        }
        first += body.surface.source.len() as u32;
    }
    Ok(())
}
