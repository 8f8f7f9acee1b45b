//! Coarse scenes: what they carry over, that they run, and how near their frequencies come.

use lilyan_dynamics::{State, spectrum};
use lilyan_scene::build::{build, open};
use lilyan_scene::schema::{LoadKind, Mass, Scene, Selector};
use lilyan_solid::coarsening::Traction;
use lilyan_study::coarsen::{
    CATALOGUE, CoarseMesh, CoarsenOptions, CoarsenOutcome, CoarsenReport, Consistency, ConsistencyReport,
    coarsen,
};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lilyan-coarsen-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn request(method: &str, tets: usize) -> CoarsenOptions {
    CoarsenOptions {
        body: None,
        mesh: CoarseMesh::Tets(tets),
        method: method.into(),
        model: None,
        modes: None,
        display: false,
        traction: None,
        all_tractions: false,
        quadratic: false,
    }
}

fn coarse(scene: &Scene, request: &CoarsenOptions, folder: &Path) -> (CoarsenOutcome, Scene) {
    let outcome = coarsen(scene, request, &mut |_, _| {}).unwrap();
    let scene = Scene::from_path(outcome.write(folder).unwrap()).unwrap();
    (outcome, scene)
}

/// A JSON file of the folder as its type.
fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> T {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

/// The coarse scene in memory and the one that is read from its files are the same to the bit.
#[test]
fn writing_a_coarse_scene_changes_nothing() {
    let fine = Scene::from_str(BAR, "bar.toml").unwrap();
    let folder = folder("written");
    for method in CATALOGUE {
        let asked = CoarsenOptions { display: true, ..request(method.name, 24) };
        let (outcome, written) = coarse(&fine, &asked, &folder);
        assert_eq!(outcome.scene.hash(), written.hash());
        let [mut a, mut b] = [&outcome.scene, &written].map(|scene| build(scene).unwrap());
        assert_eq!(a.bodies[0].mesh(), b.bodies[0].mesh(), "{}", method.name);
        assert!(a.bodies[0].shown.is_some() && b.bodies[0].shown.is_some());
        for _ in 0..3 {
            a.simulation.advance().unwrap();
            b.simulation.advance().unwrap();
        }
        assert_eq!(a.simulation.state().q, b.simulation.state().q, "{}", method.name);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn first_frequency(scene: &Scene) -> f64 {
    let built = build(scene).unwrap();
    let modes = spectrum::modes(built.simulation.system(), &built.rest_positions(), 1).unwrap();
    modes.values[0].sqrt() / (2.0 * std::f64::consts::PI)
}

const BAR: &str = r#"
time = { end = 0.1, step = 0.01 }
[environment]
gravity = [0, 0, -9.81]
[[body]]
name = "bar"
mesh = { box = { size = [4, 1, 1], cells = [16, 4, 4] }, translate = [0.1, 0.2, 0.3] }
material = { model = "neo-hookean", E = "1e5 + 9e5*(sin(6*x) > 0)", nu = 0.3, rho = "1000 + 500*(z > 0.8)" }
[[pin]]
where = { box = { min = [0, 0, 0], max = [0.11, 2, 2] } }
[[load]]
where = "x > 4.05"
traction = [0, "10*t", 0]
[[load]]
where = { nearest = [2.1, 0.7, 1.3] }
force = [0, 0, 1]
[[probe]]
name = "tip"
at = [4.1, 0.7, 0.8]
"#;

#[test]
fn a_coarse_scene_carries_everything_over_and_runs() {
    let fine = Scene::from_str(BAR, "bar.toml").unwrap();
    let mass =
        |scene: &Scene| -> f64 { build(scene).unwrap().simulation.system().node_masses().iter().sum() };
    for method in CATALOGUE {
        let folder = folder(&format!("carry-{}", method.name));
        let (outcome, coarse) = coarse(&fine, &request(method.name, 24), &folder);
        let consistent = method.name == "homogenize+eigenfit";
        let expected = if consistent { Mass::Consistent } else { Mass::Given("mass".into()) };
        assert_eq!(coarse.bodies[0].mass, expected);
        assert!(coarse.title.ends_with("(coarse)"));
        assert!((mass(&coarse) - mass(&fine)).abs() < 1e-9 * mass(&fine), "{}", method.name);
        assert_eq!((coarse.pins.len(), coarse.probes.len()), (1, 1));
        // The pin's box and the load's formula mean the same on the grid, and so they stay.
        assert_eq!(
            (&coarse.pins[0].selector, &coarse.loads[0].selector),
            (&fine.pins[0].selector, &fine.loads[0].selector)
        );
        assert_eq!(coarse.probes[0].at, fine.probes[0].at);
        assert_eq!(outcome.report.coarse.tets, 24);
        assert_eq!(read::<CoarsenReport>(&folder, "coarsen.json"), outcome.report);
        assert_eq!(outcome.report.figures.homogenization.is_some(), method.name.starts_with("homogenize"));
        assert_eq!(outcome.report.fit.is_some(), method.fit.is_some());
        let mut built = build(&coarse).unwrap();
        for _ in 0..5 {
            built.simulation.advance().unwrap();
        }
        assert!(built.simulation.state().q.iter().all(|x| x.is_finite()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// Layers and a crack: the volume average is off by tens of per cent, six displacements bring the lowest frequency near.
#[test]
fn frequencies_come_near_where_averages_do_not() {
    for (name, tets, near) in [("layered-cube", 48, 0.2), ("cracked-bar", 120, 0.2)] {
        let fine = open(name, &[]).unwrap();
        let exact = first_frequency(&fine);
        let off = |method: &str| {
            let folder = folder(&format!("{name}-{method}"));
            let (_, coarse) = coarse(&fine, &request(method, tets), &folder);
            let off = (first_frequency(&coarse) / exact - 1.0).abs();
            std::fs::remove_dir_all(folder).unwrap();
            off
        };
        let (average, homogenized) = (off("average"), off("homogenize"));
        assert!(average > 0.5, "{name}: the average is off by {average}");
        assert!(homogenized < near && homogenized < 0.4 * average, "{name}: off by {homogenized}");
    }
}

/// A force at a fine vertex between coarse ones: force and moment stay.
#[test]
fn a_point_force_keeps_its_moment() {
    let text = BAR.replace("nearest = [2.1, 0.7, 1.3]", "nearest = [1.35, 0.45, 0.8]");
    let fine = Scene::from_str(&text, "bar.toml").unwrap();
    let folder = folder("force");
    let (_, coarse) = coarse(&fine, &request("average", 24), &folder);
    let built = build(&coarse).unwrap();
    let (mut force, mut moment) = ([0.0; 3], [0.0; 3]);
    for load in coarse.loads.iter().filter(|l| l.kind == LoadKind::Force) {
        let Selector::Vertices(list) = &load.selector else { panic!("{:?}", load.selector) };
        let x = built.bodies[0].mesh().vertices[list[0] as usize];
        for k in 0..3 {
            force[k] += load.value[k].constant().unwrap();
            moment[k] += load.value[2].constant().unwrap() * x[k];
        }
    }
    assert!(force.iter().zip([0.0, 0.0, 1.0]).all(|(f, g)| (f - g).abs() < 1e-12), "{force:?}");
    assert!(moment.iter().zip([1.35, 0.45, 0.8]).all(|(f, g)| (f - g).abs() < 1e-9), "{moment:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A coarse mesh file with vertices where the fine one has none, tags and vertex numbers in the scene.
#[test]
fn selections_by_number_become_lists_of_coarse_vertices() {
    let folder = folder("file");
    coarse(&Scene::from_str(BAR, "bar.toml").unwrap(), &request("average", 100), &folder);
    let file = folder.join("coarse.vtu");
    let text = BAR.replace(
        "where = { box = { min = [0, 0, 0], max = [0.11, 2, 2] } }",
        "where = { vertices = [0, 17, 34] }",
    );
    let text = text.replace(", translate = [0.1, 0.2, 0.3]", "");
    let text = text
        .replace("x > 4.05", "x > 3.95")
        .replace("2.1, 0.7, 1.3", "2, 0.5, 1")
        .replace("4.1, 0.7, 0.8", "4, 0.5, 0.5");
    let fine = Scene::from_str(&text, "bar.toml").unwrap();
    // The file is where the bar was moved to; now it is not: parts of the bar lie outside.
    let wanted = CoarsenOptions { mesh: CoarseMesh::File(file.clone()), ..request("average", 0) };
    let results = folder.join("again");
    std::fs::create_dir_all(&results).unwrap();
    let (outcome, coarse) = coarse(&fine, &wanted, &results);
    assert!(matches!(coarse.pins[0].selector, Selector::Vertices(_)));
    assert!(outcome.notes.iter().any(|n| n.contains("outside of the coarse mesh")), "{:?}", outcome.notes);
    assert!(build(&coarse).is_ok());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn wrong_requests_are_told_what_to_do() {
    let fine = Scene::from_str(BAR, "bar.toml").unwrap();
    let error = |scene: &Scene, request: &CoarsenOptions| {
        coarsen(scene, request, &mut |_, _| {}).err().expect("refused").to_string()
    };
    assert!(error(&fine, &request("homogenise", 24)).contains("homogenize"));
    let body = CoarsenOptions { body: Some("bra".into()), ..request("average", 24) };
    assert!(error(&fine, &body).contains("bar"));
    let model = CoarsenOptions { model: Some("stvk".into()), ..request("average", 24) };
    assert!(error(&fine, &model).contains("co-rotational"));
    assert!(error(&fine, &request("average", 2)).contains("6 or more"));
    let missing = CoarsenOptions { mesh: CoarseMesh::File("no.msh".into()), ..request("average", 24) };
    assert!(error(&fine, &missing).contains("--mesh"));
    let rope = open("swinging-rope", &[]).unwrap();
    assert!(error(&rope, &request("average", 24)).contains("no body of tets"));
    let mass = BAR.replace("[[pin]]", "mass = { point_data = \"kilos\" }\n[[pin]]");
    let wrong = build(&Scene::from_str(&mass, "bar.toml").unwrap()).err().unwrap().to_string();
    assert!(wrong.contains("there is no point data \"kilos\""), "{wrong}");
}

/// A soft bar with a stiff half, that swings.
const SWING: &str = r#"
time = { end = 0.4, step = 0.01 }
integrator = { name = "semi-implicit" }
[environment]
gravity = [0, 0, -9.81]
[[body]]
name = "bar"
mesh = { box = { size = [4, 1, 0.6], cells = [16, 4, 3] } }
material = { model = "linear", E = "2e6*(1 + (x > 2))", nu = 0.3, rho = 1000 }
[[pin]]
where = "x < 0.01"
"#;

#[test]
fn fitted_coarse_scenes_have_the_frequencies_and_the_motion_of_the_fine_one() {
    let fine = Scene::from_str(SWING, "swing.toml").unwrap();
    let exact = first_frequency(&fine);
    let mut errors = Vec::new();
    for method in ["homogenize+eigenfit", "eigenfit", "dac"] {
        let folder = folder(&format!("fit-{method}"));
        let asked = CoarsenOptions { display: method != "dac", ..request(method, 48) };
        let (outcome, coarse) = coarse(&fine, &asked, &folder);
        let found = first_frequency(&coarse);
        assert!((found / exact - 1.0).abs() < 1e-3, "{method}: {found} Hz, not {exact}");
        if method == "dac" {
            continue;
        }
        let mode = outcome.report.fit.as_ref().unwrap()[0].modes[0];
        assert!(mode.overlap > 0.9 && mode.ratio < 0.9);
        assert!(build(&coarse).unwrap().bodies[0].shown.is_some());
        let consistency = Consistency::new(&fine, &coarse, outcome.body, 0.4, &mut |_, _| {}).unwrap();
        consistency.write(&coarse, &folder).unwrap();
        assert!(folder.join("consistency.html").is_file());
        let report = consistency.report();
        assert_eq!(read::<ConsistencyReport>(&folder, "consistency.json"), report);
        let error = |k: usize| report.runs[k].probe_error_max;
        assert!(error(2) < error(1) / 3.0, "{method}: {} where the plain mesh has {}", error(2), error(1));
        errors.push(error(2));
        std::fs::remove_dir_all(folder).unwrap();
    }
    assert_eq!(errors.len(), 2);
    // Tags belong to the elements of the fine mesh.
    let tagged = SWING.replace("2e6*(1 + (x > 2))", "2e6*(1 + tag)");
    let tagged = Scene::from_str(&tagged, "swing.toml").unwrap();
    let Err(error) = coarsen(&tagged, &request("eigenfit", 48), &mut |_, _| {}) else {
        panic!("a material by tags is carried over")
    };
    assert!(error.to_string().contains("homogenize+eigenfit"), "{error}");
}

/// A cube of soft and stiff layers that hangs, with viscosity.
const LAYERS: &str = r#"
time = { end = 3, step = 0.02 }
integrator = { name = "implicit-midpoint" }
[[body]]
name = "cube"
mesh = { box = { size = [1, 1, 1], cells = [6, 6, 8] } }
material = { model = "linear", E = "2e4 + 3.8e5*(sin(4*pi*z) > 0)", nu = 0.3, rho = 1000 }
damping = { model = "viscous", time = 0.01 }
[[pin]]
where = "z > 0.999"
"#;

/// ω of the first mode (rad/s), and the rate at which its energy falls over two periods (1/s).
fn first_mode_decay(scene: &Scene) -> (f64, f64) {
    let mut built = build(scene).unwrap();
    let rest = built.rest_positions();
    let found = spectrum::modes(built.simulation.system(), &rest, 1).unwrap();
    let (omega, shape) = (found.values[0].sqrt(), found.vectors[0].clone());
    let state = State::new(built.simulation.system(), rest, shape);
    built.simulation.replace_state(state);
    let period = 2.0 * std::f64::consts::PI / omega;
    built.simulation.set_step(period / 50.0);
    let start = built.simulation.total_energy();
    for _ in 0..100 {
        built.simulation.advance().unwrap();
    }
    (omega, (start / built.simulation.total_energy()).ln() / (2.0 * period))
}

/// Viscosity of tensors is that of the tensors: a mode of any body decays at the rate τω², and that of a coarse body with the
/// modes of the fine one as on the fine mesh.
#[test]
fn coarse_bodies_decay_as_the_fine_one() {
    let fine = Scene::from_str(LAYERS, "layers.toml").unwrap();
    let (_, expected) = first_mode_decay(&fine);
    for (method, like_fine) in [("homogenize", false), ("homogenize+eigenfit", true)] {
        let asked = CoarsenOptions { modes: Some(6), ..request(method, 48) };
        let (omega, rate) = first_mode_decay(&coarsen(&fine, &asked, &mut |_, _| {}).unwrap().scene);
        println!(
            "{method}: {rate} 1/s, of its frequency {}, of the fine body {expected}",
            0.01 * omega * omega
        );
        assert!((rate / (0.01 * omega * omega) - 1.0).abs() < 0.02, "{method}: {rate} at {omega}");
        assert!(!like_fine || (rate / expected - 1.0).abs() < 0.05, "{method}: {rate}, fine {expected}");
    }
}

/// A coarse body of quadratic tets has frequencies nearer to those of the fine body than one of linear tets on the same mesh, without a
/// fit; with one it has them exactly. It carries the fine mesh along, and is read again as it was written.
#[test]
fn quadratic_coarse_bodies_are_nearer() {
    let fine = Scene::from_str(LAYERS, "layers.toml").unwrap();
    let folder = folder("quadratic");
    let first = |scene: &Scene| {
        let built = build(scene).unwrap();
        let model = built.simulation.system();
        spectrum::modes(model, &model.rest_positions(), 1).unwrap().values[0].sqrt()
    };
    let exact = first(&fine);
    let error = |method: &str, quadratic: bool| {
        let asked = CoarsenOptions { quadratic, display: true, ..request(method, 48) };
        let (outcome, written) = coarse(&fine, &asked, &folder);
        assert_eq!(outcome.scene.hash(), written.hash(), "{method}");
        let mut built = build(&written).unwrap();
        let mass: f64 = built.simulation.system().node_masses().iter().sum();
        assert!((mass / outcome.report.fine.mass - 1.0).abs() < 1e-9, "{method}: {mass} kg");
        built.simulation.advance().unwrap();
        match outcome.report.fit {
            Some(fit) => (fit[0].modes[0].corrected_hz.unwrap() / fit[0].modes[0].fine_hz - 1.0).abs(),
            None => (first(&written) / exact - 1.0).abs(),
        }
    };
    let [linear, quadratic] = [false, true].map(|quadratic| error("homogenize", quadratic));
    println!("first frequency off by {linear:.3} with linear, {quadratic:.3} with quadratic tets");
    assert!(quadratic < 0.5 * linear, "{quadratic} against {linear}");
    assert!(error("homogenize+eigenfit", true) < 1e-6);
    assert!(error("eigenfit", true) < 1e-6);
}

/// The better of two tractions is taken: for layers the uniform one of the thesis, for fibres the mixture; either can be asked for.
#[test]
fn the_traction_that_comes_nearer_to_the_fine_frequencies_is_taken() {
    let fibres = LAYERS
        .replace(
            "\"2e4 + 3.8e5*(sin(4*pi*z) > 0)\"",
            "\"4e5 + 1e8*(abs(x - 0.5) < 0.17)*(abs(y - 0.5) < 0.17)\"",
        )
        .replace("size = [1, 1, 1]", "size = [1, 1, 3]")
        .replace("z > 0.999", "z > 2.999");
    for text in [LAYERS, &fibres] {
        let fine = Scene::from_str(text, "body.toml").unwrap();
        let of = |traction: Option<Traction>| {
            let outcome =
                coarsen(&fine, &CoarsenOptions { traction, ..request("homogenize", 48) }, &mut |_, _| {});
            let outcome = outcome.unwrap();
            (
                outcome.report.figures.homogenization.unwrap(),
                first_mode_decay(&outcome.scene).0,
                outcome.notes,
            )
        };
        let exact = first_mode_decay(&fine).0;
        let (best, own, notes) = of(None);
        println!("{own} of {exact}: {best:?}, {notes:?}");
        let others = [Traction::Uniform, Traction::LeastEnergy].map(|t| of(Some(t)));
        for (figures, omega, _) in &others {
            println!("{omega}: {figures:?}");
            assert_eq!((omega / own - 1.0).abs() < 1e-9, figures.traction == best.traction, "{omega}, {own}");
        }
        assert!(notes.iter().filter(|n| n.starts_with("traction")).count() == 2, "{notes:?}");
    }
}

/// Of all ways the one is taken that comes nearest to the first frequencies: where layers bend, the larger family of displacements.
#[test]
fn the_larger_family_of_displacements_knows_bending() {
    let fine = Scene::from_str(LAYERS, "body.toml").unwrap();
    let asked = CoarsenOptions { all_tractions: true, ..request("homogenize", 48) };
    let outcome = coarsen(&fine, &asked, &mut |_, _| {}).unwrap();
    let notes: Vec<&String> = outcome.notes.iter().filter(|n| n.starts_with("traction")).collect();
    println!("{notes:?}");
    assert_eq!(notes.len(), 4);
    let figures = outcome.report.figures.homogenization.unwrap();
    let two = coarsen(&fine, &request("homogenize", 48), &mut |_, _| {}).unwrap();
    let two = two.report.figures.homogenization.unwrap().frequency_error.unwrap();
    assert_eq!(figures.traction.as_str(), "linear");
    assert!(figures.frequency_error.unwrap() < 0.5 * two, "{figures:?}, {two} before");
}
