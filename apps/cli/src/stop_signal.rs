//! Signals that ask a command to stop.
//!
//! A command asks [`signal`] between its steps, ends in order and keeps its results so far. Work that does not ask, such as building a
//! mesh, a factorisation or one long step, is ended by a thread of its own: it says what is kept ([`keep`]), removes files that are
//! being written, and ends the process.

use crate::failure::Failure;
use lilyan_files::atomic;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::register_usize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(unix)]
const STOP_SIGNALS: &[i32] = &[SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const STOP_SIGNALS: &[i32] = &[SIGINT, SIGTERM];

/// The time that a command has to look for the signal. A user waits no longer than two seconds.
const GRACE: Duration = Duration::from_millis(1250);
/// The time that a command has to write its results so far once it has seen the signal: disks can be slow.
const GRACE_TO_WRITE: Duration = Duration::from_secs(10);
/// How often the thread looks for a signal.
const PERIOD: Duration = Duration::from_millis(50);

/// The number of the signal that was received, or 0.
static RECEIVED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);
/// Whether the command has seen it.
static SEEN: AtomicBool = AtomicBool::new(false);
/// What is kept if the command is ended now; `None` once the command has ended.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// Listens from now on. `report` tells the user why the command ended, before the process does.
pub fn listen(report: fn(&Failure)) {
    for signal in STOP_SIGNALS {
        let _ = register_usize(*signal, RECEIVED.clone(), *signal as usize);
    }
    // A file that exceeds the size limit then gives an error with its name, instead of ending the process.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    keep("nothing was written");
    // Without a thread, commands still end in order.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(move || {
        while received() == 0 {
            std::thread::sleep(PERIOD);
        }
        std::thread::sleep(GRACE);
        if SEEN.load(Ordering::SeqCst) {
            std::thread::sleep(GRACE_TO_WRITE);
        }
        end_process(report);
    });
}

fn received() -> usize {
    RECEIVED.load(Ordering::SeqCst)
}

/// The signal that was received; 0: none. Whoever asks and gets one ends in order.
pub fn signal() -> usize {
    let signal = received();
    if signal != 0 {
        SEEN.store(true, Ordering::SeqCst);
    }
    signal
}

/// Notes what is kept if the command is ended from now on, in words.
pub fn keep(what: impl Into<String>) {
    *kept() = Some(what.into());
}

/// The command has ended: the process is not ended any more.
pub fn finish() {
    *kept() = None;
}

fn kept() -> MutexGuard<'static, Option<String>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn end_process(report: fn(&Failure)) {
    // The lock is never released, so that the command cannot end in between.
    let kept = kept();
    if let Some(what) = &*kept {
        atomic::abandon_writes();
        let failure = Failure::interrupted(received() as u8, format!("interrupted; {what}"));
        report(&failure);
        std::process::exit(i32::from(failure.code));
    }
}
