//! `lilyan compare`: measures against closed forms, references, and whole comparisons of small scenes.

mod common {
    pub mod running;
}

use common::running::made;
use lilyan_dynamics::State;
use lilyan_dynamics::systems::Oscillator;
use lilyan_scene::build::{Conserved, Probe};
use lilyan_study::compare::*;
use lilyan_study::run::Signal;
use std::f64::consts::TAU;

const END: f64 = 5.0;

/// A mass at 1 m, released, with a period of 1 s.
fn oscillator() -> Runner<Oscillator> {
    let system = Oscillator::new(TAU);
    let start = State::new(&system, vec![1.0, 0.0, 0.0], vec![0.0; 3]);
    Runner::new(system, start)
}

fn cosine(times: &SampleTimes, omega: f64) -> SampledPositions {
    times.as_slice().iter().map(|t| vec![(omega * t).cos(), 0.0, 0.0]).collect()
}

/// A run against the exact motion.
fn run(method: &str, step: f64, times: &SampleTimes) -> ComparisonRow {
    let mut runner = oscillator();
    let weights = weights(runner.system());
    let exact = cosine(times, TAU);
    let probes = [Probe { name: "mass".into(), weights: vec![(0, 1.0)] }];
    let norm = ErrorNorm::new(&weights, &probes, &exact);
    let conserved = Conserved { energy: true, linear: false, angular: true, damping_torque: [None, None] };
    let shown = ReplaySurface::new(1, &[], &[]);
    let mut go_on = |_: f64| true;
    let mut recorder = RowRecorder::new(&norm, 0.5 * TAU * TAU, conserved, &shown, &mut go_on);
    let method = ConfiguredIntegrator::parse(method).unwrap();
    let done = runner.run(&method, step, times, 60.0, &mut recorder);
    recorder.row(&method, step, done, [0, 0])
}

#[test]
fn errors_are_those_of_the_closed_form() {
    // Verlet oscillates exactly, at the frequency with sin(ω'h/2) = ωh/2.
    let step = 0.02;
    let times = SampleTimes::new(END, step, 100);
    let seen = 2.0 / step * (0.5 * TAU * step).asin();
    let mean = |f: &dyn Fn(f64) -> f64| {
        let t = &times.as_slice()[1..];
        (t.iter().map(|t| f(*t).powi(2)).sum::<f64>() / t.len() as f64).sqrt()
    };
    let wrong = |t: f64| (seen * t).cos() - (TAU * t).cos();
    let expected = mean(&wrong) / mean(&|t| (TAU * t).cos() - 1.0);
    let row = run("verlet", step, &times);
    let errors = row.errors.clone().unwrap();
    assert!((errors.l2 / expected - 1.0).abs() < 1e-6, "{} {expected}", errors.l2);
    assert!((errors.probe().unwrap() / expected - 1.0).abs() < 1e-6);
    let worst = times.as_slice().iter().map(|t| wrong(*t).abs()).fold(0.0, f64::max);
    let size = mean(&|t| (TAU * t).cos() - 1.0);
    assert!((errors.worst * size / worst - 1.0).abs() < 1e-6);
    assert_eq!(row.work.steps, 250);
    assert_eq!(row.linear_drift, None);
    assert_eq!(row.angular_drift, Some(0.0));
}

#[test]
fn steps_that_miss_the_common_times_are_interpolated() {
    let times = SampleTimes::new(END, 0.02, 100);
    let (on, off) = (run("verlet", 0.01, &times), run("verlet", 0.0101, &times));
    assert!((off.mean_step() - 0.0101).abs() < 1e-12);
    let (on, off) = (on.error().unwrap(), off.error().unwrap());
    // Second order: the slightly longer step is worse by 2 %, and interpolation adds nothing that counts.
    assert!((off / on - 1.0201).abs() < 0.01, "{}", off / on);
}

#[test]
fn energy_lost_by_backward_euler_is_that_of_the_closed_form() {
    let step = 0.01;
    let row = run("backward-euler(tolerance=1e-13)", step, &SampleTimes::new(END, step, 100));
    // Each step divides the energy by 1 + h²ω².
    let left = (1.0 + (TAU * step).powi(2)).powf(-END / step);
    let [extreme, last] = row.energy_drift.unwrap();
    assert!((last - (left - 1.0)).abs() < 1e-6, "{last} {left}");
    assert_eq!(extreme, last);
    let kept = run("energy-momentum", step, &SampleTimes::new(END, step, 100)).energy_drift.unwrap();
    assert!(kept[0].abs() < 1e-8);
}

#[test]
fn orders_are_those_of_the_cards() {
    for (method, order) in [("verlet", 2.0), ("variational", 2.0), ("rk4", 4.0), ("variational-4", 4.0)] {
        let steps = [0.04, 0.02, 0.01];
        let times = SampleTimes::new(END, steps[0], 100);
        let runs: Vec<(f64, f64)> =
            steps.iter().map(|h| (*h, run(method, *h, &times).error().unwrap())).collect();
        let found = measured_order(&runs, 1e-12).unwrap();
        assert!((found - order).abs() < 0.1, "{method}: {found}");
    }
}

#[test]
fn references_are_as_good_as_they_say() {
    let times = SampleTimes::new(END, 0.04, 100);
    let exact = cosine(&times, TAU);
    for (method, extrapolate, halvings) in
        [("rk4", true, 8), ("variational-4", true, 8), ("verlet", true, 4), ("verlet", false, 6)]
    {
        let mut runner = oscillator();
        let weights = weights(runner.system());
        let options = RefinementOptions { first_step: 0.04, extrapolate, halvings, budget: 60.0 };
        let method = ConfiguredIntegrator::parse(method).unwrap();
        let found = refine(&mut runner, &method, &options, &weights, &times, &mut |_, _| true).unwrap();
        assert_eq!(found.extrapolated.is_some(), extrapolate, "{method}");
        let probes: [Probe; 0] = [];
        let norm = ErrorNorm::new(&weights, &probes, &exact);
        let mut sums = ErrorSums::default();
        found.positions.iter().enumerate().for_each(|(k, q)| norm.add(&mut sums, k, q));
        let (wrong, told) = (norm.errors(&sums).l2, found.error.unwrap());
        assert!(wrong < 1.1 * told + 1e-11, "{method}: off by {wrong}, said {told}");
        assert!(told < 1e-3, "{method}: {told}");
    }
}

const BAR: &str = r#"
title = "bar"
[time]
end = 0.2
step = 0.005
[integrator]
name = "variational"
[[body]]
name = "bar"
mesh = { box = { size = [2, 1, 1], cells = [2, 1, 1] } }
material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
initial = { stretch = [1.1, 1, 1], angular_velocity = [0, 0, 1] }
[[probe]]
name = "tip"
body = "bar"
at = [2, 0.5, 0.5]
"#;

fn compared(text: &str, overrides: &[&str], options: &CompareOptions) -> Result<Comparison, CompareError> {
    let (scene, built) = made(text, overrides);
    compare(&scene, built, options, &mut |_| Signal::Continue, &mut |_| {})
}

fn methods(list: &str) -> Vec<ConfiguredIntegrator> {
    ConfiguredIntegrator::parse_list(list).unwrap()
}

#[test]
fn a_whole_comparison_makes_sense() {
    let (scene, built) = made(BAR, &[]);
    let options = CompareOptions {
        methods: methods("verlet,variational,variational-4,energy-momentum,backward-euler,rk4"),
        ..CompareOptions::default()
    };
    let mut told = 0;
    let c =
        compare(&scene, built, &options, &mut |_| Signal::Continue, &mut |rows| told = rows.len()).unwrap();
    assert_eq!(told, c.rows.len());
    assert!(c.reference.error.unwrap() < 1e-6 && c.reference.extrapolated.is_some());
    for row in &c.rows {
        assert!(row.finished(), "{} {}: {}", row.method, row.step, row.ended.reason());
        let order = c.order(&row.method).unwrap();
        let card = f64::from(row.method.claims().unwrap().order);
        assert!((order - card).abs() < 0.3, "{}: {order}", row.method);
        assert!(row.linear_drift.unwrap() < 1e-12, "{}", row.method);
        let [extreme, _] = row.energy_drift.unwrap();
        match row.method.name {
            "backward-euler" => assert!(extreme < -1e-3),
            "energy-momentum" => assert!(extreme.abs() < 1e-8),
            _ => {}
        }
        if row.method.claims().unwrap().angular_momentum {
            assert!(row.angular_drift.unwrap() < 1e-8, "{}", row.method);
        }
        assert!(row.calls[0] >= row.work.steps);
    }
    let advised = c.advice[0].row.expect("something reaches 1 %");
    assert!(c.rows[advised].error().unwrap() < 0.01);

    let folder = common::running::folder("compare");
    write(&scene, &c, &folder).unwrap();
    let csv = std::fs::read_to_string(folder.join("compare.csv")).unwrap();
    assert_eq!(csv.lines().count(), c.rows.len() + 1);
    let file: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("compare.json")).unwrap()).unwrap();
    assert_eq!(file["rows"].as_array().unwrap().len(), c.rows.len());
    assert_eq!(file["advice"].as_array().unwrap().len(), 3);
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    for wanted in ["Comparison of integrators", "Work and precision", "distance from the reference", "Advice"]
    {
        assert!(page.contains(wanted), "{wanted}");
    }
    let table = terminal(&c);
    assert!(table.iter().all(|row| row.len() == table[0].len()));
}

#[test]
fn runs_that_cannot_go_on_are_rows_with_a_reason() {
    let options = CompareOptions {
        methods: methods("verlet,explicit-euler,backward-euler"),
        steps: vec![0.1],
        ..CompareOptions::default()
    };
    let c = compared(BAR, &["time.end=2"], &options).unwrap();
    assert_eq!(c.rows.len(), 3);
    for row in &c.rows[..2] {
        assert!(!row.finished() && !row.ended.reason().is_empty(), "{} {:?}", row.method, row.ended);
        assert!(row.errors.is_none());
    }
    assert!(c.rows[2].finished());
    // An error beyond all goals, and said to be so.
    assert_eq!(c.advice[0].row, None);
    assert!(c.advice[0].text.contains("No run reaches 1 %"), "{}", c.advice[0].text);
}

#[test]
fn methods_that_refuse_the_scene_are_left_out_or_say_why() {
    // A neo-Hookean body has no co-rotated stiffness.
    let asked = CompareOptions { methods: methods("corotational-reversible"), ..CompareOptions::default() };
    let c = compared(BAR, &[], &asked).unwrap();
    assert_eq!(c.rows.len(), 1);
    assert_eq!(c.rows[0].ended.word(), "refused");
    assert!(c.rows[0].ended.reason().contains("co-rotat"), "{}", c.rows[0].ended.reason());
    let all = compared(BAR, &["time.end=0.02"], &CompareOptions::default()).unwrap();
    assert!(all.rows.iter().all(|r| r.method.name != "corotational-reversible"));
    assert!(
        all.notes.iter().any(|n| n.starts_with("corotational-reversible is left out")),
        "{:?}",
        all.notes
    );
    assert!(all.rows.iter().any(|r| r.method.name == "verlet"));
}

#[test]
fn explicit_steps_are_chosen_below_their_limit() {
    let damped = BAR.replace("initial =", "damping = { model = \"viscous\", time = 0.05 }\ninitial =");
    for text in [BAR, &damped] {
        let options = CompareOptions { methods: methods("verlet,rk4"), ..CompareOptions::default() };
        let c = compared(text, &["time.step=0.05"], &options).unwrap();
        for method in methods("verlet,rk4") {
            let held = c.rows.iter().filter(|r| r.method == method && r.finished()).count();
            assert!(held >= 3, "{method}: {held}");
        }
    }
}

#[test]
fn contact_is_compared_with_a_fine_run() {
    let floor = BAR.replace(
        "[[probe]]",
        "[environment]\ngravity = [0, -9.81, 0]\n[[contact]]\nkind = \"plane\"\nmodel = \"penalty\"\npoint = [0, -0.05, 0]\n\
         normal = [0, 1, 0]\n[[probe]]",
    );
    let options = CompareOptions { methods: methods("energy-momentum"), ..CompareOptions::default() };
    let c = compared(&floor, &[], &options).unwrap();
    assert_eq!(c.reference.extrapolated, None);
    assert!(c.reference.error.unwrap() < 1e-3);
    assert!(c.rows.iter().all(|r| r.finished() && r.linear_drift.is_none()));
}

#[test]
fn the_reference_can_be_chosen() {
    for (choice, step) in [("verlet@0.0005", Some(0.0005)), ("fine", None), ("variational", None)] {
        let reference = ReferenceChoice::parse(choice).unwrap();
        let methods = methods("backward-euler");
        let options = CompareOptions { methods, reference, ..CompareOptions::default() };
        let c = compared(BAR, &[], &options).unwrap();
        if let Some(step) = step {
            assert!((c.reference.step / step - 1.0).abs() < 1e-12);
        }
        assert_eq!(c.reference.extrapolated.is_some(), choice == "variational", "{choice}");
        assert!(c.reference.error.unwrap() < 1e-3, "{choice}");
    }
    for (choice, wanted) in [("verlett", "verlet"), ("verlet@-1", "positive"), ("rk4@x", "seconds")] {
        let error = ReferenceChoice::parse(choice).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn requests_without_sense_are_refused() {
    let still = BAR.replace("initial = { stretch = [1.1, 1, 1], angular_velocity = [0, 0, 1] }", "");
    let options = CompareOptions { methods: methods("verlet"), ..CompareOptions::default() };
    assert!(
        matches!(compared(&still, &[], &options), Err(CompareError::Input(why)) if why.contains("nothing moves"))
    );
    let long = CompareOptions { steps: vec![7.0], ..options.clone() };
    assert!(matches!(compared(BAR, &[], &long), Err(CompareError::Input(why)) if why.contains("7 s")));
    let hasty = CompareOptions { budget: 1e-9, ..options };
    assert!(matches!(compared(BAR, &[], &hasty), Err(CompareError::NoReference(_))));
}

#[test]
fn what_is_done_when_interrupted_is_kept() {
    let (scene, built) = made(BAR, &[]);
    let options = CompareOptions { methods: methods("verlet"), ..CompareOptions::default() };
    let mut progress = |now: &CompareProgress<'_>| match !now.reference && now.run == 2 {
        true => Signal::Stop,
        false => Signal::Continue,
    };
    let c = compare(&scene, built, &options, &mut progress, &mut |_| {}).unwrap();
    assert!(c.interrupted);
    assert_eq!(c.rows.len(), 2);
    assert!(c.rows.iter().all(ComparisonRow::finished));
    let (scene, built) = made(BAR, &[]);
    let early = compare(&scene, built, &options, &mut |_| Signal::Stop, &mut |_| {});
    assert!(matches!(early, Err(CompareError::Interrupted)));
}
