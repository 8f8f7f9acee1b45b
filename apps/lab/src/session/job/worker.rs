//! Work that takes long, in a thread of its own: it tells how far it is, and can be stopped.

use super::super::Incoming;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// Time between two words on how far it is.
const PACE: Duration = Duration::from_millis(100);

/// The place at which the lab works in the background: there is one, for all sessions.
#[derive(Clone, Default)]
pub struct Desk(Arc<AtomicBool>);

impl Desk {
    /// Takes the place, if it is free, until what is returned is dropped.
    pub fn take(&self) -> Option<Seat> {
        (!self.0.swap(true, Ordering::SeqCst)).then(|| Seat(self.0.clone()))
    }

    /// Whether somebody works there.
    pub fn taken(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// The right to work in the background.
pub struct Seat(Arc<AtomicBool>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// What a job says.
pub enum Word {
    /// What it is doing, and the share that is done.
    Progress(String, f64),
    /// How it ended.
    Ended(Ended),
}

/// How a job ended.
pub enum Ended {
    /// What came out.
    Done(Found),
    /// Why not.
    Failed(String),
    /// As it was told to; what there was by then.
    Cancelled(Option<Found>),
}

/// What came out of a job.
#[derive(Default)]
pub struct Found {
    /// For the page.
    pub told: Value,
    /// A scene to be opened, and what to call it.
    pub scene: Option<(PathBuf, String)>,
}

/// A job as those see it who wait for it.
pub struct Job {
    pub number: u64,
    cancel: Arc<AtomicBool>,
}

impl Job {
    /// Begins to work.
    pub fn begin(
        number: u64,
        seat: Seat,
        inbox: SyncSender<Incoming>,
        work: impl FnOnce(&mut Reporter) -> Ended + Send + 'static,
    ) -> std::io::Result<Self> {
        let cancel = Arc::new(AtomicBool::new(false));
        let mut reporter = Reporter { number, cancel: cancel.clone(), inbox, told: None };
        std::thread::Builder::new().name("job".into()).spawn(move || {
            let work = std::panic::AssertUnwindSafe(|| lilyan_solve::threads::alone(|| work(&mut reporter)));
            let ended = match std::panic::catch_unwind(work) {
                Ok(ended) => ended,
                Err(why) if why.is::<Left>() => Ended::Cancelled(None),
                Err(_) => Ended::Failed("the program made a mistake; what you see goes on".into()),
            };
            drop(seat);
            // Who has gone needs no answer.
            let _ = reporter.inbox.send(Incoming::Job(number, Word::Ended(ended)));
        })?;
        Ok(Self { number, cancel })
    }

    /// Asks it to stop.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::SeqCst);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Carried by the unwinding of work that was told to stop.
struct Left;

/// Tells how far a job is.
pub struct Reporter {
    number: u64,
    cancel: Arc<AtomicBool>,
    inbox: SyncSender<Incoming>,
    told: Option<Instant>,
}

impl Reporter {
    /// Tells what is being done, at times; `false` if it is to stop.
    pub fn tell(&mut self, text: impl FnOnce() -> String, share: f64) -> bool {
        if self.told.is_none_or(|told| told.elapsed() >= PACE) {
            self.told = Some(Instant::now());
            let _ = self.inbox.try_send(Incoming::Job(self.number, Word::Progress(text(), share)));
        }
        !self.cancel.load(Ordering::SeqCst)
    }

    /// The same for work that cannot be asked to stop: everything is left where it stands. The work owns all that
    /// it changes, so that nobody sees it half done.
    pub fn tell_or_leave(&mut self, text: &str, share: f64) {
        if !self.tell(|| text.to_owned(), share) {
            std::panic::resume_unwind(Box::new(Left));
        }
    }
}
