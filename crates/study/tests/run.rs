//! Running: to the bit after a restart, with an energy budget that closes.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_study::run::{RunCheckpoint, Status};
use running::{column, folder, made, run_until};
use std::path::Path;

/// A material that the integrator takes, where it does not take any.
fn model_for(integrator: &str, otherwise: &'static str) -> &'static str {
    match integrator {
        "corotational-reversible" => "co-rotational",
        "regularized" => "stvk",
        _ => otherwise,
    }
}

/// Two boxes that hit each other, slide and part.
const CRASH: &str = r#"
title = "crash"
[time]
end = 0.25
step = 0.0025
[integrator]
name = "energy-momentum"
[[body]]
name = "a"
mesh = { box = { size = [0.4, 0.4, 0.4], cells = [2, 2, 2] } }
material = { model = "stable-neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
initial = { velocity = [1, 0, 0], angular_velocity = [0, 3, 1] }
[[body]]
name = "b"
mesh = { box = { size = [0.4, 0.4, 0.4], cells = [2, 2, 2] }, translate = [0.45, 0.1, 0.05] }
material = { model = "stable-neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
initial = { velocity = [-1, 0.5, 0] }
[[contact]]
kind = "bodies"
model = "penalty"
[[contact]]
kind = "self"
model = "penalty"
body = "a"
[output]
every = 0.025
[[probe]]
body = "b"
at = [0.5, 0.2, 0.1]
"#;

fn assert_same(one: &Path, other: &Path, what: &str) {
    for name in ["energy.csv", "probes.csv", "frames.pvd", "frames/000004.vtu", "frames/000010.vtu"] {
        let read = |folder: &Path| std::fs::read(folder.join(name)).unwrap();
        assert!(read(one) == read(other), "{what}: {name} differs");
    }
}

/// D3 for every integrator, with contacts that come and go: what the factorisation remembers of them is part of
/// the checkpoint.
#[test]
fn every_integrator_resumes_to_the_bit_in_contact() {
    for entry in CATALOGUE {
        let name = format!("integrator.name={}", entry.name);
        let damping = "body.a.damping={ model = \"viscous\", time = 5e-4 }";
        // `ere` has something to remember where it solves.
        let method = if entry.name == "ere" { "integrator.method=shift-invert" } else { damping };
        let model = model_for(entry.name, "stable-neo-hookean");
        let [a, b] = ["a", "b"].map(|body| format!("body.{body}.material.model={model}"));
        let new = || made(CRASH, &[&name, damping, method, &a, &b]);
        let (scene, built) = new();
        let implicit = !built.simulation.integrator().claims().explicit;
        let whole = folder(&format!("whole-{}", entry.name));
        let outcome = run_until(&scene, built, &whole, false, None);
        if entry.name == "explicit-euler" {
            // It gains energy until it bursts; nothing to resume.
            continue;
        }
        assert_eq!(outcome.status, Status::Finished, "{}", entry.name);
        let cut = folder(&format!("cut-{}", entry.name));
        let (nothing, mut remembered) = (new().1.simulation.checkpoint().memory, false);
        for (k, stop) in [Some(23), Some(37), Some(61), None].into_iter().enumerate() {
            let (scene, built) = new();
            run_until(&scene, built, &cut, k > 0, stop);
            remembered |= RunCheckpoint::read(&cut).unwrap().0.simulation.memory != nothing;
        }
        assert_same(&whole, &cut, entry.name);
        assert!(!implicit || remembered, "{}: no coupling was remembered", entry.name);
    }
}

/// What a script needs of a run: where probes ended, what was set, the verdict as a word.
#[test]
fn the_summary_holds_probes_settings_and_checks() {
    let (scene, built) = made(CRASH, &["time.end=0.05", "integrator.name=variational"]);
    let at = folder("summary");
    let outcome = run_until(&scene, built, &at, false, None);
    let text = std::fs::read_to_string(at.join("summary.json")).unwrap();
    let summary: lilyan_study::run::Summary = serde_json::from_str(&text).unwrap();
    assert_eq!(summary.settings["time.end"], "0.05");
    assert_eq!(summary.settings.len(), 2);
    assert_eq!(summary.verdict_level, outcome.verdict.level.name());
    assert_eq!(summary.checks[0].quantity, "Energy");
    let x = column(&at, "probes.csv", "probe1_x");
    let told = summary.probes["probe1_x"];
    assert_eq!(told.last, *x.last().unwrap());
    assert!(told.min <= told.last && told.max == x[0], "{told:?}");
    assert_eq!(summary.probes.len(), 3);
}

/// The old file was written by the last program with that format.
#[test]
fn a_checkpoint_of_an_old_format_is_refused_with_the_remedy() {
    use lilyan_study::run::{RunOptions, Signal, run};
    let directory = folder("old-format");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("checkpoint"), include_bytes!("data/checkpoint-format-5")).unwrap();
    let (scene, built) = made(CRASH, &[]);
    let options = RunOptions { directory: directory.clone(), resume: true, steps: None };
    let error = run(&scene, built, &options, &mut |_| Signal::Continue).err().unwrap().to_string();
    for part in
        ["checkpoint: the checkpoint has format 5", "this program reads format", "run without --resume"]
    {
        assert!(error.contains(part), "{error}");
    }
    let names = std::fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name());
    // The file of the lock stays; the lock itself goes with the process.
    let names: Vec<_> = names.filter(|name| name != ".lilyan-lock").collect();
    assert_eq!(names, ["checkpoint"], "the folder is untouched");
}

/// A row that is too short, as a program with fewer columns would have written it.
#[test]
fn tables_with_other_columns_are_refused() {
    use lilyan_study::run::{RunOptions, Signal, run};
    let directory = folder("other-columns");
    let (scene, built) = made(CRASH, &[]);
    run_until(&scene, built, &directory, false, Some(2));
    let mut saved = RunCheckpoint::read(&directory).unwrap().0;
    saved.energy[0].pop();
    saved.write(&directory).unwrap();
    let options = RunOptions { directory, resume: true, steps: None };
    let error =
        run(&scene, made(CRASH, &[]).1, &options, &mut |_| Signal::Continue).err().unwrap().to_string();
    assert!(error.contains("other columns") && error.contains("without --resume"), "{error}");
}

/// A checkpoint of this scene with the memory of another integrator.
#[test]
fn a_memory_that_the_integrator_cannot_read_is_refused() {
    use lilyan_study::run::{RunOptions, Signal, run};
    let directory = folder("other-memory");
    let (scene, built) = made(CRASH, &[]);
    let other = made(CRASH, &["integrator.name=verlet"]).1.simulation.checkpoint().memory;
    run_until(&scene, built, &directory, false, Some(2));
    let mut saved = RunCheckpoint::read(&directory).unwrap().0;
    saved.simulation.memory = other;
    saved.write(&directory).unwrap();
    let options = RunOptions { directory, resume: true, steps: None };
    let error =
        run(&scene, made(CRASH, &[]).1, &options, &mut |_| Signal::Continue).err().unwrap().to_string();
    assert!(error.contains("kind \"verlet\"") && error.contains("without --resume"), "{error}");
}

#[test]
fn an_early_stop_leaves_no_trace_in_the_tables() {
    use lilyan_study::run::{RunOptions, Signal, run};
    let sparse = ["output.energy_every=7"];
    let (scene, built) = made(CRASH, &sparse);
    let whole = folder("sparse-whole");
    run_until(&scene, built, &whole, false, None);
    let cut = folder("sparse-cut");
    for (resume, steps) in [(false, Some(24)), (true, None)] {
        let (scene, built) = made(CRASH, &sparse);
        let options = RunOptions { directory: cut.clone(), resume, steps };
        run(&scene, built, &options, &mut |_| Signal::Continue).unwrap();
    }
    assert_same(&whole, &cut, "energy_every = 7");
}

/// A bar that is clamped at one end.
const BAR: &str = r#"
title = "bar"
[time]
end = 0.8
step = 0.01
[integrator]
name = "energy-momentum"
[[body]]
name = "bar"
mesh = { box = { size = [2, 0.5, 0.5], cells = [4, 1, 1] } }
material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
[output]
every = 0.1
replay = false
"#;

const SHAKEN: &str = "pin=[{ body = \"bar\", where = { box = { min = [-1, -1, -1], max = [0.01, 1, 1] } }, \
     motion = [\"0.1*sin(5*t)\", \"0.2*t^2\", \"0.05*(1-cos(9*t))\"] }]";

/// Largest |total − initial − work + dissipated| over the largest energy in play.
fn unaccounted(name: &str, overrides: &[&str]) -> f64 {
    let (scene, built) = made(BAR, overrides);
    let at = folder(name);
    let outcome = run_until(&scene, built, &at, false, None);
    assert_eq!(outcome.status, Status::Finished, "{name}");
    let get = |c: &str| column(&at, "energy.csv", c);
    let (total, work, taken) = (get("total"), get("work_external"), get("dissipated_physical"));
    let numerical = get("dissipated_numerical");
    let scale = get("kinetic").iter().zip(get("elastic")).fold(0.0, |m: f64, (k, e)| m.max(k + e));
    assert!(scale > 0.0 && work.iter().any(|w| *w != 0.0), "{name}: nothing happened");
    let mut worst = 0.0f64;
    for k in 0..total.len() {
        let left = total[k] - total[0] - work[k] + taken[k];
        assert!((left + numerical[k]).abs() <= 1e-12 * scale, "{name}: the columns do not add up");
        worst = worst.max(left.abs());
    }
    println!("{name}: {:.1e} of {scale:.3} J", worst / scale);
    worst / scale
}

#[test]
fn the_budget_closes_under_loads() {
    let loads = [
        ("force", "where = { nearest = [2, 0.5, 0.5] }, force = [0, \"-300*sin(4*t)\", 50]"),
        (
            "traction",
            "where = { box = { min = [1.99, -1, -1], max = [3, 2, 2] } }, traction = [\"2e3*t\", 0, 500]",
        ),
        ("body-force", "where = \"all\", body_force = [0, \"-3e3*x\", \"1e3*cos(9*t)\"]"),
        ("acceleration", "where = \"all\", acceleration = [\"5*(t<0.33)\", 0, \"3*y\"]"),
    ];
    for (name, load) in loads {
        let load = format!("load=[{{ body = \"bar\", {load} }}]");
        for (kind, set) in [
            ("free", "environment.gravity=[0, -1, 0]"),
            ("viscous", "body.damping={ model = \"viscous\", time = 0.01 }"),
            ("changing", "environment.gravity=[0, \"-9.81*cos(t)\", 0]"),
        ] {
            let level = unaccounted(&format!("{name}-{kind}"), &[&load, set]);
            assert!(level <= 1e-9, "{name} {kind}: {level:.1e}");
        }
    }
}

#[test]
fn the_budget_closes_with_moving_pins() {
    let cases: [(&str, &[&str]); 5] = [
        ("pins", &[]),
        ("pins-until", &["pin.0.until=0.35"]),
        ("pins-viscous", &["body.damping={ model = \"viscous\", time = 0.01 }"]),
        ("pins-impulse", &["body.damping={ model = \"kharevych\", time = 0.01, implicit = false }"]),
        ("pins-load", &["load=[{ body = \"bar\", where = \"all\", force = [0, \"100*t\", 0] }]"]),
    ];
    for (name, more) in cases {
        let level = unaccounted(name, &[&[SHAKEN], more].concat());
        assert!(level <= 1e-9, "{name}: {level:.1e}");
    }
}

/// Where held and free nodes share mass, and where the method itself does not keep energy, the work of moving pins is
/// known to second order.
#[test]
fn the_budget_with_moving_pins_is_of_second_order_otherwise() {
    for (name, set) in [
        ("consistent", "body.mass=consistent"),
        ("variational", "integrator.name=variational"),
        ("verlet", "integrator.name=verlet"),
    ] {
        let at = |h: f64| unaccounted(&format!("{name}-{h}"), &[SHAKEN, set, &format!("time.step={h}")]);
        let (coarse, fine) = (at(0.01), at(0.005));
        assert!((2.5..6.5).contains(&(coarse / fine)), "{name}: {coarse:.1e} {fine:.1e}");
        assert!(fine < 0.01, "{name}: {fine:.1e}");
    }
}

/// A body that is carried as a whole: the work is its kinetic energy.
#[test]
fn carrying_a_body_costs_its_kinetic_energy() {
    let carried = "pin=[{ body = \"bar\", where = \"all\", motion = [\"1.5*t^2\", 0, 0] }]";
    let (scene, built) = made(BAR, &[carried]);
    let at = folder("carried");
    run_until(&scene, built, &at, false, None);
    let (work, t) = (column(&at, "energy.csv", "work_external"), column(&at, "energy.csv", "t"));
    for (work, t) in work.iter().zip(t) {
        let kinetic = 0.5 * 500.0 * (3.0 * t).powi(2);
        assert!((work - kinetic).abs() <= 1e-12 * kinetic.max(1.0), "t = {t}: {work} J, not {kinetic} J");
    }
}

/// Pins hold to the bit, and let go when told.
#[test]
fn pins_are_where_they_are_told_until_released() {
    let pin = "pin=[{ body = \"bar\", where = { vertices = [0] }, motion = [\"0.1*t\", 0, 0], until = 0.4 }]";
    for entry in CATALOGUE.iter().filter(|e| e.name != "explicit-euler") {
        let name = format!("integrator.name={}", entry.name);
        let model = format!("body.bar.material.model={}", model_for(entry.name, "neo-hookean"));
        let (_, mut built) = made(BAR, &[pin, &name, &model, "environment.gravity=[0, -9.81, 0]"]);
        let start = built.bodies[0].mesh().vertices[0];
        while built.simulation.index() < 60 {
            built.simulation.advance().unwrap_or_else(|e| panic!("{}: {e}", entry.name));
            let t = built.simulation.state().t;
            let x = &built.simulation.state().q[..3];
            if t <= 0.4 {
                assert!((x[0] - (start[0] + 0.1 * t)).abs() <= 1e-15, "{} at {t}", entry.name);
                assert_eq!(x[1..], start[1..], "{} at {t}", entry.name);
            }
        }
        assert!(built.simulation.state().q[1] < start[1] - 1e-3, "{}: not released", entry.name);
    }
}
