//! Newton's method for equations that are no derivative.

use super::{
    Curvature, Equations, SolveError, SolveReport, Stopping, Workspace, check_finite, largest, max_norm,
};
use crate::krylov::gmres;
use crate::{NotPositiveDefinite, SparseRows};

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
