//! lilyan-dynamics
