//! Puts a [`Model`] together from bodies and what acts on them; what the scene file, the tests and
//! library users call.

use crate::build_error::BuildError;
use crate::contact::face_lattice::FaceLattice;
use crate::contact::on_lattice::{Interpolation, OnLattice};
use crate::contact::{
    ContactModel, ContactPair, ContactSurface, ContactSurfaces, MovingObstacle, ObstacleMotion,
};
use crate::damping::{DampedBody, Damping};
use crate::dofs::DofMap;
use crate::elements::{
    Bend, Bending, Elements, Glued, LINEAR_TETS, Membrane, MembraneModel, SolidInput, SolidKind, Spring,
    Springs, Triangle, join,
};
use crate::forces::Force;
use crate::materials::{Constants, ConstantsError, Given, Material, SmallStrain, stiffness_constants};
use crate::mesh::{Mesh, Nodes, TriMesh};
use crate::model::{Body, BodyDamping, Load, Model, ModelParts, Pin};
use crate::potentials::{Gravity, Monopole, Potential};
use lilyan_dynamics::Constraint;
use std::sync::Arc;

/// A body to be added.
pub struct BodyInput {
    /// Its name.
    pub name: String,
    /// The kind of its elements.
    pub kind: &'static SolidKind,
    /// Its nodes, on the mesh of its rest shape.
    pub nodes: Arc<Nodes>,
    /// Material model.
    pub material: &'static dyn Material,
    /// Elastic constants: one for all tets or one for each.
    pub given: Vec<Given>,
    /// Density, kg/m³: one for all tets or one for each.
    pub rho: Vec<f64>,
    /// Damping; several add up.
    pub damping: Vec<Arc<dyn Damping>>,
    /// Consistent instead of lumped mass; has no effect with given masses. At first as is best for the kind with implicit
    /// integrators.
    pub consistent_mass: bool,
    /// Mass of each node, kg, instead of that of the tets.
    pub masses: Option<Vec<f64>>,
    /// Positions at the start; the rest shape if absent.
    pub start: Option<Vec<[f64; 3]>>,
    /// Whether volumes change alike over each tet, which keeps nearly incompressible bodies from locking, if the elements are
    /// of a kind that can. `None`: where a Poisson's ratio is above [`MEAN_DILATATION_RATIO`].
    pub mean_dilatation: Option<bool>,
    /// What holds discontinuous tets together.
    pub glued: Option<Glued>,
}

/// Poisson's ratio from which on tets resist bending by their volumes.
pub const LOCKING_RATIO: f64 = 0.45;

/// Poisson's ratio from which on quadratic tets take the mean dilatation by themselves. From 0.3 on it grows from nothing, so that where
/// it begins matters little.
pub const MEAN_DILATATION_RATIO: f64 = 0.4;

impl BodyInput {
    /// A homogeneous body at rest, of linear tets.
    pub fn new(
        name: &str,
        mesh: impl Into<Arc<Mesh>>,
        material: &'static dyn Material,
        given: Given,
        rho: f64,
    ) -> Self {
        Self::of(&LINEAR_TETS, Nodes::at_vertices(mesh), name, material, given, rho)
    }

    /// A homogeneous body at rest, of elements of this kind on the kind's nodes.
    pub fn of(
        kind: &'static SolidKind,
        nodes: impl Into<Arc<Nodes>>,
        name: &str,
        material: &'static dyn Material,
        given: Given,
        rho: f64,
    ) -> Self {
        Self {
            name: name.to_string(),
            kind,
            nodes: nodes.into(),
            material,
            given: vec![given],
            rho: vec![rho],
            damping: Vec::new(),
            consistent_mass: kind.consistent_mass,
            masses: None,
            start: None,
            mean_dilatation: None,
            glued: None,
        }
    }

    /// Whether its elements take the mean dilatation.
    fn takes_mean_dilatation(&self) -> bool {
        self.kind.mean_dilatation
            && self
                .mean_dilatation
                .unwrap_or_else(|| has_ratio_above(MEAN_DILATATION_RATIO, self.material, &self.given))
    }

    /// Whether it can be simulated: a mesh whose arrays make sense, positive densities, numbers for every node.
    fn check(&self) -> Result<(), BuildError> {
        let mesh = self.nodes.mesh();
        mesh.check()?;
        let count = mesh.tets().len();
        if count == 0 {
            return Err(BuildError::NoElements { body: self.name.clone() });
        }
        let length = |name: &'static str, found: usize, expected: usize| match found == expected {
            true => Ok(()),
            false => Err(BuildError::Length { name, found, expected }),
        };
        if let Some(rho) = self.rho.iter().find(|rho| !(**rho > 0.0 && rho.is_finite())) {
            return Err(BuildError::Density { rho: *rho });
        }
        for (name, found) in [("densities", self.rho.len()), ("material constants", self.given.len())] {
            if found != 1 {
                length(name, found, count)?;
            }
        }
        for (name, given) in [
            ("masses", self.masses.as_ref().map(Vec::len)),
            ("positions at the start", self.start.as_ref().map(Vec::len)),
        ] {
            given.map_or(Ok(()), |found| length(name, found, self.nodes.len()))?;
        }
        Ok(())
    }
}

/// A body of springs or triangles to be added: a rope, a cloth, any network.
#[derive(Clone, Debug, Default)]
pub struct NetInput {
    /// Its name.
    pub name: String,
    /// Its nodes. The triangles of their mesh are the surface that others touch; nodes in no triangle touch only
    /// others.
    pub nodes: Arc<Nodes>,
    /// Mass of each node, kg.
    pub masses: Vec<f64>,
    /// Springs, in nodes of the body.
    pub springs: Vec<Spring>,
    /// What resists bending, in nodes of the body.
    pub bends: Vec<Bend>,
    /// Triangles of a membrane, in nodes of the body.
    pub membrane: Option<(MembraneModel, Vec<Triangle>)>,
    /// What holds discontinuous triangles together.
    pub glued: Option<Glued>,
    /// Area of each node (m²) for contact of nodes that are in no triangle; may be empty.
    pub areas: Vec<f64>,
    /// Damping; several add up.
    pub damping: Vec<Arc<dyn Damping>>,
    /// Positions at the start; the rest shape if absent.
    pub start: Option<Vec<[f64; 3]>>,
}

/// Collects bodies, then what acts on them, then builds.
#[derive(Default)]
pub struct ModelBuilder {
    bodies: Vec<Body>,
    dampings: Vec<(usize, Arc<dyn Damping>)>,
    start: Vec<f64>,
    node_masses: Vec<f64>,
    /// Areas of the nodes of each body that are in no triangle, m²; may be empty.
    point_areas: Vec<Vec<f64>>,
    gravity: Option<[f64; 3]>,
    monopole: Option<(f64, [f64; 3])>,
    /// Triangle meshes that do not move.
    obstacles: Vec<TriMesh>,
    /// Made when all bodies are known.
    contacts: Vec<(ContactPair, Arc<dyn ContactModel>)>,
    moving: Vec<(ContactPair, ObstacleMotion, Arc<dyn ContactModel>)>,
    others: Vec<Box<dyn Potential>>,
    pins: Vec<Pin>,
    loads: Vec<Load>,
    forces: Vec<Box<dyn Force>>,
    constraints: Vec<Box<dyn Constraint>>,
}

impl ModelBuilder {
    /// Adds a body; returns where its nodes are in the model. The error names the material constant at fault.
    pub fn body(&mut self, body: BodyInput) -> Result<DofMap, BuildError> {
        body.check()?;
        let mean_dilatation = body.takes_mean_dilatation();
        let dofs = DofMap::new(body.nodes, self.node_masses.len());
        let nodes = dofs.nodes();
        let sets =
            |each: &dyn Fn(&Given) -> Result<Vec<f64>, ConstantsError>| -> Result<Constants, ConstantsError> {
                if let [one] = body.given.as_slice() {
                    return Ok(Constants::uniform(each(one)?));
                }
                let all: Result<Vec<Vec<f64>>, ConstantsError> = body.given.iter().map(each).collect();
                Ok(Constants::each(&all?))
            };
        let elements = (body.kind.build)(SolidInput {
            dofs: &dofs,
            material: body.material,
            constants: sets(&|g| body.material.constants(g))?,
            moduli: sets(&|g| moduli(g))?,
            mean_dilatation,
            density: body.rho,
            glued: body.glued,
        });
        self.node_masses.resize(dofs.range().end, 0.0);
        let consistent_mass = body.consistent_mass && body.masses.is_none();
        match &body.masses {
            None => {
                let masses = elements.iter().filter_map(|e| e.cells()?.mass());
                masses.for_each(|mass| match consistent_mass {
                    true => mass.add_weights(&mut self.node_masses),
                    false => mass.add_lumped(&mut self.node_masses),
                });
            }
            Some(masses) => self.node_masses[dofs.range()].copy_from_slice(masses),
        }
        self.start.extend(body.start.as_deref().unwrap_or(nodes.points()).iter().flatten());
        self.point_areas.push(Vec::new());
        self.dampings.extend(body.damping.into_iter().map(|d| (self.bodies.len(), d)));
        self.bodies.push(Body { name: body.name, dofs: dofs.clone(), elements, consistent_mass });
        Ok(dofs)
    }

    /// Adds a body of springs or triangles; returns where its nodes are in the model.
    pub fn net(&mut self, net: NetInput) -> DofMap {
        let dofs = DofMap::new(net.nodes, self.node_masses.len());
        let nodes = dofs.nodes();
        self.node_masses.extend(&net.masses);
        let mut springs = net.springs;
        springs.iter_mut().for_each(|s| s.ends = dofs.globals(s.ends));
        let mut bends = net.bends;
        bends.iter_mut().for_each(|b| b.nodes = dofs.globals(b.nodes));
        let (model, mut triangles) = net.membrane.unwrap_or((MembraneModel::Stvk, Vec::new()));
        triangles.iter_mut().for_each(|t| t.nodes = dofs.globals(t.nodes));

        self.point_areas.push(net.areas);
        self.start.extend(net.start.as_deref().unwrap_or(nodes.points()).iter().flatten());
        self.dampings.extend(net.damping.into_iter().map(|d| (self.bodies.len(), d)));
        let membrane = Arc::new(Membrane::new(model, triangles));
        let mut elements: Vec<Arc<dyn Elements>> =
            vec![Arc::new(Springs::new(springs)), membrane.clone(), Arc::new(Bending::new(bends))];
        elements.extend(net.glued.map(|glued| join(glued, membrane, nodes.inner_faces())));
        elements.retain(|e| !e.is_empty());
        self.bodies.push(Body { name: net.name, dofs: dofs.clone(), elements, consistent_mass: false });
        dofs
    }

    /// Uniform gravity, m/s².
    pub fn gravity(&mut self, g: [f64; 3]) {
        self.gravity = Some(g);
    }

    /// A point that attracts, strength in m³/s².
    pub fn monopole(&mut self, strength: f64, at: [f64; 3]) {
        self.monopole = Some((strength, at));
    }

    /// Contact of bodies with an obstacle, with each other or with themselves, bodies that are added later included. The
    /// error names what is wrong.
    pub fn contact(&mut self, pair: ContactPair, model: Arc<dyn ContactModel>) -> Result<(), BuildError> {
        match pair {
            ContactPair::Bodies(Some([a, b])) if a == b => return Err(BuildError::OneBody { body: a }),
            ContactPair::Bodies(Some([a, b])) => self.check_body(a.max(b))?,
            ContactPair::Itself(Some(body)) => self.check_body(body)?,
            _ => {}
        }
        check_model(pair, model.as_ref())?;
        self.contacts.push((pair, model));
        Ok(())
    }

    /// Contact of all bodies with an obstacle that moves from where it is. The error names what is wrong.
    pub fn contact_with_moving(
        &mut self,
        obstacle: ContactPair,
        motion: ObstacleMotion,
        model: Arc<dyn ContactModel>,
    ) -> Result<(), BuildError> {
        check_model(obstacle, model.as_ref())?;
        self.moving.push((obstacle, motion, model));
        Ok(())
    }

    /// Adds a rigid triangle mesh; its contact with all bodies is to be added.
    pub fn obstacle(&mut self, mesh: TriMesh) -> ContactPair {
        self.obstacles.push(mesh);
        ContactPair::Mesh(self.obstacles.len() - 1)
    }

    fn check_body(&self, body: usize) -> Result<(), BuildError> {
        let known = self.bodies.len();
        if body < known {
            return Ok(());
        }
        Err(BuildError::NoSuchBody { body, known })
    }

    /// The bodies so far.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Area of each node of a body, m²: its share of the surface or, in no triangle, its own.
    fn areas(&self, body: usize) -> Vec<f64> {
        let nodes = self.bodies[body].dofs.nodes();
        let mut areas = nodes.surface().nodal_areas(nodes.points());
        for (area, own) in areas.iter_mut().zip(&self.point_areas[body]) {
            *area = if *area > 0.0 { *area } else { *own };
        }
        areas
    }

    /// The surface of a body, ready for contact.
    pub fn contact_surface(&self, body: usize) -> ContactSurface {
        ContactSurface::with_areas(&self.bodies[body].dofs, &self.areas(body))
    }

    /// Any other potential.
    pub fn potential(&mut self, potential: Box<dyn Potential>) {
        self.others.push(potential);
    }

    /// Holds nodes.
    pub fn pin(&mut self, pin: Pin) {
        self.pins.push(pin);
    }

    /// Adds a dead load.
    pub fn load(&mut self, load: Load) {
        self.loads.push(load);
    }

    /// Adds a force that depends on place and velocity.
    pub fn force(&mut self, force: Box<dyn Force>) {
        self.forces.push(force);
    }

    /// Adds a constraint.
    pub fn constraint(&mut self, constraint: Box<dyn Constraint>) {
        self.constraints.push(constraint);
    }

    /// Nodes of all bodies so far that can touch something, with their areas, m².
    pub fn surface(&self) -> Vec<(u32, f64)> {
        (0..self.bodies.len()).flat_map(|body| self.points(body)).collect()
    }

    /// Those of a body.
    fn points(&self, body: usize) -> Vec<(u32, f64)> {
        let areas = (0u32..).zip(self.areas(body)).filter(|(_, area)| *area > 0.0);
        areas.map(|(n, area)| (self.bodies[body].dofs.global(n), area)).collect()
    }

    /// Mass of each node so far, kg: M·1, see [`Model::node_masses`].
    pub fn node_masses(&self) -> &[f64] {
        &self.node_masses
    }

    /// Positions at the start so far, m.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// The model.
    pub fn build(self) -> Model {
        let contacts = self.contact_potentials();
        let node_masses = Arc::new(self.node_masses);
        let elastic = self.bodies.iter().flat_map(|b| b.elements.iter().cloned());
        let mut potentials: Vec<Arc<dyn Potential>> = elastic.map(|e| e as Arc<dyn Potential>).collect();
        if let Some(acceleration) = self.gravity {
            potentials.push(Arc::new(Gravity { acceleration, masses: node_masses.to_vec() }));
        }
        if let Some((strength, at)) = self.monopole {
            let volumes = self.bodies.iter().flat_map(|b| b.dofs.nodes().volumes());
            potentials.push(Arc::new(Monopole::new(strength, at, node_masses.to_vec(), volumes)));
        }
        potentials.extend(contacts);
        potentials.extend(self.others.into_iter().map(Arc::from));
        let rest = self.bodies.iter().flat_map(|b| b.dofs.nodes().points().as_flattened()).copied();
        let rest: Arc<Vec<f64>> = Arc::new(rest.collect());
        let on_body =
            |(body, model)| BodyDamping { model, body: damped(&self.bodies[body], &node_masses, &rest) };
        let dampings = self.dampings.into_iter().map(on_body).collect();
        Model::new(ModelParts {
            bodies: self.bodies,
            potentials,
            dampings,
            pins: self.pins,
            loads: self.loads,
            forces: self.forces,
            constraints: self.constraints,
            node_masses,
            start: self.start,
        })
    }
}

/// Whether a body of linear tets would lock: its Poisson's ratio, anywhere, is above [`LOCKING_RATIO`].
pub fn is_nearly_incompressible(material: &dyn Material, given: &[Given]) -> bool {
    has_ratio_above(LOCKING_RATIO, material, given)
}

fn has_ratio_above(ratio: f64, material: &dyn Material, given: &[Given]) -> bool {
    material.card().small_strain == SmallStrain::Given
        && given.iter().any(|g| g.nu > ratio && !g.is_incompressible())
}

/// Refuses constants that are out of range, and a mesh with a model that knows none.
fn check_model(pair: ContactPair, model: &dyn ContactModel) -> Result<(), BuildError> {
    if matches!(pair, ContactPair::Mesh(_)) && !model.takes_meshes() {
        return Err(BuildError::NoMeshContact);
    }
    model.check()
}

/// μ, λ and, of a general stiffness, its constants: what damping takes.
fn moduli(given: &Given) -> Result<Vec<f64>, ConstantsError> {
    // Viscosity of an incompressible body: that of shear.
    let mut moduli = vec![given.mu, if given.is_incompressible() { 0.0 } else { given.lambda }];
    if given.has_general_stiffness() {
        moduli.extend(stiffness_constants(given)?);
    }
    Ok(moduli)
}

fn damped(body: &Body, masses: &Arc<Vec<f64>>, rest: &Arc<Vec<f64>>) -> DampedBody {
    let elements = body.elements.iter().filter(|e| !e.joins()).cloned().collect();
    DampedBody {
        elements,
        nodes: body.dofs.range(),
        masses: (!body.consistent_mass).then(|| masses.clone()),
        rest: rest.clone(),
    }
}

impl ModelBuilder {
    /// All contacts, those with obstacles first.
    fn contact_potentials(&self) -> Vec<Arc<dyn Potential>> {
        if self.contacts.is_empty() && self.moving.is_empty() {
            return Vec::new();
        }
        let lattice = FaceLattice::new(&self.bodies.iter().map(|body| &body.dofs).collect::<Vec<_>>());
        let make = |body: usize| match lattice.of(body) {
            Some(quadratic) => quadratic.surface.clone(),
            None => Arc::new(self.contact_surface(body)),
        };
        let points = || -> Vec<(u32, f64)> {
            let of_body = |body| match lattice.of(body) {
                Some(quadratic) => quadratic.points.clone(),
                None => self.points(body),
            };
            (0..self.bodies.len()).flat_map(of_body).collect()
        };
        let surfaces = ContactSurfaces::new(self.bodies.len(), &make, &points, &self.obstacles);
        let is_obstacle = |pair: &ContactPair| matches!(pair, ContactPair::Obstacle(_));
        let (obstacles, others): (Vec<_>, Vec<_>) =
            self.contacts.iter().partition(|(pair, _)| is_obstacle(pair));
        let all = obstacles.into_iter().chain(others);
        let still = all.map(|(pair, model)| model.potential(*pair, &surfaces));
        let moving = self.moving.iter().map(|(obstacle, motion, model)| {
            // A barrier keeps off all nodes of quadratic faces, not their points alone.
            let of_body = |body| match lattice.of(body) {
                Some(quadratic) => quadratic.surface.nodes().to_vec(),
                None => self.points(body).into_iter().map(|(node, _)| node).collect::<Vec<u32>>(),
            };
            let nodes = (0..self.bodies.len()).flat_map(of_body).collect();
            let contact = model.potential(*obstacle, &surfaces);
            Arc::new(MovingObstacle::new(contact, motion.clone(), nodes)) as Arc<dyn Potential>
        });
        let all: Vec<_> = still.chain(moving).collect();
        if lattice.is_empty() {
            return all;
        }
        let at = Arc::new(Interpolation::new(lattice));
        all.into_iter()
            .map(|inner| Arc::new(OnLattice { inner, at: at.clone() }) as Arc<dyn Potential>)
            .collect()
    }
}
