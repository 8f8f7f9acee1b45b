//! Corrections by the symmetric part of the Jacobian.
//!
//! The forces of a time step have a nearly symmetric Jacobian: damping and discrete gradients make it unsymmetric by the
//! motion within the step. A correction with the symmetric part A alone, x ← x − A⁻¹ r(x), therefore contracts the error by
//! a factor θ ≪ 1 that is about this motion, and the next residual contains whatever A misses. The systems are symmetric
//! and positive definite, so that they are solved as those of a minimisation are, with the same preconditioners, which
//! later steps reuse. Where corrections do not contract, the root finder proceeds with the whole Jacobian.

use super::{Curvature, Equations, Linearisation, SolveReport, Stopping, Workspace, check_finite, max_norm};
use crate::linear::LinearSystem;

/// Corrections that contract by less than this are left to the whole Jacobian.
const SLOW_CONTRACTION: f64 = 0.5;
/// The matrix is kept for the next correction if corrections contract at least by this factor.
const FAST_CONTRACTION: f64 = 0.05;
/// Relative accuracy of the first linear solve. The initial guess leaves as much to the nonlinearity.
const FIRST_ACCURACY: f64 = 1e-3;
/// Bounds of the accuracy of the others.
const ACCURACY: [f64; 2] = [1e-5, 1e-2];

/// Most corrections. More would not contract by half each.
const MAX_CORRECTIONS: usize = 30;

/// Solves r(x) = 0 from `x` by corrections with the symmetric part. `None` if they do not contract; x is then the start.
pub(super) fn solve(
    equations: &mut dyn Equations,
    x: &mut [f64],
    origin: &[f64],
    stopping: &Stopping,
    work: &mut Workspace,
) -> Option<SolveReport> {
    let choice = work.choice();
    let start = x.to_vec();
    work.resize(x.len());
    work.begin_root(equations);
    let report = SolveReport::default();
    let assembled = Assembled { x: Vec::new(), rates: Vec::new(), curvature: Curvature::Exact };
    let corrections =
        Corrections { equations, origin, stopping, work: &mut *work, report, error: 0.0, assembled };
    let report = corrections.run(x);
    if report.is_none() {
        // What failed must not influence later solves.
        x.copy_from_slice(&start);
        work.restore_choice(choice);
    }
    report
}

/// Where the present matrix was assembled.
struct Assembled {
    x: Vec<f64>,
    rates: Vec<f64>,
    curvature: Curvature,
}

/// The state of a solve.
struct Corrections<'a> {
    equations: &'a mut dyn Equations,
    origin: &'a [f64],
    stopping: &'a Stopping,
    work: &'a mut Workspace,
    report: SolveReport,
    /// Relative error of the last linear solve.
    error: f64,
    assembled: Assembled,
}

impl Corrections<'_> {
    fn run(mut self, x: &mut [f64]) -> Option<SolveReport> {
        if !self.equations.residual(x, &mut self.work.gradient) {
            return None;
        }
        check_finite(&self.work.gradient).ok()?;
        let mut before: Option<f64> = None;
        let (mut contraction, mut current) = (1.0, false);
        while self.report.iterations < self.stopping.max_iterations.min(MAX_CORRECTIONS) {
            self.report.iterations += 1;
            let [threshold, left] = self.stopping.linear_thresholds(x, self.origin);
            let accuracy = match before {
                None => FIRST_ACCURACY,
                Some(before) => self.accuracy(contraction, contraction * before, left),
            };
            self.correct(x, current, accuracy)?;
            let correction = max_norm(&self.work.direction);
            self.report.corrections.push(correction);
            contraction = before.map_or(1.0, |before| correction / before);
            before = Some(correction);
            let slow = contraction > SLOW_CONTRACTION && self.report.iterations > 1;
            // Corrections stagnate once they are round-off.
            let stagnant = slow && correction <= self.stopping.resolved(x);
            let limited = self.equations.max_step(x, &self.work.direction) < 1.0;
            if !correction.is_finite() || limited || (slow && !stagnant) {
                return None;
            }
            x.iter_mut().zip(&self.work.direction).for_each(|(x, d)| *x += d);
            // The next correction, with a safety factor of three.
            let next = 3.0 * contraction.max(self.error) * correction;
            tracing::debug!(
                iteration = self.report.iterations,
                correction,
                threshold,
                next,
                linear_iterations = self.report.linear_iterations,
                jacobian = "symmetric part",
                "Newton, root"
            );
            if next <= left || stagnant {
                return Some(self.report);
            }
            let [_, enough] = self.stopping.in_force().linear_thresholds(x, self.origin);
            if next <= enough {
                self.report.shortfall = (next / left).max(1.0);
                return Some(self.report);
            }
            if !self.equations.residual(x, &mut self.work.gradient) {
                return None;
            }
            current = contraction <= FAST_CONTRACTION || self.report.iterations == 1;
        }
        None
    }

    /// The accuracy of the next linear solve: ten times that of the last one if this limited the contraction, otherwise
    /// what the unsymmetric part leaves over. The last correction, of about the `expected` size, need not be closer than
    /// what may be left.
    fn accuracy(&self, contraction: f64, expected: f64, left: f64) -> f64 {
        let limited = contraction <= 3.0 * self.error || self.report.iterations == 2;
        let next = if limited { 0.1 * self.error } else { 0.3 * contraction };
        let [least, most] = ACCURACY;
        next.max(0.05 * left / expected).clamp(least, most)
    }

    /// Computes the correction −A⁻¹ r into `work.direction`. The matrix is assembled at x unless the last one is `current`.
    fn correct(&mut self, x: &[f64], current: bool, accuracy: f64) -> Option<()> {
        if !current {
            self.assemble(x, Curvature::Exact);
        }
        self.work.rows.clear();
        let solved = loop {
            let Workspace { matrix, rows, low_rank, linear, gradient, direction, .. } = &mut *self.work;
            let system = LinearSystem { matrix, low_rank: low_rank.as_ref(), rows, positions: x };
            match linear.solve(&system, gradient, direction, accuracy) {
                Ok(solved) => break solved,
                Err(_) if self.assembled.curvature == Curvature::Exact => {
                    self.assemble(x, Curvature::Projected);
                }
                Err(_) => return None,
            }
        };
        self.work.direction.iter_mut().for_each(|d| *d = -*d);
        self.report.linear_iterations += solved.iterations;
        self.report.multigrid += usize::from(solved.multigrid);
        self.error = solved.error;
        let Assembled { x, rates, curvature } = &self.assembled;
        let curvature = self.equations.curvature_at(x, *curvature);
        let at = Linearisation { x, rates, curvature, key: self.equations.reuse_key() };
        self.work.keep(&at, &solved);
        Some(())
    }

    fn assemble(&mut self, x: &[f64], curvature: Curvature) {
        let Assembled { x: at, rates, curvature: which } = &mut self.assembled;
        at.clear();
        at.extend_from_slice(x);
        self.equations.rates(x, rates);
        *which = curvature;
        self.equations.preconditioner(x, curvature, &mut self.work.matrix);
    }
}
