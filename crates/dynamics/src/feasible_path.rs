//! Feasible straight paths between two points ([`FeasibleStep`]).

use crate::system::abilities::FeasibleStep;

/// The last point on the straight path from `from` to `to` at time `t` up to which the path is known to be feasible.
pub(crate) fn last_feasible_point(feasible: &dyn FeasibleStep, t: f64, from: &[f64], to: &[f64]) -> Vec<f64> {
    let d: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
    let fraction = feasible.max_step([t; 2], from, &d);
    if fraction >= 1.0 {
        return to.to_vec();
    }
    from.iter().zip(&d).map(|(from, d)| from + fraction * d).collect()
}

/// Whether the whole straight path from `from` at `t[0]` to `to` at `t[1]` is known to be feasible.
pub(crate) fn is_feasible(feasible: &dyn FeasibleStep, t: [f64; 2], from: &[f64], to: &[f64]) -> bool {
    let d: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
    feasible.max_step(t, from, &d) >= 1.0
}
