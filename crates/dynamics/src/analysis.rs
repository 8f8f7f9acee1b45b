//! What an integrator does to an oscillation, measured on the integrator itself: one step of
//! ẍ = −ω²x is a 2×2 matrix, and its eigenvalues tell stability, numerical damping and frequency error.
//! No table of formulas to keep in step with the code.

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

/// The response to a mode with hω = `angle`. `None` when the step fails.
pub fn response(integrator: &mut dyn Integrator, angle: f64) -> Option<Response> {
    let system = Oscillator::new(angle);
    // One step of h = 1 from (x, v/ω) = (1, 0) and (0, 1); columns of the propagation matrix.
    let mut columns = [[0.0; 2]; 2];
    for (column, (x, v)) in columns.iter_mut().zip([(1.0, 0.0), (0.0, angle)]) {
        integrator.reset();
        let mut state = State::new(&system, vec![x, 0.0, 0.0], vec![v, 0.0, 0.0]);
        integrator.step(&system, &mut state, 1.0).ok()?;
        *column = [state.q[0], state.v[0] / angle];
    }
    integrator.reset();
    let [[a, c], [b, d]] = columns;
    let (half_trace, det) = (0.5 * (a + d), a * d - b * c);
    let discriminant = half_trace * half_trace - det;
    Some(if discriminant < 0.0 {
        let phase = (-discriminant).sqrt().atan2(half_trace);
        Response { growth: det.sqrt(), frequency_ratio: Some(phase / angle) }
    } else {
        let root = discriminant.sqrt();
        let growth = (half_trace + root).abs().max((half_trace - root).abs());
        Response { growth, frequency_ratio: None }
    })
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
}

/// Measures the stability limit, to 1e-6.
pub fn stability(integrator: &mut dyn Integrator) -> Stability {
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
