//! Steps as long as an accuracy allows: TR-BDF2 with the embedded third-order formula of \[hosea1996\].
//!
//!   e = h Σ (bᵢ − b̂ᵢ) ẏᵢ over the start, the middle and the end,  b − b̂ = (4w−1, −1, 2d)/3,
//!
//! w = √2/4, d = 1 − √2/2. A step is taken if the position error, and h times that of the velocity, is below
//! `accuracy` times h times the greatest speed so far: errors stay below about `accuracy` times the way gone.
//! Otherwise it is shortened. Steps never exceed the nominal one and end on its multiples. It damps high
//! frequencies and does not keep energy: for motion over thousands of periods take a method that does.

use super::bdf2::Found;
use super::tr_bdf2::TrBdf2;
use super::{Claims, Entry, Integrator, LINEAR, MAX_ITERATIONS, Pace, TOLERANCE};
use crate::driver::{Driven, End, Scheme, Step};
use crate::implicit::Method;
use crate::options::{Kind, OptionSpec, Options};
use crate::{Integrating, State, StepError, System};

pub(super) const ENTRY: Entry = Entry {
    name: "adaptive-error",
    summary: "steps as long as an accuracy allows (TR-BDF2 with error control)",
    cite: "hosea1996",
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
    inner: Driven<Embedded>,
    /// What the last step suggests for the next, s.
    next: f64,
    /// Greatest speed so far, m/s.
    speed: f64,
}

/// TR-BDF2 that leaves its error (m) and its greatest speed (m/s) as history.
struct Embedded;

impl Scheme for Embedded {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (start, middle, Found { q, p, v, force }) = TrBdf2::stages(step)?;
        let (h, v0) = (step.h, &step.state.v);
        let (w, d) = (2f64.sqrt() / 4.0, 1.0 - 2f64.sqrt() / 2.0);
        let b = [(4.0 * w - 1.0) / 3.0, -1.0 / 3.0, 2.0 * d / 3.0];
        let n = q.len();
        let mixed: Vec<f64> =
            (0..n).map(|i| b[0] * start[i] + b[1] * middle.force[i] + b[2] * force[i]).collect();
        let mut a = vec![0.0; n];
        step.system.mass().solve(&step.ends.mask, &mixed, &mut a);
        let (mut error, mut speed): (f64, f64) = (0.0, 0.0);
        for i in (0..n).filter(|&i| !step.ends.mask[i]) {
            let e = h * (b[0] * v0[i] + b[1] * middle.v[i] + b[2] * v[i]);
            error = error.max(e.abs()).max((h * h * a[i]).abs());
            speed = speed.max(v[i].abs()).max(middle.v[i].abs()).max(v0[i].abs());
        }
        Ok(End { q, p, history: vec![error, speed] })
    }

    fn claims(&self) -> Claims {
        TrBdf2.claims()
    }
}

impl AdaptiveError {
    fn new(options: &Options) -> Self {
        Self {
            accuracy: options.number("accuracy"),
            inner: Driven::new(Embedded, options, Method::Minimize),
            next: f64::INFINITY,
            speed: 0.0,
        }
    }
}

impl Integrator for AdaptiveError {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        // Two equal steps rather than one and a sliver.
        let mut dt = if self.next < h && h < 2.0 * self.next { 0.5 * h } else { self.next.min(h) };
        let mut report = Integrating::default();
        loop {
            let mut end = state.clone();
            let part = self.inner.step(system, &mut end, dt)?;
            report.newton_iterations += part.newton_iterations;
            report.linear_iterations += part.linear_iterations;
            report.multigrid += part.multigrid;
            let [error, speed] = *self.inner.history() else { unreachable!("two numbers, see above") };
            let speed = self.speed.max(speed);
            // What is at rest may stay there: below this all is round-off.
            let floor = 1e-14 * system.length();
            let ratio = error / (self.accuracy * speed * dt).max(floor);
            // The error grows with the third power of the step, what is allowed with the first.
            let factor = (0.9 / ratio.sqrt()).clamp(0.2, 2.0);
            if ratio <= 1.0 {
                self.next = dt * factor;
                self.speed = speed;
                *state = end;
                return Ok(report);
            }
            if dt < 1e-9 * h {
                return Err(StepError::Pace { t: state.t, h, sigma: dt / h });
            }
            dt *= factor;
        }
    }

    fn claims(&self) -> Claims {
        TrBdf2.claims()
    }

    fn pace(&self) -> Pace {
        Pace::AtMost
    }

    fn reset(&mut self) {
        self.inner.reset();
        (self.next, self.speed) = (f64::INFINITY, 0.0);
    }

    fn memory(&self) -> Vec<f64> {
        [&[self.next, self.speed], &self.inner.memory()[..]].concat()
    }

    fn remember(&mut self, memory: &[f64]) {
        let (&[next, speed], inner) = memory.split_first_chunk().unwrap_or((&[f64::INFINITY, 0.0], &[]));
        (self.next, self.speed) = (next, speed);
        self.inner.remember(inner);
    }
}
