//! The fit of a coarse body to the frequencies of the fine one, as a `fit` in its scene.

use super::document::{set, table_of, text};
use super::report::{FitModeReport, FitPhaseReport};
use lilyan_dynamics::integrators;
use lilyan_scene::build::fit::{alone, over_time, shape_name};
use lilyan_scene::build::{Built, build};
use lilyan_scene::document::{Node, Place, SceneError, Value};
use lilyan_scene::schema::Scene;
use lilyan_solid::spectra::Spectra;

/// How the frequencies of the fine body come into the coarse scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitBy {
    /// Each of the lowest modes gets the frequency of the fine mode.
    Modes,
    /// The first frequency scales the stiffness of the whole body.
    First,
}

/// The modes of the fine and of the coarse body, from which the fit follows.
pub(super) struct ModalFit {
    /// Spans of time in which the same nodes are held: the end (s), and the modes.
    pub phases: Vec<(f64, Spectra)>,
    pub by: FitBy,
}

impl ModalFit {
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

    /// The `fit` of the coarse body, and its shapes as point data of the mesh. A coarse mesh that does not have the modes of
    /// the fine one gets no fit. With `own_shapes` the modes keep the shapes that they have: those of quadratic tets are near to the
    /// fine ones, and a file has no places for the nodes on their edges.
    pub fn spec(&self, own_shapes: bool, notes: &mut Vec<String>) -> (Node, Vec<(String, Vec<f64>)>) {
        let number = |x: f64| Node { value: Value::Number(x), place: Place::Unknown };
        let list = |nodes: Vec<Node>| Node { value: Value::Array(nodes), place: Place::Unknown };
        let (mut phases, mut fields) = (Vec::new(), Vec::new());
        for (p, (until, spectra)) in self.phases.iter().enumerate() {
            let (found, of) = (spectra.found(), spectra.coarse.len());
            let mut phase = Vec::new();
            if spectra.is_acceptable() && own_shapes {
                let ratio = |(i, ratio): (usize, f64)| match spectra.formed.contains(&spectra.partner[i]) {
                    true => number(ratio.clamp(1e-3, 1e3)),
                    false => number(1.0),
                };
                let ratios = spectra.ratios().into_iter().enumerate().map(ratio).collect();
                phase.push(("ratios", list(ratios)));
            } else if spectra.is_acceptable() {
                let name = if self.phases.len() == 1 { "mode".to_string() } else { format!("mode{}", p + 1) };
                let n = spectra.shapes.len() / spectra.formed.len().max(1);
                for (i, shape) in spectra.shapes.chunks_exact(n.max(1)).enumerate() {
                    let axis = |k: usize| shape.iter().skip(k).step_by(3).copied().collect();
                    fields.extend((0..3).map(|k| (shape_name(&name, i, k), axis(k))));
                }
                let values = spectra.formed.iter().map(|&j| number(spectra.fine[j])).collect();
                phase.extend([
                    ("modes", number(of as f64)),
                    ("values", list(values)),
                    ("shapes", text(&name)),
                ]);
            } else {
                notes.push(format!(
                    "only {found} of the {of} lowest modes of the coarse mesh are modes of the fine one: it gets no \
                     fit; take a finer coarse mesh"
                ));
                phase.push(("ratios", list(Vec::new())));
            }
            if until.is_finite() {
                phase.push(("until", number(*until)));
            }
            phases.push(table_of(&phase));
        }
        let first = self.phases.first().filter(|(_, s)| s.is_acceptable()).map(|(_, s)| s.ratios()[0]);
        match self.by {
            FitBy::First => {
                let ratio = first.unwrap_or(1.0).clamp(1e-3, 1e3);
                (table_of(&[("stiffness", number(ratio))]), Vec::new())
            }
            FitBy::Modes => (table_of(&[("phases", list(phases))]), fields),
        }
    }

    /// As data: frequencies of both, of the corrected body, and how alike the modes are.
    pub fn report(&self) -> Vec<FitPhaseReport> {
        let hertz = |value: f64| value.max(0.0).sqrt() / (2.0 * std::f64::consts::PI);
        let phases = self.phases.iter().map(|(until, s)| {
            let ratios = s.ratios();
            let scale = |i: usize| match self.by {
                FitBy::Modes if s.formed.contains(&s.partner[i]) => ratios[i],
                FitBy::Modes => 1.0,
                FitBy::First => ratios[0],
            };
            let modes = (0..s.coarse.len()).map(|i| FitModeReport {
                fine_hz: hertz(s.fine[s.partner[i]]),
                coarse_hz: hertz(s.coarse[i]),
                corrected_hz: Some(hertz(s.coarse[i] * if s.is_acceptable() { scale(i) } else { 1.0 })),
                ratio: ratios[i],
                overlap: s.overlap[i],
                fine_mode: s.partner[i] + 1,
            });
            FitPhaseReport {
                until: until.is_finite().then_some(*until),
                accepted: s.is_acceptable(),
                found: s.found(),
                modes: modes.collect(),
            }
        });
        phases.collect()
    }
}

/// Replaces an integrator that cannot step fitted bodies.
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
