//! What implicit integrators share around their equations: held unknowns, first guesses, the solver, the
//! completion of the state, and memory. A method is then a [`Scheme`]: its equations and its claims.

use crate::constraints::Holding;
use crate::implicit::{ForceRule, ImplicitStep, Method, Parts, PotentialRule, Solver};
use crate::integrators::{Claims, Integrator};
use crate::step::Ends;
use crate::{Effort, Integrating, Options, State, StepError, System};

/// The equations of an implicit method.
pub trait Scheme: Send {
    /// One step; everything that it asks for is in `step`.
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError>;
    /// What it promises.
    fn claims(&self) -> Claims;
    /// Whether constraints may act along: the one solve of a step keeps them, and their kick is added to p.
    fn keeps_constraints(&self) -> bool {
        false
    }
    /// See [`Integrator::takes_fits`].
    fn takes_fits(&self) -> bool {
        false
    }
}

/// Where a step ends. Held unknowns need not be right: the driver puts them in place.
pub struct End {
    /// Positions, m.
    pub q: Vec<f64>,
    /// Momenta, kg m/s.
    pub p: Vec<f64>,
    /// What the next step needs to know of this one; empty for one-step methods.
    pub history: Vec<f64>,
}

/// A step on its way.
pub struct Step<'a> {
    /// What moves.
    pub system: &'a dyn System,
    /// Where the step begins.
    pub state: &'a State,
    /// How long it is, s.
    pub h: f64,
    /// Unknowns that are held, and where at the end.
    pub ends: &'a Ends,
    /// Constraints, and what keeps them.
    pub holding: &'a mut Holding,
    keeps: bool,
    /// [`End::history`] of the step before; empty if there was none that led to this state.
    pub history: &'a [f64],
    /// The mean acceleration of the step before; empty if there was none that led to this state.
    acceleration: &'a [f64],
    solver: &'a mut Solver,
    report: Integrating,
}

/// A stage M(x − q₀) = b + c F(t*, x, v), v = (x − q₀)/span + offset, with all forces F = −∇W + f in one
/// place.
pub struct Stage {
    /// t*, s.
    pub time: f64,
    /// b, kg m.
    pub impulse: Vec<f64>,
    /// c, s².
    pub weight: f64,
    /// s.
    pub span: f64,
    /// m/s.
    pub offset: Vec<f64>,
    /// (x − q₀)/(q₁ − q₀).
    pub reach: f64,
}

impl Step<'_> {
    /// q₀ + share·h·v₀, held unknowns as far on their way.
    pub fn ballistic(&self, share: f64) -> Vec<f64> {
        let mut v = self.state.v.clone();
        self.ends.mean_velocity(&self.state.q, self.h, &mut v);
        self.state.q.iter().zip(&v).map(|(q, v)| q + share * self.h * v).collect()
    }

    /// Finds x from the given guess, whose held unknowns stay.
    pub fn solve(&mut self, parts: Parts<'_>, x: &mut [f64]) -> Result<(), StepError> {
        let State { t, q, .. } = self.state;
        let parts_time = parts.time;
        let step = ImplicitStep::new(self.system, *t, self.h, q, &self.ends.mask, parts);
        let step = if self.keeps { step.holding(self.holding) } else { step };
        // Where x is if the body goes on to accelerate as it did.
        let lead = (parts_time - t).powi(2);
        let goes_on = |i: usize| x[i] + if self.ends.mask[i] { 0.0 } else { lead * self.acceleration[i] };
        let other: Vec<f64> = (0..self.acceleration.len()).map(goes_on).collect();
        let done = self.solver.solve(step, x, &other)?;
        self.report.add(done.into());
        Ok(())
    }

    /// Solves a stage; returns (x, v). Held unknowns are where and as fast as they are at t*, or have gone
    /// the share `reach` of their way.
    pub fn stage(&mut self, mut stage: Stage) -> Result<(Vec<f64>, Vec<f64>), StepError> {
        let (q0, ends) = (&self.state.q, self.ends);
        let whole = stage.reach == 1.0;
        let mut x = self.ballistic(if whole { (stage.time - self.state.t) / self.h } else { stage.reach });
        if ends.any() {
            let (mut place, mut speed) = (x.clone(), self.state.v.clone());
            self.system.place_held(stage.time, &mut place, &mut speed);
            for i in (0..x.len()).filter(|&i| ends.mask[i]) {
                x[i] = if whole { place[i] } else { x[i] };
                stage.offset[i] = speed[i] - (x[i] - q0[i]) / stage.span;
            }
        }
        let parts = Parts {
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
        if self.system.has_forces() {
            self.system.forces(t, q, v, &mut force);
        }
        force
    }

    /// All forces where the step begins, unless that is infeasible.
    pub fn start_force(&self) -> Result<Vec<f64>, StepError> {
        let force = self.force(self.state.t, &self.state.q, &self.state.v);
        if force.iter().all(|f| f.is_finite()) { Ok(force) } else { Err(self.infeasible()) }
    }

    /// M⁻¹·force, where held the mean acceleration of the step.
    pub fn acceleration(&self, force: &[f64]) -> Vec<f64> {
        let held = self.ends.v.iter().zip(&self.state.v);
        let mut a: Vec<f64> = held.map(|(v1, v0)| (v1 - v0) / self.h).collect();
        self.system.mass().solve(&self.ends.mask, force, &mut a);
        a
    }

    /// M v.
    pub fn momentum(&self, v: &[f64]) -> Vec<f64> {
        let mut p = vec![0.0; v.len()];
        self.system.mass().mul(v, &mut p);
        p
    }

    /// The failure of a step that ends, or passes, where W is infinite.
    pub fn infeasible(&self) -> StepError {
        StepError::Infeasible { t: self.state.t, h: self.h }
    }

    /// Fails where W(t₁, q₁) is infinite: methods that solve for another point than q₁ must look.
    pub fn check_end(&self, q1: &[f64]) -> Result<(), StepError> {
        let feasible = self.system.energy(self.state.t + self.h, q1).is_finite();
        if feasible { Ok(()) } else { Err(self.infeasible()) }
    }
}

/// An integrator made of a scheme.
pub struct Driven<S> {
    scheme: S,
    /// What solves its equations.
    pub solver: Solver,
    ends: Ends,
    /// [`End::history`] of the last step, and of which state.
    history: Vec<f64>,
    /// Mean acceleration of that step, m/s².
    acceleration: Vec<f64>,
    of: [f64; 2],
}

impl<S: Scheme> Driven<S> {
    /// With the options that [`crate::integrators`] declares for implicit methods.
    pub fn new(scheme: S, options: &Options, method: Method) -> Self {
        let conserving = scheme.claims().angular_momentum;
        Self {
            scheme,
            solver: Solver::new(options, method, conserving),
            ends: Ends::default(),
            history: Vec::new(),
            acceleration: Vec::new(),
            of: [0.0; 2],
        }
    }
}

impl<S> Driven<S> {
    /// [`End::history`] of the last step.
    pub fn history(&self) -> &[f64] {
        &self.history
    }
}

impl<S: Scheme> Integrator for Driven<S> {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        self.ends.prepare(system, state, h)?;
        // Whoever changed the state by hand starts anew.
        let known = self.of == fingerprint(state);
        let kept = |list: &'_ Vec<f64>| if known { list.clone() } else { Vec::new() };
        let (history, acceleration) = (kept(&self.history), kept(&self.acceleration));
        let before = state.v.clone();
        let mut holding = std::mem::take(&mut self.ends.holding);
        let mut step = Step {
            system,
            state,
            h,
            ends: &self.ends,
            holding: &mut holding,
            keeps: self.scheme.keeps_constraints(),
            history: &history,
            acceleration: &acceleration,
            solver: &mut self.solver,
            report: Integrating::default(),
        };
        let end = self.scheme.step(&mut step);
        let report = step.report;
        self.ends.holding = holding;
        let mut end = end?;
        self.ends.finish(system, state, h, &mut end.q, &mut end.p)?;
        self.history = end.history;
        self.acceleration = state.v.iter().zip(&before).map(|(v, before)| (v - before) / h).collect();
        self.of = fingerprint(state);
        Ok(report)
    }

    fn claims(&self) -> Claims {
        self.scheme.claims()
    }

    fn takes_fits(&self) -> bool {
        self.scheme.takes_fits()
    }

    fn holding(&self) -> Option<&Holding> {
        self.scheme.keeps_constraints().then_some(&self.ends.holding)
    }

    fn set_effort(&mut self, effort: f64) -> Option<Effort> {
        Some(self.solver.set_effort(effort))
    }

    fn reset(&mut self) {
        self.solver.kept.reset();
        self.history.clear();
        self.acceleration.clear();
    }

    fn memory(&self) -> Vec<f64> {
        let kept = self.solver.kept.memory();
        let (history, acceleration) = (&self.history, &self.acceleration);
        if [&kept, history, acceleration].iter().all(|list| list.is_empty()) {
            return Vec::new();
        }
        let lengths = [kept.len() as f64, history.len() as f64];
        [&lengths[..], &self.of, &kept, history, acceleration].concat()
    }

    fn remember(&mut self, memory: &[f64]) {
        let (&[kept, history, t, q], lists) = memory.split_first_chunk().unwrap_or((&[0.0; 4], &[]));
        let (kept, lists) = lists.split_at(kept as usize);
        let (history, acceleration) = lists.split_at(history as usize);
        self.solver.kept.remember(kept);
        self.of = [t, q];
        (self.history, self.acceleration) = (history.to_vec(), acceleration.to_vec());
    }
}

/// Tells states apart: a hash of all positions and momenta, as two numbers.
fn fingerprint(state: &State) -> [f64; 2] {
    let words = state.q.iter().chain(&state.p).map(|x| x.to_bits());
    let hash = words.fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
    });
    [f64::from((hash >> 32) as u32), f64::from(hash as u32)]
}
