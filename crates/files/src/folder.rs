//! Folders: what is in them, and who may write there.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The names of what is in a folder, in no particular order; names that are not Unicode are left out.
pub fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut entries = fs::read_dir(folder)?;
    let found = entries
        .by_ref()
        .map(|entry| Ok(entry?.file_name().into_string().ok()))
        .collect::<io::Result<Vec<_>>>();
    // The standard library panics where a folder cannot be closed. Its names are known by then.
    let closed = catch_unwind(AssertUnwindSafe(|| drop(entries)));
    closed.map_err(|_| io::Error::other("the folder cannot be closed after it was read"))?;
    Ok(found?.into_iter().flatten().collect())
}

/// Keeps other processes that ask for it out of a folder, until it is dropped or the process ends, in whatever way.
#[derive(Debug)]
pub struct FolderLock {
    _file: Option<File>,
}

/// The file that is locked. It stays when the lock is gone: removing it would let two processes hold locks of two files.
const LOCK_FILE: &str = ".lilyan-lock";

impl FolderLock {
    /// Locks a folder; `None` if another process has locked it. File systems without locks let everyone in.
    pub fn take(folder: &Path) -> io::Result<Option<Self>> {
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK_FILE))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(_)) => Ok(Some(Self { _file: None })),
        }
    }
}
