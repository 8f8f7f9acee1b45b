//! What a session sends to its pages.

use super::Session;
use super::playback::FRAME_INTERVAL;
use crate::channel::Event;
use crate::error::StepFailure;
use crate::hello::hello;
use crate::pane::{self, FrameTiming, PaneEnergy, labels};
use serde_json::{Value, json};
use std::time::Instant;
use tokio::sync::mpsc;

impl Session {
    /// Sends a new page all that the others know.
    pub(super) fn welcome(&mut self, listener: mpsc::Sender<Event>) {
        let geometry = pane::geometry(&self.panes, self.geometry_version);
        let known = [hello(&self.name), self.status(), self.descriptions()];
        for text in known.into_iter().chain(self.jobs.last_event()) {
            let _ = listener.try_send(Event::Text(text));
        }
        if listener.try_send(Event::Binary(geometry)).is_ok() {
            self.listeners.push(listener);
        }
        self.changed = true;
    }

    /// Sends a text to all pages.
    pub(super) fn send(&mut self, text: String) {
        self.send_event(&Event::Text(text));
    }

    /// Sends an event to all pages. Pages that have disconnected or are too far behind are removed.
    fn send_event(&mut self, event: &Event) {
        self.listeners.retain(|listener| listener.try_send(event.clone()).is_ok());
    }

    /// Sends the event `status`.
    pub(super) fn send_status(&mut self) {
        let status = self.status();
        self.send(status);
    }

    fn status(&self) -> String {
        let contents = json!({
            "field": self.contents.field.name(),
            "forces": self.contents.forces,
            "outside": self.contents.outside,
            "momenta": self.contents.momenta,
            "contacts": self.contents.contacts,
            "inside": self.contents.inside,
        });
        json!({
            "event": "status",
            "running": self.running,
            "speed": self.clock.speed,
            "budget_ms": 1e3 * self.budget.as_secs_f64(),
            "realtime": self.realtime.is_on(),
            "can_undo": self.undo.last().map(|entry| entry.what.clone()),
            "show": contents,
        })
        .to_string()
    }

    /// Sends the event `panes`, after a change that leaves the geometry as it is.
    pub(super) fn send_descriptions(&mut self) {
        let panes = self.descriptions();
        self.send(panes);
    }

    fn descriptions(&self) -> String {
        let labels = labels(&self.panes);
        let panes: Vec<Value> = self.panes.iter().zip(&labels).map(|(p, label)| p.describe(label)).collect();
        json!({ "event": "panes", "panes": panes }).to_string()
    }

    /// Sends `panes`, the geometry and `status`, after the panes have changed.
    pub(super) fn send_panes(&mut self) {
        self.geometry_version += 1;
        self.changed = true;
        let inside = self.contents.inside;
        self.panes.iter_mut().for_each(|pane| pane.show_inside(inside));
        self.send_descriptions();
        self.send_event(&Event::Binary(pane::geometry(&self.panes, self.geometry_version)));
        self.send_status();
    }

    /// Pauses, and tells why pane number `i` cannot continue.
    pub(super) fn send_failure(&mut self, i: usize, failure: &StepFailure) {
        self.running = false;
        let Some(pane) = self.panes.get(i) else { return };
        let remedies = pane.remedies(i, self.undo.last().map(|entry| entry.what.as_str()));
        let event = json!({
            "event": "failure",
            "pane": i,
            "code": failure.code(),
            "text": failure.to_string(),
            "remedies": remedies,
        });
        self.send(event.to_string());
        self.send_status();
    }

    /// Publishes a frame. Panes whose state is not sound are restored first.
    pub(super) fn send_frame(&mut self) {
        let began = Instant::now();
        let mut failures = Vec::new();
        let mut energies: Vec<PaneEnergy> = Vec::with_capacity(self.panes.len());
        for (i, pane) in self.panes.iter_mut().enumerate() {
            energies.push(pane.approve().unwrap_or_else(|failure| {
                failures.push((i, failure));
                pane.energy()
            }));
        }
        for (i, failure) in &failures {
            self.send_failure(*i, failure);
        }
        self.frame_number += 1;
        let timing = FrameTiming { behind: self.clock.behind(), controller: self.realtime.controller() };
        let numbers = [self.frame_number, self.geometry_version];
        self.frames.send_replace(pane::frame(&self.panes, &energies, self.contents, numbers, timing));
        (self.last_frame, self.changed) = (Instant::now(), false);
        if let Some(next) = self.next_step().filter(|_| self.running) {
            self.realtime.spend(began.elapsed());
            let share = self.budget.as_secs_f64() / FRAME_INTERVAL.max(self.budget).as_secs_f64();
            self.realtime.frame(next.t, self.clock.speed, share);
        }
    }
}
