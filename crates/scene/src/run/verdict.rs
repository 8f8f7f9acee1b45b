//! The verdict: what physics and the method promise for this scene, and what became of it.

use super::record::Recorder;
use super::{constraints, fields};
use crate::build::Built;
use crate::report::{Check, Level, Verdict, percent, short};
use lilyan_dynamics::integrators::Claims;

/// Energies of a run that the verdict and the summary need, J.
pub struct EnergyFigures {
    /// At the start.
    pub initial: f64,
    /// At the end.
    pub last: f64,
    /// Smallest total.
    pub min: f64,
    /// Largest total.
    pub max: f64,
    /// The largest sum of kinetic, elastic and other energy and gravity above its lowest: what is in play,
    /// whatever the zero of height.
    pub in_play: f64,
    /// Largest and final amount that the budget does not account for.
    pub unaccounted: [f64; 2],
}

impl EnergyFigures {
    /// From the lines of `energy.csv`.
    pub fn new(recorder: &Recorder) -> Self {
        let column = |name: &str| recorder.energy.column(name).unwrap_or_default();
        let (total, kinetic, elastic) = (column("total"), column("kinetic"), column("elastic"));
        let (gravity, other) = (column("gravity"), column("other"));
        let numerical = column("dissipated_numerical");
        let least = |v: &[f64]| v.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |v: &[f64]| v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = least(&gravity);
        let in_play = (0..total.len())
            .map(|k| kinetic[k] + elastic[k].abs() + other[k].abs() + gravity[k] - lowest)
            .fold(0.0, f64::max);
        Self {
            initial: total.first().copied().unwrap_or(0.0),
            last: total.last().copied().unwrap_or(0.0),
            min: least(&total),
            max: most(&total),
            in_play,
            unaccounted: [
                numerical.iter().fold(0.0, |m: f64, x| m.max(x.abs())),
                numerical.last().copied().unwrap_or(0.0),
            ],
        }
    }
}

/// The checks of a run, most important first.
pub fn checks(built: &Built, recorder: &Recorder, claims: &Claims, name: &str) -> Vec<Check> {
    let energy = EnergyFigures::new(recorder);
    let mut checks = vec![energy_check(built, &energy, claims, name)];
    let c = &recorder.counters;
    // Round-off of many steps for explicit methods, solver tolerance for the others.
    let allowed = if claims.explicit { 1e-10 } else { 1e-8 };
    // Explicit methods take damping at one place, where every model is free of torque.
    let damping = built.conserved.damping_keeps_angular || claims.explicit;
    let momenta = [
        ("Linear momentum", built.conserved.linear, claims.linear_momentum, c.linear),
        ("Angular momentum", built.conserved.angular, claims.angular_momentum && damping, c.angular),
    ];
    for (quantity, conserved, claimed, [drift, scale]) in momenta {
        if !conserved {
            continue;
        }
        let drift = if scale > 0.0 { drift / scale } else { 0.0 };
        if claimed {
            let why = "nothing acts from outside, and the method keeps it exactly";
            checks.push(Check::at_most(quantity, "conserved", drift, allowed, why));
        } else {
            checks.push(Check {
                quantity: quantity.into(),
                expected: "conserved by physics, not by this method".into(),
                measured: short(drift),
                allowed: "1e-3".into(),
                level: if drift <= 1e-3 { Level::Pass } else { Level::Warn },
                why: match damping {
                    true => format!("{name} does not keep it; `variational` and `energy-momentum` do"),
                    false => "kharevych damping inside the step does not keep it; with implicit = false, or \
                              as viscous damping, it does"
                        .into(),
                },
                ratio: Some(drift / 1e-3),
            });
        }
    }
    checks.extend(constraints::check(built, recorder));
    let steps = built.simulation.index;
    checks.push(Check {
        quantity: "Steps".into(),
        expected: "all of them as asked".into(),
        measured: match c.halved as u64 {
            0 => format!("{steps} steps, none had to be cut"),
            n => format!("{steps} steps, {n} had to be cut into smaller ones"),
        },
        allowed: "1 % cut".into(),
        level: if c.halved <= 0.01 * steps as f64 { Level::Pass } else { Level::Warn },
        why: "a step that does not converge is halved; many halvings mean the step is too long".into(),
        ratio: None,
    });
    let (J, body, element) = fields::smallest_J(built);
    // Springs and membranes cannot be inside out.
    if J.is_infinite() {
        return checks;
    }
    checks.push(Check {
        quantity: "Elements".into(),
        expected: "none inverted at the end".into(),
        measured: format!("smallest volume ratio {}", short(J)),
        allowed: "above 0".into(),
        level: if J > 0.0 { Level::Pass } else { Level::Fail },
        why: if J > 0.0 {
            "det F of every element is positive".into()
        } else {
            format!("element {element} of body \"{}\" is inside out", built.bodies[body].name)
        },
        ratio: None,
    });
    checks
}

fn energy_check(built: &Built, energy: &EnergyFigures, claims: &Claims, name: &str) -> Check {
    let share = if energy.in_play > 0.0 { energy.unaccounted[0] / energy.in_play } else { 0.0 };
    let lost = energy.unaccounted[1];
    let expected = match built.conserved.energy {
        true => "conserved",
        false => "changes only by work and material damping",
    };
    let direction = if lost >= 0.0 { "lost" } else { "gained" };
    let (allowed, why) = if claims.energy {
        (1e-6, "the method keeps energy to solver tolerance".to_string())
    } else if claims.bounds_energy() {
        let kind = if claims.symplectic { "symplectic" } else { "reversible" };
        (0.02, format!("a {kind} method keeps energy in a band that shrinks with the step"))
    } else {
        let advice = format!(
            "{name} {direction} energy by itself: shorten the step, or use `energy-momentum` or `variational`"
        );
        (0.02, advice)
    };
    let level = match share {
        x if x <= allowed => Level::Pass,
        x if x <= 10.0 * allowed => Level::Warn,
        _ => Level::Fail,
    };
    Check {
        quantity: "Energy".into(),
        expected: expected.into(),
        measured: format!("{} of the energy in play unaccounted for", percent(share)),
        allowed: percent(allowed),
        level,
        why,
        ratio: Some(share / allowed),
    }
}

/// One verdict from all checks.
pub fn verdict(checks: &[Check], stopped: Option<(f64, &str)>) -> Verdict {
    match stopped {
        Some((t, why)) => Verdict::stopped(t, why),
        None => Verdict::from_checks(checks),
    }
}
