//! Forces of present place and velocity against closed forms, with every integrator.

mod common;

use common::made;
use lilyan_dynamics::System;
use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_dynamics::system::abilities::AppliedForces;
use lilyan_scene::build::{Built, build};
use lilyan_scene::schema::Scene;

/// A cube about the origin.
const CUBE: &str = r#"
time = { end = 1, step = 0.01 }
[[body]]
mesh = { box = { size = [1, 1, 1], cells = [1, 1, 1] }, translate = [-0.5, -0.5, -0.5] }
material = { model = "stable-neo-hookean", E = 1e7, nu = 0.3, rho = 1000 }
"#;

fn run(built: &mut Built, time: f64) {
    while built.simulation.state().t < time - 1e-9 {
        built.simulation.advance().expect("a step");
    }
}

/// The cube with this integrator, of the first material that it takes.
fn with(integrator: &str, more: &str) -> Built {
    let mut refusals = Vec::new();
    for material in ["stable-neo-hookean", "co-rotational", "stvk"] {
        let text = format!("{CUBE}{more}");
        let chosen = [
            format!("integrator.name={integrator}"),
            format!("body.material.model={material}"),
            "body.material.E=1e4".into(),
        ];
        let chosen: Vec<&str> = chosen.iter().map(String::as_str).collect();
        let scene = Scene::from_str_with(&text, "scene.toml", &chosen).unwrap_or_else(|e| panic!("{e}"));
        match build(&scene) {
            Ok(built) => return built,
            Err(error) => refusals.push(error.to_string()),
        }
    }
    panic!("{integrator}: {refusals:?}")
}

fn mean_velocity(built: &Built, axis: usize) -> f64 {
    let v = &built.simulation.state().v;
    v.iter().skip(axis).step_by(3).sum::<f64>() / (v.len() / 3) as f64
}

/// v(t) = −(g/c)(1 − e^{−ct}) for a drag −cv per mass. The drag does work and is no damping of the material.
#[test]
fn a_body_in_drag_approaches_its_terminal_velocity_with_every_integrator() {
    let drag = "[[load]]\nacceleration = [\"-2*vx\", \"-9.81 - 2*vy\", \"-2*vz\"]\n";
    for entry in CATALOGUE {
        let mut built = with(entry.name, drag);
        run(&mut built, 1.0);
        let t = built.simulation.state().t;
        let exact = -9.81 / 2.0 * (1.0 - (-2.0 * t).exp());
        let error = mean_velocity(&built, 1) / exact - 1.0;
        let claims = entry.create(&[]).expect("defaults").claims();
        let limit = if claims.damped_order >= 2 { 2e-4 } else { 0.02 };
        assert!(error.abs() < limit, "{}: {error:e}", entry.name);
        let ledger = built.simulation.ledger();
        assert_eq!(ledger.dissipated_physical, 0.0, "{}", entry.name);
        // ½ m v² of 1000 kg, which the work of both forces left.
        let kinetic = 500.0 * exact * exact;
        assert!((ledger.work_external / kinetic - 1.0).abs() < 3.0 * limit, "{}", entry.name);
        let lost = ledger.dissipated_numerical(built.simulation.total_energy()) / kinetic;
        let closed = if claims.energy { 1e-9 } else { 3.0 * limit };
        assert!(lost.abs() < closed, "{}: {lost:e} of the energy is unaccounted for", entry.name);
    }
}

/// A force k(−y, x, 0) per mass turns with the body, so that its angular velocity is kt.
#[test]
fn a_swirl_keeps_turning_a_body_that_turns() {
    let swirl = "[[load]]\nacceleration = [\"-10*y\", \"10*x\", 0]\n";
    // A plate, since the masses of so coarse a cube are not the same about all axes, and it would tumble.
    let plate = ["body.mesh.box.size=[1, 1, 0.05]", "body.mesh.translate=[-0.5, -0.5, -0.025]"];
    for integrator in ["variational", "energy-momentum", "rk4", "variational-4"] {
        let step = if integrator == "rk4" { "time.step=1e-4" } else { "time.step=0.01" };
        let name = format!("integrator.name={integrator}");
        let (_, mut built) = made(&format!("{CUBE}{swirl}"), &[&name, step, plate[0], plate[1]]);
        run(&mut built, 1.0);
        let spin = built.simulation.state().momenta([0.0; 3]).1[2];
        // Lumped masses of a plate of one cell sit at its corners.
        let inertia: f64 = {
            let system = built.simulation.system();
            let places = system.start().chunks_exact(3).zip(system.node_masses().iter());
            places.map(|(x, m)| m * (x[0] * x[0] + x[1] * x[1])).sum()
        };
        assert!((spin / (10.0 * inertia) - 1.0).abs() < 0.01, "{integrator}: {spin} of {}", 10.0 * inertia);
    }
}

/// The same force at the rest place has a constant direction, and turns the body back after half a turn.
#[test]
fn capital_letters_are_the_rest_place() {
    let swirl = |x: &str, y: &str| format!("[[load]]\nacceleration = [\"-10*{y}\", \"10*{x}\", 0]\n");
    let torque = |load: &str| {
        let turn = "body.initial.rotate={ axis = [0, 0, 1], degrees = 180 }";
        let (_, built) = made(&format!("{CUBE}{load}"), &[turn]);
        let (system, state) = (built.simulation.system(), built.simulation.state());
        let mut f = vec![0.0; state.q.len()];
        system.gradient(0.0, &state.q, &mut f);
        f.iter_mut().for_each(|f| *f = -*f);
        system.add_applied_forces(0.0, &state.q, &state.v, &mut f);
        let of = |(x, f): (&[f64], &[f64])| x[0] * f[1] - x[1] * f[0];
        let total: f64 = state.q.chunks_exact(3).zip(f.chunks_exact(3)).map(of).sum();
        (total, system.abilities().applied.is_some())
    };
    let (present, rest) = (torque(&swirl("x", "y")), torque(&swirl("X", "Y")));
    assert!(present.0 > 1000.0 && (present.0 + rest.0).abs() < 1e-9 * present.0, "{present:?} {rest:?}");
    // A dead load keeps its potential, so that steps can be minimised.
    assert_eq!((present.1, rest.1), (true, false));
}

/// v × B turns the velocity and does no work: a circle of period 2π/B.
#[test]
fn a_force_across_the_velocity_does_no_work() {
    let field = "[body.initial]\nvelocity = [1, 0, 0]\n[[load]]\nacceleration = [\"3*vy\", \"-3*vx\", 0]\n";
    for integrator in
        ["variational", "energy-momentum", "implicit-midpoint", "rk4", "verlet", "generalized-alpha"]
    {
        let mut built = with(integrator, field);
        run(&mut built, 1.0);
        let angle = -mean_velocity(&built, 1).atan2(mean_velocity(&built, 0));
        assert!((angle - 3.0).abs() < 2e-3, "{integrator}: {angle}");
        let energy = 500.0;
        let work = built.simulation.ledger().work_external;
        assert!(work.abs() < 1e-3 * energy, "{integrator}: work {work}");
        assert!((built.simulation.total_energy() / energy - 1.0).abs() < 1e-3, "{integrator}");
    }
}

fn total_force(built: &Built) -> ([f64; 3], f64) {
    let state = built.simulation.state();
    let mut f = vec![0.0; state.q.len()];
    built.simulation.system().add_applied_forces(0.0, &state.q, &state.v, &mut f);
    let total = std::array::from_fn(|k| f.iter().skip(k).step_by(3).sum());
    (total, f.iter().fold(0.0, |m: f64, f| m.max(f.abs())))
}

#[test]
fn a_pressure_follows_the_surface() {
    let load = |place: &str| format!("{CUBE}[[load]]\nwhere = {place}\npressure = 1000\n");
    let turned = "body.initial.rotate={ axis = [0, 0, 1], degrees = 90 }";
    let stretched = "body.initial.stretch=[1, 2, 1.5]";
    // A closed surface has no net force, whatever its shape.
    let (_, closed) = made(&load("\"surface\""), &[turned, stretched, "body.mesh.box.cells=[2, 3, 2]"]);
    let (total, largest) = total_force(&closed);
    assert!(total.iter().all(|f| f.abs() < 1e-12 * largest) && largest > 100.0, "{total:?}");
    // The face X = ½ of 1 m² looks along y after the turn, and is pushed back.
    let (_, face) = made(&load("\"x > 0.49\""), &[turned]);
    let (total, _) = total_force(&face);
    let expected = [0.0, -1000.0, 0.0];
    assert!((0..3).all(|k| (total[k] - expected[k]).abs() < 1e-9), "{total:?}");
}

fn volume(built: &Built) -> f64 {
    let q = &built.simulation.state().q;
    let place = |n: u32| -> [f64; 3] { std::array::from_fn(|k| q[3 * n as usize + k]) };
    let of = |tet: &[u32; 4]| {
        let [o, a, b, c] = tet.map(place);
        let [a, b, c] = [a, b, c].map(|x| -> [f64; 3] { std::array::from_fn(|k| x[k] - o[k]) });
        (a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0]))
            / 6.0
    };
    built.bodies[0].mesh().tets().iter().map(of).sum()
}

/// A body is blown up from inside: the work is the pressure times the gain of volume, and the budget closes.
#[test]
fn the_work_of_a_pressure_is_that_of_the_volume() {
    let text = format!("{CUBE}[[load]]\nwhere = \"surface\"\npressure = -2e4\n");
    for integrator in ["energy-momentum", "variational"] {
        let name = format!("integrator.name={integrator}");
        let (_, mut built) = made(&text, &["body.material.E=1e5", &name, "time.step=0.002"]);
        let before = volume(&built);
        run(&mut built, 0.01);
        let gained = volume(&built) - before;
        assert!(gained > 0.01, "{gained}");
        let ledger = built.simulation.ledger();
        assert!((ledger.work_external / (2e4 * gained) - 1.0).abs() < 2e-3, "{integrator}");
        let lost = ledger.dissipated_numerical(built.simulation.total_energy());
        let closed = if integrator == "energy-momentum" { 1e-8 } else { 0.02 };
        assert!(lost.abs() < closed * ledger.work_external, "{integrator}: {lost}");
    }
}

/// At rest the force of place balances the weight: y = −g/k for the centre of mass.
#[test]
fn a_static_equilibrium_keeps_forces_of_place() {
    let held = "[body.initial]\nrest = true\n[[load]]\nacceleration = [\"-100*x - vx\", \"-9.81 - 100*y\", \"-100*z\"]\n";
    let (_, built) = made(&format!("{CUBE}{held}"), &[]);
    let (system, state) = (built.simulation.system(), built.simulation.state());
    let masses = system.node_masses();
    let moment: f64 = state.q.chunks_exact(3).zip(masses.iter()).map(|(x, m)| x[1] * m).sum();
    let height = moment / masses.iter().sum::<f64>();
    assert!((height + 0.0981).abs() < 1e-8, "{height}");
}

#[test]
fn wrong_variables_are_told() {
    for (load, words) in [
        ("acceleration = [\"w\", 0, 0]", "unknown name \"w\""),
        ("where = { nearest = [0, 0, 0] }\npressure = 1", "selects no complete face"),
        ("where = \"surface\"\npressure = [1, 2, 3]", "pressure"),
    ] {
        let text = format!("{CUBE}[[load]]\n{load}\n");
        let scene = Scene::from_str_with(&text, "scene.toml", &[]);
        let error = scene.and_then(|scene| build(&scene).map(|_| ())).expect_err(load).to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// A node is a ball of its own volume: attracted as a point from outside, not at all at its centre, and W changes smoothly.
#[test]
fn a_vertex_on_the_monopole_feels_no_force() {
    let monopole = "environment.monopole={ strength = 2, at = [0, 0, 0] }";
    let (_, built) = made(CUBE, &[monopole, "body.mesh.box.cells=[2, 2, 2]"]);
    let (system, mut q) = (built.simulation.system(), built.simulation.state().q.clone());
    let center = q.chunks_exact(3).position(|x| x.iter().all(|x| x.abs() < 1e-12)).expect("a vertex there");
    let gradient = |q: &[f64]| -> [f64; 3] {
        let mut g = vec![0.0; q.len()];
        system.potentials().last().expect("the monopole").add_gradient(q, &mut g);
        [0, 1, 2].map(|k| g[3 * center + k])
    };
    let energy = |q: &[f64]| system.potentials().last().expect("the monopole").energy(q);
    assert_eq!(gradient(&q), [0.0; 3]);
    let mass = system.node_masses()[center];
    let radius = (0.75 * mass / 1000.0 / std::f64::consts::PI).cbrt();
    for distance in [0.3 * radius, 0.99 * radius, 1.01 * radius, 3.0 * radius] {
        q[3 * center] = distance;
        let slope = gradient(&q)[0];
        let ends = [1e-6, -1e-6].map(|d| {
            let mut moved = q.clone();
            moved[3 * center] += d;
            energy(&moved)
        });
        assert!(((ends[0] - ends[1]) / 2e-6 / slope - 1.0).abs() < 1e-6, "{distance}");
        let point = 2.0 * mass / (distance * distance) * (distance / radius).min(1.0).powi(3);
        assert!((slope / point - 1.0).abs() < 1e-12, "{distance}: {slope} of {point}");
    }
    // At rest round its centre the cube runs.
    let (_, mut built) = made(CUBE, &[monopole, "body.mesh.box.cells=[2, 2, 2]"]);
    run(&mut built, 0.1);
}
