//! Geometry and frames as bytes; see `PROTOCOL.md`.

use super::effort::Controller;
use super::message::Shade;
use super::pane::Pane;
use super::realtime;
use axum::body::Bytes;
use lilyan_scene::run::at_vertices;
use lilyan_scene::schema::FieldName;
use serde_json::{Value, json};

/// What frames carry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Show {
    pub field: Shade,
    pub forces: bool,
    pub contacts: bool,
}

/// A message under construction: what it says, and arrays behind it.
#[derive(Default)]
struct Packet {
    arrays: Vec<Value>,
    bytes: Vec<u8>,
}

impl Packet {
    fn numbers(&mut self, pane: usize, name: &str, values: impl Iterator<Item = f32>) {
        let before = self.bytes.len();
        self.bytes.extend(values.flat_map(f32::to_le_bytes));
        self.list(pane, name, "f32", before);
    }

    fn indices(&mut self, pane: usize, name: &str, values: &[u32]) {
        let before = self.bytes.len();
        self.bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        self.list(pane, name, "u32", before);
    }

    fn list(&mut self, pane: usize, name: &str, kind: &str, before: usize) {
        let length = (self.bytes.len() - before) / 4;
        self.arrays.push(json!({ "pane": pane, "name": name, "type": kind, "length": length }));
    }

    fn finish(self, kind: u32, mut says: Value) -> Bytes {
        if let Some(says) = says.as_object_mut() {
            says.insert("arrays".into(), self.arrays.into());
        }
        let mut text = says.to_string();
        while !text.len().is_multiple_of(4) {
            text.push(' ');
        }
        let mut out = Vec::with_capacity(8 + text.len() + self.bytes.len());
        out.extend(kind.to_le_bytes());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text.as_bytes());
        out.extend(self.bytes);
        out.into()
    }
}

/// What does not change from frame to frame.
pub fn geometry(panes: &[Pane], version: u64) -> Bytes {
    let mut packet = Packet::default();
    let mut told = Vec::new();
    for (i, pane) in panes.iter().enumerate() {
        let view = &pane.view;
        packet.indices(i, "triangles", &view.triangles);
        packet.indices(i, "lines", &view.lines);
        packet.indices(i, "points", &view.points);
        packet.indices(i, "pinned", &view.pinned);
        packet.numbers(i, "material", at_drawn(pane, &material(pane)));
        let rest = pane.built.bodies.iter().flat_map(|b| b.mesh.vertices.iter().flatten().copied());
        let rest: Vec<f64> = rest.collect();
        packet.numbers(i, "rest", triples(pane, &rest));
        let bodies = view
            .bodies
            .iter()
            .map(|(name, first, count)| json!({ "name": name, "first": first, "count": count }));
        told.push(json!({
            "bodies": bodies.collect::<Vec<_>>(),
            "obstacles": pane.obstacles(),
            "up": pane.up(),
            "size": pane.size(),
            "bounds": bounds(&pane.built.simulation.state.q),
        }));
    }
    packet.finish(1, json!({ "version": version, "panes": told }))
}

/// Where everything is now.
pub fn frame(
    panes: &[Pane],
    show: Show,
    number: u64,
    version: u64,
    behind: f64,
    controller: Option<&Controller>,
) -> Bytes {
    let mut packet = Packet::default();
    let mut told = Vec::new();
    for (i, pane) in panes.iter().enumerate() {
        let state = &pane.built.simulation.state;
        packet.numbers(i, "positions", triples(pane, &state.q));
        let mut range = [0.0, 0.0];
        if show.field != Shade::None {
            let values = shade(pane, show.field);
            range = extent(&values);
            packet.numbers(i, "field", at_drawn(pane, &values));
        }
        if show.forces {
            packet.numbers(i, "forces", triples(pane, &acting(pane)));
        }
        if show.contacts {
            packet.numbers(i, "contacts", contacts(pane).into_iter());
        }
        told.push(figures(pane, range, behind, controller));
    }
    packet.finish(2, json!({ "number": number, "version": version, "panes": told }))
}

fn figures(pane: &Pane, range: [f64; 2], behind: f64, controller: Option<&Controller>) -> Value {
    let simulation = &pane.built.simulation;
    let (kinetic, parts) = simulation.energies();
    let total = kinetic + parts.total();
    let (momentum, angular) = simulation.state.momenta([0.0; 3]);
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let each = simulation.state.q.chunks_exact(3).zip(simulation.state.p.chunks_exact(3));
    let (moving, turning) = each.fold((0.0, 0.0), |(a, b), (x, p)| (a + norm(p), b + norm(x) * norm(p)));
    let ledger = &simulation.ledger;
    let grab = pane
        .grab
        .as_ref()
        .map(|grab| json!({ "vertex": grab.vertex, "to": grab.to, "force": pane.pulling() }));
    let [realtime, cuts, cut] = realtime::told(pane, behind, controller);
    json!({
        "t": simulation.state.t,
        "step": simulation.index,
        "energy": {
            "kinetic": kinetic,
            "elastic": parts.elastic,
            "gravity": parts.gravity,
            "other": parts.other,
            "total": total,
            "work": ledger.work_external,
            "physical": ledger.dissipated_physical,
            "numerical": ledger.dissipated_numerical(total),
        },
        "momentum": momentum,
        "angular": angular,
        "scale": { "momentum": moving, "angular": turning },
        "cost_ms": 1e3 * pane.costs.median(),
        "newton": pane.last.integrating.newton_iterations,
        "behind": behind,
        "realtime": realtime,
        "cuts": cuts,
        "cut": cut,
        "grab": grab,
        "range": range,
    })
}

/// A value per node, of the drawn ones.
fn at_drawn<'a>(pane: &'a Pane, values: &'a [f64]) -> impl Iterator<Item = f32> + 'a {
    pane.view.nodes.iter().map(|n| values.get(*n as usize).copied().unwrap_or(0.0) as f32)
}

/// A vector per node, of the drawn ones.
fn triples<'a>(pane: &'a Pane, values: &'a [f64]) -> impl Iterator<Item = f32> + 'a {
    let of = |n: u32, k: usize| values.get(3 * n as usize + k).copied().unwrap_or(0.0) as f32;
    pane.view.nodes.iter().flat_map(move |&n| (0..3).map(move |k| of(n, k)))
}

fn shade(pane: &Pane, field: Shade) -> Vec<f64> {
    match field {
        Shade::None => Vec::new(),
        Shade::VonMises => at_vertices(&pane.built, FieldName::VonMises),
        Shade::Energy => at_vertices(&pane.built, FieldName::StrainEnergy),
        Shade::Speed => at_vertices(&pane.built, FieldName::Velocity),
        Shade::Material => material(pane),
    }
}

/// log₁₀ of Young's modulus at every node: the mean over the tets around; of nets, that of their body.
fn material(pane: &Pane) -> Vec<f64> {
    let count = pane.built.simulation.system.node_masses().len();
    let (mut sum, mut seen) = (vec![0.0; count], vec![0.0; count]);
    for body in pane.built.simulation.system.bodies() {
        for (e, tet) in body.tets.cliques().enumerate() {
            let (lambda, mu) = body.tets.moduli(e);
            let young = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
            for n in tet {
                if let (Some(s), Some(w)) = (sum.get_mut(n as usize), seen.get_mut(n as usize)) {
                    *s += young.max(f64::MIN_POSITIVE).log10();
                    *w += 1.0;
                }
            }
        }
    }
    for body in pane.built.bodies.iter().filter(|b| b.is_net() && b.young[1] > 0.0) {
        let range = body.first_node..body.first_node + body.mesh.vertices.len();
        sum.get_mut(range).unwrap_or_default().fill(body.young[1].log10());
    }
    sum.iter().zip(&seen).map(|(s, w)| if *w > 0.0 { s / w } else { *s }).collect()
}

/// Everything that acts on each node, N.
fn acting(pane: &Pane) -> Vec<f64> {
    let simulation = &pane.built.simulation;
    let mut force = vec![0.0; simulation.state.q.len()];
    lilyan_dynamics::System::gradient(
        &simulation.system,
        simulation.state.t,
        &simulation.state.q,
        &mut force,
    );
    force.iter_mut().for_each(|f| *f = -*f);
    force
}

/// Places where something is touched, and the forces there.
fn contacts(pane: &Pane) -> Vec<f32> {
    let simulation = &pane.built.simulation;
    let mut force = vec![0.0; simulation.state.q.len()];
    simulation.system.add_contact_forces(&simulation.state.q, &mut force);
    let touching = simulation.state.q.chunks_exact(3).zip(force.chunks_exact(3));
    let touching = touching.filter(|(_, f)| f.iter().any(|f| *f != 0.0));
    touching.flat_map(|(x, f)| x.iter().chain(f).map(|v| *v as f32).collect::<Vec<_>>()).collect()
}

fn extent(values: &[f64]) -> [f64; 2] {
    let all = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(*x), b.max(*x)]);
    if all[0] <= all[1] { all } else { [0.0, 0.0] }
}

fn bounds(q: &[f64]) -> [[f64; 3]; 2] {
    let none = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    q.chunks_exact(3).fold(none, |[lo, hi], x| {
        let at = |k: usize| x.get(k).copied().unwrap_or(0.0);
        [std::array::from_fn(|k| lo[k].min(at(k))), std::array::from_fn(|k| hi[k].max(at(k)))]
    })
}
