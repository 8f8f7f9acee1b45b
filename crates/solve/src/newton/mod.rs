//! Newton's method twice: as a minimiser of a function whose gradient is the equation, and as a
//! root finder for equations that have no such function.
//!
//! \[kharevych2006\] §4 argues for minimising; the root finder stands beside it for forces without
//! potential (viscosity, discrete gradients) and so that the two can be compared.
//!
//! Convergence is judged by the Newton correction, not by the gradient: the correction is a length,
//! means the same for jelly and diamond, and is not spoilt by round-off in stiff forces. A
//! correction below tolerance is still applied: what is left is its square, and what the linear solve left of it.

mod failure;
mod quasi;
mod workspace;

pub use failure::SolveError;
pub use workspace::Workspace;

use crate::inner::Inner;
use crate::krylov::gmres;
use crate::{BlockMatrix, Deflation, NotPositiveDefinite, SparseRows};
use quasi::Pairs;
use workspace::Made;

/// Which second derivative is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// The second derivative itself, possibly indefinite.
    Exact,
    /// Its positive semidefinite projection, element by element.
    Projected,
}

/// A function to be minimised.
pub trait Objective {
    /// Value, and the magnitude of the largest term in it (its round-off is ε times that).
    /// +∞ where `x` is infeasible.
    fn value(&mut self, x: &[f64]) -> (f64, f64);
    /// Gradient, overwriting `g`; zero for held unknowns.
    fn gradient(&mut self, x: &[f64], g: &mut [f64]);
    /// Second derivative, overwriting `h`; identity for held unknowns.
    fn hessian(&mut self, x: &[f64], curvature: Curvature, h: &mut BlockMatrix);
    /// What the second derivative has beyond that matrix, along a few vectors; the same at every point.
    fn low_rank(&self) -> Option<Deflation> {
        None
    }
    /// Largest multiple of `d` that is known to be feasible from `x`.
    fn max_step(&mut self, _x: &[f64], _d: &[f64]) -> f64 {
        f64::INFINITY
    }
    /// What the second derivative depends on beside `x`: the time, and two numbers that must be the same for a factor
    /// to serve another step as well. `None`: it must not.
    fn circumstances(&self) -> Option<Circumstances> {
        None
    }
    /// The second derivative at another time; see [`Objective::hessian`].
    fn hessian_then(&mut self, _time: f64, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.hessian(x, curvature, h);
    }
}

/// See [`Objective::circumstances`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circumstances {
    /// s.
    pub time: f64,
    /// What does not change from step to step.
    pub same: [f64; 2],
}

/// Equations to be solved, r(x) = 0.
pub trait Equations {
    /// Residual, overwriting `r`; zero for held unknowns. `false` where `x` is infeasible.
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> bool;
    /// A symmetric approximation of ∂r/∂x, overwriting `a`; identity for held unknowns.
    fn preconditioner(&mut self, x: &[f64], curvature: Curvature, a: &mut BlockMatrix);
    /// What is to be added to that matrix along a few vectors.
    fn low_rank(&self) -> Option<Deflation> {
        None
    }
    /// Weights of the merit function Σ wᵢ rᵢ².
    fn weight(&self, i: usize) -> f64;
    /// How many multipliers of constraints follow the unknowns in `x`, and constraints their equations in `r`.
    fn multipliers(&self) -> usize {
        0
    }
    /// The derivative B of the residual in the multipliers, transposed, at `x`; the derivative of the constraints
    /// in the unknowns is close to it. Zero for held unknowns.
    fn rows(&mut self, _x: &[f64], b: &mut SparseRows) {
        b.clear();
    }
    /// Whether B depends on the unknowns.
    fn rows_move(&self) -> bool {
        false
    }
    /// Whether constraints with these residuals hold as closely as they are asked to.
    fn kept(&self, _r: &[f64]) -> bool {
        true
    }
    /// Largest multiple of `d` that is known to be feasible from `x`.
    fn max_step(&mut self, _x: &[f64], _d: &[f64]) -> f64 {
        f64::INFINITY
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Stopping {
    /// Relative size of the last Newton correction.
    pub tolerance: f64,
    /// Iterations before giving up.
    pub max_iterations: usize,
    /// Size of the body, m: the floor below which corrections are round-off.
    pub length: f64,
    /// Whether every linear system is solved by a factorisation of its own.
    pub direct: bool,
    /// Whether no more may be left than the square of the tolerance, which is what a whole correction leaves. Methods that
    /// keep momenta keep them as well as their equations are solved.
    pub conserving: bool,
    /// A looser tolerance, with which a solve in a hurry may be content; it then reports its shortfall.
    pub enough: Option<f64>,
}

impl Stopping {
    /// What is asked for, but with the tolerance in force.
    fn in_force(&self) -> Self {
        Self { tolerance: self.enough.unwrap_or(self.tolerance).max(self.tolerance), ..*self }
    }

    /// Corrections up to the first size (maximum norm) are converged at `x` when the step began at `origin`; up to the
    /// second may be left.
    fn thresholds(&self, x: &[f64], origin: &[f64]) -> [f64; 2] {
        // 1e-4: a body at rest is followed to tolerance × 0.1 mm per metre; 32 ε: round-off, of
        // positions that may be far from the origin of coordinates.
        let resolved = 32.0 * f64::EPSILON * self.length.max(max_norm(x));
        let converged =
            self.tolerance * distance(x, origin) + (self.tolerance * 1e-4 * self.length).max(resolved);
        [
            converged,
            if self.conserving { (self.tolerance * converged).max(0.1 * resolved) } else { converged },
        ]
    }
}

/// How a solve went.
#[derive(Clone, Debug, Default)]
pub struct SolveReport {
    /// Newton iterations.
    pub iterations: usize,
    /// Linear iterations inside them (0 where every system was solved directly).
    pub linear_iterations: usize,
    /// Linear systems that were solved with a multigrid method.
    pub multigrid: usize,
    /// Maximum norm of each correction, m.
    pub corrections: Vec<f64>,
    /// How many times the last correction, or the one to be expected next, was what the tolerance asked for allows, where the
    /// solve was content with a looser one; 0 where it converged.
    pub shortfall: f64,
}

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
    let solved = descend(objective, x, origin, stopping, work);
    if solved.is_err() {
        work.forget();
        work.experienced(&experience);
    }
    solved
}

fn descend(
    objective: &mut dyn Objective,
    x: &mut [f64],
    origin: &[f64],
    stopping: &Stopping,
    work: &mut Workspace,
) -> Result<SolveReport, SolveError> {
    let mut report = SolveReport::default();
    work.resize(x.len());
    let (mut value, mut magnitude) = objective.value(x);
    if value.is_nan() {
        return Err(SolveError::NotFinite { dof: None });
    }
    if value == f64::INFINITY {
        return Err(SolveError::InfeasibleStart);
    }
    let mut curvature = Curvature::Exact;
    let mut progress = Progress::default();
    work.begin(objective, stopping.direct);
    let small = Inner::is_small(x.len()) && !stopping.direct;
    let (mut pairs, mut quasi, mut fast) = (Pairs::default(), 0, true);
    let mut known = true;
    while report.iterations < stopping.max_iterations {
        report.iterations += 1;
        objective.gradient(x, &mut work.gradient);
        check_finite(&work.gradient)?;
        // Which steps are taken is judged by the tolerance asked for, when to end by the one in force.
        let asked @ [threshold, _] = stopping.thresholds(x, origin);
        let enough @ [_, left] = stopping.in_force().thresholds(x, origin);
        let accuracy = progress.accuracy(&work.gradient, left);
        pairs.arrive(&work.gradient);
        let without = small && fast && work.made.is_some();
        if !without && !known {
            ((value, magnitude), known) = (objective.value(x), true);
        }
        let error = loop {
            if without {
                let Workspace { factor, inner, gradient, direction, .. } = work;
                pairs.direction(gradient, direction, &mut |x| inner.precondition(factor, x));
                quasi += 1;
                break progress.fall(max_norm(direction));
            }
            objective.hessian(x, curvature, &mut work.matrix);
            let Workspace { matrix, factor, inner, gradient, direction, .. } = work;
            match inner.solve(matrix, factor, x, gradient, direction, accuracy) {
                Ok(solved) => {
                    report.linear_iterations += solved.iterations;
                    report.multigrid += usize::from(solved.coarsened);
                    if let Some(means) = solved.made
                        && !stopping.direct
                    {
                        // With contact the next step is another problem.
                        let circumstances = objective.circumstances().filter(|_| matrix.extra().is_empty());
                        work.made = circumstances.map(|circumstances| Made {
                            x: x.to_vec(),
                            curvature,
                            circumstances,
                            means,
                        });
                    } else if inner.kept().is_none() {
                        work.made = None;
                    }
                    break solved.error;
                }
                Err(_) if curvature == Curvature::Exact => curvature = Curvature::Projected,
                Err(e) => return Err(SolveError::Singular { dof: e.dof }),
            }
        };
        if !without {
            work.direction.iter_mut().for_each(|d| *d = -*d);
        }
        check_finite(&work.direction)?;
        let correction = max_norm(&work.direction);
        report.corrections.push(correction);
        let slope: f64 = dot(&work.gradient, &work.direction);
        if without && (slope > 0.0 || error > quasi::FALL && report.iterations > 1) {
            fast = false;
            continue;
        }

        let mut step = objective.max_step(x, &work.direction).min(1.0);
        // Below this the decrease drowns in the round-off of the value; Newton's step is then as
        // good as it gets and is taken if feasible.
        let drowned = -slope <= 1e-11 * magnitude || correction <= threshold;
        // Where corrections fall like this only the minimum is ahead: the next gradient tells enough, if there is to be one.
        let sure = error < quasi::SURE && step == 1.0 && stopping.enough.is_none();
        let mut accepted = without && sure;
        if accepted {
            x.iter_mut().zip(&work.direction).for_each(|(x, d)| *x += d);
            known = false;
        } else if !known {
            ((value, magnitude), known) = (objective.value(x), true);
        }
        for _ in 0..if accepted { 0 } else { 50 } {
            for (t, (x, d)) in work.trial.iter_mut().zip(x.iter().zip(&work.direction)) {
                *t = x + step * d;
            }
            let (trial, size) = objective.value(&work.trial);
            let enough = value + 1e-4 * step * slope;
            // A converged correction is below what can be told apart: near a rest state without any
            // stress the value is all round-off, and no rule about its decrease holds.
            let negligible = correction <= threshold && trial.is_finite();
            if trial <= enough || negligible || (drowned && trial <= value + 1e-10 * magnitude) {
                x.copy_from_slice(&work.trial);
                (value, magnitude) = (trial, size);
                accepted = true;
                break;
            }
            step *= 0.5;
        }
        if !accepted {
            if without {
                fast = false;
                continue;
            }
            if curvature == Curvature::Exact {
                curvature = Curvature::Projected;
                continue;
            }
            return Err(SolveError::LineSearch {
                corrections: report.corrections,
                worst: largest(&work.gradient),
            });
        }
        let ahead = progress.ahead(correction, error, step);
        let converged = |[threshold, left]: [f64; 2]| {
            let small = correction <= threshold && error * correction <= left;
            step == 1.0 && (small || ahead <= left)
        };
        if converged(asked) || converged(enough) {
            if !converged(asked) {
                report.shortfall = (correction.min(ahead) / threshold).max(1.0);
            }
            if quasi > quasi::WORN {
                work.forget();
            }
            return Ok(report);
        }
        if small {
            pairs.leave(&work.gradient, step, &work.direction);
        }
        // A full step says that the model is good here: try the exact curvature (again).
        curvature = if step == 1.0 { Curvature::Exact } else { Curvature::Projected };
    }
    Err(SolveError::Iterations { corrections: report.corrections, worst: largest(&work.gradient) })
}

/// How Newton's method is getting on: what the next linear system is worth, and when the next correction need not be
/// computed to be known.
#[derive(Default)]
struct Progress {
    /// Norm of the last gradient.
    gradient: Option<f64>,
    /// The last correction, if the step was full.
    correction: Option<f64>,
}

impl Progress {
    /// How closely the next system should be solved. Newton's method by itself will be off by the square of the part ρ that
    /// was left of the gradient \[eisenstat1996\]; less than a tenth of what may be left is never needed.
    fn accuracy(&mut self, gradient: &[f64], left: f64) -> f64 {
        let now = dot(gradient, gradient).sqrt();
        let accuracy = match self.gradient.zip(self.correction) {
            Some((before, correction)) if now < before => {
                let part = now / before;
                (0.1 * left / (part * correction)).max(part * part)
            }
            _ => 1e-3,
        };
        self.gradient = Some(now);
        accuracy.clamp(1e-12, 1e-2)
    }

    /// The share of the last correction that this one has; 1 if there was none.
    fn fall(&self, correction: f64) -> f64 {
        self.correction.map_or(1.0, |before| correction / before)
    }

    /// The correction to be expected after this one, of which the linear solve missed the share `error`: corrections
    /// fall off quadratically, if they fell fast enough already \[deuflhard2011\]; with a margin of three.
    fn ahead(&mut self, correction: f64, error: f64, step: f64) -> f64 {
        let ratio = self.fall(correction);
        self.correction = (step == 1.0).then_some(correction);
        if ratio < 0.1 { 3.0 * (ratio * ratio + error) * correction } else { f64::INFINITY }
    }
}

/// Solves r(x) = 0 from `x` by Newton–Krylov: the Jacobian acts by differences of the residual, the
/// factorised symmetric approximation preconditions, and a step must reduce the merit Σ w r².
///
/// With constraints, `x` is followed by multipliers, and the preconditioner is the saddle-point matrix
/// [A Bᵀ; B 0]; corrections are measured in the unknowns alone, and the solve goes on until the constraints
/// are kept as well.
pub fn find_root(
    equations: &mut dyn Equations,
    x: &mut [f64],
    origin: &[f64],
    stopping: &Stopping,
    work: &mut Workspace,
) -> Result<SolveReport, SolveError> {
    let mut report = SolveReport::default();
    let n = x.len() - equations.multipliers();
    let origin = &origin[..n];
    work.resize(x.len());
    let mut polished = 0;
    work.forget();
    if !equations.residual(x, &mut work.gradient) {
        return Err(SolveError::InfeasibleStart);
    }
    check_finite(&work.gradient)?;
    let mut merit = weighted_square(equations, &work.gradient);
    let mut refactor = true;
    while report.iterations < stopping.max_iterations {
        report.iterations += 1;
        if refactor {
            precondition(equations, x, work).map_err(|e| SolveError::Singular { dof: e.dof })?;
        }
        let linear = newton_direction(equations, x, stopping.length, work);
        report.linear_iterations += linear;
        // The factor serves the whole step while it preconditions well; a new one costs about as much as
        // ten linear iterations. It is never kept for the next step: a step is a function of its state.
        refactor = stopping.direct || linear > 10;
        check_finite(&work.direction)?;
        let correction = max_norm(&work.direction[..n]);
        report.corrections.push(correction);
        let [threshold, _] = stopping.thresholds(&x[..n], origin);
        let converged = correction <= threshold;

        let mut step = equations.max_step(&x[..n], &work.direction[..n]).min(1.0);
        let mut accepted = false;
        for _ in 0..40 {
            for (t, (x, d)) in work.trial.iter_mut().zip(x.iter().zip(&work.direction)) {
                *t = x + step * d;
            }
            if equations.residual(&work.trial, &mut work.trial_gradient) {
                let trial = weighted_square(equations, &work.trial_gradient);
                if trial <= (1.0 - 2e-4 * step) * merit || (converged && trial.is_finite()) {
                    x.copy_from_slice(&work.trial);
                    std::mem::swap(&mut work.gradient, &mut work.trial_gradient);
                    merit = trial;
                    accepted = true;
                    break;
                }
            }
            step *= 0.5;
        }
        if !accepted {
            return Err(SolveError::LineSearch {
                corrections: report.corrections,
                worst: largest(&work.gradient[..n]),
            });
        }
        let [enough, _] = stopping.in_force().thresholds(&x[..n], origin);
        if !converged && correction <= enough && step == 1.0 && equations.kept(&work.gradient[n..]) {
            report.shortfall = (correction / threshold).max(1.0);
            return Ok(report);
        }
        if converged && step == 1.0 {
            // Each further iteration gains three digits; beyond a few there is only round-off to win.
            polished += 1;
            if polished > 4 || equations.kept(&work.gradient[n..]) {
                return Ok(report);
            }
        }
    }
    Err(SolveError::Iterations { corrections: report.corrections, worst: largest(&work.gradient[..n]) })
}

/// Factorises what preconditions: the matrix, with the rows of constraints around it if there are any.
fn precondition(
    equations: &mut dyn Equations,
    x: &[f64],
    work: &mut Workspace,
) -> Result<(), NotPositiveDefinite> {
    let n = x.len() - equations.multipliers();
    equations.rows(x, &mut work.rows);
    let mut last = Ok(());
    for curvature in [Curvature::Exact, Curvature::Projected] {
        equations.preconditioner(&x[..n], curvature, &mut work.matrix);
        last = match work.rows.is_empty() {
            true => work.factor.factor(&work.matrix),
            false => work.saddle.factor(&work.matrix, &mut work.factor, &work.rows),
        };
        if last.is_ok() {
            break;
        }
    }
    work.deflation = equations.low_rank();
    last
}

/// −J⁻¹ r into `work.direction`; returns the linear iterations.
fn newton_direction(equations: &mut dyn Equations, x: &[f64], length: f64, work: &mut Workspace) -> usize {
    // Balances truncation (∝ δ) against round-off of positions (∝ ε |x|/δ).
    let offset = max_norm(&x[..x.len() - work.rows.len()]).max(length);
    let delta = (f64::EPSILON * offset * length).sqrt();
    let residual = &work.gradient;
    let (trial, difference) = (&mut work.trial, &mut work.trial_gradient);
    let (factor, saddle, matrix, rows) = (&mut work.factor, &mut work.saddle, &work.matrix, &work.rows);
    let deflation = &work.deflation;
    let n = x.len() - rows.len();
    // The residual is linear in the multipliers: only the unknowns are varied, for these rows.
    let here = equations.rows_move().then(|| {
        let mut here = SparseRows::new();
        equations.rows(x, &mut here);
        here
    });
    let directions = here.as_ref().unwrap_or(rows);
    let mut apply = |d: &[f64], out: &mut [f64]| {
        let size = max_norm(&d[..n]);
        out.fill(0.0);
        directions.add_transposed(1.0, &d[n..], out);
        if size == 0.0 {
            return;
        }
        let mut epsilon = delta / size;
        for _ in 0..8 {
            trial[n..].copy_from_slice(&x[n..]);
            for (t, (x, d)) in trial.iter_mut().zip(x.iter().zip(&d[..n])) {
                *t = x + epsilon * d;
            }
            if equations.residual(trial, difference) {
                break;
            }
            epsilon *= -0.5;
        }
        for (o, (r1, r0)) in out.iter_mut().zip(difference.iter().zip(residual)) {
            *o += (r1 - r0) / epsilon;
        }
    };
    let minus: Vec<f64> = residual.iter().map(|r| -r).collect();
    work.direction.fill(0.0);
    // 1e-3: each Newton iteration then gains three digits, at one or two linear iterations each.
    let mut precondition = |z: &mut [f64]| match (rows.is_empty(), deflation) {
        (true, None) => factor.solve(z),
        (true, Some(deflation)) => deflation.precondition(&mut |z| factor.solve(z), z),
        (false, _) => saddle.solve(matrix, factor, z, 1),
    };
    gmres(&mut apply, &mut precondition, &minus, &mut work.direction, 1e-3, 60).iterations
}

fn weighted_square(equations: &dyn Equations, r: &[f64]) -> f64 {
    r.iter().enumerate().map(|(i, r)| equations.weight(i) * r * r).sum()
}

fn check_finite(v: &[f64]) -> Result<(), SolveError> {
    match v.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(dof) => Err(SolveError::NotFinite { dof: Some(dof) }),
    }
}

/// The eight entries of largest size, largest first.
fn largest(v: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..v.len()).collect();
    order.sort_by(|&a, &b| v[b].abs().total_cmp(&v[a].abs()));
    order.truncate(8);
    order
}

/// max |vᵢ|.
pub fn max_norm(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// Σ aᵢ bᵢ.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}
