//! Sessions: each a thread with its simulations, and the pages that look at it.

mod actor;
mod carry;
mod clock;
mod effort;
mod files;
mod frame;
mod gallery;
mod hello;
mod job;
mod message;
mod pane;
mod realtime;
mod remedies;
mod save;
mod size;
mod stability;
mod touch;
mod words;

use crate::access;
use actor::Actor;
use axum::body::Bytes;
use job::{Desk, Word};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as std_mpsc};
use tokio::sync::{mpsc, watch};

pub use gallery::GALLERY;

/// Sessions at a time.
const SESSIONS: usize = 16;
/// Pages at a time, over all sessions.
const CLIENTS: usize = 200;
/// Events that may wait for a page; one that is so far behind is dropped.
const EVENTS: usize = 256;
/// Bytes of a file from a page.
pub const UPLOAD_BYTES: usize = 64 << 20;
/// Elements that a session may simulate, over its panes.
pub const ELEMENTS: usize = 400_000;
/// Simulations side by side.
pub const PANES: usize = 5;

/// Files that jobs leave and pages may ask for, and their types.
const RESULTS: [(&str, &str); 6] = [
    ("report.html", "text/html; charset=utf-8"),
    ("compare.csv", "text/csv; charset=utf-8"),
    ("compare.json", "application/json"),
    ("scene.toml", "application/toml"),
    ("coarse.vtu", "application/octet-stream"),
    ("coarsen.json", "application/json"),
];

/// What a page is told.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Text(String),
    Binary(Bytes),
}

/// What comes in to a session.
enum Incoming {
    /// A page that begins to listen.
    Join(mpsc::Sender<Event>),
    /// What a page says; it listens there for the answer.
    Say(String, mpsc::Sender<Event>),
    /// What the job of that number says.
    Job(u64, Word),
    /// The program ends.
    End,
}

/// One page's side of a session.
pub(crate) struct Client {
    pub events: mpsc::Receiver<Event>,
    pub frames: watch::Receiver<Bytes>,
    own: mpsc::Sender<Event>,
    session: Arc<Handle>,
    all: Arc<AtomicUsize>,
}

impl Client {
    /// Passes on what the page said. A page that says more than the session can hear is told so.
    pub fn say(&self, text: &str) {
        let sent = self.session.inbox.try_send(Incoming::Say(text.to_owned(), self.own.clone()));
        if sent.is_err() {
            let _ = self.own.try_send(Event::Text(message::error(
                "",
                "too many messages at once; this one was not heard",
            )));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.session.clients.fetch_sub(1, Ordering::SeqCst);
        self.all.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A session as others see it.
struct Handle {
    inbox: std_mpsc::SyncSender<Incoming>,
    frames: watch::Receiver<Bytes>,
    clients: AtomicUsize,
    ended: AtomicBool,
    folder: PathBuf,
    began: std::time::Instant,
}

/// Ends the oldest session that nobody looks at.
fn make_room(open: &mut HashMap<String, Arc<Handle>>) {
    let empty = open.iter().filter(|(_, handle)| handle.clients.load(Ordering::SeqCst) == 0);
    let Some(oldest) = empty.min_by_key(|(_, handle)| handle.began).map(|(name, _)| name.clone()) else {
        return;
    };
    if let Some(handle) = open.remove(&oldest) {
        let _ = handle.inbox.try_send(Incoming::End);
    }
}

/// Runs a session in a thread of its own, and what is to be done when it ends: whatever goes wrong in a session ends that session
/// alone.
fn apart(run: impl FnOnce() + Send + 'static, after: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name("session".into());
    thread.spawn(move || {
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        after();
    })?;
    Ok(())
}

/// Refuses names of files that could lead anywhere else.
fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(plain) {
        return Err("the name of a file may have letters, digits, \".\", \"-\" and \"_\"\n".into());
    }
    Ok(())
}

/// All sessions of the program.
pub struct Sessions {
    open: Mutex<HashMap<String, Arc<Handle>>>,
    clients: Arc<AtomicUsize>,
    first_scene: String,
    folder: PathBuf,
    desk: Desk,
}

impl Sessions {
    /// None yet; new ones open with that scene. Makes a folder for files from pages, which nobody else can read.
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
            desk: Desk::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<Handle>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a page into the session of that name, or into a new one.
    pub(crate) fn enter(&self, name: Option<&str>) -> Result<Client, String> {
        if self.clients.load(Ordering::SeqCst) >= CLIENTS {
            return Err(format!("{CLIENTS} pages are open already; close some\n"));
        }
        let mut open = self.open();
        open.retain(|_, handle| !handle.ended.load(Ordering::SeqCst));
        if open.len() >= SESSIONS && name.is_none_or(|name| !open.contains_key(name)) {
            make_room(&mut open);
        }
        let session = match name.and_then(|name| open.get(name)) {
            Some(session) => session.clone(),
            None if open.len() >= SESSIONS => {
                return Err(format!("{SESSIONS} sessions are open already; close some of their pages\n"));
            }
            None => {
                let name = access::random().map_err(|e| e.to_string())?;
                let session = self.begin(&name).map_err(|e| format!("cannot begin a session: {e}\n"))?;
                open.insert(name, session.clone());
                session
            }
        };
        let (own, events) = mpsc::channel(EVENTS);
        session.clients.fetch_add(1, Ordering::SeqCst);
        self.clients.fetch_add(1, Ordering::SeqCst);
        let frames = session.frames.clone();
        let client =
            Client { events, frames, own: own.clone(), session: session.clone(), all: self.clients.clone() };
        session
            .inbox
            .try_send(Incoming::Join(own))
            .map_err(|_| "the session is too busy; try again\n".to_owned())?;
        Ok(client)
    }

    fn begin(&self, name: &str) -> std::io::Result<Arc<Handle>> {
        let folder = self.folder.join(name);
        std::fs::create_dir(&folder)?;
        let (inbox, incoming) = std_mpsc::sync_channel(1024);
        let (publish, frames) = watch::channel(Bytes::new());
        let handle = Arc::new(Handle {
            inbox: inbox.clone(),
            frames,
            clients: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            folder: folder.clone(),
            began: std::time::Instant::now(),
        });
        let (name, scene, seen) = (name.to_owned(), self.first_scene.clone(), handle.clone());
        let desk = self.desk.clone();
        let (ended, place) = (handle.clone(), folder.clone());
        let run = move || {
            Actor::new(&name, &scene, folder, publish, inbox, desk).run(&incoming, &seen.clients);
        };
        apart(run, move || {
            ended.ended.store(true, Ordering::SeqCst);
            let _ = std::fs::remove_dir_all(place);
        })?;
        Ok(handle)
    }

    /// Keeps a file for a session.
    pub fn keep(&self, session: &str, name: &str, bytes: &[u8]) -> Result<(), String> {
        check_name(name)?;
        let Some(handle) = self.open().get(session).cloned() else {
            return Err("there is no such session; load the page again\n".into());
        };
        let path = handle.folder.join(name);
        if path.is_symlink() {
            return Err("a link cannot be written to\n".into());
        }
        std::fs::write(path, bytes).map_err(|e| format!("the file cannot be kept: {e}\n"))
    }

    /// A file that a job of a session left: its type, and what is in it.
    pub(crate) fn result(&self, session: &str, job: u64, file: &str) -> Option<(&'static str, Vec<u8>)> {
        let (name, kind) = RESULTS.iter().find(|(name, _)| *name == file)?;
        let handle = self.open().get(session).cloned()?;
        let bytes = std::fs::read(job::folder(&handle.folder, job).join(name)).ok()?;
        Some((kind, bytes))
    }

    /// Ends all of them, and waits a little until they have.
    pub fn close(&self) {
        let open: Vec<Arc<Handle>> = self.open().drain().map(|(_, handle)| handle).collect();
        for handle in &open {
            let _ = handle.inbox.try_send(Incoming::End);
        }
        for _ in 0..40 {
            if open.iter().all(|h| h.ended.load(Ordering::SeqCst)) && !self.desk.taken() {
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

    /// A session that panics ends, and is cleaned up after; its neighbours do not notice.
    #[test]
    fn a_panic_ends_one_session() {
        let sessions = Sessions::new("swinging-cube").expect("a folder");
        let neighbour = sessions.enter(None).expect("a session");
        let (tell, told) = std_mpsc::channel();
        apart(
            || std::panic::resume_unwind(Box::new("a mistake")),
            move || tell.send(()).expect("someone waits"),
        )
        .expect("a thread");
        told.recv().expect("what is to be done after");
        assert!(!neighbour.session.ended.load(Ordering::SeqCst));
        assert!(sessions.enter(None).is_ok(), "others may come");
        sessions.close();
    }
}
