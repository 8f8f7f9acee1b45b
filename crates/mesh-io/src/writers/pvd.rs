//! `frames.pvd`: the ParaView collection that gives every frame its time.

use lilyan_files::atomic::{self, WriteError};
use lilyan_files::csv::Shortest;
use lilyan_files::markup::escape;
use std::path::{Path, PathBuf};

const HEAD: &str = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n";
const TAIL: &str = "</Collection>\n</VTKFile>\n";

/// The file is written again when it lacks more than one frame in this many. The time for all of these writes then grows
/// linearly with the number of frames.
const MISSING: usize = 16;

/// A time series of VTU files.
///
/// The collection on disk is always whole and lists only frames that were added, but it may lack the newest sixteenth of
/// them until [`Collection::write`] is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Collection {
    path: PathBuf,
    frames: Vec<(f64, String)>,
    /// Frames that the file lists.
    written: usize,
}

impl Collection {
    /// An empty collection that will be written to `path`. Nothing is written yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), frames: Vec::new(), written: 0 }
    }

    /// Times (s) and files of the frames, in order.
    pub fn frames(&self) -> &[(f64, String)] {
        &self.frames
    }

    /// Adds a frame without writing: `file` is relative to the collection, with forward slashes.
    pub fn push(&mut self, time: f64, file: impl Into<String>) {
        self.frames.push((time, file.into()));
    }

    /// Adds a frame, and writes the collection if the file lacks too many. The frame's own file should be there by now.
    pub fn add(&mut self, time: f64, file: impl Into<String>) -> Result<(), WriteError> {
        self.push(time, file);
        let missing = self.frames.len() - self.written;
        if missing > self.written / MISSING { self.write() } else { Ok(()) }
    }

    /// Keeps the first `count` frames only (a resumed run writes the later ones again).
    pub fn truncate(&mut self, count: usize) {
        self.frames.truncate(count);
        self.written = self.written.min(count);
    }

    /// Writes the collection with all of its frames; nothing if the file lists them already.
    pub fn write(&mut self) -> Result<(), WriteError> {
        if self.written == self.frames.len() {
            return Ok(());
        }
        atomic::replace_with(&self.path, |out| {
            out.write_all(HEAD.as_bytes())?;
            for (time, file) in &self.frames {
                let (time, file) = (Shortest(*time), escape(file));
                writeln!(out, "<DataSet timestep=\"{time}\" part=\"0\" file=\"{file}\"/>")?;
            }
            out.write_all(TAIL.as_bytes())
        })?;
        self.written = self.frames.len();
        Ok(())
    }

    /// Path of the collection.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
