//! What takes long: check, compare and coarsen, in the background of a session. There is one such job at a time in the whole
//! lab; it works by itself in a thread, so that what moves keeps moving.

mod check;
pub mod coarsen;
pub mod compare;
mod worker;

pub use worker::{Desk, Word};

use super::actor::{Actor, elements};
use super::pane::{Pane, scene_of};
use super::{ELEMENTS, PANES, words};
use lilyan_scene::build::{Built, build};
use lilyan_scene::document::{Node, SceneError, set_value};
use lilyan_scene::schema::Scene;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use worker::{Ended, Found, Job, Reporter};

/// The folder of a job's files inside the session's.
pub fn folder(session: &Path, number: u64) -> PathBuf {
    session.join(format!("job-{number}"))
}

/// A pane's scene, settings included, as a job takes it along.
pub struct Source {
    document: Node,
    origin: String,
}

impl Source {
    fn of(pane: &Pane) -> Self {
        Self { document: pane.document.clone(), origin: pane.origin.clone() }
    }

    fn set(&mut self, path: &str, value: Node) -> Result<(), String> {
        set_value(&mut self.document, path, Some(value)).map_err(|e| words::of(&e))
    }

    fn scene(&self) -> Result<Scene, SceneError> {
        scene_of(&self.document, &self.origin)
    }

    fn build(&self) -> Result<(Scene, Built), String> {
        let scene = self.scene().map_err(|e| words::of(&e))?;
        let built = build(&scene).map_err(|e| words::of(&e))?;
        Ok((scene, built))
    }
}

/// What is to be done.
pub enum Task {
    Check(usize),
    Compare(compare::Wanted),
    Coarsen(coarsen::Wanted),
}

impl Task {
    fn kind(&self) -> &'static str {
        match self {
            Self::Check(_) => "check",
            Self::Compare(_) => "compare",
            Self::Coarsen(_) => "coarsen",
        }
    }

    fn pane(&self) -> usize {
        match self {
            Self::Check(pane) => *pane,
            Self::Compare(wanted) => wanted.pane(),
            Self::Coarsen(wanted) => wanted.pane(),
        }
    }

    fn refuse(&self, elements: usize, panes: usize) -> Result<(), String> {
        match self {
            Self::Check(_) => Ok(()),
            Self::Compare(wanted) => wanted.check(elements),
            Self::Coarsen(_) if panes >= PANES => {
                Err(format!("{PANES} panes are all there is room for; close one for the coarse body"))
            }
            Self::Coarsen(wanted) => wanted.check(elements),
        }
    }

    fn work(self, source: Source, folder: &Path, reporter: &mut Reporter) -> Ended {
        if let Err(why) = std::fs::create_dir_all(folder) {
            return Ended::Failed(format!("there is no place for the results: {why}"));
        }
        match self {
            Self::Check(_) => check::work(&source, reporter),
            Self::Compare(wanted) => compare::work(&wanted, source, folder, reporter),
            Self::Coarsen(wanted) => coarsen::work(&wanted, &source, folder, reporter),
        }
    }
}

/// The event `job`.
#[derive(Serialize)]
struct Told {
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

/// The jobs of a session: the one under way, and what was told last.
#[derive(Default)]
pub struct Jobs {
    count: u64,
    now: Option<Job>,
    told: Option<Told>,
    /// The last comparison; only its report is kept.
    compared: Option<u64>,
}

impl Jobs {
    /// What a page that joins has to know.
    pub fn told(&self) -> Option<String> {
        self.told.as_ref().and_then(|told| serde_json::to_string(told).ok())
    }
}

impl Actor {
    /// Begins a job for one of the panes.
    pub(super) fn begin(&mut self, task: Task) -> Result<(), String> {
        if self.jobs.now.is_some() {
            return Err("one thing at a time: wait until it is done, or cancel it".into());
        }
        let panes = self.panes.len();
        let pane = self.pane(task.pane())?;
        task.refuse(pane.elements(), panes)?;
        let (source, title, label) = (Source::of(pane), pane.scene.title.clone(), pane.label.clone());
        let Some(seat) = self.desk.take() else {
            return Err("the lab works on something for another page; try again when it is done".into());
        };
        self.jobs.count += 1;
        let number = self.jobs.count;
        if let Task::Compare(_) = task
            && let Some(before) = self.jobs.compared.replace(number)
        {
            let _ = std::fs::remove_dir_all(folder(&self.folder, before));
        }
        self.jobs.told = Some(Told {
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
        let folder = folder(&self.folder, number);
        let begun = Job::begin(number, seat, self.inbox.clone(), move |reporter| {
            task.work(source, &folder, reporter)
        });
        self.jobs.now = Some(begun.map_err(|e| format!("it cannot begin: {e}"))?);
        self.tell_job();
        Ok(())
    }

    /// Asks the job under way to stop.
    pub(super) fn cancel(&mut self) -> Result<(), String> {
        let Some(job) = &self.jobs.now else { return Err("there is nothing to cancel".into()) };
        job.cancel();
        self.note(|told| told.state = "cancelling");
        Ok(())
    }

    /// What a job has to say.
    pub(super) fn hear_job(&mut self, number: u64, word: Word) {
        if self.jobs.now.as_ref().is_none_or(|job| job.number != number) {
            return;
        }
        let (state, text, found) = match word {
            Word::Progress(text, share) => return self.note(|told| (told.text, told.share) = (text, share)),
            Word::Ended(Ended::Done(found)) => ("done", String::new(), Some(found)),
            Word::Ended(Ended::Cancelled(found)) => ("cancelled", String::new(), found),
            Word::Ended(Ended::Failed(why)) => ("failed", self.without_folder(&why), None),
        };
        self.jobs.now = None;
        let result = found.map(|found| self.show(found));
        self.note(|told| (told.state, told.text, told.share, told.result) = (state, text, 1.0, result));
    }

    /// Opens the scene that was made, if one was; what the page is told.
    fn show(&mut self, found: Found) -> Value {
        let Found { mut told, scene } = found;
        if let (Some((path, label)), Some(told)) = (scene, told.as_object_mut()) {
            let opened = self.beside(&path, &label);
            told.insert("opened".into(), opened.is_ok().into());
            if let (Err(why), Some(Value::Array(notes))) = (opened, told.get_mut("notes")) {
                notes.insert(0, format!("the coarse body was not opened: {why}").into());
            }
        }
        told
    }

    /// A coarse scene beside the panes; all begin anew, so that they can be compared.
    fn beside(&mut self, path: &Path, label: &str) -> Result<(), String> {
        if self.panes.len() >= PANES {
            return Err(format!("{PANES} panes are all there is room for"));
        }
        let scene = Scene::from_path(path).map_err(|e| words::of(&e))?;
        let others = elements(&self.panes);
        if others >= ELEMENTS {
            return Err(format!("{ELEMENTS} elements are all that the lab takes"));
        }
        let mut coarse = Pane::new(scene.document.clone(), &path.display().to_string(), others)?;
        coarse.label = Some(label.to_owned());
        if let [fine] = self.panes.as_mut_slice()
            && fine.label.is_none()
        {
            fine.label = Some(format!("fine, {} tets", fine.elements()));
        }
        self.panes.push(coarse);
        self.forget_changes();
        self.reset()
    }

    /// Notes what is new about the job, and tells the pages.
    fn note(&mut self, what: impl FnOnce(&mut Told)) {
        if let Some(told) = self.jobs.told.as_mut() {
            what(told);
            self.tell_job();
        }
    }

    fn tell_job(&mut self) {
        if let Some(told) = self.jobs.told() {
            self.tell(told);
        }
    }
}
