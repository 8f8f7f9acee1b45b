//! What an integrator does to an oscillation, measured on the integrator itself: one step of
//! ẍ = −ω²x is a 2×2 matrix, and its eigenvalues tell stability, numerical damping and frequency error;
//! with methods that remember earlier steps, a step is taken once their start is forgotten.
//! No table of formulas to keep in step with the code.

use crate::integrators::Pace;
use crate::systems::Oscillator;
use crate::{Integrator, State};

/// What a step does to a mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Factor on the amplitude in one step: below 1 damped, above 1 unstable.
    pub growth: f64,
    /// Frequency seen over the true one; `None` once the mode no longer oscillates.
    pub frequency_ratio: Option<f64>,
}

/// Steps after which what a method remembers of its start has faded.
const SETTLED: usize = 40;

/// The response to a mode with hω = `angle`. `None` when the step fails, or is not of fixed length.
pub fn response(integrator: &mut dyn Integrator, angle: f64) -> Option<Response> {
    if integrator.pace() != Pace::Fixed {
        return None;
    }
    let system = Oscillator::new(angle);
    // Columns of powers of the propagation matrix: steps of h = 1 from (x, v/ω) = (1, 0) and (0, 1).
    let mut powers = |n: usize| -> Option<Vec<[[f64; 2]; 2]>> {
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
    let one = powers(1)?[1];
    if same_twice(&one, powers(2)) {
        integrator.reset();
        return Some(eigenvalues(one, angle));
    }
    let powers = powers(SETTLED + 1)?;
    integrator.reset();
    let late = [SETTLED - 1, SETTLED].map(|k| between(&powers[k], &powers[k + 1]));
    if distance(&late[0], &late[1]) <= 1e-6 {
        return Some(eigenvalues(late[1], angle));
    }
    // What it remembers fades no faster than the mode itself: only a rate can be told.
    let growth = (size(&powers[SETTLED]) / size(&powers[SETTLED / 2])).powf(2.0 / SETTLED as f64);
    Some(Response { growth, frequency_ratio: None })
}

/// Whether two steps are the same matrix twice (to solver tolerance).
fn same_twice(one: &[[f64; 2]; 2], two: Option<Vec<[[f64; 2]; 2]>>) -> bool {
    let square = one.map(|[x, y]| [one[0][0] * x + one[1][0] * y, one[0][1] * x + one[1][1] * y]);
    two.is_none_or(|two| distance(&square, &two[2]) <= 1e-6 * (size(&square) + size(one)))
}

/// A with A·`from` = `to`; matrices by columns.
fn between(from: &[[f64; 2]; 2], to: &[[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let [[a, c], [b, d]] = *from;
    let det = a * d - b * c;
    let inverse = [[d / det, -c / det], [-b / det, a / det]];
    inverse.map(|[x, y]| [to[0][0] * x + to[1][0] * y, to[0][1] * x + to[1][1] * y])
}

fn distance(a: &[[f64; 2]; 2], b: &[[f64; 2]; 2]) -> f64 {
    let differences = a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| (a - b).powi(2));
    differences.sum::<f64>().sqrt()
}

fn size(a: &[[f64; 2]; 2]) -> f64 {
    distance(a, &[[0.0; 2]; 2])
}

fn eigenvalues([[a, c], [b, d]]: [[f64; 2]; 2], angle: f64) -> Response {
    let (half_trace, det) = (0.5 * (a + d), a * d - b * c);
    let discriminant = half_trace * half_trace - det;
    if discriminant < 0.0 {
        let phase = (-discriminant).sqrt().atan2(half_trace);
        Response { growth: det.sqrt(), frequency_ratio: Some(phase / angle) }
    } else {
        let root = discriminant.sqrt();
        let growth = (half_trace + root).abs().max((half_trace - root).abs());
        Response { growth, frequency_ratio: None }
    }
}

/// Up to which hω a method is stable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stability {
    /// For every step that was tried (hω up to 1000).
    Always,
    /// For hω up to this.
    Below(f64),
    /// For none (undamped).
    Never,
    /// As far as its own choice of steps goes.
    Adaptive,
}

/// Measures the stability limit, to 1e-6.
pub fn stability(integrator: &mut dyn Integrator) -> Stability {
    if integrator.pace() != Pace::Fixed {
        return Stability::Adaptive;
    }
    // Growth by less than 1e-6 per step is taken for round-off and solver tolerance.
    let mut stable = |angle: f64| response(integrator, angle).is_some_and(|r| r.growth <= 1.0 + 1e-6);
    if !stable(0.01) {
        return Stability::Never;
    }
    let mut good = 0.01;
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
