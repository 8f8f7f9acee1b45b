//! Scenes: every file that is read or written, and the model built from them.
#![allow(non_snake_case)] // F, J, P as in the papers

pub mod build;
pub mod check;
pub mod citations;
pub mod coarsen;
pub mod compare;
pub mod diagnose;
pub mod document;
pub mod expression;
pub mod library;
pub mod readers;
pub mod report;
pub mod run;
pub mod schema;
pub mod suggest;
pub mod writers;
