//! Coarse scenes: what they carry over, that they run, and how near their frequencies come.

use lilyan_scene::build::{build, open};
use lilyan_scene::coarsen::{CATALOGUE, CoarseMesh, Consistency, Outcome, Request, coarsen};
use lilyan_scene::diagnose;
use lilyan_scene::schema::{LoadKind, Mass, Scene, Selector};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lilyan-coarsen-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn request(method: &str, tets: usize) -> Request {
    Request {
        body: None,
        mesh: CoarseMesh::Tets(tets),
        method: method.into(),
        model: None,
        modes: None,
        display: false,
    }
}

fn coarse(scene: &Scene, request: &Request, folder: &Path) -> (Outcome, Scene) {
    let outcome = coarsen(scene, request, folder, &mut |_, _| {}).unwrap();
    let scene = Scene::from_path(&outcome.scene).unwrap();
    (outcome, scene)
}

fn first_frequency(scene: &Scene) -> f64 {
    let built = build(scene).unwrap();
    let modes = diagnose::modes(&built, &diagnose::rest_positions(&built), 1).unwrap();
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
    let mass = |scene: &Scene| -> f64 { build(scene).unwrap().simulation.system.node_masses().iter().sum() };
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
        assert_eq!(outcome.report["coarse"]["tets"].as_u64(), Some(24));
        let mut built = build(&coarse).unwrap();
        for _ in 0..5 {
            built.simulation.advance().unwrap();
        }
        assert!(built.simulation.state.q.iter().all(|x| x.is_finite()));
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
        let x = built.bodies[0].mesh.vertices[list[0] as usize];
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
    let grid = coarsen(
        &Scene::from_str(BAR, "bar.toml").unwrap(),
        &request("average", 100),
        &folder,
        &mut |_, _| {},
    );
    let file = grid.unwrap().scene.with_file_name("coarse.vtu");
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
    let wanted = Request { mesh: CoarseMesh::File(file.clone()), ..request("average", 0) };
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
    let folder = folder("wrong");
    let error = |scene: &Scene, request: &Request| {
        coarsen(scene, request, &folder, &mut |_, _| {}).err().expect("refused").to_string()
    };
    assert!(error(&fine, &request("homogenise", 24)).contains("homogenize"));
    let body = Request { body: Some("bra".into()), ..request("average", 24) };
    assert!(error(&fine, &body).contains("bar"));
    let model = Request { model: Some("stvk".into()), ..request("average", 24) };
    assert!(error(&fine, &model).contains("co-rotational"));
    assert!(error(&fine, &request("average", 2)).contains("6 or more"));
    let missing = Request { mesh: CoarseMesh::File("no.msh".into()), ..request("average", 24) };
    assert!(error(&fine, &missing).contains("--mesh"));
    let rope = open("swinging-rope", &[]).unwrap();
    assert!(error(&rope, &request("average", 24)).contains("no body of tets"));
    let mass = BAR.replace("[[pin]]", "mass = { point_data = \"kilos\" }\n[[pin]]");
    let wrong = build(&Scene::from_str(&mass, "bar.toml").unwrap()).err().unwrap().to_string();
    assert!(wrong.contains("there is no point data \"kilos\""), "{wrong}");
    std::fs::remove_dir_all(folder).unwrap();
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
        let asked = Request { display: method != "dac", ..request(method, 48) };
        let (outcome, coarse) = coarse(&fine, &asked, &folder);
        let found = first_frequency(&coarse);
        assert!((found / exact - 1.0).abs() < 1e-3, "{method}: {found} Hz, not {exact}");
        if method == "dac" {
            continue;
        }
        let modes = outcome.report["fit"][0]["modes"].as_array().unwrap();
        assert!(modes[0]["overlap"].as_f64().unwrap() > 0.9 && modes[0]["ratio"].as_f64().unwrap() < 0.9);
        assert!(build(&coarse).unwrap().bodies[0].shown.is_some());
        let consistency = Consistency::new(&fine, &coarse, outcome.body, 0.4, &mut |_, _| {}).unwrap();
        consistency.write(&coarse, &folder).unwrap();
        assert!(folder.join("consistency.html").is_file() && folder.join("consistency.json").is_file());
        let report = consistency.report();
        let error = |k: usize| report["runs"][k]["probe_error_max"].as_f64().unwrap();
        assert!(error(2) < error(1) / 3.0, "{method}: {} where the plain mesh has {}", error(2), error(1));
        errors.push(error(2));
        std::fs::remove_dir_all(folder).unwrap();
    }
    assert_eq!(errors.len(), 2);
    // Tags belong to the elements of the fine mesh.
    let tagged = SWING.replace("2e6*(1 + (x > 2))", "2e6*(1 + tag)");
    let tagged = Scene::from_str(&tagged, "swing.toml").unwrap();
    let Err(error) = coarsen(&tagged, &request("eigenfit", 48), &folder("fit-tags"), &mut |_, _| {}) else {
        panic!("a material by tags is carried over")
    };
    assert!(error.to_string().contains("homogenize+eigenfit"), "{error}");
}
