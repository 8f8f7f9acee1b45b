//! Newton's method for a function whose gradient is the equation.

use super::progress::Progress;
use super::quasi::{self, Shortcut};
use super::workspace::Made;
use super::{
    Curvature, Objective, SolveError, SolveReport, Stopping, Workspace, check_finite, dot, largest, max_norm,
};
use crate::inner::Inner;

/// Minimises from `x`, which holds the minimiser afterwards (on failure: the best point reached).
/// `origin` is where the step began: the tolerance is relative to the distance from there.
pub fn minimize(
    objective: &mut dyn Objective,
    x: &mut [f64],
    origin: &[f64],
    stopping: &Stopping,
    work: &mut Workspace,
) -> Result<SolveReport, SolveError> {
    // A step that fails leaves no trace.
    let experience = work.experience();
    let solved = Descent::new(objective, x, origin, stopping, work).and_then(|descent| descent.run(x));
    if solved.is_err() {
        work.forget();
        work.experienced(&experience);
    }
    solved
}

struct Descent<'a> {
    objective: &'a mut dyn Objective,
    origin: &'a [f64],
    stopping: &'a Stopping,
    work: &'a mut Workspace,
    report: SolveReport,
    progress: Progress,
    curvature: Curvature,
    /// For small systems.
    shortcut: Option<Shortcut>,
    /// Value here and magnitude of its terms; none after a step that was taken without asking.
    value: Option<(f64, f64)>,
}

/// Where to go, as it stands in the workspace.
struct Way {
    /// Its size, m.
    correction: f64,
    /// The share of it that may be missing.
    error: f64,
    slope: f64,
    /// Whether it was found without a new matrix.
    short: bool,
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
        let small = Inner::is_small(x.len()) && !stopping.direct;
        Ok(Self {
            objective,
            origin,
            stopping,
            work,
            report: SolveReport::default(),
            progress: Progress::default(),
            curvature: Curvature::Exact,
            shortcut: small.then(Shortcut::default),
            value: Some(value),
        })
    }

    fn run(mut self, x: &mut [f64]) -> Result<SolveReport, SolveError> {
        while self.report.iterations < self.stopping.max_iterations {
            self.report.iterations += 1;
            self.objective.gradient(x, &mut self.work.gradient);
            if let Err(failure) = check_finite(&self.work.gradient) {
                // Only a step that was taken without asking is to blame, if there was one: it is taken back.
                let Some(shortcut) = self.shortcut.as_mut().filter(|_| self.value.is_none()) else {
                    return Err(failure);
                };
                x.copy_from_slice(&self.work.trial);
                shortcut.close();
                continue;
            }
            // Which steps are taken is judged by the tolerance asked for, when to end by the one in force.
            let asked @ [threshold, _] = self.stopping.thresholds(x, self.origin);
            let enough @ [_, left] = self.stopping.in_force().thresholds(x, self.origin);
            let accuracy = self.progress.accuracy(&self.work.gradient, left);
            let way = self.way(x, accuracy)?;
            let step = if way.short && !self.shortens(&way) { None } else { self.go(x, &way, threshold) };
            let Some(step) = step else {
                match (&mut self.shortcut, self.curvature) {
                    (Some(shortcut), _) if way.short => shortcut.close(),
                    (_, Curvature::Exact) => self.curvature = Curvature::Projected,
                    _ => {
                        let worst = largest(&self.work.gradient);
                        return Err(SolveError::LineSearch { corrections: self.report.corrections, worst });
                    }
                }
                continue;
            };
            let Way { correction, error, .. } = way;
            let ahead = self.progress.ahead(correction, error, step);
            let converged = |[threshold, left]: [f64; 2]| {
                let small = correction <= threshold && error * correction <= left;
                step == 1.0 && (small || ahead <= left)
            };
            if converged(asked) || converged(enough) {
                if !converged(asked) {
                    self.report.shortfall = (correction.min(ahead) / threshold).max(1.0);
                }
                if self.shortcut.is_some_and(|shortcut| shortcut.worn()) {
                    self.work.forget();
                }
                return Ok(self.report);
            }
            if let Some(shortcut) = &mut self.shortcut {
                shortcut.leave(&self.work.gradient, step, &self.work.direction);
            }
            // A full step says that the model is good here: try the exact curvature (again).
            self.curvature = if step == 1.0 { Curvature::Exact } else { Curvature::Projected };
        }
        let worst = largest(&self.work.gradient);
        Err(SolveError::Iterations { corrections: self.report.corrections, worst })
    }

    /// Where to go from here, into `work.direction`.
    fn way(&mut self, x: &[f64], accuracy: f64) -> Result<Way, SolveError> {
        if let Some(shortcut) = &mut self.shortcut {
            shortcut.arrive(&self.work.gradient);
        }
        let open = self.shortcut.as_mut().filter(|shortcut| shortcut.is_open() && self.work.made.is_some());
        let short = open.is_some();
        let error = match open {
            Some(shortcut) => {
                let Workspace { factor, inner, gradient, direction, .. } = &mut *self.work;
                shortcut.direction(gradient, direction, &mut |x| inner.precondition(factor, x));
                self.progress.fall(max_norm(direction))
            }
            None => self.solve(x, accuracy)?,
        };
        check_finite(&self.work.direction)?;
        let correction = max_norm(&self.work.direction);
        self.report.corrections.push(correction);
        let slope = dot(&self.work.gradient, &self.work.direction);
        Ok(Way { correction, error, slope, short })
    }

    /// Newton's direction; returns the share of it that is missing.
    fn solve(&mut self, x: &[f64], accuracy: f64) -> Result<f64, SolveError> {
        let Workspace { matrix, factor, inner, gradient, direction, made, .. } = &mut *self.work;
        let solved = loop {
            self.objective.hessian(x, self.curvature, matrix);
            match inner.solve(matrix, factor, x, gradient, direction, accuracy) {
                Ok(solved) => break solved,
                Err(_) if self.curvature == Curvature::Exact => self.curvature = Curvature::Projected,
                Err(e) => return Err(SolveError::Singular { dof: e.dof }),
            }
        };
        direction.iter_mut().for_each(|d| *d = -*d);
        self.report.linear_iterations += solved.iterations;
        self.report.multigrid += usize::from(solved.coarsened);
        if let Some(means) = solved.made.filter(|_| !self.stopping.direct) {
            // With contact the next step is another problem.
            let circumstances = self.objective.circumstances().filter(|_| matrix.extra().is_empty());
            let curvature = self.curvature;
            *made =
                circumstances.map(|circumstances| Made { x: x.to_vec(), curvature, circumstances, means });
        } else if inner.kept().is_none() {
            *made = None;
        }
        Ok(solved.error)
    }

    /// Whether a short way is better than a new matrix.
    fn shortens(&self, way: &Way) -> bool {
        way.slope <= 0.0 && (way.error <= quasi::FALL || self.report.iterations == 1)
    }

    /// Goes along the way as far as the value falls; returns the share of it that was gone, none if there is none.
    fn go(&mut self, x: &mut [f64], way: &Way, threshold: f64) -> Option<f64> {
        let Workspace { trial, direction, .. } = &mut *self.work;
        let mut step = self.objective.max_step(x, direction).min(1.0);
        // Where corrections fall like this only the minimum is ahead: the next gradient tells enough, if there is to be one.
        if way.short && way.error < quasi::SURE && step == 1.0 && self.stopping.enough.is_none() {
            trial.copy_from_slice(x);
            x.iter_mut().zip(direction).for_each(|(x, d)| *x += *d);
            self.value = None;
            return Some(step);
        }
        let (value, magnitude) = match self.value {
            Some(value) => value,
            None => self.objective.value(x),
        };
        // Below this the decrease drowns in the round-off of the value; Newton's step is then as
        // good as it gets and is taken if feasible.
        let drowned = -way.slope <= 1e-11 * magnitude || way.correction <= threshold;
        for _ in 0..50 {
            for (t, (x, d)) in trial.iter_mut().zip(x.iter().zip(&*direction)) {
                *t = x + step * d;
            }
            let there = self.objective.value(trial);
            let enough = value + 1e-4 * step * way.slope;
            // A converged correction is below what can be told apart: near a rest state without any
            // stress the value is all round-off, and no rule about its decrease holds.
            let negligible = way.correction <= threshold && there.0.is_finite();
            if there.0 <= enough || negligible || (drowned && there.0 <= value + 1e-10 * magnitude) {
                x.copy_from_slice(trial);
                self.value = Some(there);
                return Some(step);
            }
            step *= 0.5;
        }
        self.value = Some((value, magnitude));
        None
    }
}
