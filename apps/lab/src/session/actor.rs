//! The session's thread: requests in, steps in between, events and frames out.

#![deny(clippy::indexing_slicing)]

mod scenes;

use super::clock::Clock;
use super::files::Files;
use super::frame::{self, Show};
use super::hello::hello;
use super::job::{Desk, Jobs, Task};
use super::message::{self, Request};
use super::pane::{Pane, labels};
use super::realtime::RealTime;
use super::{Event, Incoming};
use axum::body::Bytes;
use lilyan_scene::document::Node;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Time between frames: sixty in a second.
const FRAME: Duration = Duration::from_micros(16_500);
/// How much of it steps may take.
const BUDGET: Duration = Duration::from_millis(16);
/// A session that nobody looks at waits so long for a page to come back.
const ALONE: Duration = Duration::from_secs(120);

/// What undo takes back: what it was, and the scenes before.
struct Before {
    what: String,
    when: Instant,
    documents: Vec<Node>,
}

/// A session.
pub struct Actor {
    name: String,
    /// The scene that it begins with.
    first: String,
    pub(super) folder: PathBuf,
    /// What pages may name in their scenes.
    files: Files,
    publish: watch::Sender<Bytes>,
    listeners: Vec<mpsc::Sender<Event>>,
    pub(super) panes: Vec<Pane>,
    running: bool,
    clock: Clock,
    budget: Duration,
    realtime: RealTime,
    show: Show,
    before: Vec<Before>,
    /// Counts geometries and frames.
    version: u64,
    number: u64,
    /// When the last frame went out, and whether something is new since then.
    shown: Instant,
    stale: bool,
    /// Where the lab works in the background, and what this session has done there.
    pub(super) desk: Desk,
    pub(super) jobs: Jobs,
    /// What is put in here is heard.
    pub(super) inbox: SyncSender<Incoming>,
}

type Done = Result<(), String>;

impl Actor {
    /// A session that begins with a scene by name or path, or, should that have gone since the lab was opened, with the
    /// default scene.
    pub fn new(
        name: &str,
        scene: &str,
        folder: PathBuf,
        publish: watch::Sender<Bytes>,
        inbox: SyncSender<Incoming>,
        desk: Desk,
    ) -> Self {
        let mut actor = Self {
            name: name.to_owned(),
            first: scene.to_owned(),
            files: Files::new(&folder, lilyan_scene::build::open(scene, &[]).ok().as_ref()),
            folder,
            publish,
            listeners: Vec::new(),
            panes: Vec::new(),
            running: true,
            clock: Clock::new(),
            budget: BUDGET,
            realtime: RealTime::new(),
            show: Show::default(),
            before: Vec::new(),
            version: 0,
            number: 0,
            shown: Instant::now(),
            stale: true,
            desk,
            jobs: Jobs::default(),
            inbox,
        };
        let default = lilyan_scene::library::SCENES.first().map_or("", |s| s.name);
        for wanted in [scene, default] {
            if actor.panes.is_empty() {
                let _ = actor.open(wanted);
            }
        }
        actor
    }

    /// Works until the program ends or nobody has listened for long.
    pub fn run(&mut self, incoming: &Receiver<Incoming>, clients: &AtomicUsize) {
        let mut alone = Instant::now();
        loop {
            match incoming.recv_timeout(self.pause()) {
                Ok(message) => {
                    if !self.hear(message) {
                        return;
                    }
                    // All that has come: the newest place of a dragging hand is the one to use.
                    while let Ok(message) = incoming.try_recv() {
                        if !self.hear(message) {
                            return;
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if clients.load(Ordering::SeqCst) == 0 {
                if alone.elapsed() > ALONE {
                    return;
                }
                // Nothing moves while nobody looks.
                std::thread::sleep(Duration::from_millis(20));
                self.set_clock();
                continue;
            }
            alone = Instant::now();
            self.work();
            if self.stale && self.shown.elapsed() >= FRAME {
                self.send_frame();
            }
            self.judge();
        }
    }

    /// How long nothing has to be done.
    fn pause(&mut self) -> Duration {
        let until_frame = FRAME.saturating_sub(self.shown.elapsed());
        let idle = if self.stale { until_frame } else { Duration::from_millis(100) };
        match self.next() {
            Some((_, t, step)) if self.running => self.clock.wait(t, step).min(idle),
            _ => idle,
        }
    }

    /// The pane that is furthest behind, its time and its step.
    fn next(&self) -> Option<(usize, f64, f64)> {
        let ends = self.panes.iter().map(|p| (p.time(), p.built.simulation.step));
        let all = ends.enumerate().map(|(i, (t, step))| (i, t, step));
        all.min_by(|a, b| (a.1 + a.2).total_cmp(&(b.1 + b.2)))
    }

    /// Steps that are due, as many as fit between two frames.
    fn work(&mut self) {
        let began = Instant::now();
        while self.running && began.elapsed() < self.budget {
            let Some((i, t, step)) = self.next() else { break };
            if self.clock.wait(t, step) > Duration::ZERO {
                break;
            }
            self.step(i);
        }
        self.realtime.spend(began.elapsed());
    }

    fn step(&mut self, i: usize) {
        let effort = self.realtime.effort();
        let Some(pane) = self.panes.get_mut(i) else { return };
        pane.set_effort(effort);
        let failed = pane.advance();
        self.stale = true;
        if let Err(why) = failed {
            self.fail(i, &why);
        }
    }

    fn fail(&mut self, i: usize, why: &str) {
        self.running = false;
        let Some(pane) = self.panes.get(i) else { return };
        let remedies = pane.remedies(i, self.before.last().map(|before| before.what.as_str()));
        self.tell(json!({ "event": "failure", "pane": i, "text": why, "remedies": remedies }).to_string());
        self.tell_status();
    }

    /// Publishes where everything is, unless it is nowhere.
    fn send_frame(&mut self) {
        let began = Instant::now();
        for i in 0..self.panes.len() {
            let Some(Err(why)) = self.panes.get_mut(i).map(Pane::approve) else { continue };
            self.fail(i, &why);
        }
        self.number += 1;
        self.publish.send_replace(frame::frame(
            &self.panes,
            self.show,
            self.number,
            self.version,
            self.clock.behind(),
            self.realtime.controller(),
        ));
        (self.shown, self.stale) = (Instant::now(), false);
        if let Some((_, t, _)) = self.next().filter(|_| self.running) {
            self.realtime.spend(began.elapsed());
            let share = self.budget.as_secs_f64() / FRAME.max(self.budget).as_secs_f64();
            self.realtime.frame(t, self.clock.speed, share);
        }
    }

    pub(super) fn tell(&mut self, text: String) {
        self.tell_all(&Event::Text(text));
    }

    /// Who does not listen any more, or is too far behind, is told nothing more.
    fn tell_all(&mut self, event: &Event) {
        self.listeners.retain(|listener| listener.try_send(event.clone()).is_ok());
    }

    fn status(&self) -> String {
        let undo = self.before.last().map(|b| b.what.clone());
        let show = json!({ "field": self.show.field.name(), "forces": self.show.forces, "contacts": self.show.contacts });
        json!({
            "event": "status",
            "running": self.running,
            "speed": self.clock.speed,
            "budget_ms": 1e3 * self.budget.as_secs_f64(),
            "realtime": self.realtime.is_on(),
            "can_undo": undo,
            "show": show,
        })
        .to_string()
    }

    fn tell_status(&mut self) {
        let status = self.status();
        self.tell(status);
    }

    fn described(&self) -> String {
        let labels = labels(&self.panes);
        let panes: Vec<Value> = self.panes.iter().zip(&labels).map(|(p, label)| p.describe(label)).collect();
        json!({ "event": "panes", "panes": panes }).to_string()
    }

    /// Tells what has changed about the panes without a change in their shapes.
    pub(super) fn tell_described(&mut self) {
        let panes = self.described();
        self.tell(panes);
    }

    /// Tells everything that pages know of the panes, after something in them changed.
    fn tell_panes(&mut self) {
        self.version += 1;
        self.stale = true;
        let (panes, geometry) = (self.described(), frame::geometry(&self.panes, self.version));
        self.tell(panes);
        self.tell_all(&Event::Binary(geometry));
        self.tell_status();
    }

    fn hear(&mut self, message: Incoming) -> bool {
        match message {
            Incoming::End => return false,
            // A page that has gone already needs no welcome.
            Incoming::Join(listener) if listener.is_closed() => {}
            Incoming::Join(listener) => {
                let geometry = frame::geometry(&self.panes, self.version);
                let known = [hello(&self.name), self.status(), self.described()];
                for text in known.into_iter().chain(self.jobs.told()) {
                    let _ = listener.try_send(Event::Text(text));
                }
                if listener.try_send(Event::Binary(geometry)).is_ok() {
                    self.listeners.push(listener);
                }
                self.stale = true;
            }
            Incoming::Say(text, own) => {
                if let Err(why) = Request::read(&text).and_then(|request| self.obey(request, &own)) {
                    let _ = own.try_send(Event::Text(message::error(&message::name_of(&text), &why)));
                }
            }
            Incoming::Job(number, word) => self.hear_job(number, word),
        }
        true
    }

    fn obey(&mut self, request: Request, own: &mpsc::Sender<Event>) -> Done {
        match request {
            Request::Open { scene: Some(scene), text: None, name: None } => self.open_known(&scene)?,
            Request::Open { scene: None, text: Some(text), name } => {
                self.open_text(&text, name.as_deref())?
            }
            Request::Open { .. } => {
                return Err("give a built-in scene, or the text of one and its name".into());
            }
            Request::Gallery { name } => self.gallery(&name)?,
            Request::Mesh { name } => self.mesh(&name)?,
            Request::Play {} => self.go(true),
            Request::Pause {} => self.go(false),
            Request::Step {} => {
                self.go(false);
                if let Some((_, first, _)) = self.next() {
                    // Panes with shorter steps go as far as the one with the longest.
                    let longest = self.panes.iter().map(|p| p.built.simulation.step).fold(0.0, f64::max);
                    while let Some((i, t, step)) = self.next()
                        && t + step <= first + longest * (1.0 + 1e-9)
                    {
                        let before = self.panes.get(i).map(Pane::time);
                        self.step(i);
                        if self.panes.get(i).map(Pane::time) == before {
                            break;
                        }
                    }
                }
            }
            Request::Reset {} => self.reset()?,
            Request::Speed { value } => {
                self.clock.speed = value;
                self.go(self.running);
            }
            Request::Budget { ms } => {
                self.budget = Duration::from_secs_f64(1e-3 * ms.clamp(1.0, 1000.0));
                self.tell_status();
            }
            Request::Realtime { on } => {
                self.realtime.switch(on);
                self.set_clock();
                self.panes.iter_mut().for_each(|pane| pane.set_effort(1.0));
                self.stale = true;
                self.tell_status();
            }
            Request::Set { pane, changes } => self.set(pane, &changes)?,
            Request::Undo {} => self.undo()?,
            Request::Grab { pane, vertex, to } => {
                self.pane(pane)?.grab(vertex, to)?;
                self.stale = true;
            }
            Request::Release {} => {
                self.panes.iter_mut().filter(|p| p.grab.is_some()).for_each(|p| p.pull(None));
                self.stale = true;
            }
            Request::Pin { pane, vertices } => {
                let document = self.pane(pane)?.pinned(&vertices)?;
                self.change("pinning", vec![(pane, document)])?;
            }
            Request::Unpin { pane, vertices } => {
                let document = self.pane(pane)?.unpinned(vertices.as_deref())?;
                self.change("freeing", vec![(pane, document)])?;
            }
            Request::Force { pane, vertices, force } => {
                let document = self.pane(pane)?.forced(&vertices, force)?;
                self.change("a force", vec![(pane, document)])?;
            }
            Request::Kick { pane, vertices, momentum } => {
                self.pane(pane)?.kick(vertices.as_deref(), momentum)?;
                self.stale = true;
            }
            Request::Throw { pane, velocity } => {
                self.pane(pane)?.throw(velocity);
                self.stale = true;
            }
            Request::Check { pane } => self.begin(Task::Check(pane))?,
            Request::Compare(wanted) => self.begin(Task::Compare(wanted))?,
            Request::Coarsen(wanted) => self.begin(Task::Coarsen(wanted))?,
            Request::Cancel {} => self.cancel()?,
            Request::Split {} => self.split()?,
            Request::Close { pane } => {
                self.pane(pane)?;
                if self.panes.len() == 1 {
                    return Err("the last pane stays".into());
                }
                self.panes.remove(pane);
                self.before.clear();
                self.tell_panes();
            }
            Request::Show { field, forces, contacts } => {
                self.show.field = field.unwrap_or(self.show.field);
                self.show.forces = forces.unwrap_or(self.show.forces);
                self.show.contacts = contacts.unwrap_or(self.show.contacts);
                self.stale = true;
                self.tell_status();
            }
            Request::Save { pane, state } => {
                let pane = self.pane(pane)?;
                let (name, text) = (pane.file_name(state), pane.to_toml(state)?);
                let text = self.without_folder(&text);
                let file = json!({ "event": "file", "name": name, "text": text });
                let _ = own.try_send(Event::Text(file.to_string()));
            }
        }
        Ok(())
    }

    pub(super) fn pane(&mut self, i: usize) -> Result<&mut Pane, String> {
        let count = self.panes.len();
        self.panes
            .get_mut(i)
            .ok_or_else(|| format!("there is no pane {i}; there are {count}, counted from 0"))
    }

    fn go(&mut self, running: bool) {
        self.running = running;
        self.set_clock();
        self.tell_status();
    }

    /// Time goes on from where the panes are, and from now.
    fn set_clock(&mut self) {
        let t = self.next().map_or(0.0, |(_, t, _)| t);
        self.clock.set(t);
        self.realtime.set(t);
    }

    /// Panes that have come or gone cannot be brought back to what they were.
    pub(super) fn forget_changes(&mut self) {
        self.before.clear();
    }

    /// Where files from pages are kept is nobody's business.
    pub(super) fn without_folder(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.display()), "")
    }

    pub(super) fn reset(&mut self) -> Done {
        let mut fresh = Vec::new();
        for pane in &self.panes {
            let mut new = Pane::new(pane.document.clone(), &pane.origin, elements(&fresh))?;
            new.label.clone_from(&pane.label);
            fresh.push(new);
        }
        self.panes = fresh;
        self.tell_panes();
        self.go(self.running);
        Ok(())
    }
}

/// How many elements they have together.
pub(super) fn elements(panes: &[Pane]) -> usize {
    panes.iter().map(Pane::elements).sum()
}
