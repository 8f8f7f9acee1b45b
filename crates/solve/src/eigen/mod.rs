//! The lowest modes of K u = λ M u, and the largest eigenvalue for the explicit stability limit.
//!
//! The method is block shift-invert Lanczos \[ericsson1980\], \[grimes1994\]. The operator S = (K + σM)⁻¹ M has the same
//! eigenvectors, with eigenvalues θ = 1 / (λ + σ). The lowest λ thus become the largest, well separated θ. S is
//! self-adjoint in the inner product of M. A block Krylov space finds all copies of a multiple eigenvalue; a single start
//! vector would find one. The basis is fully reorthogonalised, since it is short (about ten blocks). The shift σ > 0 makes
//! K + σM regular for a free body too, whose six rigid modes have λ = 0.
//!
//! Held (Dirichlet) dofs are removed exactly: all vectors are zero there, and K + σM is decoupled from them, so they add
//! no eigenvalues. Constraints J u = 0 are kept exactly too: S is then the upper left block of the inverse of the
//! saddle-point matrix of K + σM and J.

mod davidson;
mod lanczos;
mod spectral_radius;

pub use davidson::{Choose, Subspace};
pub use spectral_radius::largest_eigenvalue;

use crate::eigen::lanczos::{BLOCK, Basis, Pencil};
use crate::matrix::block::BlockMatrix;
use crate::matrix::sparse_rows::SparseRows;

/// Bisections for the shift of an indefinite K.
const BISECTIONS: usize = 9;

/// The lowest modes of K u = λ M u, ascending.
#[derive(Debug, Clone)]
pub struct Modes {
    /// λ, the squares of the angular frequencies if K and M are stiffness and mass.
    pub values: Vec<f64>,
    /// u, zero at held dofs, with uᵢᵀ M uⱼ = δᵢⱼ.
    pub vectors: Vec<Vec<f64>>,
    /// ‖K u − λ M u‖ / (‖K u‖ + σ ‖M u‖); σ keeps a rigid mode, whose K u is 0, measurable.
    pub residuals: Vec<f64>,
    /// The shift σ that was used.
    pub shift: f64,
}

/// Why modes were not computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EigenError {
    /// More modes were requested than there are free dofs with mass.
    #[error("there are only {available} modes")]
    TooManyModes {
        /// Number of modes that exist.
        available: usize,
    },
    /// K or M holds an infinity or a NaN, M is not positive semidefinite, or no shift makes K + σM definite.
    #[error(
        "stiffness plus shifted mass is not positive definite at node {}, axis {}: is the mass?",
        dof / 3,
        dof % 3
    )]
    NotPositiveDefinite {
        /// The dof at which the factorisation stopped.
        dof: usize,
    },
    /// The basis reached its size limit before the residuals reached the tolerance.
    #[error("modes not converged: relative residual {residual:e}")]
    NotConverged {
        /// The largest of the [`Modes::residuals`].
        residual: f64,
    },
}

/// The `count` lowest modes of K u = λ M u with `held` dofs at zero.
///
/// K is symmetric and may be indefinite; M is symmetric and positive semidefinite. Residuals (see
/// [`Modes::residuals`]) are at most `tolerance`, or at the level of rounding in K u where that is higher.
#[allow(non_snake_case)]
pub fn lowest_modes(
    K: &BlockMatrix,
    M: &BlockMatrix,
    held: &[bool],
    count: usize,
    tolerance: f64,
) -> Result<Modes, EigenError> {
    constrained_modes(K, M, held, &SparseRows::new(), count, tolerance)
}

/// The lowest modes among motions with `rows` u = 0. The rows are linearly independent and zero at held dofs. Residuals
/// do not include constraint forces.
#[allow(non_snake_case)]
pub fn constrained_modes(
    K: &BlockMatrix,
    M: &BlockMatrix,
    held: &[bool],
    rows: &SparseRows,
    count: usize,
    tolerance: f64,
) -> Result<Modes, EigenError> {
    assert!(held.len() == K.dofs() && held.len() == M.dofs(), "K, M and held must have the same dofs");
    let free = held.iter().filter(|h| !**h).count().saturating_sub(rows.len());
    if count > free {
        return Err(EigenError::TooManyModes { available: free });
    }
    if count == 0 {
        return Ok(Modes { values: vec![], vectors: vec![], residuals: vec![], shift: 0.0 });
    }
    // The largest ratio of diagonal entries estimates λ_max.
    let (k, m) = (K.diagonal(), M.diagonal());
    if let Some(dof) = (0..held.len()).find(|&d| !held[d] && m[d] < 0.0) {
        return Err(EigenError::NotPositiveDefinite { dof });
    }
    let ratios = (0..held.len()).filter(|&d| !held[d] && m[d] > 0.0).map(|d| k[d].abs() / m[d]);
    let highest = ratios.fold(0.0, f64::max);
    let mut pencil = Pencil::new(K, M, held, rows);
    // 1e-7 λ_max is below the first frequency, except for very slender bodies, and nine digits above rounding.
    let mut shift = if highest > 0.0 { 1e-7 * highest } else { 1.0 };
    let mut definite = true;
    while let Err(error) = pencil.factor(shift) {
        // An indefinite K: the shift must exceed −λ_min.
        definite = false;
        shift *= 10.0;
        if !error.finite || shift > 1e3 * highest {
            return Err(EigenError::NotPositiveDefinite { dof: error.dof });
        }
    }
    let first = shift;
    let mut basis = Basis::new(&mut pencil);
    for _ in 0..1 + count.div_ceil(BLOCK) {
        basis.grow(&mut pencil);
    }
    if let Some(ritz) = basis.ritz() {
        shift = match definite {
            true => {
                let better = better_shift(&ritz.theta, shift, count, highest);
                better.filter(|better| pencil.factor(*better).is_ok()).unwrap_or(shift)
            }
            false => closest_shift(&mut pencil, &ritz.theta, shift),
        };
        if pencil.shift != shift {
            pencil.factor(shift).map_err(|error| EigenError::NotPositiveDefinite { dof: error.dof })?;
        }
        if shift != first {
            basis = Basis::new(&mut pencil);
        }
    }
    lanczos(&mut pencil, basis, free, count, tolerance)
}

/// A better shift if the present one is too low: a tenth of the highest wanted eigenvalue, as the first Ritz values
/// estimate it.
///
/// If the shift is too low, rigid modes (θ = 1/σ) dominate, and the other modes lose a factor λ/σ of their accuracy.
/// Without rigid modes there is no such loss, and another factorisation would be wasted.
fn better_shift(theta: &[f64], shift: f64, count: usize, highest: f64) -> Option<f64> {
    let values = theta.iter().map(|theta| 1.0 / theta - shift);
    // Values this low may be rigid modes that have not converged. The next higher one counts.
    let last = values.skip(count - 1).find(|&lambda| lambda > 1e-8 * highest)?;
    // A loss of four digits of sixteen is acceptable.
    ((last + shift) * theta[0] > 1e4).then_some((0.1 * last).min(1e-2 * highest))
}

/// A shift close above −λ_min of an indefinite K, by bisection between `shift`, at which K + σM is definite, and −λ_min as the first
/// Ritz values estimate it from above.
///
/// A strongly deformed body has many negative eigenvalues close together. A shift far above −λ_min would make all θ nearly the same.
fn closest_shift(pencil: &mut Pencil, theta: &[f64], shift: f64) -> f64 {
    let (mut below, mut above) = (shift - 1.0 / theta[0], shift);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (below + above);
        if pencil.factor(middle).is_ok() {
            above = middle;
        } else {
            below = middle;
        }
    }
    above
}

/// Grows a basis until the `count` lowest modes have converged.
fn lanczos(
    pencil: &mut Pencil,
    mut basis: Basis,
    free: usize,
    count: usize,
    tolerance: f64,
) -> Result<Modes, EigenError> {
    let limit = (20 * count).max(640).min(free);
    let mut worst = f64::INFINITY;
    // The sum of the wanted θ at their first convergence, and the step of the next test.
    let mut first_convergence: Option<(f64, usize)> = None;
    for step in 0.. {
        let complete = basis.grow(pencil);
        if basis.processed() < count && !complete {
            continue;
        }
        let ritz = basis.ritz().ok_or(EigenError::NotConverged { residual: f64::NAN })?;
        if ritz.theta.len() < count {
            return Err(EigenError::TooManyModes { available: ritz.theta.len() });
        }
        let sum: f64 = ritz.theta[..count].iter().sum();
        let full = complete || basis.processed() >= limit;
        let due = first_convergence.is_none_or(|(_, when)| step >= when);
        let estimated = (0..count).all(|k| ritz.estimates[k] <= tolerance.max(1e-13) * ritz.theta[k]);
        if !(full || (due && estimated)) {
            continue;
        }
        let modes = basis.modes(pencil, &ritz, count);
        let (modes, rounding) = modes.ok_or(EigenError::NotConverged { residual: f64::NAN })?;
        worst = modes.residuals.iter().copied().fold(0.0, f64::max);
        let converged = modes.residuals.iter().zip(&rounding).all(|(&r, &floor)| r <= tolerance.max(floor));
        // A multiple eigenvalue may have more copies than a block has vectors (rigid modes of many bodies), and a Krylov
        // space contains only one copy per start vector. Modes are therefore accepted only if a block of new random
        // vectors, after two steps, finds no further ones. The error of an eigenvalue is the square of that of its
        // vector.
        let same = tolerance.powi(2).max(1e-9);
        let repeated = first_convergence.is_some_and(|(before, _)| sum - before <= same * before);
        if converged && (repeated || complete) {
            return Ok(modes);
        }
        if full {
            return Err(EigenError::NotConverged { residual: worst });
        }
        if converged {
            first_convergence = Some((sum, step + 2));
            basis.refresh(pencil);
        }
    }
    Err(EigenError::NotConverged { residual: worst })
}
