//! Signals that ask a command to stop. The command then keeps its results so far.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::register_usize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(unix)]
const STOP_SIGNALS: &[i32] = &[SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const STOP_SIGNALS: &[i32] = &[SIGINT, SIGTERM];

/// The number of the signal that was received, or 0. A second signal has no further effect.
pub struct StopSignal(Arc<AtomicUsize>);

impl StopSignal {
    /// Listens from now on.
    pub fn listen() -> Self {
        let came = Arc::new(AtomicUsize::new(0));
        for signal in STOP_SIGNALS {
            let _ = register_usize(*signal, came.clone(), *signal as usize);
        }
        // A file that exceeds the size limit then gives an error with its name, instead of ending the process.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
        Self(came)
    }

    /// The signal that was received; 0: none.
    pub fn signal(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}
