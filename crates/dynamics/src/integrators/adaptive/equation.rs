//! The equation of an adapted step. With x = ½(q_k + q_{k+1}), the step Δt = hσ(q_k, q_{k+1}) and the
//! multiplier λ are functions of x. The equation for x is
//!
//!   M(x − q_k) − ½Δt [p_k − ½Δt(∇W(x) − f) − hλ ∂₁σ] = 0,
//!   λ = ½vᵀMv + W(x) − E − ½f·(q_{k+1} − q_k),  v = (q_{k+1} − q_k)/Δt,
//!
//! with λ = 0 in the method that is only reversible. The trapezoidal rule has ∇W(q_k) for ∇W(x), ½(W(q_k) + W(q_{k+1}))
//! for W(x), and ∇W(q_{k+1}) in the second half of the step. Constraints add their impulses to p_k, and g(q_{k+1}) = 0 to the
//! equations ([`crate::constraints`]). E is the expected energy at t_k (\[kharevych2010\] 3.25–3.27 and §3.3.5, with
//! the recursion for λ summed up). The solver is Newton–Krylov, preconditioned by M + ½Δt D + ¼Δt² K. The contribution
//! of σ to the Jacobian has low rank and is not part of the preconditioner.

use super::rule::{Rule, Span};
use crate::constraints::ConstraintSolver;
use crate::{Curvature, State, System};
use lilyan_solve::newton::{Equations, dot};
use lilyan_solve::{BlockMatrix, SparseRows};

/// The equation of a step whose length follows from its ends.
pub(super) struct AdaptedStepEquation<'a> {
    pub system: &'a dyn System,
    pub state: &'a State,
    /// Step in the fictive time in which steps are equal, s.
    pub h: f64,
    pub rule: &'a Rule,
    pub symplectic: bool,
    /// Whether W is that of both ends instead of that of x.
    pub trapezoid: bool,
    /// E, J.
    pub energy: f64,
    /// The acceleration at q_k, if the rule needs it.
    pub start: &'a [f64],
    pub held: &'a [bool],
    pub constraint_solver: &'a ConstraintSolver,
}

/// The ratio (x − q_k)/(q_{k+1} − q_k).
const REACH: f64 = 0.5;

/// The quantities of a step that follow from x.
pub(super) struct StepQuantities {
    /// Δt, s.
    pub dt: f64,
    /// J.
    pub lambda: f64,
    /// ∇W of the first half of the step.
    pub gradient: Vec<f64>,
    pub forces: Vec<f64>,
    /// W(t_{k+1}, x) − W(t_k, x), J.
    pub ramp: f64,
    /// ∂σ/∂q_k and ∂σ/∂q_{k+1}, if there is a λ.
    pub slopes: Option<[Vec<f64>; 2]>,
}

impl AdaptedStepEquation<'_> {
    /// Evaluates a step. `None` if x is infeasible. The ramp is only needed at the end of a reversible step.
    pub fn at(&self, x: &[f64], ramp: bool) -> Option<StepQuantities> {
        let (system, state, n) = (self.system, self.state, x.len());
        let span = Span {
            system,
            h: self.h,
            // The time of the midpoint would depend on σ. If W does not depend on time, the choice has no effect.
            t: state.t,
            q0: &state.q,
            x,
            held: self.held,
            energy: self.energy,
            start: self.start,
        };
        let sigma = self.rule.sigma(&span, self.symplectic);
        let dt = self.h * sigma.value;
        if !(dt.is_finite() && dt * self.h > 0.0) {
            return None;
        }
        let middle = state.t + 0.5 * dt;
        let mut gradient = vec![0.0; n];
        match self.trapezoid {
            true => system.gradient(state.t, &state.q, &mut gradient),
            false => system.gradient(middle, x, &mut gradient),
        }
        let mut forces = vec![0.0; n];
        let abilities = system.abilities();
        if let Some(dissipation) = abilities.dissipation {
            let q1: Vec<f64> = x.iter().zip(&state.q).map(|(x, q)| 2.0 * x - q).collect();
            dissipation.add_mean_forces(state.t, dt, &state.q, &q1, &mut forces);
        }
        let mut point = StepQuantities { dt, lambda: 0.0, gradient, forces, ramp: 0.0, slopes: sigma.slopes };
        if abilities.loads.is_some() && (ramp || self.symplectic) {
            point.ramp = system.energy(state.t + dt, x) - system.energy(state.t, x);
        }
        if self.symplectic {
            let half: Vec<f64> = x.iter().zip(&state.q).map(|(x, q)| x - q).collect();
            let mut inertia = vec![0.0; n];
            system.mass().mul(&half, &mut inertia);
            let kinetic = 2.0 * dot(&half, &inertia) / (dt * dt);
            let added = dot(&point.forces, &half) + 0.5 * point.ramp;
            let potential = if self.trapezoid {
                let q1: Vec<f64> = x.iter().zip(&state.q).map(|(x, q)| 2.0 * x - q).collect();
                0.5 * (system.energy(state.t, &state.q) + system.energy(state.t + dt, &q1))
            } else {
                system.energy(middle, x)
            };
            point.lambda = kinetic + potential - self.energy - added;
        }
        Some(point)
    }
}

impl Equations for AdaptedStepEquation<'_> {
    fn residual(&mut self, z: &[f64], all: &mut [f64]) -> bool {
        let n = self.state.q.len();
        let (x, multipliers) = z.split_at(n);
        let Some(point) = self.at(x, false) else { return false };
        let r = &mut all[..n];
        let half = 0.5 * point.dt;
        let moved: Vec<f64> = x.iter().zip(&self.state.q).map(|(x, q)| x - q).collect();
        self.system.mass().mul(&moved, r);
        for i in 0..x.len() {
            let slope = point.slopes.as_ref().map_or(0.0, |s| self.h * point.lambda * s[0][i]);
            let force = half * (point.gradient[i] - point.forces[i]) + slope;
            r[i] = if self.held[i] { 0.0 } else { r[i] - half * (self.state.p[i] - force) };
        }
        if self.multipliers() > 0 {
            let mut rows = SparseRows::new();
            self.rows(z, &mut rows);
            let q1: Vec<f64> = x.iter().zip(&self.state.q).map(|(x, q)| 2.0 * x - q).collect();
            self.constraint_solver.complete(self.system, &rows, REACH, &q1, multipliers, all);
        }
        all.iter().all(|r| r.is_finite())
    }

    fn preconditioner(&mut self, z: &[f64], curvature: Curvature, a: &mut BlockMatrix) {
        let x = &z[..self.state.q.len()];
        a.clear();
        let half = 0.5 * self.at(x, false).map_or(self.h, |p| p.dt);
        let middle = self.state.t + half;
        if !self.trapezoid {
            self.system.hessian(middle, x, curvature, a);
            a.scale(half * half);
        }
        if let Some(dissipation) = self.system.abilities().dissipation {
            let mut d = BlockMatrix::zeros(self.system.pattern().clone());
            let v: Vec<f64> = x.iter().zip(&self.state.q).map(|(x, q)| (x - q) / half).collect();
            dissipation.add_damping_matrix(middle, x, &v, &mut d);
            a.add_scaled(half, &d);
        }
        self.system.mass().add_to(a);
        a.hold(self.held);
    }

    fn weight(&self, i: usize) -> f64 {
        let masses = self.system.mass().diagonal();
        1.0 / if i < masses.len() { masses[i] } else { self.constraint_solver.mass(i - masses.len()) }
    }

    fn multipliers(&self) -> usize {
        self.constraint_solver.count()
    }

    fn rows(&mut self, _z: &[f64], b: &mut SparseRows) {
        self.constraint_solver.directions(self.system, false, &self.state.q, &[], self.held, b);
    }

    fn constraints_satisfied(&self, r: &[f64]) -> bool {
        self.constraint_solver.is_satisfied(REACH, r)
    }

    fn max_step(&mut self, x: &[f64], d: &[f64]) -> f64 {
        // Methods with a pace of their own refuse limits that change in time.
        let times = [self.state.t; 2];
        self.system.abilities().feasible_step.map_or(f64::INFINITY, |f| f.max_step(times, x, d))
    }
}
