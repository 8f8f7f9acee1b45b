//! Time adaption on finite elements: what the rules do to the energy of a free bar, and whether they pay.
//! `LILYAN_LONG=1 cargo test -p lilyan-solid --test time_adaption -- --nocapture` prints the figures of
//! docs/time-adaption.md.

mod common;

use common::{energy, long};
use lilyan_dynamics::{Integrator, State, Value, integrators};
use lilyan_solid::Model;
use lilyan_solid::meshing::box_mesh;

fn make(name: &str, rule: &str, scale: f64) -> Box<dyn Integrator> {
    let given = [("rule".into(), Value::Word(rule.into())), ("scale".into(), Value::Number(scale))];
    integrators::find(name).unwrap().create(&given).unwrap()
}

/// A free bar of 24 tets, stretched by 15 %, that tumbles.
fn bar() -> (Model, State) {
    let model = common::bar(4, "stvk", None);
    let mesh = box_mesh([2.0, 0.5, 0.5], [4, 1, 1]).unwrap();
    let state = common::tumbling(&model, &mesh, 1.15);
    (model, state)
}

/// Mean energy over that at the start, in the first and the last tenth of `end` seconds; the shortest and longest σ.
fn run(name: &str, rule: &str, scale: f64, h: f64, end: f64) -> [f64; 4] {
    let (model, mut state) = bar();
    let start = energy(&model, &state);
    let mut method = make(name, rule, scale);
    let (mut parts, mut counts) = ([0.0; 2], [0.0; 2]);
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    while state.t < end {
        let before = state.t;
        if method.step(&model, &mut state, h).is_err() || energy(&model, &state) > 100.0 * start {
            return [parts[0] / counts[0], f64::INFINITY, least, most];
        }
        let sigma = (state.t - before) / h;
        (least, most) = (least.min(sigma), most.max(sigma));
        for (k, within) in [state.t < 0.1 * end, state.t > 0.9 * end].into_iter().enumerate() {
            if within {
                parts[k] += energy(&model, &state) / start;
                counts[k] += 1.0;
            }
        }
    }
    [parts[0] / counts[0], parts[1] / counts[1], least, most]
}

/// With steps that its fastest vibration resolves, a bar keeps its energy under the rules.
#[test]
fn a_resolved_bar_keeps_its_energy() {
    for name in ["adaptive-reversible", "adaptive-symplectic"] {
        let [first, last, least, most] = run(name, "acceleration", 5.0, 0.01, 4.0);
        println!("{name}: energy × {first:.4} → {last:.4}, sigma {least:.3} to {most:.3}");
        assert!((last / first - 1.0).abs() < 0.01, "{name}: {first} → {last}");
        assert!(most > 1.2 * least, "{name} does not adapt");
    }
}

/// The figures at steps beyond the explicit limit; only measured.
#[test]
fn unresolved_bars_drift() {
    if !long() {
        return;
    }
    let (model, state) = bar();
    println!("explicit limit {:.4} s", common::explicit_limit(&model, &state.q));
    for (rule, scale) in
        [("acceleration", 0.0), ("acceleration", 40.0), ("potential", 1000.0), ("poses", 1000.0)]
    {
        for name in ["adaptive-naive", "adaptive-reversible", "adaptive-symplectic"] {
            let [first, last, least, most] = run(name, rule, scale, 0.04, 60.0);
            println!(
                "{rule} {scale}, {name}: energy × {first:.4} → {last:.4}, sigma {least:.3} to {most:.3}"
            );
        }
    }
}
