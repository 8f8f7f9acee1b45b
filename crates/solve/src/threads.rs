//! The one place where threads live.
//!
//! Results are identical to the bit for any number of threads. That is kept by construction: work is cut into
//! chunks whose borders depend on the data alone, every chunk is computed by one thread with the same instructions,
//! and partial results are combined in the order of the chunks. Floating-point addition is not associative, so a
//! reduction tree shaped by the scheduler would not repeat.
//!
//! With one thread, or one chunk, nothing here touches other threads; and nothing asks for memory but for results.

use crate::crew::Crew;
use crate::work::{Chunks, Parts, Work};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Threads in use; 0 until the first question or [`set_threads`].
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The crew for more than one thread, made when first needed and replaced when the count changes.
static CREW: RwLock<Option<Arc<Crew>>> = RwLock::new(None);
/// Among so many, at most, work is divided beforehand; more take what is left.
const SHARES: usize = 16;

thread_local! {
    /// Whether this thread works by itself.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Does something on this thread alone, whatever the count: work in the background that leaves the crew to others.
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
/// Work already under way finishes with the crew it started with.
pub fn set_threads(n: usize) {
    let n = if n == 0 { cores() } else { n };
    // The count is written under the lock, so that no crew of another size can be put in its place.
    let mut crew = CREW.write().unwrap_or_else(PoisonError::into_inner);
    COUNT.store(n, Ordering::Release);
    // One thread needs no crew, and leaves the last to its sleep.
    if n > 1 && crew.as_ref().is_some_and(|c| c.size() != n) {
        *crew = None;
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

/// The crew, or none if one thread is asked for.
fn crew() -> Option<Arc<Crew>> {
    if threads() <= 1 {
        return None;
    }
    if let Some(crew) = CREW.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        return Some(crew.clone());
    }
    let mut slot = CREW.write().unwrap_or_else(PoisonError::into_inner);
    let n = count();
    if slot.is_none() && n > 1 {
        *slot = Some(Arc::new(Crew::new(n)));
    }
    slot.clone()
}

/// Calls `f(index, piece)` for every piece of work.
///
/// Everybody begins with the pieces of a share of his own, the same in every loop over the same data, which is then where he left
/// it; and then helps the others.
fn share<W: Work>(mut work: W, f: impl Fn(usize, W::Piece) + Sync) {
    let pieces = work.pieces();
    let Some(crew) = (pieces > 1).then(crew).flatten() else {
        let mut i = 0;
        while let Some(piece) = work.next() {
            f(i, piece);
            i += 1;
        }
        return;
    };
    let count = crew.size().min(SHARES);
    let (mut rest, mut taken) = (Some(work), 0);
    let shares: [_; SHARES] = std::array::from_fn(|k| {
        let to = if k < count { pieces * (k + 1) / count } else { pieces };
        let first = std::mem::replace(&mut taken, to);
        let (own, others) = rest.take().map(|rest| rest.cut(to - first)).unzip();
        rest = others;
        Mutex::new((first, own))
    });
    crew.call(&|number| {
        for k in 0..count {
            let share = &shares[(number + k) % count];
            // The lock is let go of before the work begins.
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
    assert!(slices.iter().all(|s| s.len() == n), "slices that are cut alike have the same length");
    share(Chunks { slices, chunk }, |i, Chunks { slices, .. }| f(i, slices));
}

/// Calls `f(index, part)` for consecutive parts of `data`, which begin at `starts`: one more entry than parts, the first 0.
///
/// # Panics
/// If `starts` is empty, descends, or goes beyond the data.
pub fn par_parts_mut<T: Send>(data: &mut [T], starts: &[u32], f: impl Fn(usize, &mut [T]) + Sync) {
    share(Parts { data, starts }, f);
}

/// Numbers per task of the plain vector loops below: some µs of work.
const CHUNK: usize = 1 << 12;

/// Sets every number to 0.
pub fn clear(x: &mut [f64]) {
    par_chunks_mut(x, CHUNK, |_, x| x.fill(0.0));
}

/// Whether `good` holds for the ranges that cut up `0..count`: the first range for which it does not.
pub fn first_bad(count: usize, good: impl Fn(Range<usize>) -> bool + Sync) -> Option<Range<usize>> {
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
    a.len() == b.len() && first_bad(a.len(), |at| a[at.clone()] == b[at]).is_none()
}

/// Makes `to` a copy of `from`.
pub fn copy(from: &[f64], to: &mut Vec<f64>) {
    to.resize(from.len(), 0.0);
    par_chunks_mut(to, CHUNK, |k, to| to.copy_from_slice(&from[k * CHUNK..k * CHUNK + to.len()]));
}

/// `[f(0), f(1), …, f(count − 1)]`, in this order. Each call should be worth a few microseconds.
pub fn par_map<R: Send>(count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if count <= 1 || threads() == 1 {
        return (0..count).map(f).collect();
    }
    let mut out: Vec<Option<R>> = std::iter::repeat_with(|| None).take(count).collect();
    par_chunks_mut(&mut out, 1, |i, out| out[0] = Some(f(i)));
    out.into_iter().flatten().collect()
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
