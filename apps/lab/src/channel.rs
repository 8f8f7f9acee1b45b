//! What the threads of the lab send each other: connections, sessions and background jobs.

use axum::body::Bytes;
use serde_json::Value;
use std::path::PathBuf;
use tokio::sync::mpsc;

/// A message from a session to one page.
#[derive(Clone, Debug)]
pub enum Event {
    /// JSON.
    Text(String),
    /// Geometry or a frame.
    Binary(Bytes),
}

/// A message to the thread of a session.
pub enum Incoming {
    /// A page joins the session and listens here.
    Join(mpsc::Sender<Event>),
    /// A page sent this text; answers that concern only this page go to the sender.
    Say(String, mpsc::Sender<Event>),
    /// The background job of this number reports.
    Job(u64, JobReport),
    /// The program ends.
    End,
}

/// A report of a background job.
pub enum JobReport {
    /// What the job is doing, and the finished share from 0 to 1.
    Progress(String, f64),
    /// The job has ended.
    Ended(JobOutcome),
}

/// How a background job ended.
pub enum JobOutcome {
    /// The job finished.
    Done(JobResult),
    /// The job failed for this reason.
    Failed(String),
    /// The job was cancelled; a part of the result may exist.
    Cancelled(Option<JobResult>),
}

/// The result of a background job.
#[derive(Default)]
pub struct JobResult {
    /// What the page shows.
    pub told: Value,
    /// A scene file that is opened as a new pane, and the label of the pane.
    pub scene: Option<(PathBuf, String)>,
}
