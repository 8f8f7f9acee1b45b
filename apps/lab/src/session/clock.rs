//! Compares simulated time with wall time.

use std::time::{Duration, Instant};

/// If the simulation is further behind than this, s, it does not try to catch up.
const CATCH_UP: f64 = 0.25;

/// Tells when the next step is due.
pub struct Clock {
    /// Simulated seconds per second; `None`: as fast as possible.
    pub speed: Option<f64>,
    /// Wall time at which the measurement started.
    since: Instant,
    /// Simulated time at which it started, s.
    from: f64,
    /// Time by which the simulation was behind last, s.
    behind: f64,
}

impl Clock {
    /// A clock that runs in real time from t = 0.
    pub fn new() -> Self {
        Self { speed: Some(1.0), since: Instant::now(), from: 0.0, behind: 0.0 }
    }

    /// Starts again at simulated time t.
    pub fn set(&mut self, t: f64) {
        (self.since, self.from) = (Instant::now(), t);
        self.behind = 0.0;
    }

    /// How long to wait before a step from `t` to `t + step`.
    pub fn wait(&mut self, t: f64, step: f64) -> Duration {
        let Some(speed) = self.speed else { return Duration::ZERO };
        let due = (t + step - self.from) / speed;
        let now = self.since.elapsed().as_secs_f64();
        if now - due > CATCH_UP {
            // The lost time is reported and not caught up.
            self.behind = now - due;
            (self.since, self.from) = (Instant::now(), t);
            return Duration::ZERO;
        }
        if now < due {
            self.behind = 0.0;
        }
        Duration::from_secs_f64((due - now).clamp(0.0, 1.0))
    }

    /// How far the simulation is behind the wall clock, s.
    pub fn behind(&self) -> f64 {
        self.behind
    }
}
