//! The motion that others are compared with: one method, steps halved until the motion settles.
//!
//! From three runs S₀, S₁, S₂ with steps h, h/2, h/4 the order shows as p = log₂(|S₁−S₀|/|S₂−S₁|). Where
//! p is close to a whole number that the method can have, Richardson's extrapolation \[richardson1911\]
//! R₂ = S₂ + (S₂−S₁)/(2ᵖ−1) takes the leading error away, and |R₂−R₁| bounds what is left: it is the error
//! of R₁, which is larger. Otherwise, and wherever forces have kinks (contact), the finest run itself is
//! the reference, and its error is estimated from how far the last halving moved it.

use super::energy::Energies;
use super::measure::{self, Samples};
use super::method::Method;
use super::trace::{Bench, Ended, Observer, Times};
use lilyan_dynamics::{Simulation, System};

/// A reference this good (relative to the motion's size) is not refined any further.
const GOOD: f64 = 1e-6;
/// Equations of reference runs are solved to this, so that the solver does not blur the order.
const TOLERANCE: f64 = 1e-12;
/// A step that fails is halved at most this often before another method is tried.
const ATTEMPTS: u32 = 6;

/// The motion to compare with.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Positions at the common times.
    pub positions: Samples,
    /// The method of its runs.
    pub method: Method,
    /// The finest step, s.
    pub step: f64,
    /// Order used for extrapolation; `None`: the finest run itself.
    pub extrapolated: Option<u32>,
    /// Estimate of its own error, relative to the motion's size; `None` if only one run was possible.
    pub error: Option<f64>,
    /// Size of the motion, m.
    pub size: f64,
    /// Energies of the finest run.
    pub energies: Energies,
    /// Runs that went into it.
    pub runs: usize,
    /// Wall time of all of them, s.
    pub wall: f64,
}

impl Reference {
    /// What it is, in words.
    pub fn describe(&self) -> String {
        let step = crate::report::short(self.step);
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
pub enum NoReference {
    /// Stopped on request.
    Interrupted,
    /// No run came to its end; why.
    Failed(String),
}

/// How to make one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
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
    positions: Samples,
    energies: Energies,
    step: f64,
}

/// Halves the step until the motion settles or the budget is used up. `progress` hears of each run's step
/// and share done, and says whether to go on.
pub fn refine<S: System>(
    bench: &mut Bench<S>,
    method: &Method,
    recipe: &Recipe,
    weights: &[f64],
    times: &Times,
    progress: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<Reference, NoReference> {
    let method = method.solved_to(TOLERANCE);
    let mut best: Option<Reference> = None;
    let mut levels: Vec<Level> = Vec::new();
    let (mut wall, mut runs, mut last) = (0.0, 0, 0.0);
    let mut trouble = String::new();
    for k in 0..=recipe.halvings.max(ATTEMPTS) {
        let step = recipe.first_step * 0.5f64.powi(k as i32);
        // The next run takes about twice as long as the last. The second is always made: a single one would
        // not tell its own error.
        if (runs > 1 && wall + 1.5 * last > recipe.budget) || (k > recipe.halvings && best.is_some()) {
            break;
        }
        let allowed = if runs == 1 { 3.0 * last } else { 0.0 };
        let mut keep = Keep {
            positions: Samples::new(),
            energies: Energies::default(),
            go_on: &mut |done| progress(step, done),
        };
        let (ended, work) = bench.run(&method, step, times, allowed.max(recipe.budget - wall), &mut keep);
        let Keep { positions, energies, .. } = keep;
        wall += work.wall;
        match ended {
            Ended::Finished => {}
            Ended::Interrupted => return Err(NoReference::Interrupted),
            Ended::TooSlow(needed) => {
                trouble = format!("{} with a step of {step:.3e} s needs {needed:.0} s", method.name);
                break;
            }
            other => {
                trouble = format!("{} with a step of {step:.3e} s: {}", method.name, other.reason());
                if best.is_some() {
                    break;
                }
                continue;
            }
        }
        runs += 1;
        last = work.wall;
        levels.push(Level { positions, energies, step });
        let settled = judge(&levels, recipe, &method, weights);
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
        None => Err(NoReference::Failed(trouble)),
    }
}

/// The best that can be said from the runs so far.
fn judge(levels: &[Level], recipe: &Recipe, method: &Method, weights: &[f64]) -> Reference {
    let newest = &levels[levels.len() - 1];
    let size = measure::size(weights, &newest.positions);
    let apart = |a: &Samples, b: &Samples| measure::apart(weights, a, b) / size;
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
    let moved = apart(&s2.positions, &s1.positions);
    reference.error = Some(moved);
    let [.., s0, _, _] = levels else { return reference };
    let order = (apart(&s1.positions, &s0.positions) / moved).log2();
    let highest = method.claims().map_or(1, |c| c.order.max(c.damped_order));
    if order.is_nan() || order < 0.75 {
        // Not settling yet, or down at round-off: the last move is all that is known.
        return reference;
    }
    // 2ᵖ−1 with a p that is not believed beyond what the method has.
    let order = order.min(f64::from(highest));
    reference.error = Some(moved / (order.exp2() - 1.0));
    let whole = order.round();
    if recipe.extrapolate && (order - whole).abs() < 0.25 {
        let share = 1.0 / (whole.exp2() - 1.0);
        let newer = extrapolated(&s1.positions, &s2.positions, share);
        let older = extrapolated(&s0.positions, &s1.positions, share);
        reference.error = Some(apart(&newer, &older));
        reference.positions = newer;
        reference.extrapolated = Some(whole as u32);
    }
    reference
}

/// fine + share (fine − coarse).
fn extrapolated(coarse: &Samples, fine: &Samples, share: f64) -> Samples {
    let one = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| b + share * (b - a)).collect();
    coarse.iter().zip(fine).map(one).collect()
}

struct Keep<'a> {
    positions: Samples,
    energies: Energies,
    go_on: &'a mut dyn FnMut(f64) -> bool,
}

impl<S: System> Observer<S> for Keep<'_> {
    fn positions(&mut self, _: usize, q: &[f64]) {
        self.positions.push(q.to_vec());
    }
    fn state(&mut self, _: usize, simulation: &Simulation<S>) -> bool {
        if !self.energies.note(simulation) {
            return false;
        }
        // Where nothing moves, round-off is all the energy there is.
        let mass = simulation.system.mass().diagonal().iter().sum::<f64>();
        let speed = 1e-12 * simulation.system.length() / simulation.state.t.max(simulation.step);
        // Energy from nowhere, far more than was ever there: explicit methods beyond their limit.
        self.energies.last() <= 0.5 * self.energies.in_play() + mass * speed * speed
    }
    fn go_on(&mut self, done: f64) -> bool {
        (self.go_on)(done)
    }
}
