//! The barrier as a function of the gap g, per area:
//!
//!   φ(g) = κ d̂ β(g/d̂),   β(x) = (1 − x)³/x for 0 < x < 1, and 0 beyond,
//!
//! with a modulus κ (Pa) and a distance d̂ (m) that are constants of the contact. β is convex, decreasing and C². It grows
//! like 1/x, so that a conserving method can store the energy of an impact at a gap of some 1e-2 d̂. A logarithm would
//! need gaps below the round-off of positions.
//!
//! All forms are free of cancellation near x = 1, where β, β′ and β″ vanish.

/// κ and d̂ of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarrierLaw {
    /// κ, Pa.
    pub modulus: f64,
    /// d̂: the gap from which on there is no force, m.
    pub distance: f64,
}

impl BarrierLaw {
    /// The law with d̂ no longer than this.
    #[must_use]
    pub fn within(self, distance: f64) -> Self {
        Self { distance: self.distance.min(distance), ..self }
    }

    /// What fades to 0 as smoothly as φ where the gap reaches d̂: (1 − g/d̂)³.
    pub fn fade(self, gap: f64) -> f64 {
        (1.0 - gap / self.distance).max(0.0).powi(3)
    }

    /// φ, J/m²; +∞ where there is no gap.
    pub fn energy(self, gap: f64) -> f64 {
        let x = gap / self.distance;
        if x >= 1.0 {
            return 0.0;
        }
        if x <= 0.0 { f64::INFINITY } else { self.modulus * self.distance * beta(x) }
    }

    /// φ′, Pa: minus the pressure.
    pub fn slope(self, gap: f64) -> f64 {
        let x = gap / self.distance;
        if x >= 1.0 {
            return 0.0;
        }
        let y = 1.0 - x;
        -self.modulus * y * y * (1.0 + 2.0 * x) / (x * x)
    }

    /// φ″, Pa/m.
    pub fn curvature(self, gap: f64) -> f64 {
        let x = gap / self.distance;
        if x >= 1.0 {
            return 0.0;
        }
        let y = 1.0 - x;
        self.modulus / self.distance * 2.0 * y * (1.0 + x + x * x) / (x * x * x)
    }

    /// (φ(g₁) − φ(g₀))/(g₁ − g₀), φ′ for g₀ = g₁, Pa.
    pub fn quotient(self, gap0: f64, gap1: f64) -> f64 {
        let (a, b) = (gap0 / self.distance, gap1 / self.distance);
        self.modulus
            * match (a < 1.0, b < 1.0) {
                (true, true) => quotient_inside(a, b),
                (true, false) => -beta(a) / (b - a),
                (false, true) => -beta(b) / (a - b),
                (false, false) => 0.0,
            }
    }

    /// ∂/∂g₁ of the quotient, Pa/m. It is not negative, as φ is convex.
    pub fn quotient_slope(self, gap0: f64, gap1: f64) -> f64 {
        let (a, b) = (gap0 / self.distance, gap1 / self.distance);
        let scale = self.modulus / self.distance;
        scale
            * match (a < 1.0, b < 1.0) {
                (true, true) => 1.0 / (a * b * b) - 1.0,
                (true, false) => beta(a) / (b - a).powi(2),
                (false, true) => {
                    let y = 1.0 - b;
                    let slope = -y * y * (1.0 + 2.0 * b) / (b * b);
                    (slope * (b - a) - beta(b)) / (b - a).powi(2)
                }
                (false, false) => 0.0,
            }
    }
}

/// β for x < 1.
fn beta(x: f64) -> f64 {
    let y = 1.0 - x;
    y * y * y / x
}

/// [β(b) − β(a)]/(b − a) = −1/(ab) + 3 − (a + b), written in 1 − a and 1 − b, so that nothing cancels near 1.
fn quotient_inside(a: f64, b: f64) -> f64 {
    let (y, z) = (1.0 - a, 1.0 - b);
    // −1 + 3ab − ab(a + b) with a = 1 − y, b = 1 − z, sorted by order in y and z.
    let (sum, product) = (y + z, y * z);
    let numerator = sum * sum - product - sum * product;
    -numerator / (a * b)
}
