//! What a step leaves behind: a report or a reason; and what all integrators share at its ends.

use crate::constraints::Holding;
use crate::{State, System};
use lilyan_solve::newton::SolveError;
use lilyan_solve::threads;

/// How a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Integrating {
    /// Newton iterations.
    pub newton_iterations: usize,
    /// Linear iterations inside them.
    pub linear_iterations: usize,
    /// Linear systems that were solved with a multigrid method.
    pub multigrid: usize,
    /// Where less effort than asked for ended a solve early ([`crate::Integrator::set_effort`]): how many times its last
    /// correction was what the tolerance allows. 0 where nothing was cut.
    pub shortfall: f64,
}

impl Integrating {
    /// Takes another part of the same step along.
    pub fn add(&mut self, part: Self) {
        self.newton_iterations += part.newton_iterations;
        self.linear_iterations += part.linear_iterations;
        self.multigrid += part.multigrid;
        self.shortfall = self.shortfall.max(part.shortfall);
    }
}

/// Why a step failed. The state is then as it was before.
#[derive(Clone, Debug)]
pub enum StepError {
    /// The method cannot step this system at all.
    Refused {
        /// Why, and the remedy.
        reason: String,
    },
    /// The equation of the step could not be solved.
    Solve {
        /// Why.
        cause: SolveError,
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
    },
    /// The step ends in a state of infinite energy (an inverted element, say).
    Infeasible {
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
    },
    /// A constraint could not be kept.
    Constraint {
        /// Its name.
        name: String,
        /// How far it is off, relative to its scale.
        excess: f64,
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
    },
    /// Time adaption asks for a step out of all proportion.
    Pace {
        /// Time at the start of the step, s.
        t: f64,
        /// Nominal step, s.
        h: f64,
        /// The multiple of it that is asked for.
        sigma: f64,
    },
    /// A position or momentum is not a finite number.
    NotFinite {
        /// Time at the start of the step, s.
        t: f64,
        /// Step, s.
        h: f64,
        /// The first such unknown.
        dof: usize,
    },
}

impl StepError {
    /// Unknowns to blame, worst first, as far as known.
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
            Self::Infeasible { .. } | Self::Refused { .. } | Self::Constraint { .. } | Self::Pace { .. } => {
                Vec::new()
            }
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
            Self::Constraint { name, excess, t, h } => write!(
                f,
                "at t = {t:.6} s with a step of {h:.3e} s: the constraint {name} cannot be kept (off by {excess:.1e} of its size)"
            ),
            Self::Pace { t, h, sigma } => write!(
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

/// Where held unknowns are at the end of a step.
#[derive(Default)]
pub struct Ends {
    /// Which unknowns are held.
    pub mask: Vec<bool>,
    /// Positions at the end, m (meaningful where held).
    pub q: Vec<f64>,
    /// Velocities at the end, m/s (meaningful where held).
    pub v: Vec<f64>,
    /// Momenta of the velocities at the end.
    p: Vec<f64>,
    any: bool,
    /// Constraints of the step.
    pub holding: Holding,
}

impl Ends {
    /// Asks the system about a step of `h` from `state`, which must be finite.
    pub fn prepare(&mut self, system: &dyn System, state: &State, h: f64) -> Result<(), StepError> {
        let (n, t1) = (state.q.len(), state.t + h);
        // Here, where the culprit is still known: forces would spread it to its neighbours.
        if let Some(dof) = first_not_finite(&[&state.q, &state.p, &state.v]) {
            return Err(StepError::NotFinite { t: state.t, h, dof });
        }
        if self.hold(system, t1, n) {
            self.q.clone_from(&state.q);
            self.v.clone_from(&state.v);
            system.place_held(t1, &mut self.q, &mut self.v);
        } else {
            self.q.resize(n, 0.0);
            self.v.resize(n, 0.0);
        }
        self.holding.prepare(system, state, h, &self.mask);
        Ok(())
    }

    /// Asks which of the `n` unknowns are held at t; whether any is.
    pub fn hold(&mut self, system: &dyn System, t: f64, n: usize) -> bool {
        self.mask.resize(n, false);
        system.held(t, &mut self.mask);
        self.any = self.mask.contains(&true);
        self.any
    }

    /// Writes the mean velocity over the step into the held entries of `v`.
    pub fn mean_velocity(&self, q0: &[f64], h: f64, v: &mut [f64]) {
        if self.any {
            for i in 0..v.len() {
                if self.mask[i] {
                    v[i] = (self.q[i] - q0[i]) / h;
                }
            }
        }
    }

    /// The unknowns that are held.
    pub fn held(&self) -> impl Iterator<Item = usize> {
        // Few are, mostly: by eights, which are compared at once.
        let (eights, rest) = self.mask.as_chunks::<8>();
        let some = eights.iter().enumerate().filter(|(_, eight)| **eight != [false; 8]);
        let end = 8 * eights.len();
        some.flat_map(|(k, _)| 8 * k..8 * k + 8).chain(end..end + rest.len()).filter(|&i| self.mask[i])
    }

    /// Whether any unknown is held.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Completes (q₁, p₁): held unknowns in place, the end impulse applied, v = M⁻¹p; then moves
    /// `state` there, unless something is not finite.
    pub fn finish(
        &mut self,
        system: &dyn System,
        state: &mut State,
        h: f64,
        q1: &mut Vec<f64>,
        p1: &mut Vec<f64>,
    ) -> Result<(), StepError> {
        if self.any {
            for i in 0..q1.len() {
                if self.mask[i] {
                    q1[i] = self.q[i];
                }
            }
        }
        if system.has_impulse() {
            system.impulse(h, &state.q, q1, p1);
        }
        // `self.v` holds the prescribed velocities where held; the rest is overwritten.
        system.mass().solve(&self.mask, p1, &mut self.v);
        self.holding.finish(system, state, h, &self.mask, q1, &mut self.v, p1)?;
        if self.any {
            self.p.resize(p1.len(), 0.0);
            system.mass().mul(&self.v, &mut self.p);
            for i in 0..p1.len() {
                if self.mask[i] {
                    p1[i] = self.p[i];
                }
            }
        }
        if let Some(dof) = first_not_finite(&[q1, p1]) {
            return Err(StepError::NotFinite { t: state.t, h, dof });
        }
        std::mem::swap(&mut state.q, q1);
        std::mem::swap(&mut state.p, p1);
        std::mem::swap(&mut state.v, &mut self.v);
        state.t += h;
        Ok(())
    }
}

/// The first unknown of which one of the vectors holds no finite number.
pub(crate) fn first_not_finite(vectors: &[&[f64]]) -> Option<usize> {
    let n = vectors.first().map_or(0, |x| x.len());
    let bad = threads::first_bad(n, |at| {
        // Without a way out in the middle, so that it becomes vector instructions.
        vectors.iter().all(|x| x[at.clone()].iter().fold(true, |all, x| all & x.is_finite()))
    })?;
    bad.into_iter().find(|&i| vectors.iter().any(|x| !x[i].is_finite()))
}
