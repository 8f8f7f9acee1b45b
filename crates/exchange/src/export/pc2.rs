//! PC2, the point caches of 3ds Max, Blender and Houdini: for each body its mesh in the first frame as OBJ, and a cache
//! with the positions of its vertices, in the same order, in every frame. Frame 0 of the cache is the first of the run.

use super::binary::floats;
use super::mdd::caches;
use super::{ExportFormat, Write};
use crate::animation::{AnimatedBody, Animation};
use lilyan_files::atomic::WriteError;
use std::path::{Path, PathBuf};

pub(super) const FORMAT: ExportFormat = ExportFormat {
    name: "pc2",
    summary: "a mesh and a point cache per body: the Mesh Cache modifier of Blender, 3ds Max, Houdini",
    write: Write::Folder(write),
};

fn write(animation: &Animation, folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    caches(animation, folder, "pc2", content)
}

fn content(body: &AnimatedBody, _: &[f64]) -> Vec<u8> {
    let mut out = b"POINTCACHE2\0".to_vec();
    out.extend(1i32.to_le_bytes());
    out.extend((body.surface.source.len() as i32).to_le_bytes());
    // First frame, and frames per sample.
    out.extend(floats([0.0, 1.0]));
    out.extend((body.positions.len() as i32).to_le_bytes());
    for positions in &body.positions {
        out.extend(floats(positions.as_flattened().iter().copied()));
    }
    out
}
