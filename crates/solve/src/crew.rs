//! Threads that stand ready.
//!
//! A step is made of many loops, each of some 10 µs to some ms, one right after the other. To wake a sleeping thread takes as
//! long as the shorter ones, so the members of a crew look out for the next loop for a while before they sleep: then
//! a loop is handed over within a microsecond.
//!
//! Nobody waits for a member that has not come: the one who calls works too, and once nothing is left to do the loop is closed,
//! and only those who joined it are waited for. A crew that is at work for someone else is not waited for either.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// What is done: called with the number of whoever does it, 0 for the caller.
type Work<'a> = &'a (dyn Fn(usize) + Sync);

/// How long members look out for work.
const PATIENCE: Duration = Duration::from_micros(200);
/// Looks between two glances at the clock.
const LOOKS: usize = 64;

/// The gate of a loop: its number in the upper half, whether it is open, and how many members are inside.
const NUMBER: u64 = 1 << 32;
const OPEN: u64 = 1 << 31;
const INSIDE: u64 = OPEN - 1;

/// See the module.
pub(crate) struct Crew {
    shared: Arc<Shared>,
    turn: Mutex<()>,
    size: usize,
}

#[derive(Default)]
struct Shared {
    gate: AtomicU64,
    work: AtomicPtr<Work<'static>>,
    dismissed: AtomicBool,
    /// Members that sleep, or are about to.
    asleep: AtomicUsize,
    bed: Mutex<()>,
    alarm: Condvar,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Crew {
    /// A crew of so many, the caller included; fewer if the system gives no more.
    pub fn new(size: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let enlist = |number: usize| {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().name(format!("lilyan-{number}"));
            thread.spawn(move || shared.stand_by(number)).is_ok()
        };
        let enlisted = (1..size).take_while(|&number| enlist(number)).count();
        Self { shared, turn: Mutex::new(()), size: 1 + enlisted }
    }

    /// How many there are, the caller included.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Calls `work` here and, as far as they come in time, in the other members. Whatever has to be done must be shared out by `work`
    /// itself, and be done when it returns here.
    pub fn call(&self, work: Work<'_>) {
        let _turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(turn)) => turn.into_inner(),
            Err(TryLockError::WouldBlock) => return work(0),
        };
        let closing = self.shared.open(&work);
        work(0);
        drop(closing);
        let panic = self.shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.dismissed.store(true, SeqCst);
        self.shared.wake();
    }
}

/// Closes the gate, even if there was a panic, and waits for those inside.
struct Closing<'a>(&'a Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut inside = self.0.gate.fetch_and(!OPEN, SeqCst) & INSIDE;
        let mut looks = 0;
        while inside > 0 {
            looks += 1;
            if looks < 1 << 12 {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
            inside = self.0.gate.load(SeqCst) & INSIDE;
        }
    }
}

impl Shared {
    /// Lets members join, until what is returned is dropped.
    fn open<'a>(&'a self, work: &'a Work<'_>) -> Closing<'a> {
        self.work.store(std::ptr::from_ref(work).cast_mut().cast(), SeqCst);
        let number = (self.gate.load(SeqCst) / NUMBER).wrapping_add(1) & (NUMBER - 1);
        self.gate.store((number * NUMBER) | OPEN, SeqCst);
        self.wake();
        Closing(self)
    }

    fn wake(&self) {
        if self.asleep.load(SeqCst) > 0 {
            drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
            self.alarm.notify_all();
        }
    }

    /// What a member does.
    fn stand_by(&self, number: usize) {
        let mut last = 0;
        while let Some(gate) = self.next(last) {
            if self.gate.compare_exchange(gate, gate + 1, SeqCst, SeqCst).is_err() {
                continue;
            }
            last = gate / NUMBER;
            self.work(number);
            self.gate.fetch_sub(1, SeqCst);
        }
    }

    /// Works, being counted inside.
    #[allow(unsafe_code)]
    fn work(&self, number: usize) {
        // SAFETY. Whoever is counted inside came through an open gate: `open` had stored the pointer, and does not
        // store another one, nor let go of what it points to, before its `Closing` has seen everybody leave.
        let work = unsafe { *self.work.load(SeqCst) };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(number))) {
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }

    /// Waits for an open gate of another number than the last; none when the crew is dismissed.
    fn next(&self, last: u64) -> Option<u64> {
        let open = || {
            let gate = self.gate.load(SeqCst);
            (gate & OPEN != 0 && gate / NUMBER != last).then_some(gate)
        };
        let started = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if let Some(gate) = open() {
                    return Some(gate);
                }
                std::hint::spin_loop();
            }
            if self.dismissed.load(SeqCst) {
                return None;
            }
            if started.elapsed() > PATIENCE {
                break;
            }
        }
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        // Said before the last look: whoever opens the gate after it will see it.
        self.asleep.fetch_add(1, SeqCst);
        let found = loop {
            let found = open();
            if found.is_some() || self.dismissed.load(SeqCst) {
                break found;
            }
            bed = self.alarm.wait(bed).unwrap_or_else(PoisonError::into_inner);
        };
        self.asleep.fetch_sub(1, SeqCst);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each piece is done once, whoever comes.
    #[test]
    fn everything_is_done_once() {
        let crew = Crew::new(4);
        for pause in [0, 1, 1000] {
            for round in 0..200 {
                std::thread::sleep(Duration::from_micros(if round % 20 == 0 { pause } else { 0 }));
                let next = AtomicUsize::new(0);
                let done = [const { AtomicUsize::new(0) }; 50];
                crew.call(&|_| {
                    while let Some(piece) = done.get(next.fetch_add(1, SeqCst)) {
                        piece.fetch_add(1, SeqCst);
                    }
                });
                assert!(done.iter().all(|d| d.load(SeqCst) == 1));
            }
        }
    }

    /// Two who call at once, and one who calls from within, are all served.
    #[test]
    fn callers_do_not_wait_for_each_other() {
        let crew = Crew::new(3);
        let count = AtomicUsize::new(0);
        let counted = |times: usize| {
            for _ in 0..times {
                let once = AtomicBool::new(false);
                crew.call(&|_| {
                    if !once.swap(true, SeqCst) {
                        crew.call(&|number| {
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

    /// A panic of a member reaches the caller, and the crew goes on.
    #[test]
    fn a_panic_is_handed_on() {
        let crew = Crew::new(2);
        let panicked = AtomicBool::new(false);
        // Until the other one comes.
        while !panicked.load(SeqCst) {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                crew.call(&|number| {
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
        crew.call(&|_| {
            calls.fetch_add(1, SeqCst);
        });
        assert!(calls.into_inner() >= 1);
    }
}
