//! `lilyan bench`.

use crate::failure::Done;

/// Benchmarks, as ratios measured in one run.
#[derive(clap::Args)]
pub struct Arguments {}

pub fn run(_arguments: &Arguments) -> Done {
    Ok(())
}
