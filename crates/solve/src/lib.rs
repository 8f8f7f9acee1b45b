//! lilyan-solve
