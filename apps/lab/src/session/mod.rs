//! The thread of a session. It receives requests, makes steps in between, and sends events and frames.

#![deny(clippy::indexing_slicing)]

mod allowed_files;
mod broadcast;
mod clock;
mod jobs;
mod playback;
mod realtime;
mod requests;
mod scenes;

use crate::channel::{Event, Incoming};
use crate::error::LabError;
use crate::job::JobSlot;
use crate::pane::{FrameContents, Pane};
use allowed_files::AllowedFiles;
use axum::body::Bytes;
use clock::Clock;
use jobs::SessionJobs;
use playback::{BUDGET, FRAME_INTERVAL};
use realtime::RealTime;
use scenes::UndoEntry;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// A session without pages ends after this time.
const ABANDONED: Duration = Duration::from_secs(120);

/// A session: its panes, its pages, and the settings of the page that all its pages share.
pub struct Session {
    name: String,
    /// The scene that the session begins with.
    first_scene: String,
    /// The folder for files from pages and for results of jobs.
    folder: PathBuf,
    /// The mesh files that scenes from pages may name.
    allowed_files: AllowedFiles,
    /// Where the newest frame is published.
    frames: watch::Sender<Bytes>,
    listeners: Vec<mpsc::Sender<Event>>,
    panes: Vec<Pane>,
    running: bool,
    clock: Clock,
    /// Wall time that the steps between two frames may take.
    budget: Duration,
    realtime: RealTime,
    contents: FrameContents,
    undo: Vec<UndoEntry>,
    /// Number of the last geometry.
    geometry_version: u64,
    /// Number of the last frame.
    frame_number: u64,
    /// When the last frame was sent.
    last_frame: Instant,
    /// Whether something has changed since the last frame.
    changed: bool,
    job_slot: JobSlot,
    jobs: SessionJobs,
    /// The sending end of the inbox, for jobs.
    inbox: SyncSender<Incoming>,
}

impl Session {
    /// A session that begins with a scene, given by name or path. If that scene no longer exists, it begins with the default
    /// scene.
    pub fn new(
        name: &str,
        first_scene: &str,
        folder: PathBuf,
        frames: watch::Sender<Bytes>,
        inbox: SyncSender<Incoming>,
        job_slot: JobSlot,
    ) -> Self {
        let opened = lilyan_scene::build::open(first_scene, &[]).ok();
        let mut session = Self {
            name: name.to_owned(),
            first_scene: first_scene.to_owned(),
            allowed_files: AllowedFiles::new(&folder, opened.as_ref()),
            folder,
            frames,
            listeners: Vec::new(),
            panes: Vec::new(),
            running: true,
            clock: Clock::new(),
            budget: BUDGET,
            realtime: RealTime::new(),
            contents: FrameContents::default(),
            undo: Vec::new(),
            geometry_version: 0,
            frame_number: 0,
            last_frame: Instant::now(),
            changed: true,
            job_slot,
            jobs: SessionJobs::default(),
            inbox,
        };
        let default = lilyan_scene::library::SCENES.first().map_or("", |s| s.name);
        for scene in [first_scene, default] {
            if session.panes.is_empty() {
                let _ = session.open(scene);
            }
        }
        session
    }

    /// Works until the program ends or no page has been connected for a long time.
    pub fn run(&mut self, incoming: &Receiver<Incoming>, clients: &AtomicUsize) {
        let mut last_client = Instant::now();
        loop {
            match incoming.recv_timeout(self.idle_time()) {
                Ok(message) => {
                    if !self.receive(message) {
                        return;
                    }
                    // Handles all waiting messages, so that only the newest position of a dragged vertex counts.
                    while let Ok(message) = incoming.try_recv() {
                        if !self.receive(message) {
                            return;
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if clients.load(Ordering::SeqCst) == 0 {
                if last_client.elapsed() > ABANDONED {
                    return;
                }
                // The simulation stands still while no page is connected.
                std::thread::sleep(Duration::from_millis(20));
                self.reset_clock();
                continue;
            }
            last_client = Instant::now();
            self.make_due_steps();
            if self.changed && self.last_frame.elapsed() >= FRAME_INTERVAL {
                self.send_frame();
            }
            self.update_step_limits();
        }
    }

    /// Handles a message; `false` ends the session.
    fn receive(&mut self, message: Incoming) -> bool {
        match message {
            Incoming::End => return false,
            // The page has disconnected already.
            Incoming::Join(listener) if listener.is_closed() => {}
            Incoming::Join(listener) => self.welcome(listener),
            Incoming::Say(text, sender) => self.handle_text(&text, &sender),
            Incoming::Job(number, report) => self.handle_job_report(number, report),
        }
        true
    }

    /// Finds the step limits of panes whose settings changed a moment ago, and tells them.
    fn update_step_limits(&mut self) {
        let due = self.panes.iter_mut().filter(|pane| pane.step_limit_is_due());
        if due.map(Pane::find_step_limit).count() > 0 {
            self.send_descriptions();
        }
    }

    /// The pane of this number.
    fn pane(&mut self, index: usize) -> Result<&mut Pane, LabError> {
        let count = self.panes.len();
        self.panes.get_mut(index).ok_or(LabError::UnknownPane { index, count })
    }

    /// The text without the path of the session's folder, which pages need not know.
    fn without_folder(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.display()), "")
    }
}
