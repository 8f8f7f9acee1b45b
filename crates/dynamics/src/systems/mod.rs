//! Small systems: for analysis, for tests, and to show what a [`crate::System`] is.

mod oscillator;
mod particles;
mod pendulum;
mod rods;

pub use oscillator::Oscillator;
pub use particles::{Particles, Spring};
pub use pendulum::Pendulum;
pub use rods::Rods;
