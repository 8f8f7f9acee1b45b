//! Pulling at a vertex by a spring.

use super::Pane;
use crate::error::LabError;
use lilyan_scene::build::BuiltBody;
use lilyan_solid::potentials::Tether;

/// A spring between the body and the pointer.
pub struct Grab {
    /// The drawn vertex that was grabbed.
    pub vertex: u32,
    /// Position of the pointer, m.
    pub to: [f64; 3],
    /// The nodes around the vertex that are pulled.
    ends: Vec<GrabbedNode>,
}

/// A node that is pulled.
#[derive(Clone, Copy)]
struct GrabbedNode {
    /// Global number.
    node: u32,
    /// Its share of the stiffness, N/m.
    stiffness: f64,
    /// Its position relative to the grabbed vertex, m.
    offset: [f64; 3],
}

impl Grab {
    fn tether(&self) -> Tether {
        let target = |offset: [f64; 3]| std::array::from_fn(|i| self.to[i] + offset[i]);
        Tether { ends: self.ends.iter().map(|end| (end.node, end.stiffness, target(end.offset))).collect() }
    }
}

impl Pane {
    /// What pulls at the pane now.
    pub fn grabbed(&self) -> Option<&Grab> {
        self.grab.as_ref()
    }

    /// Grabs a vertex, or moves the pointer that has grabbed it.
    pub fn grab(&mut self, vertex: u32, to: [f64; 3]) -> Result<(), LabError> {
        let ends = match self.grab.take() {
            Some(held) if held.vertex == vertex => held.ends,
            _ => self.grabbed_nodes(vertex)?,
        };
        self.set_grab(Some(Grab { vertex, to, ends }));
        Ok(())
    }

    /// Releases what was grabbed.
    pub fn release(&mut self) {
        if self.grab.is_some() {
            self.set_grab(None);
        }
    }

    /// Changes the spring. The energy that this adds is work from outside.
    fn set_grab(&mut self, grab: Option<Grab>) {
        self.built.simulation.change_loads(|system| system.pull(grab.as_ref().map(Grab::tether)));
        self.grab = grab;
    }

    /// The force of the spring on the body, N.
    pub fn grab_force(&self) -> Option<[f64; 3]> {
        Some(self.grab.as_ref()?.tether().force(&self.built.simulation.state().q))
    }

    /// The nodes around a vertex, and the stiffness of the spring. A pull over the size of the body has to deform it strongly
    /// without tearing it to pieces.
    fn grabbed_nodes(&self, vertex: u32) -> Result<Vec<GrabbedNode>, LabError> {
        let node = self.node(vertex)?;
        let (body, _) = self.local(node);
        let Some(body) = self.built.bodies.get(body) else { return Err(LabError::NoBody) };
        let here = self.position(node);
        let reach = 0.1 * self.size();
        let near = |n: &u32| {
            let x = self.position(*n);
            (0..3).map(|i| (x[i] - here[i]).powi(2)).sum::<f64>().sqrt() <= reach
        };
        let mut nodes: Vec<u32> =
            self.drawn.nodes.iter().copied().filter(|n| body.dofs.contains(*n)).filter(near).collect();
        if nodes.is_empty() {
            nodes.push(node);
        }
        let masses = self.built.simulation.system().node_masses();
        let step = self.built.simulation.step();
        let explicit = self.built.simulation.integrator().claims().explicit;
        let share = self.grab_stiffness(body) / nodes.len() as f64;
        let end = |node: u32| {
            // A grab must not make an explicit method unstable.
            let most = 0.1 * masses.get(node as usize).copied().unwrap_or(0.0) / (step * step);
            let x = self.position(node);
            GrabbedNode {
                node,
                stiffness: if explicit { share.min(most) } else { share },
                offset: std::array::from_fn(|i| x[i] - here[i]),
            }
        };
        Ok(nodes.into_iter().map(end).collect())
    }

    /// Stiffness of the whole spring, N/m.
    fn grab_stiffness(&self, body: &BuiltBody) -> f64 {
        let range = body.dofs.range();
        let masses = self.built.simulation.system().node_masses().get(range).unwrap_or_default();
        let mass: f64 = masses.iter().sum();
        // With this stiffness the whole body oscillates on the spring twice a second.
        let by_mass = mass * (2.0 * std::f64::consts::TAU).powi(2);
        let [softest, stiffest] = body.young;
        let by_stiffness = 0.1 * (softest * stiffest).sqrt() * body.mesh().volume().cbrt();
        if by_stiffness > 0.0 { by_mass.min(by_stiffness) } else { by_mass }
    }

    /// Where a node is, m.
    pub(super) fn position(&self, node: u32) -> [f64; 3] {
        let q = &self.built.simulation.state().q;
        std::array::from_fn(|k| q.get(3 * node as usize + k).copied().unwrap_or(0.0))
    }
}
