//! The result of a step: statistics, or the reason of failure.

use lilyan_parallel::threads;
use lilyan_solve::newton::SolveError;

/// Statistics of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepStats {
    /// Newton iterations.
    pub newton_iterations: usize,
    /// Linear iterations inside them.
    pub linear_iterations: usize,
    /// Linear systems that were solved with a multigrid method.
    pub multigrid: usize,
    /// If reduced effort ended a solve early ([`crate::Integrator::set_effort`]): the ratio of its last correction to the
    /// requested tolerance. Otherwise 0.
    pub shortfall: f64,
}

impl StepStats {
    /// Adds the statistics of another part of the same step.
    pub fn add(&mut self, part: Self) {
        self.newton_iterations += part.newton_iterations;
        self.linear_iterations += part.linear_iterations;
        self.multigrid += part.multigrid;
        self.shortfall = self.shortfall.max(part.shortfall);
    }
}

/// Why a step failed. The state is then unchanged.
#[derive(Clone, Debug)]
pub enum StepError {
    /// The method does not support this system.
    Refused {
        /// The reason and the remedy.
        reason: String,
    },
    /// The equation of the step was not solved.
    Solve {
        /// The reason.
        cause: SolveError,
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
    },
    /// The step ends in a state of infinite energy, e.g. with an inverted element.
    Infeasible {
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
    },
    /// The path from the solution to the end of the step is not known to be feasible.
    Collision {
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
    },
    /// Dirichlet dofs, or obstacles that move, cannot reach their place.
    Blocked {
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
    },
    /// Lagged quantities did not converge.
    Lagging {
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
        /// Number of solves.
        solves: usize,
    },
    /// A constraint could not be satisfied.
    Constraint {
        /// Its name.
        name: String,
        /// Its violation, relative to its scale.
        excess: f64,
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
    },
    /// Time adaption asks for an extremely long or short step.
    StepRatio {
        /// Time at the start of the step, s.
        t: f64,
        /// Nominal step, s.
        h: f64,
        /// The requested multiple of it.
        sigma: f64,
    },
    /// A position or momentum is not a finite number.
    NotFinite {
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
        /// The first unknown affected.
        dof: usize,
    },
}

impl StepError {
    /// The unknowns that caused the failure, worst first, as far as known.
    pub fn culprits(&self) -> Vec<usize> {
        match self {
            Self::Solve { cause, .. } => match cause {
                SolveError::NotFinite { dof: Some(dof) } | SolveError::Singular { dof } => {
                    vec![*dof]
                }
                SolveError::LineSearch { worst, .. } | SolveError::Iterations { worst, .. } => worst.clone(),
                _ => Vec::new(),
            },
            Self::NotFinite { dof, .. } => vec![*dof],
            _ => Vec::new(),
        }
    }
}

impl std::fmt::Display for StepError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused { reason } => write!(f, "{reason}"),
            Self::Solve { cause, t, h } => {
                write!(f, "at t = {t:.6} s with a step of {h:.3e} s: {cause}")
            }
            Self::Infeasible { t, h } => {
                write!(f, "at t = {t:.6} s with a step of {h:.3e} s: the step inverts an element")
            }
            Self::Collision { t, h } => write!(
                f,
                "at t = {t:.6} s with a step of {h:.3e} s: the step ends beyond a contact: use a shorter step, or an \
                 integrator that solves for its end, \"energy-momentum\" say"
            ),
            Self::Blocked { t, h } => write!(
                f,
                "at t = {t:.6} s with a step of {h:.3e} s: a contact keeps prescribed nodes or a moving obstacle from \
                 their place, as what they push against cannot yield: leave it a way out"
            ),
            Self::Lagging { t, h, solves } => write!(
                f,
                "at t = {t:.6} s with a step of {h:.3e} s: lagged friction did not settle in {solves} solves: use a \
                 shorter step"
            ),
            Self::Constraint { name, excess, t, h } => write!(
                f,
                "at t = {t:.6} s with a step of {h:.3e} s: the constraint {name} cannot be kept (off by {excess:.1e} of its size)"
            ),
            Self::StepRatio { t, h, sigma } => write!(
                f,
                "at t = {t:.6} s with a step of {h:.3e} s: the time adaption asks for {sigma:.1e} times that: change its rule, scale or accuracy"
            ),
            Self::NotFinite { t, h, .. } => write!(
                f,
                "at t = {t:.6} s with a step of {h:.3e} s: positions or momenta are not finite numbers: the motion exploded, or an element is inverted"
            ),
        }
    }
}

impl std::error::Error for StepError {}

/// The first unknown at which a vector is not finite.
pub(crate) fn first_not_finite(vectors: &[&[f64]]) -> Option<usize> {
    let n = vectors.first().map_or(0, |x| x.len());
    let bad = threads::first_failing(n, |at| {
        // Without early exit, so that the loop vectorises.
        vectors.iter().all(|x| x[at.clone()].iter().fold(true, |all, x| all & x.is_finite()))
    })?;
    bad.into_iter().find(|&i| vectors.iter().any(|x| !x[i].is_finite()))
}
