//! Pins and forces that the user applies to drawn vertices.

use super::Pane;
use crate::error::LabError;
use lilyan_scene::document::{Node, SceneError, set_value};
use serde_json::{Value, json};

impl Pane {
    /// The global node of a drawn vertex.
    pub(super) fn node(&self, vertex: u32) -> Result<u32, LabError> {
        let count = self.drawn.nodes.len();
        let node = self.drawn.nodes.get(vertex as usize).copied();
        node.ok_or(LabError::UnknownVertex { vertex, count })
    }

    /// The body that a node belongs to, and the number of the node in the body.
    pub(super) fn local(&self, node: u32) -> (usize, usize) {
        let (body, number) = self.built.simulation.system().owner(node).unwrap_or_default();
        (body, number as usize)
    }

    /// Drawn vertices as numbers of their bodies, grouped by body.
    fn by_body(&self, vertices: &[u32]) -> Result<Vec<(usize, Vec<usize>)>, LabError> {
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

    /// The scene with these vertices pinned where they are.
    pub fn pinned(&self, vertices: &[u32]) -> Result<Node, LabError> {
        let mut document = self.document.clone();
        for (body, numbers) in self.by_body(vertices)? {
            let pin = json!({ "body": self.body_name(body), "where": { "vertices": numbers } });
            push(&mut document, "pin", &pin)?;
        }
        Ok(document)
    }

    /// The scene with a vertex that is led to a place within some seconds, and held there.
    pub fn pinned_at(&self, vertex: u32, place: [f64; 3], seconds: f64) -> Result<Node, LabError> {
        let mut document = self.unpinned(Some(&[vertex]))?;
        let node = self.node(vertex)?;
        let (body, number) = self.local(node);
        let (now, t) = (self.position(node), self.time());
        let motion: [Value; 3] = std::array::from_fn(|k| {
            // Pins are displaced from where the scene starts.
            let start = self.start.get(3 * node as usize + k).copied().unwrap_or_default();
            let (from, to) = (now[k] - start, place[k] - start);
            match seconds > 0.0 && from != to {
                true => format!("{from} + ({}) * smoothstep({t}, {}, t)", to - from, t + seconds).into(),
                false => to.into(),
            }
        });
        let pin =
            json!({ "body": self.body_name(body), "where": { "vertices": [number] }, "motion": motion });
        push(&mut document, "pin", &pin)?;
        Ok(document)
    }

    /// The scene without pins at these vertices; `None`: without any pin.
    pub fn unpinned(&self, vertices: Option<&[u32]>) -> Result<Node, LabError> {
        let mut document = self.document.clone();
        let Some(vertices) = vertices else {
            set_value(&mut document, "pin", None)?;
            return Ok(document);
        };
        let mut nodes = Vec::new();
        for &vertex in vertices {
            nodes.push(self.node(vertex)?);
        }
        // The model has the pins of the scene in the same order.
        for (i, pin) in self.built.simulation.system().pins().iter().enumerate().rev() {
            let kept: Vec<u32> = pin.nodes.iter().copied().filter(|n| !nodes.contains(n)).collect();
            if kept.len() == pin.nodes.len() {
                continue;
            }
            let path = format!("pin.{i}");
            if kept.is_empty() {
                set_value(&mut document, &path, None)?;
            } else {
                let numbers: Vec<usize> = kept.iter().map(|n| self.local(*n).1).collect();
                set(&mut document, &format!("{path}.where"), &json!({ "vertices": numbers }))?;
            }
        }
        Ok(document)
    }

    /// The scene with a force on these vertices; zero removes it.
    pub fn forced(&self, vertices: &[u32], force: [f64; 3]) -> Result<Node, LabError> {
        let mut document = self.document.clone();
        for (body, numbers) in self.by_body(vertices)? {
            let place = json!({ "vertices": numbers });
            let all = document.to_json();
            let loads = all.get("load").and_then(Value::as_array).cloned().unwrap_or_default();
            let name = self.body_name(body);
            let same = |load: &Value| load.get("where") == Some(&place) && load.get("body") == Some(&name);
            if let Some(i) = loads.iter().position(same) {
                set_value(&mut document, &format!("load.{i}"), None)?;
            }
            if force != [0.0; 3] {
                push(&mut document, "load", &json!({ "body": name, "where": place, "force": force }))?;
            }
        }
        Ok(document)
    }

    pub(super) fn body_name(&self, body: usize) -> Value {
        self.built.bodies.get(body).map_or(Value::Null, |b| b.name.as_str().into())
    }
}

fn set(document: &mut Node, path: &str, value: &Value) -> Result<(), SceneError> {
    set_value(document, path, Some(Node::from_json(value, "the lab")?))
}

/// Appends to a list of the scene.
fn push(document: &mut Node, list: &str, value: &Value) -> Result<(), SceneError> {
    let count = document.to_json().get(list).and_then(Value::as_array).map_or(0, Vec::len);
    set(document, &format!("{list}.{count}"), value)
}
