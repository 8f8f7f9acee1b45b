//! `lilyan rest`: the static equilibrium of a scene under its loads at the start.

use crate::run::fields;
use lilyan_dynamics::equilibrium::{EquilibriumError, equilibrium};
use lilyan_dynamics::{State, System};
use lilyan_files::atomic::WriteError;
use lilyan_files::json;
use lilyan_scene::build::{Built, Probe};
use lilyan_scene::schema::{FieldName, Scene};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// An equilibrium: what `lilyan rest --json` prints and rest.json holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestReport {
    /// Title of the scene.
    pub title: String,
    /// Proximal steps, and the Newton iterations in them.
    pub steps: usize,
    /// Newton iterations in all.
    pub newton_iterations: usize,
    /// The largest force on a node that is not balanced, N.
    pub unbalanced_force: f64,
    /// How far the last step still moved a node, m.
    pub last_motion: f64,
    /// Whether small motions about it stay small; `None` with constraints, where it is not known.
    pub stable: Option<bool>,
    /// Unstable equilibria that were left on the way.
    pub saddles: usize,
    /// The lowest frequency about the equilibrium, Hz; `None` if a motion meets no resistance, or with constraints.
    pub lowest_hz: Option<f64>,
    /// The largest displacement of a node from its undeformed place, m.
    pub largest_displacement: f64,
    /// Elastic energy, J.
    pub elastic: f64,
    /// Energy of gravity, J.
    pub gravity: f64,
    /// The largest von Mises stress of a cell, Pa; `None` without cells.
    pub von_mises: Option<f64>,
    /// The force of each pin on its body, N, in the order of the scene.
    pub pin_forces: Vec<[f64; 3]>,
    /// The sum of the forces of all contacts with obstacles, N.
    pub contact_force: [f64; 3],
    /// Places of the probes, m.
    pub probes: Vec<ProbePlace>,
}

/// Where a probe is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbePlace {
    /// Its name.
    pub name: String,
    /// m.
    pub at: [f64; 3],
}

/// Brings the simulation to the static equilibrium of the scene and describes it.
pub fn rest(scene: &Scene, built: &mut Built) -> Result<RestReport, EquilibriumError> {
    let simulation = &built.simulation;
    let found = equilibrium(simulation.system(), simulation.state(), scene.time.step, &[])?;
    let State { t, q, .. } = &found.state;
    let model = simulation.system();
    let undeformed = model.rest_positions();
    let moved = q.chunks_exact(3).zip(undeformed.chunks_exact(3));
    let distance = |(a, b): (&[f64], &[f64])| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
    let parts = model.energy_parts(*t, q);
    let pin_forces = model.pins().iter().map(|pin| {
        let mut force = [0.0; 3];
        for &node in &pin.nodes {
            for k in (0..3).filter(|&k| pin.axes[k]) {
                force[k] += found.reactions[3 * node as usize + k];
            }
        }
        force
    });
    let mut contact = vec![0.0; q.len()];
    model.add_contact_forces(*t, q, &mut contact);
    let contact_force = std::array::from_fn(|k| contact.iter().skip(k).step_by(3).sum());
    let probe = |p: &Probe| ProbePlace { name: p.name.clone(), at: p.place(q) };
    let report = RestReport {
        title: scene.title.clone(),
        steps: found.steps,
        newton_iterations: found.newton_iterations,
        unbalanced_force: found.unbalanced_force,
        last_motion: found.last_motion,
        stable: found.is_stable,
        saddles: found.saddles,
        lowest_hz: found.lowest_frequency.map(|omega| omega / (2.0 * std::f64::consts::PI)),
        largest_displacement: moved.map(distance).fold(0.0, f64::max),
        elastic: parts.elastic,
        gravity: parts.gravity,
        von_mises: fields::von_mises(built, q).into_iter().reduce(f64::max),
        pin_forces: pin_forces.collect(),
        contact_force,
        probes: built.probes.iter().map(probe).collect(),
    };
    built.simulation.restart(found.state);
    Ok(report)
}

/// Writes `rest.vtu`, the equilibrium with the fields of a frame, and `rest.json` into a folder.
pub fn write(built: &Built, report: &RestReport, folder: &Path) -> Result<(), WriteError> {
    let wanted = [
        FieldName::Displacement,
        FieldName::Force,
        FieldName::VonMises,
        FieldName::NodalStress,
        FieldName::NodalVonMises,
    ];
    fields::write_state(built, &wanted, None, &folder.join("rest.vtu"))?;
    json::write(folder.join("rest.json"), report)
}
