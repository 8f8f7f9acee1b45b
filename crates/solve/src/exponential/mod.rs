//! Exponential propagators: φ-functions of an oscillator, and the exact motion of a linear system.

mod chebyshev;
mod flow;
mod phi;

pub use flow::{Accuracy, Damping, Flow, FlowError, Growth, flow};
pub use phi::Propagator;
