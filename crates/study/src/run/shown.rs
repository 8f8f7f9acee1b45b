//! Whether the fine meshes that bodies show can be where they are shown.
//!
//! A fine vertex may differ from the place that its coarse tet interpolates, since inside of a coarse tet soft parts deform
//! more than stiff ones. All of this is a part of what the coarse tets deform: a layer can take the whole elongation of
//! its tet, but not much more. So the difference is compared with the largest change of length of a coarse edge. Maps of sound
//! bodies were measured to stay below 3 of it; where maps fail, they show hundreds.

use lilyan_report::{Check, Level, short};
use lilyan_scene::build::{Built, BuiltBody};

/// Differences up to this many elongations are believed.
const MOST: f64 = 10.0;
/// Differences up to this share of the size of a body are round-off.
const ROUND_OFF: f64 = 1e-9;

/// The worst of the fine meshes that a run has shown.
#[derive(Clone, Debug, Default)]
pub(super) struct ShownMeshes {
    worst: Option<WorstVertex>,
}

#[derive(Clone, Debug)]
struct WorstVertex {
    body: String,
    vertex: usize,
    t: f64,
    /// Distance from where its coarse tet puts it, m.
    apart: f64,
    /// Largest change of length of a coarse edge, m.
    elongation: f64,
    /// `apart` over what is allowed.
    ratio: f64,
}

impl ShownMeshes {
    /// Looks at the fine mesh of a body, shown at these positions (flat, m) while the nodes of all bodies are at `q`.
    pub fn note(&mut self, body: &BuiltBody, t: f64, q: &[f64], shown_at: &[f64]) {
        let Some(shown) = &body.shown else { return };
        let own = body.dofs.part(q);
        let plain = shown.map.embedding().place(own);
        let distance = |a: &[f64], b: &[f64]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
        let apart = shown_at.chunks_exact(3).zip(plain.chunks_exact(3)).map(|(a, b)| distance(a, b));
        // A distance that is no number counts as the largest.
        let size = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        let Some((vertex, apart)) = apart.map(size).enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return;
        };
        let rest = body.nodes().points();
        let (mut elongation, mut longest) = (0.0_f64, 0.0_f64);
        for tet in body.nodes().tets() {
            for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                let [a, b] = [tet[i] as usize, tet[j] as usize];
                let now = distance(&own[3 * a..], &own[3 * b..]);
                let then = distance(&rest[a], &rest[b]);
                (elongation, longest) = (elongation.max((now - then).abs()), longest.max(then));
            }
        }
        let ratio = apart / (MOST * elongation + ROUND_OFF * longest);
        if self.worst.as_ref().is_none_or(|w| ratio > w.ratio) {
            self.worst = Some(WorstVertex { body: body.name.clone(), vertex, t, apart, elongation, ratio });
        }
    }

    /// The check, if something was shown.
    pub fn check(&self, built: &Built) -> Option<Check> {
        built.bodies.iter().find(|b| b.shown.is_some())?;
        let WorstVertex { body, vertex, t, apart, elongation, ratio } = self.worst.as_ref()?;
        let sound = *ratio <= 1.0;
        Some(Check {
            quantity: "Fine mesh".into(),
            expected: "shown where the coarse body carries it".into(),
            measured: match sound {
                true => format!("at most {} m from there", short(*apart)),
                false => format!(
                    "vertex {vertex} of what body \"{body}\" shows is {} m from there at t = {} s",
                    short(*apart),
                    short(*t)
                ),
            },
            allowed: format!("{} m", short(MOST * elongation)),
            level: if sound { Level::Pass } else { Level::Fail },
            why: match sound {
                true => "a fine vertex may differ by what the coarse elements deform".into(),
                false => "the coarse motion can be right, but display.pvd and its frames are not: \
                          leave `display` out, or coarsen to more tets"
                    .into(),
            },
            ratio: Some(*ratio),
        })
    }
}
