//! Error control: TR-BDF2 with the embedded third-order formula of \[hosea1996\] determines the length of each step.
//!
//!   e = h Σ (bᵢ − b̂ᵢ) ẏᵢ over the start, the middle and the end,  b − b̂ = (4w−1, −1, 2d)/3,
//!
//! w = √2/4, d = 1 − √2/2. A step is accepted if the position error, and h times the velocity error, is below `accuracy`
//! times h times the largest speed so far. Errors then stay below about `accuracy` times the distance travelled.
//! Otherwise the step is shortened. Steps never exceed the nominal one, and multiples of it are always reached. The method
//! damps high frequencies and does not conserve energy. It is not suited for motion over thousands of periods.

use super::backward_difference::StageSolution;
use super::tr_bdf2::TrBdf2;
use super::{Claims, Entry, Integrator, LINEAR, MAX_ITERATIONS, StepLength, TOLERANCE};
use crate::driver::{End, History, ImplicitIntegrator, ImplicitMemory, Scheme, Step};
use crate::implicit::Method;
use crate::options::{Kind, OptionSpec, Options};
use crate::{Memory, MemoryError, MemoryRecord, State, StepError, StepStats, System};
use serde::{Deserialize, Serialize};

pub(super) const ENTRY: Entry = Entry {
    name: "adaptive-error",
    summary: "steps as long as an accuracy allows (TR-BDF2 with error control)",
    cite: "hosea1996",
    stable_deformed: None,
    options: &[
        OptionSpec {
            name: "accuracy",
            doc: "error of a step relative to the way that the fastest point could go in it",
            kind: Kind::Number { min: 1e-10, max: 1.0, default: 1e-3 },
        },
        TOLERANCE,
        MAX_ITERATIONS,
        LINEAR,
    ],
    variants: &[],
    build: |options| Box::new(AdaptiveError::new(options)),
};

struct AdaptiveError {
    accuracy: f64,
    inner: ImplicitIntegrator<Embedded>,
    /// Suggested length of the next step, s.
    next: f64,
    /// Largest speed so far, m/s.
    speed: f64,
}

/// TR-BDF2 that returns its error (m) and its largest speed (m/s) as [`History::Estimate`].
struct Embedded;

impl Scheme for Embedded {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (start, middle, StageSolution { q, p, v, force }) = TrBdf2::stages(step)?;
        let (h, v0) = (step.h, &step.state.v);
        let (w, d) = (2f64.sqrt() / 4.0, 1.0 - 2f64.sqrt() / 2.0);
        let b = [(4.0 * w - 1.0) / 3.0, -1.0 / 3.0, 2.0 * d / 3.0];
        let n = q.len();
        let mixed: Vec<f64> =
            (0..n).map(|i| b[0] * start[i] + b[1] * middle.force[i] + b[2] * force[i]).collect();
        let mut a = vec![0.0; n];
        step.system.mass().solve(&step.prescribed.mask, &mixed, &mut a);
        let (mut error, mut speed): (f64, f64) = (0.0, 0.0);
        for i in (0..n).filter(|&i| !step.prescribed.mask[i]) {
            let e = h * (b[0] * v0[i] + b[1] * middle.v[i] + b[2] * v[i]);
            error = error.max(e.abs()).max((h * h * a[i]).abs());
            speed = speed.max(v[i].abs()).max(middle.v[i].abs()).max(v0[i].abs());
        }
        Ok(End { q, p, history: History::Estimate { error, speed } })
    }

    fn claims(&self) -> Claims {
        TrBdf2.claims()
    }
}

impl AdaptiveError {
    fn new(options: &Options) -> Self {
        Self {
            accuracy: options.number("accuracy"),
            inner: ImplicitIntegrator::new(Embedded, options, Method::Minimize),
            next: f64::INFINITY,
            speed: 0.0,
        }
    }

    /// One step, of the length that the accuracy allows.
    fn adapted_step(
        &mut self,
        system: &dyn System,
        state: &mut State,
        h: f64,
    ) -> Result<StepStats, StepError> {
        // Two equal steps instead of a long and a very short one.
        let mut dt = if self.next < h && h < 2.0 * self.next { 0.5 * h } else { self.next.min(h) };
        let mut report = StepStats::default();
        loop {
            let mut end = state.clone();
            let part = self.inner.step(system, &mut end, dt)?;
            report.newton_iterations += part.newton_iterations;
            report.linear_iterations += part.linear_iterations;
            report.multigrid += part.multigrid;
            let &History::Estimate { error, speed } = self.inner.history() else { unreachable!("see above") };
            let speed = self.speed.max(speed);
            // Errors below this are round-off, e.g. of a system at rest.
            let floor = 1e-14 * system.length();
            let ratio = error / (self.accuracy * speed * dt).max(floor);
            // The error is proportional to the third power of the step, the permitted error to the first.
            let factor = (0.9 / ratio.sqrt()).clamp(0.2, 2.0);
            if ratio <= 1.0 {
                self.next = dt * factor;
                self.speed = speed;
                *state = end;
                return Ok(report);
            }
            if dt < 1e-9 * h {
                return Err(StepError::StepRatio { t: state.t, h, sigma: dt / h });
            }
            dt *= factor;
        }
    }
}

impl Integrator for AdaptiveError {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let done = self.adapted_step(system, state, h);
        self.inner.reset_unless_at(state);
        done
    }

    fn claims(&self) -> Claims {
        TrBdf2.claims()
    }

    fn takes_contact(&self) -> bool {
        self.inner.takes_contact()
    }

    fn step_length(&self) -> StepLength {
        StepLength::AtMost
    }

    fn reset(&mut self) {
        self.inner.reset();
        (self.next, self.speed) = (f64::INFINITY, 0.0);
    }

    fn memory(&self) -> Memory {
        Memory::new(AdaptiveErrorMemory { next: self.next, speed: self.speed, inner: self.inner.record() })
    }

    fn restore(&mut self, memory: &Memory, state: &State) -> Result<(), MemoryError> {
        let AdaptiveErrorMemory { next, speed, inner } = memory.read()?;
        (self.next, self.speed) = (next, speed);
        self.inner.restore_record(inner, state);
        Ok(())
    }
}

/// The memory of `adaptive-error`.
#[derive(Clone, Serialize, Deserialize)]
struct AdaptiveErrorMemory {
    /// Suggested length of the next step, s.
    next: f64,
    /// Largest speed so far, m/s.
    speed: f64,
    inner: ImplicitMemory,
}

impl MemoryRecord for AdaptiveErrorMemory {
    const KIND: &'static str = "adaptive-error";
    const VERSION: u32 = 2;
}
