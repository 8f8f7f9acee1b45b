//! The binary messages of `PROTOCOL.md`: geometry and frames.

use super::cut_steps;
use super::{Pane, PaneEnergy};
use crate::effort::EffortController;
use crate::protocol::{ColorField, FRAME, GEOMETRY, Packet};
use axum::body::Bytes;
use lilyan_scene::schema::FieldName;
use lilyan_solid::elements::CellField;
use lilyan_study::run::at_vertices;
use serde_json::{Value, json};

/// What frames contain besides positions and figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameContents {
    /// The quantity that colours the bodies.
    pub field: ColorField,
    /// Whether the whole force on each vertex is included.
    pub forces: bool,
    /// Whether the force from outside on each vertex is included.
    pub outside: bool,
    /// Whether the momentum of each vertex is included.
    pub momenta: bool,
    /// Whether contacts are included.
    pub contacts: bool,
    /// Whether vertices inside of solids are included.
    pub inside: bool,
}

/// How the simulation keeps up with the wall clock.
#[derive(Clone, Copy)]
pub struct FrameTiming<'a> {
    /// Simulated time that is missing, s.
    pub behind: f64,
    /// The controller of real-time mode, if it is on.
    pub controller: Option<&'a EffortController>,
}

/// What is the same in all frames until the scene changes.
pub fn geometry(panes: &[Pane], version: u64) -> Bytes {
    let mut packet = Packet::default();
    let mut described = Vec::new();
    for (i, pane) in panes.iter().enumerate() {
        let drawn = &pane.drawn;
        packet.indices(i, "triangles", &drawn.triangles);
        packet.indices(i, "lines", &drawn.lines);
        packet.indices(i, "points", &drawn.points);
        packet.indices(i, "pinned", &drawn.pinned);
        if drawn.inside {
            packet.indices(i, "tets", &drawn.tets);
        }
        packet.numbers(i, "material", at_drawn(pane, &material(pane)));
        let rest = pane.built.rest_positions();
        packet.numbers(i, "rest", triples(pane, &rest));
        let bodies = drawn
            .bodies
            .iter()
            .map(|body| json!({ "name": body.name, "first": body.first, "count": body.count }));
        described.push(json!({
            "bodies": bodies.collect::<Vec<_>>(),
            "obstacles": pane.obstacles(),
            "up": pane.up(),
            "size": pane.size(),
            "bounds": bounds(&pane.built.simulation.state().q),
        }));
    }
    packet.finish(GEOMETRY, json!({ "version": version, "panes": described }))
}

/// The current state of every pane. `energies` has one entry per pane.
pub fn frame(
    panes: &[Pane],
    energies: &[PaneEnergy],
    contents: FrameContents,
    [number, version]: [u64; 2],
    timing: FrameTiming<'_>,
) -> Bytes {
    let mut packet = Packet::default();
    let mut described = Vec::new();
    for (i, (pane, energy)) in panes.iter().zip(energies).enumerate() {
        let state = pane.built.simulation.state();
        packet.numbers(i, "positions", triples(pane, &state.q));
        let mut range = [0.0, 0.0];
        if contents.field != ColorField::None {
            let values = field_values(pane, contents.field);
            range = extent(&values);
            packet.numbers(i, "field", at_drawn(pane, &values));
        }
        if contents.forces {
            packet.numbers(i, "forces", triples(pane, &total_forces(pane)));
        }
        if contents.outside {
            packet.numbers(i, "outside", triples(pane, &pane.outside_forces()));
        }
        if contents.momenta {
            packet.numbers(i, "momenta", triples(pane, &state.p));
        }
        if contents.contacts {
            packet.numbers(i, "contacts", contact_forces(pane).into_iter());
        }
        described.push(figures(pane, energy, range, timing));
    }
    packet.finish(FRAME, json!({ "number": number, "version": version, "panes": described }))
}

/// The numbers of a pane in a frame.
fn figures(pane: &Pane, energy: &PaneEnergy, range: [f64; 2], timing: FrameTiming<'_>) -> Value {
    let simulation = &pane.built.simulation;
    let (momentum, angular) = simulation.state().momenta([0.0; 3]);
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let each = simulation.state().q.chunks_exact(3).zip(simulation.state().p.chunks_exact(3));
    let (moving, turning) = each.fold((0.0, 0.0), |(a, b), (x, p)| (a + norm(p), b + norm(x) * norm(p)));
    let ledger = simulation.ledger();
    let [made_energy, made_linear, made_angular] = pane.round_off(energy);
    let grab = pane
        .grab
        .as_ref()
        .map(|grab| json!({ "vertex": grab.vertex, "to": grab.to, "force": pane.grab_force() }));
    let [realtime, cuts, cut] = cut_steps::report(pane, timing.behind, timing.controller);
    json!({
        "t": simulation.state().t,
        "step": simulation.index(),
        "energy": {
            "kinetic": energy.kinetic,
            "elastic": energy.parts.elastic,
            "gravity": energy.parts.gravity,
            "other": energy.parts.other,
            "total": energy.total,
            "work": ledger.work_external,
            "physical": ledger.dissipated_physical,
            "numerical": energy.numerical,
        },
        "momentum": momentum,
        "angular": angular,
        "scale": { "momentum": moving, "angular": turning },
        "round_off": { "energy": made_energy, "momentum": made_linear, "angular": made_angular },
        "cost_ms": 1e3 * pane.step_times.median(),
        "newton": pane.last_step.stats.newton_iterations,
        "behind": timing.behind,
        "realtime": realtime,
        "cuts": cuts,
        "cut": cut,
        "grab": grab,
        "watched": pane.describe_watched(),
        "range": range,
    })
}

/// One value per drawn vertex, from one per node.
fn at_drawn<'a>(pane: &'a Pane, values: &'a [f64]) -> impl Iterator<Item = f32> + 'a {
    pane.drawn.nodes.iter().map(|n| values.get(*n as usize).copied().unwrap_or(0.0) as f32)
}

/// One vector per drawn vertex, from one per node.
fn triples<'a>(pane: &'a Pane, values: &'a [f64]) -> impl Iterator<Item = f32> + 'a {
    let of = |n: u32, k: usize| values.get(3 * n as usize + k).copied().unwrap_or(0.0) as f32;
    pane.drawn.nodes.iter().flat_map(move |&n| (0..3).map(move |k| of(n, k)))
}

/// The field at every node.
fn field_values(pane: &Pane, field: ColorField) -> Vec<f64> {
    match field {
        ColorField::None => Vec::new(),
        ColorField::VonMises => at_vertices(&pane.built, FieldName::VonMises),
        ColorField::Energy => at_vertices(&pane.built, FieldName::StrainEnergy),
        ColorField::Speed => at_vertices(&pane.built, FieldName::Velocity),
        ColorField::Material => material(pane),
    }
}

/// log₁₀ of Young's modulus at every node: the mean over the adjacent tets; for nets, that of their body.
fn material(pane: &Pane) -> Vec<f64> {
    let count = pane.built.simulation.system().node_masses().len();
    let (mut sum, mut seen) = (vec![0.0; count], vec![0.0; count]);
    for elements in pane.built.simulation.system().bodies().iter().flat_map(|b| &b.elements) {
        let Some(cells) = elements.cells().filter(|cells| cells.cell_kind().dimension() == 3) else {
            continue;
        };
        let mut young = Vec::new();
        cells.append_field(CellField::Young, &[], &mut young);
        for (nodes, young) in cells.block().iter().zip(young) {
            for &n in nodes {
                if let (Some(s), Some(w)) = (sum.get_mut(n as usize), seen.get_mut(n as usize)) {
                    *s += young.max(f64::MIN_POSITIVE).log10();
                    *w += 1.0;
                }
            }
        }
    }
    for body in pane.built.bodies.iter().filter(|b| b.is_net() && b.young[1] > 0.0) {
        let range = body.dofs.range();
        sum.get_mut(range).unwrap_or_default().fill(body.young[1].log10());
    }
    sum.iter().zip(&seen).map(|(s, w)| if *w > 0.0 { s / w } else { *s }).collect()
}

/// The negative gradient of the energy at each node, N.
fn total_forces(pane: &Pane) -> Vec<f64> {
    let simulation = &pane.built.simulation;
    let mut force = vec![0.0; simulation.state().q.len()];
    lilyan_dynamics::System::gradient(
        simulation.system(),
        simulation.state().t,
        &simulation.state().q,
        &mut force,
    );
    force.iter_mut().for_each(|f| *f = -*f);
    force
}

/// Position (m) and force (N) of each node in contact.
fn contact_forces(pane: &Pane) -> Vec<f32> {
    let simulation = &pane.built.simulation;
    let mut force = vec![0.0; simulation.state().q.len()];
    simulation.system().add_contact_forces(simulation.state().t, &simulation.state().q, &mut force);
    let nodes = simulation.state().q.chunks_exact(3).zip(force.chunks_exact(3));
    let touching = nodes.filter(|(_, f)| f.iter().any(|f| *f != 0.0));
    touching.flat_map(|(x, f)| x.iter().chain(f).map(|v| *v as f32).collect::<Vec<_>>()).collect()
}

/// Smallest and largest value.
fn extent(values: &[f64]) -> [f64; 2] {
    let all = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(*x), b.max(*x)]);
    if all[0] <= all[1] { all } else { [0.0, 0.0] }
}

/// The smallest box around all nodes, m.
fn bounds(q: &[f64]) -> [[f64; 3]; 2] {
    let none = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    q.chunks_exact(3).fold(none, |[lo, hi], x| {
        let at = |k: usize| x.get(k).copied().unwrap_or(0.0);
        [std::array::from_fn(|k| lo[k].min(at(k))), std::array::from_fn(|k| hi[k].max(at(k)))]
    })
}
