//! Things that land on each other and on themselves.

use super::{c_strip, jelly, three};
use lilyan_dynamics::{Simulation, State, Value, integrators};
use lilyan_solid::contact::{ContactPair, LinearPressure, ObstacleShape, Penalty, SurfaceContact};
use lilyan_solid::{Model, ModelBuilder, Pin};
use std::sync::Arc;

fn simulation(model: Model, q: Vec<f64>, v: Vec<f64>, integrator: &str, h: f64) -> Simulation<Model> {
    let state = State::new(&model, q, v);
    let options = [("tolerance".to_string(), Value::Number(1e-12))];
    let integrator = integrators::find(integrator).unwrap().create(&options).unwrap();
    Simulation::new(model, integrator, state, h)
}

fn lowest(q: &[f64]) -> f64 {
    q.chunks_exact(3).fold(f64::INFINITY, |m, x| m.min(x[1]))
}

fn mean_height(q: &[f64]) -> f64 {
    q.chunks_exact(3).map(|x| x[1]).sum::<f64>() / (q.len() / 3) as f64
}

/// A cube falls onto a wider one that lies on a plane.
fn drop_onto(integrator: &str) -> f64 {
    let mut builder = ModelBuilder::default();
    let base = builder.body(jelly("base", [0.3, 0.2, 0.3], [3, 2, 3], [0.0; 3])).unwrap().range();
    let cube = builder.body(jelly("cube", [0.13; 3], [2; 3], [0.07, 0.25, 0.06])).unwrap().range();
    builder.gravity([0.0, -9.81, 0.0]);
    builder
        .contact(
            ContactPair::Obstacle(ObstacleShape::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] }),
            Arc::new(Penalty { stiffness: 1e7, thickness: 0.0 }),
        )
        .unwrap();
    builder
        .contact(ContactPair::Bodies(None), Arc::new(Penalty { stiffness: 1e7, thickness: 1e-3 }))
        .unwrap();
    let q = builder.start().to_vec();
    let model = builder.build();
    let n = q.len();
    let mut run = simulation(model, q, vec![0.0; n], integrator, 1e-3);
    let before = run.total_energy();
    let (mut drift, mut least, mut back) = (0.0f64, f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..300 {
        run.advance().unwrap();
        let q = &run.state().q;
        drift = drift.max((run.total_energy() - before).abs());
        let cube = &q[3 * cube.start..3 * cube.end];
        let top = q[3 * base.start..3 * base.end].chunks_exact(3).fold(0.0f64, |m, x| m.max(x[1]));
        assert!(lowest(cube) > top - 0.03, "{} sinks into {top} at {}", lowest(cube), run.state().t);
        if mean_height(cube) < least {
            (least, back) = (mean_height(cube), mean_height(cube));
        }
        back = back.max(mean_height(cube));
    }
    assert!(least < 0.285 && back > least + 0.01, "touched at {least}, back up to {back}");
    // Against the energy of the fall.
    drift / (1000.0 * 0.13f64.powi(3) * 9.81 * 0.05)
}

#[test]
fn cube_bounces_on_cube_energy_momentum() {
    let drift = drop_onto("energy-momentum");
    println!("drift {drift:.1e}");
    assert!(drift < 1e-7, "{drift}");
}

#[test]
fn cube_bounces_on_cube_variational() {
    let drift = drop_onto("variational");
    println!("drift {drift:.1e}");
    assert!(drift < 0.05, "{drift}");
}

/// Two free cubes collide off centre.
pub fn collide(integrator: &str) -> (Vec<f64>, f64) {
    let mut builder = ModelBuilder::default();
    let a = builder.body(jelly("a", [0.1; 3], [2; 3], [0.0; 3])).unwrap().range();
    let b = builder.body(jelly("b", [0.1; 3], [2; 3], [0.11, 0.03, 0.024])).unwrap().range();
    builder
        .contact(ContactPair::Bodies(Some([0, 1])), Arc::new(Penalty { stiffness: 1e7, thickness: 1e-3 }))
        .unwrap();
    let q = builder.start().to_vec();
    let model = builder.build();
    let v: Vec<f64> = (0..q.len() / 3)
        .flat_map(|n| if b.contains(&n) { [-1.0, 0.1, 0.0] } else { [1.0, 0.0, 0.2] })
        .collect();
    let mut run = simulation(model, q, v, integrator, 5e-4);
    let about = [0.05; 3];
    let ((p0, l0), e0) = (run.state().momenta(about), run.total_energy());
    let (mut drift, mut felt) = (0.0f64, 0.0f64);
    for _ in 0..150 {
        run.advance().unwrap();
        let (p, l) = run.state().momenta(about);
        // Against mass times speed, and that times half an edge.
        let changes = (0..3).map(|k| ((p[k] - p0[k]) / 2.0).abs().max(((l[k] - l0[k]) / 0.1).abs()));
        let worst = changes.fold(0.0, f64::max);
        assert!(worst < 1e-11, "{worst} at {}", run.state().t);
        drift = drift.max((run.total_energy() - e0).abs() / e0);
        felt = felt.max(run.energies().1.other);
    }
    let mean = |r: std::ops::Range<usize>| {
        let v = &run.state().v[3 * r.start..3 * r.end];
        v.chunks_exact(3).map(|v| v[0]).sum::<f64>() / r.len() as f64
    };
    assert!(felt > 0.01 * e0, "never felt each other: {felt} of {e0}");
    assert!(mean(a.clone()) < 0.0 && mean(b.clone()) > 0.0, "not reflected");
    (run.state().q.clone(), drift)
}

#[test]
fn collision_keeps_momenta_variational() {
    let (_, drift) = collide("variational");
    println!("drift {drift:.1e}");
    assert!(drift < 0.05, "{drift}");
}

#[test]
fn collision_keeps_momenta_and_energy_energy_momentum() {
    let (_, drift) = collide("energy-momentum");
    println!("drift {drift:.1e}");
    assert!(drift < 1e-9, "{drift}");
}

/// Both ends of the C are thrown at each other. How far they overlap (m, least gap between the lowest
/// point of the upper and the highest of the lower), and how deep any vertex is in the surface.
fn close_c(with_contact: bool) -> (f64, f64) {
    let mut builder = ModelBuilder::default();
    let nodes = builder.body(c_strip()).unwrap().range();
    if with_contact {
        builder
            .contact(ContactPair::Itself(None), Arc::new(Penalty { stiffness: 3e7, thickness: 1e-3 }))
            .unwrap();
    }
    let law = LinearPressure { stiffness: 3e7 };
    let probe = SurfaceContact::within(vec![Arc::new(builder.contact_surface(0))], law, 1e-3);
    let q = builder.start().to_vec();
    let at = |n: usize| three(&q[3 * n..]);
    let back = nodes.clone().filter(|&n| at(n)[0] < -0.14);
    builder.pin(Pin {
        nodes: back.map(|n| n as u32).collect(),
        axes: [true; 3],
        motion: None,
        until: f64::INFINITY,
    });
    // Upper half down, lower half up, faster towards the ends.
    let speed = |x: [f64; 3]| -1.5 * x[1].signum() * ((x[0] + 0.14).max(0.0) / 0.3);
    let v: Vec<f64> = nodes.clone().flat_map(|n| [0.0, speed(at(n)), 0.0]).collect();
    let ends = nodes.filter(|&n| at(n)[0] > 0.08);
    let (upper, lower): (Vec<usize>, Vec<usize>) = ends.partition(|&n| at(n)[1] > 0.0);
    let mut run = simulation(builder.build(), q.clone(), v, "variational", 1e-3);
    let (mut closest, mut deepest) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..200 {
        run.advance().unwrap();
        let y = |n: &usize| run.state().q[3 * n + 1];
        let bottom = upper.iter().map(y).fold(f64::INFINITY, f64::min);
        let top = lower.iter().map(y).fold(f64::NEG_INFINITY, f64::max);
        closest = closest.min(bottom - top);
        for c in probe.contacts(&run.state().q) {
            deepest = deepest.min(c.distance);
        }
    }
    (closest, deepest)
}

#[test]
fn c_strip_does_not_pass_through_itself() {
    let ((free, _), (kept, deepest)) = (close_c(false), close_c(true));
    println!("gap {free:.4} m without, {kept:.4} m with contact; deepest {deepest:.5} m");
    assert!(free < -0.03, "the ends would not have met: {free}");
    // The ends are slanted: they overlap in height before they are in each other.
    assert!(kept > -0.02, "the ends went past each other by {}", -kept);
    assert!(deepest < 1e-3 && deepest > -2e-3, "{deepest}");
}
