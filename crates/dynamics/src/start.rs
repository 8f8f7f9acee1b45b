//! A start that damping makes steep.
//!
//! Where the velocities of the start are not those of a smooth motion (a pin at speed beside a body at rest, say), stiff damping
//! evens them out in a time much shorter than a step. What the damping takes and what a pin gives in that time is of the size of
//! the energy in play, and no quadrature over the whole step finds it. The first step is therefore taken as a sequence of steps that
//! grow by 2, from one that resolves the damping of the start: h/2ᵏ, h/2ᵏ, h/2ᵏ⁻¹, …, h/2 \[hairer1996, IV.8\].

use crate::{State, System};

/// The first of the steps, relative to the time in which damping changes the velocities by their own size.
const RESOLVED: f64 = 0.25;
/// Most halvings. Steps beyond are not resolved.
const MOST_HALVINGS: i32 = 24;

/// How often the first step of length `h` is halved: 0 where damping is not steeper than the step.
pub fn halvings(system: &dyn System, state: &State, h: f64) -> i32 {
    let abilities = system.abilities();
    let Some(dissipation) = abilities.dissipation else { return 0 };
    let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let speed = largest(&state.v);
    if speed == 0.0 {
        return 0;
    }
    let n = state.q.len();
    let (mut damping, mut applied, mut rate) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    dissipation.add_forces(state.t, &state.q, &state.v, &mut damping);
    if let Some(forces) = abilities.applied {
        forces.add_applied_forces(state.t, &state.q, &state.v, &mut applied);
    }
    damping.iter_mut().zip(&applied).for_each(|(f, applied)| *f -= applied);
    let mut held = vec![false; n];
    abilities.mark_prescribed(state.t + h, &mut held);
    system.mass().solve(&held, &damping, &mut rate);
    (0..n).filter(|&i| held[i]).for_each(|i| rate[i] = 0.0);
    let steepness = h * largest(&rate) / speed;
    if !(steepness > 1.0 && steepness.is_finite()) {
        return 0;
    }
    ((steepness / RESOLVED).log2().ceil() as i32).min(MOST_HALVINGS)
}
