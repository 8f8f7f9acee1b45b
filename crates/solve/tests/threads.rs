//! D1: identical bits for 1, 2, 3 and 8 threads. One test, since the number of threads is global.

mod common;
use common::*;
use lilyan_parallel::threads::{
    alone, first_failing, par_chunks_mut, par_map, par_parts_mut, set_threads, sum_chunks, threads,
};
use lilyan_solve::{BlockMatrix, Cholesky, Identity, cg, from_fn, gmres, largest_eigenvalue, lowest_modes};

/// Everything this crate computes, as bits.
fn everything(k: &BlockMatrix, m: &BlockMatrix, held: &[bool]) -> Vec<u64> {
    let n = k.dofs();
    let mut out = Vec::new();
    let x = Random(1).vector(n);
    let mut y = vec![0.0; n];
    k.mul_vec(&x, &mut y);
    out.extend(bits(&y));
    out.push(k.quadratic_form(&x).to_bits());
    let mut a = m.clone();
    a.add_scaled(1e-4, k);
    a.hold(held);
    let mut cholesky = Cholesky::new();
    cholesky.factor(&a).unwrap();
    let mut z = x.repeat(3);
    cholesky.solve_many(&mut z, 3);
    out.extend(bits(&z));
    cholesky.precondition(&mut z[..n]);
    out.extend(bits(&z));
    for solver in [cg, gmres] {
        let mut z = vec![0.0; n];
        let report = solver(&mut &a, &mut Identity, &x, &mut z, 1e-6, 200);
        assert!(report.converged);
        out.extend(bits(&z));
    }
    let modes = lowest_modes(k, m, held, 8, 1e-9).unwrap();
    out.extend(bits(&modes.values));
    modes.vectors.iter().for_each(|u| out.extend(bits(u)));
    let mass = m.diagonal();
    out.push(largest_eigenvalue(&mut |x, y| k.mul_vec(x, y), &mass, held, 1e-3).to_bits());
    // long enough for several chunks in every vector operation
    let size = 100_000;
    let b = Random(3).vector(size);
    let mut chain = from_fn(size, |x, y| {
        for i in 0..size {
            y[i] = (2.1 + (i % 7) as f64) * x[i] - x[i.saturating_sub(1)] - x[(i + 1).min(size - 1)];
        }
    });
    for solver in [cg, gmres] {
        let mut z = vec![0.0; size];
        assert!(solver(&mut chain, &mut Identity, &b, &mut z, 1e-6, 200).converged);
        out.extend(bits(&z));
    }
    let long = Random(2).vector(300_000);
    out.push(sum_chunks(long.len(), 1000, |r| long[r].iter().sum()).to_bits());
    let mut squares = long.clone();
    par_chunks_mut(&mut squares, 777, |i, part| part.iter_mut().for_each(|v| *v = *v * *v + i as f64));
    out.extend(bits(&squares));
    let starts: Vec<u32> = (0..=1000).map(|k| k * k * 3 / 10).collect();
    par_parts_mut(&mut squares, &starts, |i, part| part.iter_mut().for_each(|v| *v /= 1.0 + i as f64));
    out.extend(bits(&squares));
    let bad = first_failing(size, |r| b[r].iter().all(|v| v.abs() < 0.999));
    out.extend(bad.map(|r| r.start as u64));
    out.extend(par_map(1000, |i| (i as f64).sin().to_bits()));
    out
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    // 6,171 dofs: nested dissection, and a product in several chunks.
    let (points, tets) = kuhn_box(10, 10, 16);
    let (k, m) = elasticity(&points, &tets, 1e3, 5e2);
    let held: Vec<bool> = (0..k.dofs()).map(|d| points[d / 3][2] == 0.0).collect();
    set_threads(1);
    assert_eq!(threads(), 1);
    let expected = everything(&k, &m, &held);
    assert!(everything(&k, &m, &held) == expected, "repeated");
    for count in [2, 3, 8] {
        set_threads(count);
        assert_eq!(threads(), count);
        assert!(everything(&k, &m, &held) == expected, "{count} threads");
    }
    alone(|| assert_eq!(threads(), 1));
    assert!(alone(|| everything(&k, &m, &held)) == expected, "alone");
    let ended = std::panic::catch_unwind(|| alone(|| std::panic::resume_unwind(Box::new(()))));
    assert!(ended.is_err() && threads() == 8, "the others are back, however it ends");
    set_threads(0);
    assert_eq!(threads(), std::thread::available_parallelism().unwrap().get());

    // and the edges of the helpers themselves
    for count in [1, 3] {
        set_threads(count);
        assert_eq!(par_map(0, |i| i), Vec::<usize>::new());
        assert_eq!(par_map(5, |i| i * i), vec![0, 1, 4, 9, 16]);
        assert_eq!(sum_chunks(0, 4, |_| 1.0), 0.0);
        assert_eq!(sum_chunks(10, 4, |r| r.len() as f64), 10.0);
        par_chunks_mut(&mut [] as &mut [u8], 3, |_, _| panic!("nothing to do"));
        let mut data = [0; 10];
        par_chunks_mut(&mut data, 4, |i, part| part.fill(i));
        assert_eq!(data, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
        // nested, and on many threads at once
        assert_eq!(par_map(4, |i| par_map(3, |j| i * j).iter().sum::<usize>()), vec![0, 3, 6, 9]);
    }
}
