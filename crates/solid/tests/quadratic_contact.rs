//! Contact of quadratic tets: patch tests, derivatives, and impacts that keep energy and momenta.
#![allow(non_snake_case)] // Young's modulus is E

mod common;

use common::{Random, energy, integrator, momentum_drift, stiffness};
use lilyan_dynamics::{Simulation, State, System};
use lilyan_solid::contact::barrier::Barrier;
use lilyan_solid::contact::{ContactModel, ContactPair, ObstacleShape, Penalty};
use lilyan_solid::elements::{LINEAR_TETS, QUADRATIC_TETS, SolidKind};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::mesh::{Mesh, Nodes};
use lilyan_solid::meshing::{Diagonals, box_mesh_with, curve_ellipsoid, sphere};
use lilyan_solid::{BodyInput, Model, ModelBuilder};
use std::sync::Arc;

const E: f64 = 1e5;
const NU: f64 = 0.3;
/// Pa.
const PRESSURE: f64 = 2e3;

fn body(kind: &'static SolidKind, mesh: Mesh, material: &str) -> BodyInput {
    let nodes: Nodes = (kind.nodes)(Arc::new(mesh));
    BodyInput::of(kind, nodes, "body", find(material).unwrap(), Given::from_young(E, NU).unwrap(), 1000.0)
}

/// A unit cube at `z` whose inner vertices are moved by a fifth of a cell.
fn block(cells: [usize; 3], z: f64) -> Mesh {
    let mut mesh = box_mesh_with([1.0; 3], cells, Diagonals::Mirrored).unwrap();
    let mut random = Random(11);
    for x in &mut mesh.vertices {
        if x.iter().all(|c| *c > 1e-9 && *c < 1.0 - 1e-9) {
            x.iter_mut().for_each(|c| *c += 0.07 * random.number());
        }
        x[2] += z;
    }
    mesh
}

/// A ball with curved faces.
fn ball() -> Mesh {
    let mut mesh = sphere(0.3, 0.2).unwrap();
    curve_ellipsoid(&mut mesh, [0.3; 3]);
    assert_eq!(mesh.straighten_inverted(), 0);
    mesh
}

fn barrier(distance: f64, modulus: f64) -> Arc<dyn ContactModel> {
    Arc::new(Barrier { distance, modulus: Some(modulus), moduli: Vec::new(), friction: None })
}

/// The largest force that is left over inside and at the contact, of blocks under uniform pressure from above, as a part of the
/// largest force of the contact on a node. Each block begins at a height and is moved by some lift, m.
fn left_over(blocks: &[([usize; 3], f64, f64)], contact: (ContactPair, Arc<dyn ContactModel>)) -> f64 {
    let mut builder = ModelBuilder::default();
    let (mut q, mut traction) = (Vec::new(), Vec::new());
    let mut sides = Vec::new();
    for (number, (cells, z, lift)) in blocks.iter().enumerate() {
        let body = body(&QUADRATIC_TETS, block(*cells, *z), "linear");
        let points = body.nodes.points().to_vec();
        // Uniaxial stress between plates that slide.
        let strain = PRESSURE / E;
        q.extend(points.iter().flat_map(|x| {
            [x[0] * (1.0 + NU * strain), x[1] * (1.0 + NU * strain), x[2] - strain * (x[2] - z) + lift]
        }));
        let top: Vec<bool> = points.iter().map(|x| x[2] > z + 1.0 - 1e-9).collect();
        let weights = body.nodes.face_weights(&top);
        let loaded = number + 1 == blocks.len();
        traction.extend(weights.iter().flat_map(|w| [0.0, 0.0, if loaded { PRESSURE * w } else { 0.0 }]));
        let is_held = |x: &[f64; 3]| blocks.len() > 1 && number == 0 && x[2] < 1e-9;
        sides.extend(points.iter().map(is_held));
        builder.body(body).unwrap();
    }
    builder.contact(contact.0, contact.1).unwrap();
    let model = builder.build();
    let mut g = vec![0.0; q.len()];
    model.gradient(0.0, &q, &mut g);
    let mut forces = vec![0.0; q.len()];
    model.add_contact_forces(0.0, &q, &mut forces);
    let largest = forces.iter().fold(0f64, |m, f| m.max(f.abs()));
    let free = g.iter().zip(&traction).enumerate().filter(|(i, _)| !sides[i / 3]);
    free.fold(0f64, |m, (_, (g, t))| m.max((g + t).abs())) / largest
}

/// Uniform stress on a floor is in equilibrium, by either model, whatever the stiffness, on inner nodes and on those at the rim.
#[test]
fn blocks_on_a_floor_pass_the_patch_test() {
    let floor = ContactPair::Obstacle(ObstacleShape::Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] });
    for stiffness in [1e5, 1e6, 1e9] {
        let penalty = Arc::new(Penalty { stiffness, thickness: 0.0 });
        let error = left_over(&[([2, 3, 2], 0.0, -PRESSURE / stiffness)], (floor, penalty));
        println!("stiffness {stiffness:e}: {error:.1e}");
        assert!(error < 1e-8, "stiffness {stiffness:e}: {error:e}");
    }
    // At half of its distance the pressure of the barrier is twice the modulus.
    let error = left_over(&[([2, 3, 2], 0.0, 0.005)], (floor, barrier(0.01, 0.5 * PRESSURE)));
    // Its nodes have a thousandth of the area.
    assert!(error < 3e-3, "barrier: {error:e}");
}

/// Between two blocks whose meshes match, the points of one surface lie on those of the other, and only the small areas of nodes are
/// left. On other meshes forces reach the touched surface by its triangles, and nodes get them on average only.
#[test]
fn blocks_on_each_other_pass_the_patch_test() {
    let between = ContactPair::Bodies(Some([0, 1]));
    let (thickness, stiffness) = (1e-3, 1e7);
    // Both surfaces push by their vertices.
    let depth = PRESSURE / (2.0 * stiffness);
    let blocks = [([2, 2, 2], 0.0, 0.0), ([2, 2, 2], 1.0, thickness - depth - PRESSURE / E)];
    let error = left_over(&blocks, (between, Arc::new(Penalty { stiffness, thickness })));
    assert!(error < 3e-3, "{error:e}");
}

/// Two bodies, one of them curved, that touch a little, and one of linear tets beside them.
fn touching(model: Arc<dyn ContactModel>) -> (Model, Vec<f64>) {
    let mut builder = ModelBuilder::default();
    let mut lower = body(&QUADRATIC_TETS, ball(), "neo-hookean");
    lower.start = Some(lower.nodes.points().iter().map(|x| [x[0], x[1], x[2] + 0.31]).collect());
    builder.body(lower).unwrap();
    builder.body(body(&LINEAR_TETS, block([2; 3], 5.0), "neo-hookean")).unwrap();
    let mut upper = body(&QUADRATIC_TETS, block([2; 3], 0.0), "neo-hookean");
    let place = |x: &[f64; 3]| [x[0] - 0.5, x[1] - 0.4, x[2] + 0.615 + 0.01 * x[0]];
    upper.start = Some(upper.nodes.points().iter().map(place).collect());
    builder.body(upper).unwrap();
    builder
        .contact(
            ContactPair::Obstacle(ObstacleShape::Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] }),
            model.clone(),
        )
        .unwrap();
    builder.contact(ContactPair::Bodies(None), model).unwrap();
    let q = builder.start().to_vec();
    (builder.build(), q)
}

fn models() -> [(&'static str, Arc<dyn ContactModel>); 2] {
    [("penalty", Arc::new(Penalty { stiffness: 1e6, thickness: 0.03 })), ("barrier", barrier(0.03, E))]
}

/// Forces are the derivative of the energy, and the Hessian that of the forces.
#[test]
fn derivatives_of_contact_on_faces_are_those_of_its_energy() {
    for (name, contact) in models() {
        let (model, q) = touching(contact);
        let mut random = Random(3);
        let d: Vec<f64> = q.iter().map(|_| 1e-6 * random.number()).collect();
        let moved = |c: f64| -> Vec<f64> { q.iter().zip(&d).map(|(x, d)| x + c * d).collect() };
        let gradient = |q: &[f64]| {
            let mut g = vec![0.0; q.len()];
            model.gradient(0.0, q, &mut g);
            g
        };
        let (plus, minus) = (moved(1.0), moved(-1.0));
        let change = model.energy(0.0, &plus) - model.energy(0.0, &minus);
        let along: f64 = gradient(&q).iter().zip(&d).map(|(g, d)| 2.0 * g * d).sum();
        assert!((change / along - 1.0).abs() < 1e-5, "{name}: {change:e} {along:e}");
        let (a, b) = (gradient(&plus), gradient(&minus));
        let mut product = vec![0.0; q.len()];
        stiffness(&model, &q).mul_vec(&d, &mut product);
        let size = product.iter().fold(0f64, |m, x| m.max(x.abs()));
        let error = (0..q.len()).fold(0f64, |m, i| m.max((0.5 * (a[i] - b[i]) - product[i]).abs()));
        assert!(error < 1e-4 * size, "{name}: {error:e} of {size:e}");
    }
}

/// A ball with curved faces hits a block of straight ones: energy, momentum and angular momentum.
#[test]
fn impacts_keep_energy_and_momenta() {
    for (name, contact) in models() {
        let mut builder = ModelBuilder::default();
        let mut ball = body(&QUADRATIC_TETS, ball(), "neo-hookean");
        ball.start =
            Some(ball.nodes.points().iter().map(|x| [x[0] + 0.45, x[1] + 0.4, x[2] + 1.335]).collect());
        let first = ball.nodes.len();
        builder.body(ball).unwrap();
        builder.body(body(&QUADRATIC_TETS, block([2; 3], 0.0), "neo-hookean")).unwrap();
        builder.contact(ContactPair::Bodies(Some([0, 1])), contact).unwrap();
        let q = builder.start().to_vec();
        let model = builder.build();
        let v: Vec<f64> = (0..q.len() / 3)
            .flat_map(|n| if n < first { [0.3, 0.0, -2.0] } else { [0.0, 0.0, 0.5] })
            .collect();
        let start = State::new(&model, q, v);
        let before = energy(&model, &start);
        let method = integrator("energy-momentum", &[("tolerance", 1e-12)]);
        let mut run = Simulation::new(model, method, start.clone(), 0.001);
        let mut felt = 0f64;
        for _ in 0..40 {
            run.advance().unwrap();
            let mut forces = vec![0.0; start.q.len()];
            run.system().add_contact_forces(0.0, &run.state().q, &mut forces);
            felt = felt.max(forces.iter().skip(2).step_by(3).fold(0.0, |m, f| m.max(*f)));
        }
        let change = (run.total_energy() / before - 1.0).abs();
        let (linear, angular) = momentum_drift(&start, run.state());
        println!(
            "{name}: energy {change:.1e}, momenta {linear:.1e} {angular:.1e}, largest force {felt:.0} N"
        );
        assert!(felt > 10.0, "{name}: never touched");
        assert!(
            change < 1e-9 && linear < 1e-12 && angular < 1e-11,
            "{name}: {change:e} {linear:e} {angular:e}"
        );
    }
}
