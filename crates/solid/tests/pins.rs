//! Nodes that are held, standing or moving, are exactly where they are told to be, whichever way a step is computed.

mod common;

use common::{body, flat};
use lilyan_dynamics::integrators::find;
use lilyan_dynamics::{State, System, Value};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{Model, ModelBuilder, Motion, Pin};

/// A bar whose one end is shaken along y and let go after 0.04 s; the other end stands in x.
fn shaken() -> (Model, State, Vec<usize>) {
    let mesh = box_mesh([2.0, 0.5, 0.5], [24, 6, 6]).unwrap();
    let at = |x: f64| -> Vec<u32> {
        (0u32..).zip(&mesh.vertices).filter(|(_, v)| (v[0] - x).abs() < 1e-9).map(|(n, _)| n).collect()
    };
    let (shaken, stands) = (at(0.0), at(2.0));
    let dofs = shaken.iter().map(|n| 3 * *n as usize + 1).collect();
    let mut builder = ModelBuilder::default();
    builder.body(body(mesh.clone(), "neo-hookean")).unwrap();
    builder.gravity([0.0, 0.0, -9.81]);
    builder.pin(Pin {
        nodes: shaken,
        axes: [true; 3],
        motion: Some(Motion::Translation(Box::new(motion))),
        until: 0.04,
    });
    builder.pin(Pin { nodes: stands, axes: [true, false, false], motion: None, until: f64::INFINITY });
    let model = builder.build();
    let rest = flat(&mesh.vertices);
    let v = vec![0.0; rest.len()];
    let state = State::new(&model, rest, v);
    (model, state, dofs)
}

fn motion(t: f64) -> ([f64; 3], [f64; 3]) {
    ([0.0, 0.02 * (40.0 * t).sin(), 0.0], [0.0, 0.8 * (40.0 * t).cos(), 0.0])
}

/// Verlet has a short way for systems without damping or constraints, and one for all; with rounding errors carried along it
/// takes the latter.
#[test]
fn both_ways_of_verlet_agree() {
    let (model, start, shaken) = shaken();
    let mut ways = [false, true].map(|compensated| {
        let given = [("compensated".to_string(), Value::Flag(compensated))];
        (find("verlet").unwrap().create(&given).unwrap(), start.clone())
    });
    let h = 5e-4;
    for step in 1..=160 {
        for (method, state) in &mut ways {
            method.step(&model, state, h).unwrap();
            let (offset, rate) = motion(state.t);
            if step <= 80 {
                for &i in &shaken {
                    assert_eq!((state.q[i], state.v[i]), (start.q[i] + offset[1], rate[1]), "step {step}");
                    let mut p = vec![0.0; state.p.len()];
                    model.mass().mul(&state.v, &mut p);
                    assert_eq!(state.p[i], p[i]);
                }
            }
        }
        let [(_, short), (_, whole)] = &ways;
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let (far, fast) = (apart(&short.q, &whole.q), apart(&short.v, &whole.v));
        assert!(far < 1e-12 && fast < 1e-9, "step {step}: {far:e} m, {fast:e} m/s");
    }
    let fallen = start.q.iter().zip(&ways[0].1.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(fallen > 0.01, "it hardly moved: {fallen}");
}
