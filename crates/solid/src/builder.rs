//! Puts a [`Model`] together from bodies and what acts on them; what the scene file, the tests and
//! library users call.

use crate::damping::{Damping, Kharevych, Rayleigh, Viscous};
use crate::elements::{
    Bend, Bending, Cells, Constants, Elements, Gluing, GluingKind, Membrane, MembraneModel, Spring, Springs,
    Tets, Triangle,
};
use crate::materials::{Given, Material};
use crate::mesh::{Split, SplitFace, Surface, TetMesh};
use crate::model::{Body, Load, Model, ModelParts, Pin};
use crate::potentials::{
    ContactSurface, Elastic, Gravity, Monopole, Obstacle, Potential, Shape, SurfaceContact,
};
use lilyan_dynamics::Constraint;
use std::sync::Arc;

/// A damping model with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DampingSpec {
    /// Kelvin–Voigt viscosity with time τ, s.
    Viscous {
        /// τ, s.
        time: f64,
    },
    /// The damping of \[kharevych2006\] with time k, s.
    Kharevych {
        /// k, s.
        time: f64,
        /// Inside the step instead of after it.
        implicit: bool,
    },
    /// αM + βK.
    Rayleigh {
        /// α, 1/s.
        alpha: f64,
        /// β, s.
        beta: f64,
    },
}

/// A body to be added.
pub struct BodyInput {
    /// Its name.
    pub name: String,
    /// Rest shape.
    pub mesh: TetMesh,
    /// Material model.
    pub material: &'static dyn Material,
    /// Elastic constants: one for all tets or one for each.
    pub given: Vec<Given>,
    /// Density, kg/m³: one for all tets or one for each.
    pub rho: Vec<f64>,
    /// Damping; several add up.
    pub damping: Vec<DampingSpec>,
    /// Consistent instead of lumped mass (for all bodies if for one).
    pub consistent_mass: bool,
    /// Mass of each vertex, kg, instead of that of the tets.
    pub masses: Option<Vec<f64>>,
    /// Positions at the start; the rest shape if absent.
    pub start: Option<Vec<[f64; 3]>>,
    /// What holds the tets of a split mesh together.
    pub glued: Option<Glued>,
    /// The boundary of the whole, where the mesh is split.
    pub surface: Option<Surface>,
}

/// How the tets of a split mesh, or the triangles of a split surface, are held together.
#[derive(Clone, Debug)]
pub struct Glued {
    /// The faces, or edges, between them.
    pub faces: Vec<SplitFace>,
    /// The energy of gaps.
    pub kind: GluingKind,
    /// Its strength c, see [`Gluing`].
    pub penalty: f64,
}

impl BodyInput {
    /// A homogeneous body of discontinuous tets, at rest.
    pub fn split(
        name: &str,
        split: Split,
        kind: GluingKind,
        penalty: f64,
        material: &'static dyn Material,
        given: Given,
        rho: f64,
    ) -> Self {
        let glued = Some(Glued { faces: split.faces, kind, penalty });
        let surface = Some(split.surface);
        Self { glued, surface, ..Self::new(name, split.mesh, material, given, rho) }
    }

    /// A homogeneous body at rest.
    pub fn new(name: &str, mesh: TetMesh, material: &'static dyn Material, given: Given, rho: f64) -> Self {
        Self {
            name: name.to_string(),
            mesh,
            material,
            given: vec![given],
            rho: vec![rho],
            damping: Vec::new(),
            consistent_mass: false,
            masses: None,
            start: None,
            glued: None,
            surface: None,
        }
    }
}

/// A body of springs or triangles to be added: a rope, a cloth, any network.
#[derive(Clone, Debug, Default)]
pub struct NetInput {
    /// Its name.
    pub name: String,
    /// Rest positions, m.
    pub vertices: Vec<[f64; 3]>,
    /// Mass of each vertex, kg.
    pub masses: Vec<f64>,
    /// Springs, in vertex numbers.
    pub springs: Vec<Spring>,
    /// What resists bending, in vertex numbers.
    pub bends: Vec<Bend>,
    /// Triangles of a membrane, in vertex numbers.
    pub membrane: Option<(MembraneModel, Vec<Triangle>)>,
    /// What holds the triangles of a split surface together.
    pub glued: Option<Glued>,
    /// The surface that others touch, and its area; vertices in none of its triangles touch only others.
    pub surface: Surface,
    /// Whether the surface has an inside.
    pub closed: bool,
    /// Area of each vertex (m²) for contact of vertices that are in no triangle; may be empty.
    pub areas: Vec<f64>,
    /// Damping; several add up.
    pub damping: Vec<DampingSpec>,
    /// Positions at the start; the rest shape if absent.
    pub start: Option<Vec<[f64; 3]>>,
}

/// Contact to be made when all bodies are known.
struct ContactSpec {
    between: Between,
    stiffness: f64,
    thickness: f64,
}

enum Between {
    /// Two bodies, or all pairs.
    Bodies(Option<(usize, usize)>),
    /// A body and itself, or each.
    Itself(Option<usize>),
}

/// Collects bodies, then what acts on them, then builds.
#[derive(Default)]
pub struct ModelBuilder {
    bodies: Vec<Body>,
    densities: Vec<Vec<f64>>,
    consistent: bool,
    dampings: Vec<(usize, DampingSpec)>,
    start: Vec<f64>,
    node_masses: Vec<f64>,
    /// Surface nodes and their areas at rest, m².
    surface: Vec<(u32, f64)>,
    gravity: Option<[f64; 3]>,
    monopole: Option<(f64, [f64; 3])>,
    obstacles: Vec<(Shape, f64)>,
    /// Surface of each body.
    surfaces: Vec<Arc<ContactSurface>>,
    contacts: Vec<ContactSpec>,
    others: Vec<Box<dyn Potential>>,
    pins: Vec<Pin>,
    loads: Vec<Load>,
    constraints: Vec<Box<dyn Constraint>>,
}

impl ModelBuilder {
    /// Adds a body; returns its global nodes. The error names the material constant at fault.
    pub fn body(&mut self, body: BodyInput) -> Result<std::ops::Range<usize>, String> {
        let first = self.node_masses.len();
        let sets = |each: &dyn Fn(&Given) -> Result<Vec<f64>, String>| -> Result<Constants, String> {
            if let [one] = body.given.as_slice() {
                return Ok(Constants::uniform(each(one)?));
            }
            let all: Result<Vec<Vec<f64>>, String> = body.given.iter().map(each).collect();
            Ok(Constants::per_tet(&all?))
        };
        let tets = Tets::new(
            &body.mesh,
            first,
            body.material,
            sets(&|g| body.material.constants(g))?,
            // Viscosity of an incompressible body: that of shear.
            sets(&|g| Ok(vec![g.mu, if g.is_incompressible() { 0.0 } else { g.lambda }]))?,
        );
        let rho = |e: usize| {
            if body.rho.len() == 1 { body.rho[0] } else { body.rho[e] }
        };
        self.node_masses.resize(first + body.mesh.vertices.len(), 0.0);
        match &body.masses {
            None => tets.add_lumped_mass(rho, &mut self.node_masses),
            Some(masses) => self.node_masses[first..].copy_from_slice(masses),
        }
        self.densities.push((0..tets.len()).map(rho).collect());
        self.consistent |= body.consistent_mass;
        self.start.extend(body.start.as_ref().unwrap_or(&body.mesh.vertices).iter().flatten());
        let outside = body.surface.clone().unwrap_or_else(|| body.mesh.surface());
        let areas = outside.nodal_areas(&body.mesh.vertices);
        let outside = ContactSurface::new(&outside, &body.mesh.vertices, first);
        self.surfaces.push(Arc::new(outside));
        let surface = areas.iter().enumerate().filter(|(_, area)| **area > 0.0);
        self.surface.extend(surface.map(|(n, area)| ((first + n) as u32, *area)));
        self.dampings.extend(body.damping.iter().map(|d| (self.bodies.len(), *d)));
        let nodes = first..self.node_masses.len();
        let tets = Arc::new(tets);
        let membrane = Arc::new(Membrane::new(MembraneModel::Stvk, Vec::new()));
        self.bodies.push(Body {
            name: body.name,
            nodes: nodes.clone(),
            gluing: glue(&tets, body.glued.as_ref()),
            tets,
            springs: Arc::default(),
            seams: glue(&membrane, None),
            membrane,
            bending: Arc::default(),
        });
        Ok(nodes)
    }

    /// Adds a body of springs or triangles; returns its global nodes.
    pub fn net(&mut self, net: NetInput) -> std::ops::Range<usize> {
        let first = self.node_masses.len();
        let shift = first as u32;
        self.node_masses.extend(&net.masses);
        let nodes = first..self.node_masses.len();
        let mut springs = net.springs;
        springs.iter_mut().for_each(|s| s.ends = s.ends.map(|n| n + shift));
        let mut bends = net.bends;
        bends.iter_mut().for_each(|b| b.nodes = b.nodes.map(|n| n + shift));
        let (model, mut triangles) = net.membrane.unwrap_or((MembraneModel::Stvk, Vec::new()));
        triangles.iter_mut().for_each(|t| t.nodes = t.nodes.map(|n| n + shift));

        let mut areas = net.surface.nodal_areas(&net.vertices);
        for (area, own) in areas.iter_mut().zip(&net.areas) {
            *area = if *area > 0.0 { *area } else { *own };
        }
        let touching = areas.iter().enumerate().filter(|(_, area)| **area > 0.0);
        self.surface.extend(touching.map(|(n, area)| (shift + n as u32, *area)));
        let surface = ContactSurface::of_net(&net.surface, &net.vertices, &areas, net.closed, first);
        self.surfaces.push(Arc::new(surface));
        self.start.extend(net.start.as_ref().unwrap_or(&net.vertices).iter().flatten());
        self.densities.push(Vec::new());
        self.dampings.extend(net.damping.iter().map(|d| (self.bodies.len(), *d)));
        let tets = Arc::new(Tets::none(nodes.clone()));
        let membrane = Arc::new(Membrane::new(model, triangles));
        self.bodies.push(Body {
            name: net.name,
            nodes: nodes.clone(),
            gluing: glue(&tets, None),
            tets,
            springs: Arc::new(Springs::new(springs)),
            seams: glue(&membrane, net.glued.as_ref()),
            membrane,
            bending: Arc::new(Bending::new(bends)),
        });
        nodes
    }

    /// Uniform gravity, m/s².
    pub fn gravity(&mut self, g: [f64; 3]) {
        self.gravity = Some(g);
    }

    /// A point that attracts, strength in m³/s².
    pub fn monopole(&mut self, strength: f64, at: [f64; 3]) {
        self.monopole = Some((strength, at));
    }

    /// An obstacle with stiffness per area, Pa/m.
    pub fn obstacle(&mut self, shape: Shape, stiffness: f64) {
        self.obstacles.push((shape, stiffness));
    }

    /// Contact between two bodies (by their place in the order of adding), or between all pairs of
    /// distinct bodies, later ones included. Stiffness per area in Pa/m; thickness (m) is the distance
    /// at which surfaces begin to push. See [`SurfaceContact`]. The error names what is wrong.
    pub fn contact_between(
        &mut self,
        bodies: Option<(usize, usize)>,
        stiffness: f64,
        thickness: f64,
    ) -> Result<(), String> {
        if let Some((a, b)) = bodies {
            if a == b {
                return Err(format!("contact between body {a} and itself: ask for self contact instead"));
            }
            self.check_body(a.max(b))?;
        }
        self.contact(Between::Bodies(bodies), stiffness, thickness)
    }

    /// Contact of a body with itself, or of each with itself, later ones included. Units as in
    /// [`ModelBuilder::contact_between`].
    pub fn contact_self(
        &mut self,
        body: Option<usize>,
        stiffness: f64,
        thickness: f64,
    ) -> Result<(), String> {
        if let Some(body) = body {
            self.check_body(body)?;
        }
        self.contact(Between::Itself(body), stiffness, thickness)
    }

    fn check_body(&self, body: usize) -> Result<(), String> {
        let known = self.bodies.len();
        if body < known {
            return Ok(());
        }
        Err(format!("contact of body {body}, but {known} bodies were added: they count from 0"))
    }

    fn contact(&mut self, between: Between, stiffness: f64, thickness: f64) -> Result<(), String> {
        if !(stiffness > 0.0 && stiffness.is_finite()) {
            return Err(format!("contact stiffness {stiffness} Pa/m must be a positive number"));
        }
        if !(thickness >= 0.0 && thickness.is_finite()) {
            return Err(format!("contact thickness {thickness} m must be 0 or a positive number"));
        }
        self.contacts.push(ContactSpec { between, stiffness, thickness });
        Ok(())
    }

    /// The bodies so far.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Surface of each body so far, with its triangles in global node numbers.
    pub fn surfaces(&self) -> &[Arc<ContactSurface>] {
        &self.surfaces
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

    /// Adds a constraint.
    pub fn constraint(&mut self, constraint: Box<dyn Constraint>) {
        self.constraints.push(constraint);
    }

    /// Surface nodes of all bodies so far with their areas, m².
    pub fn surface(&self) -> &[(u32, f64)] {
        &self.surface
    }

    /// Mass of each node so far, kg.
    pub fn node_masses(&self) -> &[f64] {
        &self.node_masses
    }

    /// Positions at the start so far, m.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// The model.
    pub fn build(self) -> Model {
        let node_masses = Arc::new(self.node_masses);
        let mut potentials: Vec<Box<dyn Potential>> = Vec::new();
        for body in &self.bodies {
            add_elastic(&body.tets, &mut potentials);
            add_elastic(&body.springs, &mut potentials);
            add_elastic(&body.membrane, &mut potentials);
            add_elastic(&body.bending, &mut potentials);
            add_elastic(&body.gluing, &mut potentials);
            add_elastic(&body.seams, &mut potentials);
        }
        if let Some(acceleration) = self.gravity {
            potentials.push(Box::new(Gravity { acceleration, masses: node_masses.to_vec() }));
        }
        if let Some((strength, at)) = self.monopole {
            potentials.push(Box::new(Monopole { strength, at, masses: node_masses.to_vec() }));
        }
        for (shape, stiffness) in self.obstacles {
            potentials.push(Box::new(Obstacle { shape, stiffness, nodes: self.surface.clone() }));
        }
        for spec in &self.contacts {
            potentials.push(Box::new(spec.build(&self.surfaces)));
        }
        potentials.extend(self.others);
        let mut dampings: Vec<Box<dyn Damping>> = Vec::new();
        for &(body, spec) in &self.dampings {
            let body = &self.bodies[body];
            add_damping(&body.tets, spec, &node_masses, &mut dampings);
            add_damping(&body.springs, spec, &node_masses, &mut dampings);
            add_damping(&body.membrane, spec, &node_masses, &mut dampings);
            if let DampingSpec::Rayleigh { alpha, beta } = spec {
                let (elements, masses) = (body.bending.clone(), node_masses.clone());
                let nodes = body.nodes.clone();
                dampings.push(Box::new(Rayleigh { elements, nodes, masses, alpha, beta }));
            }
        }
        Model::new(ModelParts {
            bodies: self.bodies,
            potentials,
            dampings,
            pins: self.pins,
            loads: self.loads,
            constraints: self.constraints,
            node_masses,
            consistent: self.consistent.then_some(self.densities),
            start: self.start,
        })
    }
}

fn glue<C: Cells>(cells: &Arc<C>, glued: Option<&Glued>) -> Arc<Gluing<C>> {
    Arc::new(match glued {
        None => Gluing::none(cells.clone()),
        Some(glued) => Gluing::new(cells.clone(), &glued.faces, glued.kind, glued.penalty),
    })
}

fn add_elastic<E: Elements + 'static>(elements: &Arc<E>, out: &mut Vec<Box<dyn Potential>>) {
    if !elements.is_empty() {
        out.push(Box::new(Elastic(elements.clone())));
    }
}

/// Adds a damping model to one kind of elements.
fn add_damping<E: Elements + 'static>(
    elements: &Arc<E>,
    spec: DampingSpec,
    masses: &Arc<Vec<f64>>,
    out: &mut Vec<Box<dyn Damping>>,
) where
    Viscous<E>: Damping,
    Kharevych<E>: Damping,
{
    if elements.is_empty() {
        return;
    }
    let (elements, masses) = (elements.clone(), masses.clone());
    out.push(match spec {
        DampingSpec::Viscous { time } => Box::new(Viscous { elements, time }),
        DampingSpec::Kharevych { time, implicit } => Box::new(Kharevych { elements, time, implicit }),
        DampingSpec::Rayleigh { beta, .. } => {
            Box::new(Rayleigh { elements, nodes: 0..0, masses, alpha: 0.0, beta })
        }
    });
}

impl ContactSpec {
    fn build(&self, surfaces: &[Arc<ContactSurface>]) -> SurfaceContact {
        let (k, thickness) = (self.stiffness, self.thickness);
        match self.between {
            Between::Bodies(Some((a, b))) => {
                let two = vec![surfaces[a].clone(), surfaces[b].clone()];
                SurfaceContact::between(two, &[(0, 1)], k, thickness)
            }
            Between::Bodies(None) => {
                let pairs: Vec<(usize, usize)> =
                    (0..surfaces.len()).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
                SurfaceContact::between(surfaces.to_vec(), &pairs, k, thickness)
            }
            Between::Itself(Some(body)) => SurfaceContact::within(vec![surfaces[body].clone()], k, thickness),
            Between::Itself(None) => SurfaceContact::within(surfaces.to_vec(), k, thickness),
        }
    }
}
