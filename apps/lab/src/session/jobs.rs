//! The background jobs of a session.

use super::Session;
use crate::channel::{JobOutcome, JobReport, JobResult};
use crate::error::LabError;
use crate::job::{BackgroundJob, JobTask, SceneSource, job_folder};
use serde::Serialize;
use serde_json::Value;

/// The event `job`.
#[derive(Serialize)]
struct JobEvent {
    event: &'static str,
    job: u64,
    kind: &'static str,
    pane: usize,
    title: String,
    state: &'static str,
    text: String,
    share: f64,
    result: Option<Value>,
}

/// The jobs of a session: the one that is running, and the last event about a job.
#[derive(Default)]
pub struct SessionJobs {
    /// Number of jobs so far.
    count: u64,
    running: Option<BackgroundJob>,
    event: Option<JobEvent>,
    /// Number of the last comparison. Only its report is kept.
    last_compare: Option<u64>,
}

impl SessionJobs {
    /// The last event about a job, for a page that joins.
    pub fn last_event(&self) -> Option<String> {
        self.event.as_ref().and_then(|event| serde_json::to_string(event).ok())
    }
}

impl Session {
    /// Starts a job for one of the panes.
    pub(super) fn start_job(&mut self, task: JobTask) -> Result<(), LabError> {
        if self.jobs.running.is_some() {
            return Err(LabError::JobRunning);
        }
        let panes = self.panes.len();
        let pane = self.pane(task.pane())?;
        task.validate(pane.elements(), panes)?;
        let (source, title, label) = (SceneSource::of(pane), pane.scene.title.clone(), pane.label.clone());
        let permit = self.job_slot.take().ok_or(LabError::JobElsewhere)?;
        self.jobs.count += 1;
        let number = self.jobs.count;
        if let JobTask::Compare(_) = task
            && let Some(before) = self.jobs.last_compare.replace(number)
        {
            let _ = std::fs::remove_dir_all(job_folder(&self.folder, before));
        }
        self.jobs.event = Some(JobEvent {
            event: "job",
            job: number,
            kind: task.kind(),
            pane: task.pane(),
            title: label.unwrap_or(title),
            state: "running",
            text: String::new(),
            share: 0.0,
            result: None,
        });
        let folder = job_folder(&self.folder, number);
        let started = BackgroundJob::start(number, permit, self.inbox.clone(), move |reporter| {
            task.run(source, &folder, reporter)
        });
        self.jobs.running = Some(started.map_err(LabError::system("it cannot begin"))?);
        self.send_job();
        Ok(())
    }

    /// Asks the running job to stop.
    pub(super) fn cancel_job(&mut self) -> Result<(), LabError> {
        self.jobs.running.as_ref().ok_or(LabError::NothingToCancel)?.cancel();
        self.update_job(|event| event.state = "cancelling");
        Ok(())
    }

    /// Handles a report of a job. Reports of earlier jobs are ignored.
    pub(super) fn handle_job_report(&mut self, number: u64, report: JobReport) {
        if self.jobs.running.as_ref().is_none_or(|job| job.number != number) {
            return;
        }
        let outcome = match report {
            JobReport::Progress(text, share) => {
                return self.update_job(|event| (event.text, event.share) = (text, share));
            }
            JobReport::Ended(outcome) => outcome,
        };
        let (state, text, result) = match outcome {
            JobOutcome::Done(result) => ("done", String::new(), Some(result)),
            JobOutcome::Cancelled(result) => ("cancelled", String::new(), result),
            JobOutcome::Failed(why) => ("failed", self.without_folder(&why), None),
        };
        self.jobs.running = None;
        let result = result.map(|result| self.open_result(result));
        self.update_job(|event| {
            (event.state, event.text, event.share, event.result) = (state, text, 1.0, result);
        });
    }

    /// Opens the scene that the job made, if it made one. Returns what the page is told.
    fn open_result(&mut self, result: JobResult) -> Value {
        let JobResult { mut told, scene } = result;
        if let (Some((path, label)), Some(told)) = (scene, told.as_object_mut()) {
            let opened = self.open_beside(&path, &label);
            told.insert("opened".into(), opened.is_ok().into());
            if let (Err(why), Some(Value::Array(notes))) = (opened, told.get_mut("notes")) {
                notes.insert(0, format!("the coarse body was not opened: {why}").into());
            }
        }
        told
    }

    /// Changes the event about the job, and sends it.
    fn update_job(&mut self, change: impl FnOnce(&mut JobEvent)) {
        if let Some(event) = self.jobs.event.as_mut() {
            change(event);
            self.send_job();
        }
    }

    fn send_job(&mut self) {
        if let Some(event) = self.jobs.last_event() {
            self.send(event);
        }
    }
}
