//! Gravity, loads, forces and pins; everything that acts on bodies is added from here.

use super::{BuiltBody, contact, select};
use crate::document::SceneError;
use crate::schema::{LoadKind, LoadSpec, PinSpec, Quantity, Scene};
use lilyan_solid::math::{Square, project_positive};
use lilyan_solid::mesh::face_points;
use lilyan_solid::{Force, ModelBuilder, Motion, Pin, Pressure, PressureFace};
use lilyan_solve::BlockMatrix;

pub(super) fn add(scene: &Scene, bodies: &[BuiltBody], builder: &mut ModelBuilder) -> Result<(), SceneError> {
    if let Some(gravity) = &scene.environment.gravity {
        add_gravity(gravity, builder);
    }
    if let Some(monopole) = &scene.environment.monopole {
        builder.monopole(monopole.strength, monopole.at);
    }
    for contact in &scene.contacts {
        contact::add(scene, contact, bodies, builder)?;
    }
    for pin in &scene.pins {
        builder.pin(resolve_pin(pin, &bodies[pin.body])?);
    }
    for load in &scene.loads {
        add_load(load, &bodies[load.body], builder)?;
    }
    Ok(())
}

fn add_gravity(gravity: &[Quantity; 3], builder: &mut ModelBuilder) {
    let constant: Vec<f64> = gravity.iter().filter_map(Quantity::constant).collect();
    if let [x, y, z] = constant[..] {
        builder.gravity([x, y, z]);
        return;
    }
    // Gravity that changes does work: a load on every node.
    let (gravity, masses) = (gravity.clone(), builder.node_masses().to_vec());
    builder.load(Box::new(move |t, f| {
        let g: [f64; 3] = std::array::from_fn(|k| gravity[k].eval(&[t]));
        for (f, m) in f.chunks_exact_mut(3).zip(&masses) {
            for k in 0..3 {
                f[k] += m * g[k];
            }
        }
    }));
}

fn resolve_pin(spec: &PinSpec, body: &BuiltBody) -> Result<Pin, SceneError> {
    let mask = select::nodes(&spec.selector, body.nodes(), &spec.mark)?;
    let nodes = (0u32..).zip(&mask).filter(|(_, marked)| **marked).map(|(n, _)| body.dofs.global(n));
    let motion = spec.motion.clone().map(|motion| match motion.is_translation() {
        true => Motion::Translation(Box::new(move |t| motion.at(t, [0.0; 3]))),
        false => Motion::Field(Box::new(move |t, x| motion.at(t, x))),
    });
    Ok(Pin { nodes: nodes.collect(), axes: spec.axes, motion, until: spec.until.unwrap_or(f64::INFINITY) })
}

fn add_load(spec: &LoadSpec, body: &BuiltBody, builder: &mut ModelBuilder) -> Result<(), SceneError> {
    let mask = select::nodes(&spec.selector, body.nodes(), &spec.mark)?;
    let nodes = body.nodes();
    // What one unit of the load is at each node: N, m² (traction), m³ (body force), kg (acceleration).
    let weights: Vec<f64> = match spec.kind {
        LoadKind::Force => {
            let shared = mask.iter().filter(|m| **m).count() as f64;
            mask.iter().map(|m| if *m { 1.0 / shared } else { 0.0 }).collect()
        }
        LoadKind::Traction => nodes.face_weights(&mask),
        LoadKind::Pressure => return add_pressure(spec, body, &mask, builder),
        LoadKind::BodyForce if body.is_net() => {
            let masses = &builder.node_masses()[body.dofs.range()];
            let rho = body.density[0];
            if rho <= 0.0 {
                return Err(spec
                    .mark
                    .error("points with given masses have no volume; use force or acceleration"));
            }
            mask.iter().zip(masses).map(|(m, mass)| if *m { mass / rho } else { 0.0 }).collect()
        }
        LoadKind::BodyForce => {
            mask.iter().zip(nodes.volumes()).map(|(m, volume)| if *m { volume } else { 0.0 }).collect()
        }
        LoadKind::Acceleration => {
            let masses = &builder.node_masses()[body.dofs.range()];
            mask.iter().zip(masses).map(|(m, mass)| if *m { *mass } else { 0.0 }).collect()
        }
    };
    if weights.iter().all(|w| *w == 0.0) {
        return Err(no_face(spec));
    }
    let loaded: Vec<(usize, f64, [f64; 3])> = (0u32..)
        .zip(weights.into_iter().zip(nodes.points()))
        .filter(|(_, (weight, _))| *weight != 0.0)
        .map(|(n, (weight, x))| (body.dofs.unknown(n), weight, *x))
        .collect();
    let value: [Quantity; 3] = std::array::from_fn(|k| spec.value[k].clone());
    if spec.is_live() {
        builder.force(Box::new(NodalForce { loaded, value }));
        return Ok(());
    }
    builder.load(Box::new(move |t, f| {
        for (dof, weight, rest) in &loaded {
            let at = LoadPoint { x: *rest, v: [0.0; 3], rest: *rest }.values(t);
            for k in 0..3 {
                f[dof + k] += weight * value[k].eval(&at);
            }
        }
    }));
    Ok(())
}

fn no_face(spec: &LoadSpec) -> SceneError {
    spec.mark.error("`where` selects no complete face of the surface; a traction or a pressure needs one")
}

fn add_pressure(
    spec: &LoadSpec,
    body: &BuiltBody,
    mask: &[bool],
    builder: &mut ModelBuilder,
) -> Result<(), SceneError> {
    let nodes = body.nodes();
    let chosen = |face: &[u32]| face.iter().all(|v| mask[*v as usize]);
    let quadratic: Vec<[u32; 6]> =
        nodes.quadratic_faces().iter().filter(|face| chosen(*face)).copied().collect();
    if !quadratic.is_empty() {
        let at = |face: &[u32; 6]| {
            let places = face.map(|v| nodes.points()[v as usize]);
            face_points().map(|point| point.value(&places))
        };
        let rest = quadratic.iter().flat_map(at).collect();
        let faces = quadratic.iter().map(|face| body.dofs.globals(*face)).collect();
        builder.force(Box::new(Pressure { faces, value: pressure_at(spec, rest) }));
        return Ok(());
    }
    let own: Vec<[u32; 3]> = nodes.surface().triangles.iter().filter(|face| chosen(*face)).copied().collect();
    if own.is_empty() || !nodes.quadratic_faces().is_empty() {
        return Err(no_face(spec));
    }
    let centroid = |face: &[u32; 3]| -> [f64; 3] {
        let corners = face.map(|v| nodes.points()[v as usize]);
        std::array::from_fn(|k| (corners[0][k] + corners[1][k] + corners[2][k]) / 3.0)
    };
    let rest = own.iter().map(centroid).collect();
    let faces = own.iter().map(|face| body.dofs.globals(*face)).collect();
    builder.force(Box::new(Pressure { faces, value: pressure_at(spec, rest) }));
    Ok(())
}

/// The pressure at points of a surface with these places at rest, m.
fn pressure_at(
    spec: &LoadSpec,
    rest: Vec<[f64; 3]>,
) -> impl Fn(f64, &PressureFace) -> f64 + Send + Sync + 'static {
    let pressure = spec.value[0].clone();
    move |t: f64, face: &PressureFace| {
        pressure.eval(&LoadPoint { x: face.x, v: face.v, rest: rest[face.index] }.values(t))
    }
}

/// What formulas of loads may depend on, beside time.
pub struct LoadPoint {
    /// Present position, m.
    pub x: [f64; 3],
    /// Velocity, m/s.
    pub v: [f64; 3],
    /// Rest position, m.
    pub rest: [f64; 3],
}

impl LoadPoint {
    /// The values of [`crate::schema::LOAD_POINT`].
    pub fn values(&self, t: f64) -> [f64; 10] {
        let Self { x, v, rest } = self;
        [x[0], x[1], x[2], v[0], v[1], v[2], rest[0], rest[1], rest[2], t]
    }
}

/// Forces on nodes by formulas of place and velocity.
struct NodalForce {
    /// First unknown of a node, what one unit of the load is there, and its rest position, m.
    loaded: Vec<(usize, f64, [f64; 3])>,
    value: [Quantity; 3],
}

impl NodalForce {
    /// Each node with its weight and the values of the variables.
    fn points(&self, t: f64, q: &[f64], v: &[f64]) -> impl Iterator<Item = (usize, f64, [f64; 10])> {
        self.loaded.iter().map(move |&(dof, weight, rest)| {
            let of = |x: &[f64]| [x[dof], x[dof + 1], x[dof + 2]];
            (dof, weight, LoadPoint { x: of(q), v: of(v), rest }.values(t))
        })
    }
}

impl Force for NodalForce {
    fn add(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        for (dof, weight, at) in self.points(t, q, v) {
            (0..3).for_each(|k| f[dof + k] += weight * self.value[k].eval(&at));
        }
    }

    /// The symmetric part of −∂f/∂v, without its negative eigenvalues.
    fn add_damping_matrix(&self, t: f64, q: &[f64], v: &[f64], d: &mut BlockMatrix) {
        if !self.value.iter().any(|q| (3..6).any(|k| q.depends_on(k))) {
            return;
        }
        for (dof, weight, at) in self.points(t, q, v) {
            let slope = |i: usize, j: usize| self.value[i].eval_dual(&at, 3 + j).1;
            let symmetric = |i: usize, j: usize| -0.5 * weight * (slope(i, j) + slope(j, i));
            let block: Square<3> = std::array::from_fn(|i| std::array::from_fn(|j| symmetric(i, j)));
            if block.iter().flatten().all(|x| x.is_finite()) {
                let positive = project_positive(&block);
                d.add_block(dof / 3, dof / 3, &std::array::from_fn(|n| positive[n / 3][n % 3]));
            }
        }
    }
}
