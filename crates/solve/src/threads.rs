//! The one place where threads live.
//!
//! Results are identical to the bit for any number of threads. That is kept by construction: work is cut into
//! chunks whose borders depend on the data alone, every chunk is computed by one thread with the same instructions,
//! and partial results are combined in the order of the chunks. Floating-point addition is not associative, so a
//! reduction tree shaped by the scheduler (what `rayon`'s own `sum` does) would not repeat.
//!
//! With one thread, or one chunk, nothing here touches the pool or the heap.

use rayon::prelude::*;
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Threads in use; 0 until the first question or [`set_threads`].
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The pool for more than one thread, made when first needed and replaced when the count changes.
static POOL: RwLock<Option<Arc<rayon::ThreadPool>>> = RwLock::new(None);

thread_local! {
    /// Whether this thread works by itself.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Does something on this thread alone, whatever the count: work in the background that leaves the pool to others.
pub fn alone<R>(work: impl FnOnce() -> R) -> R {
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _back = Back(ALONE.replace(true));
    work()
}

/// Uses `n` threads from now on; 0 means all cores.
///
/// Work already under way finishes on the pool it started with.
pub fn set_threads(n: usize) {
    let n = if n == 0 { cores() } else { n };
    // The count is written under the lock, so that no pool of another size can be put in its place.
    let mut pool = POOL.write().unwrap_or_else(PoisonError::into_inner);
    COUNT.store(n, Ordering::Release);
    if pool.as_ref().is_some_and(|p| p.current_num_threads() != n) {
        *pool = None;
    }
}

/// The number of threads in use here.
pub fn threads() -> usize {
    if ALONE.get() { 1 } else { count() }
}

fn count() -> usize {
    match COUNT.load(Ordering::Acquire) {
        0 => {
            let n = cores();
            // A `set_threads` that came first wins.
            let _ = COUNT.compare_exchange(0, n, Ordering::AcqRel, Ordering::Acquire);
            COUNT.load(Ordering::Acquire)
        }
        n => n,
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The pool, or none if one thread is asked for or the system gives no more threads (then the caller runs alone:
/// slower, same bits).
fn pool() -> Option<Arc<rayon::ThreadPool>> {
    if threads() <= 1 {
        return None;
    }
    if let Some(pool) = POOL.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        return Some(pool.clone());
    }
    let mut slot = POOL.write().unwrap_or_else(PoisonError::into_inner);
    let n = count();
    if slot.is_none() && n > 1 {
        let built =
            rayon::ThreadPoolBuilder::new().num_threads(n).thread_name(|i| format!("lilyan-{i}")).build();
        *slot = built.ok().map(Arc::new);
    }
    slot.clone()
}

/// Calls `f(index of the chunk, chunk)` for every `chunk` consecutive items of `data` (the last may be shorter).
///
/// # Panics
/// If `chunk` is 0.
pub fn par_chunks_mut<T: Send>(data: &mut [T], chunk: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    assert!(chunk > 0, "chunks must hold at least one item");
    if data.len() > chunk
        && let Some(pool) = pool()
    {
        pool.install(|| data.par_chunks_mut(chunk).enumerate().for_each(|(i, part)| f(i, part)));
        return;
    }
    data.chunks_mut(chunk).enumerate().for_each(|(i, part)| f(i, part));
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
    assert!(slices.iter().all(|s| s.len() == n), "slices that are cut alike have the same length");
    let mut parts = slices.map(|s| s.chunks_mut(chunk));
    let rows = (0..n.div_ceil(chunk)).map(|_| parts.each_mut().map(|p| p.next().unwrap_or_default()));
    if n > chunk
        && let Some(pool) = pool()
    {
        let rows: Vec<_> = rows.collect();
        pool.install(|| rows.into_par_iter().enumerate().for_each(|(i, row)| f(i, row)));
        return;
    }
    rows.enumerate().for_each(|(i, row)| f(i, row));
}

/// Numbers per task of the plain vector loops below: some 10 µs of work.
const CHUNK: usize = 1 << 14;

/// Sets every number to 0.
pub fn clear(x: &mut [f64]) {
    par_chunks_mut(x, CHUNK, |_, x| x.fill(0.0));
}

/// Whether `good` holds for the ranges that cut up `0..count`: the first range for which it does not.
pub fn first_bad(count: usize, good: impl Fn(Range<usize>) -> bool + Sync) -> Option<Range<usize>> {
    let range = |k: usize| k * CHUNK..count.min((k + 1) * CHUNK);
    let bad = par_map(count.div_ceil(CHUNK), |k| !good(range(k)));
    bad.iter().position(|bad| *bad).map(range)
}

/// Whether two vectors are equal.
pub fn equal(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && first_bad(a.len(), |at| a[at.clone()] == b[at]).is_none()
}

/// Makes `to` a copy of `from`.
pub fn copy(from: &[f64], to: &mut Vec<f64>) {
    to.resize(from.len(), 0.0);
    par_chunks_mut(to, CHUNK, |k, to| to.copy_from_slice(&from[k * CHUNK..k * CHUNK + to.len()]));
}

/// `[f(0), f(1), …, f(count − 1)]`, in this order. Each call should be worth a few microseconds.
pub fn par_map<R: Send>(count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if count > 1
        && let Some(pool) = pool()
    {
        return pool.install(|| (0..count).into_par_iter().map(&f).collect());
    }
    (0..count).map(f).collect()
}

/// `Σ f(range)` over the ranges of `chunk` consecutive numbers that cut up `0..count`, added in their order.
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
