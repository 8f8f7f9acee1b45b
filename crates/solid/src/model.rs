//! A finite-element model: bodies, potentials, damping, pins, loads and forces. `system.rs` makes it a
//! [`lilyan_dynamics::System`].

use crate::damping::{DampedBody, Damping};
use crate::dofs::DofMap;
use crate::elements::Elements;
use crate::forces::Force;
use crate::pin_target::PinTarget;
use crate::potentials::{Kind, Potential, Tether};
use lilyan_dynamics::fit::Fit;
use lilyan_dynamics::system::abilities::Loads;
use lilyan_dynamics::{ConfigurationSpace, Constraint, Mass};
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A displacement from the place at the start, m, and its rate, m/s.
type DisplacementAndRate = ([f64; 3], [f64; 3]);

/// A prescribed motion: displacement (m) from the place at the start, and its rate (m/s).
pub enum Motion {
    /// The same for all nodes, at a time.
    Translation(Box<dyn Fn(f64) -> DisplacementAndRate + Send + Sync>),
    /// At a time, of a node that starts at a place.
    Field(Box<dyn Fn(f64, [f64; 3]) -> DisplacementAndRate + Send + Sync>),
}

/// Nodes that are held: exactly where they are told to be.
pub struct Pin {
    /// Global nodes.
    pub nodes: Vec<u32>,
    /// Which axes are held.
    pub axes: [bool; 3],
    /// Displacement from the place where they were at the start, and its rate; `None`: they stay.
    pub motion: Option<Motion>,
    /// Released after this time, s.
    pub until: f64,
}

/// A dead load: adds its nodal forces (N) at a time.
pub type Load = Box<dyn Fn(f64, &mut [f64]) + Send + Sync>;

/// One body in the model: elements of any kinds on its nodes.
pub struct Body {
    /// Its name.
    pub name: String,
    /// Its nodes and unknowns.
    pub dofs: DofMap,
    /// Its elements, a set for each kind; none is empty.
    pub elements: Vec<Arc<dyn Elements>>,
    /// Whether its mass is the consistent one of its elements, not that of its nodes.
    pub consistent_mass: bool,
}

impl Body {
    /// Its elements of one kind, if it has any.
    pub fn find<E: Elements>(&self) -> Option<&E> {
        self.elements.iter().find_map(|e| (&**e as &dyn Any).downcast_ref())
    }
}

/// A damping model and the body that it acts on.
pub struct BodyDamping {
    /// The model with its constants.
    pub model: Arc<dyn Damping>,
    /// The body.
    pub body: DampedBody,
}

/// Everything that moves, and everything that acts on it.
pub struct Model {
    pub(crate) bodies: Vec<Body>,
    pub(crate) potentials: Vec<Arc<dyn Potential>>,
    pub(crate) dampings: Vec<BodyDamping>,
    pub(crate) pins: Vec<Pin>,
    pub(crate) loads: Vec<Load>,
    pub(crate) forces: Vec<Box<dyn Force>>,
    pub(crate) constraints: Vec<Box<dyn Constraint>>,
    pub(crate) fits: Vec<Fit>,
    pub(crate) space: ConfigurationSpace,
    node_masses: Arc<Vec<f64>>,
    /// Positions at the start, which pins refer to.
    pub(crate) start: Vec<f64>,
    /// Without what joins discontinuous elements, where there are any.
    pub(crate) of_elements: Option<Arc<BlockPattern>>,
    /// How often forces and second derivatives were asked for.
    pub(crate) calls: [AtomicU64; 2],
    pub(crate) incompressible: bool,
    /// Whether a potential changes in time.
    pub(crate) has_timed_potential: bool,
    /// Whether the last potential is a tether.
    pulled: bool,
    /// Forces on the nodes that a program sets between steps, N.
    pub(crate) nodal_forces: Option<Vec<f64>>,
    /// Where pinned nodes are told to go, instead of what their pins say.
    pub(crate) pin_targets: BTreeMap<u32, PinTarget>,
}

/// What a [`Model`] is put together from.
pub struct ModelParts {
    /// The bodies; their nodes follow each other.
    pub bodies: Vec<Body>,
    /// Potentials; the elastic ones come first.
    pub potentials: Vec<Arc<dyn Potential>>,
    /// Damping.
    pub dampings: Vec<BodyDamping>,
    /// Held nodes.
    pub pins: Vec<Pin>,
    /// Dead loads.
    pub loads: Vec<Load>,
    /// Forces of place and velocity.
    pub forces: Vec<Box<dyn Force>>,
    /// Constraints beside pins.
    pub constraints: Vec<Box<dyn Constraint>>,
    /// Mass of each node, kg: M·1.
    pub node_masses: Arc<Vec<f64>>,
    /// Positions at the start, m.
    pub start: Vec<f64>,
}

impl Model {
    /// Puts it together.
    pub fn new(parts: ModelParts) -> Self {
        let nodes = parts.node_masses.len();
        let glued = parts.bodies.iter().flat_map(|b| &b.elements).any(|e| e.joins());
        // A consistent mass is made for the whole pattern.
        let consistent = parts.bodies.iter().any(|body| body.consistent_mass);
        let apart = glued && !consistent;
        let of_elements = apart.then(|| Arc::new(pattern(nodes, &parts.bodies, false)));
        let pattern = Arc::new(pattern(nodes, &parts.bodies, true));
        let mass = match consistent {
            false => Mass::Lumped(parts.node_masses.iter().flat_map(|m| [*m; 3]).collect()),
            true => {
                let mut m = BlockMatrix::zeros(pattern.clone());
                let bodies = parts.bodies.iter().filter(|body| body.consistent_mass);
                let elements = bodies.flat_map(|b| &b.elements);
                elements.filter_map(|e| e.cells()?.mass()).for_each(|e| e.add_consistent(&mut m));
                m.add_diagonal(&lumped_masses(&parts));
                Mass::consistent(m)
            }
        };
        let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for x in parts.start.chunks_exact(3) {
            for k in 0..3 {
                bounds[0][k] = bounds[0][k].min(x[k]);
                bounds[1][k] = bounds[1][k].max(x[k]);
            }
        }
        let length = (0..3).map(|k| (bounds[1][k] - bounds[0][k]).powi(2)).sum::<f64>().sqrt();
        Self {
            incompressible: parts.potentials.iter().any(|p| p.incompressible()),
            has_timed_potential: parts.potentials.iter().any(|p| p.moving().is_some()),
            bodies: parts.bodies,
            potentials: parts.potentials,
            dampings: parts.dampings,
            pins: parts.pins,
            loads: parts.loads,
            forces: parts.forces,
            constraints: parts.constraints,
            fits: Vec::new(),
            space: ConfigurationSpace { pattern, mass, length: if length > 0.0 { length } else { 1.0 } },
            node_masses: parts.node_masses,
            start: parts.start,
            of_elements,
            calls: Default::default(),
            pulled: false,
            nodal_forces: None,
            pin_targets: BTreeMap::new(),
        }
    }

    /// How often the forces of the potentials, and their second derivatives, were evaluated so far.
    pub fn calls(&self) -> [u64; 2] {
        [0, 1].map(|k| self.calls[k].load(Ordering::Relaxed))
    }

    /// Gives the lowest modes of some bodies other frequencies.
    pub fn fit(&mut self, fits: Vec<Fit>) {
        self.fits = fits;
    }

    /// The bodies.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The body of a node, and the number of the node in the body.
    pub fn owner(&self, node: u32) -> Option<(usize, u32)> {
        self.bodies.iter().enumerate().find_map(|(b, body)| Some((b, body.dofs.local(node)?)))
    }

    /// Rest positions of all nodes, flat, m.
    pub fn rest_positions(&self) -> Vec<f64> {
        self.bodies.iter().flat_map(|body| body.dofs.nodes().points().as_flattened()).copied().collect()
    }

    /// Mass of each node, kg: M·1, what gravity pulls at. Of a quadratic tet's corners with a consistent mass it is negative.
    pub fn node_masses(&self) -> &Arc<Vec<f64>> {
        &self.node_masses
    }

    /// The pins.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// Positions at the start, m, which the displacements of pins refer to.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// What pins hold still is held where it is in `q` from now on, not where it was at the start.
    pub fn hold_still_at(&mut self, q: &[f64]) {
        for pin in self.pins.iter().filter(|pin| pin.motion.is_none()) {
            for &node in &pin.nodes {
                let place = 3 * node as usize..3 * node as usize + 3;
                self.start[place.clone()].copy_from_slice(&q[place]);
            }
        }
    }

    /// What acts, the elastic ones first.
    pub fn potentials(&self) -> &[Arc<dyn Potential>] {
        &self.potentials
    }

    /// The potentials as they are at t.
    pub(crate) fn potentials_at(&self, t: f64) -> impl Iterator<Item = PotentialAt<'_>> {
        self.potentials.iter().map(move |p| match p.moving() {
            Some(moving) => PotentialAt::Changing(moving.at(t)),
            None => PotentialAt::Fixed(p.as_ref()),
        })
    }

    /// Adds what contacts do to the nodes at t, N.
    pub fn add_contact_forces(&self, t: f64, q: &[f64], f: &mut [f64]) {
        let mut gradient = vec![0.0; q.len()];
        for contact in self.potentials_at(t).filter(|p| p.role().is_contact) {
            contact.add_gradient(q, &mut gradient);
        }
        f.iter_mut().zip(&gradient).for_each(|(f, g)| *f -= g);
    }

    /// Adds what contacts do to the nodes in the mean of a step whose forces are discrete gradients, N.
    pub fn add_mean_contact_forces(&self, t: [f64; 2], q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let mut gradient = vec![0.0; q1.len()];
        for contact in self.potentials.iter().filter(|p| p.role().is_contact) {
            discrete_gradient(contact.as_ref(), t, [q0, q1], &mut gradient);
        }
        f.iter_mut().zip(&gradient).for_each(|(f, g)| *f -= g);
    }

    /// Adds what acts on the nodes from outside at t, N: loads, gravity and other fields, a pull; not contact.
    pub fn add_outside_forces(&self, t: f64, q: &[f64], f: &mut [f64]) {
        let mut gradient = vec![0.0; q.len()];
        let outside = |p: &&Arc<dyn Potential>| p.role().kind != Kind::Elastic && !p.role().is_contact;
        for field in self.potentials.iter().filter(outside) {
            field.add_gradient(q, &mut gradient);
        }
        self.add_load(t, f);
        f.iter_mut().zip(&gradient).for_each(|(f, g)| *f -= g);
    }

    /// Sets forces on all nodes that stay until they are set anew, flat, N; with `None` there are none. They are dead loads.
    pub fn set_nodal_forces(&mut self, forces: Option<Vec<f64>>) {
        self.nodal_forces = forces;
    }

    /// Where pinned nodes are told to go, by node.
    pub fn pin_targets(&self) -> &BTreeMap<u32, PinTarget> {
        &self.pin_targets
    }

    /// Tells pinned nodes where to go, instead of what their pins say. Nodes without a pin are not held by it.
    pub fn set_pin_targets(&mut self, targets: BTreeMap<u32, PinTarget>) {
        self.pin_targets = targets;
    }

    /// Sets the positions that displacements of pins refer to, m.
    pub fn set_start(&mut self, start: Vec<f64>) {
        self.start = start;
    }

    /// Pulls some nodes to places, instead of those pulled before; with none, lets go.
    pub fn pull(&mut self, tether: Option<Tether>) {
        if std::mem::take(&mut self.pulled) {
            self.potentials.pop();
        }
        if let Some(tether) = tether {
            self.potentials.push(Arc::new(tether));
            self.pulled = true;
        }
    }
}

/// A potential at a time.
pub(crate) enum PotentialAt<'a> {
    /// It is the same at all times.
    Fixed(&'a dyn Potential),
    /// As it is at that time.
    Changing(Arc<dyn Potential>),
}

impl<'a> std::ops::Deref for PotentialAt<'a> {
    type Target = dyn Potential + 'a;
    fn deref(&self) -> &Self::Target {
        match self {
            Self::Fixed(potential) => *potential,
            Self::Changing(potential) => potential.as_ref(),
        }
    }
}

/// Which nodes are coupled by elements and, with `joined`, by what joins them.
fn pattern(nodes: usize, bodies: &[Body], joined: bool) -> BlockPattern {
    let (mut coupled, mut ends) = (Vec::new(), vec![0]);
    for elements in bodies.iter().flat_map(|b| &b.elements).filter(|e| joined || !e.joins()) {
        elements.each_clique(&mut |clique| {
            coupled.extend_from_slice(clique);
            ends.push(coupled.len());
        });
    }
    BlockPattern::from_cliques(nodes, ends.windows(2).map(|e| &coupled[e[0]..e[1]]))
}

/// Masses of the nodes of bodies without a consistent mass; 0 for the others.
fn lumped_masses(parts: &ModelParts) -> Vec<f64> {
    let mut out = vec![0.0; 3 * parts.node_masses.len()];
    for body in parts.bodies.iter().filter(|body| !body.consistent_mass) {
        for n in body.dofs.range() {
            out[3 * n..3 * n + 3].fill(parts.node_masses[n]);
        }
    }
    out
}

/// Adds the discrete gradient of a potential, which may change with time, over a step; `false` where infeasible.
pub(crate) fn discrete_gradient(
    p: &dyn Potential,
    t: [f64; 2],
    [q0, q1]: [&[f64]; 2],
    g: &mut [f64],
) -> bool {
    match p.moving() {
        Some(moving) => moving.add_discrete_gradient(t, q0, q1, g),
        None => p.add_discrete_gradient(q0, q1, g),
    }
}
