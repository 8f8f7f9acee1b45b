//! One run, watched at times that all runs share.
//!
//! A step that ends at such a time gives its state; between the ends of a step positions are
//! interpolated by Hermite's cubic through q and v, so that methods with steps of their own are
//! compared at the same times as those with a fixed one.

use super::method::Method;
use lilyan_dynamics::{Simulation, State, StepError, System};
use std::time::Instant;

/// A system and where its runs start.
pub struct Bench<S: System> {
    /// Between runs it is here.
    system: Option<S>,
    start: State,
}

impl<S: System> Bench<S> {
    /// Runs of that system from there.
    pub fn new(system: S, start: State) -> Self {
        Self { system: Some(system), start }
    }

    /// The system.
    pub fn system(&self) -> &S {
        self.system.as_ref().expect("between runs the system is here")
    }

    /// Where runs start.
    pub fn start(&self) -> &State {
        &self.start
    }

    /// Runs from the start with that method and step until the last of the times, or for `budget` seconds
    /// of wall time.
    pub fn run(
        &mut self,
        method: &Method,
        step: f64,
        times: &Times,
        budget: f64,
        observer: &mut dyn Observer<S>,
    ) -> (Ended, Work) {
        let integrator = match method.create() {
            Ok(integrator) => integrator,
            Err(why) => return (Ended::Failed(why), Work::default()),
        };
        let Some(system) = self.system.take() else { return (Ended::Interrupted, Work::default()) };
        let mut simulation = Simulation::new(system, integrator, self.start.clone(), step);
        let done = drive(&mut simulation, times, budget, observer);
        self.system = Some(simulation.system);
        done
    }

    /// Wall time of the same run once more, s; `None` if it did not finish.
    pub fn again(&mut self, method: &Method, step: f64, times: &Times, budget: f64) -> Option<f64> {
        let (ended, work) = self.run(method, step, times, budget, &mut Blind);
        (ended == Ended::Finished).then_some(work.wall)
    }
}

/// Looks at nothing.
struct Blind;

impl<S: System> Observer<S> for Blind {
    fn positions(&mut self, _: usize, _: &[f64]) {}
    fn state(&mut self, _: usize, _: &Simulation<S>) -> bool {
        true
    }
    fn go_on(&mut self, _: f64) -> bool {
        true
    }
}

/// The times at which runs are compared, s; the first is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Times(Vec<f64>);

/// Times at least and at most, as far as the steps allow.
const FEWEST: f64 = 20.0;

impl Times {
    /// From 0 to `end`, about `most` of them, where possible at multiples of the longest step, so that
    /// steps that divide it need no interpolation.
    pub fn new(end: f64, longest_step: f64, most: usize) -> Self {
        let steps = end / longest_step;
        let interval = if steps < FEWEST {
            longest_step / (FEWEST / steps).ceil()
        } else {
            // If some multiple ends with the run, that one.
            let least = (steps / most as f64 - 1e-9).ceil().max(1.0);
            let fits = |m: &f64| (steps / m - (steps / m).round()).abs() < 1e-9 * steps;
            let multiples = (0..=least as u32).map(|k| least + f64::from(k));
            longest_step * multiples.into_iter().find(fits).unwrap_or(least)
        };
        let count = (end / interval + 1e-9).floor() as usize;
        Self((0..=count).map(|k| k as f64 * interval).collect())
    }

    /// All of them.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// The last, s.
    pub fn end(&self) -> f64 {
        self.0.last().copied().unwrap_or(0.0)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// All times were reached.
    Finished,
    /// The motion left all bounds; when (s).
    Exploded(f64),
    /// A step failed; why.
    Failed(String),
    /// The method does not do what the scene needs; what.
    Refused(String),
    /// It was, or would have been, too slow: wall time that the whole run needs, s.
    TooSlow(f64),
    /// Not started; why.
    Skipped(String),
    /// Stopped on request.
    Interrupted,
}

impl Ended {
    /// One word, for tables.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Exploded(_) => "exploded",
            Self::Failed(_) => "failed",
            Self::Refused(_) => "refused",
            Self::TooSlow(_) => "too slow",
            Self::Skipped(_) => "skipped",
            Self::Interrupted => "interrupted",
        }
    }

    /// Why it did not finish; empty if it did.
    pub fn reason(&self) -> String {
        use crate::report::short;
        match self {
            Self::Finished => String::new(),
            Self::Exploded(t) => format!("exploded at t = {} s", short(*t)),
            Self::Failed(why) | Self::Refused(why) => why.clone(),
            Self::TooSlow(needed) => format!("would take about {} s", short(*needed)),
            Self::Skipped(why) => why.clone(),
            Self::Interrupted => "interrupted".into(),
        }
    }
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Wall time in steps, s.
    pub wall: f64,
    /// Time reached, s.
    pub t: f64,
    /// Steps done.
    pub steps: u64,
    /// Newton iterations.
    pub newton: u64,
    /// Steps that failed and were cut into parts.
    pub halved: u64,
}

/// Who looks at a run.
pub trait Observer<S: System> {
    /// Positions at the k-th time.
    fn positions(&mut self, k: usize, q: &[f64]);
    /// The simulation after the step that reached the k-th time; `false` if it has exploded.
    fn state(&mut self, k: usize, simulation: &Simulation<S>) -> bool;
    /// After every step; `false` to stop. `done` goes from 0 to 1.
    fn go_on(&mut self, done: f64) -> bool;
}

fn drive<S: System>(
    simulation: &mut Simulation<S>,
    times: &Times,
    budget: f64,
    observer: &mut dyn Observer<S>,
) -> (Ended, Work) {
    let mut work = Work::default();
    observer.positions(0, &simulation.state.q);
    if !observer.state(0, simulation) {
        return (Ended::Exploded(0.0), work);
    }
    let mut before = simulation.state.clone();
    let mut between = Vec::new();
    let mut next = 1;
    while let Some(&wanted) = times.as_slice().get(next) {
        before.clone_from(&simulation.state);
        let began = Instant::now();
        let advanced = simulation.advance();
        work.wall += began.elapsed().as_secs_f64();
        let record = match advanced {
            Ok(record) => record,
            Err(StepError::Refused { reason }) => return (Ended::Refused(reason), work),
            Err(StepError::NotFinite { t, .. }) => return (Ended::Exploded(t), work),
            Err(error) => return (Ended::Failed(error.to_string()), work),
        };
        if record.parts == 0 {
            // A method with its own pace was there already.
            continue;
        }
        let state = &simulation.state;
        let h = state.t - before.t;
        if h.is_nan() || h <= 0.0 {
            return (Ended::Failed(format!("at t = {} s: time does not advance", before.t)), work);
        }
        work.t = state.t;
        // Parts of a step that was cut are one step; those of a method with its own pace are its steps.
        work.steps += if record.cut { 1 } else { u64::from(record.parts) };
        work.newton += record.integrating.newton_iterations as u64;
        work.halved += u64::from(record.cut);
        if wanted <= state.t + 1e-9 * h {
            while let Some(&t) = times.as_slice().get(next).filter(|t| **t <= state.t + 1e-9 * h) {
                let s = (t - before.t) / h;
                if (1.0 - s).abs() < 1e-6 {
                    observer.positions(next, &state.q);
                } else {
                    hermite(&before.q, &before.v, &state.q, &state.v, h, s, &mut between);
                    observer.positions(next, &between);
                }
                next += 1;
            }
            if !observer.state(next - 1, simulation) {
                return (Ended::Exploded(work.t), work);
            }
        }
        let done = (work.t / times.end()).min(1.0);
        if !observer.go_on(done) {
            return (Ended::Interrupted, work);
        }
        // What it would need in all, told by a share of the budget; far too much is not waited for.
        let needed = work.wall / done;
        let hopeless = work.wall > budget || (work.wall > 0.2 * budget && needed > 2.0 * budget);
        if hopeless && next < times.as_slice().len() {
            return (Ended::TooSlow(needed), work);
        }
    }
    (Ended::Finished, work)
}

/// The cubic through both ends with their velocities, at the share s of a step h.
fn hermite(q0: &[f64], v0: &[f64], q1: &[f64], v1: &[f64], h: f64, s: f64, q: &mut Vec<f64>) {
    let (r, a) = (1.0 - s, s * s * (3.0 - 2.0 * s));
    let (b0, b1) = (h * s * r * r, -h * s * s * r);
    q.clear();
    q.extend((0..q0.len()).map(|i| q0[i] + a * (q1[i] - q0[i]) + b0 * v0[i] + b1 * v1[i]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_on_the_longest_step_and_end_at_the_end() {
        let times = Times::new(8.0, 0.016, 100);
        assert_eq!(times.as_slice().len(), 101);
        assert!((times.end() - 8.0).abs() < 1e-12);
        let ratio = times.as_slice()[1] / 0.016;
        assert!((ratio - ratio.round()).abs() < 1e-12);
        // A few long steps: times between them.
        assert!(Times::new(1.0, 0.25, 100).as_slice().len() > 20);
        // 250 steps and at most 100 times: every fifth, since every third would end before the end.
        let whole = Times::new(5.0, 0.02, 100);
        assert!((whole.end() - 5.0).abs() < 1e-12 && whole.as_slice().len() == 51);
        // No multiple reaches the end: the last one before it.
        let odd = Times::new(1.0, 0.03, 100);
        assert!(odd.end() <= 1.0 && odd.end() > 0.96);
    }

    #[test]
    fn cubics_are_interpolated_exactly() {
        let q = |t: f64| 1.0 - 2.0 * t + 0.5 * t * t + 3.0 * t * t * t;
        let v = |t: f64| -2.0 + t + 9.0 * t * t;
        let (t0, h) = (0.4, 0.7);
        let mut out = Vec::new();
        for s in [0.0, 0.2, 0.9, 1.0] {
            hermite(&[q(t0)], &[v(t0)], &[q(t0 + h)], &[v(t0 + h)], h, s, &mut out);
            assert!((out[0] - q(t0 + s * h)).abs() < 1e-13);
        }
    }
}
