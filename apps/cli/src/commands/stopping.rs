//! Signals that ask a command to stop; it then keeps what it has.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::register_usize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(unix)]
const STOPPING: &[i32] = &[SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const STOPPING: &[i32] = &[SIGINT, SIGTERM];

/// The number of the signal that came, 0 until then; a second one, while the first is being honoured, is no
/// different.
pub struct Stopping(Arc<AtomicUsize>);

impl Stopping {
    /// Listens from now on.
    pub fn listen() -> Self {
        let came = Arc::new(AtomicUsize::new(0));
        for signal in STOPPING {
            let _ = register_usize(*signal, came.clone(), *signal as usize);
        }
        // A limit on the size of files is then an error of the write, with its name, and not the end of the
        // process.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
        Self(came)
    }

    /// The signal that came; 0: none.
    pub fn signal(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}
