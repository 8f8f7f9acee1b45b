//! Writers: every file a run leaves behind.
//!
//! All of them go through [`atomic`], so a file appears under its final name only when it is
//! whole and on the disk; a run that is killed, or a disk that fills up, leaves the old file.

pub mod atomic;
pub mod csv;
pub mod json;
pub mod pvd;
pub mod vtu;
