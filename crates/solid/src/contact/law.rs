//! The energy of one node in contact as a function φ of its depth b of penetration. Obstacles, contact of surfaces and their
//! discrete gradients are made for any such law; a model that is one brings its φ and its card.

use crate::potentials::difference_quotient;
use std::fmt::Debug;

/// φ(b) of one node; φ = 0 for b ≤ 0, and φ″ > 0 for b > 0. A penalty: it allows penetration.
pub trait ContactLaw: Copy + Debug + Send + Sync + 'static {
    /// The law of a node with this area (m²), from the law per area.
    #[must_use]
    fn of_area(self, area: f64) -> Self;
    /// φ, J, at a depth in m.
    fn energy(self, depth: f64) -> f64;
    /// φ′, N.
    fn slope(self, depth: f64) -> f64;
    /// φ″, N/m, at a positive depth.
    fn curvature(self, depth: f64) -> f64;

    /// φ′/φ″, m, at a positive depth.
    fn slope_over_curvature(self, depth: f64) -> f64 {
        self.slope(depth) / self.curvature(depth)
    }

    /// (φ(b₁) − φ(b₀))/(b₁ − b₀), and φ′ where that is round-off.
    fn quotient(self, b0: f64, b1: f64) -> f64 {
        difference_quotient(b0, b1, b0.abs() + b1.abs(), |b| self.energy(b), |b| self.slope(b))
    }

    /// φ as a summand of the energy of an obstacle. It equals [`ContactLaw::energy`] up to round-off: a law overrides it
    /// only to keep the bits of recorded runs.
    fn obstacle_energy(self, depth: f64) -> f64 {
        self.energy(depth)
    }
}
