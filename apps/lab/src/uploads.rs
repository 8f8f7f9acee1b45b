//! Files that pages send.

use crate::error::LabError;
use crate::limits::SESSION_BYTES;
use lilyan_files::folder;
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
    if kept_beside(folder, name) + bytes.len() as u64 > SESSION_BYTES {
        return Err(LabError::FilesFull);
    }
    std::fs::write(path, bytes).map_err(LabError::system("the file cannot be kept"))
}

/// Size of the other files in a folder, bytes.
fn kept_beside(folder: &Path, name: &str) -> u64 {
    let size = |other: &String| folder.join(other).metadata().map_or(0, |found| found.len());
    folder::names(folder).unwrap_or_default().iter().filter(|other| *other != name).map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_keeps_so_many_bytes() {
        let folder = std::env::temp_dir().join(format!("lilyan-uploads-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let sparse = std::fs::File::create(folder.join("a.obj")).expect("a file");
        sparse.set_len(SESSION_BYTES - 10).expect("a length");
        assert!(matches!(store_file(&folder, "b.obj", &[0; 11]), Err(LabError::FilesFull)));
        assert!(store_file(&folder, "b.obj", &[0; 10]).is_ok());
        // A file that is replaced does not count.
        assert!(store_file(&folder, "a.obj", &[0; 11]).is_ok());
        std::fs::remove_dir_all(&folder).expect("it is removed");
    }
}
