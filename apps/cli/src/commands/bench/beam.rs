//! The common beam, a scene that was also run with other programs.

use super::explicit::median;
use super::figures::{Figures, Limit};
use super::implicit::Split;
use crate::failure::{CommandResult, Failure};
use lilyan_dynamics::Simulation;
use lilyan_parallel::threads;
use lilyan_scene::build::{build, open};
use lilyan_solid::Model;
use std::time::Instant;

/// Cells across, and the mean vertical displacement of the free face after 1 s, m. Other programs compute it with lumped mass.
const ANSWERS: [(usize, f64); 2] = [(4, -3.32219), (8, -3.5639)];

/// Cells across and steps of runs that are compared with a factorisation of every system.
const BESIDE_DIRECT: [(usize, usize); 2] = [(8, 12), (10, 6)];

/// Cells across and steps of runs on one thread and on two.
const THREADS: [(usize, usize); 3] = [(8, 12), (10, 8), (16, 4)];
/// Number of repetitions. Their median is the result.
const TURNS: usize = 5;

/// Cells across and steps of runs that show how the cost grows.
const GROWTH: [(usize, usize); 3] = [(8, 12), (16, 6), (24, 4)];

pub fn run(figures: &mut Figures) -> CommandResult {
    let all = threads::threads();
    for (n, answer) in ANSWERS {
        eprintln!("  n = {n}");
        let mut beam = Beam::new(n, &[])?;
        let start = beam.0.state().q.clone();
        let pace = beam.pace(100)?;
        pace.report(figures, &format!("n = {n}, first second"));
        let q = &beam.0.state().q;
        let face: Vec<usize> = (0..q.len() / 3).filter(|i| start[3 * i] > 4.0 - 1e-9).collect();
        let fall = face.iter().map(|i| q[3 * i + 1] - start[3 * i + 1]).sum::<f64>() / face.len() as f64;
        figures.add(format!("n = {n}: fall of the free face"), fall, "m");
        let limit = Limit::AtMost(1e-5 * answer.abs());
        figures.hold(format!("n = {n}: distance from {answer}"), (fall - answer).abs(), "m", limit);
    }
    for (n, steps) in BESIDE_DIRECT {
        for (young, limit) in [("1e6", 0.25), ("1e9", 0.35)] {
            eprintln!("  n = {n}, E = {young} Pa");
            let label = format!("n = {n}, E = {young} Pa");
            let stiff = format!("body.beam.material.E={young}");
            let pace = Beam::new(n, &[&stiff])?.warm()?.pace(steps)?;
            let direct = Beam::new(n, &[&stiff, "integrator.linear=direct"])?.warm()?.pace(steps)?;
            pace.report(figures, &label);
            let ratio = pace.seconds / direct.seconds;
            figures.hold(
                format!("{label}: over a factorisation of every system"),
                ratio,
                "",
                Limit::AtMost(limit),
            );
        }
    }
    if all > 1 {
        for (n, steps) in THREADS {
            eprintln!("  n = {n}, on one thread and on two");
            let name = format!("n = {n}: two threads over one");
            figures.hold(name, two_over_one(n, steps, all)?, "", Limit::AtMost(1.0));
        }
    }
    threads::set_threads(1);
    for young in ["1e6", "1e9"] {
        let mut paces = Vec::new();
        for (n, steps) in GROWTH {
            eprintln!("  n = {n}, E = {young} Pa, one thread");
            let stiff = format!("body.beam.material.E={young}");
            let pace = Beam::new(n, &[&stiff])?.warm()?.pace(steps)?;
            pace.report(figures, &format!("n = {n}, E = {young} Pa, one thread"));
            paces.push((n, (24 * n * n * n) as f64, pace.seconds));
        }
        // Stiff systems are solved by a factorisation if they are small, and by multigrid from n = 16 on.
        let held = usize::from(young == "1e9");
        let (last, tets, seconds) = paces[paces.len() - 1];
        for (k, (n, least, then)) in paces[..=held].iter().enumerate() {
            let exponent = (seconds / then).ln() / (tets / least).ln();
            let name = format!("E = {young} Pa: exponent of the cost from n = {n} to {last}");
            match k == held {
                true => figures.hold(name, exponent, "", Limit::AtMost(1.35)),
                false => figures.add(name, exponent, ""),
            }
        }
    }
    threads::set_threads(all);
    let beam = Beam::new(8, &[])?.warm()?;
    let step = beam.0.step();
    let (system, mut integrator, mut state) = beam.0.into_parts();
    let split = Split::measure(&system, integrator.as_mut(), &mut state, step, 12, None)?;
    split.report(figures, "n = 8: ");
    figures.remark("backward Euler, h = 0.01 s, clamped, 24 n³ tets, relative tolerance 1e-6");
    Ok(())
}

/// Time of a step on two threads divided by that on one. Both are measured alternately.
fn two_over_one(n: usize, steps: usize, all: usize) -> Result<f64, Failure> {
    let mut beam = Beam::new(n, &[])?.warm()?;
    let mut ratios = Vec::new();
    for _ in 0..TURNS {
        let mut on = |count: usize| {
            threads::set_threads(count);
            beam.pace(steps).map(|pace| pace.seconds)
        };
        let (one, two) = (on(1), on(2));
        threads::set_threads(all);
        ratios.push(two? / one?);
    }
    Ok(median(ratios.into_iter()))
}

/// Shortest time of a call among `turns`, s.
pub(super) fn least_time(turns: usize, call: &mut dyn FnMut() -> CommandResult) -> Result<f64, Failure> {
    let mut least = f64::INFINITY;
    for _ in 0..turns {
        let start = Instant::now();
        call()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// The beam of `scenes/bench-beam.toml`.
pub(super) struct Beam(Simulation<Model>);

/// Mean wall time (s) and iterations of a step.
pub(super) struct Pace {
    seconds: f64,
    newton: f64,
    linear: f64,
}

impl Beam {
    pub(super) fn new(n: usize, set: &[&str]) -> Result<Self, Failure> {
        let cells = format!("body.beam.mesh.box.cells=[{}, {n}, {n}]", 4 * n);
        let scene = open("bench-beam", &[&[&cells[..]], set].concat()).map_err(Failure::input)?;
        Ok(Self(build(&scene).map_err(Failure::input)?.simulation))
    }

    /// The run after two steps. What is computed once per run exists then.
    pub(super) fn warm(mut self) -> Result<Self, Failure> {
        self.pace(2)?;
        Ok(self)
    }

    pub(super) fn pace(&mut self, steps: usize) -> Result<Pace, Failure> {
        let (mut newton, mut linear) = (0, 0);
        let start = Instant::now();
        for _ in 0..steps {
            let done = self.0.advance().map_err(Failure::stopped)?.stats;
            newton += done.newton_iterations;
            linear += done.linear_iterations;
        }
        let per_step = |x: f64| x / steps as f64;
        Ok(Pace {
            seconds: per_step(start.elapsed().as_secs_f64()),
            newton: per_step(newton as f64),
            linear: per_step(linear as f64),
        })
    }
}

impl Pace {
    fn report(&self, figures: &mut Figures, label: &str) {
        figures.add(format!("{label}: time"), 1e3 * self.seconds, "ms per step");
        figures.add(format!("{label}: Newton iterations"), self.newton, "per step");
        figures.add(format!("{label}: linear iterations"), self.linear, "per step");
    }
}
