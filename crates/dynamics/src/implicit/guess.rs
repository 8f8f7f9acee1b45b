//! Initial guesses of an implicit step, and the solve.

use super::{ImplicitStep, Method, PotentialRule};
use crate::StepError;
use crate::feasible_path;
use crate::system::abilities::FeasibleStep;
use lilyan_solve::newton::{
    Equations, Objective, SolveError, SolveReport, Stopping, Workspace, find_root, minimize, minimize_by_bfgs,
};

/// Largest number of solves while Dirichlet dofs move towards their place.
const MAX_APPROACHES: usize = 200;
/// The shortest fraction of the path that counts as progress.
const MIN_APPROACH: f64 = 1e-6;
/// Number of consecutive solves without progress after which the path counts as blocked.
const MAX_SHORT_APPROACHES: usize = 5;

/// Relative tolerance of the minimum that is the guess in an impact.
const IMPACT_TOLERANCE: f64 = 1e-3;

/// Initial guesses of a solve.
struct Guesses {
    /// Free unknowns at q₀.
    rest: Vec<f64>,
    /// The guess of the scheme.
    given: Vec<f64>,
    /// The guess by the acceleration of the last step; may be empty.
    other: Vec<f64>,
}

impl Guesses {
    /// Replaces each guess by the last feasible point on the path from q₀ at `t[0]` to it at `t[1]`: straight, or via `rest`, which is
    /// feasible at `t[1]`.
    fn limited(self, feasible: &dyn FeasibleStep, t: [f64; 2], q0: &[f64], rest: Vec<f64>) -> Self {
        let limited = |guess: Vec<f64>| {
            if guess.is_empty() || feasible_path::is_feasible(feasible, t, q0, &guess) {
                return guess;
            }
            feasible_path::last_feasible_point(feasible, t[1], &rest, &guess)
        };
        Self { given: limited(self.given), other: limited(self.other), rest }
    }
}

impl ImplicitStep<'_> {
    /// Solves for x from the best of three initial guesses: the given one, another one (which may be empty), and q₀ with the
    /// Dirichlet dofs moved. Dirichlet dofs of `x` stay as given. If the root finder fails from one guess, it starts again
    /// from the last.
    ///
    /// If steps are limited, each guess is replaced by the last point on the path to it that is known to be feasible.
    pub fn solve(
        &mut self,
        x: &mut [f64],
        other: Vec<f64>,
        method: Method,
        stopping: &Stopping,
        work: &mut Workspace,
    ) -> Result<SolveReport, StepError> {
        let minimizes = method != Method::Root
            && self.parts.potential == PotentialRule::Gradient
            && self.constraint_solver.is_none()
            && self.dissipation.is_none();
        if method == Method::Bfgs && !minimizes {
            let reason = "solve = \"bfgs\" minimises, and with damping or constraints the step is no minimum: take \
                          solve = \"minimize\"";
            return Err(StepError::Refused { reason: reason.into() });
        }
        let origin = self.q0;
        let mut rest = x.to_vec();
        for i in 0..rest.len() {
            if !self.held[i] {
                rest[i] = self.q0[i];
            }
        }
        let mut guesses = Guesses { rest, given: x.to_vec(), other };
        if let Some(feasible) = self.feasible {
            let times = [self.t0, self.time];
            let is_impact = !feasible_path::is_feasible(feasible, times, origin, &guesses.given);
            let moves = guesses.rest != origin || self.system.abilities().timed.is_some();
            // What moves along with what pushes it does not have to make way.
            let rest = if moves && !is_impact {
                guesses.given.clone()
            } else {
                self.approach(feasible, &guesses.rest, minimizes.then_some(method), stopping, work)?
            };
            guesses = guesses.limited(feasible, times, origin, rest);
            if is_impact && !minimizes && self.constraint_solver.is_none() {
                self.improve(&mut guesses, stopping, work);
            }
        }
        let solved = if minimizes {
            self.choose_by_value(&guesses, x);
            self.minimize(x, method, stopping, work)
        } else {
            self.solve_root(guesses, x, stopping, work)
        };
        solved.map_err(|cause| self.failure(cause, x))
    }

    /// Replaces the given guess by the minimum of the incremental potential with W at x in place of its discrete gradient, and
    /// without forces that have no potential, if there is one. In an impact its contacts are nearly those of the step, and a
    /// line search on a function finds them where one on a residual is stuck.
    fn improve(&mut self, guesses: &mut Guesses, stopping: &Stopping, work: &mut Workspace) {
        let mut x = guesses.rest.clone();
        self.choose_by_value(guesses, &mut x);
        let rough = Stopping { tolerance: IMPACT_TOLERANCE, conserving: false, enough: None, ..*stopping };
        if self.minimize(&mut x, Method::Minimize, &rough, work).is_ok() {
            guesses.given = x;
        }
    }

    /// Minimises the incremental potential from `x`.
    fn minimize(
        &mut self,
        x: &mut [f64],
        method: Method,
        stopping: &Stopping,
        work: &mut Workspace,
    ) -> Result<SolveReport, SolveError> {
        let (system, origin) = (self.system, self.q0);
        match method {
            Method::Bfgs => minimize_by_bfgs(self, x, origin, system.mass().diagonal(), stopping),
            _ => minimize(self, x, origin, stopping, work),
        }
    }

    /// Converts an error of the solver into one of the step.
    fn failure(&self, cause: SolveError, x: &[f64]) -> StepError {
        match (cause, &self.constraint_solver) {
            (SolveError::Singular { dof }, Some(constraint_solver)) if dof >= x.len() => {
                constraint_solver.failure(self.system, self.t0, self.h, x)
            }
            (cause, _) => StepError::Solve { cause, t: self.t0, h: self.h },
        }
    }

    /// Writes the guess with the least value into `x`. A ballistic guess is excellent for small steps and useless for large
    /// ones.
    fn choose_by_value(&mut self, guesses: &Guesses, x: &mut [f64]) {
        let mut least = f64::INFINITY;
        // The last guess is the best in most steps. Its value is then cached for the start of the solve.
        for guess in [&guesses.rest, &guesses.given, &guesses.other].into_iter().filter(|g| !g.is_empty()) {
            let value = self.value(guess).0;
            if !least.is_finite() || value < least {
                x.copy_from_slice(guess);
                least = value;
            }
        }
    }

    /// Solves the equation itself, with the multipliers of constraints as further unknowns.
    fn solve_root(
        &mut self,
        guesses: Guesses,
        x: &mut [f64],
        stopping: &Stopping,
        work: &mut Workspace,
    ) -> Result<SolveReport, SolveError> {
        let all = x.len() + self.multipliers();
        let (mut z, mut fallback, mut other) = (guesses.given, guesses.rest, guesses.other);
        z.resize(all, 0.0);
        fallback.resize(all, 0.0);
        // The guesses are of order 0, 1 and 2 in time. Where the second order improves on the first, the series converges,
        // and the zeroth is the worst.
        other.resize(if other.is_empty() { 0 } else { all }, 0.0);
        let extrapolated = if other.is_empty() { (f64::INFINITY, Vec::new()) } else { self.merit(&other) };
        // The derivative of the equation is at least M, so that the residual of the first order is at least what the guesses
        // are apart, less that of the second.
        let improves = self.multipliers() == 0 && extrapolated.0 <= 0.25 * self.inertia_between(&z, &other);
        let given = if improves { (f64::INFINITY, Vec::new()) } else { self.merit(&z) };
        let chosen = if extrapolated.0 < given.0 {
            z = other;
            extrapolated.1
        } else {
            let rest = self.merit(&fallback);
            if rest.0 < given.0 {
                std::mem::swap(&mut z, &mut fallback);
                rest.1
            } else {
                given.1
            }
        };
        self.cached_residual = Some((z.clone(), chosen)).filter(|(_, residual)| !residual.is_empty());
        let origin = self.q0;
        let solved = find_root(self, &mut z, origin, stopping, work).or_else(|_| {
            z.copy_from_slice(&fallback);
            find_root(self, &mut z, origin, stopping, work)
        });
        x.copy_from_slice(&z[..x.len()]);
        if solved.is_ok() {
            self.store_impulses(&z);
        }
        solved
    }

    /// A feasible point at which the Dirichlet dofs have their prescribed values, as in `rest`, and obstacles are where they belong.
    ///
    /// The Dirichlet dofs move on a straight path, and obstacles on theirs, as far as it is feasible. If a contact blocks the path, the
    /// step is solved with them where they are, so that the other bodies can move away; then they move on.
    fn approach(
        &mut self,
        feasible: &dyn FeasibleStep,
        rest: &[f64],
        minimizes: Option<Method>,
        stopping: &Stopping,
        work: &mut Workspace,
    ) -> Result<Vec<f64>, StepError> {
        let arrival = self.time;
        if self.system.abilities().timed.is_some() {
            self.set_time(self.t0);
        }
        let mut x = self.q0.to_vec();
        let mut short = 0;
        for _ in 0..MAX_APPROACHES {
            let d: Vec<f64> = (0..x.len()).map(|i| if self.held[i] { rest[i] - x[i] } else { 0.0 }).collect();
            let fraction = self.free_part(feasible, arrival, &x, &d);
            if fraction >= 1.0 {
                (0..x.len()).filter(|&i| self.held[i]).for_each(|i| x[i] = rest[i]);
                self.set_time(arrival);
                return Ok(x);
            }
            if fraction >= MIN_APPROACH {
                x.iter_mut().zip(&d).for_each(|(x, d)| *x += fraction * d);
                self.set_time(self.time + fraction * (arrival - self.time));
                short = 0;
            } else if short == MAX_SHORT_APPROACHES {
                break;
            } else {
                short += 1;
            }
            let solved = match minimizes {
                Some(method) => self.minimize(&mut x, method, stopping, work),
                None => {
                    let guesses = Guesses { rest: x.clone(), given: x.clone(), other: Vec::new() };
                    self.solve_root(guesses, &mut x, stopping, work)
                }
            };
            match solved {
                // The distance to the obstacle is below rounding.
                Err(SolveError::InfeasibleStart) => break,
                Err(cause) => return Err(self.failure(cause, &x)),
                Ok(_) => {}
            }
        }
        Err(StepError::Blocked { t: self.t0, h: self.h })
    }

    /// The part of the motion `d` of the Dirichlet dofs, and of what moves in time until `arrival`, that is known to be feasible.
    fn free_part(&self, feasible: &dyn FeasibleStep, arrival: f64, x: &[f64], d: &[f64]) -> f64 {
        if self.time == arrival {
            let at_rest = d.iter().all(|d| *d == 0.0);
            return if at_rest { 1.0 } else { feasible.max_step([arrival; 2], x, d) };
        }
        let mut part = 1.0;
        while part >= MIN_APPROACH {
            let end = if part == 1.0 { arrival } else { self.time + part * (arrival - self.time) };
            let motion: Vec<f64> = d.iter().map(|d| part * d).collect();
            if feasible.max_step([self.time, end], x, &motion) >= 1.0 {
                return part;
            }
            part *= 0.5;
        }
        0.0
    }

    /// Passes the constraint impulses to the constraint solver.
    fn store_impulses(&mut self, z: &[f64]) {
        let time = self.multiplier_time();
        let Some(constraint_solver) = &mut self.constraint_solver else { return };
        let (x, multipliers) = z.split_at(self.q0.len());
        let impulses = constraint_solver.impulses_of(multipliers, time);
        let end = (self.parts.potential == PotentialRule::Discrete).then_some(x);
        constraint_solver.add_impulses(self.system, self.q0, end, &impulses);
    }

    /// Σ wᵢ rᵢ² and the residual r; +∞ and nothing where infeasible.
    fn merit(&mut self, x: &[f64]) -> (f64, Vec<f64>) {
        let mut r = vec![0.0; x.len()];
        if !self.residual(x, &mut r) {
            return (f64::INFINITY, Vec::new());
        }
        let merit: f64 = r.iter().enumerate().map(|(i, r)| self.weight(i) * r * r).sum();
        if merit.is_nan() { (f64::INFINITY, Vec::new()) } else { (merit, r) }
    }

    /// Σ (xᵢ − yᵢ)²/wᵢ.
    fn inertia_between(&self, x: &[f64], y: &[f64]) -> f64 {
        x.iter().zip(y).enumerate().map(|(i, (x, y))| (x - y).powi(2) / self.weight(i)).sum()
    }
}
