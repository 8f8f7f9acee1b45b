//! The common beam: the same task that other programs were given.

use super::figures::{Figures, Limit};
use super::implicit::Split;
use crate::failure::{Done, Failure};
use lilyan_scene::build::{build, open};

/// Mean height by which the free face falls in 1 s, m (scenes/bench-beam.toml).
const ANSWER: f64 = -3.32219;

/// Each size: cells across, steps, whether that is the end of the run, where the answer is known.
const SIZES: [(usize, usize, bool); 2] = [(4, 100, true), (8, 12, false)];

pub fn run(figures: &mut Figures) -> Done {
    for (n, steps, whole) in SIZES {
        eprintln!("  n = {n}");
        let cells = format!("body.beam.mesh.box.cells=[{}, {n}, {n}]", 4 * n);
        let scene = open("bench-beam", &[&cells]).map_err(Failure::input)?;
        let mut simulation = build(&scene).map_err(Failure::input)?.simulation;
        let start = simulation.state.q.clone();
        let h = simulation.step;
        // One step first where the rest is not to be checked: the analysis is made once per run.
        if !whole {
            simulation.advance().map_err(Failure::stopped)?;
        }
        let split = Split::measure(
            &simulation.system,
            simulation.integrator.as_mut(),
            &mut simulation.state,
            h,
            steps,
            h * h,
        )?;
        let label = format!("n = {n}: ");
        split.report(figures, &label);
        if whole {
            let q = &simulation.state.q;
            let face: Vec<usize> = (0..q.len() / 3).filter(|i| start[3 * i] > 4.0 - 1e-9).collect();
            let fall = face.iter().map(|i| q[3 * i + 1] - start[3 * i + 1]).sum::<f64>() / face.len() as f64;
            figures.add(format!("{label}fall of the free face"), fall, "m");
            let error = (fall - ANSWER).abs();
            figures.hold(format!("{label}distance from {ANSWER}"), error, "m", Limit::AtMost(1e-5));
        }
    }
    figures.remark("backward Euler, clamped, 24 n³ tets; the time of n = 4 contains its analysis");
    Ok(())
}
