//! Bars, and ways to set them moving.
#![allow(dead_code)] // each test file uses its own part

use lilyan_dynamics::{Integrator, Simulation, State, Value};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::mesh::TetMesh;
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, DampingSpec, Model, ModelBuilder};

/// E = 1e5 Pa, ν = 0.3, ρ = 1000 kg/m³: the bar of the measurements in the documentation.
pub const E: f64 = 1e5;
pub const NU: f64 = 0.3;
pub const RHO: f64 = 1000.0;

/// A homogeneous body, nothing acting on it.
pub fn body(mesh: TetMesh, material: &str) -> BodyInput {
    let material = find(material).unwrap();
    BodyInput::new("body", mesh, material, Given::from_young(E, NU).unwrap(), RHO)
}

/// A model of one body.
pub fn model(body: BodyInput) -> Model {
    let mut builder = ModelBuilder::default();
    builder.body(body).unwrap();
    builder.build()
}

/// A free bar of 2 × 0.5 × 0.5 m, `cells` along it (6 tets each, times 1 × 1 across).
pub fn bar(cells: usize, material: &str, damping: Option<DampingSpec>) -> Model {
    let mesh = box_mesh([2.0, 0.5, 0.5], [cells, 1, 1]).unwrap();
    let mut body = body(mesh, material);
    body.damping = damping.into_iter().collect();
    model(body)
}

/// Stretched along x by `stretch`, spinning about its centre of mass, which is at rest.
pub fn tumbling(model: &Model, mesh: &TetMesh, stretch: f64) -> State {
    let masses = model.node_masses();
    let total: f64 = masses.iter().sum();
    let mut center = [0.0; 3];
    for (x, m) in mesh.vertices.iter().zip(masses.iter()) {
        for k in 0..3 {
            center[k] += m * x[k] / total;
        }
    }
    let shrink = 1.0 - 0.3 * (stretch - 1.0);
    let omega = [0.3, 0.5, 2.0];
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for x in &mesh.vertices {
        let r = [
            stretch * (x[0] - center[0]),
            shrink * (x[1] - center[1]),
            shrink * (x[2] - center[2]),
        ];
        q.extend(r);
        v.extend([
            omega[1] * r[2] - omega[2] * r[1],
            omega[2] * r[0] - omega[0] * r[2],
            omega[0] * r[1] - omega[1] * r[0],
        ]);
    }
    State::new(model, q, v)
}

/// A tumbling bar under an integrator.
pub fn tumbling_bar(
    cells: usize,
    material: &str,
    damping: Option<DampingSpec>,
    integrator: Box<dyn Integrator>,
    h: f64,
) -> Simulation<Model> {
    let model = bar(cells, material, damping);
    let mesh = box_mesh([2.0, 0.5, 0.5], [cells, 1, 1]).unwrap();
    let state = tumbling(&model, &mesh, 1.15);
    Simulation::new(model, integrator, state, h)
}

/// An integrator by name with numeric options.
pub fn integrator(name: &str, options: &[(&str, f64)]) -> Box<dyn Integrator> {
    let given: Vec<(String, Value)> =
        options.iter().map(|(k, v)| (k.to_string(), Value::Number(*v))).collect();
    lilyan_dynamics::integrators::find(name).unwrap().create(&given).unwrap()
}

/// (linear drift over Σ|p|, angular drift over |L|) between two states.
pub fn momentum_drift(a: &State, b: &State) -> (f64, f64) {
    let ((p0, l0), (p1, l1)) = (a.momenta([0.0; 3]), b.momenta([0.0; 3]));
    let norm = |x: [f64; 3]| (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
    let difference = |a: [f64; 3], b: [f64; 3]| norm([a[0] - b[0], a[1] - b[1], a[2] - b[2]]);
    let moving: f64 = a.p.iter().map(|p| p.abs()).sum();
    (difference(p0, p1) / moving, difference(l0, l1) / norm(l0))
}

