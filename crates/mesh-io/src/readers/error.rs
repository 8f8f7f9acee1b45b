//! What a reader says when a file cannot be used.

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

impl Place {
    /// What follows the name of the file in a message.
    fn suffix(self) -> String {
        match self {
            Self::File => String::new(),
            Self::Line(n) => format!(", line {n}"),
            Self::Byte(n) => format!(", byte {n}"),
            Self::Tet(n) => format!(", tetrahedron {n}"),
            Self::Triangle(n) => format!(", triangle {n}"),
            Self::Vertex(n) => format!(", vertex {n}"),
        }
    }
}

/// A file that cannot be used: which, where, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {what}{}", file.display(), place.suffix(), self.advice())]
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

    /// The end of the message: the remedy, if there is one.
    fn advice(&self) -> String {
        if self.remedy.is_empty() { String::new() } else { format!("; {}", self.remedy) }
    }
}
