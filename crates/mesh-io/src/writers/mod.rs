//! Frames of a run as VTU files, and the collection that gives each frame its time.

pub mod pvd;
pub mod vtu;
