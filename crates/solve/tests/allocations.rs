//! After the first time, factorising, solving and multiplying ask for no memory. One test: the counter is global.
#![allow(unsafe_code)]

mod common;
use common::*;
use lilyan_solve::threads::{par_chunks_mut, set_threads, sum_chunks};
use lilyan_solve::{Cholesky, Ordering};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;
static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator unchanged; counting has no effect on memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_is_allocated_after_the_first_time() {
    set_threads(1);
    let (points, tets) = kuhn_box(8, 8, 12);
    let (k, mut a) = elasticity(&points, &tets, 5.0, 1.0);
    a.add_scaled(0.5, &k);
    a.add_block(points.len() - 1, 0, &[0.001; 9]);
    let mut x = Random(1).vector(4 * a.dofs());
    let mut y = vec![0.0; a.dofs()];
    for ordering in [Ordering::MinimumDegree, Ordering::NestedDissection] {
        let mut cholesky = Cholesky::with_ordering(ordering);
        let mut round = |x: &mut [f64]| {
            cholesky.factor(&a).unwrap();
            cholesky.solve_many(x, 4);
            cholesky.solve(&mut x[..y.len()]);
            a.mul_vec(&x[..y.len()], &mut y);
            let mut sum = a.quadratic_form(&y);
            sum += sum_chunks(y.len(), 100, |r| y[r].iter().sum());
            par_chunks_mut(&mut y, 100, |i, part| part.iter_mut().for_each(|v| *v += i as f64 * sum));
        };
        round(&mut x);
        let before = COUNT.load(Relaxed);
        round(&mut x);
        round(&mut x);
        assert_eq!(COUNT.load(Relaxed) - before, 0, "{ordering:?}");
    }
}
