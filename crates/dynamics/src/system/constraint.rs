//! Equations g(t, q) = 0 between unknowns; [`crate::constraints`] keeps them.

/// One equation g(t, q) = 0.
pub trait Constraint: Send + Sync {
    /// Its name in messages and results.
    fn name(&self) -> &str;
    /// g(t, q), m.
    fn value(&self, t: f64, q: &[f64]) -> f64;
    /// ∂g/∂t, m/s; 0 unless the constraint [moves](Constraint::moves).
    fn rate(&self, t: f64, q: &[f64]) -> f64;
    /// Whether g depends on time, so that the force of the constraint does work.
    fn moves(&self) -> bool;
    /// A length that |g| is judged by, m: that of a rod, the edge of a cube of the volume.
    fn scale(&self) -> f64;
    /// Calls `entry(node, ∂g/∂xₙ)` once for every node that it concerns.
    fn gradient(&self, t: f64, q: &[f64], entry: &mut dyn FnMut(usize, [f64; 3]));
    /// The same for a discrete gradient: ∇̄g·(q₁−q₀) = g(q₁) − g(q₀) where g does not depend on time, without force and torque
    /// where g is invariant. `t` are the times of both ends.
    fn discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], entry: &mut dyn FnMut(usize, [f64; 3]));
    /// Released after this time, s.
    fn until(&self) -> f64;
}

/// The constraints of a system.
pub trait Constraints {
    /// All of them.
    fn list(&self) -> &[Box<dyn Constraint>];
    /// The time at which g is evaluated for a state of time `t`: t itself, unless time stands still as in a search for a
    /// static equilibrium.
    fn time(&self, t: f64) -> f64;
    /// Those in force during a step that ends at `t`, as indices of the list. See [`active`].
    fn in_force(&self, t: f64) -> Vec<usize>;
}

impl Constraints for Vec<Box<dyn Constraint>> {
    fn list(&self) -> &[Box<dyn Constraint>] {
        self
    }
    fn time(&self, t: f64) -> f64 {
        t
    }
    fn in_force(&self, t: f64) -> Vec<usize> {
        active(self, t)
    }
}

/// The constraints that are not released at t, as indices of the list.
pub fn active(constraints: &[Box<dyn Constraint>], t: f64) -> Vec<usize> {
    // Half a nanosecond of slack: the step that ends at `until` is still constrained.
    (0..constraints.len()).filter(|&i| t <= constraints[i].until() + 5e-10).collect()
}
