//! Time adaption with a σ rule \[kharevych2010\] §3.3–3.4: t_{k+1} = t_k + hσ(q_k, q_{k+1}), applied to the midpoint
//! rule or the trapezoidal rule. The three methods differ in the treatment of σ, which their files describe.

mod equation;
pub(super) mod naive;
pub(super) mod reversible;
mod rule;
pub(super) mod symplectic;

use crate::System;
use equation::AdaptedStepEquation;
use rule::{EPSILON, FORMULA, RULE, Rule, SCALE, SIGMA, Span, TIME};

use super::{Claims, Integrator, LINEAR, MAX_ITERATIONS, StepLength, TOLERANCE, Variant};
use crate::constraints::ConstraintSolver;
use crate::implicit::{Method, Solver};
use crate::options::{Kind, OptionSpec};
use crate::prescribed::Prescribed;
use crate::{Memory, MemoryError, MemoryRecord, Options, State, StepError, StepStats};
use lilyan_solve::newton::{Equations, SolveError, SolverMemory, dot};
use serde::{Deserialize, Serialize};

/// Largest σ; the smallest is its inverse. Beyond these limits a step fails.
const LARGEST: f64 = 1e4;

/// Options of the methods that solve for the step and its length together.
const OPTIONS: &[OptionSpec] =
    &[RULE, SCALE, EPSILON, TIME, FORMULA, QUADRATURE, TOLERANCE, MAX_ITERATIONS, LINEAR];
const QUADRATURE: OptionSpec = OptionSpec {
    name: "quadrature",
    doc: "the rule whose steps are adapted: midpoint, or trapezoid (Verlet, below its stable step)",
    kind: Kind::Word { choices: &["midpoint", "trapezoid"] },
};
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

/// An integrator that solves for the step and its length together.
struct Adaptive {
    rule: Rule,
    /// Whether the equation has the multiplier λ, which makes the step symplectic.
    symplectic: bool,
    trapezoid: bool,
    solver: Solver,
    prescribed: Prescribed,
    /// The expected energy, J: the energy at the start plus the work of forces without potential, loads and moving pins.
    energy: Option<f64>,
}

impl Adaptive {
    fn new(options: &Options, symplectic: bool) -> Self {
        Self {
            rule: Rule::new(options),
            symplectic,
            trapezoid: options.word("quadrature") == "trapezoid",
            solver: Solver::new(options, Method::Root, true),
            prescribed: Prescribed::default(),
            energy: None,
        }
    }

    /// Solves a step whose Dirichlet dofs have their values at the end of a step of `dt`. Returns x and the quantities
    /// that follow from it.
    fn solve<'a>(
        &mut self,
        system: &'a dyn System,
        state: &'a State,
        h: f64,
        (energy, start): (f64, &'a [f64]),
        dt: f64,
        report: &mut StepStats,
    ) -> Result<(Vec<f64>, equation::StepQuantities), StepError> {
        self.prescribed.prepare(system, state, dt)?;
        // The constraint solver is taken out during the solve. It then stores the impulses.
        let mut constraint_solver = std::mem::take(&mut self.prescribed.constraint_solver);
        let mut equation = AdaptedStepEquation {
            system,
            state,
            h,
            rule: &self.rule,
            symplectic: self.symplectic,
            trapezoid: self.trapezoid,
            energy,
            start,
            held: &self.prescribed.mask,
            constraint_solver: &constraint_solver,
        };
        let n = state.q.len();
        let mut solved = Err(SolveError::InfeasibleStart);
        let mut x = Vec::new();
        for guess in guesses(&mut equation, &self.prescribed, dt) {
            x = guess;
            solved = self.solver.root(&mut equation, system, &mut x, &state.q);
            if solved.is_ok() {
                break;
            }
        }
        let all = x.len();
        let multipliers = x.split_off(n);
        let point = equation.at(&x, true);
        if let (Ok(_), Some(point), true) = (&solved, &point, all > n) {
            let impulses = constraint_solver.impulses_of(&multipliers, 0.5 * point.dt);
            constraint_solver.add_impulses(system, &state.q, None, &impulses);
        }
        self.prescribed.constraint_solver = constraint_solver;
        let done = solved.map_err(|cause| StepError::Solve { cause, t: state.t, h })?;
        report.newton_iterations += done.iterations;
        report.linear_iterations += done.linear_iterations;
        report.multigrid += done.multigrid;
        Ok((x, point.ok_or(StepError::Infeasible { t: state.t, h })?))
    }
}

/// First guesses for x, followed by multipliers. With constraints there are several roots, and the ballistic guess can
/// lead to one far away. The way that meets the constraints is then a guess too, with its impulses, and the one with the
/// smallest residual is first.
fn guesses(equation: &mut AdaptedStepEquation<'_>, prescribed: &Prescribed, dt: f64) -> Vec<Vec<f64>> {
    let (system, state, n) = (equation.system, equation.state, equation.state.q.len());
    let halfway = |v: &[f64]| -> Vec<f64> {
        let x = |i: usize| {
            if prescribed.mask[i] {
                0.5 * (state.q[i] + prescribed.q[i])
            } else {
                state.q[i] + 0.5 * dt * v[i]
            }
        };
        (0..n).map(x).collect()
    };
    let mut all = vec![halfway(&state.v), halfway(&vec![0.0; n])];
    if equation.multipliers() == 0 {
        return all;
    }
    let mut solver = ConstraintSolver::default();
    solver.prepare(system, state, dt, &prescribed.mask);
    let mut v = state.v.clone();
    prescribed.mean_velocity(&state.q, dt, &mut v);
    let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + dt * v[i]).collect();
    if solver.drift(system, state, dt, &prescribed.mask, None, &mut v, &mut q1).is_ok() {
        let mut guess = halfway(&v);
        guess.extend(solver.multipliers_of(0.5 * dt));
        all.push(guess);
    }
    let size = n + equation.multipliers();
    let mut rated: Vec<(f64, Vec<f64>)> = all
        .into_iter()
        .map(|mut z| {
            z.resize(size, 0.0);
            let mut r = vec![0.0; size];
            let finite = equation.residual(&z, &mut r);
            let merit: f64 = r.iter().enumerate().map(|(i, r)| equation.weight(i) * r * r).sum();
            (if finite && !merit.is_nan() { merit } else { f64::INFINITY }, z)
        })
        .collect();
    rated.sort_by(|a, b| a.0.total_cmp(&b.0));
    rated.into_iter().map(|(_, z)| z).collect()
}

impl Integrator for Adaptive {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let n = state.q.len();
        let energy = self.energy.unwrap_or_else(|| total(system, state));
        self.prescribed.prepare(system, state, 0.0)?;
        let start = self.rule.start(system, state.t, &self.prescribed.mask, &state.q);
        let begin = Span {
            system,
            h,
            t: state.t,
            q0: &state.q,
            x: &state.q,
            held: &self.prescribed.mask,
            energy,
            start: &start,
        };
        let mut dt = checked(h, self.rule.sigma(&begin, false).value, system, state)?;
        let mut report = StepStats::default();
        let (mut x, mut point) = self.solve(system, state, h, (energy, &start), dt, &mut report)?;
        // The values of moving Dirichlet dofs depend on the end of the step. A few iterations determine both.
        let mut rounds = 0;
        while system.abilities().prescribed_moves() && (point.dt - dt).abs() > 1e-14 * dt {
            rounds += 1;
            if rounds > 30 {
                return Err(StepError::StepRatio { t: state.t, h, sigma: point.dt / h });
            }
            dt = point.dt;
            (x, point) = self.solve(system, state, h, (energy, &start), dt, &mut report)?;
        }
        let dt = checked(h, point.dt / h, system, state)?;
        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + 2.0 * (x[i] - state.q[i])).collect();
        if self.trapezoid {
            let mut last = vec![0.0; n];
            system.gradient(state.t + dt, &q1, &mut last);
            point.gradient.iter_mut().zip(&last).for_each(|(g, last)| *g = 0.5 * (*g + last));
        }
        let mut p1: Vec<f64> =
            (0..n).map(|i| state.p[i] - dt * (point.gradient[i] - point.forces[i])).collect();
        self.prescribed.constraint_solver.add_start_impulse(&mut p1);
        if let Some([first, second]) = &point.slopes {
            for i in 0..n {
                p1[i] -= h * point.lambda * (first[i] + second[i]);
            }
        }
        if !system.energy(state.t + dt, &q1).is_finite() {
            return Err(StepError::Infeasible { t: state.t, h: dt });
        }
        let mut added = work(system, state, &self.prescribed.mask, dt, &q1, &point);
        self.prescribed.finish(system, state, dt, &mut q1, &mut p1)?;
        // `q1` holds the start of the step now. Moving Dirichlet dofs also do work against constraints.
        for (i, reaction) in self
            .prescribed
            .constraint_solver
            .reactions()
            .iter()
            .enumerate()
            .filter(|(i, _)| self.prescribed.mask[*i])
        {
            added -= reaction * (state.q[i] - q1[i]) / dt;
        }
        self.energy = Some(energy + added);
        Ok(report)
    }

    fn claims(&self) -> Claims {
        Claims {
            symplectic: self.symplectic,
            reversible: !self.rule.at_start,
            angular_momentum: true,
            ..Claims::of_order(2)
        }
    }

    fn step_length(&self) -> StepLength {
        StepLength::Adaptive
    }

    fn constraint_solver(&self) -> Option<&ConstraintSolver> {
        Some(&self.prescribed.constraint_solver)
    }

    fn reset(&mut self) {
        self.solver.persistent.reset();
        self.energy = None;
    }

    fn memory(&self) -> Memory {
        Memory::new(AdaptiveMemory { energy: self.energy, solver: self.solver.persistent.memory() })
    }

    fn restore(&mut self, memory: &Memory, _state: &State) -> Result<(), MemoryError> {
        let AdaptiveMemory { energy, solver } = memory.read()?;
        self.energy = energy;
        self.solver.persistent.restore(solver);
        Ok(())
    }
}

/// The memory of a method that solves for the length of its step.
#[derive(Clone, Serialize, Deserialize)]
struct AdaptiveMemory {
    /// The expected energy, J.
    energy: Option<f64>,
    solver: SolverMemory,
}

impl MemoryRecord for AdaptiveMemory {
    const KIND: &'static str = "adaptive";
    const VERSION: u32 = 2;
}

/// hσ. It fails if σ is beyond the limits.
fn checked(h: f64, sigma: f64, system: &dyn System, state: &State) -> Result<f64, StepError> {
    let t = state.t;
    if sigma > 1.0 / LARGEST && sigma < LARGEST {
        Ok(h * sigma)
    } else if system.energy(t, &state.q).is_finite() {
        Err(StepError::StepRatio { t, h, sigma })
    } else {
        Err(StepError::Infeasible { t, h })
    }
}

fn total(system: &dyn System, state: &State) -> f64 {
    state.kinetic(system) + system.energy(state.t, &state.q)
}

/// The change of energy during the step, up to round-off: the work of forces without potential, of changing loads and
/// of moving Dirichlet dofs.
fn work(
    system: &dyn System,
    state: &State,
    held: &[bool],
    dt: f64,
    q1: &[f64],
    point: &equation::StepQuantities,
) -> f64 {
    let moved: Vec<f64> = q1.iter().zip(&state.q).map(|(a, b)| a - b).collect();
    let mut work = dot(&point.forces, &moved) + point.ramp;
    if system.abilities().prescribed_moves() {
        let (mut q, mut v, mut p) = (state.q.clone(), state.v.clone(), vec![0.0; q1.len()]);
        system.abilities().place_prescribed(state.t + dt, &mut q, &mut v);
        system.mass().mul(&v, &mut p);
        for i in (0..q1.len()).filter(|&i| held[i]) {
            work += (point.gradient[i] - point.forces[i]) * moved[i];
            work += 0.5 * (v[i] + state.v[i]) * (p[i] - state.p[i]);
        }
    }
    work
}
