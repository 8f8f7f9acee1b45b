//! The common beam dropped by explicit steps of 0.2 ms: tets per second on one thread, beside what the machine can do, and
//! what a second thread gains.
//!
//! What binds is found by two limits measured in the same turns: the bandwidth of a triad, for the bytes that forces must
//! move (see `explicit`), and the rate of the force kernel where everything is in cache. A second thread is worth what it is
//! worth to a loop that only computes: cores may share units, and clocks fall when both work.

use super::explicit::{Bounds, median};
use super::figures::{Figures, Limit};
use super::{best, integrator};
use crate::failure::{Done, Failure};
use lilyan_dynamics::{Simulation, System};
use lilyan_scene::build::{build, open};
use lilyan_solid::Model;
use lilyan_solve::threads;

/// Cells across: 98,304 tets.
const CELLS: usize = 16;
const STEP: f64 = 2e-4;
const TURNS: usize = 31;
/// Steps and calls that are timed together: some 3 ms.
const CALLS: usize = 2;

pub fn run(figures: &mut Figures) -> Done {
    let all = threads::threads();
    let mut beam = beam(CELLS)?;
    let tets = (24 * CELLS.pow(3)) as f64;
    let mut verlet = integrator("verlet", &[])?;
    let mut g = vec![0.0; beam.system.dofs()];
    let mut failed = None;
    let mut sides = [Vec::new(), Vec::new()];
    let mut arithmetic = [Vec::new(), Vec::new()];
    let counts = [1, 2.min(all)];
    for _ in 0..TURNS {
        for (k, &count) in counts.iter().enumerate() {
            threads::set_threads(count);
            let Simulation { system, state, .. } = &mut beam;
            let force = best(CALLS, 0.0, || system.gradient(0.0, &state.q, &mut g));
            let step = best(CALLS, 0.0, || {
                failed = failed.take().or(verlet.step(&*system, state, STEP).err());
            });
            sides[k].push([force, step]);
            arithmetic[k].push(best(CALLS, 0.0, busy));
        }
    }
    if let Some(e) = failed {
        threads::set_threads(all);
        return Err(Failure::stopped(e));
    }
    let time = |k: usize, what: usize| median(sides[k].iter().map(|t| t[what]));
    threads::set_threads(1);
    let limits = Bounds::of("neo-hookean-log")?;
    threads::set_threads(all);
    let rate = |seconds: f64| 1e-6 * tets / seconds;
    figures.hold("forces, one thread", rate(time(0, 0)), "million tets/s", Limit::AtLeast(50.0));
    figures.hold("step, one thread", rate(time(0, 1)), "million tets/s", Limit::AtLeast(40.0));
    figures.add("bandwidth allows, one thread", 1e-6 * limits.by_bandwidth, "million tets/s");
    figures.add("arithmetic allows, one thread", 1e-6 * limits.from_cache, "million tets/s");
    let least = limits.by_bandwidth.min(limits.from_cache);
    figures.hold(
        "forces, share of the lower",
        100.0 * 1e6 * rate(time(0, 0)) / least,
        "%",
        Limit::AtLeast(50.0),
    );
    let binds = if limits.from_cache < limits.by_bandwidth { "arithmetic" } else { "bandwidth" };
    figures.remark(format!("{binds} binds the forces"));
    if counts[1] == 2 {
        // Turn by turn: what the neighbours of a shared machine take changes from one to the next.
        let ratio = |what: usize| {
            median((0..TURNS).map(|t| {
                let gain = sides[0][t][what] / sides[1][t][what];
                gain / (2.0 * arithmetic[0][t] / arithmetic[1][t])
            }))
        };
        let loops = median((0..TURNS).map(|t| 2.0 * arithmetic[0][t] / arithmetic[1][t]));
        figures.add("two threads: gain of a loop that only computes", loops, "");
        figures.add("two threads: gain of the forces", time(0, 0) / time(1, 0), "");
        figures.add("two threads: gain of the step", time(0, 1) / time(1, 1), "");
        figures.hold("gain of the forces over that of the loop", ratio(0), "", Limit::AtLeast(0.9));
        figures.hold("gain of the step over that of the loop", ratio(1), "", Limit::AtLeast(0.9));
    } else {
        figures.remark("one core only: what a second thread gains was not measured");
    }
    figures.remark("common beam of 98,304 tets, neo-hookean-log, Verlet, h = 0.2 ms");
    Ok(())
}

/// The common beam with so many cells across.
fn beam(n: usize) -> Result<Simulation<Model>, Failure> {
    let cells = format!("body.beam.mesh.box.cells=[{}, {n}, {n}]", 4 * n);
    let scene = open("bench-beam", &[&cells]).map_err(Failure::input)?;
    Ok(build(&scene).map_err(Failure::input)?.simulation)
}

/// As much arithmetic for each thread, whatever their number.
fn busy() {
    let mut sums = vec![0.0; threads::threads()];
    threads::par_chunks_mut(&mut sums, 1, |k, sum| {
        let mut x = [1.0 + k as f64, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7];
        for _ in 0..1_000_000 {
            for x in &mut x {
                *x = *x * 0.999_999 + 1e-6;
            }
        }
        sum[0] = x.iter().sum();
    });
    std::hint::black_box(&sums);
}
