//! How long the parts of this crate take on boxes of linear tetrahedra, A = M + h²K as in an implicit step.
//!
//!     cargo run --release -p lilyan-solve --example measure -- 8 16 24

#[path = "../tests/common/mod.rs"]
mod common;
use common::*;
use lilyan_parallel::threads;
use lilyan_solve::{Cholesky, Identity, cg, largest_eigenvalue, lowest_modes};
use std::time::Instant;

fn main() {
    for cells in std::env::args().skip(1).filter_map(|a| a.parse().ok()) {
        let (points, tets) = kuhn_box(cells, cells, cells);
        // E = 1e6, ν = .45, a metre wide, 1000 kg/m³, h = .01
        let points: Vec<[f64; 3]> = points.iter().map(|p| p.map(|c| c / cells as f64)).collect();
        let (lambda, mu) = (1e6 * 0.45 / (1.45 * 0.1), 1e6 / 2.9);
        let clock = Instant::now();
        let pattern = pattern_of(points.len(), &tets);
        let pattern_time = clock.elapsed();
        let (k, mut m) = elasticity(&points, &tets, lambda, mu);
        m.scale(1000.0);
        let held: Vec<bool> = (0..k.dofs()).map(|d| points[d / 3][2] == 0.0).collect();
        let mut a = m.clone();
        a.add_scaled(1e-4, &k);
        a.hold(&held);
        println!("{cells}³ cells, {} tets, {} dofs, {} blocks", tets.len(), a.dofs(), pattern.len());
        println!("  pattern               {pattern_time:10.2?}");
        let mut cholesky = Cholesky::new();
        let clock = Instant::now();
        cholesky.factor(&a).unwrap();
        println!("  analyse and factorise {:10.2?}", clock.elapsed());
        let clock = Instant::now();
        cholesky.factor(&a).unwrap();
        let factor = clock.elapsed();
        let rate = cholesky.flops_estimate() / factor.as_secs_f64() / 1e9;
        println!(
            "  factorise again       {factor:10.2?}  {rate:.1} Gflop/s, {} nonzeros",
            cholesky.nonzeros()
        );
        for columns in [1, 10] {
            let mut x = Random(1).vector(a.dofs() * columns);
            cholesky.solve_many(&mut x, columns);
            let clock = Instant::now();
            cholesky.solve_many(&mut x, columns);
            println!("  solve {columns:2}              {:10.2?}", clock.elapsed());
        }
        let (x, mut y) = (Random(2).vector(a.dofs()), vec![0.0; a.dofs()]);
        for count in [1, 2, 3] {
            threads::set_threads(count);
            a.mul_vec(&x, &mut y);
            let clock = Instant::now();
            (0..20).for_each(|_| a.mul_vec(&x, &mut y));
            println!("  product, {count} threads    {:10.2?}", clock.elapsed() / 20);
        }
        threads::set_threads(1);
        let mut z = vec![0.0; a.dofs()];
        let clock = Instant::now();
        let report = cg(&mut &a, &mut Identity, &x, &mut z, 1e-8, 2000);
        println!("  CG, no preconditioner {:10.2?}  {} iterations", clock.elapsed(), report.iterations);
        let clock = Instant::now();
        let modes = lowest_modes(&k, &m, &held, 10, 1e-8).unwrap();
        println!("  10 modes, held        {:10.2?}  λ₁ {:.4}", clock.elapsed(), modes.values[0]);
        let clock = Instant::now();
        let modes = lowest_modes(&k, &m, &vec![false; k.dofs()], 16, 1e-8).unwrap();
        println!("  16 modes, free        {:10.2?}  λ₇ {:.4}", clock.elapsed(), modes.values[6]);
        let mut mass = vec![0.0; m.dofs()];
        m.mul_vec(&vec![1.0; m.dofs()], &mut mass);
        let clock = Instant::now();
        let largest = largest_eigenvalue(&mut |x, y| k.mul_vec(x, y), &mass, &held, 1e-3);
        println!("  largest eigenvalue    {:10.2?}  {largest:.4e}", clock.elapsed());
    }
}
