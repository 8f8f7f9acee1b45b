//! The solver of implicit steps, and its work space, which persists from step to step.

use super::ImplicitStep;
use crate::{Effort, StepError, StepStats, System};
use lilyan_solve::BlockPattern;
use lilyan_solve::linear::LinearReport;
use lilyan_solve::newton::{
    Equations, SolveError, SolveReport, SolverMemory, Stopping, Workspace, find_root,
};
use std::sync::Arc;

/// The solver that the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Minimise the incremental potential, if there is one.
    Minimize,
    /// Solve the equation.
    Root,
    /// Minimise the incremental potential without its Hessian.
    Bfgs,
}

impl Method {
    /// What the option `solve` asks for.
    pub fn chosen(options: &crate::Options) -> Self {
        match options.word("solve") {
            "root" => Self::Root,
            "bfgs" => Self::Bfgs,
            _ => Self::Minimize,
        }
    }
}

/// A Newton work space that persists from step to step. The contact couplings in its factorisation determine the elimination
/// order, and with it the last bits of a solution. They are therefore part of its memory.
#[derive(Default)]
pub struct PersistentWorkspace {
    work: Option<Workspace>,
    /// The initial memory of the next work space.
    memory: SolverMemory,
}

impl PersistentWorkspace {
    /// The work space of a system; a new one if the pattern has changed.
    pub fn workspace(&mut self, system: &dyn System) -> &mut Workspace {
        self.workspace_for(system.pattern())
    }

    /// The work space for matrices of this pattern.
    pub fn workspace_for(&mut self, pattern: &Arc<BlockPattern>) -> &mut Workspace {
        if !self.work.as_ref().is_some_and(|w| w.fits(pattern)) {
            self.work = None;
        }
        let memory = std::mem::take(&mut self.memory);
        self.work.get_or_insert_with(|| {
            let mut work = Workspace::new(pattern.clone());
            work.restore(&memory);
            work
        })
    }

    /// Solves with the work space for matrices of this pattern. What fails leaves no trace in it that later solves depend on.
    pub fn attempt<T>(
        &mut self,
        pattern: &Arc<BlockPattern>,
        solve: impl FnOnce(&mut Workspace) -> Result<T, StepError>,
    ) -> Result<T, StepError> {
        let work = self.workspace_for(pattern);
        let choice = work.choice();
        let solved = solve(work);
        if solved.is_err() {
            work.restore_choice(choice);
        }
        solved
    }

    /// Resets everything but the elimination order, which depends on the pattern and the couplings alone.
    pub fn reset(&mut self) {
        if let Some(work) = &mut self.work {
            work.reset();
        }
        self.memory = SolverMemory::default();
    }

    /// The memory that a restarted run needs to continue bit by bit.
    pub fn memory(&self) -> SolverMemory {
        self.work.as_ref().map_or_else(|| self.memory.clone(), Workspace::memory)
    }

    /// Restores what [`PersistentWorkspace::memory`] returned.
    pub fn restore(&mut self, memory: SolverMemory) {
        (self.work, self.memory) = (None, memory);
    }
}

/// The solver of an implicit integrator: its options and its work space.
pub struct Solver {
    method: Method,
    tolerance: f64,
    max_iterations: usize,
    direct: bool,
    conserving: bool,
    /// The looser tolerance in real-time mode.
    enough: Option<f64>,
    /// The work space.
    pub persistent: PersistentWorkspace,
}

impl Solver {
    /// A solver with the options that [`crate::integrators`] declares for implicit methods. `conserving` methods conserve
    /// momenta.
    pub fn new(options: &crate::Options, method: Method, conserving: bool) -> Self {
        Self {
            method,
            conserving,
            enough: None,
            tolerance: options.number("tolerance"),
            max_iterations: options.number("max_iterations") as usize,
            direct: options.word("linear") == "direct",
            persistent: PersistentWorkspace::default(),
        }
    }

    /// Solves a step from the better of two guesses; see [`ImplicitStep::solve`].
    pub fn solve(
        &mut self,
        mut step: ImplicitStep<'_>,
        x: &mut [f64],
        other: Vec<f64>,
    ) -> Result<SolveReport, StepError> {
        let (system, method) = (step.system, self.method);
        let stopping = self.stopping(system.length());
        step.solve(x, other, method, &stopping, self.persistent.workspace(system))
    }

    /// Solves other equations of a step that starts at `origin`.
    pub fn root(
        &mut self,
        equations: &mut dyn Equations,
        system: &dyn System,
        x: &mut [f64],
        origin: &[f64],
    ) -> Result<SolveReport, SolveError> {
        self.root_of(equations, system.length(), system.pattern(), x, origin)
    }

    /// Solves equations whose matrices have this pattern, on a body of this length, m.
    pub fn root_of(
        &mut self,
        equations: &mut dyn Equations,
        length: f64,
        pattern: &Arc<BlockPattern>,
        x: &mut [f64],
        origin: &[f64],
    ) -> Result<SolveReport, SolveError> {
        let stopping = self.stopping(length);
        find_root(equations, x, origin, &stopping, self.persistent.workspace_for(pattern))
    }

    /// See [`crate::Integrator::set_effort`].
    pub fn set_effort(&mut self, effort: f64) -> Effort {
        let in_force = Effort::between(effort, self.tolerance);
        self.enough = (in_force.tolerance > in_force.asked).then_some(in_force.tolerance);
        in_force
    }

    fn stopping(&self, length: f64) -> Stopping {
        let Self { tolerance, max_iterations, direct, conserving, enough, .. } = *self;
        Stopping { tolerance, max_iterations, length, direct, conserving, enough }
    }
}

impl From<SolveReport> for StepStats {
    fn from(r: SolveReport) -> Self {
        Self {
            newton_iterations: r.iterations,
            linear_iterations: r.linear_iterations,
            multigrid: r.multigrid,
            shortfall: r.shortfall,
        }
    }
}

/// Statistics of a step with one linear solve.
impl From<LinearReport> for StepStats {
    fn from(r: LinearReport) -> Self {
        Self {
            newton_iterations: 1,
            linear_iterations: r.iterations,
            multigrid: usize::from(r.multigrid),
            ..Self::default()
        }
    }
}
