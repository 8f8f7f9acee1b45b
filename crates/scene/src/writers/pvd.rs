//! `frames.pvd`: the ParaView collection that gives every frame its time.

use super::atomic::{self, WriteError};
use super::csv::Shortest;
use super::vtu::escape_xml;
use std::path::{Path, PathBuf};

const HEAD: &str = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n";
const TAIL: &str = "</Collection>\n</VTKFile>\n";

/// A time series of VTU files; the collection on disk is rewritten, whole, as frames are added.
#[derive(Clone, Debug, PartialEq)]
pub struct Collection {
    path: PathBuf,
    frames: Vec<(f64, String)>,
}

impl Collection {
    /// An empty collection that will be written to `path`. Nothing is written yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), frames: Vec::new() }
    }

    /// Times (s) and files of the frames, in order.
    pub fn frames(&self) -> &[(f64, String)] {
        &self.frames
    }

    /// Adds a frame without writing: `file` is relative to the collection, with forward slashes.
    pub fn push(&mut self, time: f64, file: impl Into<String>) {
        self.frames.push((time, file.into()));
    }

    /// Adds a frame and rewrites the collection. The frame's own file should be on disk by now.
    pub fn add(&mut self, time: f64, file: impl Into<String>) -> Result<(), WriteError> {
        self.push(time, file);
        self.write()
    }

    /// Keeps the first `count` frames only (a resumed run writes the later ones again).
    pub fn truncate(&mut self, count: usize) {
        self.frames.truncate(count);
    }

    /// Writes the collection atomically.
    pub fn write(&self) -> Result<(), WriteError> {
        let mut text = String::from(HEAD);
        for (time, file) in &self.frames {
            let file = escape_xml(file);
            text += &format!("<DataSet timestep=\"{}\" part=\"0\" file=\"{file}\"/>\n", Shortest(*time));
        }
        text += TAIL;
        atomic::write(&self.path, text.as_bytes())
    }

    /// Where the collection is written.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
