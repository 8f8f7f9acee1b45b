//! The lowest modes of K u = λ M u, and the largest eigenvalue for the explicit stability limit.
//!
//! Shift-invert Lanczos \[ericsson1980\] in blocks \[grimes1994\]: the operator
//! S = (K + σM)⁻¹ M has the same vectors and the eigenvalues θ = 1 / (λ + σ), so the wanted end of the spectrum is the
//! outer, well separated one. S is self-adjoint in the inner product of M. A block finds the copies of a multiple
//! eigenvalue, of which one start vector sees one. The basis is kept orthogonal in full: it is short (some ten blocks).
//! The shift σ > 0 makes a free body, whose six rigid modes have λ = 0, as regular as a held one.
//!
//! Held dofs are removed exactly: all vectors are zero there, and K + σM is decoupled from them, so they cannot
//! add eigenvalues of their own. Constraints J u = 0 likewise: S is then the upper left part of the inverse of the
//! saddle-point matrix of K + σM and J, whose images keep them.

pub use crate::largest::largest_eigenvalue;

use crate::block::BlockMatrix;
use crate::lanczos::{BLOCK, Basis, Pencil};
use crate::rows::SparseRows;
use std::fmt;

/// Modes, lowest first.
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

/// Why there are no modes.
#[derive(Debug, Clone, PartialEq)]
pub enum EigenError {
    /// More modes were asked for than M gives: free dofs, less those without mass.
    TooManyModes {
        /// How many there are.
        available: usize,
    },
    /// K or M holds an infinity or a NaN, M is not positive semidefinite, or no shift makes K + σM definite.
    NotPositiveDefinite {
        /// The dof at which it showed.
        dof: usize,
    },
    /// The largest residual was still this when the basis had reached its limit.
    NotConverged {
        /// See [`Modes::residuals`].
        residual: f64,
    },
}

impl fmt::Display for EigenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EigenError::TooManyModes { available } => write!(f, "there are only {available} modes"),
            EigenError::NotPositiveDefinite { dof } => write!(
                f,
                "stiffness plus shifted mass is not positive definite at node {}, axis {}: is the mass?",
                dof / 3,
                dof % 3
            ),
            EigenError::NotConverged { residual } => {
                write!(f, "modes not converged: relative residual {residual:e}")
            }
        }
    }
}

impl std::error::Error for EigenError {}

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

/// The same among the motions that keep `rows` u = 0, independent rows that are zero at held dofs; residuals are those
/// that no force along the rows can balance.
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
    // λ_max is of the order of the largest ratio of diagonals.
    let (k, m) = (K.diagonal(), M.diagonal());
    if let Some(dof) = (0..held.len()).find(|&d| !held[d] && m[d] < 0.0) {
        return Err(EigenError::NotPositiveDefinite { dof });
    }
    let ratios = (0..held.len()).filter(|&d| !held[d] && m[d] > 0.0).map(|d| k[d].abs() / m[d]);
    let highest = ratios.fold(0.0, f64::max);
    let mut pencil = Pencil::new(K, M, held, rows);
    // 1e-7 λ_max: below the first frequency of all but the most slender bodies, yet nine digits above rounding.
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
    let mut basis = Basis::new(&mut pencil);
    if definite {
        for _ in 0..1 + count.div_ceil(BLOCK) {
            basis.grow(&mut pencil);
        }
        let better = basis.ritz().and_then(|ritz| better_shift(&ritz.theta, shift, count, highest));
        if let Some(better) = better {
            let moved = pencil.factor(better).or_else(|_| pencil.factor(shift));
            moved.map_err(|error| EigenError::NotPositiveDefinite { dof: error.dof })?;
            basis = Basis::new(&mut pencil);
        }
    }
    lanczos(&mut pencil, basis, free, count, tolerance)
}

/// A tenth of the highest wanted eigenvalue, as a first look at the spectrum estimates it, if the present shift is too
/// low: then rigid modes (θ = 1/σ) drown the others, which lose a factor λ/σ of their digits. Without rigid modes
/// nothing drowns, and another factorisation would be wasted.
fn better_shift(theta: &[f64], shift: f64, count: usize, highest: f64) -> Option<f64> {
    let values = theta.iter().map(|theta| 1.0 / theta - shift);
    // Values this low may be rigid modes not yet found in full; then the next one above counts.
    let last = values.skip(count - 1).find(|&lambda| lambda > 1e-8 * highest)?;
    // Four digits of sixteen can be spared.
    ((last + shift) * theta[0] > 1e4).then_some((0.1 * last).min(1e-2 * highest))
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
    // The sum of the wanted θ when they first passed, and the step at which to look again.
    let mut passed: Option<(f64, usize)> = None;
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
        let due = passed.is_none_or(|(_, when)| step >= when);
        let hopeful = (0..count).all(|k| ritz.estimates[k] <= tolerance.max(1e-13) * ritz.theta[k]);
        if !(full || (due && hopeful)) {
            continue;
        }
        let polished = basis.modes(pencil, &ritz, count);
        let (modes, rounding) = polished.ok_or(EigenError::NotConverged { residual: f64::NAN })?;
        worst = modes.residuals.iter().copied().fold(0.0, f64::max);
        let converged = modes.residuals.iter().zip(&rounding).all(|(&r, &floor)| r <= tolerance.max(floor));
        // A multiple eigenvalue may have more copies than a block has vectors (rigid modes of many bodies), and a
        // Krylov space holds only so many. So modes are believed after a block of new random vectors, taken two
        // steps far, has found nothing above them.
        // Values are closer than vectors by a power of two.
        let same = tolerance.powi(2).max(1e-9);
        let repeated = passed.is_some_and(|(before, _)| sum - before <= same * before);
        if converged && (repeated || complete) {
            return Ok(modes);
        }
        if full {
            return Err(EigenError::NotConverged { residual: worst });
        }
        if converged {
            passed = Some((sum, step + 2));
            basis.refresh(pencil);
        }
    }
    Err(EigenError::NotConverged { residual: worst })
}
