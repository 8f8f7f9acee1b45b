//! Checks before the first step: constraints are satisfied and independent, and velocities are consistent with them.

use super::solver::scale_rows;
use super::{ConstraintSolver, jacobian, worst};
use crate::{State, System};
use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky, Saddle, SparseRows, dependent_rows};
use std::sync::Arc;

/// Largest violation at the start, relative to the scale. A rotation by formulas has such an error; the first step removes
/// it.
const START: f64 = 1e-9;

/// A constraint counts as dependent on others if sin² of its angle to them is below this: sin = 1e-6, half the digits.
const DEPENDENT: f64 = 1e-12;

/// Up to this number of constraints all dependences are found by a dense method; beyond it, one by inverse iteration.
const DENSE: usize = 1200;

/// Why the constraints of a start are not valid. Numbers are indices in the list of constraints.
#[derive(Clone, Debug, PartialEq)]
pub enum StartError {
    /// A constraint is violated at the start.
    Violated {
        /// Its index.
        which: usize,
        /// |g| relative to the scale.
        excess: f64,
    },
    /// All nodes of a constraint are Dirichlet nodes.
    Held {
        /// Its index.
        which: usize,
    },
    /// Constraints follow from others.
    Redundant {
        /// Their indices, and the others with the largest coefficients first.
        which: Vec<(usize, Vec<usize>)>,
    },
    /// There are more constraints than free dofs.
    TooMany {
        /// Number of constraints.
        constraints: usize,
        /// Number of free dofs.
        free: usize,
    },
}

/// Checks the constraints at the start and projects the velocities onto J v = −∂g/∂t. Returns the largest change of a velocity,
/// m/s.
pub fn start(system: &dyn System, state: &mut State) -> Result<f64, StartError> {
    if system.abilities().constraints().is_empty() {
        return Ok(0.0);
    }
    if let Some((which, excess)) = worst(system, state.t, &state.q).filter(|w| w.1 > START) {
        return Err(StartError::Violated { which, excess });
    }
    let mut held = vec![false; state.q.len()];
    system.abilities().mark_prescribed(state.t, &mut held);
    check_independence(system, state, &held)?;
    let before = state.v.clone();
    let mut constraint_solver = ConstraintSolver::default();
    constraint_solver.prepare(system, state, 0.0, &held);
    constraint_solver.project(system, &held, state.t, &state.q, &mut state.v, &mut state.p);
    system.mass().mul(&state.v, &mut state.p);
    Ok(before.iter().zip(&state.v).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())))
}

fn check_independence(system: &dyn System, state: &State, held: &[bool]) -> Result<(), StartError> {
    let which = system.abilities().in_force(state.t);
    let mut rows = SparseRows::new();
    jacobian(system, &which, state.t, &state.q, &mut rows);
    rows.hold(held);
    let masses = system.mass().diagonal();
    if let Some(i) = rows.squares(masses).iter().position(|s| *s <= 0.0) {
        return Err(StartError::Held { which: which[i] });
    }
    let free = held.iter().filter(|h| !**h).count();
    if rows.len() > free {
        return Err(StartError::TooMany { constraints: rows.len(), free });
    }
    let dependent: Vec<(usize, Vec<usize>)> = match rows.len() {
        0..=DENSE => dependent_rows(&rows, masses, DEPENDENT)
            .into_iter()
            .map(|(i, on)| (which[i], on.into_iter().map(|(j, _)| which[j]).collect()))
            .collect(),
        _ => null_vector(rows, masses)
            .map(|group| {
                let group: Vec<usize> = group.into_iter().map(|i| which[i]).collect();
                (group[0], group[1..].to_vec())
            })
            .into_iter()
            .collect(),
    };
    if dependent.is_empty() { Ok(()) } else { Err(StartError::Redundant { which: dependent }) }
}

/// The constraints of a vanishing linear combination, largest coefficient first, if there is one: the lowest eigenvector of
/// J M⁻¹ Jᵀ with unit rows, by inverse iteration.
fn null_vector(mut rows: SparseRows, masses: &[f64]) -> Option<Vec<usize>> {
    let (n, m) = (masses.len(), rows.len());
    for (i, mass) in scale_rows(&mut rows, masses).into_iter().enumerate() {
        rows.scale_row(i, mass.sqrt().recip());
    }
    let mut matrix = BlockMatrix::zeros(Arc::new(BlockPattern::from_cliques(n / 3, std::iter::empty())));
    matrix.add_diagonal(masses);
    let (mut saddle, mut factor) = (Saddle::new(), Cholesky::new());
    saddle.factor(&matrix, &mut factor, &rows).ok()?;
    let mut z = vec![0.0; n + m];
    // Any start vector that is not an eigenvector.
    let mut w: Vec<f64> = (0..m).map(|i| 1.0 + 0.5 * (1.7 * i as f64).sin()).collect();
    let mut quotient = f64::INFINITY;
    for _ in 0..8 {
        z[..n].fill(0.0);
        z[n..].copy_from_slice(&w);
        saddle.solve(&matrix, &mut factor, &mut z, 0);
        let size = z[n..].iter().map(|x| x * x).sum::<f64>().sqrt();
        for (w, z) in w.iter_mut().zip(&z[n..]) {
            *w = z / size;
        }
        let mut image = vec![0.0; n];
        rows.add_transposed(1.0, &w, &mut image);
        quotient = image.iter().zip(masses).map(|(x, m)| x * x / m).sum();
    }
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| w[b].abs().total_cmp(&w[a].abs()));
    let largest = w[order[0]].abs();
    order.retain(|&i| w[i].abs() > 1e-3 * largest);
    (quotient <= DEPENDENT).then_some(order)
}
