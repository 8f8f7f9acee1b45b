//! The motion that others are compared with: one method, steps halved until the motion settles.
//!
//! From three runs S₀, S₁, S₂ with steps h, h/2, h/4 the order shows as p = log₂(|S₁−S₀|/|S₂−S₁|). Where
//! p is close to a whole number that the method can have, Richardson's extrapolation \[richardson1911\]
//! R₂ = S₂ + (S₂−S₁)/(2ᵖ−1) takes the leading error away, and |R₂−R₁| bounds what is left: it is the error
//! of R₁, which is larger. Otherwise, and wherever forces have kinks (contact), the finest run itself is
//! the reference, and its error is estimated from how far the last halving moved it.

use super::energy_history::EnergyHistory;
use super::error_norm::{self, SampledPositions};
use super::integrator::ConfiguredIntegrator;
use super::runner::{Observer, RunEnd, Runner, SampleTimes};
use lilyan_dynamics::{Simulation, System};

/// A reference with this error, relative to the size of the motion, is not refined further.
const GOOD: f64 = 1e-6;
/// Tolerance of the equations of reference runs. The error of the solver must not disturb the measured order.
const TOLERANCE: f64 = 1e-12;
/// A step that fails is halved at most this often before another method is tried.
const ATTEMPTS: u32 = 6;

/// The motion to compare with.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Positions at the common times.
    pub positions: SampledPositions,
    /// The method of its runs.
    pub method: ConfiguredIntegrator,
    /// The finest step, s.
    pub step: f64,
    /// Order used for extrapolation; `None`: the finest run itself.
    pub extrapolated: Option<u32>,
    /// Estimate of its own error, relative to the motion's size; `None` if only one run was possible.
    pub error: Option<f64>,
    /// Size of the motion, m.
    pub size: f64,
    /// Energies of the finest run.
    pub energies: EnergyHistory,
    /// Runs that went into it.
    pub runs: usize,
    /// Wall time of all of them, s.
    pub wall: f64,
}

impl Reference {
    /// What it is, in words.
    pub fn describe(&self) -> String {
        let step = lilyan_report::short(self.step);
        match self.extrapolated {
            Some(p) => format!(
                "Richardson extrapolation (order {p}) of {} with steps down to {step} s",
                self.method.name
            ),
            None => format!("a fine run of {} with steps of {step} s", self.method.name),
        }
    }
}

/// Why there is no reference.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceError {
    /// Stopped on request.
    Interrupted,
    /// No run finished; why.
    Failed(String),
}

/// How to make one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefinementOptions {
    /// The longest step, s.
    pub first_step: f64,
    /// Whether to extrapolate where the order allows it.
    pub extrapolate: bool,
    /// Halve at most this often.
    pub halvings: u32,
    /// Wall time for all runs, s.
    pub budget: f64,
}

struct Level {
    positions: SampledPositions,
    energies: EnergyHistory,
    step: f64,
}

/// Halves the step until the motion has converged or the budget is used up. `progress` gets the step of each run and the
/// share that is done, and returns whether to continue.
pub fn refine<S: System>(
    runner: &mut Runner<S>,
    method: &ConfiguredIntegrator,
    options: &RefinementOptions,
    weights: &[f64],
    times: &SampleTimes,
    progress: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<Reference, ReferenceError> {
    let method = method.solved_to(TOLERANCE);
    let mut best: Option<Reference> = None;
    let mut levels: Vec<Level> = Vec::new();
    let (mut wall, mut runs, mut last) = (0.0, 0, 0.0);
    let mut failure = String::new();
    for k in 0..=options.halvings.max(ATTEMPTS) {
        let step = options.first_step * 0.5f64.powi(k as i32);
        // The next run takes about twice as long as the last. The second run is always made: the error of a single run
        // is not known.
        if (runs > 1 && wall + 1.5 * last > options.budget) || (k > options.halvings && best.is_some()) {
            break;
        }
        let allowed = if runs == 1 { 3.0 * last } else { 0.0 };
        let mut recorder = ReferenceRecorder {
            positions: SampledPositions::new(),
            energies: EnergyHistory::default(),
            go_on: &mut |done| progress(step, done),
        };
        let (ended, work) =
            runner.run(&method, step, times, allowed.max(options.budget - wall), &mut recorder);
        let ReferenceRecorder { positions, energies, .. } = recorder;
        wall += work.wall;
        match ended {
            RunEnd::Finished => {}
            RunEnd::Interrupted => return Err(ReferenceError::Interrupted),
            RunEnd::TooSlow(needed) => {
                failure = format!("{} with a step of {step:.3e} s needs {needed:.0} s", method.name);
                break;
            }
            other => {
                failure = format!("{} with a step of {step:.3e} s: {}", method.name, other.reason());
                if best.is_some() {
                    break;
                }
                continue;
            }
        }
        runs += 1;
        last = work.wall;
        levels.push(Level { positions, energies, step });
        let settled = judge(&levels, options, &method, weights);
        levels.drain(..levels.len().saturating_sub(3));
        let better = best
            .as_ref()
            .is_none_or(|b| settled.error.is_some_and(|new| b.error.is_none_or(|old| new <= old)));
        let stalled = !better && best.as_ref().and_then(|b| b.error).is_some_and(|e| e < 1e-4);
        if better {
            best = Some(settled);
        }
        let good = best.as_ref().and_then(|b| b.error).is_some_and(|e| e < GOOD);
        if stalled || (good && levels.len() > 2) {
            break;
        }
    }
    match best {
        Some(reference) => Ok(Reference { runs, wall, ..reference }),
        None => Err(ReferenceError::Failed(failure)),
    }
}

/// The best reference from the runs so far.
fn judge(
    levels: &[Level],
    options: &RefinementOptions,
    method: &ConfiguredIntegrator,
    weights: &[f64],
) -> Reference {
    let newest = &levels[levels.len() - 1];
    let size = error_norm::size(weights, &newest.positions);
    let distance = |a: &SampledPositions, b: &SampledPositions| error_norm::distance(weights, a, b) / size;
    let mut reference = Reference {
        positions: newest.positions.clone(),
        method: method.clone(),
        step: newest.step,
        extrapolated: None,
        error: None,
        size,
        energies: newest.energies.clone(),
        runs: 0,
        wall: 0.0,
    };
    let [.., s1, s2] = levels else { return reference };
    let moved = distance(&s2.positions, &s1.positions);
    reference.error = Some(moved);
    let [.., s0, _, _] = levels else { return reference };
    let order = (distance(&s1.positions, &s0.positions) / moved).log2();
    let highest = method.claims().map_or(1, |c| c.order.max(c.damped_order));
    if order.is_nan() || order < 0.75 {
        // The runs do not converge yet, or differ by round-off: their last difference is the only estimate.
        return reference;
    }
    // 2ᵖ−1, where p is at most the order of the method.
    let order = order.min(f64::from(highest));
    reference.error = Some(moved / (order.exp2() - 1.0));
    let whole = order.round();
    if options.extrapolate && (order - whole).abs() < 0.25 {
        let share = 1.0 / (whole.exp2() - 1.0);
        let newer = extrapolated(&s1.positions, &s2.positions, share);
        let older = extrapolated(&s0.positions, &s1.positions, share);
        reference.error = Some(distance(&newer, &older));
        reference.positions = newer;
        reference.extrapolated = Some(whole as u32);
    }
    reference
}

/// fine + share (fine − coarse).
fn extrapolated(coarse: &SampledPositions, fine: &SampledPositions, share: f64) -> SampledPositions {
    let one = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| b + share * (b - a)).collect();
    coarse.iter().zip(fine).map(one).collect()
}

struct ReferenceRecorder<'a> {
    positions: SampledPositions,
    energies: EnergyHistory,
    go_on: &'a mut dyn FnMut(f64) -> bool,
}

impl<S: System> Observer<S> for ReferenceRecorder<'_> {
    fn positions(&mut self, _: usize, q: &[f64]) {
        self.positions.push(q.to_vec());
    }
    fn state(&mut self, _: usize, simulation: &Simulation<S>) -> bool {
        if !self.energies.note(simulation) {
            return false;
        }
        // If nothing moves, the only energy is round-off.
        let mass = simulation.system().mass().diagonal().iter().sum::<f64>();
        let speed = 1e-12 * simulation.system().length() / simulation.state().t.max(simulation.step());
        // The run gained much more energy than there was: an explicit method beyond its stability limit.
        self.energies.last() <= 0.5 * self.energies.in_play() + mass * speed * speed
    }
    fn go_on(&mut self, done: f64) -> bool {
        (self.go_on)(done)
    }
}
