//! Bars, and ways to set them moving.
#![allow(dead_code)] // each test file uses its own part

use lilyan_dynamics::integrators::{CATALOGUE, Claims};
use lilyan_dynamics::{Integrator, Simulation, State, System, Value};
use lilyan_solid::damping::Damping;
use lilyan_solid::materials::{Given, find};
use lilyan_solid::mesh::Mesh;
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, Model, ModelBuilder};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, Modes, largest_eigenvalue, lowest_modes};
use std::sync::Arc;

/// E = 1e5 Pa, ν = 0.3, ρ = 1000 kg/m³: the bar of the measurements in the documentation.
pub const E: f64 = 1e5;
pub const NU: f64 = 0.3;
pub const RHO: f64 = 1000.0;

/// A homogeneous body, nothing acting on it.
pub fn body(mesh: Mesh, material: &str) -> BodyInput {
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
pub fn bar(cells: usize, material: &str, damping: Option<Arc<dyn Damping>>) -> Model {
    let mesh = box_mesh([2.0, 0.5, 0.5], [cells, 1, 1]).unwrap();
    let mut body = body(mesh, material);
    body.damping = damping.into_iter().collect();
    model(body)
}

/// Stretched along x by `stretch`, spinning about its centre of mass, which is at rest.
pub fn tumbling(model: &Model, mesh: &Mesh, stretch: f64) -> State {
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
        let r = [stretch * (x[0] - center[0]), shrink * (x[1] - center[1]), shrink * (x[2] - center[2])];
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
    damping: Option<Arc<dyn Damping>>,
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

/// Calls `test(name, make, claims)` for every integrator in the catalogue with every variant, solved
/// to `tolerance` where it solves anything.
pub fn each_integrator(tolerance: f64, mut test: impl FnMut(&str, &dyn Fn() -> Box<dyn Integrator>, Claims)) {
    for entry in CATALOGUE {
        for mut given in entry.all_variants() {
            let options: Vec<String> = given.iter().map(|(k, v)| format!("{k} = {v}")).collect();
            let name = format!("{} {}", entry.name, options.join(", "));
            if entry.options.iter().any(|o| o.name == "tolerance") {
                given.push(("tolerance".into(), Value::Number(tolerance)));
            }
            let make = || entry.create(&given).unwrap();
            let claims = make().claims();
            test(name.trim_end(), &make, claims);
        }
    }
}

/// A material that the integrator of that name takes: most take any.
pub fn suited(integrator: &str, otherwise: &'static str) -> &'static str {
    match integrator.split(' ').next() {
        Some("corotational-reversible") => "co-rotational",
        Some("regularized") => "stvk",
        _ => otherwise,
    }
}

/// ∇²W at q.
pub fn stiffness(model: &Model, q: &[f64]) -> BlockMatrix {
    let mut k = BlockMatrix::zeros(model.pattern().clone());
    model.hessian(0.0, q, Curvature::Exact, &mut k);
    k
}

/// 2/ω_max at q, s: the longest stable step of `verlet`.
pub fn explicit_limit(model: &Model, q: &[f64]) -> f64 {
    let k = stiffness(model, q);
    let mut held = vec![false; q.len()];
    model.abilities().mark_prescribed(0.0, &mut held);
    let mut apply = |x: &[f64], y: &mut [f64]| k.mul_vec(x, y);
    2.0 / largest_eigenvalue(&mut apply, model.mass().diagonal(), &held, 1e-6).sqrt()
}

/// The lowest modes at q.
pub fn modes(model: &Model, q: &[f64], count: usize) -> Modes {
    let mut m = BlockMatrix::zeros(model.pattern().clone());
    model.mass().add_to(&mut m);
    let mut held = vec![false; q.len()];
    model.abilities().mark_prescribed(0.0, &mut held);
    lowest_modes(&stiffness(model, q), &m, &held, count, 1e-10).unwrap()
}

/// The first mode at q that is not a rigid motion: (ω, shape).
pub fn first_mode(model: &Model, q: &[f64]) -> (f64, Vec<f64>) {
    let modes = modes(model, q, 8);
    let scale = modes.values[7];
    let first = modes.values.iter().position(|l| *l > 1e-6 * scale).unwrap();
    (modes.values[first].sqrt(), modes.vectors[first].clone())
}

/// Kinetic plus potential energy, J.
pub fn energy(model: &Model, state: &State) -> f64 {
    state.kinetic(model) + model.energy(state.t, &state.q)
}

/// Positions as one vector.
pub fn flat(vertices: &[[f64; 3]]) -> Vec<f64> {
    vertices.iter().flatten().copied().collect()
}

/// max |aᵢ − bᵢ|.
pub fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()))
}

/// Whether the long forms are asked for (`LILYAN_LONG=1`).
pub fn long() -> bool {
    std::env::var_os("LILYAN_LONG").is_some_and(|v| v == "1")
}

/// Numbers in [−1, 1) that are the same in every run (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        bits as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Centre of tet e.
pub fn centre(mesh: &Mesh, e: usize) -> [f64; 3] {
    std::array::from_fn(|k| 0.25 * mesh.corners(e).iter().map(|x| x[k]).sum::<f64>())
}

/// The mesh without some of its tets, by their centres, and without the vertices of these alone.
pub fn carved(mesh: &Mesh, gone: impl Fn([f64; 3]) -> bool) -> Mesh {
    let kept = (0..mesh.tets().len()).filter(|e| !gone(centre(mesh, *e))).map(|e| mesh.tets()[e]);
    let (mut number, mut vertices) = (vec![None; mesh.vertices.len()], Vec::new());
    let mut renumbered = |v: u32| {
        *number[v as usize].get_or_insert_with(|| {
            vertices.push(mesh.vertices[v as usize]);
            vertices.len() as u32 - 1
        })
    };
    let tets = kept.map(|t| t.map(&mut renumbered)).collect();
    Mesh::new(vertices, tets)
}
