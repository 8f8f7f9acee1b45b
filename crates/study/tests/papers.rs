//! The scenes after figures of the literature: each reads, builds, and goes its first steps.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::spectrum;
use lilyan_scene::build::{build, open};
use lilyan_scene::library::{PAPERS, SCENES, find};
use lilyan_study::run::{RunOptions, RunOutcome, Signal, Status, run};
use running::{column, folder};

#[test]
fn each_goes_its_first_steps() {
    for entry in PAPERS {
        let scene = open(entry.name, &[]).unwrap_or_else(|e| panic!("{e}"));
        let built = build(&scene).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        let elements: usize = built.bodies.iter().map(|b| b.mesh().tets().len()).sum();
        drop(built);
        let outcome = at_end(entry.name, &[], if elements > 2500 { 1 } else { 3 });
        assert_eq!(outcome.status, Status::Finished, "{}: {:?}", entry.name, outcome.verdict);
    }
}

/// The header of a scene names its source and its command, so that `lilyan scenes NAME` is its manual.
#[test]
fn each_says_what_it_shows() {
    let sources = ["[kharevych2006,", "[kharevych2010,", "[servin2006,", "[chen2019,", "Xu's project report"];
    for entry in PAPERS {
        let header: Vec<&str> = entry.text.lines().take_while(|line| line.starts_with('#')).collect();
        let header = header.join("\n");
        assert!(sources.iter().any(|source| header.contains(source)), "{}: no source", entry.name);
        assert!(header.contains(entry.name), "{}: no command", entry.name);
        assert!(entry.text.contains("title = "), "{}: no title", entry.name);
        assert!(std::ptr::eq(find(entry.name).unwrap(), entry));
    }
    assert!(SCENES.iter().all(|entry| !entry.name.contains('/')));
}

/// Every file of the folder is built in.
#[test]
fn none_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/papers");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|e| e == "toml")) {
        let name = format!("papers/{}", path.file_stem().unwrap().to_string_lossy());
        assert!(find(&name).is_some(), "{name} is not in crates/scene/src/library/papers.rs");
    }
}

fn at_end(name: &str, overrides: &[&str], steps: u64) -> RunOutcome {
    let scene = open(name, overrides).unwrap_or_else(|e| panic!("{e}"));
    let built = build(&scene).unwrap_or_else(|e| panic!("{e}"));
    let at = format!("{}-{}", name, overrides.join("-")).replace(['/', '.', '='], "-");
    let options = RunOptions { directory: folder(&at), resume: false, steps: Some(steps) };
    run(&scene, built, &options, &mut |_| Signal::Continue).unwrap_or_else(|e| panic!("{e}"))
}

/// \[chen2019\] (2.13)–(2.17), Fig. 2.2: hat functions on n elements have the lowest eigenvalue
/// (6/l²)(1 − cos πl)/(2 + cos πl), l = 1/n, which falls to π² from above.
#[test]
fn a_rod_of_hat_functions_has_their_eigenvalues() {
    for (segments, printed) in [(2, 12.0), (4, 10.387), (8, 9.997)] {
        let cells = format!("body.mesh.box.cells=[{segments},1,1]");
        let built = build(&open("papers/c19-fig-2-2-stiffening", &[&cells]).unwrap()).unwrap();
        let modes = spectrum::modes(built.simulation.system(), &built.rest_positions(), 1).unwrap();
        let l = 1.0 / f64::from(segments);
        let cos = (std::f64::consts::PI * l).cos();
        let exact = 6.0 / (l * l) * (1.0 - cos) / (2.0 + cos);
        assert!((exact - printed).abs() < 1e-3, "{exact}");
        // Corners of the section move apart a little: (0.001 l)² of the value.
        assert!((modes.values[0] / exact - 1.0).abs() < 1e-6, "{segments}: {} not {exact}", modes.values[0]);
    }
}

/// \[chen2019\] Table 2.1: both solvers take the same steps; BFGS needs more iterations, and ever more the stiffer the springs.
#[test]
fn bfgs_solves_the_same_steps_in_more_iterations() {
    let mut means = Vec::new();
    for lambda in ["1", "1e2", "1e4"] {
        let run = |solve: &str| {
            let overrides = [format!("body.material.lambda={lambda}"), format!("integrator.solve={solve}")];
            let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
            let outcome = at_end("papers/c19-table-2-1-iterations", &overrides, 20);
            assert_eq!(outcome.status, Status::Finished, "{overrides:?}");
            let total = column(outcome.report.parent().unwrap(), "energy.csv", "total");
            (outcome.summary.newton_iterations_mean, *total.last().unwrap())
        };
        let ((newton, exact), (bfgs, energy)) = (run("minimize"), run("bfgs"));
        println!("lambda {lambda}: {newton} and {bfgs} iterations per step, {exact} and {energy} J");
        assert!(
            (energy - exact).abs() < 1e-3 * exact.abs().max(1.0),
            "{lambda}: {energy} J instead of {exact} J"
        );
        means.push([newton, bfgs]);
    }
    assert!(means.windows(2).all(|m| m[1][1] > m[0][1]), "{means:?}");
    assert!(means[2][1] > 3.0 * means[2][0], "{means:?}");
}

/// [`bfgs_solves_the_same_steps_in_more_iterations`]; a step with damping is no minimum.
#[test]
fn bfgs_is_refused_where_there_is_nothing_to_minimise() {
    let overrides = ["integrator.solve=bfgs", "body.damping={model=\"viscous\",time=0.01}"];
    let outcome = at_end("papers/c19-table-2-1-iterations", &overrides, 1);
    let Status::Failed(why) = outcome.status else { panic!("{:?}", outcome.status) };
    assert!(why.contains("solve = \"minimize\""), "{why}");
}
