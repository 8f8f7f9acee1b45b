//! The fit of a coarse body to the frequencies of the fine one, as a `fit` in its scene.

use super::carry::{set, table_of};
use crate::build::fit::{alone, over_time};
use crate::build::{Built, build};
use crate::document::{Node, Place, SceneError, Value};
use crate::schema::Scene;
use lilyan_dynamics::integrators;
use lilyan_solid::spectra::Spectra;
use serde_json::json;

/// How the frequencies of the fine body come into the coarse scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitBy {
    /// Each of the lowest modes has its own.
    Modes,
    /// The first sets the stiffness of all.
    First,
}

/// What a fit found.
pub(super) struct Found {
    /// Up to when (s) these nodes are held, and the modes meanwhile.
    pub phases: Vec<(f64, Spectra)>,
    pub by: FitBy,
}

impl Found {
    /// Compares the modes of a body in both scenes.
    pub fn new(
        fine: &Scene,
        coarse: &Scene,
        number: usize,
        modes: usize,
        by: FitBy,
    ) -> Result<Self, SceneError> {
        let [fine_alone, coarse_alone] =
            [fine, coarse].map(|scene| -> Result<Built, SceneError> { build(&alone(scene, number, None)?) });
        let phases = over_time(coarse, number, &coarse_alone?, &fine_alone?, modes)?;
        Ok(Self { phases, by })
    }

    /// Writes it into the document of the coarse scene. A mesh that cannot show the motion of the fine one goes
    /// without, and so does a method of time integration that cannot step it.
    pub fn put(&self, document: &mut Node, body: &mut dyn FnMut(&mut Node, Node), notes: &mut Vec<String>) {
        let number = |x: f64| Node { value: Value::Number(x), place: Place::Unknown };
        let mut phases = Vec::new();
        for (until, spectra) in &self.phases {
            let (found, of) = (spectra.found(), spectra.coarse.len());
            if !spectra.is_acceptable() {
                notes.push(format!(
                    "only {found} of the {of} lowest modes of the coarse mesh are modes of the fine one: it goes without a \
                     fit; take a finer coarse mesh"
                ));
            }
            let usable = if spectra.is_acceptable() { spectra.ratios() } else { Vec::new() };
            let ratios = usable.iter().map(|r| number(r.clamp(1e-3, 1e3))).collect();
            let mut phase = vec![("ratios", Node { value: Value::Array(ratios), place: Place::Unknown })];
            if until.is_finite() {
                phase.push(("until", number(*until)));
            }
            phases.push(table_of(&phase));
        }
        let first = self.phases.first().filter(|(_, s)| s.is_acceptable()).map(|(_, s)| s.ratios()[0]);
        let fit = match self.by {
            FitBy::First => table_of(&[("stiffness", number(first.unwrap_or(1.0)))]),
            FitBy::Modes => {
                let list = Node { value: Value::Array(phases), place: Place::Unknown };
                table_of(&[("phases", list)])
            }
        };
        body(document, fit);
    }

    /// As data: frequencies of both, of the corrected body, and how alike the modes are.
    pub fn report(&self) -> serde_json::Value {
        let hertz = |value: f64| value.max(0.0).sqrt() / (2.0 * std::f64::consts::PI);
        let phases = self.phases.iter().map(|(until, s)| {
            let ratios = s.ratios();
            let scale = |i: usize| match self.by {
                FitBy::Modes => ratios[i],
                FitBy::First => ratios[0],
            };
            let modes = (0..s.coarse.len()).map(|i| {
                json!({
                    "fine_hz": hertz(s.fine[s.partner[i]]),
                    "coarse_hz": hertz(s.coarse[i]),
                    "corrected_hz": hertz(s.coarse[i] * if s.is_acceptable() { scale(i) } else { 1.0 }),
                    "ratio": ratios[i],
                    "overlap": s.overlap[i],
                    "fine_mode": s.partner[i] + 1,
                })
            });
            json!({
                "until": until.is_finite().then_some(*until),
                "accepted": s.is_acceptable(),
                "found": s.found(),
                "modes": modes.collect::<Vec<_>>(),
            })
        });
        json!(phases.collect::<Vec<_>>())
    }
}

/// An integrator that takes fits, in place of one that does not.
pub(super) fn integrator(scene: &Scene, document: &mut Node, notes: &mut Vec<String>) {
    let able = integrators::find(&scene.integrator.name)
        .and_then(|entry| entry.create(&[]).ok())
        .is_none_or(|integrator| integrator.takes_fits());
    if able {
        return;
    }
    let name = Node { value: Value::Text("implicit-midpoint".into()), place: Place::Unknown };
    set(document, "integrator", table_of(&[("name", name)]));
    notes.push(format!(
        "integrator \"{}\" cannot step a body with a fit; the coarse scene uses \"implicit-midpoint\"",
        scene.integrator.name
    ));
}
