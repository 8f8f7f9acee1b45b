//! A step of `siere`: modes exactly, the complement by another method.

use super::Modes;
use super::step_solver::StepSolver;
use crate::linearised::{EvaluationTime, Linearised, Translation};
use lilyan_solve::NotPositiveDefinite;
use lilyan_solve::SecondOrderSystem;
use lilyan_solve::eigen::Subspace;
use lilyan_solve::exponential::{Damping, Propagator};
use lilyan_solve::newton::dot;

/// The energy that a step may gain, relative to the energy that it moves. Errors of a sound step are far below.
const GAIN: f64 = 0.05;
/// Most solves with `h_part = "backward-euler"` or `"midpoint"`.
const MAX_SOLVES: usize = 50;
/// A correction of this size that does not decrease any more is round-off.
const ROUND_OFF: f64 = 1e-10;

/// How the complement is integrated.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Rest {
    /// One Newton step of backward Euler.
    SemiImplicit,
    /// Backward Euler.
    BackwardEuler,
    /// The midpoint rule.
    Midpoint,
}

impl Rest {
    /// The share of the step at which the equation of the complement is solved: 1, or ½ for the midpoint rule.
    pub(super) fn reach(self) -> f64 {
        if self == Self::Midpoint { 0.5 } else { 1.0 }
    }

    /// Most solves for the complement.
    pub(super) fn solves(self) -> usize {
        if self == Self::SemiImplicit { 1 } else { MAX_SOLVES }
    }

    /// When loads and Dirichlet dofs are evaluated.
    pub(super) fn when(self) -> EvaluationTime {
        if self == Self::Midpoint { EvaluationTime::Middle } else { EvaluationTime::End }
    }
}

/// Momentum p = Mv and force f = Ma of the free unknowns at the start of a step.
pub(super) struct Motion {
    pub(super) momentum: Vec<f64>,
    pub(super) force: Vec<f64>,
}

/// The ways to take a step, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// The complement feels the force at the point to which the modes lead.
    Warm,
    /// The complement feels the force at the start of the step.
    Cold,
    /// No modes: `semi-implicit`.
    WithoutModes,
}

/// (δq, δv) of a step; `None` if the solves for the complement do not converge.
type Advanced = Result<Option<(Vec<f64>, Vec<f64>)>, NotPositiveDefinite>;

/// One linearised step: the system, its translations, and its modes.
pub(super) struct Split<'a> {
    pub(super) linear: &'a Linearised<'a>,
    pub(super) translations: &'a [Translation],
    pub(super) modes: &'a Modes,
    pub(super) motion: &'a Motion,
    pub(super) h: f64,
    pub(super) rest: Rest,
    /// The relative correction at which the solves for the complement end.
    pub(super) tolerance: f64,
}

impl Split<'_> {
    /// The modes that are integrated exactly.
    fn used(&self, way: Way) -> impl Iterator<Item = (&[f64], f64)> {
        let n = self.motion.momentum.len();
        let count = if way == Way::WithoutModes { 0 } else { self.modes.used };
        let Subspace { vectors, values } = &self.modes.subspace;
        vectors.chunks_exact(n).zip(values.iter().copied()).take(count)
    }

    /// Removes the modes from a vector.
    fn project_out(&self, way: Way, x: &mut [f64]) {
        let mut weighted = vec![0.0; x.len()];
        self.linear.mass(x, &mut weighted);
        for (u, _) in self.used(way) {
            let along = dot(u, &weighted);
            x.iter_mut().zip(u).for_each(|(x, u)| *x -= along * u);
        }
        self.linear.project_out(self.translations, x);
    }

    /// (δq, δv) of a step. `None` if the solves for the complement do not converge.
    pub(super) fn advance(&self, way: Way, solver: &mut StepSolver<'_>) -> Advanced {
        let (linear, h) = (self.linear, self.h);
        let n = self.motion.momentum.len();
        // Integrate each mode, and remove it from v and a.
        let (mut v, mut a) = (linear.velocity.clone(), linear.acceleration.clone());
        let (mut dq, mut dv) = (vec![0.0; n], vec![0.0; n]);
        // The modes at the point at which the complement is solved.
        let (reach, tau, mut ahead) = (self.rest.reach(), self.rest.reach() * h, vec![0.0; n]);
        let (mut inertia, mut damped) = (vec![0.0; n], vec![0.0; n]);
        // The velocity that each mode has gained there.
        let mut gained = Vec::new();
        for (u, value) in self.used(way) {
            let (rate, pull) = (dot(u, &self.motion.momentum), dot(u, &self.motion.force));
            // Zero where no Dirichlet dof moves.
            let mean = pull + linear.force_in_the_middle.iter().zip(u).map(|(f, u)| f * u).sum::<f64>();
            linear.damping(u, &mut damped);
            let propagator = Propagator::new(h * h * value, 0.5 * h * dot(u, &damped));
            let (x, y) = propagator.advance(h * rate, h * h * mean);
            let part = Propagator::new(tau * tau * value, 0.5 * tau * dot(u, &damped));
            let there = if reach == 1.0 { (x, y) } else { part.advance(tau * rate, tau * tau * mean) };
            gained.push(there.1 / tau);
            for i in 0..n {
                dq[i] += x * u[i];
                ahead[i] += there.0 * u[i];
                dv[i] += y / h * u[i];
                v[i] -= rate * u[i];
                a[i] -= pull * u[i];
            }
        }
        let couples = self.rest == Rest::Midpoint && linear.kind() == Damping::General;
        if couples {
            self.feel_modes(way, &gained, &mut a);
        }
        let mut change = vec![0.0; n];
        if way == Way::Warm {
            change = linear.change_of_acceleration(&ahead);
            self.project_out(way, &mut change);
        }
        // The complement; τ²K v = (A − M − τD)v, with the K of the factorised matrix.
        let (mut rhs, mut product) = (vec![0.0; n], vec![0.0; n]);
        linear.mass(&v, &mut inertia);
        linear.damping(&v, &mut damped);
        solver.mul(&v, &mut product);
        for i in 0..n {
            rhs[i] = -(product[i] - inertia[i] - tau * damped[i]) / reach;
        }
        let mut gain = vec![0.0; n];
        let solves = if way == Way::Warm { self.rest.solves() } else { 1 };
        let mut last = f64::INFINITY;
        for solve in 1..=solves {
            let total: Vec<f64> = a.iter().zip(&change).map(|(a, c)| a + c).collect();
            linear.mass(&total, &mut product);
            for i in 0..n {
                rhs[i] += h * product[i];
            }
            solver.solve(&mut rhs)?;
            if solve > 1 {
                self.project_out(way, &mut rhs);
            }
            gain.iter_mut().zip(&rhs).for_each(|(g, r)| *g += r);
            let (correction, size) = (linear.kinetic(&rhs), linear.kinetic(&gain));
            let stagnant = correction >= last && correction <= ROUND_OFF * ROUND_OFF * size;
            if solves == 1 || stagnant || correction <= self.tolerance * self.tolerance * size {
                break;
            }
            last = correction;
            if solve == solves || !correction.is_finite() {
                return Ok(None);
            }
            // The residual of backward Euler at the end of the step, or of the midpoint rule in its middle.
            let point: Vec<f64> = (0..n).map(|i| ahead[i] + tau * (v[i] + reach * gain[i])).collect();
            change = linear.change_of_acceleration(&point);
            self.project_out(way, &mut change);
            linear.mass(&gain, &mut inertia);
            linear.damping(&gain, &mut damped);
            for i in 0..n {
                rhs[i] = -inertia[i] - tau * damped[i];
            }
        }
        for i in 0..n {
            dq[i] += h * (v[i] + reach * gain[i]);
            dv[i] += gain[i];
        }
        if couples {
            self.feel_other_modes(way, &gained, &mut dq, &mut dv);
        }
        Ok(Some((dq, dv)))
    }

    /// Adds to the acceleration of the complement what the velocities that modes have gained do by damping.
    fn feel_modes(&self, way: Way, gained: &[f64], a: &mut [f64]) {
        let damping = self.damping_of(&self.velocity_of(way, gained));
        let mut change = vec![0.0; a.len()];
        self.linear.divide_by_mass(&damping, &mut change);
        self.project_out(way, &mut change);
        a.iter_mut().zip(&change).for_each(|(a, c)| *a -= c);
    }

    /// Adds what modes do by damping because other modes have gained velocity. What the complement does to them is in its solve,
    /// whose result is not orthogonal to the modes where D couples both.
    fn feel_other_modes(&self, way: Way, gained: &[f64], dq: &mut [f64], dv: &mut [f64]) {
        let h = self.h;
        let damping = self.damping_of(&self.velocity_of(way, gained));
        for ((u, value), own) in self.used(way).zip(gained) {
            let rate = dot(u, &self.damping_of(u));
            let pull = own * rate - dot(u, &damping);
            let (x, y) = Propagator::new(h * h * value, 0.5 * h * rate).advance(0.0, h * h * pull);
            for i in 0..u.len() {
                dq[i] += x * u[i];
                dv[i] += y / h * u[i];
            }
        }
    }

    /// The velocity of modes that have these rates.
    fn velocity_of(&self, way: Way, rates: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; self.motion.momentum.len()];
        for ((u, _), rate) in self.used(way).zip(rates) {
            v.iter_mut().zip(u).for_each(|(v, u)| *v += rate * u);
        }
        v
    }

    /// D v.
    fn damping_of(&self, v: &[f64]) -> Vec<f64> {
        let mut damping = vec![0.0; v.len()];
        self.linear.damping(v, &mut damping);
        damping
    }

    /// Whether a step keeps or loses energy, up to [`GAIN`]. Loads and Dirichlet dofs do no work here, since both energies
    /// are taken with those at the end of the step.
    pub(super) fn keeps_energy(&self, before: f64, dq: &[f64], dv: &[f64]) -> bool {
        let (mut dq, mut translation) = (dq.to_vec(), vec![0.0; dq.len()]);
        for t in self.translations {
            t.add_to(&mut dq, &mut translation);
        }
        let v: Vec<f64> = self.linear.velocity.iter().zip(dv).map(|(v, d)| v + d).collect();
        let after = self.linear.potential(&dq);
        let (start, end) = (self.linear.kinetic(&self.linear.velocity), self.linear.kinetic(&v));
        // What the translation gains comes from the potential.
        let work: f64 = self.translations.iter().map(Translation::kinetic_gain).sum();
        let change = after - before + work;
        let rounding = 1e-12 * (before.abs() + after.abs());
        let finite = change.is_finite();
        finite && end - start + change <= GAIN * (start + end + change.abs()) + rounding
    }
}
