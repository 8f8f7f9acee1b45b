//! Mesh files: one reader per format, one check of whatever they read, and the writers of frames.

pub mod readers;
pub mod writers;
