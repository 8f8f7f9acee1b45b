//! Linear stability analysis of integrators, measured on the integrator itself.
//!
//! One step of ẍ = −ω²x is a 2×2 amplification matrix. Its eigenvalues give stability, numerical damping and frequency error.
//! A method with memory is measured after the influence of its start has decayed. No table of formulas has to be maintained.
//!
//! A method that treats parts of a body differently is not known from an oscillator: [`assembled`] measures it on the whole
//! body.

pub mod assembled;

use crate::integrator::StepLength;
use crate::systems::Oscillator;
use crate::{Integrator, State};

/// The effect of one step on a mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Amplification factor (spectral radius): below 1 damped, above 1 unstable.
    pub growth: f64,
    /// Numerical frequency over the true one; `None` if the mode does not oscillate.
    pub frequency_ratio: Option<f64>,
    /// The mode does not oscillate; it changes its sign in every step.
    pub flips: bool,
}

/// A 2×2 amplification matrix, by columns.
type Amplification = [[f64; 2]; 2];

/// Steps after which the influence of the start of a multistep method has decayed.
const SETTLED: usize = 40;
/// Decay over fewer steps than this is measured from the start.
const FEW: usize = 8;

/// The response to a mode with hω = `angle`. `None` when the step fails, or is not of fixed length.
pub fn response(integrator: &mut dyn Integrator, angle: f64) -> Option<Response> {
    damped_response(integrator, angle, 0.0)
}

/// The response to a damped mode, ẍ = −ω²x − cẋ, with hω = `angle` and hc = `loss`.
pub fn damped_response(integrator: &mut dyn Integrator, angle: f64, loss: f64) -> Option<Response> {
    if integrator.step_length() != StepLength::Fixed {
        return None;
    }
    let system = Oscillator::damped(angle, loss);
    // Columns of powers of the propagation matrix: steps of h = 1 from (x, v/ω) = (1, 0) and (0, 1).
    let mut powers = |n: usize| -> Option<Vec<Amplification>> {
        let mut powers = vec![[[0.0; 2]; 2]; n + 1];
        for (column, (x, v)) in [(1.0, 0.0), (0.0, angle)].into_iter().enumerate() {
            integrator.reset();
            let mut state = State::new(&system, vec![x, 0.0, 0.0], vec![v, 0.0, 0.0]);
            powers[0][column] = [x, v / angle];
            for power in &mut powers[1..] {
                integrator.step(&system, &mut state, 1.0).ok()?;
                power[column] = [state.q[0], state.v[0] / angle];
            }
        }
        Some(powers)
    };
    let first = powers(2)?;
    let found = of_one_step(&first, angle);
    let found = match found {
        Some(found) => found,
        None => of_many_steps(&powers(SETTLED + 1)?, angle, 0.0),
    };
    integrator.reset();
    Some(found)
}

/// The response of a method without memory from the powers 0 to 2 of its propagation matrix; `None` if it has a memory.
fn of_one_step(powers: &[Amplification], angle: f64) -> Option<Response> {
    same_twice(&powers[1], &powers[2]).then(|| eigenvalues(powers[1], angle))
}

/// The response of a method with memory, from the powers 0 to [`SETTLED`] + 1. What has decayed below `round_off` of the start
/// is not known.
fn of_many_steps(powers: &[Amplification], angle: f64, round_off: f64) -> Response {
    let known = powers.iter().take_while(|power| size(power) > round_off).count();
    if known <= SETTLED + 1 {
        let last = known.saturating_sub(1).max(1);
        let from = if last < FEW { 0 } else { last / 2 };
        let growth = (size(&powers[last]) / size(&powers[from])).powf(1.0 / (last - from) as f64);
        return Response { growth, frequency_ratio: None, flips: false };
    }
    let last_steps = [SETTLED - 1, SETTLED].map(|k| between(&powers[k], &powers[k + 1]));
    if distance(&last_steps[0], &last_steps[1]) <= 1e-6 {
        return eigenvalues(last_steps[1], angle);
    }
    // The influence of the start decays no faster than the mode itself, so only the rate is known.
    let growth = (size(&powers[SETTLED]) / size(&powers[SETTLED / 2])).powf(2.0 / SETTLED as f64);
    Response { growth, frequency_ratio: None, flips: false }
}

/// Whether two steps are the same matrix twice (to solver tolerance).
fn same_twice(one: &Amplification, two: &Amplification) -> bool {
    let square = one.map(|[x, y]| [one[0][0] * x + one[1][0] * y, one[0][1] * x + one[1][1] * y]);
    distance(&square, two) <= 1e-6 * (size(&square) + size(one))
}

/// A with A·`from` = `to`; matrices by columns.
fn between(from: &Amplification, to: &Amplification) -> Amplification {
    let [[a, c], [b, d]] = *from;
    let det = a * d - b * c;
    let inverse = [[d / det, -c / det], [-b / det, a / det]];
    inverse.map(|[x, y]| [to[0][0] * x + to[1][0] * y, to[0][1] * x + to[1][1] * y])
}

fn distance(a: &Amplification, b: &Amplification) -> f64 {
    let differences = a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| (a - b).powi(2));
    differences.sum::<f64>().sqrt()
}

fn size(a: &Amplification) -> f64 {
    distance(a, &[[0.0; 2]; 2])
}

fn eigenvalues([[a, c], [b, d]]: Amplification, angle: f64) -> Response {
    let (half_trace, det) = (0.5 * (a + d), a * d - b * c);
    let discriminant = half_trace * half_trace - det;
    if discriminant < 0.0 {
        let phase = (-discriminant).sqrt().atan2(half_trace);
        Response { growth: det.sqrt(), frequency_ratio: Some(phase / angle), flips: false }
    } else {
        let root = discriminant.sqrt();
        let growth = (half_trace + root).abs().max((half_trace - root).abs());
        // The larger eigenvalue has the sign of the trace.
        Response { growth, frequency_ratio: None, flips: half_trace < 0.0 }
    }
}

/// The stability limit of a method, in hω.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stability {
    /// Stable for every step that was tried (hω up to 1000).
    Always,
    /// Stable for hω up to this.
    Below(f64),
    /// Unstable for every hω.
    Never,
    /// The method chooses its steps itself.
    Adaptive,
}

/// Measures the stability limit, to 1e-6.
pub fn stability(integrator: &mut dyn Integrator) -> Stability {
    damped_stability(integrator, 0.0)
}

/// The same for a damped mode, ẍ = −ω²x − cẋ, with this c/ω.
pub fn damped_stability(integrator: &mut dyn Integrator, ratio: f64) -> Stability {
    if integrator.step_length() != StepLength::Fixed {
        return Stability::Adaptive;
    }
    // Growth by less than 1e-6 per step counts as round-off or solver tolerance.
    let mut stable = |angle: f64| {
        damped_response(integrator, angle, ratio * angle).is_some_and(|r| r.growth <= 1.0 + 1e-6)
    };
    // Damping that is much faster than the oscillation sets the limit.
    let mut good = 0.01 / (1.0 + ratio);
    if !stable(good) {
        return Stability::Never;
    }
    while good < 1000.0 {
        let next = good * 1.05;
        if stable(next) {
            good = next;
            continue;
        }
        let (mut low, mut high) = (good, next);
        while high - low > 1e-7 * high {
            let middle = 0.5 * (low + high);
            if stable(middle) { low = middle } else { high = middle }
        }
        return Stability::Below(low);
    }
    Stability::Always
}
