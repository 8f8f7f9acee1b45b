//! The verdict: what physics and the method promise for this scene, and whether the run kept it.

use super::recorder::Recorder;
use super::round_off::RoundOff;
use super::{constraints, fields};
use crate::diagnose::{self, fits};
use lilyan_dynamics::fit::{Fit, FittedBody};
use lilyan_dynamics::integrators::Claims;
use lilyan_report::{Check, Level, Verdict, percent, short};
use lilyan_scene::build::Built;
use std::cell::LazyCell;

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
    /// The energy in play: the largest sum of kinetic, elastic and other energy, and gravity above its lowest value. It
    /// does not depend on the zero of height.
    pub in_play: f64,
    /// Largest and final amount that the budget does not account for.
    pub unaccounted: [f64; 2],
    /// Largest size of a term of the total.
    pub largest: f64,
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
        let size = |v: &[f64]| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let largest = [&kinetic, &elastic, &gravity, &other].into_iter().map(|v| size(v)).fold(0.0, f64::max);
        Self {
            largest,
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
    // The matrix is assembled only where the answer depends on it.
    let (round_off, steps) = (LazyCell::new(|| RoundOff::at(built)), built.simulation.index());
    let energy_round_off = || round_off.energy(steps, energy.in_play, energy.largest);
    let mut checks = vec![energy_check(built, &energy, claims, name, &energy_round_off)];
    let c = &recorder.counters;
    for momentum in momenta(built, recorder) {
        checks.push(momentum_check(built, &momentum, claims, name, &|| round_off.momenta(steps)));
    }
    checks.extend(constraints::check(built, &recorder.energy));
    checks.extend(recorder.shown.check(built));
    checks.extend(fits(built).map(|(fit, followed)| fit_check(fit, followed)));
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

/// Whether a body stayed where its fit was made.
fn fit_check(fit: &Fit, followed: &FittedBody) -> Check {
    let kept = followed.skipped == 0 && !diagnose::is_far(&followed.furthest);
    let without = match followed.skipped {
        0 => String::new(),
        n => format!("{n} of {} steps without the fit; ", followed.steps),
    };
    Check {
        quantity: format!("Fit of {}", fit.name),
        expected: "the body stays near rest, where its fit was made".into(),
        measured: format!("{without}{}", diagnose::distance(&followed.furthest)),
        allowed: "see docs/coarsening.md".into(),
        level: if kept { Level::Pass } else { Level::Warn },
        why: "the error of the stiffness at rest says little about that of a body far from rest".into(),
        ratio: None,
    }
}

/// A momentum that physics conserves, and what became of it.
pub(super) struct ConservedMomentum {
    /// In words: "linear momentum".
    pub name: String,
    /// Whether it is an angular momentum.
    pub angular: bool,
    /// Why physics conserves it.
    why: &'static str,
    /// Largest change, kg m/s or kg m²/s.
    change: f64,
    /// Σ|p| or Σ|x||p|.
    scale: f64,
}

impl ConservedMomentum {
    /// The change relative to the scale.
    pub fn drift(&self) -> f64 {
        if self.scale > 0.0 { self.change / self.scale } else { 0.0 }
    }
}

/// The momenta that the scene conserves.
pub(super) fn momenta(built: &Built, recorder: &Recorder) -> Vec<ConservedMomentum> {
    let c = &recorder.counters;
    let free = [
        ("linear momentum", built.conserved.linear, c.linear, false),
        ("angular momentum", built.conserved.angular, c.angular, true),
    ];
    let whole = free.into_iter().filter(|f| f.1).map(|(name, _, [change, scale], angular)| {
        let why = "nothing acts from outside";
        ConservedMomentum { name: name.into(), angular, why, change, scale }
    });
    let column = |name: &str| recorder.energy.column(name).unwrap_or_default();
    let [p, l] = [["px", "py", "pz"], ["lx", "ly", "lz"]].map(|names| names.map(column));
    let partial = built.symmetries.iter().map(|symmetry| {
        let value = |k: usize| symmetry.value([0, 1, 2].map(|i| p[i][k]), [0, 1, 2].map(|i| l[i][k]));
        let norm = |x: [f64; 3], y: [f64; 3]| (0..3).map(|i| (x[i] - y[i]).powi(2)).sum::<f64>().sqrt();
        let change = (0..p[0].len()).map(|k| norm(value(k), value(0))).fold(0.0, f64::max);
        ConservedMomentum {
            name: symmetry.name(),
            angular: symmetry.is_rotation(),
            why: "what acts from outside does not change it",
            change,
            scale: symmetry.scale([c.linear[1], c.angular[1]]),
        }
    });
    whole.chain(partial).collect()
}

/// The unaccounted share of the energy in play up to which the verdict passes.
pub fn allowed_energy(claims: &Claims) -> f64 {
    // A method that keeps energy keeps it to solver tolerance.
    if claims.energy { 1e-6 } else { 0.02 }
}

/// The relative drift of the linear or the angular momentum up to which the verdict passes.
pub fn allowed_momentum(built: &Built, claims: &Claims, angular: bool) -> f64 {
    let torque = built.conserved.damping_torque[usize::from(claims.explicit)].filter(|_| angular);
    let claimed = if angular { claims.angular_momentum && torque.is_none() } else { claims.linear_momentum };
    match (claimed, claims.explicit) {
        (false, _) => 1e-3,
        // Round-off of many steps for explicit methods, solver tolerance for the others.
        (true, true) => 1e-10,
        (true, false) => 1e-8,
    }
}

fn momentum_check(
    built: &Built,
    momentum: &ConservedMomentum,
    claims: &Claims,
    name: &str,
    round_off: &dyn Fn() -> [f64; 2],
) -> Check {
    let mut quantity = momentum.name.clone();
    quantity[..1].make_ascii_uppercase();
    let allowed = allowed_momentum(built, claims, momentum.angular);
    let torque = built.conserved.damping_torque[usize::from(claims.explicit)].filter(|_| momentum.angular);
    let claimed = match momentum.angular {
        true => claims.angular_momentum && torque.is_none(),
        false => claims.linear_momentum,
    };
    let relative = momentum.drift();
    // Momenta that are round-off have no meaningful relative drift.
    let is_round_off = relative > allowed && momentum.change <= round_off()[usize::from(momentum.angular)];
    let drift = if is_round_off { 0.0 } else { relative };
    if claimed {
        let why = format!("{}, and the method keeps it exactly", momentum.why);
        return Check::at_most(quantity, "conserved", drift, allowed, why);
    }
    Check {
        quantity,
        expected: "conserved by physics, not by this method".into(),
        measured: short(drift),
        allowed: short(allowed),
        level: if drift <= allowed { Level::Pass } else { Level::Warn },
        why: match torque {
            None => format!("{name} does not keep it; `variational` and `energy-momentum` do"),
            Some(damping) => format!("{damping} damping does not keep it in this form; viscous damping does"),
        },
        ratio: Some(drift / allowed),
    }
}

fn energy_check(
    built: &Built,
    energy: &EnergyFigures,
    claims: &Claims,
    name: &str,
    round_off: &dyn Fn() -> f64,
) -> Check {
    let share = if energy.in_play > 0.0 { energy.unaccounted[0] / energy.in_play } else { 0.0 };
    let lost = energy.unaccounted[1];
    let expected = match built.conserved.energy {
        true => "conserved",
        false => "changes only by work and material damping",
    };
    let direction = if lost >= 0.0 { "lost" } else { "gained" };
    let allowed = allowed_energy(claims);
    let why = if claims.energy {
        "the method keeps energy to solver tolerance".to_string()
    } else if claims.bounds_energy() {
        let kind = if claims.symplectic { "symplectic" } else { "reversible" };
        format!("a {kind} method keeps energy in a band that shrinks with the step")
    } else {
        format!(
            "{name} {direction} energy by itself: shorten the step, or use `energy-momentum` or `variational`"
        )
    };
    if share > allowed && energy.unaccounted[0] <= round_off() {
        return Check {
            quantity: "Energy".into(),
            expected: expected.into(),
            measured: format!(
                "{} J unaccounted for, no more than round-off makes",
                short(energy.unaccounted[0])
            ),
            allowed: percent(allowed),
            level: Level::Pass,
            why: "so little moves that energies are known to round-off of the positions only".into(),
            ratio: Some(0.0),
        };
    }
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
