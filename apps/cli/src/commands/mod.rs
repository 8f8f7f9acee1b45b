//! One file per command.

pub mod bench;
pub mod catalogue;
pub mod check;
pub mod coarsen;
mod common;
pub mod compare;
pub mod converge;
pub mod export;
pub mod import;
pub mod lab;
pub mod licenses;
pub mod modes;
pub mod render;
pub mod rest;
pub mod run;
pub mod scenes;
pub mod schema;
pub mod sweep;
