//! The equation of an implicit step, and the incremental potential whose minimum solves it.
//!
//! Every implicit integrator of this crate solves
//!
//!   M (x − q₀) − b + c ∇W(t*, x) − w f(q₀, q₁) = 0,   q₁ = q₀ + (x − q₀)/reach,
//!
//! for x. The integrators differ in b, c, w, t* and reach only. Without f the left side is the gradient of the
//! incremental potential 𝓔(x) = ½(x−q₀)ᵀM(x−q₀) − bᵀ(x−q₀) + c W(t*, x), which is minimised. \[kharevych2006\] call it the
//! Lilyan (up to the factor αh). With f, or on request,
//! the equation itself is solved. With constraints ([`crate::constraints`]) x is followed by multipliers, b contains the
//! impulse reach·h·Jᵀμ, and g(q₁) = 0 are further equations.

mod guess;
mod solver;

pub use solver::{Method, PersistentWorkspace, Solver};

use crate::System;
use crate::constraints::ConstraintSolver;
use crate::system::abilities::{Dissipation, FeasibleStep};
use crate::system::{discrete_gradient, discrete_hessian};
use lilyan_solve::newton::{Curvature, Equations, Objective, ReuseKey, dot};
use lilyan_solve::{BlockMatrix, Deflation, SparseRows};

/// How the potential enters the equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PotentialRule {
    /// ∇W at x.
    Gradient,
    /// The discrete gradient between q₀ and x.
    Discrete,
}

/// How forces without potential enter the equation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForceRule<'a> {
    /// Their mean between q₀ and q₁.
    Between,
    /// Their value at t* and x with velocity (x − q₀)/span + offset.
    At {
        /// The time span of the velocity, s.
        span: f64,
        /// The offset of the velocity, m/s.
        offset: &'a [f64],
    },
}

/// The constants b, c, w, t* and reach of the equation of an implicit step, by which methods differ.
pub struct StepEquation<'a> {
    /// b, kg m.
    pub impulse: &'a [f64],
    /// c, s².
    pub weight: f64,
    /// t*, s.
    pub time: f64,
    /// The ratio (x − q₀)/(q₁ − q₀).
    pub reach: f64,
    /// w, s².
    pub force_weight: f64,
    /// How f enters.
    pub forces: ForceRule<'a>,
    /// How W enters.
    pub potential: PotentialRule,
}

impl StepEquation<'_> {
    /// The time of x, at which everything that moves in time is met, for a step of `h` (s) from `t0`.
    pub(crate) fn time_of_solution(&self, t0: f64, h: f64) -> f64 {
        match self.potential {
            PotentialRule::Gradient => self.time,
            PotentialRule::Discrete => t0 + h,
        }
    }
}

/// One implicit step: the equation M (x − q₀) − b + c ∇W(t*, x) − w f = 0 for x, and its incremental potential.
pub struct ImplicitStep<'a> {
    system: &'a dyn System,
    dissipation: Option<&'a dyn Dissipation>,
    feasible: Option<&'a dyn FeasibleStep>,
    t0: f64,
    h: f64,
    q0: &'a [f64],
    /// Dirichlet dofs. x contains their values.
    held: &'a [bool],
    parts: StepEquation<'a>,
    /// The time of x. It is earlier than that of the solution while what moves in time is on its way.
    time: f64,
    scratch: Vec<f64>,
    forces: Vec<f64>,
    /// q₁, or the velocity at which forces are evaluated.
    end: Vec<f64>,
    /// The constraint solver, if there are constraints.
    constraint_solver: Option<&'a mut ConstraintSolver>,
    rows: SparseRows,
    /// The last point at which the incremental potential was evaluated, and its value.
    cached_value: (Vec<f64>, (f64, f64)),
    /// The last guess whose residual was evaluated, and the residual.
    cached_residual: Option<(Vec<f64>, Vec<f64>)>,
}

/// What a matrix M + w₁ D + w₀ K depends on besides positions and velocities. `None` if it must not be reused.
pub(crate) fn reuse_key(
    system: &dyn System,
    time: f64,
    [stiffness, damping]: [f64; 2],
    held: &[bool],
) -> Option<ReuseKey> {
    // Stateful terms change W from step to step, so the matrix of an earlier step cannot be rebuilt.
    if system.abilities().terms.is_some() {
        return None;
    }
    // A hash of the Dirichlet dofs.
    let add = |hash: u32, &held: &bool| (hash ^ u32::from(held)).wrapping_mul(0x0100_0193).rotate_left(5);
    let held = f64::from(held.iter().fold(0u32, add));
    Some(ReuseKey { time, same: [stiffness, damping, held] })
}

impl<'a> ImplicitStep<'a> {
    /// A step of `h` (s) from q₀ at `t0` with these Dirichlet dofs.
    pub fn new(
        system: &'a dyn System,
        t0: f64,
        h: f64,
        q0: &'a [f64],
        held: &'a [bool],
        parts: StepEquation<'a>,
    ) -> Self {
        let n = q0.len();
        let abilities = system.abilities();
        let forced = if abilities.dissipation.is_some() { n } else { 0 };
        Self {
            system,
            dissipation: abilities.dissipation,
            feasible: abilities.feasible_step,
            t0,
            h,
            q0,
            held,
            time: parts.time_of_solution(t0, h),
            parts,
            scratch: vec![0.0; n],
            forces: vec![0.0; forced],
            end: vec![0.0; forced],
            constraint_solver: None,
            rows: SparseRows::new(),
            cached_value: (Vec::new(), (0.0, 0.0)),
            cached_residual: None,
        }
    }

    /// Adds the constraints of the step, whose impulses the solve computes.
    pub fn constraint_solver(mut self, constraint_solver: &'a mut ConstraintSolver) -> Self {
        self.constraint_solver = (constraint_solver.count() > 0).then_some(constraint_solver);
        self
    }

    /// The factor (s) of the constraint impulse μ in b: the time over which its force displaces x.
    fn multiplier_time(&self) -> f64 {
        match self.parts.potential {
            PotentialRule::Gradient => self.parts.reach * self.h,
            PotentialRule::Discrete => 0.5 * self.h,
        }
    }

    /// Adds the constraints to a residual. x is followed by multipliers, and r by the constraint equations.
    fn constrain(&mut self, x: &[f64], r: &mut [f64]) {
        let Some(constraint_solver) = self.constraint_solver.take() else { return };
        let n = self.q0.len();
        let reach = self.parts.reach;
        let q1: Vec<f64> = (0..n).map(|i| self.q0[i] + (x[i] - self.q0[i]) / reach).collect();
        let discrete = self.parts.potential == PotentialRule::Discrete;
        constraint_solver.directions(self.system, discrete, self.q0, &q1, self.held, &mut self.rows);
        constraint_solver.complete(self.system, &self.rows, reach, &q1, &x[n..], r);
        self.constraint_solver = Some(constraint_solver);
    }

    /// Meets what moves in time where it is at `time`.
    fn set_time(&mut self, time: f64) {
        if time != self.time {
            self.time = time;
            self.cached_value.0.clear();
            self.cached_residual = None;
        }
    }

    /// The time at which the derivative of the equation is taken.
    fn time_of_derivative(&self) -> f64 {
        match self.parts.potential {
            PotentialRule::Gradient => self.time,
            PotentialRule::Discrete => 0.5 * (self.t0 + self.time),
        }
    }

    /// Evaluates the forces without potential.
    fn evaluate_forces(&mut self, x: &[f64]) {
        let Some(dissipation) = self.dissipation else { return };
        self.forces.fill(0.0);
        match self.parts.forces {
            ForceRule::Between => {
                for i in 0..x.len() {
                    self.end[i] = self.q0[i] + (x[i] - self.q0[i]) / self.parts.reach;
                }
                dissipation.add_mean_forces(self.t0, self.h, self.q0, &self.end, &mut self.forces)
            }
            ForceRule::At { span, offset } => {
                for i in 0..x.len() {
                    self.end[i] = (x[i] - self.q0[i]) / span + offset[i];
                }
                dissipation.add_forces(self.time, x, &self.end, &mut self.forces);
            }
        }
    }

    /// `gradient` ← M (x − q₀) − b + c·`gradient`; zero at Dirichlet dofs.
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

    /// A symmetric approximation of the derivative of the equation at x with these velocities (see
    /// [`ImplicitStep::velocities`]); without velocities, the Hessian of the incremental potential.
    fn matrix(&self, time: f64, x: &[f64], rates: Option<&[f64]>, curvature: Curvature, a: &mut BlockMatrix) {
        a.clear();
        let earlier = |rates: &[f64], time: f64| -> Vec<f64> {
            x.iter().zip(rates).map(|(x, v)| x - time * v).collect()
        };
        match (rates, self.parts.potential) {
            (Some(rates), PotentialRule::Discrete) => {
                let half = 0.5 * (self.time - self.t0);
                let (times, start) = ([time - half, time + half], earlier(rates, self.h));
                discrete_hessian(self.system, times, &start, x, curvature, a);
            }
            _ => self.system.hessian(time, x, curvature, a),
        }
        let damping = self.damping_weight();
        match (rates, self.dissipation) {
            (Some(rates), Some(dissipation)) if damping > 0.0 => {
                a.scale(self.parts.weight / damping);
                match self.parts.forces {
                    // The mean force is about that at the midpoint, F̄ℂF̄ᵀΔF. Its derivative has the symmetric part of that
                    // three quarters on the way.
                    ForceRule::Between => {
                        let between = earlier(rates, (self.parts.reach - 0.75) * self.h);
                        dissipation.add_mean_damping_matrix(time, self.h, &between, rates, a);
                    }
                    ForceRule::At { .. } => dissipation.add_damping_matrix(time, x, rates, a),
                }
                a.scale(damping);
            }
            _ => a.scale(self.parts.weight),
        }
        self.system.mass().add_to(a);
        a.hold(self.held);
    }

    /// The velocities on which the derivative depends, of forces and of a discrete gradient; otherwise empty.
    fn velocities(&self, x: &[f64], rates: &mut Vec<f64>) {
        rates.clear();
        if self.dissipation.is_none() && self.parts.potential == PotentialRule::Gradient {
            return;
        }
        let offset = |i: usize| match self.parts.forces {
            ForceRule::Between => 0.0,
            ForceRule::At { offset, .. } => offset[i],
        };
        let span = self.span();
        rates.extend((0..x.len()).map(|i| (x[i] - self.q0[i]) / span + offset(i)));
    }

    /// What the Hessian of the incremental potential depends on besides x.
    fn potential_key(&self) -> Option<ReuseKey> {
        reuse_key(self.system, self.parts.time, [self.parts.weight, 0.0], self.held)
    }

    /// What the derivative of the equation depends on besides x and the velocities.
    fn equation_key(&self) -> Option<ReuseKey> {
        let damping = if self.dissipation.is_some() { self.damping_weight() } else { 0.0 };
        let share = match self.parts.potential {
            PotentialRule::Gradient => 1.0,
            PotentialRule::Discrete => 0.5,
        };
        reuse_key(self.system, self.parts.time, [share * self.parts.weight, damping], self.held)
    }

    /// The factor (s) of the damping matrix in the derivative of the equation.
    fn damping_weight(&self) -> f64 {
        self.parts.force_weight / self.span()
    }

    /// The low-rank part of the derivative of the equation.
    fn deflation(&self) -> Option<Deflation> {
        let correction = self.system.abilities().correction;
        correction.map(|c| c.deflation(self.parts.weight, self.damping_weight()))
    }

    /// The time (s) that divides x − q₀ in the velocity of the forces.
    fn span(&self) -> f64 {
        match self.parts.forces {
            ForceRule::Between => self.parts.reach * self.h,
            ForceRule::At { span, .. } => span,
        }
    }
}

impl ImplicitStep<'_> {
    /// Which second derivative the matrix has at x. That of a fitted system is the projected one at the start of the step.
    fn assembled_curvature(&self, x: &[f64], asked: Curvature) -> Curvature {
        let fitted = self.system.abilities().correction.is_some();
        if fitted && x == self.q0 { Curvature::Projected } else { asked }
    }
}

impl Objective for ImplicitStep<'_> {
    fn value(&mut self, x: &[f64]) -> (f64, f64) {
        if self.cached_value.0 == x {
            return self.cached_value.1;
        }
        let d: Vec<f64> = x.iter().zip(self.q0).map(|(x, q)| x - q).collect();
        self.system.mass().mul(&d, &mut self.scratch);
        let kinetic = 0.5 * dot(&d, &self.scratch);
        let impulse = dot(self.parts.impulse, &d);
        let potential = self.parts.weight * self.system.energy(self.time_of_derivative(), x);
        let value = (kinetic - impulse + potential, kinetic + impulse.abs() + potential.abs());
        self.cached_value.0.clear();
        self.cached_value.0.extend_from_slice(x);
        self.cached_value.1 = value;
        value
    }

    fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
        self.system.gradient(self.time_of_derivative(), x, g);
        self.complete(x, g);
    }

    fn hessian(&mut self, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.matrix(self.time_of_derivative(), x, None, curvature, h);
    }

    fn curvature_at(&self, x: &[f64], asked: Curvature) -> Curvature {
        self.assembled_curvature(x, asked)
    }

    fn low_rank(&self) -> Option<Deflation> {
        self.deflation()
    }

    fn max_step(&mut self, x: &[f64], d: &[f64]) -> f64 {
        self.feasible.map_or(f64::INFINITY, |feasible| feasible.max_step([self.time; 2], x, d))
    }

    fn reuse_key(&self) -> Option<ReuseKey> {
        self.potential_key()
    }

    fn hessian_at_time(&mut self, time: f64, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.matrix(time, x, None, curvature, h);
    }
}

impl Equations for ImplicitStep<'_> {
    fn residual(&mut self, z: &[f64], all: &mut [f64]) -> bool {
        if let Some((_, residual)) = self.cached_residual.take().filter(|(at, _)| at == z) {
            all.copy_from_slice(&residual);
            return true;
        }
        let n = self.q0.len();
        let (x, r) = (&z[..n], &mut all[..n]);
        let feasible = match self.parts.potential {
            PotentialRule::Gradient => {
                self.system.gradient(self.time, x, r);
                r.iter().all(|g| g.is_finite())
            }
            PotentialRule::Discrete => discrete_gradient(self.system, [self.t0, self.time], self.q0, x, r),
        };
        if !feasible {
            return false;
        }
        self.evaluate_forces(x);
        self.complete(x, r);
        for i in 0..self.forces.len() {
            if !self.held[i] {
                r[i] -= self.parts.force_weight * self.forces[i];
            }
        }
        self.constrain(z, all);
        true
    }

    fn preconditioner(&mut self, x: &[f64], curvature: Curvature, a: &mut BlockMatrix) {
        let mut rates = std::mem::take(&mut self.scratch);
        self.velocities(x, &mut rates);
        self.matrix(self.time_of_derivative(), x, Some(&rates), curvature, a);
        rates.resize(x.len(), 0.0);
        self.scratch = rates;
    }

    fn is_nearly_symmetric(&self) -> bool {
        true
    }

    fn curvature_at(&self, x: &[f64], asked: Curvature) -> Curvature {
        self.assembled_curvature(x, asked)
    }

    fn rates(&mut self, x: &[f64], rates: &mut Vec<f64>) {
        self.velocities(x, rates);
    }

    fn preconditioner_at_time(
        &mut self,
        time: f64,
        x: &[f64],
        rates: &[f64],
        curvature: Curvature,
        a: &mut BlockMatrix,
    ) {
        self.matrix(time, x, Some(rates), curvature, a);
    }

    fn reuse_key(&self) -> Option<ReuseKey> {
        self.equation_key()
    }

    fn low_rank(&self) -> Option<Deflation> {
        self.deflation()
    }

    fn weight(&self, i: usize) -> f64 {
        let masses = self.system.mass().diagonal();
        1.0 / match &self.constraint_solver {
            Some(constraint_solver) if i >= masses.len() => constraint_solver.mass(i - masses.len()),
            _ => masses[i],
        }
    }

    fn multipliers(&self) -> usize {
        self.constraint_solver.as_ref().map_or(0, |constraint_solver| constraint_solver.count())
    }

    fn rows(&mut self, z: &[f64], b: &mut SparseRows) {
        b.clear();
        if let Some(constraint_solver) = &self.constraint_solver {
            let discrete = self.rows_move();
            constraint_solver.directions(self.system, discrete, self.q0, &z[..self.q0.len()], self.held, b);
        }
    }

    fn rows_move(&self) -> bool {
        self.constraint_solver.is_some() && self.parts.potential == PotentialRule::Discrete
    }

    fn constraints_satisfied(&self, r: &[f64]) -> bool {
        self.constraint_solver
            .as_ref()
            .is_none_or(|constraint_solver| constraint_solver.is_satisfied(self.parts.reach, r))
    }

    fn max_step(&mut self, x: &[f64], d: &[f64]) -> f64 {
        self.feasible.map_or(f64::INFINITY, |feasible| feasible.max_step([self.time; 2], x, d))
    }
}
