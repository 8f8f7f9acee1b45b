//! All sessions of the program, and the pages that are connected to them.

use crate::access;
use crate::channel::{Event, Incoming};
use crate::error::LabError;
use crate::job::{JobSlot, job_folder};
use crate::limits::{CLIENTS, EVENTS, INBOX, SESSIONS};
use crate::protocol::error_event;
use crate::session::Session;
use crate::uploads::{check_file_name, store_file};
use axum::body::Bytes;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as std_mpsc};
use tokio::sync::{mpsc, watch};

/// The files of jobs that pages may ask for, and their types.
const RESULTS: [(&str, &str); 6] = [
    ("report.html", "text/html; charset=utf-8"),
    ("compare.csv", "text/csv; charset=utf-8"),
    ("compare.json", "application/json"),
    ("scene.toml", "application/toml"),
    ("coarse.vtu", "application/octet-stream"),
    ("coarsen.json", "application/json"),
];

/// The connection of one page to its session.
pub struct Client {
    /// Events for this page.
    pub events: mpsc::Receiver<Event>,
    /// The newest frame.
    pub frames: watch::Receiver<Bytes>,
    own: mpsc::Sender<Event>,
    session: Arc<SessionHandle>,
    all_clients: Arc<AtomicUsize>,
}

impl Client {
    /// Passes a text of the page to the session. If the inbox of the session is full, the page is told so.
    pub fn say(&self, text: &str) {
        let sent = self.session.inbox.try_send(Incoming::Say(text.to_owned(), self.own.clone()));
        if sent.is_err() {
            let error = LabError::TooManyMessages;
            let _ = self.own.try_send(Event::Text(error_event("", &error, &error.to_string())));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.session.clients.fetch_sub(1, Ordering::SeqCst);
        self.all_clients.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A session, as other threads see it.
struct SessionHandle {
    inbox: std_mpsc::SyncSender<Incoming>,
    frames: watch::Receiver<Bytes>,
    clients: AtomicUsize,
    ended: AtomicBool,
    folder: PathBuf,
    began: std::time::Instant,
}

/// Ends the oldest session that has no pages.
fn make_room(open: &mut HashMap<String, Arc<SessionHandle>>) {
    let empty = open.iter().filter(|(_, handle)| handle.clients.load(Ordering::SeqCst) == 0);
    let Some(oldest) = empty.min_by_key(|(_, handle)| handle.began).map(|(name, _)| name.clone()) else {
        return;
    };
    if let Some(handle) = open.remove(&oldest) {
        let _ = handle.inbox.try_send(Incoming::End);
    }
}

/// Runs a session in its own thread, and then `after`. A panic ends only this session.
fn run_in_thread(
    run: impl FnOnce() + Send + 'static,
    after: impl FnOnce() + Send + 'static,
) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name("session".into());
    thread.spawn(move || {
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        after();
    })?;
    Ok(())
}

/// All sessions of the program.
pub struct Sessions {
    open: Mutex<HashMap<String, Arc<SessionHandle>>>,
    clients: Arc<AtomicUsize>,
    first_scene: String,
    folder: PathBuf,
    job_slot: JobSlot,
}

impl Sessions {
    /// No sessions yet. New ones open with this scene. Makes a folder for files from pages, which only this user can read.
    pub fn new(first_scene: &str) -> std::io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("lilyan-lab-{}", access::random()?));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(Self {
            open: Mutex::default(),
            clients: Arc::default(),
            first_scene: first_scene.to_owned(),
            folder,
            job_slot: JobSlot::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<SessionHandle>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects a page to the session of this name, or to a new one.
    pub fn enter(&self, name: Option<&str>) -> Result<Client, LabError> {
        if self.clients.load(Ordering::SeqCst) >= CLIENTS {
            return Err(LabError::TooManyPages);
        }
        let mut open = self.open();
        open.retain(|_, handle| !handle.ended.load(Ordering::SeqCst));
        if open.len() >= SESSIONS && name.is_none_or(|name| !open.contains_key(name)) {
            make_room(&mut open);
        }
        let session = match name.and_then(|name| open.get(name)) {
            Some(session) => session.clone(),
            None if open.len() >= SESSIONS => return Err(LabError::TooManySessions),
            None => {
                let failed = || LabError::system("cannot begin a session");
                let name = access::random().map_err(failed())?;
                let session = self.begin(&name).map_err(failed())?;
                open.insert(name, session.clone());
                session
            }
        };
        let (own, events) = mpsc::channel(EVENTS);
        session.clients.fetch_add(1, Ordering::SeqCst);
        self.clients.fetch_add(1, Ordering::SeqCst);
        let frames = session.frames.clone();
        let all_clients = self.clients.clone();
        let client = Client { events, frames, own: own.clone(), session: session.clone(), all_clients };
        session.inbox.try_send(Incoming::Join(own)).map_err(|_| LabError::SessionBusy)?;
        Ok(client)
    }

    /// Starts a session.
    fn begin(&self, name: &str) -> std::io::Result<Arc<SessionHandle>> {
        let folder = self.folder.join(name);
        std::fs::create_dir(&folder)?;
        let (inbox, incoming) = std_mpsc::sync_channel(INBOX);
        let (publish, frames) = watch::channel(Bytes::new());
        let handle = Arc::new(SessionHandle {
            inbox: inbox.clone(),
            frames,
            clients: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            folder: folder.clone(),
            began: std::time::Instant::now(),
        });
        let (name, scene, seen) = (name.to_owned(), self.first_scene.clone(), handle.clone());
        let job_slot = self.job_slot.clone();
        let (ended, place) = (handle.clone(), folder.clone());
        let run = move || {
            Session::new(&name, &scene, folder, publish, inbox, job_slot).run(&incoming, &seen.clients);
        };
        run_in_thread(run, move || {
            ended.ended.store(true, Ordering::SeqCst);
            let _ = std::fs::remove_dir_all(place);
        })?;
        Ok(handle)
    }

    /// Stores a file for a session.
    pub fn keep(&self, session: &str, name: &str, bytes: &[u8]) -> Result<(), LabError> {
        check_file_name(name)?;
        let handle = self.open().get(session).cloned().ok_or(LabError::UnknownSession)?;
        store_file(&handle.folder, name, bytes)
    }

    /// A file that a job of a session wrote: its type and its bytes.
    pub fn result(&self, session: &str, job: u64, file: &str) -> Option<(&'static str, Vec<u8>)> {
        let (name, kind) = RESULTS.iter().find(|(name, _)| *name == file)?;
        let handle = self.open().get(session).cloned()?;
        let bytes = std::fs::read(job_folder(&handle.folder, job).join(name)).ok()?;
        Some((kind, bytes))
    }

    /// Ends all sessions, and waits a little for them.
    pub fn close(&self) {
        let open: Vec<Arc<SessionHandle>> = self.open().drain().map(|(_, handle)| handle).collect();
        for handle in &open {
            let _ = handle.inbox.try_send(Incoming::End);
        }
        for _ in 0..12 {
            if open.iter().all(|h| h.ended.load(Ordering::SeqCst)) && !self.job_slot.is_taken() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session that panics ends and is cleaned up. The other sessions continue.
    #[test]
    fn a_panic_ends_one_session() {
        let sessions = Sessions::new("swinging-cube").expect("a folder");
        let neighbour = sessions.enter(None).expect("a session");
        let (tell, told) = std_mpsc::channel();
        run_in_thread(
            || std::panic::resume_unwind(Box::new("a mistake")),
            move || tell.send(()).expect("someone waits"),
        )
        .expect("a thread");
        told.recv().expect("`after` has run");
        assert!(!neighbour.session.ended.load(Ordering::SeqCst));
        assert!(sessions.enter(None).is_ok(), "others may come");
        sessions.close();
    }
}
