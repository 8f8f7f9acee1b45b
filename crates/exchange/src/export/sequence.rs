//! Files that are numbered by frame, or named by body.

use crate::animation::AnimatedBody;
use std::path::{Path, PathBuf};

/// The file of a frame in a folder: `000042.obj`.
pub(super) fn frame_file(folder: &Path, frame: usize, extension: &str) -> PathBuf {
    folder.join(format!("{frame:06}.{extension}"))
}

/// A name of a body that every file system and program takes, different from those of all bodies before it.
pub(super) fn identifier(bodies: &[AnimatedBody], number: usize) -> String {
    let plain = |name: &str| -> String {
        let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
        letters.collect::<String>()
    };
    let mut name = plain(&bodies[number].name);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "body_");
    }
    let taken = bodies[..number].iter().any(|body| plain(&body.name).eq_ignore_ascii_case(&name));
    if taken { format!("{name}_{number}") } else { name }
}
