//! The vertex whose numbers the user sees.

use super::Pane;
use crate::error::LabError;
use lilyan_dynamics::System;
use serde_json::{Value, json};

impl Pane {
    /// Frames contain the numbers of this vertex from now on; `None`: of no vertex.
    pub fn watch(&mut self, vertex: Option<u32>) -> Result<(), LabError> {
        self.watched = vertex.map(|vertex| self.node(vertex)).transpose()?;
        Ok(())
    }

    /// The numbers of the watched vertex.
    pub fn describe_watched(&self) -> Value {
        let Some(node) = self.watched else { return Value::Null };
        let simulation = &self.built.simulation;
        let (state, system) = (simulation.state(), simulation.system());
        let mut held = vec![false; state.q.len()];
        system.abilities().mark_prescribed(state.t, &mut held);
        let first = 3 * node as usize;
        let three = |values: &[f64]| -> [f64; 3] {
            std::array::from_fn(|k| values.get(first + k).copied().unwrap_or(0.0))
        };
        let (body, number) = self.local(node);
        json!({
            // It may be inside, and not be drawn.
            "vertex": self.drawn.nodes.binary_search(&node).ok(),
            "body": self.body_name(body),
            "number": number,
            "mass": system.node_masses().get(node as usize),
            "position": three(&state.q),
            "velocity": three(&state.v),
            "momentum": three(&state.p),
            "force": three(&self.outside_forces()),
            "held": held.get(first..first + 3).is_some_and(|held| held.contains(&true)),
        })
    }

    /// What acts on every node from outside, N: loads, gravity and other fields, a pull; not contact.
    pub(super) fn outside_forces(&self) -> Vec<f64> {
        let simulation = &self.built.simulation;
        let state = simulation.state();
        let mut forces = vec![0.0; state.q.len()];
        simulation.system().add_outside_forces(state.t, &state.q, &mut forces);
        forces
    }
}
