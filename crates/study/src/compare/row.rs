//! One method with one step: its error, its cost, and the drift of energy and momenta.

use super::energy_history::EnergyHistory;
use super::error_norm::{ErrorNorm, ErrorSums, Errors};
use super::integrator::ConfiguredIntegrator;
use super::runner::{Observer, RunCost, RunEnd};
use lilyan_dynamics::{Simulation, State, System};
use lilyan_scene::build::Conserved;

/// A motion with this many times the energy in play has exploded.
const EXPLODED: f64 = 10.0;

/// A line of the comparison.
#[derive(Clone, Debug)]
pub struct ComparisonRow {
    /// The integrator.
    pub method: ConfiguredIntegrator,
    /// Its step, s.
    pub step: f64,
    /// How it ended.
    pub ended: RunEnd,
    /// Its cost.
    pub work: RunCost,
    /// Evaluations of all forces, and of all second derivatives.
    pub calls: [u64; 2],
    /// Errors, if it finished.
    pub errors: Option<Errors>,
    /// Energies at the common times.
    pub energies: EnergyHistory,
    /// Largest gain (+) or loss (−) of energy and that at the end, relative to the energy in play.
    pub energy_drift: Option<[f64; 2]>,
    /// Largest change of linear momentum relative to Σ|p|, if physics conserves it.
    pub linear_drift: Option<f64>,
    /// Largest change of angular momentum relative to Σ|x||p|, if physics conserves it.
    pub angular_drift: Option<f64>,
    /// Positions of the nodes of the replay at some of the times.
    pub frames: Vec<Vec<f32>>,
}

impl ComparisonRow {
    /// A run that was not started.
    pub fn skipped(method: &ConfiguredIntegrator, step: f64, why: String) -> Self {
        Self {
            method: method.clone(),
            step,
            ended: RunEnd::Skipped(why),
            work: RunCost::default(),
            calls: [0; 2],
            errors: None,
            energies: EnergyHistory::default(),
            energy_drift: None,
            linear_drift: None,
            angular_drift: None,
            frames: Vec::new(),
        }
    }

    /// Whether it finished.
    pub fn finished(&self) -> bool {
        self.ended == RunEnd::Finished
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

/// The surface that the replay shows of a run, and how often.
#[derive(Clone, Debug, Default)]
pub struct ReplaySurface {
    /// Every how many of the common times a frame is kept.
    pub every: usize,
    /// Nodes of the surface, ascending.
    pub nodes: Vec<u32>,
    /// Triangles between them, as places in `nodes`.
    pub triangles: Vec<[u32; 3]>,
    /// Lines between them, likewise.
    pub lines: Vec<[u32; 2]>,
}

impl ReplaySurface {
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

/// Records a run and makes its row.
pub struct RowRecorder<'a> {
    norm: &'a ErrorNorm<'a>,
    in_play: f64,
    conserved: Conserved,
    shown: &'a ReplaySurface,
    progress: &'a mut dyn FnMut(f64) -> bool,
    sums: ErrorSums,
    energies: EnergyHistory,
    linear: MomentumDrift,
    angular: MomentumDrift,
    frames: Vec<Vec<f32>>,
}

impl<'a> RowRecorder<'a> {
    /// For one run.
    pub fn new(
        norm: &'a ErrorNorm<'a>,
        in_play: f64,
        conserved: Conserved,
        shown: &'a ReplaySurface,
        progress: &'a mut dyn FnMut(f64) -> bool,
    ) -> Self {
        Self {
            norm,
            in_play,
            conserved,
            shown,
            progress,
            sums: ErrorSums::default(),
            energies: EnergyHistory::default(),
            linear: MomentumDrift::default(),
            angular: MomentumDrift::default(),
            frames: Vec::new(),
        }
    }

    /// The row of the run.
    pub fn row(
        self,
        method: &ConfiguredIntegrator,
        step: f64,
        (ended, work): (RunEnd, RunCost),
        calls: [u64; 2],
    ) -> ComparisonRow {
        let finished = ended == RunEnd::Finished;
        let share = |x: f64| if self.in_play > 0.0 { x / self.in_play } else { 0.0 };
        let seen = self.energies.t.len() > 1;
        ComparisonRow {
            method: method.clone(),
            step,
            work,
            calls,
            errors: finished.then(|| self.norm.errors(&self.sums)),
            energy_drift: seen.then(|| [share(self.energies.extreme()), share(self.energies.last())]),
            linear_drift: (seen && self.conserved.linear).then(|| self.linear.drift()),
            angular_drift: (seen && self.conserved.angular).then(|| self.angular.drift()),
            energies: self.energies,
            frames: self.frames,
            ended,
        }
    }
}

impl<S: System> Observer<S> for RowRecorder<'_> {
    fn positions(&mut self, k: usize, q: &[f64]) {
        self.norm.add(&mut self.sums, k, q);
        if k.is_multiple_of(self.shown.every) {
            self.frames.push(self.shown.pick(q));
        }
    }

    fn state(&mut self, _: usize, simulation: &Simulation<S>) -> bool {
        let (linear, angular) = simulation.state().momenta([0.0; 3]);
        let (moving, turning) = momentum_scales(simulation.state());
        self.linear.note(linear, moving);
        self.angular.note(angular, turning);
        self.energies.note(simulation) && self.energies.last().abs() <= EXPLODED * self.in_play
    }

    fn go_on(&mut self, done: f64) -> bool {
        (self.progress)(done)
    }
}

/// Σ|p| and Σ|x||p|, relative to which changes of momentum are given.
fn momentum_scales(state: &State) -> (f64, f64) {
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let nodes = state.q.chunks_exact(3).zip(state.p.chunks_exact(3));
    nodes.fold((0.0, 0.0), |(m, t), (x, p)| (m + norm(p), t + norm(x) * norm(p)))
}

/// The largest change of a momentum since the start, and its scale.
#[derive(Clone, Copy, Debug, Default)]
struct MomentumDrift {
    start: Option<[f64; 3]>,
    change: f64,
    scale: f64,
}

impl MomentumDrift {
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
