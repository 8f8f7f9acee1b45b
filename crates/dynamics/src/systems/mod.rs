//! Small systems: for analysis, for tests, and to show what a [`crate::System`] is.

mod oscillator;
mod particles;
mod pendulum;
mod rods;

pub use oscillator::Oscillator;
pub use particles::{Particles, Spring};
pub use pendulum::Pendulum;
pub use rods::Rods;

use lilyan_solve::BlockPattern;
use std::sync::Arc;

/// The pattern of a system of one node.
fn single() -> Arc<BlockPattern> {
    Arc::new(BlockPattern::from_cliques(1, std::iter::empty()))
}
