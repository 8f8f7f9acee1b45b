//! Distances, volumes and surfaces that are kept exactly.

use super::{BuiltBody, select};
use crate::document::SceneError;
use crate::schema::{ConstraintKind, ConstraintSpec, EndAt, EndSpec, Quantity, Reference, Scene, Selector};
use lilyan_dynamics::constraints::{self, Distance, OnSurface, RodLength, StartError, SurfaceEquation};
use lilyan_dynamics::{Constraint, State, System};
use lilyan_solid::elements::Springs;
use lilyan_solid::{Body, Model, ModelBuilder, Volume};
use std::ops::Range;
use std::sync::Arc;

/// The constraints that one `[[constraint]]` stands for.
pub struct BuiltConstraint {
    /// Heads its columns.
    pub name: String,
    /// Places in the list of the model.
    pub range: Range<usize>,
    /// Area (m²) by which the force is divided for a pressure; absent for distances.
    pub area: Option<f64>,
}

pub(super) fn add(
    scene: &Scene,
    bodies: &[BuiltBody],
    builder: &mut ModelBuilder,
) -> Result<Vec<BuiltConstraint>, SceneError> {
    let start = builder.start().to_vec();
    let mut built: Vec<BuiltConstraint> = Vec::new();
    let mut first = 0;
    for (k, spec) in scene.constraints.iter().enumerate() {
        let made = make(spec, bodies, builder, &start)?;
        let (fallback, area) = match &spec.kind {
            ConstraintKind::Distance { .. } => (format!("rod{k}"), None),
            ConstraintKind::Surface { .. } => (format!("surface{k}"), None),
            ConstraintKind::Edges { body, .. } => (format!("edges of {}", bodies[*body].name), None),
            ConstraintKind::Volume { body } => (format!("volume of {}", bodies[*body].name), made.area),
            ConstraintKind::Elements { body, .. } => (format!("elements of {}", bodies[*body].name), None),
        };
        let name = spec.name.clone().unwrap_or(fallback);
        if built.iter().any(|b| b.name == name) {
            return Err(spec.mark.error(format!(
                "there are two constraints called \"{name}\"; they head columns, so give each its own `name`"
            )));
        }
        let range = first..first + made.list.len();
        first = range.end;
        for constraint in made.list {
            builder.constraint(constraint);
        }
        built.push(BuiltConstraint { name, range, area });
    }
    Ok(built)
}

struct ConstraintList {
    list: Vec<Box<dyn Constraint>>,
    area: Option<f64>,
}

fn make(
    spec: &ConstraintSpec,
    bodies: &[BuiltBody],
    builder: &ModelBuilder,
    start: &[f64],
) -> Result<ConstraintList, SceneError> {
    let until = spec.until.unwrap_or(f64::INFINITY);
    let places = |body: &BuiltBody| -> Vec<[f64; 3]> {
        match spec.reference {
            Reference::Rest => body.nodes().points().to_vec(),
            Reference::Start => body.dofs.vectors(start),
        }
    };
    let volume = |body: &BuiltBody, tets: &[[u32; 4]], name: &str| -> Result<Volume, SceneError> {
        let places = places(body);
        let volume: f64 = tets.iter().map(|t| signed_volume(t.map(|v| places[v as usize]))).sum();
        if !(volume > 0.0 && volume.is_finite()) {
            return Err(spec.mark.error(format!("the {name} is {volume:e} m³ and cannot be kept")));
        }
        let global: Vec<[u32; 4]> = tets.iter().map(|t| body.dofs.globals(*t)).collect();
        Ok(Volume::new(name, &global, volume, until))
    };
    match &spec.kind {
        ConstraintKind::Distance { between, length } => {
            let [a, b] = [node(spec, &between[0], bodies)?, node(spec, &between[1], bodies)?];
            let ends = [(a, &bodies[between[0].body]), (b, &bodies[between[1].body])];
            let [x, y] = ends.map(|(v, body)| places(body)[v as usize]);
            let apart = (0..3).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>().sqrt();
            let length = rod_length(length.as_ref(), apart);
            let global = ends.map(|(v, body)| body.dofs.global(v));
            if length.at(0.0).0 <= 0.0 && apart > 0.0 {
                return Err(spec.mark.error("`length` is not positive at t = 0; change the formula"));
            }
            if global[0] == global[1] || length.at(0.0).0 <= 0.0 {
                return Err(spec.mark.error(format!(
                    "`between` finds vertex {a} of body \"{}\" for both ends; give points that are further apart",
                    ends[0].1.name
                )));
            }
            let name = format!(
                "between vertex {a} of body \"{}\" and vertex {b} of body \"{}\"",
                ends[0].1.name, ends[1].1.name
            );
            let rod = Distance { name, between: global, length, until };
            Ok(ConstraintList { list: vec![Box::new(rod)], area: None })
        }
        ConstraintKind::Edges { body: number, selector } => {
            let body = &bodies[*number];
            let mask = select::nodes(selector, body.nodes(), &spec.mark)?;
            let places = places(body);
            let mut list: Vec<Box<dyn Constraint>> = Vec::new();
            for [a, b] in edges(body, &builder.bodies()[*number]) {
                if !(mask[a as usize] && mask[b as usize]) {
                    continue;
                }
                let [x, y] = [a, b].map(|v| places[v as usize]);
                let length = (0..3).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>().sqrt();
                let name = format!("between vertices {a} and {b} of body \"{}\"", body.name);
                let between = body.dofs.globals([a, b]);
                list.push(Box::new(Distance { name, between, length: RodLength::Fixed(length), until }));
            }
            if list.is_empty() {
                return Err(spec.mark.error(format!(
                    "finds no edge of springs or triangles in body \"{}\" there; give `between` for single distances",
                    body.name
                )));
            }
            Ok(ConstraintList { list, area: None })
        }
        ConstraintKind::Surface { body, selector, equation } => {
            on_surface(spec, &bodies[*body], selector, equation, start)
        }
        ConstraintKind::Volume { body } => {
            let body = &bodies[*body];
            let name = format!("volume of body \"{}\"", body.name);
            if body.nodes().tets().is_empty() {
                return Err(spec.mark.error(format!("body \"{}\" has no tets and no volume", body.name)));
            }
            let volume = volume(body, body.nodes().tets(), &name)?;
            let area = Some(volume.area());
            Ok(ConstraintList { list: vec![Box::new(volume)], area })
        }
        ConstraintKind::Elements { body, selector } => {
            let body = &bodies[*body];
            let mask = select::tets(selector, body.nodes(), &spec.mark)?;
            let mut list: Vec<Box<dyn Constraint>> = Vec::new();
            for (e, tet) in body.nodes().tets().iter().enumerate().filter(|(e, _)| mask[*e]) {
                let name = format!("volume of element {e} of body \"{}\"", body.name);
                list.push(Box::new(volume(body, &[*tet], &name)?));
            }
            if list.is_empty() {
                return Err(spec.mark.error("`where` selects no element; widen it"));
            }
            Ok(ConstraintList { list, area: None })
        }
    }
}

fn rod_length(given: Option<&Quantity>, apart: f64) -> RodLength {
    match given {
        None => RodLength::Fixed(apart),
        Some(Quantity::Number(length)) => RodLength::Fixed(*length),
        Some(formula) => {
            let formula = formula.clone();
            RodLength::Timed(Arc::new(move |t| formula.eval_dual(&[t], 0)))
        }
    }
}

/// A surface by a formula of x, y, z, t.
struct FormulaSurface(Quantity);

impl SurfaceEquation for FormulaSurface {
    fn value(&self, t: f64, [x, y, z]: [f64; 3]) -> f64 {
        self.0.eval(&[x, y, z, t])
    }
    fn gradient(&self, t: f64, [x, y, z]: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|k| self.0.eval_dual(&[x, y, z, t], k).1)
    }
    fn rate(&self, t: f64, [x, y, z]: [f64; 3]) -> f64 {
        self.0.eval_dual(&[x, y, z, t], 3).1
    }
    fn moves(&self) -> bool {
        self.0.depends_on(3)
    }
}

/// One constraint for each selected vertex.
fn on_surface(
    spec: &ConstraintSpec,
    body: &BuiltBody,
    selector: &Selector,
    equation: &Quantity,
    start: &[f64],
) -> Result<ConstraintList, SceneError> {
    let mask = select::nodes(selector, body.nodes(), &spec.mark)?;
    let equation: Arc<dyn SurfaceEquation> = Arc::new(FormulaSurface(equation.clone()));
    let scale =
        body.mesh().bounds().map_or(1.0, |[a, b]| (0..3).map(|k| (b[k] - a[k]).powi(2)).sum::<f64>().sqrt());
    let mut list: Vec<Box<dyn Constraint>> = Vec::new();
    for (v, x) in (0u32..).zip(body.dofs.vectors(start)).filter(|(v, _)| mask[*v as usize]) {
        let slope = equation.gradient(0.0, x).iter().map(|d| d * d).sum::<f64>().sqrt();
        if !(slope > 0.0 && slope.is_finite()) {
            return Err(spec.mark.error(format!(
                "the gradient of `equation` is {slope} at vertex {v} of body \"{}\" at the start, and gives the force no \
                 direction; write the equation such that its gradient does not vanish on the surface",
                body.name
            )));
        }
        let name = format!("place of vertex {v} of body \"{}\" on its surface", body.name);
        let (node, until) = (body.dofs.global(v), spec.until.unwrap_or(f64::INFINITY));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        list.push(Box::new(OnSurface { name, node, equation: equation.clone(), slope, scale, until }));
    }
    Ok(ConstraintList { list, area: None })
}

/// Springs of a net, or else the edges of its triangles, in its own vertices, each once.
fn edges(body: &BuiltBody, model: &Body) -> Vec<[u32; 2]> {
    let springs = model.find::<Springs>().map_or(&[][..], Springs::list);
    let own = springs.iter().filter_map(|s| {
        let [a, b] = s.ends.map(|n| body.dofs.local(n));
        Some([a?, b?])
    });
    let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let mut edges: Vec<[u32; 2]> = match body.is_net() {
        true if springs.is_empty() => body.nodes().surface().triangles.iter().flat_map(sides).collect(),
        true => own.collect(),
        false => Vec::new(),
    };
    edges.iter_mut().for_each(|e| e.sort_unstable());
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn signed_volume(x: [[f64; 3]; 4]) -> f64 {
    let [a, b, c] = [1, 2, 3].map(|i| -> [f64; 3] { std::array::from_fn(|k| x[i][k] - x[0][k]) });
    let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
    (a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]) / 6.0
}

fn node(spec: &ConstraintSpec, end: &EndSpec, bodies: &[BuiltBody]) -> Result<u32, SceneError> {
    let body = &bodies[end.body];
    let count = body.nodes().len();
    match end.at {
        EndAt::Vertex(v) if (v as usize) < count => Ok(v),
        EndAt::Vertex(v) => Err(spec.mark.error(format!(
            "body \"{}\" has no vertex {v}; they go from 0 to {}",
            body.name,
            count.saturating_sub(1)
        ))),
        EndAt::Nearest(point) => {
            let distance = |x: &[f64; 3]| (0..3).map(|k| (x[k] - point[k]).powi(2)).sum::<f64>();
            let places = body.nodes().points().iter().map(distance).enumerate();
            let nearest = places.min_by(|a, b| a.1.total_cmp(&b.1));
            nearest.map(|(v, _)| v as u32).ok_or_else(|| spec.mark.error("the body has no vertices"))
        }
    }
}

/// Refuses constraints that cannot be kept; puts the velocities at the start right, and says so.
pub(super) fn start(
    scene: &Scene,
    built: &[BuiltConstraint],
    model: &Model,
    state: &mut State,
    notes: &mut Vec<String>,
) -> Result<(), SceneError> {
    if built.is_empty() {
        return Ok(());
    }
    let count = model.abilities().constraints().len();
    notes.push(format!(
        "{count} constraint{} kept exactly",
        if count == 1 { "" } else { "s, none of them redundant," },
    ));
    let changed = constraints::start(model, state).map_err(|e| refusal(scene, built, model, state, &e))?;
    let speed = state.v.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if changed > 1e-9 * speed.max(1e-9) {
        notes.push(format!(
            "initial velocities were changed by up to {changed:.3e} m/s so that they agree with the constraints"
        ));
    }
    Ok(())
}

fn refusal(
    scene: &Scene,
    built: &[BuiltConstraint],
    model: &Model,
    state: &State,
    error: &StartError,
) -> SceneError {
    let spec = |i: usize| {
        let k = built.iter().position(|b| b.range.contains(&i)).unwrap_or(0);
        &scene.constraints[k]
    };
    let name = |i: usize| model.abilities().constraints()[i].name().to_string();
    let elements = |i: usize| matches!(spec(i).kind, ConstraintKind::Elements { .. });
    let locking = "linear tets lock when each keeps its volume, since a mesh has more tets than vertices to move; \
                   leave out `each` to keep the volume of the whole body, or select fewer elements with `where`";
    match error {
        StartError::Violated { which, excess } => {
            let c = &model.abilities().constraints()[*which];
            if let ConstraintKind::Surface { .. } = spec(*which).kind {
                return spec(*which).mark.error(format!(
                    "the {} is off by {:.3e} m at the start; change `equation`, `where`, or the place of the body",
                    name(*which),
                    c.value(state.t, &state.q).abs()
                ));
            }
            let is = match spec(*which).kind {
                ConstraintKind::Distance { .. } | ConstraintKind::Edges { .. } => {
                    // g = (l² − s²)/2l
                    let (l, g) = (c.scale(), c.value(state.t, &state.q));
                    format!("length = {}, or ", (l * l - 2.0 * l * g).max(0.0).sqrt())
                }
                _ => String::new(),
            };
            spec(*which).mark.error(format!(
                "the {} is off by {:.3} % at the start; write {is}reference = \"start\" to keep what it starts with",
                distance_or(&name(*which)),
                100.0 * excess
            ))
        }
        StartError::Held { which } => spec(*which).mark.error(format!(
            "the {} concerns pinned vertices only, which stay where they are without it; leave it out",
            distance_or(&name(*which))
        )),
        StartError::TooMany { constraints, free } => {
            let many = built.iter().max_by_key(|b| b.range.len()).map_or(0, |b| b.range.start);
            let remedy = if elements(many) { locking } else { "leave some out, or pin less" };
            spec(many).mark.error(format!(
                "{constraints} constraints hold only {free} unknowns that are free to move: {remedy}"
            ))
        }
        StartError::Redundant { which } => {
            let (first, on) = &which[0];
            let others: Vec<String> = on.iter().take(4).map(|&j| distance_or(&name(j))).collect();
            let more = if on.len() > 4 { format!(" and {} others", on.len() - 4) } else { String::new() };
            let from = match others.is_empty() {
                true => String::new(),
                false => format!(" from the {}{more}", others.join(", the ")),
            };
            let again = match which.len() {
                1 => String::new(),
                n => format!("; {} more are redundant too", n - 1),
            };
            let remedy = if elements(*first) { locking } else { "leave it out" };
            spec(*first).mark.error(format!(
                "the {} follows{from}{again}, so that the forces would not be unique: {remedy}",
                distance_or(&name(*first))
            ))
        }
    }
}

/// Names of rods begin with "between"; those of volumes say what they are.
fn distance_or(name: &str) -> String {
    if name.starts_with("between") { format!("distance {name}") } else { name.to_string() }
}
