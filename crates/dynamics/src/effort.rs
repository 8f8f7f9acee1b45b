//! How much less than asked for a step may do.

/// The loosest tolerance. After a correction of a tenth of the motion Newton's method leaves about a hundredth of it; with
/// larger ones it is not known to converge at all, and a step taken there could be anything.
pub const LOOSEST: f64 = 0.1;

/// How closely a method solves its equations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// The tolerance in force.
    pub tolerance: f64,
    /// The one that its options ask for.
    pub asked: f64,
}

impl Effort {
    /// From the least (0: [`LOOSEST`]) to what is asked for (1), evenly in orders of magnitude.
    pub fn between(effort: f64, asked: f64) -> Self {
        let share = effort.clamp(0.0, 1.0);
        let tolerance = asked.powf(share) * LOOSEST.powf(1.0 - share);
        Self { tolerance: if effort < 1.0 { tolerance.max(asked) } else { asked }, asked }
    }
}
