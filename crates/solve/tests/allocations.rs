//! After the first time, factorising, solving and multiplying ask for no memory. One test: the counter is global.

mod common;
mod counting;
use common::*;
use counting::asked;
use lilyan_parallel::threads::{par_chunks_mut, set_threads, sum_chunks};
use lilyan_solve::{Cholesky, Ordering};

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
        let count = asked(|| {
            round(&mut x);
            round(&mut x);
        });
        assert_eq!(count, 0, "{ordering:?}");
    }
}
