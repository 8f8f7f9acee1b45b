//! `lilyan converge`: the cheapest setting is one that is accurate, and what is told of it can be run.

use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;
use lilyan_study::compare::RunEnd;
use lilyan_study::converge::{
    ConvergeError, ConvergeOptions, ConvergeReport, Converged, converge, refined, table,
};
use lilyan_study::mesh_error;
use lilyan_study::run::Signal;

/// A cantilever that swings once.
const BEAM: &str = r#"
time = { end = 0.6, step = 0.03 }
integrator = "energy-momentum"
environment = { gravity = [0, -0.5, 0] }
[[body]]
name = "beam"
mesh = { box = { size = [2, 0.2, 0.2], cells = [8, 1, 1] } }
material = { model = "stvk", E = 1e6, nu = 0.3, rho = 1000 }
[[pin]]
where = { box = { min = [-0.01, -1, -1], max = [0.01, 1, 1] } }
[[probe]]
name = "tip"
at = [2, 0.1, 0.1]
"#;

fn scene(text: &str) -> Scene {
    Scene::from_str(text, "scene.toml").unwrap_or_else(|e| panic!("{e}"))
}

fn study(text: &str, options: &ConvergeOptions) -> Result<(Scene, Converged), ConvergeError> {
    let scene = scene(text);
    let built = build(&scene).unwrap_or_else(|e| panic!("{e}"));
    converge(&scene, built, options, &mut |_| Signal::Continue).map(|found| (scene, found))
}

#[test]
fn the_cheapest_setting_is_accurate() {
    let options = ConvergeOptions { accuracy: 0.05, budget: 200.0, ..ConvergeOptions::default() };
    let (scene, found) = study(BEAM, &options).unwrap();
    assert!(found.settled, "{:?}", table(&found));
    assert!(found.reference_error <= 0.05 / 3.0);
    let cheapest = &found.runs[found.cheapest.unwrap()];
    assert!(cheapest.error.unwrap() <= 0.05);
    // Linear tets on the mesh of the scene are far off; quadratic ones are what is chosen.
    let own = &found
        .runs
        .iter()
        .find(|r| r.setting.element.is_some_and(|e| e.name() == "tets") && r.setting.refinement == 0);
    assert!(own.unwrap().error.unwrap() > 0.2);
    assert_eq!(cheapest.setting.element.unwrap().name(), "quadratic");
    let finished = found.runs.iter().filter(|r| r.ended == RunEnd::Finished);
    assert!(finished.filter(|r| r.error.unwrap() <= 0.05).all(|r| r.wall >= cheapest.wall));
    // What is told can be run.
    let report = ConvergeReport::new(&scene, &found);
    let set = report.set.clone().unwrap();
    let keys: Vec<&str> = set.split("--set ").map(str::trim).filter(|k| !k.is_empty()).collect();
    assert!(keys.contains(&"body.beam.element=quadratic"), "{keys:?}");
    let told = Scene::from_str_with(BEAM, "scene.toml", &keys).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(build(&told).unwrap().simulation.state().q.len(), cheapest.unknowns);
    assert!(report.advice.contains("As the scene is"), "{}", report.advice);
    let written = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<ConvergeReport>(&written).unwrap(), report);
}

#[test]
fn what_cannot_be_studied_is_told() {
    let refused = |text: &str, options: &ConvergeOptions| study(text, options).unwrap_err().to_string();
    let options = ConvergeOptions::default();
    let (before, _) = BEAM.split_once("[[probe]]").unwrap();
    assert!(refused(before, &options).contains("no probe"));
    let other = ConvergeOptions { probes: vec!["tap".into()], ..options.clone() };
    assert!(refused(BEAM, &other).contains("\"tap\""));
    let still = BEAM.replace("-0.5", "0");
    assert!(refused(&still, &options).contains("moves"));
    let hurry = ConvergeOptions { budget: 1e-9, ..options };
    assert!(refused(BEAM, &hurry).contains("--budget"));
}

/// Refined scenes hold the same bodies: volume, pins and boundary stay, cells become eight.
#[test]
fn refined_scenes_hold_the_same_bodies() {
    for shape in [
        "box = { size = [2, 0.2, 0.2], cells = [8, 1, 1] }",
        "box = { size = [2, 0.2, 0.2], cells = [8, 1, 1] }, scale = [1, 2, 1], translate = [0, 0, 0.05]",
    ] {
        let text = BEAM.replace("box = { size = [2, 0.2, 0.2], cells = [8, 1, 1] }", shape);
        let scene = scene(&text);
        let built = build(&scene).unwrap();
        let fine = build(&refined(&scene, &built, 1)).unwrap();
        let volume = |b: &lilyan_scene::build::Built| b.bodies[0].mesh().signed_volumes().iter().sum::<f64>();
        assert!((volume(&built) - volume(&fine)).abs() < 1e-12);
        assert_eq!(fine.bodies[0].mesh().tets().len(), 8 * built.bodies[0].mesh().tets().len());
    }
}

/// The error of the mesh is what linear and quadratic tets differ by, whichever of them the scene has.
#[test]
fn the_error_of_a_mesh_is_measured() {
    let measured = |text: &str| {
        let scene = scene(text);
        mesh_error::measure(&scene, &build(&scene).unwrap(), mesh_error::MOST_NODES_OF_CHECK)
    };
    let linear = measured(BEAM).unwrap();
    let quadratic =
        measured(&BEAM.replace("name = \"beam\"", "name = \"beam\"\nelement = \"quadratic\"")).unwrap();
    assert!(!linear.quadratic && quadratic.quadratic);
    assert_eq!(linear.warning().is_some(), linear.linear_error > 0.02);
    assert!(linear.linear_error > 0.3 && quadratic.warning().is_none());
    for (a, b) in [(linear.linear_hz, quadratic.linear_hz), (linear.quadratic_hz, quadratic.quadratic_hz)] {
        assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
    }
    // 1.875² √(EI/(ρA))/(2π L²), less what the clamped end and shear take.
    let beam =
        1.875_104f64.powi(2) * (1e6 * 0.2 * 0.2 / 12.0 / 1000.0f64).sqrt() / (8.0 * std::f64::consts::PI);
    assert!((quadratic.quadratic_hz / beam - 1.0).abs() < 0.04, "{} {beam}", quadratic.quadratic_hz);
    let scene = scene(BEAM);
    assert!(mesh_error::measure(&scene, &build(&scene).unwrap(), 20).is_none(), "too large");
}
