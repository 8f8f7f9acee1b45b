//! Momenta and velocities that the user gives to drawn vertices.

use super::Pane;
use crate::error::LabError;
use lilyan_dynamics::System;

impl Pane {
    /// Adds momentum (N s) to these vertices, or to all, in proportion to their masses.
    pub fn kick(&mut self, vertices: Option<&[u32]>, momentum: [f64; 3]) -> Result<(), LabError> {
        let nodes = self.nodes(vertices)?;
        let velocity = self.shared(&nodes, momentum)?;
        self.set_velocities(&nodes, |v, k| v + velocity[k])
    }

    /// Adds a velocity (m/s) to all vertices.
    pub fn throw(&mut self, velocity: [f64; 3]) -> Result<(), LabError> {
        let nodes = self.nodes(None)?;
        self.set_velocities(&nodes, |v, k| v + velocity[k])
    }

    /// Sets the velocity (m/s) of these vertices, or of all.
    pub fn set_velocity(&mut self, vertices: Option<&[u32]>, velocity: [f64; 3]) -> Result<(), LabError> {
        let nodes = self.nodes(vertices)?;
        self.set_velocities(&nodes, |_, k| velocity[k])
    }

    /// Sets the momentum (N s) that these vertices, or all, have together; they get one velocity.
    pub fn set_momentum(&mut self, vertices: Option<&[u32]>, momentum: [f64; 3]) -> Result<(), LabError> {
        let nodes = self.nodes(vertices)?;
        let velocity = self.shared(&nodes, momentum)?;
        self.set_velocities(&nodes, |_, k| velocity[k])
    }

    /// The global nodes of these vertices; `None`: all nodes.
    fn nodes(&self, vertices: Option<&[u32]>) -> Result<Vec<u32>, LabError> {
        match vertices {
            None => Ok((0..self.built.simulation.system().node_masses().len() as u32).collect()),
            Some(vertices) => vertices.iter().map(|v| self.node(*v)).collect(),
        }
    }

    /// The velocity with which these nodes have a momentum together.
    fn shared(&self, nodes: &[u32], momentum: [f64; 3]) -> Result<[f64; 3], LabError> {
        let masses = self.built.simulation.system().node_masses();
        let total: f64 = nodes.iter().filter_map(|n| masses.get(*n as usize)).sum();
        if total > 0.0 { Ok(momentum.map(|p| p / total)) } else { Err(LabError::NothingToPush) }
    }

    /// Gives nodes new velocities, component by component, where they are not held. The energy that this adds is work from
    /// outside.
    fn set_velocities(
        &mut self,
        nodes: &[u32],
        velocity: impl Fn(f64, usize) -> f64,
    ) -> Result<(), LabError> {
        let simulation = &mut self.built.simulation;
        let mut state = simulation.state().clone();
        let mut held = vec![false; state.v.len()];
        simulation.system().abilities().mark_prescribed(state.t, &mut held);
        let mut free = false;
        for &node in nodes {
            for k in 0..3 {
                let i = 3 * node as usize + k;
                if let (Some(v), Some(false)) = (state.v.get_mut(i), held.get(i)) {
                    *v = velocity(*v, k);
                    free = true;
                }
            }
        }
        if !free {
            return Err(LabError::AllHeld);
        }
        state.update_momenta(simulation.system());
        simulation.replace_state(state);
        Ok(())
    }
}
