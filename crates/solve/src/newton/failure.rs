//! Why Newton's method failed.

/// Why a Newton solve failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SolveError {
    /// The start is infeasible (an inverted element, say).
    #[error("the state to start from is infeasible")]
    InfeasibleStart,
    /// A value, gradient or matrix entry is NaN or infinite.
    #[error("a force or energy is not a finite number")]
    NotFinite {
        /// The first unknown affected, if known.
        dof: Option<usize>,
    },
    /// The matrix could not be factorised even after projection.
    #[error("the stiffness matrix is singular")]
    Singular {
        /// The unknown at which the factorisation stopped.
        dof: usize,
    },
    /// The line search found no acceptable step along the Newton direction.
    #[error("no step along Newton's direction helps ({})", last(corrections))]
    LineSearch {
        /// The corrections so far, m.
        corrections: Vec<f64>,
        /// Unknowns with the largest residuals, largest first.
        worst: Vec<usize>,
    },
    /// The iteration limit was reached.
    #[error("Newton's method did not converge in {} iterations ({})", corrections.len(), last(corrections))]
    Iterations {
        /// The corrections so far, m.
        corrections: Vec<f64>,
        /// Unknowns with the largest residuals, largest first.
        worst: Vec<usize>,
    },
}

fn last(corrections: &[f64]) -> String {
    let shown: Vec<String> = corrections.iter().rev().take(5).rev().map(|x| format!("{x:.1e}")).collect();
    format!("last corrections {} m", shown.join(", "))
}
