//! Why Newton's method failed.

/// Why a solve failed.
#[derive(Clone, Debug)]
pub enum SolveError {
    /// The start is infeasible (an inverted element, say).
    InfeasibleStart,
    /// A value, gradient or matrix entry is NaN or infinite.
    NotFinite {
        /// The first such unknown, if known.
        dof: Option<usize>,
    },
    /// The matrix could not be factorised even after projection.
    Singular {
        /// Unknown at which the factorisation stopped.
        dof: usize,
    },
    /// No acceptable step along the Newton direction.
    LineSearch {
        /// The corrections so far, m.
        corrections: Vec<f64>,
        /// Unknowns with the largest residuals, largest first.
        worst: Vec<usize>,
    },
    /// The iterations ran out.
    Iterations {
        /// The corrections so far, m.
        corrections: Vec<f64>,
        /// Unknowns with the largest residuals, largest first.
        worst: Vec<usize>,
    },
}

impl std::fmt::Display for SolveError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tail = |c: &[f64]| {
            let shown: Vec<String> = c.iter().rev().take(5).rev().map(|x| format!("{x:.1e}")).collect();
            format!("last corrections {} m", shown.join(", "))
        };
        match self {
            Self::InfeasibleStart => write!(f, "the state to start from is infeasible"),
            Self::NotFinite { .. } => write!(f, "a force or energy is not a finite number"),
            Self::Singular { .. } => write!(f, "the stiffness matrix is singular"),
            Self::LineSearch { corrections, .. } => {
                write!(f, "no step along Newton's direction helps ({})", tail(corrections))
            }
            Self::Iterations { corrections, .. } => write!(
                f,
                "Newton's method did not converge in {} iterations ({})",
                corrections.len(),
                tail(corrections)
            ),
        }
    }
}

impl std::error::Error for SolveError {}
