//! Velocity Verlet: the trapezoidal discrete Lagrangian \[hairer2003\].
//!
//!   p_{k+½} = p_k − ½h ∇W(q_k),  q_{k+1} = q_k + h M⁻¹ p_{k+½},  p_{k+1} = p_{k+½} − ½h ∇W(q_{k+1}).
//!
//! Explicit, second order, symplectic, reversible; stable for hω < 2. One force per step: that of the
//! step's end is kept for the next. Damping acts in the middle of the drift as a sub-step of
//! M v̇ = f(q, v) at fixed q (explicit midpoint), which keeps the order and both momenta. With constraints the drift is
//! RATTLE's, and damping acts half before and half after the step.
//!
//! `compensated` carries the rounding errors of the sums q += …, p += … along (Kahan), so that
//! millions of steps lose a few units in the last place instead of their square root.

use super::{Claims, Entry, Integrator};
use crate::constraints::Holding;
use crate::options::{Kind, OptionSpec, Options};
use crate::step::{Ends, first_not_finite};
use crate::{Integrating, Mass, State, StepError, System};
use lilyan_solve::threads;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) const ENTRY: Entry = Entry {
    name: "verlet",
    summary: "explicit second-order symplectic step; one force per step",
    cite: "hairer2003",
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
    ends: Ends,
    /// ∇W at the end of the last step, and where that was.
    gradient: Vec<f64>,
    gradient_at: Vec<f64>,
    /// Rounding errors not yet in q and p.
    carry_q: Vec<f64>,
    carry_p: Vec<f64>,
    /// Those at the start of the step.
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
            ends: Ends::default(),
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

    /// After a failed step: as if it had not been tried.
    fn take_back(&mut self) {
        self.gradient_at.clear();
        self.carry_q.clone_from(&self.saved.0);
        self.carry_p.clone_from(&self.saved.1);
    }

    /// v ← v + hM⁻¹f(q, v) at fixed q, by the explicit midpoint rule.
    fn damp(&mut self, system: &dyn System, t: f64, h: f64) {
        for share in [0.5, 1.0] {
            let from = if share == 0.5 { &self.v } else { &self.middle };
            self.force.fill(0.0);
            system.forces(t, &self.q, from, &mut self.force);
            for i in 0..self.p.len() {
                self.force[i] = self.p[i] + share * h * self.force[i];
            }
            self.middle.clone_from(&self.v);
            system.mass().solve(&self.ends.mask, &self.force, &mut self.middle);
        }
        std::mem::swap(&mut self.p, &mut self.force);
        std::mem::swap(&mut self.v, &mut self.middle);
    }

    /// The same at q with constraints, both stages among the velocities that keep them.
    fn damp_constrained(&mut self, system: &dyn System, t: f64, h: f64, q: &[f64]) {
        let Ends { holding, mask, .. } = &mut self.ends;
        let (mut v, mut p) = (self.v.clone(), Vec::new());
        for share in [0.5, 1.0] {
            self.force.fill(0.0);
            system.forces(t, q, &v, &mut self.force);
            p = self.p.iter().zip(&self.force).map(|(p, f)| p + share * h * f).collect();
            system.mass().solve(mask, &p, &mut v);
            let counted = holding.counted();
            holding.project(system, mask, q, &mut v, &mut p);
            if share < 1.0 {
                holding.recount(counted);
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

/// Numbers per task: some µs of work.
const CHUNK: usize = 1 << 12;

impl Verlet {
    /// The step of a system without damping, constraints, sparse mass or carries: the same sums in two
    /// passes, since with millions of tets every vector that is read or written shows.
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
            if self.ends.any() {
                system.place_held(state.t + h, &mut self.q, &mut self.v);
                for i in self.ends.held() {
                    self.gradient_at[i] = self.q[i];
                }
            }
            system.gradient(state.t + h, &self.q, &mut self.gradient);
            made = self.kick(masses, h);
            if self.ends.any() {
                // What they had of their own is in `q`, and has not changed.
                system.place_held(state.t + h, &mut self.q, &mut self.v);
                for i in self.ends.held() {
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

    /// p ← p_k − ½h∇W, q ← q_k + hM⁻¹p, remembered in `gradient_at`; `false` if the gradient that is kept
    /// is not that at q_k, or something is not finite.
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

    /// p ← p − ½h∇W, v = M⁻¹p; `false` if something is not finite.
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
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let n = state.q.len();
        self.resize(n);
        if let Mass::Lumped(masses) = system.mass()
            && !(self.compensated || system.has_forces() || system.has_impulse())
            && system.constraints().is_empty()
        {
            self.ends.hold(system, state.t + h, n);
            return self.plain_step(system, masses, state, h).map(|()| Integrating::default());
        }
        self.ends.prepare(system, state, h)?;
        if !threads::equal(&self.gradient_at, &state.q) {
            system.gradient(state.t, &state.q, &mut self.gradient);
        }
        // A failed step must leave the carries as they were.
        self.saved.0.clone_from(&self.carry_q);
        self.saved.1.clone_from(&self.carry_p);
        let constrained = self.ends.holding.count() > 0;
        let damped_inside = system.has_forces() && !constrained;
        if system.has_forces() && constrained {
            self.v.clone_from(&state.v);
            self.p.clone_from(&state.p);
            self.damp_constrained(system, state.t, 0.5 * h, &state.q);
            let begin = std::mem::take(&mut self.p);
            add_to(&mut self.p, &begin, &mut self.carry_p, -0.5 * h, &self.gradient);
        } else {
            add_to(&mut self.p, &state.p, &mut self.carry_p, -0.5 * h, &self.gradient);
        }
        self.ends.mean_velocity(&state.q, h, &mut self.v);
        system.mass().solve(&self.ends.mask, &self.p, &mut self.v);
        if damped_inside {
            add_to(&mut self.q, &state.q, &mut self.carry_q, 0.5 * h, &self.v);
            self.damp(system, state.t + 0.5 * h, h);
            add(&mut self.q, &mut self.carry_q, 0.5 * h, &self.v);
        } else {
            add_to(&mut self.q, &state.q, &mut self.carry_q, h, &self.v);
        }
        if self.ends.any() {
            for i in 0..n {
                if self.ends.mask[i] {
                    self.q[i] = self.ends.q[i];
                }
            }
        }
        let Ends { holding, mask, .. } = &mut self.ends;
        if let Err(error) = holding.drift(system, state, h, mask, None, &mut self.v, &mut self.q) {
            self.take_back();
            return Err(error);
        }
        holding.add_kick(&mut self.p);
        let t1 = state.t + h;
        system.gradient(t1, &self.q, &mut self.gradient);
        add(&mut self.p, &mut self.carry_p, -0.5 * h, &self.gradient);
        threads::copy(&self.q, &mut self.gradient_at);
        if system.has_forces() && constrained {
            let q = std::mem::take(&mut self.q);
            self.v.clone_from(&self.ends.v);
            system.mass().solve(&self.ends.mask, &self.p, &mut self.v);
            let Ends { holding, mask, .. } = &mut self.ends;
            holding.project(system, mask, &q, &mut self.v, &mut self.p);
            self.damp_constrained(system, t1, 0.5 * h, &q);
            self.q = q;
        }
        let (mut q, mut p) = (std::mem::take(&mut self.q), std::mem::take(&mut self.p));
        let finished = self.ends.finish(system, state, h, &mut q, &mut p);
        (self.q, self.p) = (q, p);
        if finished.is_err() {
            self.take_back();
        }
        finished.map(|()| Integrating::default())
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 2,
            damped_order: 2,
            explicit: true,
            symplectic: true,
            reversible: true,
            linear_momentum: true,
            angular_momentum: true,
            energy: false,
        }
    }

    fn holding(&self) -> Option<&Holding> {
        Some(&self.ends.holding)
    }

    fn reset(&mut self) {
        self.gradient_at.clear();
        self.carry_q.clear();
        self.carry_p.clear();
    }

    fn memory(&self) -> Vec<f64> {
        let parts = [&self.gradient_at, &self.gradient, &self.carry_q, &self.carry_p];
        if self.gradient_at.is_empty() { Vec::new() } else { parts.map(|p| p.as_slice()).concat() }
    }

    fn remember(&mut self, memory: &[f64]) {
        let parts = if self.compensated { 4 } else { 2 };
        let n = memory.len() / parts;
        let part = |k: usize| memory[k * n..(k + 1) * n].to_vec();
        (self.gradient_at, self.gradient) = (part(0), part(1));
        if self.compensated {
            (self.carry_q, self.carry_p) = (part(2), part(3));
        }
    }
}
