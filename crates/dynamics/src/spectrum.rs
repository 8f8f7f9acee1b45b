//! The spectrum of a system about a configuration: its lowest modes, its highest frequency, its fastest decay.
//!
//! All functions describe free vibration at time 0, restricted to motions that satisfy the constraints in force. The geometric
//! stiffness due to constraint forces (e.g. the tension of a string) and to loads is not included.

use crate::constraints::jacobian;
use crate::fit;
use crate::{Curvature, System};
use lilyan_solve::{
    BlockMatrix, BlockPattern, Cholesky, EigenError, Modes, Saddle, SparseRows, constrained_modes,
    largest_eigenvalue,
};
use std::sync::Arc;

/// Relative accuracy of the eigenvalues of [`modes`].
const MODE_TOLERANCE: f64 = 1e-10;
/// Relative accuracy of the largest eigenvalue, which suffices for stability limits.
const LARGEST_TOLERANCE: f64 = 1e-3;
/// Extra modes, since a fit may change their order.
const SPARE_MODES: usize = 10;

/// Stiffness and mass at a configuration, Dirichlet dofs and constraints.
pub struct Matrices {
    /// K, N/m.
    pub stiffness: BlockMatrix,
    /// M, kg.
    pub mass: BlockMatrix,
    /// Marks the Dirichlet dofs.
    pub held: Vec<bool>,
    /// Gradients of the constraints in force at the start, 0 at Dirichlet dofs.
    pub rows: SparseRows,
}

/// The matrices of free vibration at the given positions.
pub fn matrices(system: &dyn System, q: &[f64]) -> Matrices {
    let pattern = system.pattern();
    let mut stiffness = BlockMatrix::zeros(pattern.clone());
    system.hessian(0.0, q, Curvature::Exact, &mut stiffness);
    let mut mass = BlockMatrix::zeros(pattern.clone());
    system.mass().add_to(&mut mass);
    let held = held_at_start(system);
    let mut rows = SparseRows::new();
    jacobian(system, &system.abilities().in_force(0.0), 0.0, q, &mut rows);
    rows.hold(&held);
    Matrices { stiffness, mass, held, rows }
}

fn held_at_start(system: &dyn System) -> Vec<bool> {
    let mut held = vec![false; system.dofs()];
    system.abilities().mark_prescribed(0.0, &mut held);
    held
}

/// Number of modes: the free dofs at the start, less the constraints.
pub fn free_unknowns(system: &dyn System) -> usize {
    let free = held_at_start(system).iter().filter(|held| !**held).count();
    free.saturating_sub(system.abilities().in_force(0.0).len())
}

/// The lowest `count` modes at the given positions; fits of bodies are applied.
pub fn modes(system: &dyn System, q: &[f64], count: usize) -> Result<Modes, EigenError> {
    let m = matrices(system, q);
    let lowest = |count| constrained_modes(&m.stiffness, &m.mass, &m.held, &m.rows, count, MODE_TOLERANCE);
    if system.abilities().fits().is_empty() {
        return lowest(count);
    }
    let free = m.held.iter().filter(|held| !**held).count();
    let mut modes = lowest((count + SPARE_MODES).min(free).max(count))?;
    fit::correct_modes(system, q, &mut modes);
    modes.values.truncate(count);
    modes.vectors.truncate(count);
    modes.residuals.truncate(count);
    Ok(modes)
}

/// The largest angular frequency at the given positions, rad/s. `None` if it was not found, or if the constraints prevent all
/// deformation.
pub fn largest_frequency(system: &dyn System, q: &[f64]) -> Option<f64> {
    let m = matrices(system, q);
    let masses = system.mass().diagonal();
    let square = largest(&m.stiffness, masses, &m)?;
    // Where constraints prevent deformation, round-off leaves a small value that is not a frequency.
    let floor = match m.rows.is_empty() {
        true => 0.0,
        false => {
            let diagonal = m.stiffness.diagonal();
            1e-10 * diagonal.iter().zip(masses).map(|(k, m)| k / m).fold(0.0, f64::max)
        }
    };
    (square > floor && square.is_finite()).then(|| square.sqrt())
}

/// The condition number of 1 + w M⁻¹K at the given positions in the 1-norm, estimated; w (s²) is h² for backward Euler. The
/// lumped mass stands for M where it divides. `None` if the matrix is not positive definite.
pub fn step_condition(system: &dyn System, q: &[f64], weight: f64) -> Option<f64> {
    let m = matrices(system, q);
    let mut matrix = m.stiffness;
    matrix.scale(weight);
    matrix.add_scaled(1.0, &m.mass);
    matrix.hold(&m.held);
    let of_node = |(mass, held): (&f64, &bool)| if *held { 1.0 } else { *mass };
    let masses: Vec<f64> = system.mass().diagonal().iter().zip(&m.held).map(of_node).collect();
    lilyan_solve::scaled_condition(&matrix, &masses).ok()
}

/// The fastest decay rate due to damping at the given positions, 1/s; 0 without damping.
pub fn largest_decay(system: &dyn System, q: &[f64]) -> f64 {
    let mut damping = BlockMatrix::zeros(system.pattern().clone());
    if let Some(dissipation) = system.abilities().dissipation {
        dissipation.add_damping_matrix(0.0, q, &vec![0.0; q.len()], &mut damping);
    }
    let rate = largest(&damping, system.mass().diagonal(), &matrices(system, q)).unwrap_or(0.0);
    if rate.is_finite() { rate.max(0.0) } else { 0.0 }
}

/// The largest eigenvalue of a matrix A against the lumped mass, restricted to motions that satisfy the constraints: that of
/// Pᵀ A P with P = 1 − M⁻¹Jᵀ(J M⁻¹Jᵀ)⁻¹J. `None` if the constraints are linearly dependent.
fn largest(matrix: &BlockMatrix, masses: &[f64], m: &Matrices) -> Option<f64> {
    let n = masses.len();
    if m.rows.is_empty() {
        let apply = &mut |x: &[f64], y: &mut [f64]| matrix.mul_vec(x, y);
        return Some(largest_eigenvalue(apply, masses, &m.held, LARGEST_TOLERANCE));
    }
    let mut lumped = BlockMatrix::zeros(Arc::new(BlockPattern::from_cliques(n / 3, std::iter::empty())));
    lumped.add_diagonal(masses);
    lumped.hold(&m.held);
    let (mut saddle, mut factor) = (Saddle::new(), Cholesky::new());
    saddle.factor(&lumped, &mut factor, &m.rows).ok()?;
    // M P M⁻¹ = Pᵀ: the force on the masses minus the constraint forces.
    let mut forces = |f: &mut [f64]| {
        let mut z = f.to_vec();
        z.resize(n + m.rows.len(), 0.0);
        saddle.solve(&lumped, &mut factor, &mut z, 3);
        m.rows.add_transposed(-1.0, &z[n..], f);
    };
    let apply = &mut |x: &[f64], y: &mut [f64]| {
        let mut p: Vec<f64> = x.iter().zip(masses).map(|(x, m)| m * x).collect();
        forces(&mut p);
        p.iter_mut().zip(masses).for_each(|(p, m)| *p /= m);
        matrix.mul_vec(&p, y);
        y.iter_mut().zip(&m.held).filter(|(_, held)| **held).for_each(|(y, _)| *y = 0.0);
        forces(y);
    };
    Some(largest_eigenvalue(apply, masses, &m.held, LARGEST_TOLERANCE))
}
