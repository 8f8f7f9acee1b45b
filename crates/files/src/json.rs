//! JSON files such as `summary.json`.

use crate::atomic::{self, WriteError};
use serde::Serialize;
use std::path::Path;

/// Writes `value`, indented, with a final newline. Keys keep their order; NaN and infinities are
/// `null`, since JSON has no word for them.
pub fn write(path: impl AsRef<Path>, value: &impl Serialize) -> Result<(), WriteError> {
    atomic::write_with(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}
