//! Linear systems of integrators that solve one per step: accuracy, momenta, and what is remembered.

use lilyan_solve::newton::{Curvature, Linearisation, ReuseKey, RigidMotions, Workspace, dot};
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// Nodes along an edge of the lattice: more unknowns than are always solved by a factor.
const SIDE: usize = 12;

/// Positions of a lattice, and springs between neighbours.
fn lattice() -> (Vec<f64>, Vec<[u32; 2]>) {
    let at = |x: [usize; 3]| ((x[0] * SIDE + x[1]) * SIDE + x[2]) as u32;
    let (mut positions, mut links) = (Vec::new(), Vec::new());
    for i in 0..SIDE {
        for j in 0..SIDE {
            for k in 0..SIDE {
                positions.extend([i as f64, 0.9 * j as f64, 1.1 * k as f64]);
                for d in [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]] {
                    let to = [i + d[0], j + d[1], k + d[2]];
                    if to.iter().all(|x| *x < SIDE) {
                        links.push([at([i, j, k]), at(to)]);
                    }
                }
            }
        }
    }
    (positions, links)
}

/// M + K of springs along their directions, which feel neither translations nor rotations.
fn springs(positions: &[f64], links: &[[u32; 2]], stiffness: f64) -> BlockMatrix {
    let nodes = positions.len() / 3;
    let pattern = BlockPattern::from_cliques(nodes, links.iter().map(|l| l.as_slice()));
    let mut a = BlockMatrix::zeros(Arc::new(pattern));
    fill(&mut a, positions, links, stiffness);
    a
}

fn fill(a: &mut BlockMatrix, positions: &[f64], links: &[[u32; 2]], stiffness: f64) {
    a.clear();
    for &[i, j] in links {
        let (i, j) = (i as usize, j as usize);
        let d: [f64; 3] = std::array::from_fn(|k| positions[3 * j + k] - positions[3 * i + k]);
        let square: f64 = d.iter().map(|x| x * x).sum();
        let block = std::array::from_fn(|k| stiffness * d[k / 3] * d[k % 3] / square);
        a.add_block(i, i, &block);
        a.add_block(j, j, &block);
        a.add_block(j, i, &block.map(|x| -x));
    }
    a.add_diagonal(&vec![1.0; positions.len()]);
}

fn load(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.37 * i as f64).sin() + 0.2).collect()
}

/// Resultant and torque about the origin.
fn resultants(positions: &[f64], forces: &[f64]) -> [f64; 6] {
    let mut sums = [0.0; 6];
    for (x, f) in positions.chunks_exact(3).zip(forces.chunks_exact(3)) {
        for k in 0..3 {
            let (u, v) = ((k + 1) % 3, (k + 2) % 3);
            sums[k] += f[k];
            sums[3 + k] += x[u] * f[v] - x[v] * f[u];
        }
    }
    sums
}

fn at<'a>(x: &'a [f64], key: Option<ReuseKey>) -> Linearisation<'a> {
    Linearisation { x, rates: &[], curvature: Curvature::Projected, key }
}

/// What a rough solve leaves over has neither a resultant nor a torque along the motions that what is held allows.
#[test]
fn a_rough_solution_keeps_momenta() {
    let (positions, links) = lattice();
    let n = positions.len();
    let nothing = vec![false; n];
    // The nodes on the x axis are held: the body may turn about it.
    let axis: Vec<bool> =
        (0..n).map(|i| positions[i / 3 * 3 + 1] == 0.0 && positions[i / 3 * 3 + 2] == 0.0).collect();
    for (held, kept) in [(nothing, &[0, 1, 2, 3, 4, 5][..]), (axis, &[3][..])] {
        let mut matrix = springs(&positions, &links, 30.0);
        let mut b = load(n);
        (0..n).filter(|&i| held[i]).for_each(|i| b[i] = 0.0);
        let mut work = Workspace::new(matrix.pattern().clone());
        matrix.hold(&held);
        work.begin_linear(None, &mut |_, _| {});
        work.matrix_mut().clone_from(&matrix);
        let mut x = b.clone();
        let solved = work.solve_linear(&at(&positions, None), &mut x, 1e-3).unwrap();
        assert!(solved.iterations > 0 && solved.error <= 1e-3, "{solved:?}");
        let left = |x: &[f64]| -> Vec<f64> {
            let mut image = vec![0.0; n];
            matrix.mul_vec(x, &mut image);
            (0..n).map(|i| if held[i] { 0.0 } else { b[i] - image[i] }).collect()
        };
        let (before, size) = (resultants(&positions, &left(&x)), resultants(&positions, &b));
        work.balance(&b, &mut x, &positions, RigidMotions::All, &held);
        let after = resultants(&positions, &left(&x));
        assert!(dot(&left(&x), &left(&x)).sqrt() < 0.1 * dot(&b, &b).sqrt());
        for &k in kept {
            assert!(before[k].abs() > 1e-7 * size[k].abs(), "{k}: a rough solution is not rough: {before:?}");
            assert!(after[k].abs() < 1e-12 * (size[k].abs() + n as f64), "{k}: {after:?}");
        }
        assert!((0..n).all(|i| !held[i] || x[i] == 0.0));
    }
}

/// A restarted work space gives the bits of one that went on, with a kept preconditioner too.
#[test]
fn a_restart_repeats_every_bit() {
    let (positions, links) = lattice();
    for stiffness in [30.0, 1e7] {
        let key = |time: f64| Some(ReuseKey { time, same: [1.0, 2.0, 3.0] });
        let stiff = |time: f64| stiffness * (1.0 + 0.01 * time);
        let mut whole = Workspace::new(springs(&positions, &links, 1.0).pattern().clone());
        let step = |work: &mut Workspace, time: f64| {
            work.begin_linear(key(time), &mut |origin, a| {
                fill(a, &origin.x, &links, stiff(origin.key.time));
            });
            fill(work.matrix_mut(), &positions, &links, stiff(time));
            let mut x = load(positions.len());
            let solved = work.solve_linear(&at(&positions, key(time)), &mut x, 1e-6).unwrap();
            (x, solved.iterations)
        };
        for time in 0..3 {
            step(&mut whole, f64::from(time));
        }
        let memory = serde_json::to_string(&whole.memory()).unwrap();
        let mut resumed = Workspace::new(springs(&positions, &links, 1.0).pattern().clone());
        resumed.restore(&serde_json::from_str(&memory).unwrap());
        for time in 3..6 {
            let (one, other) = (step(&mut whole, f64::from(time)), step(&mut resumed, f64::from(time)));
            assert_eq!(one.1, other.1, "stiffness {stiffness:e}: iterations");
            assert!(one.0 == other.0, "stiffness {stiffness:e}: solution");
        }
    }
}

/// Large stiff parts of a correction do not spoil the rest of it.
#[test]
fn a_solution_is_close_to_what_is_asked_for() {
    let (positions, links) = lattice();
    let n = positions.len();
    let matrix = springs(&positions, &links, 1e6);
    let mut work = Workspace::new(matrix.pattern().clone());
    work.begin_linear(None, &mut |_, _| {});
    work.matrix_mut().clone_from(&matrix);
    let exact = load(n);
    let mut x = vec![0.0; n];
    matrix.mul_vec(&exact, &mut x);
    // The solution has an energy of 1e6 times its kinetic one.
    let norm = dot(&exact, &exact).sqrt();
    work.solve_linear_within(&at(&positions, None), &mut x, 1e-8, &|_| norm).unwrap();
    let off: Vec<f64> = x.iter().zip(&exact).map(|(x, y)| x - y).collect();
    let mut image = vec![0.0; n];
    matrix.mul_vec(&off, &mut image);
    let error = dot(&off, &image).sqrt() / norm;
    assert!(error < 3e-8, "{error:e}");
}
