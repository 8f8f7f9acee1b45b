//! Linear systems of integrators that solve one per step.
//!
//! They go to the same solver as those of Newton's method, and preconditioners are reused in the same way. A system is
//! solved to a relative accuracy in the norm of its matrix. What remains is then made orthogonal to rigid motions, so that
//! the momenta that the exact solution conserves are conserved to round-off for any accuracy.

use super::{Curvature, KeptMemory, ReuseKey, Workspace, dot};
use crate::linear::{LinearReport, LinearSystem, Policy};
use crate::matrix::vector::axpy;
use crate::{BlockMatrix, NotPositiveDefinite, SmallMatrix};

/// Most refinements of a solve.
const REFINEMENTS: usize = 3;

/// Where the matrix of a step was assembled.
#[derive(Clone, Copy, Debug)]
pub struct Linearisation<'a> {
    /// Positions, m.
    pub x: &'a [f64],
    /// Velocities on which it depends, m/s; may be empty.
    pub rates: &'a [f64],
    /// Which second derivative it contains.
    pub curvature: Curvature,
    /// What it depends on besides; `None` if later steps must not reuse its preconditioner.
    pub key: Option<ReuseKey>,
}

/// The rigid motions along which the solution of a step is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RigidMotions {
    /// Translations, which conserves the linear momentum.
    Translations,
    /// Translations and infinitesimal rotations, which conserves both momenta.
    All,
}

impl Workspace {
    /// Begins a step that solves its own systems. A preconditioner of an earlier step stays if it may be reused; after a
    /// restart it is rebuilt, with the matrix that `assemble` computes. There is no low-rank correction at first.
    pub fn begin_linear(
        &mut self,
        now: Option<ReuseKey>,
        assemble: &mut dyn FnMut(&KeptMemory, &mut BlockMatrix),
    ) {
        self.low_rank = None;
        let policy = if self.is_small() { Policy::FactorPerSystem } else { Policy::LeastCost };
        self.begin_with(policy, now.filter(|_| !self.is_small()), assemble);
    }

    /// Whether systems are solved by a factor of their own: an exact solution costs as little as one to some accuracy.
    fn is_small(&self) -> bool {
        self.linear.prefers_factor(self.matrix.dofs())
    }

    /// Solves A x = b with the matrix, its correction included, to a relative accuracy in the norm of A; x overwrites `b`.
    /// It fails if A is not positive definite; `b` then stays.
    pub fn solve_linear(
        &mut self,
        at: &Linearisation<'_>,
        b: &mut [f64],
        accuracy: f64,
    ) -> Result<LinearReport, NotPositiveDefinite> {
        self.resize(b.len());
        self.rows.clear();
        if self.is_small() {
            self.factor_once()?;
            self.solve(b);
            return Ok(LinearReport { error: f64::EPSILON, ..LinearReport::default() });
        }
        let Self { matrix, rows, low_rank, linear, direction, .. } = &mut *self;
        let system = LinearSystem { matrix, low_rank: low_rank.as_ref(), rows, positions: at.x };
        let solved = linear.solve(&system, b, direction, accuracy);
        if solved.is_err() {
            self.discard_kept();
        }
        let solved = solved?;
        b.copy_from_slice(&self.direction);
        self.keep(at, &solved);
        Ok(solved)
    }

    /// [`Workspace::solve_linear`] to an error of at most `accuracy` times `size` as well, in the norm of A. A correction with
    /// large stiff parts is far larger than what it changes elsewhere; then what is left over is solved for in turn, and
    /// if this does not help, by a factor.
    pub fn solve_linear_within(
        &mut self,
        at: &Linearisation<'_>,
        b: &mut [f64],
        accuracy: f64,
        size: &dyn Fn(&[f64]) -> f64,
    ) -> Result<LinearReport, NotPositiveDefinite> {
        let right = b.to_vec();
        let mut report = self.solve_linear(at, b, accuracy)?;
        let mut error = report.error * dot(&right, b).max(0.0).sqrt();
        let mut left = vec![0.0; b.len()];
        for _ in 0..REFINEMENTS {
            let allowed = accuracy * size(b);
            if report.iterations == 0 || error <= allowed {
                return Ok(report);
            }
            self.mul(b, &mut left);
            left.iter_mut().zip(&right).for_each(|(left, right)| *left = right - *left);
            let residual = left.clone();
            let refined = self.solve_linear(at, &mut left, (0.3 * allowed / error).clamp(accuracy, 0.1))?;
            report.iterations += refined.iterations;
            error = refined.error * dot(&residual, &left).max(0.0).sqrt();
            axpy(1.0, &left, b);
        }
        if error > accuracy * size(b) {
            self.discard_kept();
            self.linear.direct().factor(&self.matrix)?;
            b.copy_from_slice(&right);
            self.solve(b);
        }
        Ok(report)
    }

    /// Preconditions the columns of x with whatever preconditions the systems of this step. A preconditioner is made of the
    /// matrix if there is none.
    pub fn precondition_columns(
        &mut self,
        at: &Linearisation<'_>,
        x: &mut [f64],
        columns: usize,
    ) -> Result<(), NotPositiveDefinite> {
        if self.is_small() {
            self.factor_once()?;
            if columns > 0 {
                self.linear.direct().solve_many(x, columns);
            }
            return Ok(());
        }
        self.rows.clear();
        let Self { matrix, rows, low_rank, linear, .. } = &mut *self;
        let system = LinearSystem { matrix, low_rank: low_rank.as_ref(), rows, positions: at.x };
        linear.precondition_columns(&system, x, columns)
    }

    /// Factorises the matrix, unless it equals the one that was factorised last.
    fn factor_once(&mut self) -> Result<(), NotPositiveDefinite> {
        if self.factored.as_ref().is_none_or(|factored| !factored.equals(&self.matrix)) {
            self.discard_kept();
            self.linear.direct().factor(&self.matrix)?;
            self.factored = Some(self.matrix.clone());
        }
        Ok(())
    }

    /// Remembers where the matrix of a new preconditioner was assembled.
    pub(super) fn keep(&mut self, at: &Linearisation<'_>, solved: &LinearReport) {
        if let Some(kind) = solved.new {
            // With contact the matrix of the next step differs too much.
            let key = at.key.filter(|_| self.matrix.extra().is_empty());
            let Linearisation { x, rates, curvature, .. } = *at;
            let origin = |key| KeptMemory { x: x.to_vec(), rates: rates.to_vec(), curvature, key, kind };
            self.kept = key.map(origin);
        } else if self.linear.kept().is_none() {
            self.kept = None;
        }
    }

    /// Adds rigid motions that leave the `held` unknowns where they are to x, so that b − A x is orthogonal to them.
    pub fn balance(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        positions: &[f64],
        motions: RigidMotions,
        held: &[bool],
    ) {
        let count = if motions == RigidMotions::All { 6 } else { 3 };
        let motions: Vec<Vec<f64>> = (0..count).map(|k| rigid_motion(k, positions)).collect();
        let mut image = vec![0.0; x.len()];
        // ⟨motion, motion⟩ over the held unknowns. Its null space are the motions that leave them where they are.
        let at_held = SmallMatrix::from_fn(count, count, |i, j| {
            let products = motions[i].iter().zip(&motions[j]).zip(held).filter(|(_, held)| **held);
            products.map(|((a, b), _)| a * b).sum()
        });
        let free = |value: f64| f64::from(u8::from(value <= HELD_MOTION));
        let Some(free) = at_held.function(free) else { return };
        if (0..count).all(|k| free[(k, k)] < 1e-6) {
            return;
        }
        let mut entries = Vec::with_capacity(count * count);
        for motion in &motions {
            self.mul(motion, &mut image);
            entries.extend(motions.iter().map(|other| dot(other, &image)));
        }
        let projected = SmallMatrix::from_fn(count, count, |i, j| entries[count * i + j]);
        let projected = free.times(&projected).times(&free).symmetric();
        // A system of particles on a line has no third rotation.
        let least = 1e-12 * (0..count).fold(0.0f64, |most, k| most.max(projected[(k, k)]));
        let inverse = projected.function(|value| if value > least { 1.0 / value } else { 0.0 });
        let Some(inverse) = inverse else { return };
        self.mul(x, &mut image);
        image.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
        let along: Vec<f64> = motions.iter().map(|motion| dot(motion, &image)).collect();
        let amounts = free.apply(&inverse.apply(&free.apply(&along)));
        image.fill(0.0);
        motions.iter().zip(amounts).for_each(|(motion, amount)| axpy(amount, motion, &mut image));
        let free = x.iter_mut().zip(&image).zip(held).filter(|(_, held)| !**held);
        free.for_each(|((x, d), _)| *x += d);
    }
}

/// A motion of norm 1 whose squares over the held unknowns sum to less than this leaves them where they are, up to rounding.
const HELD_MOTION: f64 = 1e-14;

/// Translation along axis k, or infinitesimal rotation about axis k − 3 through the mean position, of norm 1.
fn rigid_motion(k: usize, positions: &[f64]) -> Vec<f64> {
    let nodes = (positions.len() / 3).max(1) as f64;
    let mean = |axis: usize| positions.iter().skip(axis).step_by(3).sum::<f64>() / nodes;
    let (u, v) = ((k + 1) % 3, (k + 2) % 3);
    let centre = [mean(u), mean(v)];
    let moves = |i: usize| match i % 3 {
        axis if k < 3 => f64::from(u8::from(axis == k)),
        axis if axis == u => centre[1] - positions[i - u + v],
        axis if axis == v => positions[i - v + u] - centre[0],
        _ => 0.0,
    };
    let mut motion: Vec<f64> = (0..positions.len()).map(moves).collect();
    let size = dot(&motion, &motion).sqrt();
    // A single particle does not turn.
    motion.iter_mut().for_each(|x| *x /= if size > 0.0 { size } else { 1.0 });
    motion
}
