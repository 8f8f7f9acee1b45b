//! The common beam with explicit steps of 0.2 ms: tets per second on one thread relative to the limits of the machine, and
//! the speed-up by a second thread.
//!
//! Two limits are measured alternately with the steps. One is the bandwidth of a triad for the bytes that forces must move (see
//! `explicit`). The other is the rate of the force kernel on data in cache. The lower of them is the limit of the machine.
//!
//! The speed-up by a second thread is compared with that of a loop that only computes. The loop evaluates a polynomial of
//! independent numbers in the first-level cache, so that the arithmetic units limit it. Its speed-up is between 1 and 2, because
//! virtual cores may share one physical core, other processes may use it, and the clock rate falls when both cores work. A loop
//! that waits for its own results leaves arithmetic units free; its speed-up would be 2 on every machine.

use super::explicit::{Bounds, median};
use super::figures::{Figures, Limit};
use super::{best, integrator};
use crate::failure::{CommandResult, Failure};
use lilyan_dynamics::{Simulation, System};
use lilyan_parallel::threads;
use lilyan_scene::build::{build, open};
use lilyan_solid::Model;

/// Cells across the beam, which give 98,304 tets.
const CELLS: usize = 16;
const STEP: f64 = 2e-4;
const TURNS: usize = 201;
/// Steps or calls that are timed together. They take about 3 ms.
const CALLS: usize = 2;

pub fn run(figures: &mut Figures) -> CommandResult {
    let all = threads::threads();
    let (system, _, mut state) = beam(CELLS)?.into_parts();
    let tets = (24 * CELLS.pow(3)) as f64;
    let mut verlet = integrator("verlet", &[])?;
    let mut g = vec![0.0; system.dofs()];
    let mut failed = None;
    let mut turns = [Vec::new(), Vec::new()];
    let counts = [1, 2.min(all)];
    for _ in 0..TURNS {
        for (k, &count) in counts.iter().enumerate() {
            threads::set_threads(count);
            let force = best(CALLS, 0.0, || system.gradient(0.0, &state.q, &mut g));
            let step = best(CALLS, 0.0, || {
                failed = failed.take().or(verlet.step(&system, &mut state, STEP).err());
            });
            turns[k].push([force, step, best(CALLS, 0.0, busy)]);
        }
    }
    if let Some(e) = failed {
        threads::set_threads(all);
        return Err(Failure::stopped(e));
    }
    // The fastest turn counts, since other processes of a shared machine disturb each turn differently.
    let fastest = |k: usize, what: usize| turns[k].iter().map(|t| t[what]).fold(f64::INFINITY, f64::min);
    let usual = |what: usize| median(turns[0].iter().map(|t| t[what]));
    threads::set_threads(1);
    let limits = Bounds::of("neo-hookean-log")?;
    threads::set_threads(all);
    let rate = |seconds: f64| 1e-6 * tets / seconds;
    figures.hold("forces, one thread", rate(fastest(0, 0)), "million tets/s", Limit::AtLeast(50.0));
    figures.hold("step, one thread", rate(fastest(0, 1)), "million tets/s", Limit::AtLeast(40.0));
    figures.add("forces, one thread, median", rate(usual(0)), "million tets/s");
    figures.add("step, one thread, median", rate(usual(1)), "million tets/s");
    figures.add("bandwidth allows, one thread", 1e-6 * limits.by_bandwidth, "million tets/s");
    figures.add("arithmetic allows, one thread", 1e-6 * limits.from_cache, "million tets/s");
    let least = limits.by_bandwidth.min(limits.from_cache);
    figures.hold(
        "forces, share of the lower",
        100.0 * 1e6 * rate(fastest(0, 0)) / least,
        "%",
        Limit::AtLeast(50.0),
    );
    let binds = if limits.from_cache < limits.by_bandwidth { "arithmetic" } else { "bandwidth" };
    figures.remark(format!("{binds} binds the forces"));
    if counts[1] == 2 {
        let [forces, step, loops] = [0, 1, 2].map(|what| fastest(0, what) / fastest(1, what));
        figures.add("two threads: gain of a loop that only computes", 2.0 * loops, "");
        figures.add("two threads: gain of the forces", forces, "");
        figures.add("two threads: gain of the step", step, "");
        figures.hold(
            "gain of the forces over that of the loop",
            forces / (2.0 * loops),
            "",
            Limit::AtLeast(0.9),
        );
        figures.hold("gain of the step over that of the loop", step / (2.0 * loops), "", Limit::AtLeast(0.9));
    } else {
        figures.remark("one core only: what a second thread gains was not measured");
    }
    figures.remark("common beam of 98,304 tets, neo-hookean-log, Verlet, h = 0.2 ms");
    Ok(())
}

/// The common beam with `n` cells across.
fn beam(n: usize) -> Result<Simulation<Model>, Failure> {
    let cells = format!("body.beam.mesh.box.cells=[{}, {n}, {n}]", 4 * n);
    let scene = open("bench-beam", &[&cells]).map_err(Failure::input)?;
    Ok(build(&scene).map_err(Failure::input)?.simulation)
}

/// Does the same amount of arithmetic on each thread.
fn busy() {
    let mut sums = vec![0.0; threads::threads()];
    threads::par_chunks_mut(&mut sums, 1, |k, sum| sum[0] = polynomials(k as f64));
    std::hint::black_box(&sums);
}

/// Computes for about 1.5 ms. It is not inlined, so that all callers run the same instructions.
#[inline(never)]
fn polynomials(x: f64) -> f64 {
    let mut list = [x; 2048];
    for _ in 0..1500 {
        for x in &mut list {
            *x = ((0.1 * *x + 0.2) * *x + 0.1) * *x + 0.3;
        }
    }
    list.iter().sum()
}
