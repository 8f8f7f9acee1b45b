//! A finite-element model: bodies, potentials, damping, pins and loads as one [`System`].

use crate::damping::Damping;
use crate::elements::{Bending, Elements, Gluing, Membrane, Springs, Tets};
use crate::materials::{CATALOGUE, Frame};
use crate::potentials::{Kind, Potential, Tether};
use lilyan_dynamics::corotated::{Corotated, Rotation};
use lilyan_dynamics::fit::Fit;
use lilyan_dynamics::strains::{Strained, Strains};
use lilyan_dynamics::{Constraint, EnergyParts, Mass, StiffPart, System};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern, threads};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Position and velocity of something prescribed, at a time.
pub type Motion = Box<dyn Fn(f64) -> ([f64; 3], [f64; 3]) + Send + Sync>;

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

/// One body in the model: elements of any kind on its nodes. Most bodies have one kind and none of the others.
pub struct Body {
    /// Its name.
    pub name: String,
    /// Its global nodes.
    pub nodes: Range<usize>,
    /// Its tets.
    pub tets: Arc<Tets>,
    /// Its springs.
    pub springs: Arc<Springs>,
    /// Its triangles.
    pub membrane: Arc<Membrane>,
    /// What resists bending.
    pub bending: Arc<Bending>,
    /// What holds discontinuous tets together.
    pub gluing: Arc<Gluing<Tets>>,
    /// What holds discontinuous triangles together.
    pub seams: Arc<Gluing<Membrane>>,
}

/// Everything that moves, and everything that acts on it.
pub struct Model {
    bodies: Vec<Body>,
    potentials: Vec<Box<dyn Potential>>,
    dampings: Vec<Box<dyn Damping>>,
    pins: Vec<Pin>,
    loads: Vec<Load>,
    constraints: Vec<Box<dyn Constraint>>,
    fits: Vec<Fit>,
    mass: Mass,
    node_masses: Arc<Vec<f64>>,
    /// Positions at the start, which pins refer to.
    start: Vec<f64>,
    pattern: Arc<BlockPattern>,
    /// Without what joins discontinuous elements, where there are any.
    of_elements: Option<Arc<BlockPattern>>,
    length: f64,
    /// How often forces and second derivatives were asked for.
    calls: [AtomicU64; 2],
    incompressible: bool,
    /// Whether the last potential is a tether.
    pulled: bool,
}

/// What a [`Model`] is put together from.
pub struct ModelParts {
    /// The bodies; their nodes follow each other.
    pub bodies: Vec<Body>,
    /// Potentials; the elastic ones come first.
    pub potentials: Vec<Box<dyn Potential>>,
    /// Damping.
    pub dampings: Vec<Box<dyn Damping>>,
    /// Held nodes.
    pub pins: Vec<Pin>,
    /// Dead loads.
    pub loads: Vec<Load>,
    /// Constraints beside pins.
    pub constraints: Vec<Box<dyn Constraint>>,
    /// Mass of each node, kg.
    pub node_masses: Arc<Vec<f64>>,
    /// Density of each tet of each body (kg/m³) for those with consistent mass.
    pub consistent: Option<Vec<Vec<f64>>>,
    /// Positions at the start, m.
    pub start: Vec<f64>,
}

impl Model {
    /// Puts it together.
    pub fn new(parts: ModelParts) -> Self {
        let nodes = parts.node_masses.len();
        let glued = parts.bodies.iter().any(|b| !(b.gluing.is_empty() && b.seams.is_empty()));
        // A consistent mass is made for the whole pattern.
        let apart = glued && parts.consistent.is_none();
        let of_elements = apart.then(|| Arc::new(pattern(nodes, &parts.bodies, false)));
        let pattern = Arc::new(pattern(nodes, &parts.bodies, true));
        let mass = match &parts.consistent {
            None => Mass::Lumped(parts.node_masses.iter().flat_map(|m| [*m; 3]).collect()),
            Some(densities) => {
                let mut m = BlockMatrix::zeros(pattern.clone());
                for (body, rho) in parts.bodies.iter().zip(densities) {
                    add_consistent_mass(&body.tets, rho, &mut m);
                }
                m.add_diagonal(&point_masses(&parts));
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
            bodies: parts.bodies,
            potentials: parts.potentials,
            dampings: parts.dampings,
            pins: parts.pins,
            loads: parts.loads,
            constraints: parts.constraints,
            fits: Vec::new(),
            mass,
            node_masses: parts.node_masses,
            start: parts.start,
            pattern,
            of_elements,
            length: if length > 0.0 { length } else { 1.0 },
            calls: Default::default(),
            pulled: false,
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

    /// Mass of each node, kg.
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
    pub fn potentials(&self) -> &[Box<dyn Potential>] {
        &self.potentials
    }

    /// Adds what contacts do to the nodes, N.
    pub fn add_contact_forces(&self, q: &[f64], f: &mut [f64]) {
        let mut gradient = vec![0.0; q.len()];
        for contact in self.potentials.iter().filter(|p| p.is_contact()) {
            contact.add_gradient(q, &mut gradient);
        }
        f.iter_mut().zip(&gradient).for_each(|(f, g)| *f -= g);
    }

    /// Pulls some nodes to places, instead of those pulled before; with none, lets go.
    pub fn pull(&mut self, tether: Option<Tether>) {
        if std::mem::take(&mut self.pulled) {
            self.potentials.pop();
        }
        if let Some(tether) = tether {
            self.potentials.push(Box::new(tether));
            self.pulled = true;
        }
    }

    /// Calls `f(dof, displacement, velocity)` for every unknown held at t.
    fn each_held(&self, t: f64, mut f: impl FnMut(usize, f64, f64)) {
        for pin in &self.pins {
            // Half a nanosecond of slack, so that the step that ends at `until` is still held.
            if t > pin.until + 5e-10 {
                continue;
            }
            let (offset, rate) = match &pin.motion {
                None => ([0.0; 3], [0.0; 3]),
                Some(motion) => motion(t),
            };
            for &n in &pin.nodes {
                for k in (0..3).filter(|&k| pin.axes[k]) {
                    f(3 * n as usize + k, offset[k], rate[k]);
                }
            }
        }
    }
}

/// Which nodes are coupled by elements, and by what joins them.
fn pattern(nodes: usize, bodies: &[Body], joined: bool) -> BlockPattern {
    let tets: Vec<[u32; 4]> = bodies.iter().flat_map(|b| b.tets.cliques()).collect();
    let springs = bodies.iter().flat_map(|b| b.springs.list()).map(|s| s.ends.as_slice());
    let triangles = bodies.iter().flat_map(|b| b.membrane.list()).map(|t| t.nodes.as_slice());
    let bends = bodies.iter().flat_map(|b| b.bending.list()).map(|b| b.nodes.as_slice());
    let tets = tets.iter().map(|c| c.as_slice());
    let glued = bodies.iter().filter(|_| joined);
    let glued: Vec<Vec<u32>> = glued.flat_map(|b| b.gluing.cliques().chain(b.seams.cliques())).collect();
    let glued = glued.iter().map(|c| c.as_slice());
    BlockPattern::from_cliques(nodes, tets.chain(springs).chain(triangles).chain(bends).chain(glued))
}

/// Masses of the nodes of bodies without tets, which stay lumped; 0 for the others.
fn point_masses(parts: &ModelParts) -> Vec<f64> {
    let mut out = vec![0.0; 3 * parts.node_masses.len()];
    for body in parts.bodies.iter().filter(|b| b.tets.is_empty()) {
        for n in body.nodes.clone() {
            out[3 * n..3 * n + 3].fill(parts.node_masses[n]);
        }
    }
    out
}

/// ρ vol/20 (1 + δ) between the vertices of a tet.
fn add_consistent_mass(tets: &Tets, rho: &[f64], m: &mut BlockMatrix) {
    for e in 0..tets.len() {
        let unit = rho[e] * tets.volume(e) / 20.0;
        let nodes = tets.tet(e);
        for a in 0..4 {
            for b in 0..=a {
                let c = if a == b { 2.0 * unit } else { unit };
                let block = [c, 0.0, 0.0, 0.0, c, 0.0, 0.0, 0.0, c];
                m.add_block(nodes[a] as usize, nodes[b] as usize, &block);
            }
        }
    }
}

impl System for Model {
    fn dofs(&self) -> usize {
        self.start.len()
    }
    fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }
    fn mass(&self) -> &Mass {
        &self.mass
    }
    fn length(&self) -> f64 {
        self.length
    }

    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        let mut energy: f64 = self.potentials.iter().map(|p| p.energy(q)).sum();
        if self.has_load() {
            let mut load = vec![0.0; q.len()];
            self.load(t, &mut load);
            // Relative to the start: −f·x would add a large constant to what is minimised.
            energy -= (0..q.len()).map(|i| load[i] * (q[i] - self.start[i])).sum::<f64>();
        }
        energy
    }

    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        threads::clear(g);
        for potential in &self.potentials {
            potential.add_gradient(q, g);
        }
        self.subtract_load(t, g);
    }

    fn hessian(&self, _t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        for potential in &self.potentials {
            potential.add_hessian(q, curvature, h);
        }
    }

    fn inner_gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        g.fill(0.0);
        for potential in self.potentials.iter().filter(|p| p.kind() == Kind::Elastic) {
            potential.add_gradient(q, g);
        }
    }
    fn inner_hessian(&self, _t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        for potential in self.potentials.iter().filter(|p| p.kind() == Kind::Elastic) {
            potential.add_hessian(q, curvature, h);
        }
    }
    fn has_constant_stiffness(&self, dofs: &Range<usize>) -> bool {
        let here = |b: &&Body| 3 * b.nodes.start < dofs.end && dofs.start < 3 * b.nodes.end;
        self.bodies.iter().filter(here).all(|b| {
            let others: [&dyn Elements; 5] = [&*b.springs, &*b.membrane, &*b.bending, &*b.gluing, &*b.seams];
            b.tets.material().frame() == Some(Frame::Fixed) && others.iter().all(|e| e.is_empty())
        })
    }
    fn outer_forces(&self, _t: f64, _q: &[f64], v: &[f64], f: &mut [f64]) {
        for damping in &self.dampings {
            damping.add_outer_forces(v, f);
        }
    }
    fn fits(&self) -> &[Fit] {
        &self.fits
    }

    fn stiff_pattern(&self, part: StiffPart) -> &Arc<BlockPattern> {
        match (part, &self.of_elements) {
            (StiffPart::Elements, Some(pattern)) => pattern,
            _ => &self.pattern,
        }
    }
    fn stiff_hessian(&self, _t: f64, q: &[f64], part: StiffPart, h: &mut BlockMatrix) {
        for potential in &self.potentials {
            potential.add_stiff_hessian(q, part, h);
        }
    }

    fn discrete_gradient(&self, t: f64, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        g.fill(0.0);
        let feasible = self.potentials.iter().all(|p| p.add_discrete_gradient(q0, q1, g));
        self.subtract_load(t, g);
        feasible && g.iter().all(|x| x.is_finite())
    }

    fn load(&self, t: f64, f: &mut [f64]) {
        for load in &self.loads {
            load(t, f);
        }
    }
    fn has_load(&self) -> bool {
        !self.loads.is_empty()
    }

    fn has_forces(&self) -> bool {
        self.dampings.iter().any(|d| !d.is_impulse())
    }
    fn forces(&self, _t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        for damping in &self.dampings {
            damping.add_forces(q, v, f);
        }
    }
    fn forces_between(&self, _t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        for damping in &self.dampings {
            damping.add_forces_between(h, q0, q1, f);
        }
    }
    fn damping(&self, _t: f64, q: &[f64], d: &mut BlockMatrix) {
        for damping in &self.dampings {
            damping.add_matrix(q, d);
        }
    }
    fn has_impulse(&self) -> bool {
        self.dampings.iter().any(|d| d.is_impulse())
    }
    fn impulse(&self, _h: f64, q0: &[f64], q1: &[f64], j: &mut [f64]) {
        for damping in &self.dampings {
            damping.add_impulse(q0, q1, j);
        }
    }

    fn held(&self, t: f64, mask: &mut [bool]) {
        mask.fill(false);
        self.each_held(t, |i, _, _| mask[i] = true);
    }
    fn place_held(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.each_held(t, |i, offset, rate| {
            q[i] = self.start[i] + offset;
            v[i] = rate;
        });
    }
    fn held_moves(&self) -> bool {
        self.pins.iter().any(|p| p.motion.is_some())
    }

    fn strained(&self) -> Result<&dyn Strained, String> {
        match self.potentials.iter().find_map(|p| p.not_strained()) {
            None => Ok(self),
            Some(name) => Err(format!(
                "the material model \"{name}\" is no quadratic function of a strain; use \"stvk\", or another integrator"
            )),
        }
    }
    fn incompressible(&self) -> bool {
        self.incompressible
    }

    fn corotated(&self) -> Result<&dyn Corotated, String> {
        match self.potentials.iter().find_map(|p| p.not_corotated()) {
            None => Ok(self),
            Some(name) => {
                let turning = CATALOGUE.iter().filter(|m| m.frame().is_some());
                let known: Vec<&str> = turning.map(|m| m.card().name).collect();
                Err(format!(
                    "the material model \"{name}\" has no co-rotated stiffness; use one of \"{}\", or another \
                     integrator",
                    known.join("\", \"")
                ))
            }
        }
    }

    fn constraints(&self) -> &[Box<dyn Constraint>] {
        &self.constraints
    }

    fn energy_parts(&self, _t: f64, q: &[f64]) -> EnergyParts {
        let mut parts = EnergyParts::default();
        for potential in &self.potentials {
            let energy = potential.energy(q);
            match potential.kind() {
                Kind::Elastic => parts.elastic += energy,
                Kind::Gravity => parts.gravity += energy,
                Kind::Other => parts.other += energy,
            }
        }
        parts
    }
}

impl Strained for Model {
    fn strains(&self) -> Vec<&dyn Strains> {
        self.potentials.iter().filter_map(|p| p.strains()).collect()
    }
    fn other_gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        g.fill(0.0);
        for potential in self.potentials.iter().filter(|p| p.strains().is_none()) {
            potential.add_gradient(q, g);
        }
        self.subtract_load(t, g);
    }
    fn other_hessian(&self, _t: f64, q: &[f64], h: &mut BlockMatrix) {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        for potential in self.potentials.iter().filter(|p| p.strains().is_none()) {
            potential.add_hessian(q, Curvature::Projected, h);
        }
    }
}

impl Corotated for Model {
    fn turned_gradient(&self, t: f64, q: &[f64], rotation: Rotation, held: &[bool], g: &mut [f64]) {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        g.fill(0.0);
        for potential in &self.potentials {
            potential.add_turned_gradient(q, rotation, held, g);
        }
        self.subtract_load(t, g);
    }
    fn turned_stiffness(&self, _t: f64, q: &[f64], rotation: Rotation, held: &[bool], k: &mut BlockMatrix) {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        for potential in &self.potentials {
            potential.add_turned_stiffness(q, rotation, held, k);
        }
    }
}

impl Model {
    fn subtract_load(&self, t: f64, g: &mut [f64]) {
        if self.has_load() {
            let mut load = vec![0.0; g.len()];
            self.load(t, &mut load);
            for (g, f) in g.iter_mut().zip(&load) {
                *g -= f;
            }
        }
    }
}
