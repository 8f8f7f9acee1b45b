//! MDD, the point caches of LightWave, Blender and Maya: for each body its mesh in the first frame as OBJ, and a cache
//! with the times of the frames and the positions of its vertices, in the same order, big-endian.

use super::binary::floats_big_endian;
use super::sequence::identifier;
use super::{ExportFormat, Write, obj};
use crate::animation::{AnimatedBody, Animation};
use lilyan_files::atomic::{self, WriteError};
use std::path::{Path, PathBuf};

pub(super) const FORMAT: ExportFormat = ExportFormat {
    name: "mdd",
    summary: "a mesh and a point cache with times per body: the Mesh Cache modifier of Blender, LightWave, Maya",
    write: Write::Folder(write),
};

fn write(animation: &Animation, folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    caches(animation, folder, "mdd", content)
}

fn content(body: &AnimatedBody, times: &[f64]) -> Vec<u8> {
    let mut out = (body.positions.len() as i32).to_be_bytes().to_vec();
    out.extend((body.surface.source.len() as i32).to_be_bytes());
    out.extend(floats_big_endian(times.iter().map(|t| t - times[0])));
    for positions in &body.positions {
        out.extend(floats_big_endian(positions.as_flattened().iter().copied()));
    }
    out
}

/// Writes the mesh and the cache of each body.
pub(super) fn caches(
    animation: &Animation,
    folder: &Path,
    extension: &str,
    content: fn(&AnimatedBody, &[f64]) -> Vec<u8>,
) -> Result<Vec<PathBuf>, WriteError> {
    let mut files = Vec::new();
    for (b, body) in animation.bodies.iter().enumerate() {
        let name = identifier(&animation.bodies, b);
        let mesh = folder.join(format!("{name}.obj"));
        atomic::write_with(&mesh, |out| obj::write_body(out, body, &name, 0, 1))?;
        let cache = folder.join(format!("{name}.{extension}"));
        atomic::write(&cache, &content(body, &animation.times))?;
        files.extend([mesh, cache]);
    }
    Ok(files)
}
