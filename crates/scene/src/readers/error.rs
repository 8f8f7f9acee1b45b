//! What a reader says when a file cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where in the file the fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of a text file, from 1.
    Line(u64),
    /// A byte offset of a binary file, from 0.
    Byte(u64),
    /// A tetrahedron, by the number that the file gives it.
    Tet(u64),
    /// A triangle, by the number that the file gives it.
    Triangle(u64),
    /// A vertex, by the number that the file gives it.
    Vertex(u64),
}

/// A file that cannot be used: which, where, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file.
    pub file: PathBuf,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl ReadError {
    /// A fault without its file yet; [`super::read`] fills that in.
    pub(super) fn new(place: Place, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        ReadError { file: PathBuf::new(), place, what: what.into(), remedy: remedy.into() }
    }

    /// Names the file unless it is named already.
    pub(super) fn in_file(mut self, file: &Path) -> Self {
        if self.file.as_os_str().is_empty() {
            self.file = file.to_path_buf();
        }
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.place {
            Place::File => {}
            Place::Line(n) => write!(f, ", line {n}")?,
            Place::Byte(n) => write!(f, ", byte {n}")?,
            Place::Tet(n) => write!(f, ", tetrahedron {n}")?,
            Place::Triangle(n) => write!(f, ", triangle {n}")?,
            Place::Vertex(n) => write!(f, ", vertex {n}")?,
        }
        write!(f, ": {}", self.what)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}
