//! The common part of implicit integrators: Dirichlet dofs, initial guesses, the solver, the end of the step, and memory. A
//! method then only defines a [`Scheme`]: its equations and its claims.

use crate::constraints::ConstraintSolver;
use crate::feasible_path;
use crate::implicit::{ForceRule, ImplicitStep, Method, PotentialRule, Solver, StepEquation};
use crate::in_step::InStep;
use crate::integrator::{Claims, Integrator};
use crate::prescribed::Prescribed;
use crate::system::terms::StepStart;
use crate::{Effort, Memory, MemoryError, MemoryRecord, Options, State, StepError, StepStats, System};
use lilyan_parallel::threads;
use lilyan_solve::newton::SolverMemory;
use serde::{Deserialize, Serialize};

/// The equations of an implicit method.
pub trait Scheme: Send {
    /// Computes one step with the data and functions of `step`.
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError>;
    /// The properties that the method claims.
    fn claims(&self) -> Claims;
    /// Whether the method supports constraints: the single solve of a step enforces them, and their impulse is added to p.
    fn keeps_constraints(&self) -> bool {
        false
    }
    /// See [`Integrator::takes_fits`].
    fn takes_fits(&self) -> bool {
        false
    }
    /// See [`Integrator::solves_for_end`].
    fn solves_for_end(&self) -> bool {
        false
    }
}

/// The end of a step. Dirichlet dofs need not be correct: the driver sets them.
pub struct End {
    /// Positions, m.
    pub q: Vec<f64>,
    /// Momenta, kg m/s.
    pub p: Vec<f64>,
    /// What the next step needs to know about this one.
    pub history: History,
}

/// What a method needs to know about its last step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum History {
    /// Nothing: a one-step method, or the first step.
    #[default]
    None,
    /// The start of the last step.
    Start {
        /// Its length, s.
        h: f64,
        /// Positions, m.
        q: Vec<f64>,
        /// Momenta, kg m/s.
        p: Vec<f64>,
    },
    /// The force at the end of the last step.
    Force {
        /// Its length, s.
        h: f64,
        /// The force, N.
        force: Vec<f64>,
    },
    /// The error estimate of the last step.
    Estimate {
        /// The error, m.
        error: f64,
        /// The largest speed, m/s.
        speed: f64,
    },
}

/// The memory of an implicit method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ImplicitMemory {
    /// The memory of the solver.
    pub solver: SolverMemory,
    /// The last step, if the state is still its end.
    pub past: Option<Past>,
}

/// What is remembered of the last step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// The part that the method needs.
    pub history: History,
    /// Mean acceleration, m/s², for the initial guess.
    pub acceleration: Vec<f64>,
}

impl MemoryRecord for ImplicitMemory {
    const KIND: &'static str = "implicit";
    const VERSION: u32 = 2;
}

/// A step in progress: the data that a [`Scheme`] uses, and the functions that it calls.
pub struct Step<'a> {
    /// The system.
    pub system: &'a dyn System,
    /// The state at the start.
    pub state: &'a State,
    /// The length of the step, s.
    pub h: f64,
    /// Dirichlet dofs and their values at the end.
    pub prescribed: &'a Prescribed,
    /// The constraints of the step.
    pub constraint_solver: &'a mut ConstraintSolver,
    has_constraints: bool,
    /// [`End::history`] of the last step; [`History::None`] if no step led to this state.
    pub history: &'a History,
    /// Mean acceleration of the last step; empty if no step led to this state.
    acceleration: &'a [f64],
    solver: &'a mut Solver,
    /// The last solution and its time, s, if steps are limited; otherwise empty.
    solved: (f64, Vec<f64>),
    report: StepStats,
}

/// A stage equation M(x − q₀) = b + c F(t*, x, v), v = (x − q₀)/span + offset, with all forces F = −∇W + f at one point.
pub struct Stage {
    /// t*, s.
    pub time: f64,
    /// b, kg m.
    pub impulse: Vec<f64>,
    /// c, s².
    pub weight: f64,
    /// The time span of v, s.
    pub span: f64,
    /// The offset of v, m/s.
    pub offset: Vec<f64>,
    /// The ratio (x − q₀)/(q₁ − q₀).
    pub reach: f64,
}

impl Step<'_> {
    /// The ballistic guess q₀ + fraction·h·v₀. Dirichlet dofs move by the same fraction of their path.
    pub fn ballistic(&self, fraction: f64) -> Vec<f64> {
        let mut v = self.state.v.clone();
        self.prescribed.mean_velocity(&self.state.q, self.h, &mut v);
        self.state.q.iter().zip(&v).map(|(q, v)| q + fraction * self.h * v).collect()
    }

    /// Solves for x from the given guess. Its Dirichlet dofs stay.
    pub fn solve(&mut self, parts: StepEquation<'_>, x: &mut [f64]) -> Result<(), StepError> {
        let State { t, q, .. } = self.state;
        let (parts_time, solved_at) = (parts.time, parts.time_of_solution(*t, self.h));
        let step = ImplicitStep::new(self.system, *t, self.h, q, &self.prescribed.mask, parts);
        let step = if self.has_constraints { step.constraint_solver(self.constraint_solver) } else { step };
        // A second guess: x with the mean acceleration of the last step.
        let time_squared = (parts_time - t).powi(2);
        let extrapolated =
            |i: usize| x[i] + if self.prescribed.mask[i] { 0.0 } else { time_squared * self.acceleration[i] };
        let other: Vec<f64> = (0..self.acceleration.len()).map(extrapolated).collect();
        let solved = self.solver.solve(step, x, other)?;
        if self.system.abilities().feasible_step.is_some() {
            self.solved = (solved_at, x.to_vec());
        }
        self.report.add(solved.into());
        Ok(())
    }

    /// Solves a stage; returns (x, v). Dirichlet dofs have their position and velocity of t*, or have moved by the fraction
    /// `reach` of their path.
    pub fn stage(&mut self, mut stage: Stage) -> Result<(Vec<f64>, Vec<f64>), StepError> {
        let (q0, prescribed) = (&self.state.q, self.prescribed);
        let ends_step = stage.reach == 1.0;
        let mut x =
            self.ballistic(if ends_step { (stage.time - self.state.t) / self.h } else { stage.reach });
        if prescribed.any() {
            let (mut position, mut velocity) = (x.clone(), self.state.v.clone());
            self.system.abilities().place_prescribed(stage.time, &mut position, &mut velocity);
            for i in (0..x.len()).filter(|&i| prescribed.mask[i]) {
                x[i] = if ends_step { position[i] } else { x[i] };
                stage.offset[i] = velocity[i] - (x[i] - q0[i]) / stage.span;
            }
        }
        let parts = StepEquation {
            impulse: &stage.impulse,
            weight: stage.weight,
            time: stage.time,
            reach: stage.reach,
            force_weight: stage.weight,
            forces: ForceRule::At { span: stage.span, offset: &stage.offset },
            potential: PotentialRule::Gradient,
        };
        self.solve(parts, &mut x)?;
        let v = (0..x.len()).map(|i| (x[i] - q0[i]) / stage.span + stage.offset[i]).collect();
        Ok((x, v))
    }

    /// All forces at (t, q, v), −∇W + f.
    pub fn force(&self, t: f64, q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; q.len()];
        self.system.gradient(t, q, &mut force);
        for f in force.iter_mut() {
            *f = -*f;
        }
        if let Some(dissipation) = self.system.abilities().dissipation {
            dissipation.add_forces(t, q, v, &mut force);
        }
        force
    }

    /// All forces at the start of the step. It fails if the start is infeasible.
    pub fn start_force(&self) -> Result<Vec<f64>, StepError> {
        let force = self.force(self.state.t, &self.state.q, &self.state.v);
        if force.iter().all(|f| f.is_finite()) { Ok(force) } else { Err(self.infeasible()) }
    }

    /// M⁻¹·force; for Dirichlet dofs the mean acceleration of the step.
    pub fn acceleration(&self, force: &[f64]) -> Vec<f64> {
        let held = self.prescribed.v.iter().zip(&self.state.v);
        let mut a: Vec<f64> = held.map(|(v1, v0)| (v1 - v0) / self.h).collect();
        self.system.mass().solve(&self.prescribed.mask, force, &mut a);
        a
    }

    /// M v.
    pub fn momentum(&self, v: &[f64]) -> Vec<f64> {
        let mut p = vec![0.0; v.len()];
        self.system.mass().mul(v, &mut p);
        p
    }

    /// The error of a step that reaches a point where W is infinite.
    pub fn infeasible(&self) -> StepError {
        StepError::Infeasible { t: self.state.t, h: self.h }
    }

    /// Checks the path from the solution to the end of the step, where the two differ. It fails if the path is not known to
    /// be feasible.
    fn check_path(&self, end: End) -> Result<End, StepError> {
        let Some(feasible) = self.system.abilities().feasible_step else { return Ok(end) };
        let placed = |i: usize| if self.prescribed.mask[i] { self.prescribed.q[i] } else { end.q[i] };
        let q1: Vec<f64> = (0..end.q.len()).map(placed).collect();
        let (time, solved) = &self.solved;
        let (time, from) = if solved.is_empty() { (self.state.t, &self.state.q) } else { (*time, solved) };
        let times = [time, self.state.t + self.h];
        let moves = self.system.abilities().timed.is_some() && times[0] != times[1];
        if (*from == q1 && !moves) || feasible_path::is_feasible(feasible, times, from, &q1) {
            return Ok(end);
        }
        Err(StepError::Collision { t: self.state.t, h: self.h })
    }

    /// Fails if W(t₁, q₁) is infinite. Methods that solve for a point other than q₁ must call this.
    pub fn check_end(&self, q1: &[f64]) -> Result<(), StepError> {
        let feasible = self.system.energy(self.state.t + self.h, q1).is_finite();
        if feasible { Ok(()) } else { Err(self.infeasible()) }
    }
}

/// Largest number of solves of one step until lagged quantities converge.
const MAX_SOLVES: usize = 50;

/// An implicit integrator: a scheme, its solver, and the memory of the last step.
pub struct ImplicitIntegrator<S> {
    scheme: S,
    /// The solver of its equations.
    pub solver: Solver,
    prescribed: Prescribed,
    past: Option<Past>,
    /// Positions and momenta at the end of the last step.
    end: [Vec<f64>; 2],
}

impl<S: Scheme> ImplicitIntegrator<S> {
    /// An integrator with the options that [`crate::integrators`] declares for implicit methods.
    pub fn new(scheme: S, options: &Options, method: Method) -> Self {
        let conserving = scheme.claims().angular_momentum;
        Self {
            scheme,
            solver: Solver::new(options, method, conserving),
            prescribed: Prescribed::default(),
            past: None,
            end: Default::default(),
        }
    }
}

impl<S> ImplicitIntegrator<S> {
    /// [`End::history`] of the last step.
    pub fn history(&self) -> &History {
        self.past.as_ref().map_or(&History::None, |past| &past.history)
    }

    /// The memory, for a checkpoint.
    pub fn record(&self) -> ImplicitMemory {
        ImplicitMemory { solver: self.solver.persistent.memory(), past: self.past.clone() }
    }

    /// Restores the memory that [`ImplicitIntegrator::record`] returned at this state.
    pub fn restore_record(&mut self, record: ImplicitMemory, state: &State) {
        let ImplicitMemory { solver, past } = record;
        self.solver.persistent.restore(solver);
        self.past = past;
        self.end_at(state);
    }

    /// Forgets the last step unless it ended at this state.
    pub fn reset_unless_at(&mut self, state: &State) {
        let [q, p] = &self.end;
        if !(threads::equal(q, &state.q) && threads::equal(p, &state.p)) {
            self.past = None;
        }
    }

    fn end_at(&mut self, state: &State) {
        let [q, p] = &mut self.end;
        threads::copy(&state.q, q);
        threads::copy(&state.p, p);
    }
}

impl<S: Scheme> ImplicitIntegrator<S> {
    /// One step of a system without terms that have state.
    fn single_step(
        &mut self,
        system: &dyn System,
        state: &mut State,
        h: f64,
    ) -> Result<StepStats, StepError> {
        self.prescribed.prepare(system, state, h)?;
        self.reset_unless_at(state);
        let past = self.past.take();
        let (history, acceleration) = match &past {
            Some(past) => (&past.history, &past.acceleration[..]),
            None => (&History::None, &[][..]),
        };
        let before = state.v.clone();
        let mut constraint_solver = std::mem::take(&mut self.prescribed.constraint_solver);
        let mut step = Step {
            system,
            state,
            h,
            prescribed: &self.prescribed,
            constraint_solver: &mut constraint_solver,
            has_constraints: self.scheme.keeps_constraints(),
            history,
            acceleration,
            solver: &mut self.solver,
            solved: Default::default(),
            report: StepStats::default(),
        };
        let end = self.scheme.step(&mut step).and_then(|end| step.check_path(end));
        let report = step.report;
        self.prescribed.constraint_solver = constraint_solver;
        let finished = end.and_then(|mut end| {
            self.prescribed.finish(system, state, h, &mut end.q, &mut end.p)?;
            Ok(end.history)
        });
        let history = match finished {
            Ok(history) => history,
            Err(error) => {
                self.past = past;
                return Err(error);
            }
        };
        // Reuse the memory of the last step.
        let mut acceleration = past.map_or(Vec::new(), |past| past.acceleration);
        acceleration.clear();
        acceleration.extend(state.v.iter().zip(&before).map(|(v, before)| (v - before) / h));
        self.past = Some(Past { history, acceleration });
        self.end_at(state);
        Ok(report)
    }
}

impl<S: Scheme> Integrator for ImplicitIntegrator<S> {
    /// One step. With stateful terms it is solved repeatedly until lagged quantities converge.
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let Some(stateful) = system.abilities().terms else { return self.single_step(system, state, h) };
        let State { t, ref q, ref v, terms: ref history, .. } = *state;
        let mut terms = stateful.begin_step(StepStart { t, h, q, v, history });
        self.reset_unless_at(state);
        let saved = (self.past.clone(), self.end.clone());
        let mut report = StepStats::default();
        for _ in 0..MAX_SOLVES {
            let mut end = state.clone();
            let with_terms = InStep { system, terms: terms.as_ref() };
            report.add(self.single_step(&with_terms, &mut end, h)?);
            if !terms.lag(&end.q) {
                end.terms = terms.end_step(&end.q);
                drop(terms);
                *state = end;
                return Ok(report);
            }
            (self.past, self.end) = saved.clone();
        }
        Err(StepError::Lagging { t, h, solves: MAX_SOLVES })
    }

    fn takes_contact(&self) -> bool {
        !self.scheme.claims().explicit
    }

    fn solves_for_end(&self) -> bool {
        self.scheme.solves_for_end()
    }

    fn claims(&self) -> Claims {
        self.scheme.claims()
    }

    fn takes_fits(&self) -> bool {
        self.scheme.takes_fits()
    }

    fn constraint_solver(&self) -> Option<&ConstraintSolver> {
        self.scheme.keeps_constraints().then_some(&self.prescribed.constraint_solver)
    }

    fn set_effort(&mut self, effort: f64) -> Option<Effort> {
        Some(self.solver.set_effort(effort))
    }

    fn reset(&mut self) {
        self.solver.persistent.reset();
        self.past = None;
    }

    fn memory(&self) -> Memory {
        Memory::new(self.record())
    }

    fn restore(&mut self, memory: &Memory, state: &State) -> Result<(), MemoryError> {
        memory.read().map(|record| self.restore_record(record, state))
    }
}
