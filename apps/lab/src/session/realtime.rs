//! Real-time mode: keeps the steps of a frame within its time by solving less accurately.

use crate::effort::EffortController;
use std::time::{Duration, Instant};

/// The state of real-time mode. It measures the time between frames for the controller.
pub struct RealTime {
    controller: Option<EffortController>,
    /// Wall time of the last frame.
    since: Instant,
    /// Simulated time of the last frame, s.
    from: f64,
    /// Wall time spent on work since then.
    spent: Duration,
}

impl RealTime {
    /// Real-time mode that is off.
    pub fn new() -> Self {
        Self { controller: None, since: Instant::now(), from: 0.0, spent: Duration::ZERO }
    }

    /// Switches the mode on, with full effort, or off.
    pub fn switch(&mut self, on: bool) {
        self.controller = on.then(EffortController::new);
    }

    /// Whether the mode is on.
    pub fn is_on(&self) -> bool {
        self.controller.is_some()
    }

    /// The controller, if the mode is on.
    pub fn controller(&self) -> Option<&EffortController> {
        self.controller.as_ref()
    }

    /// The effort of the next step: 1 unless the mode is on and the steps do not fit.
    pub fn effort(&self) -> f64 {
        self.controller.as_ref().map_or(1.0, EffortController::effort)
    }

    /// Starts measuring again at simulated time t, after time stood still or jumped.
    pub fn set(&mut self, t: f64) {
        (self.since, self.from, self.spent) = (Instant::now(), t, Duration::ZERO);
        if let Some(controller) = &mut self.controller {
            controller.pause();
        }
    }

    /// Adds wall time that was spent on work.
    pub fn spend(&mut self, work: Duration) {
        self.spent += work;
    }

    /// A frame was sent at simulated time t. `share` is the share of the wall time that work may take.
    pub fn frame(&mut self, t: f64, speed: Option<f64>, share: f64) {
        let (wall, spent, gone) = (self.since.elapsed(), self.spent, t - self.from);
        (self.since, self.from, self.spent) = (Instant::now(), t, Duration::ZERO);
        if let Some(controller) = &mut self.controller {
            controller.frame(wall.as_secs_f64(), spent.as_secs_f64(), gone, speed.unwrap_or(1.0), share);
        }
    }
}
