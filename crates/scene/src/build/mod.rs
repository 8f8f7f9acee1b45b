//! From a scene to a simulation that can be stepped.

mod acting;
mod constrain;
mod display;
pub(crate) mod fit;
mod initial;
pub(crate) mod material;
mod net;
pub(crate) mod select;
pub(crate) mod shape;
mod sound;

pub use constrain::BuiltConstraint;
pub use display::{Shown, harmonic_name};

use crate::document::SceneError;
use crate::library;
use crate::schema::{BodySpec, Damping, Element, Mass, OptionValue, ProbeSpec, Quantity, Scene, Strength};
use crate::suggest;
use lilyan_dynamics::{Simulation, State, Value, integrators};
use lilyan_solid::elements::GluingKind;
use lilyan_solid::mesh::{Surface, TetMesh};
use lilyan_solid::{BodyInput, DampingSpec, Glued, Model, ModelBuilder};

/// A body as built.
pub struct BuiltBody {
    /// Its name.
    pub name: String,
    /// Rest shape.
    pub mesh: TetMesh,
    /// Its surface.
    pub surface: Surface,
    /// First global node.
    pub first_node: usize,
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
        self.mesh.tets.is_empty() || self.element == Element::Springs
    }

    /// Whether a global node is its own.
    pub fn has(&self, node: u32) -> bool {
        (self.first_node..self.first_node + self.mesh.vertices.len()).contains(&(node as usize))
    }
}

/// A point that is followed.
pub struct Probe {
    /// Heads its columns.
    pub name: String,
    /// Global nodes of the tet that holds it.
    pub nodes: [u32; 4],
    /// Their weights.
    pub weights: [f64; 4],
}

impl Probe {
    /// Where it is.
    pub fn place(&self, q: &[f64]) -> [f64; 3] {
        let mut x = [0.0; 3];
        for (n, w) in self.nodes.iter().zip(self.weights) {
            for k in 0..3 {
                x[k] += w * q[3 * *n as usize + k];
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
    /// The damping, evaluated between the ends of a step, leaves angular momentum alone as well.
    pub damping_keeps_angular: bool,
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
    /// What readers and meshers had to say.
    pub notes: Vec<String>,
    /// What is probably not meant.
    pub warnings: Vec<String>,
}

/// Builds the scene.
pub fn build(scene: &Scene) -> Result<Built, SceneError> {
    let integrator = integrator(scene)?;
    let mut builder = ModelBuilder::default();
    let mut bodies: Vec<BuiltBody> = Vec::new();
    let (mut notes, mut warnings) = (Vec::new(), scene.warnings.clone());
    let mut velocity = Vec::new();
    let mut fits = Vec::new();
    for (i, spec) in scene.bodies.iter().enumerate() {
        let form = shape::form(scene, spec, &mut notes)?;
        let fit = fit::resolve(scene, i, &form.mesh, &mut notes, &mut warnings)?;
        let net = form.mesh.tets.is_empty() || spec.element == Element::Springs;
        let (mut body, v) = match net {
            true => add_net(spec, form, &mut builder)?,
            false => add_solid(spec, form, fit.stiffness, &mut builder)?,
        };
        if !body.is_net() {
            body.shown = display::shown(scene, spec, &body.mesh, &mut notes)?;
        }
        fits.push(fit);
        velocity.extend(v);
        bodies.push(body);
    }
    acting::add(scene, &bodies, &mut builder)?;
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
    sound::state(scene, &bodies, &model, &state)?;
    constrain::start(scene, &constraints, &model, &mut state, &mut notes)?;
    Ok(Built {
        conserved: conserved(scene, &bodies, &fitted),
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
    spec: &BodySpec,
    form: shape::Form,
    stiffness: f64,
    builder: &mut ModelBuilder,
) -> Result<(BuiltBody, Vec<f64>), SceneError> {
    let glued = glued(spec, &form);
    let shape::Form { mesh, surface, .. } = form;
    let mut material = material::material(spec, &mesh, &surface)?;
    if stiffness != 1.0 {
        let card = material.model.card();
        material.given = material.given.into_iter().map(|g| g.scaled(stiffness, card)).collect();
    }
    let masses = given_masses(spec, &mesh)?;
    let (start, v) = initial::state(spec, &mesh, masses.as_deref())?;
    let mut input =
        BodyInput::new(&spec.name, mesh, material.model, material.given[0].clone(), material.rho[0]);
    let extent = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([f64::INFINITY, 0.0], |[a, b]: [f64; 2], x| [a.min(x), b.max(x)])
    };
    let young = extent(&mut material.given.iter().map(|g| g.E));
    let density = extent(&mut material.rho.iter().copied());
    input.given = material.given;
    input.rho = material.rho;
    input.damping = spec.damping.iter().map(damping).collect();
    input.consistent_mass = spec.mass == Mass::Consistent;
    input.masses = masses;
    input.start = Some(start);
    input.surface = glued.as_ref().map(|_| surface.clone());
    input.glued = glued;
    let mesh = input.mesh.clone();
    let nodes = builder.body(input).map_err(|e| spec.material.mark.error(e))?;
    let body = BuiltBody {
        name: spec.name.clone(),
        mesh,
        surface,
        first_node: nodes.start,
        model: spec.material.model.clone(),
        element: spec.element,
        young,
        lambda: None,
        density,
        shown: None,
    };
    Ok((body, v))
}

/// What holds the cells of a split body together.
fn glued(spec: &BodySpec, form: &shape::Form) -> Option<Glued> {
    spec.gluing.map(|gluing| Glued {
        faces: form.faces.clone(),
        kind: if gluing.consistent { GluingKind::InteriorPenalty } else { GluingKind::BabuskaZlamal },
        penalty: gluing.penalty,
    })
}

/// The masses that the mesh file gives, if they are asked for.
fn given_masses(spec: &BodySpec, mesh: &TetMesh) -> Result<Option<Vec<f64>>, SceneError> {
    let Mass::Given(name) = &spec.mass else { return Ok(None) };
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
    Ok(Some(masses.clone()))
}

/// Adds a body of springs or triangles; returns it and its velocities.
fn add_net(
    spec: &BodySpec,
    form: shape::Form,
    builder: &mut ModelBuilder,
) -> Result<(BuiltBody, Vec<f64>), SceneError> {
    let net::Net { mut input, young, lambda, density } = net::net(spec, &form)?;
    let (start, v) = initial::state(spec, &form.mesh, Some(&input.masses))?;
    input.damping = spec.damping.iter().map(damping).collect();
    input.start = Some(start);
    input.glued = glued(spec, &form);
    let nodes = builder.net(input);
    let body = BuiltBody {
        name: spec.name.clone(),
        mesh: form.mesh,
        surface: form.surface,
        first_node: nodes.start,
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
    let mut given = Vec::new();
    for option in &spec.options {
        let value = match &option.value {
            OptionValue::Number(x) => Value::Number(*x),
            OptionValue::Bool(b) => Value::Flag(*b),
            OptionValue::Text(t) => Value::Word(t.clone()),
            OptionValue::Numbers(_) => {
                return Err(option.mark.error("give one value, not a list"));
            }
        };
        given.push((option.key.clone(), value));
        // One at a time, so that the message points at the line of the option at fault.
        entry
            .create(&given)
            .map_err(|e| option.mark.error(format!("{e} (integrator \"{}\")", entry.name)))?;
    }
    entry.create(&given).map_err(|e| spec.mark.error(e))
}

fn damping(spec: &Damping) -> DampingSpec {
    match *spec {
        Damping::Viscous { time } => DampingSpec::Viscous { time },
        Damping::Kharevych { strength, implicit } => {
            let (Strength::Time(time) | Strength::Coefficient(time)) = strength;
            DampingSpec::Kharevych { time, implicit }
        }
        Damping::Rayleigh { alpha, beta } => DampingSpec::Rayleigh { alpha, beta },
    }
}

fn probes(scene: &Scene, bodies: &[BuiltBody]) -> Result<Vec<Probe>, SceneError> {
    scene
        .probes
        .iter()
        .map(|spec| {
            let body = &bodies[spec.body];
            let size = body
                .mesh
                .bounds()
                .map_or(1.0, |[a, b]| (0..3).map(|k| (b[k] - a[k]).powi(2)).sum::<f64>().sqrt());
            if body.is_net() {
                return Ok(nearest_node(spec, body));
            }
            match body.mesh.locate(spec.at) {
                // A probe on the surface may be outside by round-off; a wrong place is far off.
                Some(found) if found.distance <= 1e-3 * size => Ok(Probe {
                    name: spec.name.clone(),
                    nodes: body.mesh.tets[found.tet].map(|v| v + body.first_node as u32),
                    weights: found.barycentric,
                }),
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
    let all = body.mesh.vertices.iter().enumerate();
    let nearest = all.min_by(|a, b| square(a.1).total_cmp(&square(b.1))).map_or(0, |(v, _)| v);
    Probe {
        name: spec.name.clone(),
        nodes: [(body.first_node + nearest) as u32; 4],
        weights: [1.0, 0.0, 0.0, 0.0],
    }
}

fn conserved(scene: &Scene, bodies: &[BuiltBody], fitted: &[usize]) -> Conserved {
    let damped = scene.bodies.iter().any(|b| !b.damping.is_empty());
    let drag = scene
        .bodies
        .iter()
        .flat_map(|b| &b.damping)
        .any(|d| matches!(d, Damping::Rayleigh { alpha, .. } if *alpha != 0.0));
    let leads = |m: &[Quantity; 3]| m.iter().any(|q| q.constant().is_none());
    let moved = scene.pins.iter().any(|p| p.motion.as_ref().is_some_and(leads));
    let gravity = scene.environment.gravity.as_ref();
    let changing = gravity.is_some_and(|g| g.iter().any(|q| q.constant().is_none()));
    let pulled = gravity.is_some_and(|g| g.iter().any(|q| q.constant() != Some(0.0)));
    use crate::schema::ContactKind::{Plane, Sphere};
    let walls = scene.contacts.iter().any(|c| matches!(c.kind, Plane { .. } | Sphere { .. }));
    let free = scene.pins.is_empty()
        && scene.loads.is_empty()
        && !pulled
        && scene.environment.monopole.is_none()
        && !walls
        && !drag;
    let indifferent = bodies.iter().all(|b| {
        b.is_net() || lilyan_solid::materials::find(&b.model).is_some_and(|m| m.card().frame_indifferent)
    });
    // The forces of a fit have a potential where the material is linear, and no torque about the shape that a step
    // starts from, which is not where every method asks for them.
    let fitted: Vec<&BuiltBody> = fitted.iter().map(|&b| &bodies[b]).collect();
    Conserved {
        energy: scene.loads.is_empty()
            && !moved
            && !changing
            && !damped
            && fitted.iter().all(|b| b.model == "linear"),
        linear: free,
        angular: free && indifferent && fitted.is_empty(),
        damping_keeps_angular: !scene
            .bodies
            .iter()
            .flat_map(|b| &b.damping)
            .any(|d| matches!(d, Damping::Kharevych { implicit: true, .. })),
    }
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
                let hint = suggest::did_you_mean(name, names.iter().copied());
                e.message = format!("there is no such file{hint}built in are: {}", names.join(", "));
            }
            e
        }),
    }
}
