//! `corotational-reversible` on finite elements: energy and angular momentum over a long tumble, reversal, both
//! choices of rotation, held nodes, who is refused.

mod common;

use common::{E, NU, RHO, flat, max_difference, momentum_drift};
use lilyan_dynamics::corotated::{Corotated, Rotation};
use lilyan_dynamics::{Integrator, Simulation, State, StepError, System, Value};
use lilyan_solid::contact::{ContactPair, ObstacleShape, Penalty};
use lilyan_solid::damping::{Damping, Rayleigh, Viscous};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, Model, ModelBuilder, Pin};
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

fn make(rotation: &str) -> Box<dyn Integrator> {
    let entry = lilyan_dynamics::integrators::find("corotational-reversible").unwrap();
    entry.create(&[("rotation".into(), Value::Word(rotation.into()))]).unwrap()
}

/// A bar of 4 × 1 × 1 m, stretched by 15 %, tumbling.
fn tumble(material: &str, damping: Vec<Arc<dyn Damping>>) -> (Model, State) {
    let mesh = box_mesh([4.0, 1.0, 1.0], [8, 2, 2]).unwrap();
    let mut body = common::body(mesh.clone(), material);
    body.damping = damping;
    let model = common::model(body);
    let state = common::tumbling(&model, &mesh, 1.15);
    (model, state)
}

fn total(model: &Model, state: &State) -> f64 {
    state.kinetic(model) + model.energy(state.t, &state.q)
}

/// Six seconds at h = 0.01: energy stays where linearly implicit Euler loses a good part of it.
#[test]
fn tumbles_without_losing_energy() {
    let run = |mut method: Box<dyn Integrator>| {
        let (model, mut state) = tumble("co-rotational", vec![]);
        let start = state.clone();
        let mean = |state: &mut State, method: &mut dyn Integrator| {
            let mut sum = 0.0;
            for _ in 0..100 {
                method.step(&model, state, 0.01).unwrap();
                sum += total(&model, state) / 100.0;
            }
            sum
        };
        let first = mean(&mut state, method.as_mut());
        for _ in 0..400 {
            method.step(&model, &mut state, 0.01).unwrap();
        }
        let last = mean(&mut state, method.as_mut());
        (first, last, momentum_drift(&start, &state))
    };
    // The reported energy is that of the polar rotation: with the other it sways, but does not run away.
    for (rotation, sway, turn) in [("polar", 1e-3, 1e-4), ("minimizer", 1e-2, 1e-2)] {
        let (first, last, (linear, angular)) = run(make(rotation));
        println!("{rotation}: energy {first:.2} -> {last:.2}, momenta {linear:.1e} {angular:.1e}");
        assert!((last / first - 1.0).abs() < sway, "{rotation}: mean energy {first} -> {last}");
        assert!(
            linear < 1e-13 && (1e-9..turn).contains(&angular),
            "{rotation}: momenta drift by {linear:e}, {angular:e}"
        );
    }
    let (first, last, _) = run(common::integrator("semi-implicit", &[]));
    println!("semi-implicit: energy {first:.2} -> {last:.2}");
    assert!(last < 0.98 * first, "linearly implicit Euler is expected to lose energy: {first} -> {last}");
}

/// 200 s of a free bar at steps of the explicit limit and beyond: reversal is not enough to hold energy and spin there.
/// Prints the figures that the description of the method tells.
#[test]
fn long_tumbles_drift() {
    if !common::long() {
        return;
    }
    let model = common::bar(4, "co-rotational", None);
    let mesh = box_mesh([2.0, 0.5, 0.5], [4, 1, 1]).unwrap();
    let start = common::tumbling(&model, &mesh, 1.15);
    let limit = common::explicit_limit(&model, &start.q);
    for rotation in ["polar", "minimizer"] {
        for share in [0.5, 1.0, 2.0] {
            let (mut state, mut method, h) = (start.clone(), make(rotation), share * limit);
            let quarter = (50.0 / h) as usize;
            for part in 1..=4 {
                let mut mean = 0.0;
                for _ in 0..quarter {
                    if method.step(&model, &mut state, h).is_err() {
                        mean = f64::INFINITY;
                        break;
                    }
                    mean += total(&model, &state) / quarter as f64;
                }
                let (_, turn) = momentum_drift(&start, &state);
                println!(
                    "{rotation}, {share} of the explicit limit {limit:.4} s, {} s: energy × {:.4}, spin off by {turn:.1e}",
                    50 * part,
                    mean / total(&model, &start)
                );
            }
        }
    }
}

/// Back to the start, with gravity, a load in time, contact and a held face; the two rotations differ on the way.
#[test]
fn runs_backwards_with_everything_acting() {
    let mut ends = Vec::new();
    for rotation in ["polar", "minimizer"] {
        let mesh = box_mesh([2.0, 0.5, 0.5], [4, 1, 1]).unwrap();
        let held = (0u32..).zip(&mesh.vertices).filter(|(_, x)| x[0] == 0.0).map(|(n, _)| n).collect();
        let mut builder = ModelBuilder::default();
        builder.body(common::body(mesh.clone(), "co-rotational")).unwrap();
        builder.gravity([0.0, -9.81, 0.0]);
        builder
            .contact(
                ContactPair::Obstacle(ObstacleShape::Plane {
                    point: [0.0, -0.02, 0.0],
                    normal: [0.0, 1.0, 0.0],
                }),
                Arc::new(Penalty { stiffness: 1e5, thickness: 0.0 }),
            )
            .unwrap();
        builder.pin(Pin { nodes: held, axes: [true; 3], motion: None, until: f64::INFINITY });
        let model = builder.build();
        let start = State::new(&model, flat(&mesh.vertices), vec![0.0; 3 * mesh.vertices.len()]);
        let mut state = start.clone();
        let mut method = make(rotation);
        let mut lowest: f64 = 0.0;
        for _ in 0..60 {
            method.step(&model, &mut state, 0.01).unwrap();
            lowest = state.q.iter().skip(1).step_by(3).fold(lowest, |m, y| m.min(*y));
        }
        assert!(lowest < -0.021, "it has not reached the floor: {lowest}");
        ends.push(state.q.clone());
        for x in state.v.iter_mut().chain(&mut state.p) {
            *x = -*x;
        }
        for _ in 0..60 {
            method.step(&model, &mut state, 0.01).unwrap();
        }
        let off = max_difference(&state.q, &start.q);
        assert!(off < 1e-9, "{rotation}: reversal misses by {off:e} m");
    }
    let apart = max_difference(&ends[0], &ends[1]);
    assert!(1e-9 < apart && apart < 0.05, "the rotations lead {apart:e} m apart");
}

/// One tet, deformed and turned, with 0 to 4 nodes held.
fn one_tet(rotation: Rotation, held_nodes: usize) -> (Model, Vec<f64>, Vec<bool>, Rotation) {
    let mesh = lilyan_solid::mesh::Mesh::new(
        vec![[0.1, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.0, 0.1, 1.2]],
        vec![[0, 1, 2, 3]],
    );
    let model = common::model(common::body(mesh.clone(), "co-rotational"));
    let mut q = flat(&mesh.vertices);
    let push = [0.3, -0.2, 0.25, 0.1, 0.4, -0.3, -0.2, 0.35, 0.15, 0.3, 0.2, -0.4];
    for i in 3 * held_nodes..12 {
        q[i] += push[i];
    }
    let held = (0..12).map(|i| i < 3 * held_nodes).collect();
    (model, q, held, rotation)
}

/// K q − b is what the gradient says, K is symmetric and what the gradient changes by when R stays; with three
/// nodes held at rest the element is linear elasticity, with two it does not mind turning about their edge.
#[test]
fn held_nodes_stop_the_frame() {
    for rotation in [Rotation::Polar, Rotation::Minimizer] {
        for count in 0..=4 {
            let (model, q, held, _) = one_tet(rotation, count);
            let mut k = BlockMatrix::zeros(model.pattern().clone());
            model.corotated_stiffness(0.0, &q, rotation, &held, &mut k);
            let mut g = vec![0.0; 12];
            model.corotated_gradient(0.0, &q, rotation, &held, &mut g);
            assert!(g.iter().all(|x| x.is_finite()) && k.is_finite());
            // No net force, and none at all under translation.
            for axis in 0..3 {
                let sum: f64 = (0..4).map(|n| g[3 * n + axis]).sum();
                assert!(sum.abs() < 1e-9 * E, "{count} held: net force {sum:e}");
            }
            if count >= 3 {
                let rest = [[0.1, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.0, 0.1, 1.2]];
                let linear = common::model(common::body(
                    lilyan_solid::mesh::Mesh::new(rest.to_vec(), vec![[0, 1, 2, 3]]),
                    "linear",
                ));
                let mut expected = vec![0.0; 12];
                linear.gradient(0.0, &q, &mut expected);
                assert!(max_difference(&g, &expected) < 1e-9 * E, "{count} held: not linear elasticity");
            }
        }
        // Two nodes held: turned about their edge without being deformed, there is no force.
        let (model, _, _, _) = one_tet(rotation, 2);
        let rest = [[0.1, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.0, 0.1, 1.2]];
        let axis = {
            let d = [0, 1, 2].map(|k| rest[1][k] - rest[0][k]);
            let n = d.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
            d.map(|x| x / n)
        };
        let held: Vec<bool> = (0..12).map(|i| i < 6).collect();
        for degrees in [10.0f64, 90.0, 170.0, -120.0] {
            let (s, c) = degrees.to_radians().sin_cos();
            let q: Vec<f64> = rest
                .iter()
                .flat_map(|x| {
                    let r = [0, 1, 2].map(|k| x[k] - rest[0][k]);
                    let along: f64 = (0..3).map(|k| axis[k] * r[k]).sum();
                    [0, 1, 2].map(|k| {
                        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                        let across = axis[i] * r[j] - axis[j] * r[i];
                        rest[0][k] + c * r[k] + s * across + (1.0 - c) * along * axis[k]
                    })
                })
                .collect();
            let mut g = vec![0.0; 12];
            model.corotated_gradient(0.0, &q, rotation, &held, &mut g);
            let largest = g.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            assert!(largest < 1e-9 * E, "a turn of {degrees}° about the held edge costs {largest:e} N");
        }
    }
}

/// With polar rotations and an isotropic stiffness the turned gradient is that of the energy.
#[test]
fn polar_gradient_is_that_of_the_energy() {
    let (model, state) = tumble("co-rotational", vec![]);
    let held = vec![false; state.q.len()];
    let (mut g, mut expected) = (vec![0.0; state.q.len()], vec![0.0; state.q.len()]);
    model.corotated_gradient(0.0, &state.q, Rotation::Polar, &held, &mut g);
    model.gradient(0.0, &state.q, &mut expected);
    assert!(max_difference(&g, &expected) < 1e-9 * E);
}

/// 21 constants, with either rotation and with none: the energy stays.
#[test]
fn anisotropic_bodies_and_linear_ones_run_too() {
    let names = ["C11", "C22", "C33", "C44", "C55", "C66", "C12", "C13", "C23"];
    let values = [2e5, 1.4e5, 1.2e5, 4e4, 5e4, 6e4, 6e4, 5e4, 4e4];
    let given = names.iter().zip(values).fold(Given::from_young(E, NU).unwrap(), |g, (n, v)| g.with(n, v));
    for (material, rotation) in
        [("co-rotational", "polar"), ("co-rotational", "minimizer"), ("linear", "polar")]
    {
        let mesh = box_mesh([2.0, 0.5, 0.5], [4, 1, 1]).unwrap();
        let model =
            common::model(BodyInput::new("body", mesh.clone(), find(material).unwrap(), given.clone(), RHO));
        let mut state = common::tumbling(&model, &mesh, 1.05);
        if material == "linear" {
            state.v.fill(0.0);
            state.p.fill(0.0);
        }
        let start = total(&model, &state);
        let mut method = make(rotation);
        for _ in 0..200 {
            method.step(&model, &mut state, 0.005).unwrap();
        }
        let drift = total(&model, &state) / start - 1.0;
        println!("{material} {rotation}: {drift:e}");
        assert!(drift.abs() < 0.02, "{material} {rotation}: energy changes by {drift:e}");
        if material == "linear" {
            // The midpoint rule on a quadratic energy.
            assert!(drift.abs() < 1e-10, "energy changes by {drift:e}");
        }
    }
}

/// Viscosity takes energy and leaves momentum; the ledger closes to second order.
#[test]
fn damping_takes_energy() {
    let dampings: [Arc<dyn Damping>; 2] =
        [Arc::new(Viscous { time: 0.01 }), Arc::new(Rayleigh { alpha: 0.0, beta: 0.01, at_rest: false })];
    for damping in dampings {
        let (model, state) = tumble("co-rotational", vec![damping.clone()]);
        let start = total(&model, &state);
        let mut simulation = Simulation::new(model, make("polar"), state.clone(), 0.005);
        for _ in 0..100 {
            simulation.advance().unwrap();
        }
        let lost = start - simulation.total_energy();
        let numerical = simulation.ledger().dissipated_numerical(simulation.total_energy());
        println!("{damping:?}: lost {lost:.1} J of {start:.1}, numerical {numerical:.2}");
        assert!(lost > 0.01 * start && numerical.abs() < 0.05 * lost);
        assert!(momentum_drift(&state, simulation.state()).0 < 1e-12);
    }
}

#[test]
fn other_materials_are_refused_by_name() {
    let (model, mut state) = tumble("neo-hookean", vec![]);
    let before = state.clone();
    let mut method = make("polar");
    let refused = method.step(&model, &mut state, 0.01).unwrap_err();
    assert!(matches!(refused, StepError::Refused { .. }), "{refused:?}");
    let text = refused.to_string();
    for word in ["neo-hookean", "co-rotational", "linear"] {
        assert!(text.contains(word), "{text}");
    }
    assert_eq!(state, before);
    assert!(method.refuses(&model).is_some());
}
