//! Minimisation by limited-memory BFGS \[nocedal2006, alg. 7.4\] that begins with the mass matrix, and evaluates no Hessian.

use super::line_search::LineSearch;
use super::{Objective, SolveError, SolveReport, Stopping, check_finite, dot, largest, max_norm};

/// Number of stored pairs of step and gradient change.
const MAX_PAIRS: usize = 60;

/// Steps s and the changes y of the gradient along them, the oldest first, and the diagonal matrix that they update.
struct Updates<'a> {
    pairs: Vec<[Vec<f64>; 2]>,
    mass: &'a [f64],
}

impl Updates<'_> {
    /// Adds a pair. Only steps along which the gradient grows keep the matrix positive definite.
    fn add(&mut self, s: Vec<f64>, y: Vec<f64>) {
        if dot(&s, &y) > 1e-14 * dot(&s, &s).sqrt() * dot(&y, &y).sqrt() {
            if self.pairs.len() == MAX_PAIRS {
                self.pairs.remove(0);
            }
            self.pairs.push([s, y]);
        }
    }

    /// −H g, where H begins as γ M⁻¹; γ = sᵀy / yᵀM⁻¹y of the last pair \[nocedal2006, (7.20)\].
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let add = |d: &mut [f64], c: f64, x: &[f64]| d.iter_mut().zip(x).for_each(|(d, x)| *d += c * x);
        let mut weights = vec![0.0; self.pairs.len()];
        for ([s, y], weight) in self.pairs.iter().zip(&mut weights).rev() {
            *weight = dot(s, &d) / dot(s, y);
            add(&mut d, -*weight, y);
        }
        let by_mass = |y: &[f64]| -> f64 { y.iter().zip(self.mass).map(|(y, m)| y * y / m).sum() };
        let gamma = self.pairs.last().map_or(1.0, |[s, y]| dot(s, y) / by_mass(y));
        d.iter_mut().zip(self.mass).for_each(|(d, m)| *d *= gamma / m);
        for ([s, y], weight) in self.pairs.iter().zip(weights) {
            let excess = weight - dot(y, &d) / dot(s, y);
            add(&mut d, excess, s);
        }
        d
    }
}

/// Minimises from `x`, which holds the minimiser afterwards (on failure, the best point reached). `origin` is the start of the
/// time step, `mass` the positive diagonal of the mass matrix. It ends after two converged corrections in a row, since one may
/// be short because the matrix is still wrong.
pub fn minimize_by_bfgs(
    objective: &mut dyn Objective,
    x: &mut [f64],
    origin: &[f64],
    mass: &[f64],
    stopping: &Stopping,
) -> Result<SolveReport, SolveError> {
    let n = x.len();
    let mut report = SolveReport::default();
    let mut updates = Updates { pairs: Vec::new(), mass };
    let (mut gradient, mut trial) = (vec![0.0; n], vec![0.0; n]);
    let mut last: Option<(Vec<f64>, Vec<f64>)> = None;
    let mut was_converged = false;
    let mut value = objective.value(x);
    if value.0.is_nan() {
        return Err(SolveError::NotFinite { dof: None });
    }
    if value.0 == f64::INFINITY {
        return Err(SolveError::InfeasibleStart);
    }
    while report.iterations < stopping.max_iterations {
        report.iterations += 1;
        objective.gradient(x, &mut gradient);
        check_finite(&gradient)?;
        if let Some((step, before)) = last.take() {
            updates.add(step, gradient.iter().zip(&before).map(|(a, b)| a - b).collect());
        }
        let mut direction = updates.direction(&gradient);
        if dot(&gradient, &direction) > 0.0 {
            updates.pairs.clear();
            direction = updates.direction(&gradient);
        }
        check_finite(&direction)?;
        let correction = max_norm(&direction);
        report.corrections.push(correction);
        let [_, threshold] = stopping.in_force().thresholds(x, origin);
        let slope = dot(&gradient, &direction);
        let search = LineSearch { x, direction: &direction, slope, start: value, correction, threshold };
        let longest = objective.max_step(x, &direction).min(1.0);
        let Some((step, there)) = search.run(objective, longest, &mut trial) else {
            if updates.pairs.is_empty() {
                return Err(SolveError::LineSearch {
                    corrections: report.corrections,
                    worst: largest(&gradient),
                });
            }
            updates.pairs.clear();
            continue;
        };
        last = Some((trial.iter().zip(&*x).map(|(a, b)| a - b).collect(), gradient.clone()));
        x.copy_from_slice(&trial);
        value = there;
        let converged = correction <= threshold && step == 1.0;
        if converged && was_converged {
            return Ok(report);
        }
        was_converged = converged;
    }
    Err(SolveError::Iterations { corrections: report.corrections, worst: largest(&gradient) })
}
