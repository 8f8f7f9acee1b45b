//! What makes the discrete gradient of a distance exact in energy without a resultant or a moment \[gonzalez1996\].
//!
//! With N = ∇s at the midpoint of the chord, Δ the motion of the nodes that take part, and c the part of Δ that is not a rigid
//! velocity field there, by weights ω: a force along
//!
//!   d = ωc + β (N·Δ) N,   d·Δ = Σ ω|c|² + β (N·Δ)²,
//!
//! has neither resultant nor moment, and its work vanishes only in a motion that is rigid for all these nodes.

use crate::math::vector::{V3, add, dot, scale};
use crate::math::without_rigid;

/// β: at 45° the correction is normal to one part in a hundred.
const NORMALITY: f64 = 100.0;

/// The nodes that take part in a change of distance.
pub(super) struct Chord<'a> {
    /// Midpoints, m.
    pub x: &'a [V3],
    /// ω.
    pub weights: &'a [f64],
    /// Δ, m.
    pub moved: &'a [V3],
    /// N.
    pub normal: &'a [V3],
    /// N·Δ, m.
    pub along: f64,
}

impl Chord<'_> {
    /// Adds to `force` what does the work `missing` in the motion; nothing where the motion is less than `least` (m).
    pub fn add_missing(&self, missing: f64, least: f64, force: &mut [V3]) {
        let Self { x, weights, moved, normal, along } = *self;
        // Twice, as the second pass takes what round-off left of nearly collinear nodes.
        let once = without_rigid(x, weights, moved);
        let c = without_rigid(x, weights, &once);
        let c: Vec<V3> = c.iter().zip(weights).map(|(c, w)| scale(*c, *w)).collect();
        let square = inner(&c, moved);
        if square > least.powi(2) {
            let mu = missing / (square + NORMALITY * along * along);
            for (f, (c, n)) in force.iter_mut().zip(c.iter().zip(normal)) {
                *f = add(*f, scale(add(*c, scale(*n, NORMALITY * along)), mu));
            }
        }
    }
}

/// Σ a·b.
pub(super) fn inner(a: &[V3], b: &[V3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| dot(*a, *b)).sum()
}
