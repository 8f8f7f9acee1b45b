//! Preconditioned conjugate gradients: one iteration, two stopping rules.

use super::report::{KrylovReport, residual};
use crate::matrix::vector::{CHUNK, axpy, dot, norm};
use crate::operator::{Operator, Preconditioner};
use lilyan_parallel::threads;

/// For a positive definite A the cosine of p and A p is at least 2 / √(condition number) (Kantorovich). A direction with a
/// smaller cosine is in the null space up to rounding.
const FLAT: f64 = 1e-10;

/// Conjugate gradients; the vectors are reused from one system to the next.
#[derive(Default)]
pub(crate) struct ConjugateGradients {
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    /// A p.
    image: Vec<f64>,
}

/// How [`ConjugateGradients::solve_to_error`] ended.
pub(crate) enum CgOutcome {
    /// Converged, with an estimate of the relative error in the norm of A.
    Converged { iterations: usize, error: f64 },
    /// The iterations ran out.
    IterationLimit,
    /// A direction without positive curvature, a preconditioner that is not positive definite, or a NaN.
    Breakdown,
}

/// Why the iteration ended.
enum End {
    /// The stopping rule.
    Stopped,
    /// The preconditioned residual is zero.
    Exact,
    IterationLimit,
    /// The curvature pᵀAp, or rᵀz, is not positive, or not a number.
    Breakdown {
        negative_curvature: bool,
    },
}

/// A stopping rule, evaluated after each iteration.
trait StoppingRule {
    /// `gain` is the decrease of the squared error in the norm of A in this iteration, `r` the residual after it.
    fn stops(&mut self, gain: f64, r: &[f64]) -> bool;
}

/// Stops when the norm of the residual is small enough.
struct ResidualBelow(f64);

impl StoppingRule for ResidualBelow {
    fn stops(&mut self, _: f64, r: &[f64]) -> bool {
        norm(r) <= self.0
    }
}

/// Stops when the relative error in the norm of A is small enough.
///
/// Each iteration reduces the squared error by αrᵀz \[hestenes1952\]. The sum of the last m reductions estimates the error
/// before them \[strakos2002\]. The last 2m reductions give the rate of convergence, and both together the present error.
/// The residual must be small as well, since the estimate is too optimistic during stagnation.
struct ErrorBelow {
    accuracy: f64,
    /// m: 1 for a good preconditioner, 2 for a weak one, whose gains oscillate.
    delay: usize,
    /// bᵀb.
    size: f64,
    gains: Vec<f64>,
    gained: f64,
    error: f64,
}

impl StoppingRule for ErrorBelow {
    fn stops(&mut self, gain: f64, r: &[f64]) -> bool {
        self.gained += gain;
        self.gains.push(gain);
        let (count, m) = (self.gains.len(), self.delay);
        if count < 2 * m {
            return false;
        }
        let last: f64 = self.gains[count - m..].iter().sum();
        let rate = last / self.gains[count - 2 * m..].iter().sum::<f64>();
        self.error = (last * rate / self.gained).sqrt();
        self.error <= self.accuracy && dot(r, r) <= (30.0 * self.accuracy).powi(2) * self.size
    }
}

impl ConjugateGradients {
    /// Solves A x = b from x = 0 until the relative error in the norm of A is estimated to be below `accuracy`, from the gains
    /// of `delay` iterations.
    pub fn solve_to_error(
        &mut self,
        a: &mut dyn Operator,
        preconditioner: &mut dyn Preconditioner,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
        delay: usize,
        max_iterations: usize,
    ) -> CgOutcome {
        self.resize(b.len());
        x.fill(0.0);
        self.r.copy_from_slice(b);
        let gains = Vec::with_capacity(max_iterations);
        let mut rule = ErrorBelow { accuracy, delay, size: dot(b, b), gains, gained: 0.0, error: 0.0 };
        match self.iterate(a, preconditioner, x, &mut rule, 0.0, max_iterations) {
            (iterations, End::Stopped) => CgOutcome::Converged { iterations, error: rule.error },
            (iterations, End::Exact) => CgOutcome::Converged { iterations, error: 0.0 },
            (_, End::IterationLimit) => CgOutcome::IterationLimit,
            (_, End::Breakdown { .. }) => CgOutcome::Breakdown,
        }
    }

    /// The largest entry of the last direction p, if pᵀAp < 0 beyond rounding.
    pub fn negative_direction(&self) -> Option<usize> {
        let Self { p, image, .. } = self;
        let negative = dot(p, image) < -1e-10 * (dot(p, p) * dot(image, image)).sqrt();
        (0..p.len()).filter(|_| negative).max_by(|&i, &j| p[i].abs().total_cmp(&p[j].abs()))
    }

    fn resize(&mut self, n: usize) {
        for v in [&mut self.r, &mut self.z, &mut self.p, &mut self.image] {
            v.resize(n, 0.0);
        }
    }

    /// Iterates from x with the residual `self.r`; returns the number of products and why it ended. Directions whose
    /// cosine with their image is not above `flat` count as a breakdown.
    fn iterate(
        &mut self,
        a: &mut dyn Operator,
        preconditioner: &mut dyn Preconditioner,
        x: &mut [f64],
        rule: &mut dyn StoppingRule,
        flat: f64,
        max_iterations: usize,
    ) -> (usize, End) {
        let Self { r, z, p, image } = self;
        z.copy_from_slice(r);
        preconditioner.precondition(z);
        p.copy_from_slice(z);
        let mut rz = dot(r, z);
        if rz == 0.0 {
            return (0, End::Exact);
        }
        for k in 0..max_iterations {
            a.apply(p, image);
            let curvature = dot(p, image);
            let least = if flat > 0.0 { flat * norm(p) * norm(image) } else { 0.0 };
            if !(curvature > least && rz > 0.0) {
                return (k + 1, End::Breakdown { negative_curvature: curvature <= least });
            }
            let alpha = rz / curvature;
            threads::par_chunks_mut_of([&mut *x, r], CHUNK, |k, [x, r]| {
                let at = k * CHUNK..k * CHUNK + x.len();
                let (p, image) = (&p[at.clone()], &image[at]);
                for i in 0..x.len() {
                    x[i] += alpha * p[i];
                    r[i] -= alpha * image[i];
                }
            });
            if rule.stops(alpha * rz, r) {
                return (k + 1, End::Stopped);
            }
            z.copy_from_slice(r);
            preconditioner.precondition(z);
            let next = dot(r, z);
            let beta = next / rz;
            rz = next;
            if rz == 0.0 {
                return (k + 1, End::Exact);
            }
            threads::par_chunks_mut(p, CHUNK, |k, p| {
                for (p, z) in p.iter_mut().zip(&z[k * CHUNK..]) {
                    *p = z + beta * *p;
                }
            });
        }
        (max_iterations, End::IterationLimit)
    }
}

/// Solves A x = b for symmetric positive definite A from the given x until ‖b − A x‖ ≤ `relative_tolerance` ‖b‖.
///
/// If a direction of non-positive curvature is met, x stays at the iterate before it, or, if it is the first direction,
/// moves along it by one \[nocedal2006, alg. 7.1\]: either way x − x₀ is a direction of descent for ½ xᵀAx − bᵀx.
pub fn cg(
    a: &mut dyn Operator,
    preconditioner: &mut dyn Preconditioner,
    b: &[f64],
    x: &mut [f64],
    relative_tolerance: f64,
    max_iterations: usize,
) -> KrylovReport {
    let (mut report, size) = KrylovReport::start(a, b, x);
    if size == 0.0 {
        return report;
    }
    let mut iteration = ConjugateGradients::default();
    iteration.resize(b.len());
    let mut true_norm = residual(a, b, x, &mut iteration.r);
    while !report.is_over(true_norm / size, relative_tolerance, max_iterations) {
        let limit = max_iterations - report.iterations;
        let mut rule = ResidualBelow(relative_tolerance * size);
        let (iterations, end) = iteration.iterate(a, preconditioner, x, &mut rule, FLAT, limit);
        report.iterations += iterations;
        report.negative_curvature = matches!(end, End::Breakdown { negative_curvature: true });
        if report.negative_curvature && report.iterations == 1 {
            axpy(1.0, &iteration.p, x);
        }
        let old = true_norm;
        true_norm = residual(a, b, x, &mut iteration.r);
        if report.negative_curvature || (true_norm > 0.5 * old && true_norm > relative_tolerance * size) {
            report.relative_residual = true_norm / size;
            break;
        }
    }
    report
}
