//! Files that are written whole or not at all.
//!
//! Every file that a run leaves behind goes through [`atomic`]: it appears under its final name only when it is
//! complete, so that a run that is killed, or a full disk, leaves the old file in place.

pub mod atomic;
pub mod csv;
pub mod folder;
pub mod json;
pub mod markup;
pub mod printable;
