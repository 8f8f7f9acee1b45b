//! Reduced accuracy of a step, for real-time mode.

/// The loosest tolerance. After a correction of a tenth of the motion Newton's method leaves an error of about a hundredth.
/// After larger corrections it is not known to converge, and the step could be arbitrary.
pub const LOOSEST_TOLERANCE: f64 = 0.1;

/// The accuracy with which a method solves its equations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// The tolerance in force.
    pub tolerance: f64,
    /// The tolerance that the options ask for.
    pub asked: f64,
}

impl Effort {
    /// Interpolates the logarithm of the tolerance between [`LOOSEST_TOLERANCE`] (effort 0) and `asked` (effort 1).
    pub fn between(effort: f64, asked: f64) -> Self {
        let fraction = effort.clamp(0.0, 1.0);
        let tolerance = asked.powf(fraction) * LOOSEST_TOLERANCE.powf(1.0 - fraction);
        Self { tolerance: if effort < 1.0 { tolerance.max(asked) } else { asked }, asked }
    }
}
