//! What a user is told when a scene cannot be read.

use super::Place;

/// Why a scene cannot be read: file, line, key, what is wrong, what to do.
///
/// Printed as `scene.toml:12: body.bar.material.rho: must be positive, not -1; give it in kg/m³`.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneError {
    /// The file, or what stands for it.
    pub origin: String,
    /// Where in it.
    pub place: Place,
    /// Dotted path of the key; empty for the file as a whole.
    pub path: String,
    /// What is wrong, and after a semicolon what to do.
    pub message: String,
}

impl SceneError {
    /// An error about a file as a whole.
    pub fn file(origin: &str, message: impl Into<String>) -> Self {
        Self::at(origin, Place::Unknown, "", message)
    }

    /// An error about one key.
    pub fn at(origin: &str, place: Place, path: &str, message: impl Into<String>) -> Self {
        Self { origin: printable(origin), place, path: printable(path), message: printable(&message.into()) }
    }

    /// The same error, seen from one level further out.
    pub(super) fn inside(mut self, segment: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{segment}{joint}{}", self.path);
        self
    }

    /// Line of the file, where known.
    pub fn line(&self) -> Option<usize> {
        self.place.line()
    }
}

/// Printable text that is no flood: files are not to be trusted.
fn printable(text: &str) -> String {
    const MOST: usize = 2000;
    let mut out = lilyan_files::printable::printable(text);
    if let Some((end, _)) = out.char_indices().nth(MOST) {
        out.truncate(end);
        out.push('…');
    }
    out
}

impl std::fmt::Display for SceneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.origin)?;
        match self.place {
            Place::Line(line) => write!(f, ":{line}: ")?,
            Place::Override => f.write_str(" with --set: ")?,
            Place::Unknown => f.write_str(": ")?,
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for SceneError {}
