//! Every built-in scene: reads, builds, is diagnosed, runs, and comes out as physics says.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::analysis::assembled::ModeShape;
use lilyan_dynamics::spectrum;
use lilyan_report::Level;
use lilyan_scene::build::{build, open};
use lilyan_scene::library;
use lilyan_study::diagnose;
use lilyan_study::forecast::forecast;
use lilyan_study::run::{RunOptions, RunOutcome, Signal, Status, run};
use running::{column, folder};

/// Runs so many steps of a built-in scene.
fn short(name: &str, overrides: &[&str], steps: u64, at: &str) -> RunOutcome {
    let scene = open(name, overrides).unwrap_or_else(|e| panic!("{e}"));
    let built = build(&scene).unwrap_or_else(|e| panic!("{e}"));
    let options = RunOptions { directory: folder(at), resume: false, steps: Some(steps) };
    run(&scene, built, &options, &mut |_| Signal::Continue).unwrap_or_else(|e| panic!("{e}"))
}

/// Overrides that make a scene light, and how many steps of it are run; a new scene runs 20 as it is.
fn lightly(name: &str) -> (&'static [&'static str], u64) {
    match name {
        "tumbling-rod" | "tumbling-rod-damped" => (&[], 500),
        "tumbling-bar" => (&[], 60),
        "cantilever" | "twisted-bar" | "bench-beam" => (&["body.mesh.box.cells=[8,2,2]"], 40),
        "heterogeneous-bar" => (&["body.mesh.box.cells=[16,2,2]"], 40),
        "steel-cantilever" => (&["body.mesh.box.cells=[20,1,1]"], 100),
        "pendulum" => (&[], 100),
        "spot-landing" => (&[], 4),
        "sliding-block" => (&["body.mesh.box.cells=[2,1,2]"], 40),
        "draping-cloth" => (&["body.mesh.cloth.cells=[10,10]"], 30),
        "swinging-rope" | "swinging-cube" => (&[], 200),
        _ => (&[], 20),
    }
}

#[test]
fn each_builds_and_is_diagnosed() {
    for entry in library::SCENES {
        let scene = open(entry.name, lightly(entry.name).0).unwrap_or_else(|e| panic!("{e}"));
        let built = build(&scene).unwrap_or_else(|e| panic!("{e}"));
        assert!(scene.title.len() > 3 && entry.summary.len() > 10, "{}", entry.name);
        for body in &built.bodies {
            assert!(body.is_net() || body.mesh().quality().min_dihedral > 5.0, "{}: slivers", entry.name);
        }
        match diagnose::largest_frequency(&built) {
            Some(highest) => {
                assert!(
                    diagnose::stable_steps(diagnose::StiffestMode { omega: highest, decay: 0.0 })
                        .iter()
                        .any(|(name, h)| *name == "verlet" && h.is_some())
                );
            }
            // Rods bind what would be stiff.
            None => assert!(["chain", "point-pendulum"].contains(&entry.name), "{}", entry.name),
        }
        // What hangs on rods alone swings freely.
        let rigid = if scene.pins.is_empty() || !scene.constraints.is_empty() { 6 } else { 0 };
        let count = (rigid + 1).min(spectrum::free_unknowns(built.simulation.system()));
        let modes = spectrum::modes(built.simulation.system(), &built.rest_positions(), count).unwrap();
        // A straight rope has no stiffness across itself, a cube of springs may turn about its corner.
        let stiff = modes.values[count - 1] > 0.0 || built.bodies.iter().any(|b| b.is_net());
        assert!(stiff, "{}: {:?}", entry.name, modes.values);
        assert!(diagnose::step_warnings(&scene, &built).is_empty(), "{}: the step is too long", entry.name);
        assert!(built.warnings.is_empty(), "{}: {:?}", entry.name, built.warnings);
    }
}

#[test]
fn each_runs_with_the_verdict_it_should_have() {
    for entry in library::SCENES {
        let (overrides, steps) = lightly(entry.name);
        let outcome = short(entry.name, overrides, steps, &format!("short-{}", entry.name));
        assert_eq!(outcome.status, Status::Finished, "{}", entry.name);
        // The point of the first two is that backward Euler damps by itself, of the third how coarse steps may be.
        if !["bench-beam", "steel-cantilever", "three-masses"].contains(&entry.name) {
            let told = (&outcome.verdict.headline, &outcome.verdict.sentence);
            assert_eq!(outcome.verdict.level, Level::Pass, "{}: {told:?}", entry.name);
        }
    }
}

#[test]
fn the_tumbling_rod_keeps_its_momenta() {
    let outcome = short("tumbling-rod", &[], 2000, "rod");
    let momentum = outcome.summary.momentum;
    for drift in [momentum.linear_drift, momentum.angular_drift].map(Option::unwrap) {
        assert!(drift <= 1e-13, "{drift:.1e}");
    }
}

#[test]
fn the_damped_rod_loses_energy_and_keeps_its_momenta() {
    let outcome = short("tumbling-rod-damped", &[], 2000, "damped-rod");
    let momentum = outcome.summary.momentum;
    for drift in [momentum.linear_drift, momentum.angular_drift].map(Option::unwrap) {
        assert!(drift <= 1e-13, "{drift:.1e}");
    }
    let at = outcome.report.parent().unwrap();
    let (total, elastic) = (column(at, "energy.csv", "total"), column(at, "energy.csv", "elastic"));
    let taken = column(at, "energy.csv", "dissipated_physical");
    assert!(taken.windows(2).all(|w| w[1] >= w[0]), "damping gave energy back");
    assert!(*total.last().unwrap() < 0.95 * total[0]);
    // What is left is the stretch by the spin, and steady.
    let late = &elastic[elastic.len() - 200..];
    let swing = late.iter().fold([f64::INFINITY, 0.0f64], |[a, b], x| [a.min(*x), b.max(*x)]);
    println!(
        "elastic energy {:.0} J at the start, {:.0} to {:.0} J at the end",
        elastic[0], swing[0], swing[1]
    );
    assert!(swing[1] < 0.5 * elastic[0] && swing[1] - swing[0] < 0.2 * elastic[0]);
}

/// What `lilyan check` foretells of the first bending modes is what backward Euler does to them.
#[test]
fn the_steel_cantilever_decays_as_foretold() {
    let (name, coarse) = ("steel-cantilever", ["body.mesh.box.cells=[20,1,1]"]);
    let scene = open(name, &coarse).unwrap();
    let built = build(&scene).unwrap();
    // Two bending modes, in planes that the mesh chooses; a push along y moves both.
    let modes = spectrum::modes(built.simulation.system(), &built.rest_positions(), 2).unwrap();
    let steps = 400;
    let shape = |k: usize| ModeShape { omega: modes.values[k].sqrt(), shape: &modes.vectors[k] };
    let told = forecast(&scene, &[shape(0), shape(1)]).modes;
    let kept = |k: usize| told[k].unwrap().response.growth.powi(2 * steps);
    let (most, least) = (kept(0).max(kept(1)), kept(0).min(kept(1)));
    let outcome = short(name, &coarse, steps as u64, "steel");
    let at = outcome.report.parent().unwrap();
    let total = column(at, "energy.csv", "total");
    let share = total.last().unwrap() / total[0];
    println!("kept {share:.4}, foretold {least:.4} to {most:.4}");
    // A few per cent of the push are in higher modes, which are gone by then.
    assert!(least < 0.8 && (0.93 * least..=1.001 * most).contains(&share));
}

/// \[servin2006\] Fig. 3: with steps of 0.05 s `regularized` has the first low point where steps of 0.005 s have it,
/// linearly implicit Euler more than half as late again.
#[test]
fn the_cube_of_springs_swings_late_under_semi_implicit_euler() {
    let low = |integrator: &str, step: &str| {
        let overrides = [format!("integrator.name={integrator}"), format!("time.step={step}")];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).chain(["output.every=1"]).collect();
        let outcome = short("swinging-cube", &overrides, 100_000, &format!("cube-{integrator}-{step}"));
        let at = outcome.report.parent().unwrap();
        let (t, y) = (column(at, "probes.csv", "t"), column(at, "probes.csv", "corner_y"));
        let first = (1..y.len() - 1).find(|&k| y[k] < y[k + 1] && y[k] < -0.5).unwrap_or(y.len() - 1);
        println!("first low point: {integrator} with {step} s: {} s", t[first]);
        t[first]
    };
    let fine = low("energy-momentum", "0.005");
    assert!((0.5..0.75).contains(&fine));
    for method in ["mssi", "regularized"] {
        assert!((low(method, "0.005") - fine).abs() < 0.05 * fine, "{method}");
    }
    let (regularized, exact) = (low("regularized", "0.05"), low("regularized", "0.005"));
    assert!((regularized - exact).abs() <= 0.05 * exact, "{regularized} s instead of {exact} s");
    assert!(low("semi-implicit", "0.05") > 1.5 * low("semi-implicit", "0.005"));
}

/// Mean energies, J, of the first and the last hundred of the 4000 steps of a scene of time adaption, or of as many as
/// there were before it exploded.
fn drift(name: &str, overrides: &[&str]) -> [f64; 2] {
    let at = format!("drift-{name}-{}", overrides.join("-").replace(['.', '='], "-"));
    let outcome = short(name, &[overrides, &["output.every=1000"]].concat(), 4000, &at);
    let total = column(outcome.report.parent().unwrap(), "energy.csv", "total");
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let ends = [mean(&total[..100]), mean(&total[total.len() - 100..])];
    println!(
        "{name} {overrides:?}: {:.4} J at the start, {:.4} J at the end of {} steps",
        ends[0],
        ends[1],
        total.len() - 1
    );
    ends
}

/// \[kharevych2010\] Figs. 3.6, 3.7, 3.9 and 3.10, as their scenes say.
#[test]
fn adapted_steps_keep_energy_where_naive_ones_do_not() {
    let naive = "integrator.name=adaptive-naive";
    for name in ["skeels-spring", "point-pendulum", "three-masses"] {
        for method in ["adaptive-reversible", "adaptive-symplectic"] {
            let [first, last] = drift(name, &[&format!("integrator.name={method}")]);
            let allowed = if method == "adaptive-reversible" { 0.01 } else { 0.05 };
            assert!((last / first - 1.0).abs() < allowed, "{name}, {method}: {first} J → {last} J");
        }
    }
    // Its zero is where the rod is held: 7.85 J, of 17.66 J above the lowest point.
    let [first, last] = drift("point-pendulum", &[naive]);
    assert!(last + 9.81 < 0.9 * (first + 9.81), "{first} J → {last} J");
    let [first, last] = drift("three-masses", &[naive]);
    assert!(last < 0.9 * first, "{first} J → {last} J");
    // The midpoint rule keeps a quadratic energy with any steps; the explicit ends of the family do not.
    let [_, dies] = drift("skeels-spring", &[naive, "integrator.alpha=1"]);
    assert!(dies < 0.05, "{dies} J");
    for (name, alpha) in [("skeels-spring", "integrator.alpha=0"), ("three-masses", "integrator.alpha=0.25")]
    {
        let outcome = short(name, &[naive, alpha], 4000, &format!("unstable-{name}"));
        let Status::Failed(why) = outcome.status else { panic!("{name}: {:?}", outcome.verdict) };
        assert!(why.contains("adaptive-naive is unstable here"), "{why}");
        let total = column(outcome.report.parent().unwrap(), "energy.csv", "total");
        assert!(
            total.last().unwrap() > &(10.0 * total[0]),
            "{name}: {} → {} J",
            total[0],
            total[total.len() - 1]
        );
    }
}
