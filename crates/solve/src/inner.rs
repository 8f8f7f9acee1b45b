//! The linear systems inside Newton's method, solved as closely as it needs and in the way that costs least.
//!
//! * Mild matrices (M + h²K with a step that resolves much of the motion): conjugate gradients with an incomplete
//!   factor ([`Incomplete`]).
//! * Stiff ones, on which that takes long: a Cholesky factor, which then preconditions conjugate gradients for the
//!   matrices that follow, in this step and the next ones, until a new factor is cheaper.
//! * Stiff ones whose factor would cost too much: levels of a coarser and coarser body ([`Multigrid`]), kept as a factor is.
//!
//! Costs are counted, not timed, so that the choice, and with it every bit of a run, repeats. An incomplete factor that took too
//! long is tried again after 32 systems, then 64, and so on: bodies may be pinned, cut loose, or come to rest.
//! A restart has to be told of that count, and of what the factor was made of.

use crate::block::BlockMatrix;
use crate::cholesky::{Cholesky, NotPositiveDefinite};
use crate::deflate::Deflation;
use crate::incomplete::Incomplete;
use crate::multigrid::Multigrid;
use crate::packed::Padded;
use crate::product::add_extra;
use crate::threads;
use crate::vector::{CHUNK, dot};

/// Unknowns per iteration up to which iterations are worth while. A factorisation was measured to take as long as n/50
/// iterations (145 ms against 0.5 ms at n = 14,883, 46 ms against 0.33 ms at 8,019) and serves some three systems.
const WORTH: usize = 160;
/// Below so many iterations a factorisation is always taken.
const LEAST: usize = 24;
/// Iterations with a factor of before that cost more than half of a new one: then one is made.
const REUSE: usize = 12;
/// Iterations above which the next system gets a new factor.
const WORN: usize = 8;
/// Iterations with a new factor and a low rank beside it: two or three are expected.
const MOST: usize = 100;
/// Systems before an incomplete factor, or levels, that failed are tried again, at first.
const PENALTY: usize = 32;
/// Iterations with an incomplete factor that cost as much as one with levels, and how many of these a digit takes at least.
const LIKE: f64 = 5.0;
const PACE: f64 = 5.0;
/// Nanoseconds, as measured: an iteration with levels takes some 200 for every unknown; a factor of before some three
/// substitutions for three digits, 0.6 for every number stored in it, and a share of its making, 22 operations in each, that
/// serves eight systems.
const LEVEL: f64 = 200.0;
const STORED: f64 = 3.0 * 0.6;
const OPERATION: f64 = 1.0 / (8.0 * 22.0);
const DIGITS: f64 = 3.0;
/// Iterations for as many digits that levels take on an ordinary body: if a factor costs less it is made.
const ORDINARY: f64 = 20.0;
/// Iterations, beyond those that new levels would have taken, that are worth new ones; and how much more is no sign of wear.
const LEVELS: f64 = 10.0;
const SLACK: f64 = 1.25;

/// A system that was solved.
pub(crate) struct Solved {
    pub iterations: usize,
    /// Estimate of the error relative to the solution, in the norm of the matrix.
    pub error: f64,
    /// What was made of the matrix.
    pub made: Option<Means>,
    /// Whether levels were used.
    pub coarsened: bool,
}

/// What is made of one matrix and may serve others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    Factor,
    Levels,
}

/// Ways that took too long are left alone for a number of systems, twice as many each time.
#[derive(Default)]
struct Patience {
    rest: usize,
    penalty: usize,
}

impl Patience {
    fn lose(&mut self) {
        self.penalty = (2 * self.penalty).clamp(PENALTY, 1 << 20);
        self.rest = self.penalty;
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct Inner {
    incomplete: Incomplete,
    /// Right-hand side and solution in its order.
    arranged: [Vec<Padded>; 2],
    /// What was made in this step.
    prepared: bool,
    kept: Option<Means>,
    fresh: bool,
    /// What is to be added to the matrices of this step.
    low_rank: Option<Deflation>,
    incompletely: Patience,
    by_levels: Patience,
    /// Iterations with levels that cost as much as a factor does, once it was found out.
    worth: Option<f64>,
    levels: Multigrid,
    /// Iterations per digit when the levels were new, and what was lost since by their age.
    pace: f64,
    lost: f64,
    vectors: Vectors,
}

/// What conjugate gradients work in.
#[derive(Default)]
struct Vectors {
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    image: Vec<f64>,
}

enum Outcome {
    Solved(Solved),
    TooLong,
    Indefinite,
}

impl Inner {
    /// To be called where a step begins; `fresh` asks for a factorisation of every system, `kept` tells what there is
    /// of before, `low_rank` what the matrices have beyond those that [`Inner::solve`] is given.
    pub fn begin(&mut self, fresh: bool, kept: Option<Means>, low_rank: Option<Deflation>) {
        (self.prepared, self.kept, self.fresh) = (false, kept, fresh);
        self.low_rank = low_rank;
    }

    /// Whether systems of so many unknowns are always solved with a factor.
    pub fn is_small(n: usize) -> bool {
        n / WORTH < LEAST
    }

    /// x ← about A⁻¹ x by the factor, which is that of a matrix of before.
    pub fn precondition(&self, factor: &mut Cholesky, x: &mut [f64]) {
        preconditioned(self.low_rank.as_ref(), &mut |x| factor.precondition(x), x);
    }

    /// What a restart has to be told.
    pub fn memory(&self) -> [f64; 7] {
        let [a, b] = [&self.incompletely, &self.by_levels].map(|p| [p.rest as f64, p.penalty as f64]);
        [a[0], a[1], b[0], b[1], self.worth.unwrap_or(0.0), self.pace, self.lost]
    }

    /// Takes up what [`Inner::memory`] returned.
    pub fn remember(&mut self, memory: [f64; 7]) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| memory[k] as usize);
        self.incompletely = Patience { rest: a, penalty: b };
        self.by_levels = Patience { rest: c, penalty: d };
        self.worth = Some(memory[4]).filter(|worth| *worth > 0.0);
        [self.pace, self.lost] = [memory[5], memory[6]];
    }

    /// Makes again what was made of a matrix before, for nodes at these positions. `false`: it cannot be.
    pub fn recall(
        &mut self,
        means: Means,
        a: &BlockMatrix,
        factor: &mut Cholesky,
        positions: &[f64],
    ) -> bool {
        match means {
            Means::Factor => factor.factor(a).is_ok(),
            Means::Levels => self.levels.factor(a, positions).is_ok(),
        }
    }

    /// What there is that is good enough for the next system.
    pub fn kept(&self) -> Option<Means> {
        self.kept
    }

    /// Solves A x = b to `accuracy`, relative and in the norm of A, whose nodes are at these positions.
    pub fn solve(
        &mut self,
        a: &BlockMatrix,
        factor: &mut Cholesky,
        positions: &[f64],
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> Result<Solved, NotPositiveDefinite> {
        let most = a.dofs() / WORTH;
        // As many as cost what would be done instead: levels, or a factor if that is known to be cheaper.
        let pace = self.worth.filter(|worth| *worth < ORDINARY).map(|worth| worth / DIGITS);
        let mild = LIKE * pace.unwrap_or(self.pace.max(PACE)) * -accuracy.log10();
        let most = most.min(mild as usize);
        // With a low rank beside the matrix only a factor will do.
        let whole = self.fresh || self.low_rank.is_some();
        if !Self::is_small(a.dofs()) && self.incompletely.rest == 0 && !whole {
            match self.with_incomplete(a, b, x, accuracy, most) {
                Outcome::Solved(solved) => {
                    // What it was made for has changed too much.
                    self.prepared = solved.iterations < most / 2;
                    return Ok(solved);
                }
                // The factorisation will tell where, or find that it was rounding.
                Outcome::Indefinite => self.prepared = false,
                Outcome::TooLong => self.incompletely.lose(),
            }
        }
        self.incompletely.rest = self.incompletely.rest.saturating_sub(1);
        if !whole
            && self.coarsens(a, factor)
            && let Some(solved) = self.with_levels(a, positions, b, x, accuracy)?
        {
            return Ok(solved);
        }
        if self.kept == Some(Means::Factor)
            && !self.fresh
            && let Outcome::Solved(solved) = self.with_factor(a, factor, b, x, accuracy, REUSE)
        {
            self.kept = self.kept.filter(|_| solved.iterations <= WORN);
            return Ok(solved);
        }
        self.kept = None;
        factor.factor(a)?;
        self.kept = Some(Means::Factor);
        if self.low_rank.is_none() {
            x.copy_from_slice(b);
            factor.solve(x);
            return Ok(Solved { iterations: 0, error: 1e-12, made: self.kept, coarsened: false });
        }
        let accuracy = if self.fresh { 1e-12 } else { accuracy };
        match self.with_factor(a, factor, b, x, accuracy, MOST) {
            Outcome::Solved(solved) => Ok(Solved { made: self.kept, ..solved }),
            _ => Err(NotPositiveDefinite { dof: 0, finite: true }),
        }
    }

    /// By conjugate gradients with an incomplete factor.
    fn with_incomplete(
        &mut self,
        a: &BlockMatrix,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
        most: usize,
    ) -> Outcome {
        let Self { incomplete, prepared, arranged: [right, solution], vectors, .. } = self;
        incomplete.take(a);
        if !*prepared {
            incomplete.refactor();
            *prepared = true;
        }
        let (parts, matrix, factor) = incomplete.sides();
        parts.arrange(b, right);
        solution.resize(right.len(), [0.0; 4]);
        let outcome = vectors.descend(
            &mut |x, y| {
                let (x, y) = (x.as_chunks().0, y.as_chunks_mut().0);
                matrix.multiply(parts, x, y);
                add_extra(a, |node| parts.place(node), x, y);
            },
            &mut |x| factor.solve(parts, x.as_chunks_mut().0),
            right.as_flattened(),
            solution.as_flattened_mut(),
            accuracy,
            [2, most],
        );
        parts.give_back(solution, x);
        outcome
    }

    /// Whether levels are worth while. A factor that is there already need not be made.
    fn coarsens(&mut self, a: &BlockMatrix, factor: &mut Cholesky) -> bool {
        if self.by_levels.rest > 0 {
            self.by_levels.rest -= 1;
            return false;
        }
        if Self::is_small(a.dofs()) || (self.worth.is_none() && self.kept == Some(Means::Factor)) {
            return false;
        }
        let worth = *self.worth.get_or_insert_with(|| {
            let [operations, stored] = factor.cost(a);
            (OPERATION * operations + STORED * stored) / (LEVEL * a.dofs() as f64)
        });
        worth >= ORDINARY
    }

    /// By conjugate gradients with levels, old or new; `None` if they take too long.
    fn with_levels(
        &mut self,
        a: &BlockMatrix,
        positions: &[f64],
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
    ) -> Result<Option<Solved>, NotPositiveDefinite> {
        let old = self.kept == Some(Means::Levels);
        // What is left of a wrong prediction is a factor of two.
        let per_digit = 2.0 * self.worth.unwrap_or(ORDINARY) / DIGITS;
        let most = (-accuracy.log10() * per_digit) as usize + 10;
        for new in if old { &[false, true][..] } else { &[true] } {
            if *new {
                self.kept = None;
                self.levels.factor(a, positions)?;
                self.kept = Some(Means::Levels);
            }
            let Self { levels, vectors, .. } = self;
            let outcome = vectors.descend(
                &mut |x, y| a.mul_vec(x, y),
                &mut |x| levels.solve(a, x),
                b,
                x,
                accuracy,
                [2, most],
            );
            if let Outcome::Solved(solved) = outcome {
                let (taken, digits) = (solved.iterations as f64, -solved.error.clamp(1e-16, 0.1).log10());
                if *new {
                    (self.pace, self.lost) = (taken / digits, 0.0);
                }
                self.lost += (taken - SLACK * self.pace * digits).max(0.0);
                self.kept = self.kept.filter(|_| self.lost < LEVELS);
                return Ok(Some(Solved { made: self.kept.filter(|_| *new), coarsened: true, ..solved }));
            }
            if let (Outcome::Indefinite, Some(dof)) = (outcome, self.vectors.negative()) {
                return Err(NotPositiveDefinite { dof, finite: true });
            }
        }
        self.kept = None;
        self.by_levels.lose();
        Ok(None)
    }

    /// By conjugate gradients with a factor.
    fn with_factor(
        &mut self,
        a: &BlockMatrix,
        factor: &mut Cholesky,
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
        most: usize,
    ) -> Outcome {
        let Self { vectors, low_rank, .. } = self;
        let mut apply = |x: &[f64], y: &mut [f64]| {
            a.mul_vec(x, y);
            add_product(low_rank.as_ref(), x, y);
        };
        let mut precondition =
            |x: &mut [f64]| preconditioned(low_rank.as_ref(), &mut |x| factor.precondition(x), x);
        vectors.descend(&mut apply, &mut precondition, b, x, accuracy, [1, most])
    }
}

/// y ← y + the low rank times x.
fn add_product(low_rank: Option<&Deflation>, x: &[f64], y: &mut [f64]) {
    if let Some(low_rank) = low_rank {
        low_rank.add_product(x, y);
    }
}

/// x ← about the inverse of a matrix with its low rank times x, if `solve` is that without.
fn preconditioned(low_rank: Option<&Deflation>, solve: &mut dyn FnMut(&mut [f64]), x: &mut [f64]) {
    match low_rank {
        None => solve(x),
        Some(low_rank) => low_rank.precondition(solve, x),
    }
}

impl Vectors {
    /// Where the last direction is largest, if the matrix bends downwards along it, beyond rounding.
    fn negative(&self) -> Option<usize> {
        let Self { p, image, .. } = self;
        let bends = dot(p, image) < -1e-10 * (dot(p, p) * dot(image, image)).sqrt();
        (0..p.len()).filter(|_| bends).max_by(|&i, &j| p[i].abs().total_cmp(&p[j].abs()))
    }

    /// Preconditioned conjugate gradients from x = 0, with so many iterations at most.
    ///
    /// Each iteration takes αrᵀz from the square of the error in the norm of A \[hestenes1952\]: the last m gains tell what was
    /// left before them \[strakos2002\], the last 2m how fast it falls, and both what is left now. Good
    /// preconditioners need m = 1, weak ones, whose gains go up and down, 2. Where nothing is gained for a while that would
    /// be believed too early: the residual must have come down as well.
    fn descend(
        &mut self,
        apply: &mut dyn FnMut(&[f64], &mut [f64]),
        precondition: &mut dyn FnMut(&mut [f64]),
        b: &[f64],
        x: &mut [f64],
        accuracy: f64,
        [m, most]: [usize; 2],
    ) -> Outcome {
        let Self { r, z, p, image } = self;
        let n = b.len();
        for v in [&mut *r, z, p, image] {
            v.resize(n, 0.0);
        }
        let done =
            |iterations, error| Outcome::Solved(Solved { iterations, error, made: None, coarsened: false });
        x.fill(0.0);
        r.copy_from_slice(b);
        z.copy_from_slice(b);
        precondition(z);
        p.copy_from_slice(z);
        let mut rz = dot(r, z);
        let mut gains: Vec<f64> = Vec::with_capacity(most);
        let mut gained = 0.0;
        let size = dot(b, b);
        if rz == 0.0 {
            return done(0, 0.0);
        }
        for k in 0..most {
            apply(p, image);
            let curvature = dot(p, image);
            // A NaN is left to the factorisation, which names its place.
            if !(curvature > 0.0 && rz > 0.0) {
                return Outcome::Indefinite;
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
            gained += alpha * rz;
            gains.push(alpha * rz);
            if k + 1 >= 2 * m {
                let last: f64 = gains[k + 1 - m..].iter().sum();
                let falls = last / gains[k + 1 - 2 * m..].iter().sum::<f64>();
                let error = (last * falls / gained).sqrt();
                if error <= accuracy && dot(r, r) <= (30.0 * accuracy).powi(2) * size {
                    return done(k + 1, error);
                }
            }
            z.copy_from_slice(r);
            precondition(z);
            let next = dot(r, z);
            let beta = next / rz;
            rz = next;
            if rz == 0.0 {
                return done(k + 1, 0.0);
            }
            threads::par_chunks_mut(p, CHUNK, |k, p| {
                for (p, z) in p.iter_mut().zip(&z[k * CHUNK..]) {
                    *p = z + beta * *p;
                }
            });
        }
        Outcome::TooLong
    }
}
