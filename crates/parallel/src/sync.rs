//! Atomics, locks and threads of the standard library, or, under `cfg(loom)`, those of the model checker.

#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, fence},
    sync::{Arc, Condvar, Mutex},
    thread::yield_now,
};

#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, fence},
    sync::{Arc, Condvar, Mutex},
    thread::yield_now,
};

/// Starts a thread; whether the system gave one.
pub(crate) fn spawn(name: String, run: impl FnOnce() + Send + 'static) -> bool {
    #[cfg(not(loom))]
    return std::thread::Builder::new().name(name).spawn(run).is_ok();
    #[cfg(loom)]
    return loom::thread::Builder::new().name(name).spawn(run).is_ok();
}
