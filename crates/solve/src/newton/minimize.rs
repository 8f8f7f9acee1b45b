//! Newton's method for minimisation, with a line search.

use super::forcing::Forcing;
use super::line_search::LineSearch;
use super::quasi_newton::{FAST_CONTRACTION, QuasiNewton, SUFFICIENT_CONTRACTION};
use super::{
    Curvature, KeptMemory, Objective, SolveError, SolveReport, Stopping, Workspace, check_finite, dot,
    largest, max_norm,
};
use crate::linear::LinearSystem;

/// Minimises from `x`, which holds the minimiser afterwards (on failure, the best point reached). `origin` is the start of
/// the time step. The tolerance is relative to the distance from there.
pub fn minimize(
    objective: &mut dyn Objective,
    x: &mut [f64],
    origin: &[f64],
    stopping: &Stopping,
    work: &mut Workspace,
) -> Result<SolveReport, SolveError> {
    // A failed solve must not influence later ones.
    let choice = work.choice();
    let solved = Descent::new(objective, x, origin, stopping, work).and_then(|descent| descent.run(x));
    if solved.is_err() {
        work.restore_choice(choice);
    }
    solved
}

/// The state of a minimisation.
struct Descent<'a> {
    objective: &'a mut dyn Objective,
    origin: &'a [f64],
    stopping: &'a Stopping,
    work: &'a mut Workspace,
    report: SolveReport,
    forcing: Forcing,
    curvature: Curvature,
    /// Quasi-Newton directions; small systems only.
    quasi_newton: Option<QuasiNewton>,
    /// Value at x and magnitude of its terms; `None` after a step that was taken without evaluating it.
    value: Option<(f64, f64)>,
}

/// Properties of the direction in `work.direction`.
struct Direction {
    /// Maximum norm, m.
    correction: f64,
    /// Estimated relative error.
    error: f64,
    /// Derivative of the value along the direction.
    slope: f64,
    /// Whether it is a quasi-Newton direction.
    quasi_newton: bool,
}

impl<'a> Descent<'a> {
    fn new(
        objective: &'a mut dyn Objective,
        x: &[f64],
        origin: &'a [f64],
        stopping: &'a Stopping,
        work: &'a mut Workspace,
    ) -> Result<Self, SolveError> {
        work.resize(x.len());
        let value = objective.value(x);
        if value.0.is_nan() {
            return Err(SolveError::NotFinite { dof: None });
        }
        if value.0 == f64::INFINITY {
            return Err(SolveError::InfeasibleStart);
        }
        work.begin(objective, stopping.direct);
        let small = work.linear.prefers_factor(x.len()) && !stopping.direct;
        Ok(Self {
            objective,
            origin,
            stopping,
            work,
            report: SolveReport::default(),
            forcing: Forcing::default(),
            curvature: Curvature::Exact,
            quasi_newton: small.then(QuasiNewton::default),
            value: Some(value),
        })
    }

    fn run(mut self, x: &mut [f64]) -> Result<SolveReport, SolveError> {
        while self.report.iterations < self.stopping.max_iterations {
            self.report.iterations += 1;
            self.objective.gradient(x, &mut self.work.gradient);
            if let Err(failure) = check_finite(&self.work.gradient) {
                // Undo a step that was taken without evaluating the value.
                let Some(quasi_newton) = self.quasi_newton.as_mut().filter(|_| self.value.is_none()) else {
                    return Err(failure);
                };
                x.copy_from_slice(&self.work.trial);
                quasi_newton.disable();
                continue;
            }
            // The line search uses the requested tolerance. The solve ends by the tolerance in force.
            let asked @ [threshold, _] = self.stopping.thresholds(x, self.origin);
            let in_force @ [_, left] = self.stopping.in_force().thresholds(x, self.origin);
            let accuracy = self.forcing.term(&self.work.gradient, left);
            let direction = self.direction(x, accuracy)?;
            let step = if direction.quasi_newton && !self.is_sufficient(&direction) {
                None
            } else {
                self.line_search(x, &direction, threshold)
            };
            tracing::debug!(
                iteration = self.report.iterations,
                correction = direction.correction,
                threshold,
                step_length = step.unwrap_or(0.0),
                curvature = ?self.curvature,
                quasi_newton = direction.quasi_newton,
                "Newton, minimum"
            );
            let Some(step) = step else {
                match (&mut self.quasi_newton, self.curvature) {
                    (Some(quasi_newton), _) if direction.quasi_newton => quasi_newton.disable(),
                    (_, Curvature::Exact) => self.curvature = Curvature::Projected,
                    _ => {
                        let worst = largest(&self.work.gradient);
                        return Err(SolveError::LineSearch { corrections: self.report.corrections, worst });
                    }
                }
                continue;
            };
            let Direction { correction, error, .. } = direction;
            let next = self.forcing.predict(correction, error, step);
            let converged = |[threshold, left]: [f64; 2]| {
                let small = correction <= threshold && error * correction <= left;
                step == 1.0 && (small || next <= left)
            };
            if converged(asked) || converged(in_force) {
                if !converged(asked) {
                    self.report.shortfall = (correction.min(next) / threshold).max(1.0);
                }
                if self.quasi_newton.is_some_and(|quasi_newton| quasi_newton.has_outdated_factor()) {
                    self.work.discard_kept();
                }
                return Ok(self.report);
            }
            if let Some(quasi_newton) = &mut self.quasi_newton {
                quasi_newton.begin_step(&self.work.gradient, step, &self.work.direction);
            }
            // After a full step the quadratic model is good: use the exact Hessian again.
            self.curvature = if step == 1.0 { Curvature::Exact } else { Curvature::Projected };
        }
        let worst = largest(&self.work.gradient);
        Err(SolveError::Iterations { corrections: self.report.corrections, worst })
    }

    /// Computes the direction at x into `work.direction`.
    fn direction(&mut self, x: &[f64], accuracy: f64) -> Result<Direction, SolveError> {
        if let Some(quasi_newton) = &mut self.quasi_newton {
            quasi_newton.end_step(&self.work.gradient);
        }
        let usable = self.quasi_newton.as_mut().filter(|q| q.is_enabled() && self.work.kept.is_some());
        let quasi_newton = usable.is_some();
        let error = match usable {
            Some(usable) => {
                let Workspace { linear, low_rank, gradient, direction, .. } = &mut *self.work;
                let mut inverse = |x: &mut [f64]| linear.precondition(low_rank.as_ref(), x);
                usable.direction(gradient, direction, &mut inverse);
                self.forcing.contraction(max_norm(direction))
            }
            None => self.newton_direction(x, accuracy)?,
        };
        check_finite(&self.work.direction)?;
        let correction = max_norm(&self.work.direction);
        self.report.corrections.push(correction);
        let slope = dot(&self.work.gradient, &self.work.direction);
        Ok(Direction { correction, error, slope, quasi_newton })
    }

    /// Computes the Newton direction; returns its relative error.
    fn newton_direction(&mut self, x: &[f64], accuracy: f64) -> Result<f64, SolveError> {
        let Workspace { matrix, rows, low_rank, linear, gradient, direction, kept, .. } = &mut *self.work;
        rows.clear();
        let solved = loop {
            self.objective.hessian(x, self.curvature, matrix);
            let system = LinearSystem { matrix, low_rank: low_rank.as_ref(), rows, positions: x };
            match linear.solve(&system, gradient, direction, accuracy) {
                Ok(solved) => break solved,
                Err(_) if self.curvature == Curvature::Exact => self.curvature = Curvature::Projected,
                Err(e) => return Err(SolveError::Singular { dof: e.dof }),
            }
        };
        direction.iter_mut().for_each(|d| *d = -*d);
        self.report.linear_iterations += solved.iterations;
        self.report.multigrid += usize::from(solved.multigrid);
        if let Some(kind) = solved.new.filter(|_| !self.stopping.direct) {
            // With contact the matrix of the next step differs too much.
            let key = self.objective.reuse_key().filter(|_| matrix.extra().is_empty());
            let curvature = self.objective.curvature_at(x, self.curvature);
            *kept = key.map(|key| KeptMemory { x: x.to_vec(), rates: Vec::new(), curvature, key, kind });
        } else if linear.kept().is_none() {
            *kept = None;
        }
        Ok(solved.error)
    }

    /// Whether a quasi-Newton direction is worth taking instead of assembling a new matrix.
    fn is_sufficient(&self, direction: &Direction) -> bool {
        direction.slope <= 0.0 && (direction.error <= SUFFICIENT_CONTRACTION || self.report.iterations == 1)
    }

    /// Moves x along the direction. Returns the step length; `None` if no step is acceptable.
    fn line_search(&mut self, x: &mut [f64], direction: &Direction, threshold: f64) -> Option<f64> {
        let Workspace { trial, direction: d, .. } = &mut *self.work;
        let step = self.objective.max_step(x, d).min(1.0);
        // Corrections that contract this fast converge. The next gradient is a sufficient check, if it will be computed.
        let fast = direction.quasi_newton && direction.error < FAST_CONTRACTION;
        if fast && step == 1.0 && self.stopping.enough.is_none() {
            trial.copy_from_slice(x);
            x.iter_mut().zip(d).for_each(|(x, d)| *x += *d);
            self.value = None;
            return Some(step);
        }
        let start = match self.value {
            Some(value) => value,
            None => self.objective.value(x),
        };
        let Direction { correction, slope, .. } = *direction;
        let search = LineSearch { x, direction: d, slope, start, correction, threshold };
        let accepted = search.run(self.objective, step, trial);
        self.value = Some(accepted.map_or(start, |(_, value)| value));
        accepted.map(|(step, _)| {
            x.copy_from_slice(trial);
            step
        })
    }
}
