//! The thread pool.
//!
//! A time step consists of many loops, one directly after the other, each of about 10 µs to a few ms. Waking a sleeping
//! thread takes as long as the shorter loops. Workers therefore spin for a while before they sleep, and start a loop within a
//! microsecond.
//!
//! The caller works too. When no work is left it closes the loop, and waits only for the workers that joined it. A caller that
//! finds the pool busy does not wait either, and does all of its work alone.

use crate::sync::{
    Arc, AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Condvar, Mutex, fence, spawn, spin_loop, yield_now,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// A task. The argument is the number of the thread; 0 is the caller.
type Task<'a> = &'a (dyn Fn(usize) + Sync);

/// How long workers spin before they sleep.
const SPIN_TIME: Duration = Duration::from_micros(if cfg!(loom) { 0 } else { 200 });
/// Spins between two readings of the clock.
const SPINS: usize = if cfg!(loom) { 1 } else { 64 };
/// Spins of a caller that waits for workers before it yields its core.
const SPINS_BEFORE_YIELD: usize = if cfg!(loom) { 0 } else { 1 << 12 };

/// The state of a loop in one word: its number (upper half), whether workers may join, and how many have joined.
const NUMBER: u64 = 1 << 32;
const OPEN: u64 = 1 << 31;
const JOINED: u64 = OPEN - 1;

/// A pool of threads that run one task together.
#[doc(hidden)]
pub struct ThreadPool {
    shared: Arc<Shared>,
    /// Held by the caller whose task runs.
    busy: Mutex<()>,
    size: usize,
}

/// The state that the caller and the workers share.
struct Shared {
    state: AtomicU64,
    task: AtomicPtr<Task<'static>>,
    shutdown: AtomicBool,
    /// Number of workers that sleep or are about to sleep.
    sleeping: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
    /// The panic of a worker, to be resumed in the caller.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl ThreadPool {
    /// A pool of `size` threads, the caller included; fewer if the system refuses to start more.
    pub fn new(size: usize) -> Self {
        let shared = Arc::new(Shared {
            state: AtomicU64::new(0),
            task: AtomicPtr::new(std::ptr::null_mut()),
            shutdown: AtomicBool::new(false),
            sleeping: AtomicUsize::new(0),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
            panic: Mutex::new(None),
        });
        let start = |number: usize| {
            let shared = shared.clone();
            spawn(format!("lilyan-{number}"), move || shared.run_worker(number))
        };
        let workers = (1..size).take_while(|&number| start(number)).count();
        Self { shared, busy: Mutex::new(()), size: 1 + workers }
    }

    /// The number of threads, the caller included.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Calls `task` here and in the workers that join in time. The task must distribute its work itself, and all of it must
    /// be done when the call in this thread returns.
    pub fn call(&self, task: Task<'_>) {
        let _busy = match self.busy.try_lock() {
            Ok(busy) => busy,
            Err(TryLockError::Poisoned(busy)) => busy.into_inner(),
            Err(TryLockError::WouldBlock) => return task(0),
        };
        let open = self.shared.open(&task);
        task(0);
        drop(open);
        let panic = self.shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.shutdown.store(true, SeqCst);
        self.shared.wake_workers();
    }
}

/// A loop that workers may join. Dropping it, also in a panic, closes it and waits for the workers that joined.
struct OpenLoop<'a>(&'a Shared);

impl Drop for OpenLoop<'_> {
    fn drop(&mut self) {
        let mut joined = self.0.state.fetch_and(!OPEN, SeqCst) & JOINED;
        let mut spins = 0;
        while joined > 0 {
            spins += 1;
            if spins < SPINS_BEFORE_YIELD {
                spin_loop()
            } else {
                yield_now()
            }
            joined = self.0.state.load(SeqCst) & JOINED;
        }
    }
}

impl Shared {
    /// Opens a loop, which workers may join until the returned value is dropped.
    fn open<'a>(&'a self, task: &'a Task<'_>) -> OpenLoop<'a> {
        self.task.store(std::ptr::from_ref(task).cast_mut().cast(), SeqCst);
        let number = (self.state.load(SeqCst) / NUMBER).wrapping_add(1) & (NUMBER - 1);
        self.state.store((number * NUMBER) | OPEN, SeqCst);
        self.wake_workers();
        OpenLoop(self)
    }

    /// Wakes sleeping workers, after a loop was opened or the pool shut down.
    fn wake_workers(&self) {
        // Together with the fence in `wait_for_loop`: either this thread sees the sleeper, or the sleeper sees the values
        // stored before. Loom models sequential consistency for fences only.
        fence(SeqCst);
        if self.sleeping.load(SeqCst) > 0 {
            drop(self.sleep.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// The main function of a worker.
    fn run_worker(&self, number: usize) {
        let mut last = 0;
        while let Some(state) = self.wait_for_loop(last) {
            if self.state.compare_exchange(state, state + 1, SeqCst, SeqCst).is_err() {
                continue;
            }
            last = state / NUMBER;
            self.run_task(number);
            self.state.fetch_sub(1, SeqCst);
        }
    }

    /// Runs the task of a loop that this worker has joined.
    #[allow(unsafe_code)]
    fn run_task(&self, number: usize) {
        // SAFETY. A worker that is counted as joined has seen the open state, before which `open` stored the pointer. No other
        // pointer is stored, and the task stays alive, until `OpenLoop::drop` has seen every worker leave.
        let task = unsafe { *self.task.load(SeqCst) };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| task(number))) {
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }

    /// The state of an open loop whose number is not `last`, if there is one.
    fn open_loop(&self, last: u64) -> Option<u64> {
        let state = self.state.load(SeqCst);
        (state & OPEN != 0 && state / NUMBER != last).then_some(state)
    }

    /// Waits for an open loop whose number is not `last`. `None` when the pool is shut down.
    fn wait_for_loop(&self, last: u64) -> Option<u64> {
        let started = Instant::now();
        loop {
            for _ in 0..SPINS {
                if let Some(state) = self.open_loop(last) {
                    return Some(state);
                }
                spin_loop();
            }
            if self.shutdown.load(SeqCst) {
                return None;
            }
            if cfg!(loom) || started.elapsed() > SPIN_TIME {
                break;
            }
        }
        let mut sleep = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        // The worker announces its sleep before the last test, so that a caller that opens a loop after the test wakes it.
        self.sleeping.fetch_add(1, SeqCst);
        fence(SeqCst);
        let found = loop {
            let found = self.open_loop(last);
            if found.is_some() || self.shutdown.load(SeqCst) {
                break found;
            }
            sleep = self.wake.wait(sleep).unwrap_or_else(PoisonError::into_inner);
        };
        self.sleeping.fetch_sub(1, SeqCst);
        found
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Each piece is done once, whichever workers join.
    #[test]
    fn everything_is_done_once() {
        let pool = ThreadPool::new(4);
        for pause in [0, 1, 1000] {
            for round in 0..200 {
                std::thread::sleep(Duration::from_micros(if round % 20 == 0 { pause } else { 0 }));
                let next = AtomicUsize::new(0);
                let done = [const { AtomicUsize::new(0) }; 50];
                pool.call(&|_| {
                    while let Some(piece) = done.get(next.fetch_add(1, SeqCst)) {
                        piece.fetch_add(1, SeqCst);
                    }
                });
                assert!(done.iter().all(|d| d.load(SeqCst) == 1));
            }
        }
    }

    /// Two callers at the same time, and a call from within a task, are all served.
    #[test]
    fn callers_do_not_wait_for_each_other() {
        let pool = ThreadPool::new(3);
        let count = AtomicUsize::new(0);
        let counted = |times: usize| {
            for _ in 0..times {
                let once = AtomicBool::new(false);
                pool.call(&|_| {
                    if !once.swap(true, SeqCst) {
                        pool.call(&|number| {
                            count.fetch_add(usize::from(number == 0), SeqCst);
                        });
                    }
                });
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| counted(1000));
            scope.spawn(|| counted(1000));
        });
        assert_eq!(count.into_inner(), 2000);
    }

    /// A panic of a worker reaches the caller, and the pool stays usable.
    #[test]
    fn a_panic_is_handed_on() {
        let pool = ThreadPool::new(2);
        let panicked = AtomicBool::new(false);
        // Until the worker joins.
        while !panicked.load(SeqCst) {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                pool.call(&|number| {
                    std::thread::sleep(Duration::from_millis(1));
                    if number == 1 {
                        panicked.store(true, SeqCst);
                        panic!("on purpose");
                    }
                });
            }));
            assert_eq!(caught.is_err(), panicked.load(SeqCst));
        }
        let calls = AtomicUsize::new(0);
        pool.call(&|_| {
            calls.fetch_add(1, SeqCst);
        });
        assert!(calls.into_inner() >= 1);
    }
}
