//! Hands on the body: pulling, pinning, pushing, throwing.

use super::pane::Pane;
use super::words;
use lilyan_dynamics::System;
use lilyan_scene::document::{Node, set_value};
use lilyan_solid::potentials::Tether;
use serde_json::{Value, json};

/// A pull that lasts.
pub struct Grab {
    /// The drawn vertex that was taken.
    pub vertex: u32,
    /// Where it is pulled to, m.
    pub to: [f64; 3],
    /// Global nodes around it, each with its share of the stiffness (N/m) and its place relative to the vertex.
    ends: Vec<(u32, f64, [f64; 3])>,
}

impl Grab {
    fn tether(&self) -> Tether {
        let place = |r: [f64; 3]| std::array::from_fn(|i| self.to[i] + r[i]);
        Tether { ends: self.ends.iter().map(|&(node, k, r)| (node, k, place(r))).collect() }
    }
}

impl Pane {
    /// The global node of a drawn vertex.
    fn node(&self, vertex: u32) -> Result<u32, String> {
        let node = self.view.nodes.get(vertex as usize).copied();
        node.ok_or_else(|| format!("there is no vertex {vertex}; {} are drawn", self.view.nodes.len()))
    }

    fn place(&self, node: u32) -> [f64; 3] {
        let q = &self.built.simulation.state.q;
        std::array::from_fn(|k| q.get(3 * node as usize + k).copied().unwrap_or(0.0))
    }

    /// The body that a node belongs to, and its number there.
    fn local(&self, node: u32) -> (usize, usize) {
        let bodies = &self.built.bodies;
        let body = bodies.iter().rposition(|b| b.first_node <= node as usize).unwrap_or(0);
        (body, node as usize - bodies.get(body).map_or(0, |b| b.first_node))
    }

    /// Takes a vertex, or moves the hand that has it.
    pub fn grab(&mut self, vertex: u32, to: [f64; 3]) -> Result<(), String> {
        let ends = match self.grab.take() {
            Some(held) if held.vertex == vertex => held.ends,
            _ => self.ends(vertex)?,
        };
        self.pull(Some(Grab { vertex, to, ends }));
        Ok(())
    }

    /// Changes what pulls; the work that this does is work from outside.
    pub fn pull(&mut self, grab: Option<Grab>) {
        let simulation = &mut self.built.simulation;
        let before = simulation.total_energy();
        simulation.system.pull(grab.as_ref().map(Grab::tether));
        simulation.ledger.work_external += simulation.total_energy() - before;
        self.grab = grab;
    }

    /// The force with which the hand pulls, N.
    pub fn pulling(&self) -> Option<[f64; 3]> {
        Some(self.grab.as_ref()?.tether().force(&self.built.simulation.state.q))
    }

    /// The nodes around a vertex, and how stiffly to hold them: a pull over the size of the body is to deform it strongly
    /// and not to tear it to pieces.
    fn ends(&self, vertex: u32) -> Result<Vec<(u32, f64, [f64; 3])>, String> {
        let node = self.node(vertex)?;
        let (body, _) = self.local(node);
        let Some(body) = self.built.bodies.get(body) else { return Err("there is no body".into()) };
        let masses = self.built.simulation.system.node_masses();
        let here = self.place(node);
        let reach = 0.1 * self.size();
        let near = |n: &u32| {
            let x = self.place(*n);
            (0..3).map(|i| (x[i] - here[i]).powi(2)).sum::<f64>().sqrt() <= reach
        };
        let mut nodes: Vec<u32> =
            self.view.nodes.iter().copied().filter(|n| body.has(*n)).filter(near).collect();
        if nodes.is_empty() {
            nodes.push(node);
        }
        let mass: f64 = body_masses(body, masses).iter().sum();
        // As if the whole body swung on the spring twice a second.
        let by_mass = mass * (2.0 * std::f64::consts::TAU).powi(2);
        let [softest, stiffest] = body.young;
        let by_stiffness = 0.1 * (softest * stiffest).sqrt() * body.mesh.volume().cbrt();
        let whole = if by_stiffness > 0.0 { by_mass.min(by_stiffness) } else { by_mass };
        let step = self.built.simulation.step;
        let explicit = self.built.simulation.integrator.claims().explicit;
        let share = whole / nodes.len() as f64;
        let end = |n: u32| {
            // An explicit method must not become unstable because someone touches the body.
            let most = 0.1 * masses.get(n as usize).copied().unwrap_or(0.0) / (step * step);
            let x = self.place(n);
            (n, if explicit { share.min(most) } else { share }, std::array::from_fn(|i| x[i] - here[i]))
        };
        Ok(nodes.into_iter().map(end).collect())
    }

    /// Drawn vertices as numbers in their bodies.
    fn by_body(&self, vertices: &[u32]) -> Result<Vec<(usize, Vec<usize>)>, String> {
        let mut all: Vec<(usize, Vec<usize>)> = Vec::new();
        for &vertex in vertices {
            let (body, number) = self.local(self.node(vertex)?);
            match all.iter_mut().find(|(b, _)| *b == body) {
                Some((_, numbers)) => numbers.push(number),
                None => all.push((body, vec![number])),
            }
        }
        Ok(all)
    }

    /// The scene with some vertices held where they are now.
    pub fn pinned(&self, vertices: &[u32]) -> Result<Node, String> {
        let mut document = self.document.clone();
        for (body, numbers) in self.by_body(vertices)? {
            let pin = json!({ "body": self.name(body), "where": { "vertices": numbers } });
            push(&mut document, "pin", &pin)?;
        }
        Ok(document)
    }

    /// The scene without pins at these vertices, or without any.
    pub fn unpinned(&self, vertices: Option<&[u32]>) -> Result<Node, String> {
        let mut document = self.document.clone();
        let Some(vertices) = vertices else {
            set_value(&mut document, "pin", None).map_err(|e| words::of(&e))?;
            return Ok(document);
        };
        let mut nodes = Vec::new();
        for &vertex in vertices {
            nodes.push(self.node(vertex)?);
        }
        // The pins of the model are those of the scene, in order.
        for (i, pin) in self.built.simulation.system.pins().iter().enumerate().rev() {
            let kept: Vec<u32> = pin.nodes.iter().copied().filter(|n| !nodes.contains(n)).collect();
            if kept.len() == pin.nodes.len() {
                continue;
            }
            let path = format!("pin.{i}");
            if kept.is_empty() {
                set_value(&mut document, &path, None).map_err(|e| words::of(&e))?;
            } else {
                let numbers: Vec<usize> = kept.iter().map(|n| self.local(*n).1).collect();
                set(&mut document, &format!("{path}.where"), &json!({ "vertices": numbers }))?;
            }
        }
        Ok(document)
    }

    /// The scene with a force on some vertices.
    pub fn forced(&self, vertices: &[u32], force: [f64; 3]) -> Result<Node, String> {
        let mut document = self.document.clone();
        for (body, numbers) in self.by_body(vertices)? {
            let place = json!({ "vertices": numbers });
            let all = document.to_json();
            let loads = all.get("load").and_then(Value::as_array).cloned().unwrap_or_default();
            let name = self.name(body);
            let same = |load: &Value| load.get("where") == Some(&place) && load.get("body") == Some(&name);
            if let Some(i) = loads.iter().position(same) {
                set_value(&mut document, &format!("load.{i}"), None).map_err(|e| words::of(&e))?;
            }
            if force != [0.0; 3] {
                push(&mut document, "load", &json!({ "body": name, "where": place, "force": force }))?;
            }
        }
        Ok(document)
    }

    /// Adds momentum to some vertices, or to all, in proportion to their masses.
    pub fn kick(&mut self, vertices: Option<&[u32]>, momentum: [f64; 3]) -> Result<(), String> {
        let count = self.built.simulation.system.node_masses().len();
        let nodes = match vertices {
            None => (0..count as u32).collect(),
            Some(vertices) => vertices.iter().map(|v| self.node(*v)).collect::<Result<Vec<u32>, String>>()?,
        };
        let masses = self.built.simulation.system.node_masses().clone();
        let total: f64 = nodes.iter().filter_map(|n| masses.get(*n as usize)).sum();
        if total <= 0.0 {
            return Err("there is nothing to push".into());
        }
        let velocity = momentum.map(|p| p / total);
        self.accelerate(&nodes, velocity);
        Ok(())
    }

    /// Adds a velocity to everything.
    pub fn throw(&mut self, velocity: [f64; 3]) {
        let nodes: Vec<u32> = (0..self.built.simulation.system.node_masses().len() as u32).collect();
        self.accelerate(&nodes, velocity);
    }

    fn accelerate(&mut self, nodes: &[u32], velocity: [f64; 3]) {
        let simulation = &mut self.built.simulation;
        let before = simulation.total_energy();
        let mut held = vec![false; simulation.state.v.len()];
        simulation.system.held(simulation.state.t, &mut held);
        for &node in nodes {
            for (k, dv) in velocity.iter().enumerate() {
                let i = 3 * node as usize + k;
                if let (Some(v), Some(false)) = (simulation.state.v.get_mut(i), held.get(i)) {
                    *v += dv;
                }
            }
        }
        let mut p = vec![0.0; simulation.state.v.len()];
        simulation.system.mass().mul(&simulation.state.v, &mut p);
        simulation.state.p = p;
        // Methods that remember earlier steps remember another motion.
        simulation.integrator.reset();
        simulation.ledger.work_external += simulation.total_energy() - before;
    }

    fn name(&self, body: usize) -> Value {
        self.built.bodies.get(body).map_or(Value::Null, |b| b.name.as_str().into())
    }
}

fn body_masses<'a>(body: &lilyan_scene::build::BuiltBody, masses: &'a [f64]) -> &'a [f64] {
    masses.get(body.first_node..body.first_node + body.mesh.vertices.len()).unwrap_or_default()
}

fn set(document: &mut Node, path: &str, value: &Value) -> Result<(), String> {
    let node = Node::from_json(value, "the lab").map_err(|e| words::of(&e))?;
    set_value(document, path, Some(node)).map_err(|e| words::of(&e))
}

/// Adds a member to a list of the scene.
fn push(document: &mut Node, list: &str, value: &Value) -> Result<(), String> {
    let count = document.to_json().get(list).and_then(Value::as_array).map_or(0, Vec::len);
    set(document, &format!("{list}.{count}"), value)
}
