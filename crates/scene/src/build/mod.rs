//! From a scene to a simulation that can be stepped.

mod constrain;
mod contact;
mod display;
pub mod fit;
mod initial;
mod loads;
pub mod material;
mod net;
mod pin_motion;
pub mod select;
pub mod shape;
pub mod size;
mod start_check;
mod start_warnings;
mod symmetry;

pub use constrain::BuiltConstraint;
pub use contact::obstacle_surface;
pub use display::{Shown, harmonic_name};
pub use loads::LoadPoint;
pub use symmetry::Symmetry;

use crate::document::SceneError;
use crate::library;
use crate::schema::{
    BodySpec, ConstraintKind, ConstraintSpec, ContactSpec, DampingSpec, Element, Mass, PinMotion, ProbeSpec,
    Scene,
};
use crate::suggest;
use lilyan_dynamics::{Simulation, State, integrators};
use lilyan_solid::elements::{GluingKind, LINEAR_TETS};
use lilyan_solid::mesh::{Mesh, Nodes};
use lilyan_solid::{
    BodyInput, DofMap, Force, Glued, LOCKING_RATIO, Model, ModelBuilder, is_nearly_incompressible,
};
use std::sync::Arc;
use symmetry::InnerSymmetry;

/// A body as built.
pub struct BuiltBody {
    /// Its name.
    pub name: String,
    /// Its nodes and unknowns.
    pub dofs: DofMap,
    /// Material model.
    pub model: String,
    /// The elements it is cut into.
    pub element: Element,
    /// Smallest and largest Young's modulus, Pa; 0 where springs have λ instead.
    pub young: [f64; 2],
    /// λ of springs that were given it, N.
    pub lambda: Option<f64>,
    /// Smallest and largest density, kg/m³; 0 where masses were given.
    pub density: [f64; 2],
    /// What it carries along to be shown.
    pub shown: Option<Shown>,
}

impl BuiltBody {
    /// Whether it is made of springs or a membrane.
    pub fn is_net(&self) -> bool {
        is_net(self.nodes(), self.element)
    }

    /// Its nodes, in its own numbers.
    pub fn nodes(&self) -> &Arc<Nodes> {
        self.dofs.nodes()
    }

    /// The mesh of its rest shape.
    pub fn mesh(&self) -> &Mesh {
        self.nodes().mesh()
    }
}

fn is_net(nodes: &Nodes, element: Element) -> bool {
    nodes.tets().is_empty() || element == Element::Springs
}

/// A point that is followed.
pub struct Probe {
    /// Heads its columns.
    pub name: String,
    /// The nodes of the model that place it, and their weights, of sum 1.
    pub weights: Vec<(u32, f64)>,
}

impl Probe {
    /// Where it is.
    pub fn place(&self, q: &[f64]) -> [f64; 3] {
        let mut x = [0.0; 3];
        for &(n, w) in &self.weights {
            for k in 0..3 {
                x[k] += w * q[3 * n as usize + k];
            }
        }
        x
    }
}

/// What physics keeps constant in a scene, whatever the integrator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conserved {
    /// Nothing does work from outside and nothing damps.
    pub energy: bool,
    /// Nothing pushes from outside.
    pub linear: bool,
    /// Nothing turns from outside, and the material does not mind being rotated.
    pub angular: bool,
    /// The damping model that changes the angular momentum, if there is one: with implicit and with explicit
    /// integrators.
    pub damping_torque: [Option<&'static str>; 2],
}

/// A scene ready to run.
pub struct Built {
    /// The simulation, at time 0.
    pub simulation: Simulation<Model>,
    /// The bodies.
    pub bodies: Vec<BuiltBody>,
    /// The probes.
    pub probes: Vec<Probe>,
    /// The constraints, as many as the scene lists.
    pub constraints: Vec<BuiltConstraint>,
    /// What should stay constant.
    pub conserved: Conserved,
    /// Momenta that stay constant although something acts from outside.
    pub symmetries: Vec<Symmetry>,
    /// What readers and meshers had to say.
    pub notes: Vec<String>,
    /// What is probably not meant.
    pub warnings: Vec<String>,
}

impl Built {
    /// Rest positions of all nodes, flat, m.
    pub fn rest_positions(&self) -> Vec<f64> {
        self.simulation.system().rest_positions()
    }
}

/// Builds the scene.
pub fn build(scene: &Scene) -> Result<Built, SceneError> {
    build_with_forces(scene, Vec::new())
}

/// Builds the scene with more forces than it names, those of a program that uses it.
pub fn build_with_forces(scene: &Scene, forces: Vec<Box<dyn Force>>) -> Result<Built, SceneError> {
    let integrator = integrator(scene)?;
    size::check(scene)?;
    let mut builder = ModelBuilder::default();
    let mut bodies: Vec<BuiltBody> = Vec::new();
    let (mut notes, mut warnings) = (Vec::new(), scene.warnings.clone());
    let mut velocity = Vec::new();
    let mut fits = Vec::new();
    for (i, spec) in scene.bodies.iter().enumerate() {
        let (nodes, element) = shape::nodes(scene, spec, &mut notes)?;
        let spec = &BodySpec { element, ..spec.clone() };
        let fit = fit::resolve(scene, i, &nodes, &mut notes, &mut warnings)?;
        let (mut body, v) = match is_net(&nodes, spec.element) {
            true => add_net(spec, nodes, &mut builder)?,
            false => {
                let explicit = integrator.claims().explicit;
                add_solid(scene, spec, nodes, fit.stiffness, explicit, &mut warnings, &mut builder)?
            }
        };
        if !body.is_net() {
            body.shown = display::shown(scene, spec, body.nodes(), &mut notes)?;
        }
        fits.push(fit);
        velocity.extend(v);
        bodies.push(body);
    }
    loads::add(scene, &bodies, &mut builder)?;
    forces.into_iter().for_each(|force| builder.force(force));
    let constraints = constrain::add(scene, &bodies, &mut builder)?;
    let probes = probes(scene, &bodies)?;
    let start = builder.start().to_vec();
    let mut model = builder.build();
    let fitted = fit::add(fits, &bodies, &mut model);
    if let Some(reason) = integrators::refusal(integrator.as_ref(), &model) {
        return Err(scene
            .integrator
            .mark
            .error(format!("{reason} (integrator \"{}\")", scene.integrator.name)));
    }
    let mut state = State::new(&model, start, velocity);
    start_check::check(scene, &bodies, &model, &state)?;
    constrain::start(scene, &constraints, &model, &mut state, &mut notes)?;
    initial::relax(scene, &bodies, &model, &mut state)?;
    warnings.extend(start_warnings::warnings(scene, &bodies, &model, &state));
    let inside = inner_symmetry(scene, &bodies, &fitted);
    Ok(Built {
        conserved: conserved(scene, &bodies, &fitted),
        symmetries: symmetry::of(scene, &model, &state.q, inside),
        simulation: Simulation::new(model, integrator, state, scene.time.step),
        bodies,
        probes,
        constraints,
        notes,
        warnings,
    })
}

/// Adds a body of tets; returns it and its velocities.
fn add_solid(
    scene: &Scene,
    spec: &BodySpec,
    nodes: Arc<Nodes>,
    stiffness: f64,
    explicit: bool,
    warnings: &mut Vec<String>,
    builder: &mut ModelBuilder,
) -> Result<(BuiltBody, Vec<f64>), SceneError> {
    let mut material = material::material(&scene.materials, spec, &nodes)?;
    if stiffness != 1.0 {
        let card = material.model.card();
        material.given = material.given.into_iter().map(|g| g.scaled(stiffness, card)).collect();
    }
    let masses = given_masses(spec, &nodes)?;
    let (start, v) = initial::state(spec, &nodes, masses.as_deref())?;
    let kind = spec.element.solid().unwrap_or(&LINEAR_TETS);
    let (given, rho) = (material.given[0].clone(), material.rho[0]);
    if !kind.mean_dilatation && is_nearly_incompressible(material.model, &material.given) {
        warnings.push(format!(
            "body \"{}\" is nearly incompressible, nu above {LOCKING_RATIO}: linear tets lock, which makes it far too stiff; set \
             element = \"quadratic\"",
            spec.name
        ));
    }
    let mut input = BodyInput::of(kind, nodes, &spec.name, material.model, given, rho);
    let extent = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([f64::INFINITY, 0.0], |[a, b]: [f64; 2], x| [a.min(x), b.max(x)])
    };
    let young = extent(&mut material.given.iter().map(|g| g.E));
    let density = extent(&mut material.rho.iter().copied());
    input.given = material.given;
    input.rho = material.rho;
    input.damping = spec.damping.iter().map(DampingSpec::create).collect();
    input.consistent_mass = match spec.mass {
        Mass::OfElements => kind.consistent_mass && !explicit,
        Mass::Consistent => true,
        Mass::Lumped | Mass::Given(_) => false,
    };
    input.mean_dilatation = spec.mean_dilatation;
    input.masses = masses;
    input.start = Some(start);
    input.glued = glued(spec);
    let dofs = builder.body(input).map_err(|e| spec.material.mark.error(e.to_string()))?;
    let body = BuiltBody {
        name: spec.name.clone(),
        dofs,
        model: spec.material.model.clone(),
        element: spec.element,
        young,
        lambda: None,
        density,
        shown: None,
    };
    Ok((body, v))
}

/// What holds discontinuous cells together.
fn glued(spec: &BodySpec) -> Option<Glued> {
    spec.gluing.map(|gluing| Glued {
        kind: if gluing.consistent { GluingKind::InteriorPenalty } else { GluingKind::BabuskaZlamal },
        penalty: gluing.penalty,
    })
}

/// The masses that the mesh file gives, if they are asked for.
fn given_masses(spec: &BodySpec, nodes: &Nodes) -> Result<Option<Vec<f64>>, SceneError> {
    let Mass::Given(name) = &spec.mass else { return Ok(None) };
    let mesh = nodes.mesh();
    let Some(masses) = mesh.point_data.get(name) else {
        let known: Vec<&str> = mesh.point_data.keys().map(String::as_str).collect();
        let message = suggest::unknown("point data", name, &known);
        return Err(spec.mark.error(format!("mass: {message}; only .vtu files bring point data")));
    };
    if let Some(v) = masses.iter().position(|m| !(*m > 0.0 && m.is_finite())) {
        return Err(spec
            .mark
            .error(format!("mass: vertex {v} has a mass of {} kg, which must be positive", masses[v])));
    }
    let divided = nodes.divided(masses).ok_or_else(|| {
        spec.mark.error(format!(
            "mass: point data give masses of vertices, and elements \"{}\" have nodes between them; choose lumped or consistent",
            spec.element.name()
        ))
    })?;
    Ok(Some(divided))
}

/// Adds a body of springs or triangles; returns it and its velocities.
fn add_net(
    spec: &BodySpec,
    nodes: Arc<Nodes>,
    builder: &mut ModelBuilder,
) -> Result<(BuiltBody, Vec<f64>), SceneError> {
    let net::Net { mut input, young, lambda, density } = net::net(spec, &nodes)?;
    let (start, v) = initial::state(spec, &nodes, Some(&input.masses))?;
    input.damping = spec.damping.iter().map(DampingSpec::create).collect();
    input.start = Some(start);
    input.glued = glued(spec);
    let dofs = builder.net(input);
    let body = BuiltBody {
        name: spec.name.clone(),
        dofs,
        model: spec.material.model.clone(),
        element: spec.element,
        young: [young.unwrap_or(0.0); 2],
        lambda,
        density: [density.unwrap_or(0.0); 2],
        shown: None,
    };
    Ok((body, v))
}

fn integrator(scene: &Scene) -> Result<Box<dyn lilyan_dynamics::Integrator>, SceneError> {
    let spec = &scene.integrator;
    let Some(entry) = integrators::find(&spec.name) else {
        let names: Vec<&str> = integrators::CATALOGUE.iter().map(|e| e.name).collect();
        return Err(spec.mark.error(suggest::unknown("integrator", &spec.name, &names)));
    };
    let given = spec.given()?;
    // One more at a time, so that the message points at the line of the option at fault.
    for (option, k) in spec.options.iter().zip(1..) {
        entry
            .create(&given[..k])
            .map_err(|e| option.mark.error(format!("{e} (integrator \"{}\")", entry.name)))?;
    }
    entry.create(&given).map_err(|e| spec.mark.error(e.to_string()))
}

fn probes(scene: &Scene, bodies: &[BuiltBody]) -> Result<Vec<Probe>, SceneError> {
    scene
        .probes
        .iter()
        .map(|spec| {
            let body = &bodies[spec.body];
            let size = body
                .mesh()
                .bounds()
                .map_or(1.0, |[a, b]| (0..3).map(|k| (b[k] - a[k]).powi(2)).sum::<f64>().sqrt());
            if body.is_net() {
                return Ok(nearest_node(spec, body));
            }
            match body.mesh().locate(spec.at) {
                // A probe on the surface may be outside by round-off; a wrong place is far off.
                Some(found) if found.distance <= 1e-3 * size => {
                    let weights = body.nodes().weights_at(&found).into_iter();
                    let weights = weights.map(|(n, w)| (body.dofs.global(n), w)).collect();
                    Ok(Probe { name: spec.name.clone(), weights })
                }
                Some(found) => Err(spec.mark.error(format!(
                    "the point {:?} is {:.3} m outside of body \"{}\"; give a rest position inside it",
                    spec.at, found.distance, body.name
                ))),
                None => Err(spec.mark.error("the body has no tets")),
            }
        })
        .collect()
}

/// A probe of the node nearest to its place.
fn nearest_node(spec: &ProbeSpec, body: &BuiltBody) -> Probe {
    let square = |x: &[f64; 3]| (0..3).map(|k| (x[k] - spec.at[k]).powi(2)).sum::<f64>();
    let all = (0u32..).zip(body.nodes().points());
    let nearest = all.min_by(|a, b| square(a.1).total_cmp(&square(b.1))).map_or(0, |(v, _)| v);
    Probe { name: spec.name.clone(), weights: vec![(body.dofs.global(nearest), 1.0)] }
}

fn conserved(scene: &Scene, bodies: &[BuiltBody], fitted: &[usize]) -> Conserved {
    let damping: Vec<_> = scene.bodies.iter().flat_map(|b| &b.damping).map(DampingSpec::create).collect();
    let moved = scene.pins.iter().any(|p| p.motion.as_ref().is_some_and(PinMotion::changes));
    let gravity = scene.environment.gravity.as_ref();
    let changing = gravity.is_some_and(|g| g.iter().any(|q| q.constant().is_none()));
    let pulled = gravity.is_some_and(|g| g.iter().any(|q| q.constant() != Some(0.0)));
    let guided = scene.constraints.iter().any(|c| matches!(c.kind, ConstraintKind::Surface { .. }));
    let driven = scene.constraints.iter().any(ConstraintSpec::moves)
        || scene.contacts.iter().any(|contact| contact.motion.is_some());
    let walls = scene.contacts.iter().any(|c| c.obstacle().is_some() || c.mesh.is_some());
    let free = scene.pins.is_empty()
        && scene.loads.is_empty()
        && !pulled
        && scene.environment.monopole.is_none()
        && !walls
        && !guided;
    let inside = inner_symmetry(scene, bodies, fitted);
    // The forces of a fit have a potential where the material is linear.
    let fitted_linear = fitted.iter().all(|&b| bodies[b].model == "linear");
    Conserved {
        energy: scene.loads.is_empty()
            && !moved
            && !changing
            && !driven
            && damping.is_empty()
            && !scene.contacts.iter().any(ContactSpec::has_friction)
            && fitted_linear,
        linear: free && inside.translations,
        angular: free && inside.rotations,
        damping_torque: [false, true].map(|explicit| {
            damping.iter().find(|d| !d.keeps_angular_momentum(explicit)).map(|d| d.card().name)
        }),
    }
}

fn inner_symmetry(scene: &Scene, bodies: &[BuiltBody], fitted: &[usize]) -> InnerSymmetry {
    let mut damping = scene.bodies.iter().flat_map(|b| &b.damping).map(DampingSpec::create);
    let translations = !damping.any(|d| d.is_drag());
    let indifferent = bodies
        .iter()
        .all(|b| b.is_net() || scene.materials.find(&b.model).is_some_and(|m| m.card().frame_indifferent));
    // The forces of a fit have no torque about the shape that a step starts from, which is not where every method asks for
    // them.
    InnerSymmetry { translations, rotations: translations && indifferent && fitted.is_empty() }
}

/// Reads a scene by path, or by the name of a built-in one where there is no such file (a folder of that name
/// may well hold the results of the scene).
pub fn open(name: &str, overrides: &[&str]) -> Result<Scene, SceneError> {
    match library::find(name) {
        Some(entry) if !std::path::Path::new(name).is_file() => {
            Scene::from_str_with(entry.text, &entry.origin(), overrides)
        }
        _ => Scene::from_path_with(name, overrides).map_err(|mut e| {
            if !std::path::Path::new(name).exists() {
                let names: Vec<&str> = library::SCENES.iter().map(|s| s.name).collect();
                let papers = library::PAPERS.iter().map(|s| s.name);
                let hint = suggest::did_you_mean(name, names.iter().copied().chain(papers));
                e.message = format!("there is no such file{hint}built in are: {}", names.join(", "));
            }
            e
        }),
    }
}
