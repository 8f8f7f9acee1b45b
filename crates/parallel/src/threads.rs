//! Parallel loops.
//!
//! Results are identical to the bit for any number of threads, by construction: work is cut into chunks whose borders depend
//! on the data alone, every chunk is computed by one thread with the same instructions, and partial results are combined in
//! the order of the chunks. Floating-point addition is not associative, so a reduction tree shaped by the scheduler would not
//! repeat.
//!
//! With one thread, or one chunk, no other thread is involved. Only results allocate memory.
//!
//! ```
//! use lilyan_parallel::threads::{par_chunks_mut, set_threads, sum_chunks};
//!
//! let mut x = vec![0.1; 100_000];
//! par_chunks_mut(&mut x, 1000, |chunk, x| x.iter_mut().for_each(|x| *x *= chunk as f64));
//! let sum = |threads| {
//!     set_threads(threads);
//!     sum_chunks(x.len(), 1000, |range| x[range].iter().sum())
//! };
//! assert_eq!(sum(1).to_bits(), sum(3).to_bits());
//! ```

use crate::pool::ThreadPool;
use crate::split::{Chunks, Divisible, Ranges};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Number of threads; 0 until the first use or [`set_threads`].
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The pool for more than one thread. It is created on first use and replaced when the number changes.
static POOL: RwLock<Option<Arc<ThreadPool>>> = RwLock::new(None);
/// Work is divided in advance among at most this many threads. Further threads help the others.
const MAX_SHARES: usize = 16;

thread_local! {
    /// Whether this thread does not use the pool.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on this thread alone, for background jobs that leave the pool to others.
pub fn alone<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _restore = Restore(ALONE.replace(true));
    work()
}

/// Uses `n` threads from now on; 0 means all cores.
///
/// Work that is already running finishes with the pool it started with.
pub fn set_threads(n: usize) {
    let n = if n == 0 { cores() } else { n };
    // The count is written under the lock, so that no pool of another size can be stored in between.
    let mut pool = POOL.write().unwrap_or_else(PoisonError::into_inner);
    COUNT.store(n, Ordering::Release);
    // One thread needs no pool. An existing pool stays; its workers sleep.
    if n > 1 && pool.as_ref().is_some_and(|pool| pool.size() != n) {
        *pool = None;
    }
}

/// The number of threads that work on this thread uses.
pub fn threads() -> usize {
    if ALONE.get() { 1 } else { count() }
}

fn count() -> usize {
    match COUNT.load(Ordering::Acquire) {
        0 => {
            let n = cores();
            // A concurrent `set_threads` has priority.
            let _ = COUNT.compare_exchange(0, n, Ordering::AcqRel, Ordering::Acquire);
            COUNT.load(Ordering::Acquire)
        }
        n => n,
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The pool; `None` for one thread.
fn pool() -> Option<Arc<ThreadPool>> {
    if threads() <= 1 {
        return None;
    }
    if let Some(pool) = POOL.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        return Some(pool.clone());
    }
    let mut slot = POOL.write().unwrap_or_else(PoisonError::into_inner);
    let n = count();
    if slot.is_none() && n > 1 {
        *slot = Some(Arc::new(ThreadPool::new(n)));
    }
    slot.clone()
}

/// Calls `f(index, piece)` for every piece of work.
///
/// Every thread begins with its own share of the pieces. The share is the same in every loop over the same data, and is
/// therefore in the cache of the thread. Afterwards the thread helps the others.
fn share<W: Divisible>(mut work: W, f: impl Fn(usize, W::Piece) + Sync) {
    let pieces = work.pieces();
    let Some(pool) = (pieces > 1).then(pool).flatten() else {
        let mut i = 0;
        while let Some(piece) = work.next() {
            f(i, piece);
            i += 1;
        }
        return;
    };
    let count = pool.size().min(MAX_SHARES);
    let (mut remaining, mut assigned) = (Some(work), 0);
    let shares: [_; MAX_SHARES] = std::array::from_fn(|k| {
        let to = if k < count { pieces * (k + 1) / count } else { pieces };
        let first = std::mem::replace(&mut assigned, to);
        let (share, others) = remaining.take().map(|work| work.split(to - first)).unzip();
        remaining = others;
        Mutex::new((first, share))
    });
    pool.call(&|number| {
        for k in 0..count {
            let share = &shares[(number + k) % count];
            // The lock is released before the work begins.
            let next = || {
                let (i, left) = &mut *share.lock().unwrap_or_else(PoisonError::into_inner);
                let piece = left.as_mut()?.next()?;
                *i += 1;
                Some((*i - 1, piece))
            };
            while let Some((i, piece)) = next() {
                f(i, piece);
            }
        }
    });
}

/// Calls `f(index of the chunk, chunk)` for every `chunk` consecutive items of `data` (the last may be shorter).
///
/// # Panics
/// If `chunk` is 0.
pub fn par_chunks_mut<T: Send>(data: &mut [T], chunk: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    assert!(chunk > 0, "chunks must hold at least one item");
    share(Chunks { slices: [data], chunk }, |i, Chunks { slices: [part], .. }| f(i, part));
}

/// Calls `f(index, parts)` for every `chunk` consecutive items of several slices of equal length.
///
/// # Panics
/// If `chunk` is 0 or the lengths differ.
pub fn par_chunks_mut_of<const N: usize>(
    slices: [&mut [f64]; N],
    chunk: usize,
    f: impl Fn(usize, [&mut [f64]; N]) + Sync,
) {
    assert!(chunk > 0, "chunks must hold at least one item");
    let n = slices.first().map_or(0, |s| s.len());
    assert!(slices.iter().all(|s| s.len() == n), "slices that are split together must have the same length");
    share(Chunks { slices, chunk }, |i, Chunks { slices, .. }| f(i, slices));
}

/// Calls `f(index, part)` for consecutive parts of `data`, which begin at `starts`: one more entry than parts, the first 0.
///
/// # Panics
/// If `starts` is empty, descends, or goes beyond the data.
pub fn par_parts_mut<T: Send>(data: &mut [T], starts: &[u32], f: impl Fn(usize, &mut [T]) + Sync) {
    share(Ranges { data, starts }, f);
}

/// Entries per task of the vector loops below: a few µs of work.
const CHUNK: usize = 1 << 12;

/// Sets every entry to 0.
pub fn clear(x: &mut [f64]) {
    par_chunks_mut(x, CHUNK, |_, x| x.fill(0.0));
}

/// Divides `0..count` into ranges and returns the first one for which `good` is false.
pub fn first_failing(count: usize, good: impl Fn(Range<usize>) -> bool + Sync) -> Option<Range<usize>> {
    let range = |k: usize| k * CHUNK..count.min((k + 1) * CHUNK);
    let chunks = count.div_ceil(CHUNK);
    let first = AtomicUsize::new(chunks);
    share(0..chunks, |_, k| {
        if !good(range(k)) {
            first.fetch_min(k, Ordering::Relaxed);
        }
    });
    Some(first.into_inner()).filter(|&k| k < chunks).map(range)
}

/// Whether two vectors are equal.
pub fn equal(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && first_failing(a.len(), |at| a[at.clone()] == b[at]).is_none()
}

/// Copies `from` to `to`.
pub fn copy(from: &[f64], to: &mut Vec<f64>) {
    to.resize(from.len(), 0.0);
    par_chunks_mut(to, CHUNK, |k, to| to.copy_from_slice(&from[k * CHUNK..k * CHUNK + to.len()]));
}

/// `[f(0), f(1), …, f(count − 1)]`, in this order. Each call should take at least a few microseconds.
pub fn par_map<R: Send>(count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if count <= 1 || threads() == 1 {
        return (0..count).map(f).collect();
    }
    let mut out: Vec<Option<R>> = std::iter::repeat_with(|| None).take(count).collect();
    par_chunks_mut(&mut out, 1, |i, out| out[0] = Some(f(i)));
    out.into_iter().flatten().collect()
}

/// `Σ f(range)` over consecutive ranges of length `chunk` in `0..count`, added in their order.
///
/// # Panics
/// If `chunk` is 0.
pub fn sum_chunks(count: usize, chunk: usize, f: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    assert!(chunk > 0, "chunks must hold at least one item");
    let chunks = count.div_ceil(chunk);
    let part = |i: usize| f(i * chunk..count.min((i + 1) * chunk));
    if chunks > 1 && threads() > 1 {
        return par_map(chunks, part).into_iter().fold(0.0, |sum, p| sum + p);
    }
    (0..chunks).fold(0.0, |sum, i| sum + part(i))
}
