//! Scenes: every file that is read or written, and the model built from them.

pub mod report;
pub mod writers;
