//! When a session makes steps: play, pause, single steps, speed.

use super::Session;
use crate::error::LabError;
use crate::pane::{Pane, elements};
use std::time::{Duration, Instant};

/// Time between frames: sixty per second.
pub const FRAME_INTERVAL: Duration = Duration::from_micros(16_500);
/// Wall time that the steps between two frames may take at the start.
pub const BUDGET: Duration = Duration::from_millis(16);

/// The next step of a session.
pub struct NextStep {
    /// Number of the pane.
    pub pane: usize,
    /// Simulated time of the pane, s.
    pub t: f64,
    /// Length of the step, s.
    pub step: f64,
}

impl Session {
    /// How long the session has nothing to do.
    pub(super) fn idle_time(&mut self) -> Duration {
        let until_frame = FRAME_INTERVAL.saturating_sub(self.last_frame.elapsed());
        let idle = if self.changed { until_frame } else { Duration::from_millis(100) };
        match self.next_step() {
            Some(next) if self.running => self.clock.wait(next.t, next.step).min(idle),
            _ => idle,
        }
    }

    /// The step that ends earliest.
    pub(super) fn next_step(&self) -> Option<NextStep> {
        let all = self.panes.iter().enumerate();
        let all = all.map(|(pane, p)| NextStep { pane, t: p.time(), step: p.step() });
        all.min_by(|a, b| (a.t + a.step).total_cmp(&(b.t + b.step)))
    }

    /// Makes the steps that are due, as many as fit into the budget.
    pub(super) fn make_due_steps(&mut self) {
        let began = Instant::now();
        while self.running && began.elapsed() < self.budget {
            let Some(next) = self.next_step() else { break };
            if self.clock.wait(next.t, next.step) > Duration::ZERO {
                break;
            }
            self.advance(next.pane);
        }
        self.realtime.spend(began.elapsed());
    }

    /// Makes one step of pane number `i`.
    fn advance(&mut self, i: usize) {
        let effort = self.realtime.effort();
        let Some(pane) = self.panes.get_mut(i) else { return };
        pane.set_effort(effort);
        let advanced = pane.advance();
        self.changed = true;
        if let Err(failure) = advanced {
            self.send_failure(i, &failure);
        }
    }

    /// Pauses and makes one step. Panes with shorter steps make as many as fit into the longest step.
    pub(super) fn single_step(&mut self) {
        self.set_running(false);
        let Some(first) = self.next_step() else { return };
        let longest = self.panes.iter().map(Pane::step).fold(0.0, f64::max);
        while let Some(next) = self.next_step()
            && next.t + next.step <= first.t + longest * (1.0 + 1e-9)
        {
            self.advance(next.pane);
            if self.panes.get(next.pane).map(Pane::time) == Some(next.t) {
                break;
            }
        }
    }

    /// Plays or pauses.
    pub(super) fn set_running(&mut self, running: bool) {
        self.running = running;
        self.reset_clock();
        self.send_status();
    }

    /// Sets the speed: simulated seconds per second, or as fast as possible.
    pub(super) fn set_speed(&mut self, speed: Option<f64>) {
        self.clock.speed = speed;
        self.set_running(self.running);
    }

    /// Sets the wall time that the steps between two frames may take, ms.
    pub(super) fn set_budget(&mut self, ms: f64) {
        self.budget = Duration::from_secs_f64(1e-3 * ms.clamp(1.0, 1000.0));
        self.send_status();
    }

    /// Switches real-time mode on or off.
    pub(super) fn set_realtime(&mut self, on: bool) {
        self.realtime.switch(on);
        self.reset_clock();
        self.panes.iter_mut().for_each(|pane| pane.set_effort(1.0));
        self.changed = true;
        self.send_status();
    }

    /// Lets simulated time continue from the state of the panes, now.
    pub(super) fn reset_clock(&mut self) {
        let t = self.next_step().map_or(0.0, |next| next.t);
        self.clock.set(t);
        self.realtime.set(t);
    }

    /// Sets all panes back to t = 0. Their settings stay.
    pub(super) fn reset(&mut self) -> Result<(), LabError> {
        let mut fresh = Vec::new();
        for pane in &self.panes {
            let mut new = Pane::new(pane.document.clone(), &pane.origin, elements(&fresh))?;
            new.label.clone_from(&pane.label);
            fresh.push(new);
        }
        self.panes = fresh;
        self.send_panes();
        self.set_running(self.running);
        Ok(())
    }
}
