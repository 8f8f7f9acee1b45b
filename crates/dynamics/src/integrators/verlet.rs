//! Velocity Verlet: the trapezoidal discrete Lagrangian \[hairer2003\].
//!
//!   p_{k+½} = p_k − ½h ∇W(q_k),  q_{k+1} = q_k + h M⁻¹ p_{k+½},  p_{k+1} = p_{k+½} − ½h ∇W(q_{k+1}).
//!
//! The method is explicit, of second order, symplectic and reversible. It is stable for hω < 2. A step evaluates one
//! force: the force at its end is reused by the next step. Damping acts in the middle of the drift as a sub-step of
//! M v̇ = f(q, v) at fixed q (explicit midpoint). This preserves the order and both momenta. With constraints the drift
//! is that of RATTLE, and damping acts half before and half after the step.
//!
//! `compensated` uses Kahan summation for q += …, p += …: the rounding errors are stored and added to the next sum.
//! N steps then lose a few units in the last place instead of about √N.

use super::{Claims, Entry, Integrator};
use crate::constraints::ConstraintSolver;
use crate::options::{Kind, OptionSpec, Options};
use crate::prescribed::Prescribed;
use crate::step::first_not_finite;
use crate::system::abilities::Dissipation;
use crate::{Abilities, Mass, Memory, MemoryError, MemoryRecord, State, StepError, StepStats, System};
use lilyan_parallel::threads;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) const ENTRY: Entry = Entry {
    name: "verlet",
    summary: "explicit second-order symplectic step; one force per step",
    cite: "hairer2003",
    stable_deformed: None,
    options: &[OptionSpec {
        name: "compensated",
        doc: "carry rounding errors along, for runs of millions of steps",
        kind: Kind::Flag { default: false },
    }],
    variants: &[&[("compensated", super::Variant::Flag(true))]],
    build: |options| Box::new(Verlet::new(options)),
};

struct Verlet {
    compensated: bool,
    prescribed: Prescribed,
    /// ∇W at the end of the last step, and the positions there.
    gradient: Vec<f64>,
    gradient_at: Vec<f64>,
    /// Rounding errors of q and p (Kahan).
    carry_q: Vec<f64>,
    carry_p: Vec<f64>,
    /// The rounding errors at the start of the step.
    saved: (Vec<f64>, Vec<f64>),
    q: Vec<f64>,
    p: Vec<f64>,
    v: Vec<f64>,
    force: Vec<f64>,
    middle: Vec<f64>,
}

impl Verlet {
    fn new(options: &Options) -> Self {
        Self {
            compensated: options.flag("compensated"),
            prescribed: Prescribed::default(),
            gradient: Vec::new(),
            gradient_at: Vec::new(),
            carry_q: Vec::new(),
            carry_p: Vec::new(),
            saved: Default::default(),
            q: Vec::new(),
            p: Vec::new(),
            v: Vec::new(),
            force: Vec::new(),
            middle: Vec::new(),
        }
    }

    fn resize(&mut self, n: usize) {
        for v in [&mut self.gradient, &mut self.force, &mut self.middle, &mut self.v] {
            v.resize(n, 0.0);
        }
        if self.compensated && self.carry_q.len() != n {
            self.carry_q = vec![0.0; n];
            self.carry_p = vec![0.0; n];
        }
    }

    /// Undoes a failed step.
    fn take_back(&mut self) {
        self.gradient_at.clear();
        self.carry_q.clone_from(&self.saved.0);
        self.carry_p.clone_from(&self.saved.1);
    }

    /// v ← v + hM⁻¹f(q, v) at fixed q, by the explicit midpoint rule.
    fn damp(&mut self, system: &dyn System, damping: &dyn Dissipation, t: f64, h: f64) {
        for share in [0.5, 1.0] {
            let from = if share == 0.5 { &self.v } else { &self.middle };
            self.force.fill(0.0);
            damping.add_forces(t, &self.q, from, &mut self.force);
            for i in 0..self.p.len() {
                self.force[i] = self.p[i] + share * h * self.force[i];
            }
            self.middle.clone_from(&self.v);
            system.mass().solve(&self.prescribed.mask, &self.force, &mut self.middle);
        }
        std::mem::swap(&mut self.p, &mut self.force);
        std::mem::swap(&mut self.v, &mut self.middle);
    }

    /// The same at q with constraints: the velocities of both stages satisfy them.
    fn damp_constrained(
        &mut self,
        system: &dyn System,
        damping: &dyn Dissipation,
        t: f64,
        h: f64,
        q: &[f64],
    ) {
        let Prescribed { constraint_solver, mask, .. } = &mut self.prescribed;
        let (mut v, mut p) = (self.v.clone(), Vec::new());
        for share in [0.5, 1.0] {
            self.force.fill(0.0);
            damping.add_forces(t, q, &v, &mut self.force);
            p = self.p.iter().zip(&self.force).map(|(p, f)| p + share * h * f).collect();
            system.mass().solve(mask, &p, &mut v);
            let counted = constraint_solver.saved_impulses();
            constraint_solver.project(system, mask, t, q, &mut v, &mut p);
            if share < 1.0 {
                constraint_solver.restore_impulses(counted);
            }
        }
        (self.v, self.p) = (v, p);
    }
}

/// x += c·d with the rounding errors of the sums in `carry`, unless that is empty.
fn add(x: &mut [f64], carry: &mut [f64], c: f64, d: &[f64]) {
    if carry.is_empty() {
        threads::par_chunks_mut(x, CHUNK, |k, x| {
            for (x, d) in x.iter_mut().zip(&d[k * CHUNK..]) {
                *x += c * d;
            }
        });
        return;
    }
    for ((x, carry), d) in x.iter_mut().zip(carry).zip(d) {
        let y = c * d + *carry;
        let sum = *x + y;
        *carry = y - (sum - *x);
        *x = sum;
    }
}

/// As [`add`], from another vector.
fn add_to(x: &mut Vec<f64>, from: &[f64], carry: &mut [f64], c: f64, d: &[f64]) {
    if !carry.is_empty() || x.len() != from.len() {
        x.clear();
        x.extend_from_slice(from);
        add(x, carry, c, d);
        return;
    }
    threads::par_chunks_mut(x, CHUNK, |k, x| {
        let at = k * CHUNK..k * CHUNK + x.len();
        for ((x, from), d) in x.iter_mut().zip(&from[at.clone()]).zip(&d[at]) {
            *x = from + c * d;
        }
    });
}

/// Entries per task: a few µs of work.
const CHUNK: usize = 1 << 12;

impl Verlet {
    /// The step of a system without damping, constraints, sparse mass or compensated sums. It computes the same sums in
    /// two passes. With millions of tets the memory traffic of each vector matters.
    fn plain_step(
        &mut self,
        system: &dyn System,
        masses: &[f64],
        state: &mut State,
        h: f64,
    ) -> Result<(), StepError> {
        let n = state.q.len();
        for v in [&mut self.q, &mut self.p, &mut self.v, &mut self.gradient_at] {
            v.resize(n, f64::NAN);
        }
        let mut made = self.kick_and_drift(masses, state, h);
        if !made {
            if let Some(dof) = first_not_finite(&[&state.q, &state.p, &state.v]) {
                return Err(StepError::NotFinite { t: state.t, h, dof });
            }
            system.gradient(state.t, &state.q, &mut self.gradient);
            threads::copy(&state.q, &mut self.gradient_at);
            made = self.kick_and_drift(masses, state, h);
        }
        if made {
            if self.prescribed.any() {
                system.abilities().place_prescribed(state.t + h, &mut self.q, &mut self.v);
                for i in self.prescribed.held() {
                    self.gradient_at[i] = self.q[i];
                }
            }
            system.gradient(state.t + h, &self.q, &mut self.gradient);
            made = self.kick(masses, h);
            if self.prescribed.any() {
                // `q` holds their own values, which have not changed.
                system.abilities().place_prescribed(state.t + h, &mut self.q, &mut self.v);
                for i in self.prescribed.held() {
                    self.p[i] = masses[i] * self.v[i];
                }
            }
        }
        if !made {
            self.gradient_at.clear();
            let dof = first_not_finite(&[&self.q, &self.p]).unwrap_or(0);
            return Err(StepError::NotFinite { t: state.t, h, dof });
        }
        std::mem::swap(&mut state.q, &mut self.q);
        std::mem::swap(&mut state.p, &mut self.p);
        std::mem::swap(&mut state.v, &mut self.v);
        state.t += h;
        Ok(())
    }

    /// p ← p_k − ½h∇W, q ← q_k + hM⁻¹p, which is also stored in `gradient_at`. `false` if the stored gradient is not
    /// that at q_k, or a number is not finite.
    fn kick_and_drift(&mut self, masses: &[f64], state: &State, h: f64) -> bool {
        let (g, q0, p0, v0) = (&self.gradient, &state.q, &state.p, &state.v);
        let good = AtomicBool::new(true);
        threads::par_chunks_mut_of(
            [&mut self.q, &mut self.p, &mut self.gradient_at],
            CHUNK,
            |k, [q, p, gradient_at]| {
                let at = k * CHUNK..k * CHUNK + q.len();
                let (q0, p0, v0) = (&q0[at.clone()], &p0[at.clone()], &v0[at.clone()]);
                let (g, m) = (&g[at.clone()], &masses[at]);
                let mut fine = true;
                for i in 0..q.len() {
                    p[i] = p0[i] - 0.5 * h * g[i];
                    q[i] = q0[i] + h * (p[i] / m[i]);
                    fine &= (gradient_at[i] == q0[i]) & q[i].is_finite() & v0[i].is_finite();
                    gradient_at[i] = q[i];
                }
                if !fine {
                    good.store(false, Ordering::Relaxed);
                }
            },
        );
        good.into_inner()
    }

    /// p ← p − ½h∇W, v = M⁻¹p. `false` if a number is not finite.
    fn kick(&mut self, masses: &[f64], h: f64) -> bool {
        let g = &self.gradient;
        let good = AtomicBool::new(true);
        threads::par_chunks_mut_of([&mut self.p, &mut self.v], CHUNK, |k, [p, v]| {
            let at = k * CHUNK..k * CHUNK + p.len();
            let (g, m) = (&g[at.clone()], &masses[at]);
            let mut fine = true;
            for i in 0..p.len() {
                p[i] -= 0.5 * h * g[i];
                v[i] = p[i] / m[i];
                fine &= p[i].is_finite();
            }
            if !fine {
                good.store(false, Ordering::Relaxed);
            }
        });
        good.into_inner()
    }
}

impl Integrator for Verlet {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let n = state.q.len();
        self.resize(n);
        let Abilities { dissipation, end_impulse, constraints, .. } = system.abilities();
        if let Mass::Lumped(masses) = system.mass()
            && !(self.compensated || dissipation.is_some() || end_impulse.is_some())
            && constraints.is_none_or(|constraints| constraints.list().is_empty())
        {
            self.prescribed.hold(system, state.t + h, n);
            return self.plain_step(system, masses, state, h).map(|()| StepStats::default());
        }
        self.prescribed.prepare(system, state, h)?;
        if !threads::equal(&self.gradient_at, &state.q) {
            system.gradient(state.t, &state.q, &mut self.gradient);
        }
        // A failed step must not change the rounding errors.
        self.saved.0.clone_from(&self.carry_q);
        self.saved.1.clone_from(&self.carry_p);
        let constrained = self.prescribed.constraint_solver.count() > 0;
        let damped_inside = dissipation.filter(|_| !constrained);
        let damped_outside = dissipation.filter(|_| constrained);
        if let Some(damping) = damped_outside {
            self.v.clone_from(&state.v);
            self.p.clone_from(&state.p);
            self.damp_constrained(system, damping, state.t, 0.5 * h, &state.q);
            let begin = std::mem::take(&mut self.p);
            add_to(&mut self.p, &begin, &mut self.carry_p, -0.5 * h, &self.gradient);
        } else {
            add_to(&mut self.p, &state.p, &mut self.carry_p, -0.5 * h, &self.gradient);
        }
        self.prescribed.mean_velocity(&state.q, h, &mut self.v);
        system.mass().solve(&self.prescribed.mask, &self.p, &mut self.v);
        if let Some(damping) = damped_inside {
            add_to(&mut self.q, &state.q, &mut self.carry_q, 0.5 * h, &self.v);
            self.damp(system, damping, state.t + 0.5 * h, h);
            add(&mut self.q, &mut self.carry_q, 0.5 * h, &self.v);
        } else {
            add_to(&mut self.q, &state.q, &mut self.carry_q, h, &self.v);
        }
        if self.prescribed.any() {
            for i in 0..n {
                if self.prescribed.mask[i] {
                    self.q[i] = self.prescribed.q[i];
                }
            }
        }
        let Prescribed { constraint_solver, mask, .. } = &mut self.prescribed;
        if let Err(error) = constraint_solver.drift(system, state, h, mask, None, &mut self.v, &mut self.q) {
            self.take_back();
            return Err(error);
        }
        constraint_solver.add_start_impulse(&mut self.p);
        let t1 = state.t + h;
        system.gradient(t1, &self.q, &mut self.gradient);
        add(&mut self.p, &mut self.carry_p, -0.5 * h, &self.gradient);
        threads::copy(&self.q, &mut self.gradient_at);
        if let Some(damping) = damped_outside {
            let q = std::mem::take(&mut self.q);
            self.v.clone_from(&self.prescribed.v);
            system.mass().solve(&self.prescribed.mask, &self.p, &mut self.v);
            let Prescribed { constraint_solver, mask, .. } = &mut self.prescribed;
            constraint_solver.project(system, mask, t1, &q, &mut self.v, &mut self.p);
            self.damp_constrained(system, damping, t1, 0.5 * h, &q);
            self.q = q;
        }
        let (mut q, mut p) = (std::mem::take(&mut self.q), std::mem::take(&mut self.p));
        let finished = self.prescribed.finish(system, state, h, &mut q, &mut p);
        (self.q, self.p) = (q, p);
        if finished.is_err() {
            self.take_back();
        }
        finished.map(|()| StepStats::default())
    }

    fn claims(&self) -> Claims {
        Claims { explicit: true, reversible: true, ..Claims::variational(2) }
    }

    fn constraint_solver(&self) -> Option<&ConstraintSolver> {
        Some(&self.prescribed.constraint_solver)
    }

    fn reset(&mut self) {
        self.gradient_at.clear();
        self.carry_q.clear();
        self.carry_p.clear();
    }

    fn memory(&self) -> Memory {
        Memory::new(VerletMemory {
            gradient_at: self.gradient_at.clone(),
            gradient: if self.gradient_at.is_empty() { Vec::new() } else { self.gradient.clone() },
            carry_q: self.carry_q.clone(),
            carry_p: self.carry_p.clone(),
        })
    }

    fn restore(&mut self, memory: &Memory, _state: &State) -> Result<(), MemoryError> {
        let VerletMemory { gradient_at, gradient, carry_q, carry_p } = memory.read()?;
        (self.gradient_at, self.gradient) = (gradient_at, gradient);
        (self.carry_q, self.carry_p) = (carry_q, carry_p);
        Ok(())
    }
}

/// The memory of `verlet`.
#[derive(Clone, Serialize, Deserialize)]
struct VerletMemory {
    /// Positions at the end of the last step, m; empty if ∇W there is unknown.
    gradient_at: Vec<f64>,
    /// ∇W there, N.
    gradient: Vec<f64>,
    /// Rounding errors of q, m; empty unless `compensated`.
    carry_q: Vec<f64>,
    /// Rounding errors of p, kg m/s.
    carry_p: Vec<f64>,
}

impl MemoryRecord for VerletMemory {
    const KIND: &'static str = "verlet";
    const VERSION: u32 = 1;
}
