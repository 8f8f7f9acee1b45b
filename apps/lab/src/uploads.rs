//! Files that pages send.

use crate::error::LabError;
use std::path::Path;

/// Refuses names of files that could lead to another folder.
pub fn check_file_name(name: &str) -> Result<(), LabError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(plain) {
        return Err(LabError::FileName);
    }
    Ok(())
}

/// Stores a file in the folder of a session.
pub fn store_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), LabError> {
    check_file_name(name)?;
    let path = folder.join(name);
    if path.is_symlink() {
        return Err(LabError::FileIsLink);
    }
    std::fs::write(path, bytes).map_err(LabError::system("the file cannot be kept"))
}
