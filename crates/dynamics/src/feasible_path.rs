//! Feasible straight paths between two points ([`FeasibleStep`]).

use crate::system::abilities::FeasibleStep;

/// The last point on the straight path from `from` to `to` up to which the path is known to be feasible.
pub(crate) fn last_feasible_point(feasible: &dyn FeasibleStep, from: &[f64], to: &[f64]) -> Vec<f64> {
    let d: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
    let fraction = feasible.max_step(from, &d);
    if fraction >= 1.0 {
        return to.to_vec();
    }
    from.iter().zip(&d).map(|(from, d)| from + fraction * d).collect()
}

/// Whether the whole straight path from `from` to `to` is known to be feasible.
pub(crate) fn is_feasible(feasible: &dyn FeasibleStep, from: &[f64], to: &[f64]) -> bool {
    let d: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
    feasible.max_step(from, &d) >= 1.0
}
