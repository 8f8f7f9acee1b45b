//! Simulated time against the clock on the wall.

use std::time::{Duration, Instant};

/// Further behind than this the simulation does not try to catch up.
const PATIENCE: f64 = 0.25;

/// Says when the next step is due.
pub struct Clock {
    /// Simulated seconds per second; `None`: no waiting.
    pub speed: Option<f64>,
    since: Instant,
    from: f64,
    /// Simulated seconds that were lost lately, s.
    behind: f64,
}

impl Clock {
    pub fn new() -> Self {
        Self { speed: Some(1.0), since: Instant::now(), from: 0.0, behind: 0.0 }
    }

    /// Begins anew at simulated time t.
    pub fn set(&mut self, t: f64) {
        (self.since, self.from) = (Instant::now(), t);
        self.behind = 0.0;
    }

    /// How long to wait before a step from `t` to `t + step`.
    pub fn wait(&mut self, t: f64, step: f64) -> Duration {
        let Some(speed) = self.speed else { return Duration::ZERO };
        let due = (t + step - self.from) / speed;
        let now = self.since.elapsed().as_secs_f64();
        if now - due > PATIENCE {
            // What is lost is lost: going on from here, and saying so.
            self.behind = now - due;
            (self.since, self.from) = (Instant::now(), t);
            return Duration::ZERO;
        }
        if now < due {
            self.behind = 0.0;
        }
        Duration::from_secs_f64((due - now).clamp(0.0, 1.0))
    }

    /// How far the simulation is behind the wall, s.
    pub fn behind(&self) -> f64 {
        self.behind
    }
}

/// How long the last steps took.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    last: std::collections::VecDeque<f64>,
}

impl Costs {
    pub fn add(&mut self, seconds: f64) {
        if self.last.len() == 32 {
            self.last.pop_front();
        }
        self.last.push_back(seconds);
    }

    /// Median, s; 0 before the first step.
    pub fn median(&self) -> f64 {
        let mut sorted: Vec<f64> = self.last.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }
}
