//! Scenes: every file that is read or written, and the model built from them.

pub mod build;
pub mod document;
pub mod expression;
pub mod library;
pub mod readers;
pub mod report;
pub mod schema;
pub mod suggest;
pub mod writers;
