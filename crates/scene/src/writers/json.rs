//! JSON files such as `summary.json`.

use super::atomic::{self, WriteError};
use serde_json::Value;
use std::path::Path;

/// Writes `value`, indented, with a final newline. Keys keep their order; NaN and infinities are
/// `null`, since JSON has no word for them.
pub fn write(path: impl AsRef<Path>, value: &Value) -> Result<(), WriteError> {
    atomic::write_with(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}
