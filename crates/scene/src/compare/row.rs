//! One method with one step: how far off, at what price, and what became of what should be kept.

use super::energy::Energies;
use super::measure::{Errors, Sums, Yardstick};
use super::method::Method;
use super::trace::{Ended, Observer, Work};
use crate::build::Conserved;
use lilyan_dynamics::{Simulation, State, System};

/// A motion with this many times the energy in play has exploded.
const EXPLODED: f64 = 10.0;

/// A line of the comparison.
#[derive(Clone, Debug)]
pub struct Row {
    /// With what.
    pub method: Method,
    /// Its step, s.
    pub step: f64,
    /// How it ended.
    pub ended: Ended,
    /// What it took.
    pub work: Work,
    /// Evaluations of all forces, and of all second derivatives.
    pub calls: [u64; 2],
    /// Errors, if it finished.
    pub errors: Option<Errors>,
    /// Energies at the common times.
    pub energies: Energies,
    /// Largest gain (+) or loss (−) of energy and that at the end, relative to the energy in play.
    pub energy_drift: Option<[f64; 2]>,
    /// Largest change of linear momentum relative to all that moves, where it should be kept.
    pub linear_drift: Option<f64>,
    /// Likewise angular momentum.
    pub angular_drift: Option<f64>,
    /// Positions of what is shown, at some of the times.
    pub frames: Vec<Vec<f32>>,
}

impl Row {
    /// A run that was not started.
    pub fn skipped(method: &Method, step: f64, why: String) -> Self {
        Self {
            method: method.clone(),
            step,
            ended: Ended::Skipped(why),
            work: Work::default(),
            calls: [0; 2],
            errors: None,
            energies: Energies::default(),
            energy_drift: None,
            linear_drift: None,
            angular_drift: None,
            frames: Vec::new(),
        }
    }

    /// Whether it came to its end.
    pub fn finished(&self) -> bool {
        self.ended == Ended::Finished
    }

    /// Wall time per simulated second; `None` if nothing was simulated.
    pub fn cost(&self) -> Option<f64> {
        (self.work.t > 0.0).then(|| self.work.wall / self.work.t)
    }

    /// Mean length of its steps, s.
    pub fn mean_step(&self) -> f64 {
        if self.work.steps > 0 { self.work.t / self.work.steps as f64 } else { self.step }
    }

    /// Error over all nodes, if it finished.
    pub fn error(&self) -> Option<f64> {
        self.errors.as_ref().map(|e| e.l2)
    }
}

/// What the replay shows of a run: the surface, every so many times.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Every so many of the common times.
    pub every: usize,
    /// Nodes of the surface, ascending.
    pub nodes: Vec<u32>,
    /// Triangles between them, as places in `nodes`.
    pub triangles: Vec<[u32; 3]>,
    /// Lines between them, likewise.
    pub lines: Vec<[u32; 2]>,
}

impl Shown {
    /// The surface made of these triangles and lines.
    pub fn new(every: usize, triangles: &[[u32; 3]], lines: &[[u32; 2]]) -> Self {
        let mut nodes: Vec<u32> =
            triangles.as_flattened().iter().chain(lines.as_flattened()).copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |v: u32| nodes.binary_search(&v).unwrap_or(0) as u32;
        let triangles = triangles.iter().map(|t| t.map(place)).collect();
        let lines = lines.iter().map(|l| l.map(place)).collect();
        Self { every: every.max(1), nodes, triangles, lines }
    }

    /// The shown nodes' positions.
    pub fn pick(&self, q: &[f64]) -> Vec<f32> {
        self.nodes.iter().flat_map(|n| (0..3).map(|k| q[3 * *n as usize + k] as f32)).collect()
    }
}

/// Watches a run and makes its row.
pub struct Watch<'a> {
    yardstick: &'a Yardstick<'a>,
    in_play: f64,
    conserved: Conserved,
    shown: &'a Shown,
    progress: &'a mut dyn FnMut(f64) -> bool,
    sums: Sums,
    energies: Energies,
    linear: Momentum,
    angular: Momentum,
    frames: Vec<Vec<f32>>,
}

impl<'a> Watch<'a> {
    /// For one run.
    pub fn new(
        yardstick: &'a Yardstick<'a>,
        in_play: f64,
        conserved: Conserved,
        shown: &'a Shown,
        progress: &'a mut dyn FnMut(f64) -> bool,
    ) -> Self {
        Self {
            yardstick,
            in_play,
            conserved,
            shown,
            progress,
            sums: Sums::default(),
            energies: Energies::default(),
            linear: Momentum::default(),
            angular: Momentum::default(),
            frames: Vec::new(),
        }
    }

    /// What was seen.
    pub fn row(self, method: &Method, step: f64, (ended, work): (Ended, Work), calls: [u64; 2]) -> Row {
        let finished = ended == Ended::Finished;
        let share = |x: f64| if self.in_play > 0.0 { x / self.in_play } else { 0.0 };
        let seen = self.energies.t.len() > 1;
        Row {
            method: method.clone(),
            step,
            work,
            calls,
            errors: finished.then(|| self.yardstick.errors(&self.sums)),
            energy_drift: seen.then(|| [share(self.energies.extreme()), share(self.energies.last())]),
            linear_drift: (seen && self.conserved.linear).then(|| self.linear.drift()),
            angular_drift: (seen && self.conserved.angular).then(|| self.angular.drift()),
            energies: self.energies,
            frames: self.frames,
            ended,
        }
    }
}

impl<S: System> Observer<S> for Watch<'_> {
    fn positions(&mut self, k: usize, q: &[f64]) {
        self.yardstick.add(&mut self.sums, k, q);
        if k.is_multiple_of(self.shown.every) {
            self.frames.push(self.shown.pick(q));
        }
    }

    fn state(&mut self, _: usize, simulation: &Simulation<S>) -> bool {
        let (linear, angular) = simulation.state.momenta([0.0; 3]);
        let (moving, turning) = all_that_moves(&simulation.state);
        self.linear.note(linear, moving);
        self.angular.note(angular, turning);
        self.energies.note(simulation) && self.energies.last().abs() <= EXPLODED * self.in_play
    }

    fn go_on(&mut self, done: f64) -> bool {
        (self.progress)(done)
    }
}

/// Σ|p| and Σ|x||p|: what changes of momentum are measured by.
fn all_that_moves(state: &State) -> (f64, f64) {
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let nodes = state.q.chunks_exact(3).zip(state.p.chunks_exact(3));
    nodes.fold((0.0, 0.0), |(m, t), (x, p)| (m + norm(p), t + norm(x) * norm(p)))
}

/// A momentum on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Momentum {
    start: Option<[f64; 3]>,
    change: f64,
    scale: f64,
}

impl Momentum {
    fn note(&mut self, now: [f64; 3], scale: f64) {
        let start = *self.start.get_or_insert(now);
        let change = (0..3).map(|k| (now[k] - start[k]).powi(2)).sum::<f64>().sqrt();
        self.change = self.change.max(change);
        self.scale = self.scale.max(scale);
    }

    fn drift(&self) -> f64 {
        if self.scale > 0.0 { self.change / self.scale } else { 0.0 }
    }
}
