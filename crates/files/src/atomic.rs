//! Files that are replaced in one step: a reader sees the old file or the new one, never a part.
//!
//! The content goes to a temporary file in the same directory, which is then renamed. Two functions differ in what
//! survives a power cut:
//!
//! - [`write_with`] waits for the disk (fsync of the file, rename, fsync of the directory). It is for what cannot be made
//!   again: checkpoints, tables, reports. A failed fsync is a failed write, since the kernel may already have dropped the
//!   data.
//! - [`replace_with`] does not wait. It is for the many files that a run can make again, such as frames. A kill of the
//!   process leaves them whole; a power cut may lose the last seconds of them.

use crate::folder;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const TEMP_PREFIX: &str = ".lilyan-";
const TEMP_SUFFIX: &str = ".tmp";

/// A file that could not be written: which one, at which stage, and why.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {stage}: {source}", path.display())]
pub struct WriteError {
    /// The file that was to be written.
    pub path: PathBuf,
    /// What was being done when it failed.
    pub stage: &'static str,
    /// What went wrong.
    pub source: io::Error,
}

impl WriteError {
    /// An error about `path`, from an input/output error.
    pub fn new(path: &Path, stage: &'static str, source: io::Error) -> Self {
        Self { path: path.to_path_buf(), stage, source }
    }

    /// An error about `path` whose cause is the data, not the disk.
    pub fn data(path: &Path, cause: impl Into<String>) -> Self {
        Self::new(path, "checking the data", io::Error::new(io::ErrorKind::InvalidData, cause.into()))
    }
}

/// Writes `bytes` to `path`, replacing what is there in one step.
///
/// On an error the old file is untouched and no temporary remains. One exception: if only the
/// last step fails (syncing the directory), the new file is in place, whole, but a power cut may
/// still bring back the old one; that too is reported as an error.
pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), WriteError> {
    write_with(path, |out| out.write_all(bytes))
}

/// Like [`write()`], with the content streamed by `fill` (buffered).
///
/// Returns when the file is on the disk. An error returned by `fill` cancels the write. A symbolic link is followed, so the file it
/// points to is replaced and not the link. Anything that is not a regular file is refused:
/// renaming over a device or a pipe would destroy it.
pub fn write_with(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    put(path.as_ref(), Durability::OnDisk, fill)
}

/// Like [`write_with`], but returns without waiting for the disk.
///
/// The file is whole under its name for every other process, and stays so if this one is killed. After a power cut it
/// may be missing or empty.
pub fn replace_with(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    put(path.as_ref(), Durability::Visible, fill)
}

/// How often this process has waited for the disk so far: two times for each file that is written with [`write_with`].
pub fn disk_waits() -> u64 {
    DISK_WAITS.load(Ordering::Relaxed)
}

static DISK_WAITS: AtomicU64 = AtomicU64::new(0);

/// What a write guarantees when it returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// The file survives a power cut.
    OnDisk,
    /// Other processes see the file.
    Visible,
}

fn put(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let fail = |stage: &'static str| move |source| WriteError::new(path, stage, source);
    let target = resolve(path).map_err(fail("looking at what is there"))?;
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };

    let (temp, file) = Temporary::create(directory).map_err(fail("creating a temporary file beside it"))?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    fill(&mut out).and_then(|()| out.flush()).map_err(fail("writing"))?;
    if durability == Durability::OnDisk {
        DISK_WAITS.fetch_add(1, Ordering::Relaxed);
        out.get_ref().sync_all().map_err(fail("flushing to disk"))?;
    }
    drop(out);
    temp.rename(&target).map_err(fail("renaming into place"))?;
    if durability == Durability::OnDisk {
        DISK_WAITS.fetch_add(1, Ordering::Relaxed);
        sync_directory(directory).map_err(fail("flushing the directory to disk"))?;
    }
    Ok(())
}

/// Removes temporaries that a killed run left in `directory` and returns how many there were.
///
/// For the start of a run, when no other process writes there.
pub fn remove_leftovers(directory: impl AsRef<Path>) -> io::Result<usize> {
    let own = format!("{TEMP_PREFIX}{}-", std::process::id());
    let mut removed = 0;
    let directory = directory.as_ref();
    for name in folder::names(directory)? {
        if name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX) && !name.starts_with(&own) {
            fs::remove_file(directory.join(name))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Where the bytes will really go; refuses what a rename would destroy.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not the name of a file"));
    }
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(path.to_path_buf()),
        Err(e) => Err(e),
        Ok(found) => {
            let target = if found.is_symlink() { fs::canonicalize(path)? } else { path.to_path_buf() };
            let found = fs::metadata(&target)?;
            if found.is_file() {
                Ok(target)
            } else if found.is_dir() {
                Err(io::Error::new(io::ErrorKind::IsADirectory, "a directory of this name exists"))
            } else {
                Err(io::Error::new(io::ErrorKind::InvalidInput, "it exists and is not a regular file"))
            }
        }
    }
}

/// Temporary files that this process is writing.
static WRITING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn writing() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all writes that are under way, for a process that ends in the middle of them. No file is
/// begun or put in place after that: whoever tries waits for ever.
pub fn abandon_writes() {
    let writing = writing();
    for temp in writing.iter() {
        let _ = fs::remove_file(temp);
    }
    std::mem::forget(writing);
}

/// A temporary file, which is removed unless it is renamed.
struct Temporary(PathBuf);

impl Temporary {
    fn create(directory: &Path) -> io::Result<(Self, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut writing = writing();
        loop {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let temp = directory.join(format!("{TEMP_PREFIX}{}-{n}{TEMP_SUFFIX}", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&temp) {
                Ok(file) => {
                    writing.insert(temp.clone());
                    return Ok((Self(temp), file));
                }
                // Left over from a killed process that had the same id: take the next number.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn rename(self, target: &Path) -> io::Result<()> {
        let mut writing = writing();
        retry(|| fs::rename(&self.0, target))?;
        writing.remove(&self.0);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if writing().remove(&self.0) {
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// The standard library repeats interrupted writes and fsyncs, but not renames.
fn retry(mut call: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match call() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory)?.sync_all() {
        // Some network and FUSE file systems cannot sync a directory; there is nothing to wait for.
        Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
}

#[cfg(not(unix))]
fn sync_directory(_directory: &Path) -> io::Result<()> {
    Ok(())
}
