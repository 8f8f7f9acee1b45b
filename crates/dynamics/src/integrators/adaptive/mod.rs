//! Time adaption with a σ rule \[kharevych2010\] §3.3–3.4: t_{k+1} = t_k + hσ(q_k, q_{k+1}), on the midpoint
//! rule. What sets the three methods apart is how σ is treated; their files say it.

mod equation;
pub(super) mod naive;
pub(super) mod reversible;
mod rule;
pub(super) mod symplectic;

use crate::System;
use equation::Timed;
use rule::{EPSILON, RULE, Rule, SCALE, Span, TIME};

use super::{Claims, Integrator, LINEAR, MAX_ITERATIONS, Pace, TOLERANCE, Variant};
use crate::constraints::Holding;
use crate::implicit::{Method, Solver};
use crate::options::OptionSpec;
use crate::step::Ends;
use crate::{Integrating, Options, State, StepError};
use lilyan_solve::newton::dot;

/// σ is refused beyond this and below its inverse: time would stand still, or jump.
const LARGEST: f64 = 1e4;

/// Of the methods that solve for the step and its length together.
const OPTIONS: &[OptionSpec] = &[RULE, SCALE, EPSILON, TIME, TOLERANCE, MAX_ITERATIONS, LINEAR];
const VARIANTS: &[&[(&str, Variant)]] = &[
    &[("scale", Variant::Number(1.0))],
    &[("rule", Variant::Word("potential")), ("scale", Variant::Number(10.0))],
    &[("rule", Variant::Word("poses")), ("scale", Variant::Number(10.0))],
    &[
        ("rule", Variant::Word("phase-space")),
        ("scale", Variant::Number(10.0)),
        ("epsilon", Variant::Number(0.3)),
        ("time", Variant::Number(0.1)),
    ],
];

/// Solves for the step and its length together.
struct Adaptive {
    rule: Rule,
    /// With the multiplier λ that makes it symplectic.
    symplectic: bool,
    solver: Solver,
    ends: Ends,
    /// The energy at the start and what forces without potential, loads and moving pins have added since.
    energy: Option<f64>,
}

impl Adaptive {
    fn new(options: &Options, symplectic: bool) -> Self {
        Self {
            rule: Rule::new(options),
            symplectic,
            solver: Solver::new(options, Method::Root, true),
            ends: Ends::default(),
            energy: None,
        }
    }

    /// The step with held unknowns where they are at the end of a step of `dt`; returns x and what was
    /// found with it.
    fn solve<'a>(
        &mut self,
        system: &'a dyn System,
        state: &'a State,
        h: f64,
        (energy, start): (f64, &'a [f64]),
        dt: f64,
        report: &mut Integrating,
    ) -> Result<(Vec<f64>, equation::Point), StepError> {
        self.ends.prepare(system, state, dt)?;
        // Taken out while the step is solved, then told its impulses.
        let mut holding = std::mem::take(&mut self.ends.holding);
        let mut equation = Timed {
            system,
            state,
            h,
            rule: &self.rule,
            symplectic: self.symplectic,
            energy,
            start,
            held: &self.ends.mask,
            holding: &holding,
        };
        let mut still = state.q.clone();
        let mut x: Vec<f64> = (0..still.len()).map(|i| state.q[i] + 0.5 * dt * state.v[i]).collect();
        for i in (0..x.len()).filter(|&i| self.ends.mask[i]) {
            x[i] = 0.5 * (state.q[i] + self.ends.q[i]);
            still[i] = x[i];
        }
        let n = x.len();
        let all = n + holding.count();
        x.resize(all, 0.0);
        still.resize(all, 0.0);
        let mut solved = self.solver.root(&mut equation, system, &mut x, &state.q);
        if solved.is_err() {
            x = still;
            solved = self.solver.root(&mut equation, system, &mut x, &state.q);
        }
        let multipliers = x.split_off(n);
        let point = equation.at(&x, true);
        if let (Ok(_), Some(point), true) = (&solved, &point, all > n) {
            let impulses = holding.impulses_of(&multipliers, 0.5 * point.dt);
            holding.take(system, &state.q, None, &impulses);
        }
        self.ends.holding = holding;
        let done = solved.map_err(|cause| StepError::Solve { cause, t: state.t, h })?;
        report.newton_iterations += done.iterations;
        report.linear_iterations += done.linear_iterations;
        report.multigrid += done.multigrid;
        Ok((x, point.ok_or(StepError::Infeasible { t: state.t, h })?))
    }
}

impl Integrator for Adaptive {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let n = state.q.len();
        let energy = self.energy.unwrap_or_else(|| total(system, state));
        self.ends.prepare(system, state, 0.0)?;
        let mut start = Vec::new();
        if self.rule.wants_start() {
            start = vec![0.0; n];
            system.gradient(state.t, &state.q, &mut start);
        }
        let begin = Span {
            system,
            h,
            t: state.t,
            q0: &state.q,
            x: &state.q,
            held: &self.ends.mask,
            energy,
            start: &start,
        };
        let mut dt = checked(h, self.rule.sigma(&begin, false).value, system, state)?;
        let mut report = Integrating::default();
        let (mut x, mut point) = self.solve(system, state, h, (energy, &start), dt, &mut report)?;
        // Where pins move their end is known only with the step's: a few rounds settle both.
        let mut rounds = 0;
        while system.held_moves() && (point.dt - dt).abs() > 1e-14 * dt {
            rounds += 1;
            if rounds > 30 {
                return Err(StepError::Pace { t: state.t, h, sigma: point.dt / h });
            }
            dt = point.dt;
            (x, point) = self.solve(system, state, h, (energy, &start), dt, &mut report)?;
        }
        let dt = checked(h, point.dt / h, system, state)?;
        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + 2.0 * (x[i] - state.q[i])).collect();
        let mut p1: Vec<f64> =
            (0..n).map(|i| state.p[i] - dt * (point.gradient[i] - point.forces[i])).collect();
        self.ends.holding.add_kick(&mut p1);
        if let Some([first, second]) = &point.slopes {
            for i in 0..n {
                p1[i] -= h * point.lambda * (first[i] + second[i]);
            }
        }
        if !system.energy(state.t + dt, &q1).is_finite() {
            return Err(StepError::Infeasible { t: state.t, h: dt });
        }
        let mut added = work(system, state, &self.ends.mask, dt, &q1, &point);
        self.ends.finish(system, state, dt, &mut q1, &mut p1)?;
        // Where the step began is in q₁ now. Pins that move work against constraints as well.
        for (i, reaction) in
            self.ends.holding.reactions().iter().enumerate().filter(|(i, _)| self.ends.mask[*i])
        {
            added -= reaction * (state.q[i] - q1[i]) / dt;
        }
        self.energy = Some(energy + added);
        Ok(report)
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 2,
            damped_order: 2,
            explicit: false,
            symplectic: self.symplectic,
            reversible: true,
            linear_momentum: true,
            angular_momentum: true,
            energy: false,
        }
    }

    fn pace(&self) -> Pace {
        Pace::Own
    }

    fn holding(&self) -> Option<&Holding> {
        Some(&self.ends.holding)
    }

    fn reset(&mut self) {
        self.solver.kept.reset();
        self.energy = None;
    }

    fn memory(&self) -> Vec<f64> {
        self.energy.into_iter().chain(self.solver.kept.memory()).collect()
    }

    fn remember(&mut self, memory: &[f64]) {
        self.energy = memory.first().copied();
        self.solver.kept.remember(memory.get(1..).unwrap_or_default());
    }
}

/// hσ, unless σ is out of all proportion.
fn checked(h: f64, sigma: f64, system: &dyn System, state: &State) -> Result<f64, StepError> {
    let t = state.t;
    if sigma > 1.0 / LARGEST && sigma < LARGEST {
        Ok(h * sigma)
    } else if system.energy(t, &state.q).is_finite() {
        Err(StepError::Pace { t, h, sigma })
    } else {
        Err(StepError::Infeasible { t, h })
    }
}

fn total(system: &dyn System, state: &State) -> f64 {
    state.kinetic(system) + system.energy(state.t, &state.q)
}

/// What came into the energy during the step, but for round-off: work of forces without potential, of loads
/// that change, and of pins that move.
fn work(
    system: &dyn System,
    state: &State,
    held: &[bool],
    dt: f64,
    q1: &[f64],
    point: &equation::Point,
) -> f64 {
    let moved: Vec<f64> = q1.iter().zip(&state.q).map(|(a, b)| a - b).collect();
    let mut work = dot(&point.forces, &moved) + point.ramp;
    if system.held_moves() {
        let (mut q, mut v, mut p) = (state.q.clone(), state.v.clone(), vec![0.0; q1.len()]);
        system.place_held(state.t + dt, &mut q, &mut v);
        system.mass().mul(&v, &mut p);
        for i in (0..q1.len()).filter(|&i| held[i]) {
            work += (point.gradient[i] - point.forces[i]) * moved[i];
            work += 0.5 * (v[i] + state.v[i]) * (p[i] - state.p[i]);
        }
    }
    work
}
