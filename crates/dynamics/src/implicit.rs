//! The equation of an implicit step, and the Lilyan whose minimum solves it.
//!
//! Every implicit integrator here finds a point x of
//!
//!   M (x − q₀) − b + c ∇W(t*, x) − w f(q₀, q₁) = 0,   q₁ = q₀ + (x − q₀)/reach,
//!
//! and differs only in b, c, w, t* and reach. Without f the left side is the gradient of the Lilyan
//! of \[kharevych2006\] (times αh), 𝓔(x) = ½(x−q₀)ᵀM(x−q₀) − bᵀ(x−q₀) + c W(t*, x), which is minimised;
//! with f, or on request, the equation itself is solved. With constraints ([`crate::constraints`]) x is
//! followed by multipliers, b has the impulse reach·h·Jᵀμ, and g(q₁) = 0 are further equations.

use crate::constraints::Holding;
use crate::{Effort, Integrating, StepError, System};
use lilyan_solve::newton::{
    Circumstances, Curvature, Equations, Objective, SolveError, SolveReport, Stopping, Workspace, dot,
    find_root, minimize,
};
use lilyan_solve::{BlockMatrix, BlockPattern, Deflation, SparseRows};
use std::sync::Arc;

/// How the potential enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PotentialRule {
    /// ∇W at x.
    Gradient,
    /// The discrete gradient between q₀ and x.
    Discrete,
}

/// How forces without potential enter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForceRule<'a> {
    /// Their mean between q₀ and q₁.
    Between,
    /// Their value at t* and x with velocity (x − q₀)/span + offset.
    At {
        /// s.
        span: f64,
        /// m/s.
        offset: &'a [f64],
    },
}

/// Which solver the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Minimise the Lilyan where there is one.
    Minimize,
    /// Solve the equation.
    Root,
}

/// What sets one implicit method apart from another; see the module.
pub struct Parts<'a> {
    /// b, kg m.
    pub impulse: &'a [f64],
    /// c, s².
    pub weight: f64,
    /// t*, s.
    pub time: f64,
    /// (x − q₀)/(q₁ − q₀).
    pub reach: f64,
    /// w, s².
    pub force_weight: f64,
    /// How f enters.
    pub forces: ForceRule<'a>,
    /// How W enters.
    pub potential: PotentialRule,
}

/// One implicit step; see the module.
pub struct ImplicitStep<'a> {
    system: &'a dyn System,
    t0: f64,
    h: f64,
    q0: &'a [f64],
    /// Unknowns that are held; x comes with their values.
    held: &'a [bool],
    parts: Parts<'a>,
    scratch: Vec<f64>,
    forcing: Vec<f64>,
    /// q₁, or the velocity that forces are taken at.
    end: Vec<f64>,
    /// Constraints, if there are any.
    holding: Option<&'a mut Holding>,
    rows: SparseRows,
    /// Where the Lilyan was asked for last, and what it is there.
    known: (Vec<f64>, (f64, f64)),
}

impl<'a> ImplicitStep<'a> {
    /// A step of `h` (s) from q₀ at `t0` with those unknowns held.
    pub fn new(
        system: &'a dyn System,
        t0: f64,
        h: f64,
        q0: &'a [f64],
        held: &'a [bool],
        parts: Parts<'a>,
    ) -> Self {
        let n = q0.len();
        let forced = if system.has_forces() { n } else { 0 };
        Self {
            system,
            t0,
            h,
            q0,
            held,
            parts,
            scratch: vec![0.0; n],
            forcing: vec![0.0; forced],
            end: vec![0.0; forced],
            holding: None,
            rows: SparseRows::new(),
            known: (Vec::new(), (0.0, 0.0)),
        }
    }

    /// With the constraints of the step, which get to know the impulses that keep them.
    pub fn holding(mut self, holding: &'a mut Holding) -> Self {
        self.holding = (holding.count() > 0).then_some(holding);
        self
    }

    /// The time (s) over which a constraint's force moves x: μ enters b by that.
    fn lever(&self) -> f64 {
        match self.parts.potential {
            PotentialRule::Gradient => self.parts.reach * self.h,
            PotentialRule::Discrete => 0.5 * self.h,
        }
    }

    /// Completes a residual by the constraints: x and multipliers in, as many equations out.
    fn constrain(&mut self, x: &[f64], r: &mut [f64]) {
        let Some(holding) = self.holding.take() else { return };
        let n = self.q0.len();
        let reach = self.parts.reach;
        let q1: Vec<f64> = (0..n).map(|i| self.q0[i] + (x[i] - self.q0[i]) / reach).collect();
        let discrete = self.parts.potential == PotentialRule::Discrete;
        holding.directions(self.system, discrete, self.q0, &q1, self.held, &mut self.rows);
        holding.complete(self.system, &self.rows, reach, &q1, &x[n..], r);
        self.holding = Some(holding);
    }

    /// Solves for x, from the best of the given guess, another (which may be empty) and standing still (held unknowns of `x`
    /// stay as given); a root that is not found from one is looked for from standing still.
    pub fn solve(
        &mut self,
        x: &mut [f64],
        other: &[f64],
        method: Method,
        stopping: &Stopping,
        work: &mut Workspace,
    ) -> Result<SolveReport, StepError> {
        let minimizes = method == Method::Minimize
            && self.parts.potential == PotentialRule::Gradient
            && self.holding.is_none()
            && !self.system.has_forces();
        let mut still = x.to_vec();
        for i in 0..still.len() {
            if !self.held[i] {
                still[i] = self.q0[i];
            }
        }
        let origin = self.q0;
        // A ballistic guess is excellent at small steps and hopeless at large ones.
        let solved = if minimizes {
            // The last one is the best most of the time, and is then known where the solve begins.
            let given = x.to_vec();
            let guesses = [&still[..], &given, other];
            let mut least = f64::INFINITY;
            for guess in guesses.into_iter().filter(|guess| !guess.is_empty()) {
                let value = self.value(guess).0;
                if !least.is_finite() || value < least {
                    x.copy_from_slice(guess);
                    least = value;
                }
            }
            minimize(self, x, origin, stopping, work)
        } else {
            let all = x.len() + self.multipliers();
            let (mut z, mut fallback) = (x.to_vec(), still);
            z.resize(all, 0.0);
            fallback.resize(all, 0.0);
            let mut least = self.merit(&z);
            if !other.is_empty() {
                let mut guess = other.to_vec();
                guess.resize(all, 0.0);
                let merit = self.merit(&guess);
                if merit < least {
                    (z, least) = (guess, merit);
                }
            }
            if self.merit(&fallback) < least {
                std::mem::swap(&mut z, &mut fallback);
            }
            let solved = find_root(self, &mut z, origin, stopping, work).or_else(|_| {
                z.copy_from_slice(&fallback);
                find_root(self, &mut z, origin, stopping, work)
            });
            x.copy_from_slice(&z[..x.len()]);
            if solved.is_ok() {
                self.take(&z);
            }
            solved
        };
        solved.map_err(|cause| match (cause, &self.holding) {
            (SolveError::Singular { dof }, Some(holding)) if dof >= x.len() => {
                holding.failure(self.system, self.t0, self.h, x)
            }
            (cause, _) => StepError::Solve { cause, t: self.t0, h: self.h },
        })
    }

    /// Tells the constraints which impulses kept them.
    fn take(&mut self, z: &[f64]) {
        let lever = self.lever();
        let Some(holding) = &mut self.holding else { return };
        let (x, multipliers) = z.split_at(self.q0.len());
        let impulses = holding.impulses_of(multipliers, lever);
        let end = (self.parts.potential == PotentialRule::Discrete).then_some(x);
        holding.take(self.system, self.q0, end, &impulses);
    }

    /// Σ wᵢ rᵢ², +∞ where infeasible.
    fn merit(&mut self, x: &[f64]) -> f64 {
        let mut r = vec![0.0; x.len()];
        if !self.residual(x, &mut r) {
            return f64::INFINITY;
        }
        let merit: f64 = r.iter().enumerate().map(|(i, r)| self.weight(i) * r * r).sum();
        if merit.is_nan() { f64::INFINITY } else { merit }
    }

    fn forcing_at(&mut self, x: &[f64]) {
        self.forcing.fill(0.0);
        match self.parts.forces {
            ForceRule::Between => {
                for i in 0..x.len() {
                    self.end[i] = self.q0[i] + (x[i] - self.q0[i]) / self.parts.reach;
                }
                self.system.forces_between(self.t0, self.h, self.q0, &self.end, &mut self.forcing)
            }
            ForceRule::At { span, offset } => {
                for i in 0..x.len() {
                    self.end[i] = (x[i] - self.q0[i]) / span + offset[i];
                }
                self.system.forces(self.parts.time, x, &self.end, &mut self.forcing);
            }
        }
    }

    /// M (x − q₀) − b + c·`gradient`, in place of the gradient; zero where held.
    fn complete(&mut self, x: &[f64], gradient: &mut [f64]) {
        let mut inertia = std::mem::take(&mut self.scratch);
        let d: Vec<f64> = x.iter().zip(self.q0).map(|(x, q)| x - q).collect();
        self.system.mass().mul(&d, &mut inertia);
        for i in 0..x.len() {
            gradient[i] = if self.held[i] {
                0.0
            } else {
                (inertia[i] - self.parts.impulse[i]) + self.parts.weight * gradient[i]
            };
        }
        self.scratch = inertia;
    }

    fn matrix(&mut self, time: f64, x: &[f64], curvature: Curvature, a: &mut BlockMatrix) {
        a.clear();
        // The discrete gradient is that of the midpoint up to second order; its derivative in x
        // is half of the Hessian there.
        let (at, share) = match self.parts.potential {
            PotentialRule::Gradient => (None, 1.0),
            PotentialRule::Discrete => {
                let m: Vec<f64> = x.iter().zip(self.q0).map(|(x, q)| 0.5 * (x + q)).collect();
                (Some(m), 0.5)
            }
        };
        self.system.hessian(time, at.as_deref().unwrap_or(x), curvature, a);
        a.scale(self.parts.weight * share);
        if self.system.has_forces() {
            let mut d = BlockMatrix::zeros(self.system.pattern().clone());
            self.system.damping(time, x, &mut d);
            a.add_scaled(self.parts.force_weight / self.span(), &d);
        }
        self.system.mass().add_to(a);
        a.hold(self.held);
    }

    /// What the derivative of the equation has beside its matrix.
    fn deflation(&self) -> Option<Deflation> {
        let damped = self.parts.force_weight / self.span();
        self.system.correction().map(|c| c.deflation(self.parts.weight, damped))
    }

    /// The time (s) by which x − q₀ is divided for the velocity that forces see.
    fn span(&self) -> f64 {
        match self.parts.forces {
            ForceRule::Between => self.parts.reach * self.h,
            ForceRule::At { span, .. } => span,
        }
    }
}

impl Objective for ImplicitStep<'_> {
    fn value(&mut self, x: &[f64]) -> (f64, f64) {
        if self.known.0 == x {
            return self.known.1;
        }
        let d: Vec<f64> = x.iter().zip(self.q0).map(|(x, q)| x - q).collect();
        self.system.mass().mul(&d, &mut self.scratch);
        let kinetic = 0.5 * dot(&d, &self.scratch);
        let push = dot(self.parts.impulse, &d);
        let potential = self.parts.weight * self.system.energy(self.parts.time, x);
        let value = (kinetic - push + potential, kinetic + push.abs() + potential.abs());
        self.known.0.clear();
        self.known.0.extend_from_slice(x);
        self.known.1 = value;
        value
    }

    fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
        self.system.gradient(self.parts.time, x, g);
        self.complete(x, g);
    }

    fn hessian(&mut self, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.matrix(self.parts.time, x, curvature, h);
    }

    fn low_rank(&self) -> Option<Deflation> {
        self.deflation()
    }

    fn max_step(&mut self, x: &[f64], d: &[f64]) -> f64 {
        self.system.max_step(x, d)
    }

    fn circumstances(&self) -> Option<Circumstances> {
        // Which unknowns are held, as a number.
        let held = self
            .held
            .iter()
            .fold(0u32, |hash, &held| (hash ^ u32::from(held)).wrapping_mul(0x0100_0193).rotate_left(5));
        Some(Circumstances { time: self.parts.time, same: [self.parts.weight, f64::from(held)] })
    }

    fn hessian_then(&mut self, time: f64, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.matrix(time, x, curvature, h);
    }
}

impl Equations for ImplicitStep<'_> {
    fn residual(&mut self, z: &[f64], all: &mut [f64]) -> bool {
        let n = self.q0.len();
        let (x, r) = (&z[..n], &mut all[..n]);
        let feasible = match self.parts.potential {
            PotentialRule::Gradient => {
                self.system.gradient(self.parts.time, x, r);
                r.iter().all(|g| g.is_finite())
            }
            PotentialRule::Discrete => self.system.discrete_gradient(self.parts.time, self.q0, x, r),
        };
        if !feasible {
            return false;
        }
        if self.system.has_forces() {
            self.forcing_at(x);
        }
        self.complete(x, r);
        for i in 0..self.forcing.len() {
            if !self.held[i] {
                r[i] -= self.parts.force_weight * self.forcing[i];
            }
        }
        self.constrain(z, all);
        true
    }

    fn preconditioner(&mut self, x: &[f64], curvature: Curvature, a: &mut BlockMatrix) {
        self.matrix(self.parts.time, x, curvature, a);
    }

    fn low_rank(&self) -> Option<Deflation> {
        self.deflation()
    }

    fn weight(&self, i: usize) -> f64 {
        let masses = self.system.mass().diagonal();
        1.0 / match &self.holding {
            Some(holding) if i >= masses.len() => holding.mass(i - masses.len()),
            _ => masses[i],
        }
    }

    fn multipliers(&self) -> usize {
        self.holding.as_ref().map_or(0, |holding| holding.count())
    }

    fn rows(&mut self, z: &[f64], b: &mut SparseRows) {
        b.clear();
        if let Some(holding) = &self.holding {
            let discrete = self.rows_move();
            holding.directions(self.system, discrete, self.q0, &z[..self.q0.len()], self.held, b);
        }
    }

    fn rows_move(&self) -> bool {
        self.holding.is_some() && self.parts.potential == PotentialRule::Discrete
    }

    fn kept(&self, r: &[f64]) -> bool {
        self.holding.as_ref().is_none_or(|holding| holding.is_kept(self.parts.reach, r))
    }

    fn max_step(&mut self, x: &[f64], d: &[f64]) -> f64 {
        self.system.max_step(x, d)
    }
}

/// A workspace that is kept from step to step. The couplings by contact that its factorisation has seen
/// decide the order of elimination, and with it the last bits: they are what has to be remembered.
#[derive(Default)]
pub struct Kept {
    work: Option<Workspace>,
    /// For the next workspace to begin with.
    couplings: Vec<(u32, u32)>,
    experience: Vec<f64>,
}

impl Kept {
    /// The workspace, made anew when the system's pattern changed.
    pub fn workspace(&mut self, system: &dyn System) -> &mut Workspace {
        self.workspace_for(system.pattern())
    }

    /// The workspace for matrices of that pattern.
    pub fn workspace_for(&mut self, pattern: &Arc<BlockPattern>) -> &mut Workspace {
        if !self.work.as_ref().is_some_and(|w| w.fits(pattern)) {
            self.work = None;
        }
        let couplings = std::mem::take(&mut self.couplings);
        let experience = std::mem::take(&mut self.experience);
        self.work.get_or_insert_with(|| {
            let mut work = Workspace::with_couplings(pattern.clone(), &couplings);
            work.experienced(&experience);
            work
        })
    }

    /// Begins anew.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// For [`crate::Integrator::memory`]: what is known about linear systems, after its length, and the couplings, one
    /// after the other as pairs of numbers.
    pub fn memory(&self) -> Vec<f64> {
        let (couplings, experience) = match &self.work {
            Some(work) => (work.factor.couplings(), work.experience()),
            None => (&self.couplings[..], self.experience.clone()),
        };
        if couplings.is_empty() && experience.is_empty() {
            return Vec::new();
        }
        let couplings = couplings.iter().flat_map(|&(i, j)| [f64::from(i), f64::from(j)]);
        [experience.len() as f64].into_iter().chain(experience.iter().copied()).chain(couplings).collect()
    }

    /// Takes up what [`Kept::memory`] returned.
    pub fn remember(&mut self, memory: &[f64]) {
        let (length, rest) = memory.split_first().unwrap_or((&0.0, &[]));
        let (experience, couplings) = rest.split_at(*length as usize);
        self.work = None;
        self.experience = experience.to_vec();
        self.couplings = couplings.chunks_exact(2).map(|c| (c[0] as u32, c[1] as u32)).collect();
    }
}

/// What every implicit integrator takes and keeps.
pub struct Solver {
    method: Method,
    tolerance: f64,
    max_iterations: usize,
    direct: bool,
    conserving: bool,
    /// What it is content with while it is to hurry.
    enough: Option<f64>,
    /// What it works in.
    pub kept: Kept,
}

impl Solver {
    /// With the options that [`crate::integrators`] declares for implicit methods, for one that keeps momenta or not.
    pub fn new(options: &crate::Options, method: Method, conserving: bool) -> Self {
        Self {
            method,
            conserving,
            enough: None,
            tolerance: options.number("tolerance"),
            max_iterations: options.number("max_iterations") as usize,
            direct: options.word("linear") == "direct",
            kept: Kept::default(),
        }
    }

    /// Solves a step from one of two guesses; see [`ImplicitStep::solve`].
    pub fn solve(
        &mut self,
        mut step: ImplicitStep<'_>,
        x: &mut [f64],
        other: &[f64],
    ) -> Result<SolveReport, StepError> {
        let (system, stopping, method) = (step.system, self.stopping(step.system), self.method);
        step.solve(x, other, method, &stopping, self.kept.workspace(system))
    }

    /// Solves other equations of a step that begins at `origin`.
    pub fn root(
        &mut self,
        equations: &mut dyn Equations,
        system: &dyn System,
        x: &mut [f64],
        origin: &[f64],
    ) -> Result<SolveReport, SolveError> {
        let stopping = self.stopping(system);
        find_root(equations, x, origin, &stopping, self.kept.workspace(system))
    }

    /// See [`crate::Integrator::set_effort`].
    pub fn set_effort(&mut self, effort: f64) -> Effort {
        let in_force = Effort::between(effort, self.tolerance);
        self.enough = (in_force.tolerance > in_force.asked).then_some(in_force.tolerance);
        in_force
    }

    fn stopping(&self, system: &dyn System) -> Stopping {
        let Self { tolerance, max_iterations, direct, conserving, enough, .. } = *self;
        Stopping { tolerance, max_iterations, length: system.length(), direct, conserving, enough }
    }
}

impl From<SolveReport> for Integrating {
    fn from(r: SolveReport) -> Self {
        Self {
            newton_iterations: r.iterations,
            linear_iterations: r.linear_iterations,
            multigrid: r.multigrid,
            shortfall: r.shortfall,
        }
    }
}
