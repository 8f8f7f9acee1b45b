//! One run, observed at times that all runs share.
//!
//! A step that ends at such a time gives its state; between the ends of a step positions are
//! interpolated by Hermite's cubic through q and v, so that methods with steps of their own are
//! compared at the same times as those with a fixed one.

use super::integrator::ConfiguredIntegrator;
use lilyan_dynamics::{Simulation, State, StepError, System};
use std::time::Instant;

/// Runs a system from one start with any method and step.
pub struct Runner<S: System> {
    /// `None` during a run.
    system: Option<S>,
    start: State,
}

impl<S: System> Runner<S> {
    /// Runs this system from this state.
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
        method: &ConfiguredIntegrator,
        step: f64,
        times: &SampleTimes,
        budget: f64,
        observer: &mut dyn Observer<S>,
    ) -> (RunEnd, RunCost) {
        let integrator = match method.create() {
            Ok(integrator) => integrator,
            Err(why) => return (RunEnd::Failed(why.to_string()), RunCost::default()),
        };
        let Some(system) = self.system.take() else { return (RunEnd::Interrupted, RunCost::default()) };
        let mut simulation = Simulation::new(system, integrator, self.start.clone(), step);
        let done = drive(&mut simulation, times, budget, observer);
        self.system = Some(simulation.into_parts().0);
        done
    }

    /// Wall time of the same run once more, s; `None` if it did not finish.
    pub fn again(
        &mut self,
        method: &ConfiguredIntegrator,
        step: f64,
        times: &SampleTimes,
        budget: f64,
    ) -> Option<f64> {
        let (ended, work) = self.run(method, step, times, budget, &mut NullObserver);
        (ended == RunEnd::Finished).then_some(work.wall)
    }
}

/// An observer that records nothing.
struct NullObserver;

impl<S: System> Observer<S> for NullObserver {
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
pub struct SampleTimes(Vec<f64>);

/// Smallest number of times.
const FEWEST: f64 = 20.0;

impl SampleTimes {
    /// From 0 to `end`, about `most` of them, where possible at multiples of the longest step, so that
    /// steps that divide it need no interpolation.
    pub fn new(end: f64, longest_step: f64, most: usize) -> Self {
        let steps = end / longest_step;
        let interval = if steps < FEWEST {
            longest_step / (FEWEST / steps).ceil()
        } else {
            // A multiple that divides the run is preferred.
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
pub enum RunEnd {
    /// All times were reached.
    Finished,
    /// The motion is no longer bounded; when (s).
    Exploded(f64),
    /// A step failed; why.
    Failed(String),
    /// The method cannot step the scene; why.
    Refused(String),
    /// The run needs more wall time than it may take; how much, s.
    TooSlow(f64),
    /// Not started; why.
    Skipped(String),
    /// Stopped on request.
    Interrupted,
}

impl RunEnd {
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
        use lilyan_report::short;
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

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunCost {
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

/// Observes a run.
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
    times: &SampleTimes,
    budget: f64,
    observer: &mut dyn Observer<S>,
) -> (RunEnd, RunCost) {
    let mut work = RunCost::default();
    observer.positions(0, &simulation.state().q);
    if !observer.state(0, simulation) {
        return (RunEnd::Exploded(0.0), work);
    }
    let mut before = simulation.state().clone();
    let mut between = Vec::new();
    let mut next = 1;
    while let Some(&wanted) = times.as_slice().get(next) {
        before.clone_from(simulation.state());
        let began = Instant::now();
        let advanced = simulation.advance();
        work.wall += began.elapsed().as_secs_f64();
        let record = match advanced {
            Ok(record) => record,
            Err(StepError::Refused { reason }) => return (RunEnd::Refused(reason), work),
            Err(StepError::NotFinite { t, .. }) => return (RunEnd::Exploded(t), work),
            Err(error) => return (RunEnd::Failed(error.to_string()), work),
        };
        if record.substeps == 0 {
            // An adaptive method had already passed this time.
            continue;
        }
        let state = simulation.state();
        let h = state.t - before.t;
        if h.is_nan() || h <= 0.0 {
            return (RunEnd::Failed(format!("at t = {} s: time does not advance", before.t)), work);
        }
        work.t = state.t;
        // The parts of a halved step count as one step. The substeps of an adaptive method count as steps.
        work.steps += if record.halved { 1 } else { u64::from(record.substeps) };
        work.newton += record.stats.newton_iterations as u64;
        work.halved += u64::from(record.halved);
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
                return (RunEnd::Exploded(work.t), work);
            }
        }
        let done = (work.t / times.end()).min(1.0);
        if !observer.go_on(done) {
            return (RunEnd::Interrupted, work);
        }
        // A fifth of the budget is enough to estimate the time of the whole run. A run that needs much more is stopped.
        let needed = work.wall / done;
        let hopeless = work.wall > budget || (work.wall > 0.2 * budget && needed > 2.0 * budget);
        if hopeless && next < times.as_slice().len() {
            return (RunEnd::TooSlow(needed), work);
        }
    }
    (RunEnd::Finished, work)
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
        let times = SampleTimes::new(8.0, 0.016, 100);
        assert_eq!(times.as_slice().len(), 101);
        assert!((times.end() - 8.0).abs() < 1e-12);
        let ratio = times.as_slice()[1] / 0.016;
        assert!((ratio - ratio.round()).abs() < 1e-12);
        // A few long steps: times between them.
        assert!(SampleTimes::new(1.0, 0.25, 100).as_slice().len() > 20);
        // 250 steps and at most 100 times: every fifth, since every third would end before the end.
        let whole = SampleTimes::new(5.0, 0.02, 100);
        assert!((whole.end() - 5.0).abs() < 1e-12 && whole.as_slice().len() == 51);
        // No multiple reaches the end: the last one before it.
        let odd = SampleTimes::new(1.0, 0.03, 100);
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
