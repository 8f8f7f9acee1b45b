//! What a method does to small motions of a whole system about rest, measured on its steps.
//!
//! Methods that treat parts of a body differently (some modes exactly, some stiffness explicitly, strains as constraints) act
//! on a single oscillator as on one of these parts. Here the method steps the system itself. A step is linear in displacements
//! of 1e-7 of the length of the body, so that its 2×2 amplification matrix for a mode follows from two starts: one
//! displaced and one moving along the mode. All modes start at once, since a step about rest mixes them little.

use super::{Amplification, Response, SETTLED, of_many_steps, of_one_step};
use crate::integrator::StepLength;
use crate::{Simulation, State, System};

/// Largest displacement relative to the length of the system. Strains are far from nonlinear, and round-off of the
/// positions is 1e-9 of it.
const DISPLACEMENT: f64 = 1e-7;
/// The largest hω with which a mode gets its full velocity.
const LONGEST_GUESS: f64 = 1e3;
/// Steps that [`perturbation`] takes.
const STEPS: usize = 60;
/// Energy that is known to round-off only, relative to that of the start.
const ROUND_OFF: f64 = 1e-16;
/// An amplitude of a mode, relative to that of the start, that is known to round-off only.
const DECAYED: f64 = 1e-5;
/// Growth of the energy beyond which the motion is no longer small.
const LARGE: f64 = 1e6;

/// A mode of a system about rest.
#[derive(Clone, Copy, Debug)]
pub struct ModeShape<'a> {
    /// Frequency, rad/s.
    pub omega: f64,
    /// u with uᵀMu = 1; 0 at Dirichlet dofs.
    pub shape: &'a [f64],
}

/// The response to each of the modes, with the step of the simulation. `rest` is an equilibrium. A response is `None` if the
/// steps fail or are not of fixed length.
pub fn responses<S: System>(
    simulation: &mut Simulation<S>,
    rest: &[f64],
    modes: &[ModeShape<'_>],
) -> Vec<Option<Response>> {
    let none = vec![None; modes.len()];
    if simulation.integrator().step_length() != StepLength::Fixed {
        return none;
    }
    simulation.take_whole_steps();
    let h = simulation.step();
    let Some(first) = powers(simulation, rest, modes, 2) else { return none };
    let angles = || modes.iter().map(|mode| h * mode.omega);
    let found: Vec<_> = first.iter().zip(angles()).map(|(p, angle)| of_one_step(p, angle)).collect();
    if found.iter().all(Option::is_some) {
        return found;
    }
    let Some(all) = powers(simulation, rest, modes, SETTLED + 1) else { return found };
    all.iter()
        .zip(angles())
        .zip(found)
        .map(|((p, angle), one)| one.or(Some(of_many_steps(p, angle, DECAYED))))
        .collect()
}

/// Of each mode, the powers 0 to n of the propagation matrix of (x, v/ω), by columns.
fn powers<S: System>(
    simulation: &mut Simulation<S>,
    rest: &[f64],
    modes: &[ModeShape<'_>],
    n: usize,
) -> Option<Vec<Vec<Amplification>>> {
    let h = simulation.step();
    let amplitude = |mode: &ModeShape<'_>| {
        let largest = mode.shape.iter().fold(0.0, |m: f64, u| m.max(u.abs()));
        DISPLACEMENT * simulation.system().length() / largest
    };
    let amplitudes: Vec<f64> = modes.iter().map(amplitude).collect();
    let mut powers = vec![vec![[[0.0; 2]; 2]; n + 1]; modes.len()];
    for column in 0..2 {
        let mut motion = [rest.to_vec(), vec![0.0; rest.len()]];
        // With a velocity of aω the first guess of a step is a(hω) away, which must stay small too.
        let shares: Vec<f64> = match column {
            0 => vec![1.0; modes.len()],
            _ => modes.iter().map(|mode| (LONGEST_GUESS / (h * mode.omega)).min(1.0)).collect(),
        };
        for ((mode, a), share) in modes.iter().zip(&amplitudes).zip(&shares) {
            let size = a * share * if column == 0 { 1.0 } else { mode.omega };
            motion[column].iter_mut().zip(mode.shape).for_each(|(x, u)| *x += size * u);
        }
        let [q, v] = motion;
        let start = State::new(simulation.system(), q, v);
        simulation.restart(start);
        for k in 0..=n {
            if k > 0 {
                simulation.advance().ok()?;
            }
            let [x, v] = momenta(simulation, rest);
            for (i, mode) in modes.iter().enumerate() {
                let along = |p: &[f64]| p.iter().zip(mode.shape).map(|(p, u)| p * u).sum::<f64>();
                let size = amplitudes[i] * shares[i];
                powers[i][k][column] = [along(&x) / size, along(&v) / (size * mode.omega)];
            }
        }
    }
    Some(powers)
}

/// M(q − rest) and Mv.
fn momenta<S: System>(simulation: &Simulation<S>, rest: &[f64]) -> [Vec<f64>; 2] {
    let state = simulation.state();
    let displacement: Vec<f64> = state.q.iter().zip(rest).map(|(q, rest)| q - rest).collect();
    [&displacement, &state.v].map(|x| {
        let mut product = vec![0.0; x.len()];
        simulation.system().mass().mul(x, &mut product);
        product
    })
}

/// What becomes of a motion in which all modes take part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Perturbation {
    /// Factor on the amplitude per step, of what is left after many steps.
    pub growth: f64,
    /// The displacement changes its sign in every step.
    pub flips: bool,
    /// The energy grows far beyond that of the start, or a step fails.
    pub unstable: bool,
}

/// What becomes of an arbitrary small displacement from `rest`, an equilibrium without energy. `None` if the steps are not of
/// fixed length.
pub fn perturbation<S: System>(simulation: &mut Simulation<S>, rest: &[f64]) -> Option<Perturbation> {
    if simulation.integrator().step_length() != StepLength::Fixed {
        return None;
    }
    simulation.take_whole_steps();
    let mut held = vec![false; rest.len()];
    simulation.system().abilities().mark_prescribed(0.0, &mut held);
    let size = DISPLACEMENT * simulation.system().length();
    let mut random = scattered();
    let displaced = rest.iter().zip(&held).map(|(x, held)| if *held { *x } else { x + size * random() });
    let start = State::new(simulation.system(), displaced.collect(), vec![0.0; rest.len()]);
    simulation.restart(start);

    let mut energies = vec![simulation.total_energy()];
    let (mut before, mut turns) = (momenta(simulation, rest)[0].clone(), Vec::new());
    let mut failed = false;
    for _ in 0..STEPS {
        // A motion so small fails only where it does not stay small.
        failed = simulation.advance().is_err();
        if failed {
            break;
        }
        let energy = simulation.total_energy();
        let now = momenta(simulation, rest)[0].clone();
        let products = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        turns.push(products(&now, &before) / (products(&now, &now) * products(&before, &before)).sqrt());
        before = now;
        failed = !energy.is_finite();
        if failed || energy < ROUND_OFF * energies[0] {
            break;
        }
        energies.push(energy);
        if energy > LARGE * energies[0] {
            break;
        }
    }
    // The first third is left to what decays fast. Of two energies, the motion grew or decayed in one step.
    let third = (energies.len() / 3).max(1);
    let largest = |e: &[f64]| e.iter().fold(0.0, |m: f64, e| m.max(*e));
    let late_from = energies.len() - third;
    let [early, late] =
        [largest(&energies[late_from.saturating_sub(third)..late_from]), largest(&energies[late_from..])];
    let growth = if early > 0.0 { (late / early).powf(0.5 / third as f64) } else { 0.0 };
    Some(Perturbation {
        growth,
        flips: turns.len() >= 4 && turns.iter().rev().take(4).all(|turn| *turn < -0.5),
        unstable: failed || (growth > 1.0 && late > 4.0 * energies[0]),
    })
}

/// Numbers between −1 and 1 that follow no mode: a linear congruential generator.
fn scattered() -> impl FnMut() -> f64 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
