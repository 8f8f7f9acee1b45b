//! The equation that `bdf2` and `tr-bdf2` share: a backward difference for y = (q, v).

use crate::StepError;
use crate::driver::{Stage, Step};

/// The solution of a stage: positions (m), velocities (m/s), momenta (kg m/s) and forces (N).
pub(super) struct StageSolution {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub p: Vec<f64>,
    pub force: Vec<f64>,
}

/// Solves y = past + `span`·ẏ at `time` for y = (q, v), where past is (q₀ + `moved`, M⁻¹`momentum`).
pub(super) fn solve_backward_difference(
    step: &mut Step<'_>,
    time: f64,
    span: f64,
    moved: &[f64],
    momentum: &[f64],
) -> Result<StageSolution, StepError> {
    let inertia = step.momentum(moved);
    let (q, v) = step.stage(Stage {
        time,
        impulse: inertia.iter().zip(momentum).map(|(m, p)| m + span * p).collect(),
        weight: span * span,
        span,
        offset: moved.iter().map(|d| -d / span).collect(),
        reach: 1.0,
    })?;
    let force = step.force(time, &q, &v);
    // From the force and not from v: so Σp is conserved to round-off.
    let p = momentum.iter().zip(&force).map(|(p, f)| p + span * f).collect();
    Ok(StageSolution { q, v, p, force })
}
