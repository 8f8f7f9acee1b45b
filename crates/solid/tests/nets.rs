//! Springs, ropes, cloth and membranes: derivatives, stiffness that does not depend on the mesh, closed forms, momenta,
//! and every integrator.

#![allow(non_snake_case)] // E, L as in the formulas

mod common;

use common::integrator;
use lilyan_dynamics::StiffPart;
use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_dynamics::{Simulation, State, System};
use lilyan_solid::contact::{ContactPair, ObstacleShape, Penalty};
use lilyan_solid::damping::{self, Viscous};
use lilyan_solid::elements::{Bending, Elements, Membrane, MembraneModel, Springs, Triangle};
use lilyan_solid::materials::Given;
use lilyan_solid::mesh::{Mesh, Nodes};
use lilyan_solid::nets::{self, Sheet, Stretch};
use lilyan_solid::potentials::Potential;
use lilyan_solid::{Model, ModelBuilder, NetInput, Pin};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// Reproducible noise of that size.
fn noise(n: usize, size: f64, mut seed: u64) -> Vec<f64> {
    (0..n)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            size * (2.0 * (seed >> 11) as f64 / (1u64 << 53) as f64 - 1.0)
        })
        .collect()
}

const SHEET: Sheet = Sheet { cells: [3, 2] };

fn given() -> Given {
    Given::from_young(1e4, 0.3).unwrap()
}

fn membrane(model: MembraneModel, sheet: Sheet, size: [f64; 2], thickness: f64) -> Membrane {
    let x = sheet.vertices(size);
    let one = |t: [u32; 3]| Triangle::new(t, t.map(|v| x[v as usize]), thickness, &given());
    Membrane::new(model, sheet.triangles().into_iter().map(one).collect())
}

/// Every kind of elements on the same sheet.
fn kinds() -> Vec<(&'static str, Box<dyn Elements>)> {
    let x = SHEET.vertices([1.5, 1.0]);
    let springs = SHEET.springs(&x, Stretch::Young(1e4), 0.01).unwrap();
    let mut out: Vec<(&'static str, Box<dyn Elements>)> = vec![
        ("springs", Box::new(Springs::new(springs))),
        ("bending", Box::new(Bending::new(SHEET.bends(&x, 0.3)))),
    ];
    for (name, model) in MembraneModel::NAMES {
        out.push((name, Box::new(membrane(model, SHEET, [1.5, 1.0], 0.01))));
    }
    out
}

fn deformed(seed: u64) -> Vec<f64> {
    let rest = SHEET.vertices([1.5, 1.0]).concat();
    let shake = noise(rest.len(), 0.12, seed);
    rest.iter().zip(shake).map(|(x, d)| 1.1 * x + d).collect()
}

fn gradient(elements: &dyn Elements, q: &[f64]) -> Vec<f64> {
    let mut g = vec![0.0; q.len()];
    elements.add_gradient(q, &mut g);
    g
}

fn dense(q: &[f64], add: impl Fn(&mut BlockMatrix)) -> Vec<Vec<f64>> {
    let all: Vec<u32> = (0..q.len() as u32 / 3).collect();
    let pattern = Arc::new(BlockPattern::from_cliques(all.len(), [all.as_slice()].into_iter()));
    let mut h = BlockMatrix::zeros(pattern);
    add(&mut h);
    h.to_dense()
}

#[test]
fn forces_and_stiffness_are_derivatives_of_the_energy() {
    for (name, elements) in kinds() {
        let q = deformed(3);
        let g = gradient(elements.as_ref(), &q);
        let scale = g.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let exact = dense(&q, |h| elements.add_hessian(&q, Curvature::Exact, h));
        let stiffest = exact.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        let at = |i: usize, d: f64| {
            let mut p = q.clone();
            p[i] += d;
            p
        };
        let d = 2e-4;
        for i in 0..q.len() {
            let slope = |d: f64| (elements.energy(&at(i, d)) - elements.energy(&at(i, -d))) / (2.0 * d);
            let fourth = (4.0 * slope(0.5 * d) - slope(d)) / 3.0;
            assert!((fourth - g[i]).abs() < 1e-8 * scale, "{name}: {fourth} {}", g[i]);
            let (a, b) = (gradient(elements.as_ref(), &at(i, d)), gradient(elements.as_ref(), &at(i, -d)));
            let (c, e) =
                (gradient(elements.as_ref(), &at(i, 0.5 * d)), gradient(elements.as_ref(), &at(i, -0.5 * d)));
            for j in 0..q.len() {
                let column = (8.0 * (c[j] - e[j]) - (a[j] - b[j])) / (6.0 * d);
                assert!((column - exact[i][j]).abs() < 1e-7 * stiffest, "{name} {i} {j}");
            }
        }
        // The product is that of the projected matrix.
        let projected = dense(&q, |h| elements.add_hessian(&q, Curvature::Projected, h));
        let v = noise(q.len(), 1.0, 9);
        let mut product = vec![0.0; q.len()];
        elements.add_hessian_product(&q, &v, -2.0, &mut product);
        for i in 0..q.len() {
            let row: f64 = projected[i].iter().zip(&v).map(|(k, v)| -2.0 * k * v).sum();
            assert!((row - product[i]).abs() < 1e-10 * stiffest, "{name}");
        }
    }
}

/// The projected and the material stiffness have no negative eigenvalue; the material one does not see a rotation.
#[test]
fn projections_are_positive() {
    for (name, elements) in kinds() {
        for seed in 0..5 {
            let q: Vec<f64> = deformed(seed).iter().map(|x| 0.7 * x).collect();
            let both = [
                dense(&q, |h| elements.add_hessian(&q, Curvature::Projected, h)),
                dense(&q, |h| elements.add_stiff_hessian(&q, StiffPart::Material, h)),
            ];
            for (k, matrix) in both.iter().enumerate() {
                let size = matrix.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
                for trial in 0..40 {
                    let v = noise(q.len(), 1.0, 77 + trial);
                    let form: f64 = (0..q.len())
                        .map(|i| v[i] * matrix[i].iter().zip(&v).map(|(a, b)| a * b).sum::<f64>())
                        .sum();
                    assert!(form > -1e-10 * size, "{name}: {form}");
                }
                if k == 1 && name != "bending" {
                    let spin: Vec<f64> = q
                        .chunks_exact(3)
                        .flat_map(|x| [x[1] - x[2], -x[0] + 2.0 * x[2], x[0] - 2.0 * x[1]])
                        .collect();
                    let worst = (0..q.len())
                        .map(|i| matrix[i].iter().zip(&spin).map(|(a, b)| a * b).sum::<f64>().abs())
                        .fold(0.0, f64::max);
                    assert!(worst < 1e-11 * size, "{name}: a rotation is felt by {worst:e}");
                }
            }
        }
    }
}

#[test]
fn discrete_gradients_keep_energy_and_momenta() {
    for (name, elements) in kinds() {
        let (q0, q1) = (deformed(1), deformed(2));
        let mut g = vec![0.0; q0.len()];
        assert!(elements.add_discrete_gradient(&q0, &q1, &mut g));
        let change = elements.energy(&q1) - elements.energy(&q0);
        let work: f64 = g.iter().zip(q0.iter().zip(&q1)).map(|(g, (a, b))| g * (b - a)).sum();
        let scale: f64 = g.iter().zip(q0.iter().zip(&q1)).map(|(g, (a, b))| (g * (b - a)).abs()).sum();
        assert!((work - change).abs() < 1e-12 * scale, "{name}: {work} {change}");
        let (mut force, mut torque, mut size) = ([0.0; 3], [0.0; 3], 0.0);
        for (f, (a, b)) in g.chunks_exact(3).zip(q0.chunks_exact(3).zip(q1.chunks_exact(3))) {
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                force[k] += f[k];
                torque[k] += 0.5 * ((a[i] + b[i]) * f[j] - (a[j] + b[j]) * f[i]);
                size += f[k].abs();
            }
        }
        assert!(force.iter().chain(&torque).all(|x| x.abs() < 1e-12 * size), "{name}: {force:?} {torque:?}");
    }
}

/// A spring that has shrunk to a point gives numbers, not NaN.
#[test]
fn a_spring_without_length_is_robust() {
    let springs = Springs::new(nets::rope_springs(
        &nets::rope([0.0; 3], [1.0, 0.0, 0.0], 1),
        Stretch::Lambda(5.0),
        0.0,
    ));
    let q = [0.3, 0.2, 0.1, 0.3, 0.2, 0.1];
    assert_eq!(springs.energy(&q), 2.5);
    assert_eq!(gradient(&springs, &q), vec![0.0; 6]);
    for curvature in [Curvature::Exact, Curvature::Projected] {
        let h = dense(&q, |h| springs.add_hessian(&q, curvature, h));
        assert!(h.iter().flatten().all(|x| x.is_finite()));
    }
    let mut g = vec![0.0; 6];
    assert!(springs.add_discrete_gradient(&q, &q, &mut g) && g.iter().all(|x| *x == 0.0));
}

fn nodes(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Arc<Nodes> {
    Arc::new(Nodes::at_vertices(Mesh::of_cells(vertices, vec![triangles.into()])))
}

/// A rope, 1 m long and 0.1 kg, along x.
fn rope(segments: usize, lambda: f64) -> NetInput {
    let vertices = nets::rope([0.0; 3], [1.0, 0.0, 0.0], segments);
    let springs = nets::rope_springs(&vertices, Stretch::Lambda(lambda), 1e-4);
    let mut masses = vec![0.1 / segments as f64; segments + 1];
    masses[0] *= 0.5;
    masses[segments] *= 0.5;
    let areas = vec![0.01 / segments as f64; segments + 1];
    NetInput {
        name: "rope".into(),
        nodes: nodes(vertices, Vec::new()),
        masses,
        springs,
        areas,
        ..NetInput::default()
    }
}

/// A square cloth of 1 m in the plane z = 0.
fn cloth(cells: usize, triangles: bool) -> NetInput {
    let sheet = Sheet { cells: [cells, cells] };
    let vertices = sheet.vertices([1.0, 1.0]);
    let thickness = 1e-3;
    let nodes = nodes(vertices.clone(), sheet.triangles());
    let masses = nodes.surface().nodal_areas(&vertices).iter().map(|a| 0.2 * a).collect();
    let mut net = NetInput { name: "cloth".into(), masses, nodes, ..NetInput::default() };
    if triangles {
        let one = |t: [u32; 3]| Triangle::new(t, t.map(|v| vertices[v as usize]), thickness, &given());
        let list = sheet.triangles().into_iter().map(one).collect();
        net.membrane = Some((MembraneModel::NeoHookeanLog, list));
    } else {
        net.springs = sheet.springs(&vertices, Stretch::Young(1e4), thickness).unwrap();
    }
    net.bends = sheet.bends(&vertices, 1e-4);
    net
}

fn build(net: NetInput, and: impl FnOnce(&mut ModelBuilder)) -> Model {
    let mut builder = ModelBuilder::default();
    builder.net(net);
    and(&mut builder);
    builder.build()
}

#[test]
fn refinement_does_not_change_the_stiffness_of_a_rope() {
    for segments in [1, 7, 100] {
        let net = rope(segments, 20.0);
        let pulled: Vec<f64> = net.nodes.points().iter().flat_map(|x| [1.3 * x[0], 0.0, 0.0]).collect();
        let model = build(net, |_| {});
        let mut g = vec![0.0; pulled.len()];
        model.gradient(0.0, &pulled, &mut g);
        assert!((g[3 * segments] - 20.0 * 0.3).abs() < 1e-12, "{segments}: {}", g[3 * segments]);
        assert!((model.energy(0.0, &pulled) - 0.5 * 20.0 * 0.09).abs() < 1e-12);
    }
}

/// In an even deformation an uneven membrane has no forces inside, and the energy of the closed form.
#[test]
fn membrane_passes_the_patch_test() {
    let sheet = Sheet { cells: [6, 5] };
    let mut x = sheet.vertices([1.0, 1.0]);
    let inside = |x: &[f64; 3]| x[0] > 0.01 && x[0] < 0.99 && x[1] > 0.01 && x[1] < 0.99;
    let shake = noise(2 * x.len(), 0.04, 5);
    for (x, d) in x.iter_mut().zip(shake.chunks_exact(2)) {
        if inside(x) {
            (x[0], x[1]) = (x[0] + d[0], x[1] + d[1]);
        }
    }
    let (E, nu) = (1e4, 0.3);
    for (name, model) in MembraneModel::NAMES {
        let one = |t: [u32; 3]| Triangle::new(t, t.map(|v| x[v as usize]), 0.01, &given());
        let membrane = Membrane::new(model, sheet.triangles().into_iter().map(one).collect());
        let place = |a: f64, b: f64, c: f64| -> Vec<f64> {
            x.iter().flat_map(|x| [a * x[0] + 0.1 * x[1], c * x[0] + 0.2 * x[1], b * x[1]]).collect()
        };
        let q = place(1.2, 0.9, 0.3);
        let g = gradient(&membrane, &q);
        let largest = g.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for (x, g) in x.iter().zip(g.chunks_exact(3)) {
            assert!(!inside(x) || g.iter().all(|g| g.abs() < 1e-12 * largest), "{name}: {g:?}");
        }
        // Pulled along x alone: ½ E ε² of plane stress.
        let e = 1e-5;
        let pulled: Vec<f64> =
            x.iter().flat_map(|x| [x[0] * (1.0 + e), x[1] * (1.0 - nu * e), 0.0]).collect();
        let expected = 0.01 * 0.5 * E * e * e;
        assert!((membrane.energy(&pulled) - expected).abs() < 1e-4 * expected, "{name}");
    }
}

fn pin(nodes: Vec<u32>) -> Pin {
    Pin { nodes, axes: [true; 3], motion: None, until: f64::INFINITY }
}

/// Lets a model come to rest under backward Euler, which takes all its motion.
fn settle(model: Model, start: Vec<f64>) -> Simulation<Model> {
    let still = vec![0.0; start.len()];
    let state = State::new(&model, start, still);
    let mut simulation = Simulation::new(model, integrator("backward-euler", &[]), state, 0.05);
    for _ in 0..400 {
        simulation.advance().unwrap();
    }
    let speed = simulation.state().v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(speed < 1e-7, "still moving by {speed} m/s");
    simulation
}

/// A rope that hangs from one end stretches by mgL/2λ; one that hangs between two ends is an elastic catenary.
#[test]
fn hanging_ropes_take_the_shape_they_should() {
    let (lambda, g, L, mass) = (20.0, 9.81, 1.0, 0.1);
    let segments = 40;
    let net = rope(segments, lambda);
    let start: Vec<f64> = net.nodes.points().iter().flat_map(|x| [0.0, -x[0], 0.0]).collect();
    let model = build(net, |b| {
        b.gravity([0.0, -g, 0.0]);
        b.pin(pin(vec![0]));
    });
    let end = settle(model, start).state().q[3 * segments + 1];
    let expected = -(L + mass * g * L / (2.0 * lambda));
    assert!((end - expected).abs() < 1e-6, "hangs to {end}, not {expected}");

    // d = HL/λ + (2H/w) asinh(wL/2H) gives the horizontal pull H, and the sag is
    // wL²/8λ + (H/w)(√(1 + (wL/2H)²) − 1).
    let (w, span) = (mass * g / L, 0.8);
    let width = |h: f64| h * L / lambda + 2.0 * h / w * (w * L / (2.0 * h)).asinh();
    let (mut low, mut high) = (1e-6, 100.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if width(middle) < span { low = middle } else { high = middle }
    }
    let h = low;
    let sag = w * L * L / (8.0 * lambda) + h / w * ((1.0 + (w * L / (2.0 * h)).powi(2)).sqrt() - 1.0);
    let net = rope(segments, lambda);
    let start: Vec<f64> =
        (net.nodes.points().iter()).flat_map(|x| [span * x[0], -0.8 * x[0] * (1.0 - x[0]), 0.0]).collect();
    let mut builder = ModelBuilder::default();
    builder.net(NetInput { start: Some(start.chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect()), ..net });
    builder.gravity([0.0, -g, 0.0]);
    builder.pin(pin(vec![0, segments as u32]));
    let found = -settle(builder.build(), start).state().q[3 * (segments / 2) + 1];
    println!("sag {found:.5} m, catenary {sag:.5} m");
    assert!((found - sag).abs() < 1e-3 * sag);
}

/// Nothing acts from outside: damping takes energy and leaves both momenta, on springs and triangles alike.
#[test]
fn damping_takes_energy_and_leaves_momenta() {
    let kinds = damping::CATALOGUE.iter().flat_map(|card| (card.variants)(0.01));
    for damping in kinds.filter(|damping| !damping.is_drag()) {
        for triangles in [false, true] {
            let mut net = cloth(3, triangles);
            net.bends.clear();
            net.damping = vec![damping.clone()];
            let x = net.nodes.points().to_vec();
            let model = build(net, |_| {});
            let q: Vec<f64> = x.iter().flat_map(|x| [1.2 * x[0], 0.95 * x[1], 0.1 * x[0] * x[1]]).collect();
            let v: Vec<f64> = x.iter().flat_map(|x| [-x[1], x[0], 0.5]).collect();
            let start = State::new(&model, q, v);
            let mut simulation = Simulation::new(
                model,
                integrator("energy-momentum", &[("tolerance", 1e-12)]),
                start.clone(),
                0.005,
            );
            for _ in 0..100 {
                simulation.advance().unwrap();
            }
            let lost = 1.0 - simulation.total_energy() / simulation.ledger().initial;
            // Springs have no shear, which is all that a model without a rate by frequency may damp.
            let least = if triangles || damping.decay_rate(1.0).is_some() { 0.01 } else { -1e-12 };
            assert!(lost > least, "{damping:?}: lost {lost}");
            let (linear, angular) = common::momentum_drift(&start, simulation.state());
            assert!(linear < 1e-10, "{damping:?}: P {linear:e}");
            let kept = damping.keeps_angular_momentum(false);
            assert!(!kept || angular < 1e-9, "{damping:?} {triangles}: L {angular:e}");
        }
    }
}

/// Every integrator moves a rope and cloths with pins, gravity, damping and contact, and all agree.
#[test]
fn every_integrator_moves_nets() {
    let scene = |kind: usize| {
        let mut net = match kind {
            0 => rope(12, 20.0),
            1 => cloth(4, false),
            _ => cloth(4, true),
        };
        net.damping = vec![Arc::new(Viscous { time: 2e-3 })];
        let q: Vec<f64> = net.nodes.points().concat();
        let model = build(net, |b| {
            b.gravity([0.0, -5.0, -9.81]);
            b.pin(pin(vec![0]));
            b.contact(
                ContactPair::Obstacle(ObstacleShape::Sphere {
                    center: [0.6, 0.3, -0.45],
                    radius: 0.4,
                    inside: false,
                }),
                Arc::new(Penalty { stiffness: 1e3, thickness: 0.0 }),
            )
            .unwrap();
        });
        (model, q)
    };
    for kind in 0..3 {
        let run = |name: &str, step: f64, steps: usize| {
            let (model, q) = scene(kind);
            let still = vec![0.0; q.len()];
            let state = State::new(&model, q, still);
            let mut simulation = Simulation::new(model, integrator(name, &[]), state, step);
            for k in 0..steps {
                simulation.advance().unwrap_or_else(|e| panic!("{name}, step {k}: {e}"));
            }
            assert!(
                (simulation.state().t - step * steps as f64).abs() < 0.02 * simulation.state().t,
                "{name}"
            );
            simulation.state().q.clone()
        };
        let reference = run("verlet", 2e-4, 1000);
        let rest = scene(kind).1;
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        for entry in CATALOGUE {
            let error = apart(&run(entry.name, 5e-4, 400), &reference) / apart(&rest, &reference);
            println!("{kind} {}: {error:.1e}", entry.name);
            assert!(error < 0.03, "{}: {error}", entry.name);
        }
    }
}

/// A cloth without an inside keeps a rope off on both of its sides.
#[test]
fn cloth_is_touched_from_both_sides() {
    for side in [1.0, -1.0] {
        let mut builder = ModelBuilder::default();
        let sheet = cloth(6, true);
        builder.pin(pin((0..sheet.nodes.len() as u32).collect()));
        builder.net(sheet);
        let mut above = rope(8, 20.0);
        let moved: Vec<[f64; 3]> =
            above.nodes.points().iter().map(|x| [0.2 + 0.6 * x[0], 0.45, 0.05 * side]).collect();
        above.springs = nets::rope_springs(&moved, Stretch::Lambda(20.0), 1e-4);
        above.nodes = nodes(moved, Vec::new());
        builder.net(above);
        builder.gravity([0.0, 0.0, -9.81 * side]);
        builder
            .contact(ContactPair::Bodies(None), Arc::new(Penalty { stiffness: 3e4, thickness: 0.02 }))
            .unwrap();
        let start = builder.start().to_vec();
        let first = start.len() - 3 * 9;
        let model = builder.build();
        let still = vec![0.0; start.len()];
        let state = State::new(&model, start, still);
        let mut simulation = Simulation::new(model, integrator("energy-momentum", &[]), state, 0.002);
        for _ in 0..500 {
            simulation.advance().unwrap();
            let heights = simulation.state().q[first..].chunks_exact(3).map(|x| side * x[2]);
            let lowest = heights.fold(f64::INFINITY, f64::min);
            assert!(lowest > 0.0, "passed through");
        }
        let ratio = simulation.ledger().dissipated_numerical(simulation.total_energy()).abs();
        assert!(ratio < 1e-8, "the bounce lost {ratio} J");
    }
}

/// Exact and projected Hessians of a model are those of its elements: contact and pins do not get in the way.
#[test]
fn model_sums_its_elements() {
    let net = cloth(3, true);
    let q: Vec<f64> =
        net.nodes.points().concat().iter().zip(noise(48, 0.02, 4)).map(|(x, d)| 1.05 * x + d).collect();
    let model = build(net, |_| {});
    let mut h = BlockMatrix::zeros(model.pattern().clone());
    model.hessian(0.0, &q, Curvature::Exact, &mut h);
    let body = &model.bodies()[0];
    let sum = dense(&q, |h| {
        body.elements.iter().for_each(|e| e.add_hessian(&q, Curvature::Exact, h));
    });
    assert_eq!(h.to_dense(), sum);
    assert_eq!(body.dofs.range(), 0..16);
}
