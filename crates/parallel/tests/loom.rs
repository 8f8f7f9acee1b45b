//! The thread pool under the model checker loom, which runs every interleaving of its threads.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p lilyan-parallel --test loom --target-dir target/loom
//! ```
#![cfg(loom)]

use lilyan_parallel::ThreadPool;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// With a bound on preemptions, without which the waiting caller has too many interleavings.
fn model(preemptions: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(run);
}

/// Data of the caller that a task writes; loom fails if two threads touch it at the same time.
struct Cell(UnsafeCell<usize>);
#[allow(unsafe_code)]
// SAFETY: loom reports every access that is not ordered with the others.
unsafe impl Sync for Cell {}

/// When a call returns no worker is still in the task: the caller has its data for itself, and every piece was done once.
#[test]
fn a_call_returns_after_all_workers_have_left() {
    model(3, || {
        let pool = ThreadPool::new(2);
        for _ in 0..2 {
            let (next, cells) = (AtomicUsize::new(0), [Cell(UnsafeCell::new(0)), Cell(UnsafeCell::new(0))]);
            pool.call(&|_| {
                while let Some(cell) = cells.get(next.fetch_add(1, SeqCst)) {
                    #[allow(unsafe_code)]
                    // SAFETY: each index is handed out once.
                    cell.0.with_mut(|value| unsafe { *value += 1 });
                }
            });
            for cell in cells {
                assert_eq!(cell.0.into_inner(), 1);
            }
        }
    });
}

/// A worker that goes to sleep while a loop is opened, or the pool shut down, does not sleep for ever: loom reports a deadlock
/// if a thread never ends.
#[test]
fn no_wakeup_is_lost() {
    model(3, || {
        let pool = ThreadPool::new(2);
        loom::thread::yield_now();
        pool.call(&|_| {});
        drop(pool);
    });
}
