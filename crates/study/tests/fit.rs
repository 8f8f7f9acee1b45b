//! Bodies that are fitted to a finer mesh: frequencies, motion, what is refused, and what is said when a fit fails.

mod common {
    pub mod running;
}

use common::running::{column, folder, made, run_until};
use lilyan_dynamics::fit::Target;
use lilyan_dynamics::{System, spectrum};
use lilyan_report::Level;
use lilyan_scene::build::{Built, build};
use lilyan_scene::schema::Scene;

/// A bar, held at one end, that sags.
const BAR: &str = r#"
title = "bar"
time = { end = 0.9, step = 0.01 }
integrator = { name = "semi-implicit" }
environment = { gravity = [0, 0, -20] }
[[body]]
name = "bar"
mesh = { box = { size = [4, 1, 0.5], cells = [8, 2, 1] } }
material = { model = "neo-hookean", E = "1e8*(1 + (x > 2))", nu = 0.3, rho = 1000 }
damping = { model = "rayleigh", alpha = 0.5, beta = 0.002 }
[[pin]]
body = "bar"
where = "x < 0.01"
[[probe]]
name = "tip"
body = "bar"
at = [4, 0.5, 0.25]
"#;
const FINE: &str = "body.0.mesh.box.cells=[16, 4, 3]";
const FIT: &str = "body.0.fit={ fine = { box = { size = [4, 1, 0.5], cells = [16, 4, 3] } }, modes = 6 }";
const DAC: &str =
    "body.0.fit={ fine = { box = { size = [4, 1, 0.5], cells = [16, 4, 3] } }, modes = 6, method = \"dac\" }";

fn frequencies(built: &Built, count: usize) -> Vec<f64> {
    let modes = spectrum::modes(built.simulation.system(), &built.rest_positions(), count).unwrap();
    modes.values.iter().map(|v| v.sqrt()).collect()
}

fn furthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

fn error_of(overrides: &[&str]) -> Result<Built, String> {
    Scene::from_str_with(BAR, "bar.toml", overrides).and_then(|s| build(&s)).map_err(|e| e.to_string())
}

#[test]
fn a_coarse_bar_has_the_frequencies_and_the_motion_of_the_fine_one() {
    let (_, fine) = made(BAR, &[FINE]);
    let (_, fitted) = made(BAR, &[FIT]);
    let (_, dac) = made(BAR, &[DAC]);
    let (_, plain) = made(BAR, &[]);
    let [fine, fitted, dac, plain] = [&fine, &fitted, &dac, &plain].map(|b| frequencies(b, 5));
    for k in 0..5 {
        assert!((fitted[k] / fine[k] - 1.0).abs() < 1e-5, "mode {k}: {} and {}", fitted[k], fine[k]);
    }
    assert!(plain[0] > 1.15 * fine[0] && (dac[0] / fine[0] - 1.0).abs() < 1e-5);
    assert!((dac[2] / fine[2] - 1.0).abs() > 0.02, "the first mode does not speak for all");

    let tip = |name: &str, overrides: &[&str]| {
        let (scene, built) = made(BAR, overrides);
        let folder = folder(&format!("fit-{name}"));
        let outcome = run_until(&scene, built, &folder, false, None);
        assert!(outcome.summary.warnings.is_empty(), "{:?}", outcome.summary.warnings);
        column(&folder, "probes.csv", "tip_z")
    };
    let fine = tip("fine", &[FINE]);
    let sag = furthest(&fine, &vec![0.25; fine.len()]);
    let error = |name: &str, overrides: &[&str]| furthest(&tip(name, overrides), &fine) / sag;
    let (plain, fitted, dac) = (error("plain", &[]), error("eigenfit", &[FIT]), error("dac", &[DAC]));
    assert!(plain > 0.15 && fitted < plain / 5.0 && dac < plain, "plain {plain}, fitted {fitted}, dac {dac}");
}

/// Modes that are computed and not corrected stay as they are, but for what they have in common with those that are.
#[test]
fn fewer_modes_can_be_corrected_than_are_computed() {
    let more = FIT.replace("modes = 6", "modes = 9, corrected = 2");
    let (_, fine) = made(BAR, &[FINE]);
    let (_, fitted) = made(BAR, &[&more]);
    let (_, plain) = made(BAR, &[]);
    let [fine, fitted, plain] = [&fine, &fitted, &plain].map(|b| frequencies(b, 9));
    for k in 0..2 {
        assert!((fitted[k] / fine[k] - 1.0).abs() < 1e-5, "mode {k}: {} and {}", fitted[k], fine[k]);
    }
    for k in 2..9 {
        assert!((fitted[k] / plain[k] - 1.0).abs() < 0.05, "mode {k}: {} and {}", fitted[k], plain[k]);
    }
    let error = error_of(&[&FIT.replace("modes = 6", "modes = 3, corrected = 4")]).err().unwrap_or_default();
    assert!(error.contains("body.bar.fit.corrected") && error.contains("raise `modes`"), "{error}");
}

#[test]
fn released_pins_bring_other_ratios_and_a_resumed_run_repeats_every_bit() {
    let more = ["pin.0.until=0.2", FIT];
    let (scene, built) = made(BAR, &more);
    let fit = built.simulation.system().abilities().fits()[0].clone();
    assert_eq!(fit.phases.len(), 2);
    assert_eq!(fit.phases[0].until, 0.2);
    let values = |k: usize| match &fit.phases[k].target {
        Target::Modes { values, .. } => values.clone(),
        Target::Ratios(ratios) => panic!("{ratios:?}, not modes of the fine mesh"),
    };
    assert!(furthest(&values(0), &values(1)) > 0.01);
    let [whole, parts] = ["fit-whole", "fit-parts"].map(folder);
    run_until(&scene, built, &whole, false, None);
    let (scene, built) = made(BAR, &more);
    run_until(&scene, built, &parts, false, Some(25));
    let (scene, built) = made(BAR, &more);
    let outcome = run_until(&scene, built, &parts, true, None);
    for file in ["energy.csv", "probes.csv"] {
        let read = |folder: &std::path::Path| std::fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(read(&whole), read(&parts), "{file}");
    }
    assert_eq!(outcome.summary.fits[0].steps, 90);
}

#[test]
fn a_fit_that_fails_is_left_out_counted_and_told() {
    // Drawn into another shape, the bar has other modes; into a quarter of its length the same, much stiffer.
    let soft = "body.0.material.model=\"stable-neo-hookean\"";
    for (stretch, fails) in
        [("[0.1, 6, 1]", true), ("[0.25, 1, 1]", true), ("[3, 1, 1]", true), ("[1.1, 1, 1]", false)]
    {
        let drawn = format!("body.0.initial={{ stretch = {stretch} }}");
        let more = [FIT, &drawn, soft, "time.end=0.002", "time.step=0.001", "pin.0.until=0.0005"];
        let (scene, built) = made(BAR, &more);
        let outcome = run_until(&scene, built, &folder("fit-lost"), false, None);
        let warnings = outcome.summary.warnings.join("; ");
        let without = outcome.summary.fits[0].steps_without;
        assert_eq!(without > 0, fails, "{stretch}: {:?}", outcome.summary.fits);
        let told = warnings.contains("had no fit in") && warnings.contains("first at t =");
        assert_eq!(told, fails, "{stretch}: {warnings}");
    }
}

#[test]
fn what_cannot_be_fitted_is_refused_with_the_remedy() {
    for (overrides, parts) in [
        (
            vec!["body.0.fit={ ratios = [0.5] }", "integrator.name=\"verlet\""],
            vec!["fit", "semi-implicit", "siere"],
        ),
        (vec!["body.0.fit={ ratios = [-0.5] }"], vec!["body.bar.fit.ratios", "0.001"]),
        (vec!["body.0.fit={ ratio = [0.5] }"], vec!["ratios"]),
        (vec!["body.0.fit={ ratios = [0.5], stiffness = 0.5 }"], vec!["ratios and stiffness", "keep one"]),
        (
            vec!["body.0.fit={ phases = [{ until = 1, ratios = [] }, { until = 1, ratios = [] }] }"],
            vec!["rising"],
        ),
        (vec!["body.0.fit={}"], vec!["says nothing", "fine"]),
        (vec!["body.0.element=\"springs\"", "body.0.fit={ stiffness = 0.5 }"], vec!["tets"]),
        (vec![FIT, "pin.0.where={ vertices = [0, 1, 2] }"], vec!["by number", "box"]),
    ] {
        let Err(message) = error_of(&overrides) else { panic!("{overrides:?} is accepted") };
        for part in parts {
            assert!(message.contains(part), "{overrides:?}: {message:?} does not say {part:?}");
        }
    }
    // A mesh of other shape: its modes are not those of the bar.
    let other = "body.0.fit={ fine = { box = { size = [0.2, 9, 0.5], cells = [2, 16, 2] }, translate = [0, 30, 0] } }";
    let built = error_of(&[other]).unwrap();
    assert!(built.warnings.iter().any(|w| w.contains("without the fit")), "{:?}", built.warnings);
    assert!(built.simulation.system().abilities().fits().is_empty());
}

/// A body that leaves the neighbourhood of rest is told, in the summary and in the verdict; one that stays is not.
#[test]
fn a_body_far_from_rest_is_told() {
    let soft = "body.0.material={ model = \"arap\", E = 1e6, nu = 0, rho = 1000 }";
    let own = [soft, "time.end=1.6", "time.step=0.02", FIT];
    for (gravity, far) in
        [("environment.gravity=[0, 0, -10]", true), ("environment.gravity=[0, 0, -0.1]", false)]
    {
        let (scene, built) = made(BAR, &[&own[..], &[gravity]].concat());
        let outcome = run_until(&scene, built, &folder(&format!("fit-far-{far}")), false, None);
        let (fit, warnings) = (&outcome.summary.fits[0], outcome.summary.warnings.join("; "));
        assert_eq!(fit.furthest.stiffening > 2f64.ln() || fit.furthest.lost > 0.1, far, "{fit:?}");
        assert_eq!(warnings.contains("went far from rest"), far, "{warnings}");
        assert!(std::fs::read_to_string(&outcome.report).unwrap().contains("Fit of bar"));
        assert!(!far || outcome.verdict.level != Level::Pass, "{}", outcome.verdict.sentence);
    }
}
