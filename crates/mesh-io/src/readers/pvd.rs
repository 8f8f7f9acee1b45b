//! `.pvd`: the list of the frames of a run with their times.

use super::error::{Place, ReadError};
use super::text::{TextCursor, show, text};
use super::{load, xml};
use std::path::{Path, PathBuf};

/// Reads the times (s) and files of a collection, in its order. Files are found beside it.
pub fn read_collection(path: &Path) -> Result<Vec<(f64, PathBuf)>, ReadError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let data = load(path, &[]).map_err(|e| e.in_file(path))?;
    let frames = parse(&data).map_err(|e| e.in_file(path))?;
    Ok(frames.into_iter().map(|(time, file)| (time, folder.join(file))).collect())
}

fn parse(data: &[u8]) -> Result<Vec<(f64, String)>, ReadError> {
    let mut scan = TextCursor::new(data, None);
    let mut frames = Vec::new();
    while let Some(tag) = xml::next(&mut scan)? {
        if tag.name != b"DataSet" || tag.end {
            continue;
        }
        let time = tag.attribute("timestep").unwrap_or_default();
        let file = tag.attribute("file").unwrap_or_default();
        match text(time).trim().parse::<f64>() {
            Ok(t) if t.is_finite() && !file.is_empty() => frames.push((t, text(file))),
            _ => {
                return Err(ReadError::new(
                    Place::File,
                    format!("a frame has the time `{}` and the file `{}`", show(time), show(file)),
                    "the file may be damaged: run the scene again",
                ));
            }
        }
    }
    Ok(frames)
}
