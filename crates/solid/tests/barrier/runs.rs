//! Impacts: energy, momenta, and no penetration, at any step.

use lilyan_dynamics::{Simulation, State, Value, integrators};
use lilyan_parallel::threads;
use lilyan_solid::contact::barrier::Barrier;
use lilyan_solid::contact::{ContactPair, ObstacleShape};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, Model, ModelBuilder};
use std::sync::Arc;

const WALL: ObstacleShape = ObstacleShape::Plane { point: [0.0; 3], normal: [1.0, 0.0, 0.0] };

fn body(name: &str, size: [f64; 3], cells: [usize; 3], at: [f64; 3], [young, nu]: [f64; 2]) -> BodyInput {
    let mut mesh = box_mesh(size, cells).unwrap();
    mesh.vertices.iter_mut().for_each(|x| (0..3).for_each(|k| x[k] += at[k]));
    BodyInput::new(name, mesh, find("stvk").unwrap(), Given::from_young(young, nu).unwrap(), 1000.0)
}

fn barrier(distance: f64, modulus: f64) -> Arc<Barrier> {
    Arc::new(Barrier { distance, modulus: Some(modulus), moduli: Vec::new(), friction: None })
}

fn simulation(model: Model, v: Vec<f64>, integrator: &str, h: f64) -> Simulation<Model> {
    let state = State::new(&model, model.start().to_vec(), v);
    let options = [("tolerance".to_string(), Value::Number(1e-12))];
    Simulation::new(model, integrators::find(integrator).unwrap().create(&options).unwrap(), state, h)
}

/// An elastic bar of so many cells meets a wall at v/c = 0.01, in steps of h c/Δx. Returns the rebound of its centre over the speed
/// before, and the largest change of the energy over the energy.
fn bar(cells: usize, courant: f64) -> (f64, f64) {
    let (young, speed) = (1e6, 0.3);
    let c = (young / 1000.0f64).sqrt();
    let mut builder = ModelBuilder::default();
    builder.body(body("bar", [4.0, 0.1, 0.1], [cells, 1, 1], [6e-4, 0.0, 0.0], [young, 0.0])).unwrap();
    builder.contact(ContactPair::Obstacle(WALL), barrier(4e-4, 0.1 * young)).unwrap();
    let model = builder.build();
    let v: Vec<f64> = (0..model.start().len()).map(|i| if i % 3 == 0 { -speed } else { 0.0 }).collect();
    let mass: f64 = model.node_masses().iter().sum();
    let mut run = simulation(model, v, "energy-momentum", courant * 4.0 / cells as f64 / c);
    let before = run.total_energy();
    let mut drift = 0.0f64;
    // The contact lasts 2L/c.
    while run.state().t < 2.5 * 8.0 / c {
        run.advance().unwrap();
        drift = drift.max((run.total_energy() - before).abs() / before);
        let least = run.state().q.chunks_exact(3).fold(f64::INFINITY, |m, x| m.min(x[0]));
        assert!(least > 0.0, "through the wall at {}", run.state().t);
    }
    (run.state().momenta([0.0; 3]).0[0] / (mass * speed), drift)
}

/// What the centre does not get back is in waves shorter than a few cells, which the mesh disperses. A linear bar in one dimension,
/// with the same barrier and each step solved by bisection, has e = 0.976 for 40 cells and h c/Δx = 0.4, between 0.965 and 0.975 at 1
/// (by its gap at the start), and 0.982 for 80 cells at 1.
#[test]
fn a_bar_gives_back_its_speed_and_its_energy_at_any_step() {
    let cases =
        [(40, 0.4, 0.97), (40, 1.0, 0.96), (80, 1.0, 0.97), (40, 4.0, 0.9), (40, 16.0, 0.7), (40, 32.0, 0.6)];
    for (cells, courant, least) in cases {
        let (rebound, drift) = bar(cells, courant);
        println!("{cells} cells, h c/Δx = {courant}: e = {rebound:.4}, energy {drift:.1e}");
        assert!(drift < 1e-10, "{cells} cells, h c/Δx = {courant}: {drift}");
        assert!(rebound > least && rebound < 1.0, "{cells} cells, h c/Δx = {courant}: {rebound}");
    }
}

/// Two cubes meet off centre. Returns the end, and the largest relative changes of energy, momentum and angular momentum.
fn collide(integrator: &str, h: f64) -> (Vec<f64>, [f64; 3]) {
    let mut builder = ModelBuilder::default();
    builder.body(body("a", [0.1; 3], [2; 3], [0.0; 3], [1e5, 0.3])).unwrap();
    let b = builder.body(body("b", [0.1; 3], [3; 3], [0.104, 0.031, 0.024], [1e5, 0.3])).unwrap().range();
    builder.contact(ContactPair::Bodies(None), barrier(1e-3, 1e5)).unwrap();
    let model = builder.build();
    let nodes = model.start().len() / 3;
    let v: Vec<f64> =
        (0..nodes).flat_map(|n| if b.contains(&n) { [-0.5, 0.1, 0.0] } else { [0.5, 0.0, 0.2] }).collect();
    let mut run = simulation(model, v, integrator, h);
    let about = [0.05; 3];
    let ((p0, l0), e0) = (run.state().momenta(about), run.total_energy());
    let mut worst = [0.0f64; 3];
    while run.state().t < 0.06 {
        run.advance().unwrap();
        let (p, l) = run.state().momenta(about);
        worst[0] = worst[0].max((run.total_energy() - e0).abs() / e0);
        for k in 0..3 {
            // Against mass times speed, and that times an edge.
            worst[1] = worst[1].max((p[k] - p0[k]).abs());
            worst[2] = worst[2].max((l[k] - l0[k]).abs() / 0.1);
        }
    }
    let mean = |r: std::ops::Range<usize>| {
        let v = &run.state().v[3 * r.start..3 * r.end];
        v.chunks_exact(3).map(|v| v[0]).sum::<f64>() / r.len() as f64
    };
    assert!(mean(0..b.start) < 0.0 && mean(b) > 0.0, "{integrator}: not reflected");
    (run.state().q.clone(), worst)
}

#[test]
fn energy_and_momenta_pass_through_an_impact_of_two_bodies() {
    for h in [1e-3, 4e-3] {
        let (_, [energy, momentum, angular]) = collide("energy-momentum", h);
        println!("h = {h}: energy {energy:.1e}, momentum {momentum:.1e}, angular momentum {angular:.1e}");
        assert!(energy < 1e-10 && momentum < 1e-12 && angular < 1e-12);
    }
}

#[test]
fn threads_do_not_matter() {
    let of = |count: usize| {
        threads::set_threads(count);
        collide("backward-euler", 2e-3).0
    };
    let [one, two, three] = [1, 2, 3].map(of);
    threads::set_threads(1);
    assert!(one == two && two == three);
}
