//! A thread that does a job, reports its progress, and can be cancelled.

use crate::channel::{Incoming, JobOutcome, JobReport};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// Time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// The only place for a background job, shared by all sessions.
#[derive(Clone, Default)]
pub struct JobSlot(Arc<AtomicBool>);

impl JobSlot {
    /// Takes the place if it is free. It is free again when the permit is dropped.
    pub fn take(&self) -> Option<JobPermit> {
        (!self.0.swap(true, Ordering::SeqCst)).then(|| JobPermit(self.0.clone()))
    }

    /// Whether a job is running.
    pub fn is_taken(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// The right to run a background job.
pub struct JobPermit(Arc<AtomicBool>);

impl Drop for JobPermit {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// A running job, as its session sees it. Dropping it cancels the job.
pub struct BackgroundJob {
    /// Number of the job in its session.
    pub number: u64,
    cancel: Arc<AtomicBool>,
}

impl BackgroundJob {
    /// Starts the thread.
    pub fn start(
        number: u64,
        permit: JobPermit,
        inbox: SyncSender<Incoming>,
        work: impl FnOnce(&mut ProgressReporter) -> JobOutcome + Send + 'static,
    ) -> std::io::Result<Self> {
        let cancel = Arc::new(AtomicBool::new(false));
        let mut reporter = ProgressReporter { number, cancel: cancel.clone(), inbox, reported: None };
        std::thread::Builder::new().name("job".into()).spawn(move || {
            let work =
                std::panic::AssertUnwindSafe(|| lilyan_parallel::threads::alone(|| work(&mut reporter)));
            let outcome = match std::panic::catch_unwind(work) {
                Ok(outcome) => outcome,
                Err(payload) if payload.is::<CancelledByUser>() => JobOutcome::Cancelled(None),
                Err(_) => JobOutcome::Failed(
                    "the job failed because of a bug in the program; the simulation goes on".into(),
                ),
            };
            drop(permit);
            // The session may have ended meanwhile.
            let _ = reporter.inbox.send(Incoming::Job(number, JobReport::Ended(outcome)));
        })?;
        Ok(Self { number, cancel })
    }

    /// Asks the job to stop.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::SeqCst);
    }
}

impl Drop for BackgroundJob {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Payload of the unwinding that ends a cancelled job.
struct CancelledByUser;

/// Reports the progress of a job to its session.
pub struct ProgressReporter {
    number: u64,
    cancel: Arc<AtomicBool>,
    inbox: SyncSender<Incoming>,
    /// When the last report was sent.
    reported: Option<Instant>,
}

impl ProgressReporter {
    /// Reports what is being done, unless a report was sent just before. `false`: the job has to stop.
    pub fn report(&mut self, text: impl FnOnce() -> String, share: f64) -> bool {
        if self.reported.is_none_or(|at| at.elapsed() >= REPORT_INTERVAL) {
            self.reported = Some(Instant::now());
            let _ = self.inbox.try_send(Incoming::Job(self.number, JobReport::Progress(text(), share)));
        }
        !self.cancel.load(Ordering::SeqCst)
    }

    /// The same for work that has no way to stop: a cancelled job is unwound from here. The job owns all data that it
    /// changes, so no other thread sees them unfinished.
    pub fn report_or_unwind(&mut self, text: &str, share: f64) {
        if !self.report(|| text.to_owned(), share) {
            std::panic::resume_unwind(Box::new(CancelledByUser));
        }
    }
}
