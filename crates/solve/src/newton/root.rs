//! Newton–Krylov method for equations that are not the gradient of a function.

use super::{
    Curvature, Equations, SolveError, SolveReport, Stopping, Workspace, check_finite, largest, max_norm,
    symmetric,
};
use crate::linear::{LinearSystem, Policy};
use crate::{NotPositiveDefinite, SparseRows, from_fn};

/// The forcing term, a constant relative residual of the linear solves. Each Newton iteration then gains three digits
/// and needs one or two linear iterations.
pub(super) const FORCING: f64 = 1e-3;
/// A limited step may raise the merit up to the largest of so many before \[grippo1986\].
const RECENT: usize = 4;
/// After so many iterations only steps that are cut may raise it: where features of contacts change, full steps can alternate between two
/// points.
const PATIENCE: usize = 10;
/// The accuracy of unknowns where steps are limited, relative to the size of the system. Stiff contacts magnify round-off, and a step that
/// is halved moves less and less, so that an accuracy relative to the motion could not be reached.
const LIMITED_ACCURACY: f64 = 1e-12;

/// Solves r(x) = 0 from `x`. Corrections by the symmetric part of the Jacobian are tried first, if it is close to the
/// whole and there are no constraints. Where they do not contract, the Newton–Krylov method solves the equations, and
/// the next solves begin with it.
///
/// The Newton–Krylov method is Jacobian-free. Products with the Jacobian are differences of the
/// residual. A symmetric approximation of it preconditions GMRES. The line search reduces the merit function Σ w r².
///
/// With constraints, Lagrange multipliers follow the unknowns in `x`, and the preconditioner is a factor of the
/// saddle-point matrix [A Bᵀ; B 0]. Corrections are measured in the unknowns alone. The solve ends when the constraints
/// are satisfied as well.
pub fn find_root(
    equations: &mut dyn Equations,
    x: &mut [f64],
    origin: &[f64],
    stopping: &Stopping,
    work: &mut Workspace,
) -> Result<SolveReport, SolveError> {
    let n = x.len() - equations.multipliers();
    let origin = &origin[..n];
    // A failed solve must not influence later ones.
    let choice = work.choice();
    let suitable = n == x.len() && !stopping.direct && equations.is_nearly_symmetric();
    if suitable && work.symmetric.is_over() {
        if let Some(report) = symmetric::solve(equations, x, origin, stopping, work) {
            return Ok(report);
        }
        work.symmetric.fail();
    }
    let solved = newton_krylov(equations, x, origin, stopping, work);
    if solved.is_err() {
        work.restore_choice(choice);
    }
    solved
}

/// See [`find_root`].
fn newton_krylov(
    equations: &mut dyn Equations,
    x: &mut [f64],
    origin: &[f64],
    stopping: &Stopping,
    work: &mut Workspace,
) -> Result<SolveReport, SolveError> {
    let mut report = SolveReport::default();
    let n = x.len() - equations.multipliers();
    work.resize(x.len());
    let mut converged_iterations = 0;
    work.discard_kept();
    if !equations.residual(x, &mut work.gradient) {
        return Err(SolveError::InfeasibleStart);
    }
    check_finite(&work.gradient)?;
    let mut merit = weighted_square(equations, &work.gradient);
    let mut recent = [0.0; RECENT];
    work.linear.begin(Policy::for_root_finder(stopping.direct), None);
    while report.iterations < stopping.max_iterations {
        report.iterations += 1;
        if !work.linear.is_prepared() {
            prepare(equations, x, work).map_err(|e| SolveError::Singular { dof: e.dof })?;
        }
        report.linear_iterations += newton_direction(equations, x, stopping.length, work);
        check_finite(&work.direction)?;
        let correction = max_norm(&work.direction[..n]);
        report.corrections.push(correction);
        let limit = equations.max_step(&x[..n], &work.direction[..n]);
        let [mut threshold, _] = stopping.thresholds(&x[..n], origin);
        if limit.is_finite() {
            threshold = threshold.max(LIMITED_ACCURACY * stopping.length);
        }
        let converged = correction <= threshold;

        let mut step = limit.min(1.0);
        let mut accepted = false;
        // Where steps are limited, a contact that becomes active raises the merit, and yet the step leads on.
        let may_rise = limit < 1.0 || (limit.is_finite() && report.iterations <= PATIENCE);
        let reference = if may_rise { recent.iter().copied().fold(merit, f64::max) } else { merit };
        for _ in 0..40 {
            for (t, (x, d)) in work.trial.iter_mut().zip(x.iter().zip(&work.direction)) {
                *t = x + step * d;
            }
            if equations.residual(&work.trial, &mut work.trial_gradient) {
                let trial = weighted_square(equations, &work.trial_gradient);
                if trial <= (1.0 - 2e-4 * step) * reference || (converged && trial.is_finite()) {
                    x.copy_from_slice(&work.trial);
                    std::mem::swap(&mut work.gradient, &mut work.trial_gradient);
                    recent.rotate_left(1);
                    recent[RECENT - 1] = merit;
                    merit = trial;
                    accepted = true;
                    break;
                }
            }
            step *= 0.5;
        }
        let step_length = if accepted { step } else { 0.0 };
        tracing::debug!(
            iteration = report.iterations,
            correction,
            threshold,
            step_length,
            linear_iterations = report.linear_iterations,
            merit,
            "Newton, root"
        );
        if !accepted {
            return Err(SolveError::LineSearch {
                corrections: report.corrections,
                worst: largest(&work.gradient[..n]),
            });
        }
        let [enough, _] = stopping.in_force().thresholds(&x[..n], origin);
        if !converged
            && correction <= enough
            && step == 1.0
            && equations.constraints_satisfied(&work.gradient[n..])
        {
            report.shortfall = (correction / threshold).max(1.0);
            return Ok(report);
        }
        if converged && step == 1.0 {
            // Each further iteration gains three digits. After a few, only round-off is left.
            converged_iterations += 1;
            if converged_iterations > 4 || equations.constraints_satisfied(&work.gradient[n..]) {
                return Ok(report);
            }
        }
    }
    Err(SolveError::Iterations { corrections: report.corrections, worst: largest(&work.gradient[..n]) })
}

/// Builds the preconditioner, with the constraint rows if there are any.
fn prepare(
    equations: &mut dyn Equations,
    x: &[f64],
    work: &mut Workspace,
) -> Result<(), NotPositiveDefinite> {
    let n = x.len() - equations.multipliers();
    equations.rows(x, &mut work.rows);
    work.low_rank = equations.low_rank();
    let mut last = Ok(());
    for curvature in [Curvature::Exact, Curvature::Projected] {
        equations.preconditioner(&x[..n], curvature, &mut work.matrix);
        let Workspace { matrix, rows, low_rank, linear, .. } = &mut *work;
        let low_rank = low_rank.as_ref();
        last = linear.prepare(&LinearSystem { matrix, low_rank, rows, positions: &x[..n] });
        if last.is_ok() {
            break;
        }
    }
    last
}

/// Computes −J⁻¹ r into `work.direction`; returns the number of linear iterations.
fn newton_direction(equations: &mut dyn Equations, x: &[f64], length: f64, work: &mut Workspace) -> usize {
    // The difference step δ balances truncation (∝ δ) and round-off of positions (∝ ε |x|/δ).
    let offset = max_norm(&x[..x.len() - work.rows.len()]).max(length);
    let delta = (f64::EPSILON * offset * length).sqrt();
    let Workspace { matrix, rows, low_rank, linear, direction, trial, .. } = work;
    let (residual, difference) = (&work.gradient, &mut work.trial_gradient);
    let n = x.len() - rows.len();
    // The residual is linear in the multipliers, so only the unknowns are perturbed.
    let here = equations.rows_move().then(|| {
        let mut here = SparseRows::new();
        equations.rows(x, &mut here);
        here
    });
    let directions = here.as_ref().unwrap_or(rows);
    let mut jacobian = from_fn(x.len(), |d, out| {
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
    });
    let minus: Vec<f64> = residual.iter().map(|r| -r).collect();
    let system = LinearSystem { matrix, low_rank: low_rank.as_ref(), rows, positions: &x[..n] };
    linear.solve_operator(&system, &mut jacobian, &minus, direction, FORCING)
}

fn weighted_square(equations: &dyn Equations, r: &[f64]) -> f64 {
    r.iter().enumerate().map(|(i, r)| equations.weight(i) * r * r).sum()
}
